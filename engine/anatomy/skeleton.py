"""A rig's bones at rest, and which of them are bodies: the input of anatomy. Must not know Blender."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .bone_ends import BoneEnds


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The rig's bones at rest, in the pose's order.

    names, parents (-1 for none), rests (b, 4, 4) in armature space, ends: the bones' ends there.
    carriers (b,): the body each bone belongs to (itself, an ancestor, one that it rides on by keys, or -1).
    holders (b,): the nearest body above each bone.
    riders: by bone, those that ride on their holder by keys of the result, and True if the rig shows them.
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
