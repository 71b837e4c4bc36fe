"""Compare the evaluated pose with the wanted one, limb by limb.

Must not know how either was made.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...engine.math import rotations
from ..blender import sample_poses
from ..blender.sample_poses import Samples
from ..rig import physical_ends


@dataclass(frozen=True)
class Limb:
    """A chain of bones without branches, named after its first bone; offset in parts of the rig's height, angle in
    degrees."""

    name: str
    count: int
    offset: float
    angle: float


@dataclass(frozen=True)
class Deviation:
    """The largest offset (parts of the rig's height), the largest angle (degrees), the bones that have them, and the
    same by limb and by bone."""

    offset: float
    angle: float
    bone: str
    frame: int
    limbs: tuple[Limb, ...]
    bones: dict[str, tuple[float, float]]

    def worst(self, count: int) -> list[Limb]:
        """The limbs with the largest deviation."""
        return sorted(self.limbs, key=lambda limb: -limb.angle - 1e3 * limb.offset)[:count]


def compare(
    rig: bpy.types.Object, scene, bones: list[bpy.types.PoseBone], wanted: Samples, relative: bool
) -> Deviation:
    """Compare the pose that Blender evaluates now with the wanted one.

    relative    compare each bone within its parent: where only some bones were baked, their parents may move otherwise
    """
    now = sample_poses.finish(sample_poses.sample(rig, scene, wanted.frames))
    order = [wanted.names.index(bone.name) for bone in bones]
    sides = []
    for samples in (wanted, now):
        poses = samples.poses.astype(np.float64)
        own = poses[:, order]
        if relative:
            above = [wanted.names.index(bone.parent.name) if bone.parent else -1 for bone in bones]
            frame = np.stack([poses[:, a] if a >= 0 else np.tile(np.eye(4), (len(poses), 1, 1)) for a in above], axis=1)
            own = np.linalg.pinv(frame) @ own
        quats = rotations.from_matrix(rotations.split(own[..., :3, :3])[0])
        sides.append((own[..., :3, 3], quats))
    offsets = np.linalg.norm(sides[0][0] - sides[1][0], axis=-1) / physical_ends.height(rig)
    angles = np.degrees(rotations.angle_between(sides[0][1], sides[1][1]))
    frame, bone = np.unravel_index(int(np.argmax(angles + 1e3 * offsets)), angles.shape)
    limbs = tuple(
        Limb(bones[run[0]].name, len(run), float(offsets[:, run].max()), float(angles[:, run].max()))
        for run in _runs(bones)
    )
    each = {bone.name: (float(offsets[:, i].max()), float(angles[:, i].max())) for i, bone in enumerate(bones)}
    return Deviation(
        float(offsets.max()), float(angles.max()), bones[bone].name, int(wanted.frames[frame]), limbs, each
    )


def _runs(bones: list[bpy.types.PoseBone]) -> list[list[int]]:
    """Indices of the bones as chains: a chain ends where a bone has several children, and begins where it has no
    parent."""
    index = {bone.name: i for i, bone in enumerate(bones)}
    above = [index.get(bone.parent.name, -1) if bone.parent else -1 for bone in bones]
    runs: dict[int, list[int]] = {}
    start: list[int] = []
    for i, parent in enumerate(above):
        start.append(start[parent] if parent >= 0 and above.count(parent) == 1 else i)
        runs.setdefault(start[i], []).append(i)
    return list(runs.values())
