"""A conductor: six poses, each with the seconds it takes, made by a pose script.

Shows beats: the hands are in every pose on its time, and pass the upbeat with a swing.
"""

from __future__ import annotations

import bpy

from . import performer, stage
from .performer import both

FRAMES = 72
SCRIPT = (("ArmsFront", 0.3), ("ArmsUp", 0.3), ("Out", 0.3), ("UpBeat", 0.4), ("DownBeat", 0.545), ("UpBeat", 0.545))
POSES = {
    "ArmsFront": {"arms": both((0.35, -0.6, -0.72), (-0.05, -0.95, 0.3))},
    "ArmsUp": {"arms": both((0.5, -0.6, 0.2), (0.05, -0.45, 0.9), lift=10), "turns": {"head": (-8, 0, 0)}},
    "Out": {"arms": both((0.9, -0.35, -0.25), (0.75, -0.6, 0.35), lift=4), "turns": {"chest": (-5, 0, 0)}},
    "UpBeat": {
        "arms": both((0.55, -0.55, 0.05), (0.15, -0.5, 0.85), (0, -0.9, 0.4), lift=12),
        "turns": {"chest": (-6, 0, 0), "head": (-8, 0, 0)},
    },
    "DownBeat": {
        "arms": both((0.3, -0.5, -0.8), (0.0, -0.98, -0.15), (0, -0.9, -0.45)),
        "turns": {"spine": (4, 0, 0), "chest": (8, 0, 0), "head": (12, 0, 0)},
        "knees": 10,
    },
}
STAND = {"arms": both((0.16, 0, -1), (0.12, -0.2, -1))}
PICTURE_FRAMES = (8, 15, 23, 32, 45)


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    rig = performer.add("Conductor")
    stage.add_physics(rig, {"neck": "IGNORED"}, controller="ON_TIME", shape=4.5)
    performer.pose(rig, **STAND)
    performer.script(rig, POSES, SCRIPT, "Beats")
    stage.camera(eye=(2.9, -4.6, 1.7), at=(0.0, -0.1, 1.03), lens=88, size=(400, 480))
    return rig
