"""A wooden mannequin that jumps, lands and waves; its left arm is limp.

Shows behaviours mixed in one rig: a keyed root, a body with a little heaviness, one arm that only falls.
"""

from __future__ import annotations

import math

import bpy
from mathutils import Vector

from . import stage
from .skin import Skin

FRAMES = 96
LEG = 0.42  # [m] thigh and shin alike, so that bent knees keep the feet on the floor
HIPS = 2 * LEG + 0.08
# frame: crouch [°], height above the floor [m], lean [°], arms [°] (back is negative, 150 is overhead)
JUMP = {
    1: (4, 0.0, 0, 4),
    6: (4, 0.0, 0, 4),
    18: (36, 0.0, 16, -45),
    24: (6, 0.03, 3, 95),
    29: (16, 0.17, 0, 150),
    34: (8, 0.03, 3, 110),
    40: (34, 0.0, 14, 30),
    52: (4, 0.0, 0, 4),
    96: (4, 0.0, 0, 4),
}
WAVE = {60: 0, 66: 28, 71: -22, 76: 28, 81: -22, 86: 10}
PICTURE_FRAMES = (18, 25, 29, 40, 71)


def bones() -> list[tuple[str, str | None, Vector, Vector]]:
    rows = [
        ("hips", None, Vector((0, 0, HIPS)), Vector((0, 0, HIPS + 0.14))),
        ("spine", "hips", Vector((0, 0, HIPS + 0.14)), Vector((0, 0, HIPS + 0.3))),
        ("chest", "spine", Vector((0, 0, HIPS + 0.3)), Vector((0, 0, HIPS + 0.52))),
        ("neck", "chest", Vector((0, 0, HIPS + 0.52)), Vector((0, -0.01, HIPS + 0.61))),
        ("head", "neck", Vector((0, -0.01, HIPS + 0.61)), Vector((0, -0.01, HIPS + 0.84))),
    ]
    for side, s in (("L", 1), ("R", -1)):
        shoulder, elbow = Vector((s * 0.19, 0, HIPS + 0.47)), Vector((s * 0.3, 0.015, HIPS + 0.21))
        wrist, finger = Vector((s * 0.4, -0.01, HIPS - 0.02)), Vector((s * 0.44, -0.02, HIPS - 0.17))
        rows += [
            (f"upper_arm.{side}", "chest", shoulder, elbow),
            (f"forearm.{side}", f"upper_arm.{side}", elbow, wrist),
            (f"hand.{side}", f"forearm.{side}", wrist, finger),
            (f"thigh.{side}", "hips", Vector((s * 0.1, 0, HIPS)), Vector((s * 0.1, -0.001, HIPS - LEG))),
            (f"shin.{side}", f"thigh.{side}", Vector((s * 0.1, -0.001, HIPS - LEG)), Vector((s * 0.1, 0, 0.08))),
            (f"foot.{side}", f"shin.{side}", Vector((s * 0.1, 0, 0.08)), Vector((s * 0.1, -0.17, 0.03))),
        ]
    return rows


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    rig = stage.rig("Mannequin", bones())
    add_body(rig)
    for frame, (crouch, height, lean, arms) in JUMP.items():
        drop = 2 * LEG * (1 - math.cos(math.radians(crouch)))
        turns = {"hips": (lean * 0.3, 0, 0), "spine": (lean * 0.4, 0, 0), "chest": (lean * 0.3, 0, 0)}
        turns["neck"] = turns["head"] = (-lean * 0.3, 0, 0)
        toes = 40 if height > 0.1 else 0
        for side, s in (("L", 1), ("R", -1)):
            turns[f"thigh.{side}"] = (-crouch - lean * 0.3, 0, 0)
            turns[f"shin.{side}"] = (2 * crouch, 0, 0)
            turns[f"foot.{side}"] = (toes - crouch, 0, 0)
            turns[f"upper_arm.{side}"] = (-arms, 0, s * 8)
            turns[f"forearm.{side}"] = (-20 if arms < 30 else -8, 0, 0)
            turns[f"hand.{side}"] = (0, 0, 0)
        if frame == 52:  # from here on the right arm waves instead
            turns = {bone: turn for bone, turn in turns.items() if not bone.endswith("arm.R")}
        if frame == 96:
            turns["upper_arm.R"], turns["forearm.R"] = (-4, 0, -8), (-20, 0, 0)
        stage.key_pose(rig, frame, turns, {"hips": (0, lean * 0.0015, height - drop)})
    for frame, swing in WAVE.items():
        turns = {"upper_arm.R": (0, 92, 0), "forearm.R": (0, 62 + swing, 0), "hand.R": (0, swing * 0.5, 0)}
        stage.key_pose(rig, frame, turns | {"head": (0, 6, 0)})
    stage.name_action(rig, "Jump and wave")
    limp = dict.fromkeys(("upper_arm.L", "forearm.L", "hand.L"), "LIMP")
    legs = {f"{bone}.{side}": "ANIMATED" for bone in ("thigh", "shin", "foot") for side in "LR"}
    stage.add_physics(rig, limp | legs, settle_time=0.15, damping_ratio=0.8, heaviness=0.3)
    stage.camera(eye=(2.6, -4.6, 1.6), at=(0.02, 0.0, 1.08), lens=68, size=(400, 480))
    return rig


def add_body(rig: bpy.types.Object, color: str = "clay") -> None:
    skin = Skin(rig)
    skin.ellipsoid("hips", (0, 0, HIPS + 0.03), (0.155, 0.105, 0.115), color)
    skin.ellipsoid("spine", (0, 0, HIPS + 0.2), (0.11, 0.085, 0.1), material="joint")
    skin.ellipsoid("chest", (0, 0, HIPS + 0.385), (0.17, 0.115, 0.165), color)
    skin.capsule("neck", 0.045, 0.042, material="joint")
    skin.ellipsoid("head", (0, -0.015, HIPS + 0.735), (0.088, 0.105, 0.128), color)
    radii = (
        ("upper_arm", 0.058, 0.046),
        ("forearm", 0.047, 0.034),
        ("hand", 0.036, 0.028),
        ("thigh", 0.083, 0.058),
        ("shin", 0.06, 0.04),
        ("foot", 0.046, 0.034),
    )
    for side in "LR":
        for name, radius, end in radii:
            bone = rig.data.bones[f"{name}.{side}"]
            along = (bone.tail_local - bone.head_local).normalized()
            # Short of the joint, so that the dark ball between two parts shows.
            head = bone.head_local + along * radius * (0.9 if name != "foot" else 0.0)
            tail = bone.tail_local - along * end * (0.9 if name not in ("hand", "foot") else 0.0)
            skin.capsule_between(bone.name, head, tail, radius, end, color)
            if name != "foot":
                ball = radius * 0.9
                skin.ellipsoid(bone.name, bone.head_local, (ball, ball, ball), material="joint")
    skin.bind(f"{rig.name} body")
