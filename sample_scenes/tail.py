"""A small creature that turns and hops: its body is keyed, its tail only wags at the base.

Shows heaviness on a chain of bones that drags behind an animated body.
"""

from __future__ import annotations

import math

import bpy
from mathutils import Vector

from . import stage
from .skin import Skin, ring

TAIL_BONES = 9
FRAMES = 72
# frame: (turn about the vertical [°], height of the hop [m])
BODY_KEYS = {1: (0, 0), 8: (0, 0), 18: (70, 0), 26: (70, 0), 30: (66, -0.07), 36: (0, 0.38), 42: (-52, -0.07),
             47: (-55, 0), 60: (-55, 0), 72: (0, 0)}  # fmt: skip
PICTURE_FRAMES = (8, 14, 19, 36, 43)


def tail_point(t: float) -> Vector:
    """The tail at rest: out of the back, then curling up. t from 0 to 1."""
    return Vector((0, 0.36 + 0.95 * math.sin(1.15 * t) / 1.15, 0.52 + 0.62 * t * t))


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    joints = [tail_point(i / TAIL_BONES) for i in range(TAIL_BONES + 1)]
    bones = [("body", None, Vector((0, 0, 0.45)), Vector((0, 0.3, 0.5)))]
    bones.append(("head", "body", Vector((0, -0.33, 0.62)), Vector((0, -0.55, 0.75))))
    for i in range(TAIL_BONES):
        bones.append((f"tail.{i + 1:02d}", f"tail.{i:02d}" if i else "body", joints[i], joints[i + 1]))
    rig = stage.rig("Creature", bones)

    skin = Skin(rig)
    skin.ellipsoid("body", (0, 0.0, 0.46), (0.27, 0.46, 0.27))
    skin.ellipsoid("body", (0, -0.02, 0.36), (0.23, 0.38, 0.19), material="cream")
    for x in (-0.15, 0.15):
        for y in (-0.26, 0.24):
            skin.capsule_between("body", (x, y, 0.34), (x, y - 0.01, 0.06), 0.095, 0.062)
            skin.ellipsoid("body", (x, y - 0.04, 0.045), (0.07, 0.1, 0.045), material="joint")
    skin.ellipsoid("head", (0, -0.5, 0.76), (0.23, 0.22, 0.21))
    skin.ellipsoid("head", (0, -0.66, 0.70), (0.12, 0.12, 0.095), material="cream")
    skin.ellipsoid("head", (0, -0.775, 0.735), (0.035, 0.03, 0.028), material="joint")
    for side in (-1, 1):
        skin.ellipsoid("head", (side * 0.1, -0.685, 0.82), (0.03, 0.025, 0.038), material="joint")
        skin.capsule_between("head", (side * 0.13, -0.46, 0.9), (side * 0.18, -0.44, 1.08), 0.075, 0.02)
    add_tail(skin)
    skin.bind("Creature body")

    for frame, (turn, hop) in BODY_KEYS.items():
        stage.key_pose(rig, frame, turns={"body": (0, 0, turn)}, moves={"body": (0, 0, hop)})
        stage.key_pose(rig, frame - 2 if frame > 2 else frame, turns={"head": (0, 0, turn * 0.25)})
    for i in range(7):
        stage.key_pose(rig, 1 + 12 * i - (i == 6), turns={"tail.01": (0, 0, 12 * (-1) ** i)})
    stage.name_action(rig, "Turn and hop")
    stage.add_physics(rig, {"head": "ANIMATED"}, settle_time=0.35, damping_ratio=0.8, heaviness=0.35)
    stage.camera(eye=(3.6, -3.3, 2.3), at=(0.0, 0.2, 0.72), lens=68, size=(480, 420))
    return rig


def add_tail(skin: Skin) -> None:
    """A bushy tube along the tail; every ring follows the two bones nearest to it."""
    steps = 4 * TAIL_BONES
    rings = []
    for i in range(steps + 1):
        t = i / steps
        along = (tail_point(t + 1e-3) - tail_point(t - 1e-3)).normalized()
        radius = 0.05 + 0.1 * math.sin(math.pi * t**1.3) ** 1.5
        rings.append(ring(tail_point(t), along, 0.0, radius * math.sqrt(max(0.02, 1 - t**10))))

    def weigh(i: int) -> dict[str, float]:
        place = min(max(i / 4 - 0.5, 0.0), TAIL_BONES - 1.0)
        low = min(int(place), TAIL_BONES - 2)
        return {f"tail.{low + 1:02d}": 1 - (place - low), f"tail.{low + 2:02d}": place - low}

    skin.surface(rings, ["clay" if i < 0.7 * steps else "cream" for i in range(steps + 1)], weigh)
