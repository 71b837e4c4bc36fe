"""A walking mannequin that a ball hits on the shoulder.

Shows a reaction on top of a motion: before the hit the walk is the source, the blow turns the body away, and
within a few steps it is back on its keys. The ground holds the feet, the root is only guided.
"""

from __future__ import annotations

import bpy

from . import mannequin, stage, walk

FRAMES = 72
FREE_FROM = 26  # until here the ball has its keys
PICTURE_FRAMES = (23, 27, 31, 36, 56)


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    rig = stage.rig("Walker", mannequin.bones())
    mannequin.add_body(rig)
    rig.location = (0, 1.1, 0)
    walk.key_walk(rig, FRAMES)
    stage.add_physics(rig, settle_time=0.5, heaviness=0.0, root="ASSISTED", assist=2.0, ground=True)
    ball = stage.ball("Ball", 0.13, (0, 0, 0))
    stage.key_places(ball, {1: (6.75, 0.2, 1.22), FREE_FROM: (0.5, 0.2, 1.32)}, "Throw")
    stage.collider(ball, moves="FREE", free_from=FREE_FROM, mass=5.0, bounce=0.4)
    stage.collide(rig, ball)
    stage.camera(eye=(3.0, -5.0, 1.6), at=(0.22, 0.1, 0.86), lens=74, size=(400, 460))
    return rig
