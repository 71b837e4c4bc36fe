"""Probe controls: turn each one a little and measure what moves in the evaluated rig.

Owns the measurement. Must not know which control is meant for what, nor keys.

During the measurement the rig has no action and no NLA, and its switches have the values asked for. All of it is
restored.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...engine.math import rotations
from ..blender import actions, sample_poses
from ..errors import RigError
from ..rig import physical_ends

# Small enough to stay near the pose, large enough for the precision of float32 poses [rad].
TURN = 0.02
# The same for a displacement [parts of the height].
STEP = 0.005
# An oblique axis, so that both swing and twist show.
AXIS = Vector((0.6, 0.5, 0.62)).normalized()
# Rotations below this part of the turn are rounding errors.
STILL = 0.01
# A bone follows a turn fully if no more than this part of it is missing or extra.
SLACK = 0.02


def is_whole(part: float | np.ndarray) -> bool | np.ndarray:
    """True if the part is about 1. Bones that copy one another may turn by more."""
    return np.abs(part - 1.0) < SLACK


@dataclass(frozen=True, eq=False)
class Responses:
    """Measured responses, for each control (rows) and bone of the rig (columns).

    swing, twist    (controls, bones) the part of the control's turn across and along the bone's axis that the bone
                    follows
    moved           (controls, bones) True if the bone moves
    """

    controls: tuple[str, ...]
    names: tuple[str, ...]
    swing: np.ndarray
    twist: np.ndarray
    moved: np.ndarray

    @cached_property
    def rows(self) -> dict[str, int]:
        """Row of each control."""
        return {name: i for i, name in enumerate(self.controls)}

    @cached_property
    def columns(self) -> dict[str, int]:
        """Column of each bone."""
        return {name: i for i, name in enumerate(self.names)}

    def of(self, control: str, bone: str) -> tuple[float, float]:
        """The parts of a control's swing and twist that a bone follows."""
        row, column = self.rows[control], self.columns[bone]
        return float(self.swing[row, column]), float(self.twist[row, column])

    def turns_whole(self, control: str, bone: str) -> bool:
        """True if the bone follows the control's turn fully."""
        return all(abs(part - 1.0) < SLACK for part in self.of(control, bone))

    def turns_partly(self, control: str, bone: str) -> bool:
        """True if the bone follows the control's turn in part, or by more than all of it."""
        return not self.turns_whole(control, bone) and max(map(abs, self.of(control, bone))) > STILL


def measure(rig: bpy.types.Object, scene: bpy.types.Scene, controls: Sequence[str], switches) -> Responses:
    """Turn the controls one by one. switches: pairs of data path and value."""
    names = tuple(bone.name for bone in rig.pose.bones)
    shape = (len(controls), len(names))
    swing, twist, moved = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
    frame = float(scene.frame_current)
    tall = physical_ends.height(rig)
    with _bare(rig), switched(rig, switches), sample_poses.stage_of(rig, scene) as stage:
        before = sample_poses.pose_at(rig, stage, frame)
        for i, name in enumerate(controls):
            bone = rig.pose.bones[name]
            kept = {channel: tuple(getattr(bone, channel)) for channel, _ in sample_poses.CHANNELS}
            try:
                bone.matrix_basis = bone.matrix_basis @ Matrix.Rotation(TURN, 4, AXIS)
                after = sample_poses.pose_at(rig, stage, frame)
            finally:
                for channel, values in kept.items():
                    setattr(bone, channel, values)
            turn = rotations.split(before[names.index(name), :3, :3])[0] @ np.array(AXIS) * TURN
            swing[i], twist[i] = _parts(before, after, turn)
            shifted = np.linalg.norm(after[:, :3, 3] - before[:, :3, 3], axis=1) > 1e-5 * tall
            moved[i] = shifted | (np.abs(swing[i]) > STILL) | (np.abs(twist[i]) > STILL)
    return Responses(tuple(controls), names, swing, twist, moved)


