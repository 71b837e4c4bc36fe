"""Two mannequins that walk past each other too close: their shoulders bump.

Shows characters simulated together: each is in the way of the other, both turn aside and walk on.
"""

from __future__ import annotations

import math

import bpy

from . import mannequin, stage, walk

FRAMES = 84
START = 1.25  # [m] how far from the middle each sets off
ASIDE = 0.2  # [m] of each from the middle line: their shoulders are wider
PICTURE_FRAMES = (20, 34, 38, 43, 62)


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    rigs = [walker("Ann", 1, "clay"), walker("Bob", -1, "moss")]
    for rig in rigs:
        stage.add_physics(rig, settle_time=0.5, heaviness=0.0, root="ASSISTED", assist=2.0, ground=True)
        stage.limit(rig, {"hand.L": 50, "hand.R": 50})
    stage.collide(rigs[0], rigs[1])
    bpy.context.view_layer.objects.active = rigs[0]
    stage.camera(eye=(-2.4, -5.2, 2.0), at=(0.05, 0.0, 0.82), lens=72, size=(400, 440))
    return rigs[0]


def walker(name: str, side: int, color: str) -> bpy.types.Object:
    rig = stage.rig(name, mannequin.bones())
    mannequin.add_body(rig, color)
    rig.location = (-side * ASIDE, side * START, 0)
    rig.rotation_euler.z = 0 if side > 0 else math.pi
    walk.key_walk(rig, FRAMES)
    rig.animation_data.action.name = f"{name} walks"
    return rig
