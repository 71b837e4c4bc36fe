"""A tentacle that sweeps down and up again, with a wall where its keys want to go.

Shows contact that lasts: it comes to lie on the wall, leans on it, and follows its keys again as they leave.
"""

from __future__ import annotations

import bpy
from mathutils import Vector

from . import stage
from .skin import Skin

LINKS = 7
LINK_LENGTH = 0.22  # [m]
FOOT = -0.75  # [m] where it stands, along x
FRAMES = 96
# frame: bend of each link towards +x [°]
SWEEP = {1: 2, 8: 2, 28: 21, 58: 21, 80: 2, 96: 2}
PICTURE_FRAMES = (8, 20, 28, 50, 72)


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    joints = [Vector((FOOT, 0, 0.16 + i * LINK_LENGTH)) for i in range(LINKS + 1)]
    bones = [("base", None, Vector((FOOT, 0, 0.0)), joints[0])]
    for i in range(LINKS):
        bones.append((f"link.{i + 1}", f"link.{i}" if i else "base", joints[i], joints[i + 1]))
    rig = stage.rig("Tentacle", bones)

    skin = Skin(rig)
    skin.ellipsoid("base", (FOOT, 0, 0.06), (0.24, 0.24, 0.09), material="joint")
    for i in range(LINKS):
        radius = 0.1 - 0.008 * i
        up = Vector((0, 0, 1))
        skin.capsule_between(f"link.{i + 1}", joints[i] + 0.07 * up, joints[i + 1] - 0.07 * up, radius, radius - 0.008)
        skin.ellipsoid(f"link.{i + 1}", joints[i], (0.8 * radius,) * 3, material="joint")
    skin.bind("Tentacle body")

    for frame, bend in SWEEP.items():
        stage.key_pose(rig, frame, turns={f"link.{i + 1}": (0, bend, 0) for i in range(LINKS)})
    stage.name_action(rig, "Sweep down and up")
    stage.add_physics(rig, settle_time=0.25, heaviness=0.0, total_mass=20.0, ground=True)
    stage.collide(rig, stage.box("Wall", (0.14, 0.7, 0.85), (0.16, 0, 0.425), "wood"))
    stage.camera(eye=(1.4, -5.4, 1.9), at=(-0.22, 0.0, 0.84), lens=86, size=(420, 420))
    return rig
