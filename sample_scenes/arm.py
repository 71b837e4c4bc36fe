"""A machine arm posed to five poses with stepped (constant) keys: physics makes the moves between them.

Shows pose to pose: the source jumps, the result swings from pose to pose in the settle time, and holds.
"""

from __future__ import annotations

import bpy
from mathutils import Vector

from . import stage
from .skin import Skin

FRAMES = 84
# frame: turns [°] of turret (about z), upper arm, forearm, hand (about x)
POSES = {
    1: (0, 0, 0, 0),
    8: (30, 30, 20, 30),
    26: (-45, -12, -42, -20),
    44: (-45, 55, -20, 10),
    62: (10, -10, 25, 40),
}
PICTURE_FRAMES = (7, 10, 13, 28, 47)


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    rig = stage.rig("Arm", [
        ("turret", None, Vector((0, 0, 0.12)), Vector((0, 0, 0.34))),
        ("upper_arm", "turret", Vector((0, 0, 0.34)), Vector((0, 0.12, 1.02))),
        ("forearm", "upper_arm", Vector((0, 0.12, 1.02)), Vector((0, -0.42, 1.32))),
        ("hand", "forearm", Vector((0, -0.42, 1.32)), Vector((0, -0.66, 1.24))),
        ("finger.L", "hand", Vector((0.07, -0.66, 1.24)), Vector((0.09, -0.84, 1.17))),
        ("finger.R", "hand", Vector((-0.07, -0.66, 1.24)), Vector((-0.09, -0.84, 1.17))),
    ])  # fmt: skip
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"

    skin = Skin(rig)
    skin.ellipsoid("turret", (0, 0, 0.05), (0.33, 0.33, 0.075), material="joint")
    skin.capsule_between("turret", (0, 0, 0.12), (0, 0, 0.3), 0.17, 0.13, material="steel")
    for bone, radius, end in (("upper_arm", 0.115, 0.085), ("forearm", 0.09, 0.065), ("hand", 0.07, 0.055)):
        skin.capsule(bone, radius, end)
        joint = rig.data.bones[bone].head_local
        across = Vector((radius * 1.15, 0, 0))
        skin.capsule_between(bone, joint - across, joint + across, radius * 0.72, material="joint")
    for side in ("L", "R"):
        skin.capsule(f"finger.{side}", 0.032, 0.02, material="steel")
        skin.capsule_between("hand", (0, -0.66, 1.24), rig.data.bones[f"finger.{side}"].head_local, 0.035,
                             material="joint")  # fmt: skip
    skin.bind("Arm body")

    for frame, (turret, upper, fore, hand) in POSES.items():
        grip = 14 if frame in (8, 44) else -6
        stage.key_pose(rig, frame, turns={
            "turret": (0, 0, turret),
            "upper_arm": (upper, 0, 0),
            "forearm": (fore, 0, 0),
            "hand": (hand, 0, 0),
            "finger.L": (0, 0, grip),
            "finger.R": (0, 0, -grip),
        })  # fmt: skip
    stage.name_action(rig, "Five poses", interpolation="CONSTANT")
    stage.add_physics(rig, settle_time=0.4, damping_ratio=0.6, heaviness=0.0)
    stage.camera(eye=(3.9, -2.9, 1.9), at=(0.0, -0.16, 0.82), lens=60, size=(480, 420))
    return rig
