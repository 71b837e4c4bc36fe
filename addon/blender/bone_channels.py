"""From poses to a bone's own channels: location, rotation in its mode, scale.

Owns the inverse of Blender's bone evaluation and the continuity of what is keyed.
Must not know actions or physics.
"""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion

from ...engine.math import rotations

ROTATION_PATH = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def rotation_path(holder: bpy.types.PoseBone | bpy.types.Object) -> str:
    """The rotation channel that the bone's or object's mode uses."""
    return ROTATION_PATH.get(holder.rotation_mode, "rotation_euler")


def basis(bone: bpy.types.PoseBone, pose: np.ndarray, parent_pose: np.ndarray | None) -> np.ndarray:
    """(frames, 4, 4) the transform that the bone's channels must make, for its pose and its parent's (frames, 4, 4)."""
    data = bone.bone
    rest = np.array(data.matrix_local, dtype=np.float64)
    plain = data.use_local_location and data.use_inherit_rotation and data.inherit_scale == "FULL"
    if parent_pose is None:
        if data.use_local_location:
            return np.linalg.inv(rest) @ pose
        return _by_blender(bone, pose, None)
    if not plain:
        return _by_blender(bone, pose, parent_pose)
    above = np.array(data.parent.matrix_local, dtype=np.float64)
    frame = parent_pose @ (np.linalg.inv(above) @ rest)
    return rotations.inverse_or_nearest(frame) @ pose


def _by_blender(bone: bpy.types.PoseBone, pose: np.ndarray, parent_pose: np.ndarray | None) -> np.ndarray:
    """The same for bones with unusual inheritance: Blender's own function, frame by frame."""
    data = bone.bone
    out = np.empty(pose.shape)
    more = {}
    for f in range(len(pose)):
        if parent_pose is not None:
            more = {"parent_matrix": Matrix(parent_pose[f]), "parent_matrix_local": data.parent.matrix_local}
        out[f] = data.convert_local_to_pose(Matrix(pose[f]), data.matrix_local, invert=True, **more)
    return out


def rotation_values(mode: str, quats: np.ndarray, start: np.ndarray) -> np.ndarray:
    """(frames, 3 or 4) keys in the bone's rotation mode, without jumps.

    quats (frames, 4); start: the channel's own value just before, in the same mode.
    """
    if mode == "QUATERNION":
        quats = rotations.continuous(quats)
        return -quats if (quats[0] * start).sum() < 0.0 else quats
    if mode == "AXIS_ANGLE":
        return _axis_angles(rotations.continuous(quats), start)
    previous = Euler(start, mode)
    out = np.empty((len(quats), 3))
    for f, q in enumerate(quats):
        previous = Quaternion(q).to_euler(mode, previous)
        out[f] = previous
    return out


def _axis_angles(quats: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Axis and angle, angle first as Blender keys them. The axis never flips, and stays as it was where the angle is
    0."""
    out = np.empty((len(quats), 4))
    axis = np.array(start[1:], dtype=np.float64)
    angle = float(start[0])
    for f, (w, *v) in enumerate(quats):
        length = float(np.linalg.norm(v))
        if length > 1e-7:
            new, turn = np.array(v) / length, 2.0 * np.arctan2(length, w)
            if new @ axis < 0.0:
                new, turn = -new, -turn
            axis = new
        else:
            turn = 0.0 if w > 0.0 else 2.0 * np.pi
        angle = turn + 2.0 * np.pi * round((angle - turn) / (2.0 * np.pi))
        out[f, 0], out[f, 1:] = angle, axis
    return out
