"""Pose scripts: poses found by name, saved, and turned into keys of a new action."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
import state
from heft.addon.blender import actions, pose_library
from heft.addon.errors import RigError
from heft.addon.tools import pose_scripts


@pytest.fixture
def rig(empty):
    """Three bones with an action, two pose markers in it, and a pose of the library."""
    rig = rigs.chain(3)
    rigs.wave(rig, modes=("QUATERNION", "XYZ"))
    action = rig.animation_data.action
    for name, frame in (("Low", 9), ("High", 21)):
        action.pose_markers.new(name).frame = frame
    bpy.ops.heft.add()
    empty.frame_set(33)
    pose_scripts.save(rig, "Saved")
    empty.frame_set(1)
    return rig


def pose_of(rig, frame: float) -> np.ndarray:
    scene = bpy.context.scene
    scene.frame_set(int(frame), subframe=frame - int(frame))
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([bone.matrix for bone in evaluated.pose.bones])


def test_a_script_becomes_keys_at_its_times_with_its_poses(rig):
    scene = bpy.context.scene
    want = [pose_of(rig, frame) for frame in (5, 9, 21, 33, 9)]
    scene.frame_set(5)
    before = rig.animation_data.action
    action = pose_scripts.make_keys(rig, scene, [("Low", 0.3), ("High", 0.4), ("Saved", 0.545), ("Low", 1.0)])
    times = 5.0 + 24.0 * np.cumsum([0.0, 0.3, 0.4, 0.545, 1.0])
    assert rig.animation_data.action == action != before
    turning = [curve for curve in actions.active_curves(rig) if "rotation" in curve.data_path]
    assert len(turning) == 4 + 3 + 4
    for curve in turning:
        assert [point.co[0] for point in curve.keyframe_points] == pytest.approx(list(times), abs=1e-4)
    for time, pose in zip(times, want, strict=True):
        assert np.abs(pose_of(rig, float(time)) - pose).max() < 1e-5


def test_nothing_of_the_users_is_lost(rig):
    old = rig.animation_data.action
    kept = state.snapshot(rig, pose=False)
    pose_scripts.make_keys(rig, bpy.context.scene, [("Low", 0.3)])
    assert old.users > 0
    new = state.snapshot(rig, pose=False)
    changed = [line for line in state.difference(kept, new) if f"action {old.name}" in line]
    assert changed == [f" action {old.name}[0]: False -> True"], "the fake user that keeps it in the file"
    assert old.use_fake_user


def test_the_panels_list_does_the_same(rig):
    scene = bpy.context.scene
    for name, seconds in (("High", 0.2), ("Low", 0.5)):
        assert bpy.ops.heft.list_add(which="script") == {"FINISHED"}
        rig.heft.script[-1].pose, rig.heft.script[-1].seconds = name, seconds
    assert bpy.ops.heft.list_move(which="script", up=True) == {"FINISHED"}
    assert [entry.pose for entry in rig.heft.script] == ["Low", "High"] and rig.heft.script_index == 0
    assert bpy.ops.heft.list_move(which="script", up=True) == {"CANCELLED"}
    assert bpy.ops.heft.list_add(which="script") == {"FINISHED"}
    assert bpy.ops.heft.list_remove(which="script") == {"FINISHED"}
    scene.frame_set(1)
    want = pose_of(rig, 21)
    scene.frame_set(1)
    assert bpy.ops.heft.script_to_keys() == {"FINISHED"}
    assert np.abs(pose_of(rig, 1.0 + 24.0 * 0.7) - want).max() < 1e-5


def test_poses_are_found_again_after_the_action_has_changed(rig):
    scene = bpy.context.scene
    assert pose_library.names(rig) == ["Low", "High", "Saved"]
    pose_scripts.make_keys(rig, scene, [("Low", 0.3)])
    assert pose_library.names(rig) == ["Saved", "Low", "High"]
    scene.frame_set(1)
    pose_scripts.make_keys(rig, scene, [("High", 0.3)])


def test_a_partial_pose_moves_only_its_bones(rig):
    partial = actions.new_action("Partial", rig)
    bag = actions.ensure_bag(partial)
    curve = actions.ensure_curve(bag, {}, 'pose.bones["bone.001"].rotation_euler', 0, "bone.001")
    actions.write_keys(curve, np.ones(1, dtype=np.float32), np.full(1, 0.8, dtype=np.float32))
    partial.asset_mark()
    action = pose_scripts.make_keys(rig, bpy.context.scene, [("Partial", 0.5)])
    assert [curve.data_path for curve in actions.active_curves(rig)] == ['pose.bones["bone.001"].rotation_euler']
    assert action.name != "Partial"


def test_quaternions_go_the_short_way(rig):
    bone = rig.pose.bones[0]
    action = rig.animation_data.action
    for curve in actions.active_curves(rig):
        if curve.data_path == f"{bone.path_from_id()}.rotation_quaternion":
            for point in curve.keyframe_points:
                if abs(point.co[0] - 21) < 0.5:
                    point.co[1] *= -1.0
            curve.update()
    assert action.pose_markers["High"].frame == 21
    pose_scripts.make_keys(rig, bpy.context.scene, [("Low", 0.5), ("High", 0.5)])
    curves = [c for c in actions.active_curves(rig) if c.data_path == f"{bone.path_from_id()}.rotation_quaternion"]
    low, high = (np.array([curve.keyframe_points[k].co[1] for curve in curves]) for k in (1, 2))
    assert low @ high > 0.0


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ([], "empty"),
        ([("Nowhere", 0.3)], "There is no pose 'Nowhere'.*'Low'"),
        ([("Low", 0.3), ("", 0.3)], "Entry 2"),
        ([("Low", 0.0)], "'Low' takes 0 seconds"),
        ([("Low", float("nan"))], "'Low' takes nan seconds"),
    ],
    ids=["empty", "unknown", "no name", "no time", "not a number"],
)
def test_bad_scripts_are_refused_and_leave_nothing(rig, script, words):
    before = [action.name for action in bpy.data.actions], rig.animation_data.action
    with pytest.raises(RigError, match=words):
        pose_scripts.make_keys(rig, bpy.context.scene, script)
    assert ([action.name for action in bpy.data.actions], rig.animation_data.action) == before


def test_a_name_that_is_taken_is_refused(rig):
    with pytest.raises(RigError, match="'Saved' already"):
        pose_scripts.save(rig, "Saved")
    with pytest.raises(RuntimeError, match="no name"):
        bpy.ops.heft.save_pose(name=" ")
