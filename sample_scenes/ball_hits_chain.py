"""A hanging chain that is only held straight by its keys, struck by a ball.

Shows a free body: the ball flies on with the speed of its keys, hits, is deflected, falls and rolls; the chain
swings out of the way and settles back on its keys.
"""

from __future__ import annotations

import bpy
from mathutils import Vector

from . import stage
from .skin import Skin

LINKS = 8
LINK_LENGTH = 0.18  # [m] from joint to joint
TOP = 2.0
FRAMES = 72
FREE_FROM = 9  # until here the ball has its keys
BALL = 0.15  # [m] radius
PICTURE_FRAMES = (7, 12, 16, 21, 60)


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    joints = [Vector((0, 0, TOP - i * LINK_LENGTH)) for i in range(LINKS + 1)]
    bones = [("hook", None, Vector((0, 0, TOP + 0.3)), joints[0])]
    for i in range(LINKS):
        bones.append((f"link.{i + 1:02d}", f"link.{i:02d}" if i else "hook", joints[i], joints[i + 1]))
    rig = stage.rig("Chain", bones)

    skin = Skin(rig)
    skin.capsule_between("hook", (-0.12, 0, TOP + 0.15), (0.12, 0, TOP + 0.15), 0.055, material="joint")
    skin.capsule_between("hook", (0, 0, TOP + 0.12), joints[0], 0.03, material="joint")
    for i in range(LINKS):
        name = f"link.{i + 1:02d}"
        along = Vector((0, 0, -1))
        skin.capsule_between(name, joints[i] + 0.04 * along, joints[i + 1] - 0.04 * along, 0.045)
        skin.ellipsoid(name, joints[i], (0.034,) * 3, material="joint")
    skin.bind("Links")

    stage.key_pose(rig, 1, turns={bone.name: (0, 0, 0) for bone in rig.pose.bones})
    stage.name_action(rig, "Hang")
    stage.add_physics(rig, settle_time=0.6, damping_ratio=0.6, heaviness=0.0, total_mass=12.9, ground=True, bounce=0.3)
    ball = stage.ball("Ball", BALL, (0, 0, 0))
    stage.key_places(ball, {1: (-1.7, 0, 0.95), FREE_FROM: (-0.45, 0, 1.12)}, "Throw")
    stage.collider(ball, moves="FREE", free_from=FREE_FROM, mass=6.0, bounce=0.3)
    stage.collide(rig, ball)
    stage.camera(eye=(0.6, -5.6, 1.9), at=(0.0, 0.0, 1.12), lens=80, size=(400, 420))
    return rig
