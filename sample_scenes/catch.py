"""Two catchers, the same keys; a ball of 3 kg strikes the arm of one on its way.

Shows that a key is kept after a blow: at the catch frame both hands are where their ball arrives.
"""

from __future__ import annotations

import bpy
from mathutils import Vector

from . import performer, stage
from .performer import both

FRAMES = 60
CATCH, FREE_FROM = 40, 17  # the frame of the catch, and that up to which the heavy ball has its keys
APART = 0.75  # [m] each from the middle
BALL, HEAVY = 0.05, 0.09  # radii [m]
READY = {"arms": both((0.2, -0.1, -1), (0.1, -0.5, -0.85))}
REACH = {
    "arms": {
        "L": ((0.3, 0.1, -1), (0.2, -0.4, -0.9), (0.2, -0.4, -0.9), 0),
        "R": ((-0.35, -0.75, 0.35), (-0.25, -0.54, 0.8), (-0.2, -0.5, 0.85), 12),
    },
    "turns": {"chest": (4, 0, 10), "head": (-10, 0, -6)},
}
PICTURE_FRAMES = (14, 25, 29, 34, 40)


def build() -> bpy.types.Object:
    stage.empty(FRAMES)
    rigs = []
    for name, x, color in (("Still", -APART, "cream"), ("Struck", APART, "clay")):
        rig = performer.add(name, color)
        rig.location = (x, 0, 0)
        for frame, pose in ((1, READY), (CATCH, REACH), (FRAMES, REACH)):
            performer.pose(rig, **pose)
            performer.key(rig, frame)
        stage.name_action(rig, f"{name} reach")
        stage.add_physics(rig, {"neck": "IGNORED"}, controller="ON_TIME", arrival="REST", ground=True)
        throw(rig)
        rigs.append(rig)
    heavy = stage.ball("Heavy", HEAVY, (0, 0, 0), "joint")
    stage.key_places(heavy, {1: (3.4, -2.3, 1.5), FREE_FROM: (1.0, -0.72, 1.5)}, "Heavy throw")
    stage.collider(heavy, moves="FREE", free_from=FREE_FROM, mass=3.0, bounce=0.3)
    stage.collide(rigs[1], heavy, rigs[0])
    stage.camera(eye=(1.6, -6.0, 1.8), at=(0.0, -0.2, 1.12), lens=78, size=(480, 420))
    return rigs[1]


def throw(rig: bpy.types.Object) -> None:
    """A small ball that arrives in the rig's right hand at the catch frame and stays there."""
    bpy.context.scene.frame_set(CATCH)
    place = rig.matrix_world @ rig.pose.bones["hand.R"].tail
    bpy.context.scene.frame_set(1)
    ball = stage.ball(f"Ball {rig.name}", BALL, (0, 0, 0))
    way = Vector((0.0, -2.6, 0.5))
    stage.key_places(ball, {14: tuple(place + way), CATCH: tuple(place)}, f"Throw to {rig.name}")
    hold = ball.constraints.new("COPY_LOCATION")
    hold.target, hold.subtarget, hold.head_tail = rig, "hand.R", 1.0
    for frame, held in ((1, 0.0), (CATCH, 1.0)):
        hold.influence = held
        hold.keyframe_insert("influence", frame=frame)
    for curve in stage.curves_of(ball.animation_data.action):
        if curve.data_path.endswith("influence"):
            for point in curve.keyframe_points:
                point.interpolation = "CONSTANT"
