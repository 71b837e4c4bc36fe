"""Keys of bones, as tests of several modules set them: their values, their types, and pushed down into a strip."""

from __future__ import annotations

import bpy

from heft.addon.blender import actions


def key(bone, frames, mode: str = "XYZ", size: float = 0.4) -> None:
    """Key a bone's rotation in its mode."""
    bone.rotation_mode = mode
    path = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    for i, frame in enumerate(frames):
        turn = (size * (-1) ** i, 0.1 * i, 0.05 * i)
        if mode == "QUATERNION":
            bone.rotation_quaternion = (1.0, *turn)
        elif mode == "AXIS_ANGLE":
            bone.rotation_axis_angle = (turn[0], 0.0, 1.0, 0.0)
        else:
            bone.rotation_euler = turn
        bone.keyframe_insert(path, frame=frame)


def set_type(rig, path: str, frame: float, kind: str) -> None:
    for curve in actions.active_curves(rig):
        if curve.data_path == path:
            for point in curve.keyframe_points:
                if abs(point.co[0] - frame) < 1e-3:
                    point.type = kind


def push_down(rig, start: int, **settings) -> bpy.types.NlaStrip:
    data = rig.animation_data
    action, slot = data.action, actions.slot_of(rig)
    data.action = None
    track = data.nla_tracks.new()
    strip = track.strips.new("strip", start, action)
    if actions.HAS_SLOTS:
        strip.action_slot = slot
    for name, value in settings.items():
        setattr(strip, name, value)
    return strip
