"""Joints that give only so much, and wind."""

from __future__ import annotations

import math

import bpy
import numpy as np

import rigs


def test_without_strength_the_post_faints_and_with_enough_it_stands(rig):
    rig.heft.use_strength = True
    rig.heft.strength = 2.0
    rig.rotation_euler.y = math.radians(20.0)  # leaning: it takes strength to stand
    bpy.ops.heft.simulate()
    start = rigs.bend(rig)[0]
    assert abs(rigs.bend(rig) - start).max() < 0.05
    rig.heft.strength = 0.0
    bpy.ops.heft.simulate()
    assert rigs.bend(rig)[-1] > start + 30.0


def test_one_weak_bone_gives_way(rig):
    rig.heft.use_strength = True
    rig.heft.natural_limits = False  # what is stopped at the end of its range pushes the bone below
    rig.rotation_euler.y = math.radians(20.0)
    rig.pose.bones[-1].heft.strength_scale = 0.0
    bpy.ops.heft.simulate()
    turned = rigs.poses(rig, rigs.FRAMES)[:, :, :3, 1]
    assert np.abs(turned[-1, 1] - turned[0, 1]).max() < 1e-3
    assert rigs.bend(rig)[-1] > rigs.bend(rig)[0] + 30.0


def test_wind_bends_the_post_and_a_keyed_lull_lets_it_stand(rig):
    rig.heft.settle_time = 0.3
    rig.heft.wind = (12.0, 0.0, 0.0)
    for frame, strength in ((1, 20.0), (20, 20.0), (21, 0.0)):
        rig.heft.wind_strength = strength
        rig.keyframe_insert("heft.wind_strength", frame=frame)
    bpy.ops.heft.simulate()
    angles = rigs.bend(rig)
    assert angles[:20].max() > 1.0
    assert angles[-1] < 0.1 * angles[:20].max()
