"""The same arm of three planks twice: a block is laid on the ends of both.

Shows the two responses to one load: the joints of the near arm give way to its block, those of the far one brace.
"""

from __future__ import annotations

import bpy
from mathutils import Vector

from . import stage
from .skin import Skin

PLANKS = 3
LENGTH = 0.42  # [m] of a plank
HEIGHT = 1.1
ARMS = {"near": -0.42, "far": 0.42}  # arm: its place along y [m]
BLOCK = 0.24  # [m] edge
FRAMES = 60
PICTURE_FRAMES = (3, 8, 13, 58)


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    bones = [("post", None, Vector((-0.7, 0, HEIGHT - 0.5)), Vector((-0.7, 0, HEIGHT)))]
    for arm, y in ARMS.items():
        for i in range(PLANKS):
            start = Vector((-0.7 + i * LENGTH, y, HEIGHT))
            parent = f"{arm}.{i}" if i else "post"
            bones.append((f"{arm}.{i + 1}", parent, start, start + Vector((LENGTH, 0, 0))))
    rig = stage.rig("Planks", bones)

    skin = Skin(rig)
    skin.box("post", (-0.78, 0, HEIGHT / 2), (0.12, 1.2, HEIGHT), material="joint")
    for arm, y in ARMS.items():
        for i in range(PLANKS):
            x = -0.7 + i * LENGTH
            skin.box(f"{arm}.{i + 1}", (x + LENGTH / 2, y, HEIGHT), (LENGTH - 0.03, 0.44, 0.05))
            skin.capsule_between(f"{arm}.{i + 1}", (x, y - 0.18, HEIGHT), (x, y + 0.18, HEIGHT), 0.02, material="joint")
    skin.bind("Planks body")

    stage.key_pose(rig, 1, turns={bone.name: (0, 0, 0) for bone in rig.pose.bones})
    stage.name_action(rig, "Hold level")
    stage.add_physics(rig, settle_time=0.16, heaviness=0.0, total_mass=42.0, ground=True)
    for arm, y in ARMS.items():
        block = stage.box(f"Block {arm}", (BLOCK,) * 3, (-0.7 + 2.5 * LENGTH, y, HEIGHT + 0.3), "moss")
        response = "BRACES" if arm == "far" else "GIVES_WAY"
        stage.collider(block, moves="FREE", mass=5.0, response=response, friction=1.0)
        stage.collide(rig, block)
    stage.camera(eye=(2.3, -4.4, 2.7), at=(-0.14, 0.0, 0.78), lens=86, size=(480, 420))
    return rig
