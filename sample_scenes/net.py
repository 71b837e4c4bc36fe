"""A net on a bar stops a ball.

Shows closed loops: the strings down are chains of bones, the strings across hang on one chain and are tied to the
next, at every knot.
"""

from __future__ import annotations

import bpy
from mathutils import Vector

from . import stage
from .skin import Skin

COLUMNS, ROWS = 6, 5
MESH = 0.2  # [m] from knot to knot
TOP = 1.85
FRAMES = 84
FREE_FROM = 8  # until here the ball has its keys
PICTURE_FRAMES = (6, 11, 14, 19, 60)


def knot(column: int, row: int) -> Vector:
    return Vector(((column - (COLUMNS - 1) / 2) * MESH, 0, TOP - row * MESH))


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    bones = [("bar", None, Vector((0, 0, TOP + 0.2)), Vector((0, 0, TOP)))]
    for c in range(COLUMNS):
        for r in range(1, ROWS + 1):
            bones.append((f"down.{c}.{r}", f"down.{c}.{r - 1}" if r > 1 else "bar", knot(c, r - 1), knot(c, r)))
            if c + 1 < COLUMNS:
                bones.append((f"across.{c}.{r}", f"down.{c}.{r}", knot(c, r), knot(c + 1, r)))
    rig = stage.rig("Net", bones)

    skin = Skin(rig)
    end, small = Vector((0.08, 0, 0)), Vector((0, 0, 0.002))
    skin.capsule_between("bar", knot(0, 0) - end, knot(COLUMNS - 1, 0) + end, 0.035, material="joint")
    for bone in rig.data.bones[1:]:
        skin.capsule(bone.name, 0.016)
        if bone.name.startswith("down"):
            skin.capsule_between(bone.name, bone.tail_local, bone.tail_local - small, 0.027, material="joint")
    skin.bind("Strings")

    stage.key_pose(rig, 1, turns={bone.name: (0, 0, 0) for bone in rig.pose.bones})
    stage.name_action(rig, "Hang")
    stage.add_physics(rig, settle_time=0.4, heaviness=0.0, even_weight=False, total_mass=12.5, ground=True)
    for c in range(COLUMNS - 1):
        for r in range(1, ROWS + 1):
            stage.tie(rig, bone=f"across.{c}.{r}", kind="PIN", target=rig, target_bone=f"down.{c + 1}.{r}")
    ball = stage.ball("Ball", 0.17, (0, 0, 0))
    stage.key_places(ball, {1: (-0.08, -1.6, 1.12), FREE_FROM: (0.02, -0.4, 1.22)}, "Throw")
    stage.collider(ball, moves="FREE", free_from=FREE_FROM, mass=3.0)
    stage.collide(rig, ball)
    stage.camera(eye=(-4.5, -3.3, 1.8), at=(0.0, -0.15, 0.98), lens=84, size=(420, 420))
    return rig
