"""Two arms swung with the same timing, one straight, one with its elbow bent.

Shows that outboard mass does not make a key late: the straight arm is much harder to swing, and both are up at the
same moment with the same settings.
"""

from __future__ import annotations

import math

import bpy
from mathutils import Vector

from . import stage
from .skin import Skin

FRAMES = 60
UPPER, FORE, HAND, HEIGHT = 0.34, 0.3, 0.16, 1.25
BENT = 115.0  # [°] at the elbow, all the time
# frame: how far the shoulders are swung forward [°]
SWING = {1: -25.0, 24: 120.0, 44: -25.0}
ARMS = {"straight": (-0.38, 0.0), "bent": (0.38, BENT)}  # where it hangs, its elbow
PICTURE_FRAMES = (1, 8, 14, 24, 36)


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    rig = stage.rig("Arms", bones())
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in rig.data.edit_bones:
        bone.align_roll(Vector((0, -1, 0)))  # so that its own X swings forward
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
        bone.lock_rotation = (False, True, True)
    add_body(rig)
    for frame, swing in SWING.items():
        for name, (_, elbow) in ARMS.items():
            for part, angle in (("upper", swing), ("fore", elbow), ("hand", 0.0)):
                bone = rig.pose.bones[f"{part}.{name}"]
                bone.rotation_euler.x = math.radians(angle)
                bone.keyframe_insert("rotation_euler", index=0, frame=frame)
    stage.name_action(rig, "Swing")
    stage.add_physics(rig, controller="ON_TIME", arrival="REST", shape=4.5)
    stage.camera(eye=(3.4, -4.4, 1.7), at=(0.0, -0.1, 0.95), lens=74, size=(400, 460))
    return rig


def bones() -> list[tuple[str, str | None, Vector, Vector]]:
    rows = [("stand", None, Vector((0, 0, 0.1)), Vector((0, 0, HEIGHT)))]
    for name, (x, _) in ARMS.items():
        top, above = Vector((x, 0, HEIGHT)), "stand"
        for part, length in (("upper", UPPER), ("fore", FORE), ("hand", HAND)):
            end = top - Vector((0, 0, length))
            rows.append((f"{part}.{name}", above, top, end))
            top, above = end, f"{part}.{name}"
    return rows


def add_body(rig: bpy.types.Object) -> None:
    skin = Skin(rig)
    skin.ellipsoid("stand", (0, 0, 0.05), (0.3, 0.24, 0.06), material="joint")
    skin.capsule_between("stand", (0, 0, 0.1), (0, 0, HEIGHT), 0.05, material="steel")
    skin.capsule_between("stand", (-0.38, 0, HEIGHT), (0.38, 0, HEIGHT), 0.05, material="steel")
    for name in ARMS:
        for part, radius, end in (("upper", 0.062, 0.05), ("fore", 0.05, 0.038), ("hand", 0.042, 0.034)):
            skin.capsule(f"{part}.{name}", radius, end)
            joint = rig.data.bones[f"{part}.{name}"].head_local
            skin.ellipsoid(f"{part}.{name}", joint, (radius * 1.12,) * 3, material="joint")
    skin.bind("Arms body")