def shifts(rig: bpy.types.Object, scene: bpy.types.Scene, pairs: Sequence[tuple[str, str]], switches) -> list[float]:
    """For each pair of control and body, the part of the control's displacement that the body's head follows."""
    names = [bone.name for bone in rig.pose.bones]
    frame = float(scene.frame_current)
    step = STEP * physical_ends.height(rig)
    found = []
    with _bare(rig), switched(rig, switches), sample_poses.stage_of(rig, scene) as stage:
        before = sample_poses.pose_at(rig, stage, frame)
        for control, body in pairs:
            bone = rig.pose.bones[control]
            kept = tuple(bone.location)
            try:
                bone.location = Vector(kept) + AXIS * step
                after = sample_poses.pose_at(rig, stage, frame)
            finally:
                bone.location = kept
            moves = [after[names.index(name), :3, 3] - before[names.index(name), :3, 3] for name in (control, body)]
            found.append(float(moves[0] @ moves[1] / max(moves[0] @ moves[0], 1e-18)))
    return found


def _parts(before: np.ndarray, after: np.ndarray, turn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Swing and twist (bones,) of bones between two poses, as parts of a turn (3,) [rad, armature space]."""
    quats = [rotations.from_matrix(rotations.split(pose[:, :3, :3])[0]) for pose in (before, after)]
    made = rotations.to_vector(rotations.multiply(quats[1], rotations.conjugate(quats[0])))
    axes = rotations.to_matrix(quats[0])[:, :, 1]
    along, made_along = axes @ turn, (axes * made).sum(axis=1)
    across, made_across = turn - along[:, None] * axes, made - made_along[:, None] * axes
    size = np.square(across).sum(axis=1)
    swing = (across * made_across).sum(axis=1) / np.maximum(size, 1e-12)
    twist = made_along / np.where(np.abs(along) > 1e-9, along, 1.0)
    # A turn nearly along the axis says nothing about swing, one nearly across it nothing about twist.
    swing = np.where(size < (0.1 * TURN) ** 2, twist, swing)
    return swing, np.where(np.abs(along) < 0.1 * TURN, swing, twist)


@contextmanager
def _bare(rig: bpy.types.Object):
    """Context manager: the rig without its action and NLA, which would overwrite channels that are set."""
    data = rig.animation_data
    if data is None:
        yield
        return
    action, slot, layered = data.action, actions.slot_of(rig), data.use_nla
    try:
        data.action, data.use_nla = None, False
        yield
    finally:
        data.use_nla = layered
        if action is not None:
            actions.assign(rig, action, slot)


@contextmanager
def switched(rig: bpy.types.Object, switches):
    """Context manager: the switches (pairs of data path and value) have these values; they are restored afterwards."""
    kept = [(path, value_of(rig, path)) for path, _ in switches]
    try:
        for path, value in switches:
            set_value(rig, path, value)
        yield
    finally:
        for path, value in kept:
            set_value(rig, path, value)


def value_of(rig: bpy.types.Object, path: str) -> float:
    """Value of a switch."""
    try:
        return rig.path_resolve(path)
    except ValueError:
        raise RigError(f"'{rig.name}' has no property '{path}': correct or remove that switch.") from None


def set_value(rig: bpy.types.Object, path: str, value: float, index: int = 0) -> None:
    """Set a data path: a custom property, a built-in one, or one component of a vector."""
    old = value_of(rig, path)
    if not isinstance(old, (int, float)):
        old[index] = value
    elif path.endswith('"]'):
        start = path.rindex('["')
        name = bpy.utils.unescape_identifier(path[start + 2 : -2])
        (rig.path_resolve(path[:start]) if start else rig)[name] = type(old)(value)
    else:
        owner, _, name = path.rpartition(".")
        setattr(rig.path_resolve(owner) if owner else rig, name, type(old)(value))
