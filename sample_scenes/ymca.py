"""Y, M, C, A: four poses at 0.1, 1.1, 1.85 and 2.355 seconds, none of them on a frame, made by a pose script.

Shows On Time: the body moves by itself from letter to letter and is in each on its time.
"""

from __future__ import annotations

import bpy

from . import performer, stage
from .performer import both

FRAMES = 72
SCRIPT = (("Y", 0.1), ("M", 1.0), ("C", 0.75), ("A", 0.505))
POSES = {
    "Y": {"arms": both((0.75, 0, 0.75), (0.62, 0, 0.8), lift=18)},
    "M": {"arms": both((0.95, -0.12, 0.5), (-0.62, -0.3, -0.55), (-0.35, -0.2, -0.9), lift=14), "knees": 12},
    "C": {
        "arms": {
            "L": ((0.55, -0.2, -0.8), (0.96, -0.2, -0.1), (0.9, -0.1, 0.4), 0),
            "R": ((-0.5, -0.2, 0.88), (0.35, -0.3, 0.9), (0.9, -0.2, 0.35), 14),
        },
        "turns": {"spine": (0, -8, 0), "chest": (0, -10, -6), "head": (0, 6, 14)},
        "knees": 8,
    },
    "A": {"arms": both((0.8, -0.05, 0.6), (-0.3, -0.1, 0.95), (-0.5, 0, 0.86), lift=22)},
}
READY = {"arms": both((0.72, 0, 0.5), (0.5, -0.25, 0.8), lift=10)}
PICTURE_FRAMES = (4, 15, 27, 45, 58)


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    rig = performer.add()
    stage.add_physics(rig, {"neck": "IGNORED"}, controller="ON_TIME", arrival="REST", shape=5.0)
    performer.pose(rig, **READY)
    performer.script(rig, POSES, SCRIPT, "YMCA")
    stage.camera(eye=(0.6, -5.6, 1.5), at=(0.0, 0.0, 1.06), lens=84, size=(400, 480))
    return rig
