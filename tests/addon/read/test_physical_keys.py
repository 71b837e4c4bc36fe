"""Physical keys: when a bone has them, in every kind of source, and pose and speed there."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
from heft.addon.blender import actions, engine_space, sample_poses
from heft.addon.read import frame_plan, inputs, physical_keys, source_cache
from heft.addon.result import result_armature
from heft.addon.simulate import live, session
from heft.engine.math import rotations
from keying import key, push_down, set_type

FRAMES = np.arange(1, 41)


@pytest.fixture
def rig(empty):
    """Three bones without keys."""
    rig = rigs.chain(3)
    empty.frame_start, empty.frame_end = 1, 40
    bpy.ops.heft.add()
    rig.heft.controller = "ON_TIME"
    return rig


def moments(rig) -> physical_keys.Moments:
    return physical_keys.moments_of(rig, bpy.context.scene, FRAMES)


def keys_of(rig):
    """The keys in the motion that would be simulated, by bone."""
    now = inputs.of(rig, bpy.context.scene)
    now.plan = frame_plan.Plan(FRAMES, FRAMES, np.arange(len(FRAMES)), np.zeros(len(FRAMES), dtype=int))
    steps = source_cache.sample_group(now, result_armature.sources_shown)
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            cached = stop.value[0][rig]
            break
    meters = engine_space.meters_in_unit(rig.heft.meters_per_unit, 1.0)
    keys = sample_poses.finish(source_cache.read_steps(now.rigs[rig], cached, meters, False, False)).motion.keys
    found: dict[str, dict] = {}
    for i, (name, frame) in enumerate(zip(keys.bodies, keys.frames, strict=True)):
        row = (keys.rotations[i], keys.velocities[i], keys.positions[i], keys.drifts[i])
        found.setdefault(name, {})[round(float(frame), 3)] = row
    return found


@pytest.mark.parametrize("mode", rigs.MODES)
def test_bones_keyed_apart_have_their_own_keys(rig, mode):
    key(rig.pose.bones[1], (1, 8, 12.4, 30), mode)
    key(rig.pose.bones[2], (5, 20, 50), mode)
    found = keys_of(rig)
    assert set(found) == {"bone.001", "bone.002"}
    assert list(found["bone.001"]) == [8.0, 12.4, 30.0]
    assert list(found["bone.002"]) == [5.0, 20.0]


def test_channels_of_another_mode_and_muted_ones_do_not_count(rig):
    key(rig.pose.bones[1], (8, 20), "QUATERNION")
    key(rig.pose.bones[1], (10, 30), "XYZ")
    assert moments(rig).own["bone.001"] == (10.0, 30.0)
    for curve in actions.active_curves(rig):
        curve.mute = curve.array_index == 0
        if curve.data_path.endswith("euler") and curve.array_index == 1:
            curve.keyframe_points[0].co[0] = 14.0
    assert moments(rig).own["bone.001"] == (10.0, 14.0, 30.0)


def test_one_keyframe_type(rig):
    bone = rig.pose.bones[1]
    key(bone, (5, 10, 15, 20, 25, 30))
    path = f"{bone.path_from_id()}.rotation_euler"
    kinds = {10: "EXTREME", 15: "BREAKDOWN", 20: "MOVING_HOLD", 25: "JITTER"}
    for frame, kind in kinds.items():
        set_type(rig, path, frame, kind)
    for frame, kind in kinds.items():
        rig.heft.key_type = kind
        assert moments(rig).own["bone.001"] == (frame,)
    rig.heft.key_type = "KEYFRAME"
    assert moments(rig).own["bone.001"] == (5.0, 30.0)
    rig.heft.key_type = "ALL"
    assert len(moments(rig).own["bone.001"]) == 6


def test_pose_and_speed_between_frames_are_the_evaluated_ones(rig):
    """A sine-like curve at 12.4: the pose against Blender's own evaluation, the speed against the curve's slope."""
    bone = rig.pose.bones[1]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (12.4, 0.9), (23, -0.4), (40, 0.2)):
        bone.rotation_euler = (angle, 0.0, 0.0)
        bone.keyframe_insert("rotation_euler", index=0, frame=frame)
    curve = next(curve for curve in actions.active_curves(rig) if curve.array_index == 0)
    for point, slope in zip(curve.keyframe_points, (0.1, 0.06, -0.02, 0.0), strict=True):
        point.handle_left_type = point.handle_right_type = "FREE"
        point.handle_left = (point.co[0] - 3.0, point.co[1] - 3.0 * slope)
        point.handle_right = (point.co[0] + 3.0, point.co[1] + 3.0 * slope)
    found = keys_of(rig)["bone.001"]
    for frame, angle, slope in ((12.4, 0.9, 0.06), (23.0, -0.4, -0.02)):
        turn, spin, _, _ = found[frame]
        assert rotations.to_vector(turn) == pytest.approx([angle, 0.0, 0.0], abs=2e-6)
        assert np.degrees(spin - np.array([24.0 * slope, 0.0, 0.0])) == pytest.approx(np.zeros(3), abs=0.3)


def test_stepped_keys_are_passed_at_rest(rig):
    bone = rig.pose.bones[1]
    key(bone, (1, 10.5, 20), size=0.6)
    for curve in actions.active_curves(rig):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    found = keys_of(rig)["bone.001"]
    assert list(found) == [10.5, 20.0]
    for _, spin, _, _ in found.values():
        assert np.abs(spin).max() < 1e-3
    bpy.context.scene.frame_set(20)
    want = rotations.from_matrix(np.array(bone.rotation_euler.to_matrix()))
    assert rotations.angle_between(found[20.0][0], want) < 1e-5


def test_a_root_that_moves_has_keys_of_place_and_drift(rig):
    bone = rig.pose.bones[0]
    bone.bone.use_local_location = True
    for frame, far in ((1, 0.0), (15.5, 1.0), (40, 1.0)):
        bone.location = (far, 0.0, 0.0)
        bone.keyframe_insert("location", frame=frame)
    for curve in actions.active_curves(rig):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    found = keys_of(rig)["bone.000"]
    assert list(found) == [15.5, 40.0]
    _, _, place, drift = found[15.5]
    bpy.context.scene.frame_set(15, subframe=0.5)
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    head = evaluated.matrix_world @ evaluated.pose.bones[0].head
    assert place == pytest.approx(np.array(head), abs=1e-5)
    assert np.linalg.norm(drift) == pytest.approx(0.5 * 24.0 / 14.5, rel=1e-3)  # between 24/14.5 and rest


def test_bones_that_controls_move_have_the_keys_of_the_whole_pose(rig):
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = (0.2, 0.9, 0.3)
    rigs.throw(target, (0.2, 0.9, 0.3), (0.5, 0.6, 0.4), 1, 22)
    constraint = rig.pose.bones[2].constraints.new("IK")
    constraint.target, constraint.chain_count = target, 2
    key(rig.pose.bones[0], (10,), size=0.3)
    found = keys_of(rig)
    assert list(found["bone.000"]) == [10.0]
    for name in ("bone.001", "bone.002"):
        assert list(found[name]) == [10.0, 22.0]
    constraint.mute = True
    assert set(keys_of(rig)) == {"bone.000"}


def test_driven_bones_have_the_keys_of_the_whole_pose(rig):
    key(rig.pose.bones[1], (10, 30))
    curve = rig.pose.bones[2].driver_add("rotation_quaternion", 1)
    curve.driver.expression = "0.5 * var"
    variable = curve.driver.variables.new()
    variable.targets[0].id = rig
    variable.targets[0].data_path = 'pose.bones["bone.001"].rotation_euler[0]'
    assert list(keys_of(rig)["bone.002"]) == [10.0, 30.0]


@pytest.mark.parametrize("settings", [{}, {"scale": 2.0}, {"use_reverse": True}], ids=str)
def test_keys_in_strips_are_where_the_strip_plays_them(rig, settings):
    key(rig.pose.bones[1], (1, 4, 11))
    push_down(rig, 5, **settings)
    want = {"{}": (5.0, 8.0, 15.0), "{'scale': 2.0}": (5.0, 11.0, 25.0), "{'use_reverse': True}": (5.0, 12.0, 15.0)}
    assert moments(rig).own["bone.001"] == want[str(settings)]
    rig.animation_data.nla_tracks[0].mute = True
    assert not moments(rig).whole


def test_strips_with_a_time_of_their_own_are_told(rig):
    key(rig.pose.bones[1], (1, 4, 11))
    strip = push_down(rig, 5)
    strip.use_animated_time = True
    bpy.ops.heft.simulate()
    assert f"'{strip.name}' has animated time" in rig.heft.message
    assert "has no keys" in rig.heft.message


def test_changed_keys_and_types_are_noticed(rig):
    bone = rig.pose.bones[1]
    key(bone, (1, 10, 20, 30))
    path = f"{bone.path_from_id()}.rotation_euler"
    set_type(rig, path, 20, "EXTREME")
    rig.heft.key_type = "EXTREME"
    scene = bpy.context.scene
    rig.heft.live = True
    before = rigs.poses(rig, FRAMES)
    assert session.is_current(rig, scene)
    set_type(rig, path, 10, "EXTREME")
    assert not session.is_current(rig, scene)
    live.follow_source()
    assert session.is_current(rig, scene)
    assert rigs.deviation(before, rigs.poses(rig, FRAMES), 1.0)[1] > 1.0
    rig.heft.controller = "FOLLOW"
    set_type(rig, path, 30, "EXTREME")
    assert session.is_current(rig, scene), "Follow keeps no keys"


def test_keyed_settings_and_names_like_them_are_told_apart(rig):
    rig.data.bones[1].name = "heft.001"
    key(rig.pose.bones[1], (10, 20))
    for frame in (5, 33):
        rig.keyframe_insert("heft.heaviness", frame=frame)
        rig.keyframe_insert(f"{rig.pose.bones[1].path_from_id()}.heft.settle_scale", frame=frame)
    assert moments(rig).whole == (10.0, 20.0)


def test_what_a_strip_above_replaces_is_no_key(rig):
    key(rig.pose.bones[1], (1, 6, 12, 30))
    push_down(rig, 1)
    key(rig.pose.bones[1], (1, 8))
    push_down(rig, 10, extrapolation="NOTHING")
    assert moments(rig).own["bone.001"] == (6.0, 10.0, 17.0, 30.0)


def test_stretched_time(rig):
    key(rig.pose.bones[1], (1, 10, 15))
    bpy.context.scene.render.frame_map_new = 200
    assert moments(rig).own["bone.001"] == (2.0, 20.0, 30.0)


def test_where_the_scene_ends_so_do_the_keys(rig):
    key(rig.pose.bones[1], (1, 10, 39.9, 41))
    assert moments(rig).own["bone.001"] == (10.0, pytest.approx(39.9, abs=1e-4))
