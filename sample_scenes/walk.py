"""A walk for the mannequin: feet that stay where they are put, straight ahead along its own -y.

Must not know any single scene.
"""

from __future__ import annotations

import math

import bpy

from . import stage
from .mannequin import HIPS, LEG

STEP = 0.5  # [m] from footprint to footprint
BEAT = 14  # frames a step
LIFT = 0.1  # [m] of a swinging foot
SOLE = 0.012  # [m] how much higher than at rest the feet are set down: the soles are a little thicker there
DROP = 0.045  # [m] the hips are lower than on straight legs
YAW = 5  # [°] of the hips
SWING = 0.9  # part of two steps that a foot is in the air, in steps


def foot(time: float) -> tuple[float, float, float]:
    """Way ahead [m], height [m] and pitch [°] of a foot that sets off at time 0; time in steps."""
    stride, phase = divmod(time, 2.0)
    t = min(phase / SWING, 1.0)
    way = 2 * STEP * (stride + t * t * (3 - 2 * t))
    return way, LIFT * max(math.sin(math.pi * t), 0.0) ** 1.2, 10 * math.sin(2 * math.pi * t)


def key_walk(rig: bpy.types.Object, frames: int, every: int = 2) -> None:
    """Key the whole walk; it begins with the right foot ahead."""
    for frame in [*range(1, frames, every), frames]:
        time = (frame - 1) / BEAT
        swing = math.cos(math.pi * time)  # 1: right foot and left arm ahead
        yaw = YAW * swing
        height = SOLE - DROP - 0.012 * math.cos(2 * math.pi * time)
        turns = {
            "hips": (0, 0, yaw), "spine": (2, 0, -yaw), "chest": (1, 0, -yaw),
            "neck": (0, 0, 0.4 * yaw), "head": (-2, 0, 0.6 * yaw),
        }  # fmt: skip
        for side, s, start in (("L", 1, SWING + 1.05), ("R", -1, SWING + 0.05)):
            way, up, pitch = foot(time + start)
            # The hip is above the foot in the middle of its time on the floor.
            behind = STEP * time - way + STEP * (start + 1 - SWING / 2) - s * 0.1 * math.sin(math.radians(yaw))
            down = HIPS + height - (0.08 + SOLE + up)
            reach = min(math.hypot(behind, down), 2 * LEG - 1e-4)
            lean = math.degrees(math.atan2(behind, down))
            bend = math.degrees(math.acos(reach / (2 * LEG)))
            turns[f"thigh.{side}"] = (lean - bend, 0, -yaw)
            turns[f"shin.{side}"] = (2 * bend, 0, 0)
            turns[f"foot.{side}"] = (pitch - lean - bend, 0, 0)
            arm = -22 * swing * s
            turns[f"upper_arm.{side}"] = (arm + 4, 18 * s, 0)
            turns[f"forearm.{side}"] = (-16 + 0.5 * min(arm, 0), 0, 0)
        stage.key_pose(rig, frame, turns, {"hips": (0, -STEP * time, height)})
    stage.name_action(rig, "Walk")
