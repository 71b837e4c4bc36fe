"""A production rig from end to end: Rigify's basic human, waving with its controls."""

from __future__ import annotations

import math

import addon_utils
import bpy
import numpy as np
import pytest

import rigs
import state

FRAMES = range(1, 31)
# Degrees and parts of the height, on the bones that deform.
ANGLE, OFFSET = 0.05, 1e-4


@pytest.fixture(scope="module")
def shot(tmp_path_factory):
    """The generated rig with keys on an IK hand, the torso and FK fingers, as a file."""
    rigs.new_file()
    if addon_utils.enable("rigify", default_set=True) is None:
        pytest.skip("Rigify cannot be enabled in this Blender")
    bpy.ops.object.armature_basic_human_metarig_add()
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    for frame in range(1, 31, 6):
        bones = rig.pose.bones
        bones["hand_ik.L"].location = (0.1, 0.2 * math.sin(0.4 * frame), 0.4 + 0.1 * math.cos(0.4 * frame))
        bones["hand_ik.L"].keyframe_insert("location", frame=frame)
        bones["torso"].location = (0.0, 0.05 * math.sin(0.2 * frame), -0.04)
        bones["torso"].keyframe_insert("location", frame=frame)
        bones["chest"].rotation_quaternion = (0.98, 0.1 * math.sin(0.3 * frame), 0.1, 0.0)
        bones["chest"].keyframe_insert("rotation_quaternion", frame=frame)
        bones["head"].rotation_quaternion = (0.98, 0.0, 0.15 * math.cos(0.3 * frame), 0.1)
        bones["head"].keyframe_insert("rotation_quaternion", frame=frame)
    path = str(tmp_path_factory.mktemp("rigify") / "human.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    yield path
    addon_utils.disable("rigify", default_set=True)


@pytest.fixture
def rig(shot):
    bpy.ops.wm.open_mainfile(filepath=shot)
    return bpy.context.object


def deforming(rig) -> list[int]:
    return [i for i, bone in enumerate(rig.pose.bones) if bone.bone.use_deform]


def test_shown_on_a_rigify_human_and_removed_without_a_trace(rig):
    before = state.snapshot(rig, pose=False)
    source = rigs.poses(rig, FRAMES)
    assert np.abs(source - source[:1]).max() > 0.1, "the controls move the rig"
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, FRAMES)
    chosen = deforming(rig)
    offset, angle = rigs.deviation(source[:, chosen], shown[:, chosen], rigs.height(rig))
    print(f"{len(chosen)} deforming bones of {len(rig.pose.bones)}: {offset:.1e} of the height, {angle:.4f} deg")
    assert offset < OFFSET and angle < ANGLE
    bpy.ops.heft.remove()
    assert state.difference(before, state.snapshot(rig, pose=False)) == []
    again = rigs.deviation(source, rigs.poses(rig, FRAMES), rigs.height(rig))
    assert again == (0.0, 0.0)


def test_weight_shows_on_a_rigify_human(rig):
    source = rigs.poses(rig, FRAMES)
    bpy.ops.heft.add()
    rig.heft.heaviness = 0.3
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, FRAMES)
    assert np.isfinite(shown).all()
    hand = rig.pose.bones.find("DEF-hand.L")
    offset, angle = rigs.deviation(source[:, [hand]], shown[:, [hand]], rigs.height(rig))
    assert angle > 1.0 and offset < 0.5


def test_on_time_a_rigify_human_meets_its_controls_keys(rig):
    """The deforming bones have no keys: those of the controls are theirs."""
    source = rigs.poses(rig, FRAMES)
    bpy.ops.heft.add()
    rig.heft.controller = "ON_TIME"
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, FRAMES)
    hand = [rig.pose.bones.find("DEF-hand.L")]
    on_keys, between = [6, 12, 18, 24], [3, 9, 15, 21]  # frames 7, 13 … and those in the middle
    offset, angle = rigs.deviation(source[on_keys][:, hand], shown[on_keys][:, hand], rigs.height(rig))
    assert offset < 1e-3 and angle < 0.1
    assert rigs.deviation(source[between][:, hand], shown[between][:, hand], rigs.height(rig))[1] > 0.5
    assert not len(rig.heft.misses)
