"""A rig's bones at rest, and which of them are bodies: the input of anatomy.

Owns these data. Must not know Blender.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .bone_ends import BoneEnds


class Joint(NamedTuple):
    """The centre of a body's rotation: a point (3,) in the frame of the bone that it moves with [armature units]."""

    bone: int
    point: np.ndarray


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The rig's bones at rest, in the pose's order.

    names, parents (-1 for none), rests (b, 4, 4) in armature space, ends: the bones' ends there.
    carriers (b,): the body that each bone belongs to: itself, an ancestor, one that it follows by keys, or -1.
    holders (b,): the body that each bone is attached to.
    riders: by bone, those that follow their holder by keys of the result, and True if the rig shows them.
    joints: of the bodies that do not rotate about their bones' heads.
    """

    names: tuple[str, ...]
    parents: list[int]
    rests: np.ndarray
    ends: BoneEnds
    connected: np.ndarray
    carriers: list[int]
    holders: list[int]
    riders: dict[int, bool]
    joints: Mapping[int, Joint] = field(default_factory=dict)

    @property
    def body_bones(self) -> list[int]:
        """Indices of the bones that are bodies."""
        return [i for i, carrier in enumerate(self.carriers) if carrier == i]

    @cached_property
    def frames(self) -> np.ndarray:
        """(b, 4, 4) rest matrices of the bodies: each has the axes of its bone and the position of its joint."""
        frames = self.rests.copy()
        for bone, joint in self.joints.items():
            rest = self.rests[joint.bone]
            frames[bone, :3, 3] = rest[:3, 3] + rest[:3, :3] @ joint.point
        return frames

    @cached_property
    def body_ends(self) -> BoneEnds:
        """Start (the joint) and end of each body. Bodies of turned chains end at their bones' heads."""
        heads, ends, reach = self.ends.heads.copy(), self.ends.ends.copy(), self.ends.reach.copy()
        for bone in self.joints:
            heads[bone], ends[bone] = self.frames[bone, :3, 3], self.ends.heads[bone]
            reach[bone] = max(reach[bone], np.linalg.norm(ends[bone] - heads[bone]))
        return BoneEnds(heads, ends, reach, self.ends.helpers)
