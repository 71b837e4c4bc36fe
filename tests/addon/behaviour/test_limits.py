"""How far joints turn."""

from __future__ import annotations

import math

import bpy
import pytest

import rigs
from heft.addon.simulate import session


def test_limits_hold_a_joint_back(rig):
    bone = rig.pose.bones[2]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (20, 1.2)):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.heft.simulate()
    assert rigs.bend(rig)[-1] == pytest.approx(math.degrees(1.2), abs=0.1)
    bone.heft.use_limits, bone.heft.limit_swing = True, math.radians(30.0)
    bpy.ops.heft.simulate()
    own = rigs.bend(rig)
    assert own[-1] == pytest.approx(30.0, abs=3.0) and own.max() < 36.0
    bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, math.radians(-10.0), math.radians(50.0)
    bone.use_ik_limit_z, bone.ik_min_z, bone.ik_max_z = True, 0.0, 0.0
    bpy.ops.heft.simulate()
    assert rigs.bend(rig)[-1] == pytest.approx(50.0, abs=3.0)
    limit = bone.constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.influence = "LOCAL", 0.0
    limit.use_limit_x, limit.max_x = True, math.radians(20.0)
    limit.use_limit_z = True
    assert not session.is_current(rig, bpy.context.scene)
    bone.heft.limits_from = "OWN"
    bpy.ops.heft.simulate()
    assert rigs.bend(rig)[-1] == pytest.approx(30.0, abs=3.0)


def test_a_hinge_takes_its_own_two_ends(rig):
    bone = rig.pose.bones[2]
    bone.rotation_mode = "XYZ"
    bone.lock_rotation = (False, True, True)
    for frame, angle in ((1, 0.0), (20, 1.2)):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    bone.heft.use_limits, bone.heft.limit_low, bone.heft.limit_high = True, -0.2, math.radians(40.0)
    bpy.ops.heft.simulate()
    assert rigs.bend(rig)[-1] == pytest.approx(40.0, abs=3.0)
