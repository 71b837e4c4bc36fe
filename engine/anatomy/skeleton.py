"""A rig's bones at rest, and which of them are bodies: what anatomy is found from. Must not know Blender."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .bone_ends import BoneEnds


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The rig's bones at rest, in the pose's order.

    names, parents (-1 for none), rests (b, 4, 4) in armature space, ends: where the bones end there,
    carriers (b,): the body each bone belongs to (itself, an ancestor, one that its riding is left to, or -1),
    holders (b,): the body each bone hangs on, riders: by bone, those that ride on their holder by keys of the result,
    and whether the rig shows them.
    """

    names: tuple[str, ...]
    parents: list[int]
    rests: np.ndarray
    ends: BoneEnds
    connected: np.ndarray
    carriers: list[int]
    holders: list[int]
    riders: dict[int, bool]

    @property
    def body_bones(self) -> list[int]:
        """Indices of the bones that are bodies."""
        return [i for i, carrier in enumerate(self.carriers) if carrier == i]
