"""The result on the rig: mix, keyed mix, IK, other actions, duplicates."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
from heft.addon.blender import actions
from heft.addon.result import result_armature, show_constraints


@pytest.fixture
def rig(empty):
    rig = rigs.chain(5, connected=False)
    rigs.wave(rig)
    bpy.ops.heft.add()
    rig.heft.total_mass = 2.0
    rig.heft.heaviness = 0.2
    return rig


def both(rig):
    """Source and result poses, the result shown at the end."""
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.simulate()
    result = rigs.poses(rig, rigs.scene_frames())
    assert rigs.deviation(source, result, rigs.height(rig))[1] > 0.5
    return source, result


def same(rig, a, b) -> bool:
    offset, angle = rigs.deviation(a, b, rigs.height(rig))
    return offset < 1e-5 and angle < 1e-3


def test_show_source_and_result(rig):
    source, result = both(rig)
    bpy.ops.heft.show(which="SOURCE")
    assert same(rig, source, rigs.poses(rig, rigs.scene_frames()))
    bpy.ops.heft.show(which="RESULT")
    assert same(rig, result, rigs.poses(rig, rigs.scene_frames()))
    bpy.ops.heft.flip()
    assert rig.heft.shown == "SOURCE"
    assert same(rig, source, rigs.poses(rig, rigs.scene_frames()))


def test_mix_zero_is_the_source_and_halves_lie_between(rig):
    source, result = both(rig)
    rig.heft.mix = 0.0
    assert same(rig, source, rigs.poses(rig, rigs.scene_frames()))
    rig.heft.mix = 0.5
    half = rigs.poses(rig, rigs.scene_frames())
    assert not same(rig, half, source) and not same(rig, half, result)
    rig.heft.mix = 1.0
    rig.pose.bones[0].heft.mix = 0.0
    assert rig.pose.bones[0].constraints.get("Heft") is None
    assert rig.pose.bones[1].constraints["Heft"].influence == 1.0
    assert not rig.animation_data.drivers


def test_keyed_mix_fades_and_leaves_no_driver_behind(rig):
    source, result = both(rig)
    for frame, value in ((10, 0.0), (20, 1.0)):
        rig.heft.mix = value
        rig.keyframe_insert("heft.mix", frame=frame)
    now = rigs.poses(rig, rigs.scene_frames())
    assert same(rig, now[:9], source[:9])
    assert same(rig, now[20:], result[20:])
    assert not same(rig, now[10:18], source[10:18]) and not same(rig, now[10:18], result[10:18])
    bpy.context.scene.frame_set(15)
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert evaluated.pose.bones[2].constraints["Heft"].influence == pytest.approx(evaluated.heft.mix, abs=1e-5)
    bpy.ops.heft.remove()
    assert not rig.animation_data.drivers


def test_bone_mix_can_be_keyed(rig):
    source, result = both(rig)
    bone = rig.pose.bones[0]
    for frame, value in ((10, 0.0), (11, 1.0)):
        bone.heft.mix = value
        rig.keyframe_insert(f"{bone.path_from_id()}.heft.mix", frame=frame)
    now = rigs.poses(rig, (5, 30))
    assert same(rig, now[:1, :1], source[4:5, :1])
    assert same(rig, now[1:], result[29:30])


def test_ik_on_simulated_bones_is_muted_only_while_the_result_shows(empty):
    rig = rigs.chain(4)
    rigs.wave(rig)
    goal = bpy.data.objects.new("goal", None)
    bpy.context.scene.collection.objects.link(goal)
    for frame in (1, 40):
        goal.location = (0.1 * frame, 0.5, 0.3)
        goal.keyframe_insert("location", frame=frame)
    ik = rig.pose.bones[3].constraints.new("IK")
    ik.target, ik.chain_count = goal, 3
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    assert ik.mute
    offset, angle = rigs.deviation(source, rigs.poses(rig, rigs.scene_frames()), rigs.height(rig))
    assert offset < 1e-4 and angle < 0.02
    bpy.ops.heft.show(which="SOURCE")
    assert not ik.mute
    assert same(rig, source, rigs.poses(rig, rigs.scene_frames()))
    bpy.ops.heft.show(which="RESULT")
    rig.heft.mix = 0.0
    assert not ik.mute
    rig.heft.mix = 1.0
    bpy.ops.heft.simulate()
    assert ik.mute
    bpy.ops.heft.bake(target="ACTION", mute_constraints=True)
    offset, angle = rigs.deviation(source, rigs.poses(rig, rigs.scene_frames()), rigs.height(rig))
    assert offset < 1e-4 and angle < 0.02


def test_user_muted_ik_stays_muted(empty):
    rig = rigs.chain(4)
    rigs.wave(rig)
    ik = rig.pose.bones[3].constraints.new("IK")
    ik.mute = True
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    bpy.ops.heft.remove()
    assert ik.mute


def test_stands_back_from_another_action(rig):
    _source, result = both(rig)
    recorded, slot = rig.animation_data.action, actions.slot_of(rig)
    other = actions.new_action("other", rig)
    bag = actions.ensure_bag(other)
    curve = bag.fcurves.new('pose.bones["bone.001"].rotation_quaternion', index=1)
    actions.write_keys(curve, np.array([1.0, 9.0], dtype=np.float32), np.array([0.0, 0.7], dtype=np.float32))
    actions.assign(rig, other)
    now = rigs.poses(rig, (9,))
    assert result_armature.standing_back(rig)
    assert not list(show_constraints.constraints_of(rig))
    assert np.abs(now[0, 1] - result[8, 1]).max() > 1e-3
    actions.assign(rig, recorded, slot)
    assert same(rig, rigs.poses(rig, (9,)), result[8:9])


def test_renaming_the_action_changes_nothing(rig):
    _source, result = both(rig)
    rig.animation_data.action.name = "renamed"
    assert same(rig, rigs.poses(rig, rigs.scene_frames()), result)


def test_a_duplicated_rig_gets_its_own_result(rig):
    _source, result = both(rig)
    twin = rig.copy()
    twin.data = rig.data.copy()
    bpy.context.scene.collection.objects.link(twin)
    bpy.context.scene.frame_set(5)
    assert twin.heft_result is not None and twin.heft_result != rig.heft_result
    assert all(c.target == twin.heft_result for c in show_constraints.constraints_of(twin))
    assert rig.heft_result.parent == rig
    bpy.context.view_layer.objects.active = twin
    bpy.ops.heft.remove()
    bpy.context.view_layer.objects.active = rig
    assert same(rig, rigs.poses(rig, rigs.scene_frames()), result)


def test_two_rigs_side_by_side(rig):
    _source, result = both(rig)
    other = rigs.chain(3, name="Other")
    rigs.wave(other)
    bpy.ops.heft.add()
    other.heft.heaviness = 0.1
    bpy.ops.heft.simulate()
    assert same(rig, rigs.poses(rig, rigs.scene_frames()), result)
    assert {rig.heft_result, other.heft_result} <= set(bpy.data.objects)
    assert rig.heft_result != other.heft_result


def test_result_is_in_no_collection_and_locked(rig):
    both(rig)
    result = rig.heft_result
    assert not result.users_collection and not result.users_scene
    assert all(curve.lock for curve in actions.active_curves(result))
    assert result.parent == rig


def test_result_changed_by_hand_becomes_a_take(rig):
    both(rig)
    curve = next(iter(actions.active_curves(rig.heft_result)))
    curve.keyframe_points[3].co[1] += 0.25
    kept = curve.keyframe_points[3].co[1]
    names = {action.name for action in bpy.data.actions}
    bpy.ops.heft.simulate()
    takes = [action for action in bpy.data.actions if action.name not in names]
    assert len(takes) == 1 and takes[0] == rig.heft.takes[0].action
    slot = takes[0].slots[0] if actions.HAS_SLOTS else None
    copied = actions.bag_of(takes[0], slot).fcurves.find(curve.data_path, index=curve.array_index)
    assert copied.keyframe_points[3].co[1] == pytest.approx(kept)
    bpy.ops.heft.simulate()
    assert len(bpy.data.actions) == len(names) + 1


def test_edited_rest_pose_is_taken_over(rig):
    both(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["bone.002"].tail.z += 0.2
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.heft.heaviness = 0.0
    bpy.ops.heft.show(which="SOURCE")
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.simulate()
    offset, angle = rigs.deviation(source, rigs.poses(rig, rigs.scene_frames()), rigs.height(rig))
    assert offset < 1e-4 and angle < 0.02


def test_object_mode_pose_mode_and_tweak_mode(rig):
    bpy.ops.object.mode_set(mode="POSE")
    both(rig)
    track = rig.animation_data.nla_tracks.new()
    track.strips.new("strip", 1, rig.animation_data.action)
    rig.animation_data.action = None
    track.select = track.strips[0].select = True
    rig.animation_data.use_tweak_mode = True
    bpy.ops.heft.simulate()
    with pytest.raises(RuntimeError, match="tweak mode"):
        bpy.ops.heft.bake(target="ACTION")
    assert rig.animation_data.use_tweak_mode


def shorter(rig, start: int = 10, end: int = 25) -> None:
    rig.heft.range, rig.heft.frame_start, rig.heft.frame_end = "CUSTOM", start, end


def test_outside_the_simulated_frames_the_source_shows(rig):
    shorter(rig)
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.simulate()
    now = rigs.poses(rig, rigs.scene_frames())
    assert same(rig, now[:9], source[:9]) and same(rig, now[25:], source[25:])
    assert not same(rig, now[15:25], source[15:25])
    assert all(curve.driver.is_simple_expression for curve in rig.animation_data.drivers), "no Python a frame"
    rig.heft.mix = 0.0
    assert same(rig, rigs.poses(rig, rigs.scene_frames()), source)
    rig.heft.mix = 1.0


def test_drivers_come_and_go_with_the_scenes_range(rig):
    both(rig)
    scene = bpy.context.scene
    assert not rig.animation_data.drivers
    scene.frame_end = 50
    scene.frame_set(45)
    assert len(rig.animation_data.drivers) == 5
    scene.frame_end = 40
    scene.frame_set(30)
    assert not rig.animation_data.drivers
    shorter(rig)
    bpy.ops.heft.simulate()
    assert len(rig.animation_data.drivers) == 5
    bpy.ops.heft.show(which="SOURCE")
    assert not rig.animation_data.drivers


def test_a_cut_range_leaves_a_still_rig_without_animation_data(empty):
    rig = rigs.chain(3)
    bpy.ops.heft.add()
    shorter(rig, 5, 9)
    bpy.ops.heft.simulate()
    assert rig.animation_data is not None
    bpy.ops.heft.remove()
    assert rig.animation_data is None


def with_ik(rig) -> bpy.types.Constraint:
    goal = bpy.data.objects.new("goal", None)
    bpy.context.scene.collection.objects.link(goal)
    goal.location = (0.5, 0.5, 0.3)
    ik = rig.pose.bones[3].constraints.new("IK")
    ik.target, ik.chain_count = goal, 3
    return ik


def test_ik_solves_the_source_outside_the_range_and_where_mix_is_keyed_to_zero(rig):
    ik = with_ik(rig)
    source = rigs.poses(rig, rigs.scene_frames())
    shorter(rig)
    bpy.ops.heft.simulate()
    now = rigs.poses(rig, rigs.scene_frames())
    assert same(rig, now[:9], source[:9]) and same(rig, now[25:], source[25:])
    assert not same(rig, now[15:25], source[15:25])
    rig.heft.range = "SCENE"
    bpy.ops.heft.simulate()
    for frame, value in ((15, 0.0), (16, 1.0)):
        rig.heft.mix = value
        rig.keyframe_insert("heft.mix", frame=frame)
    now = rigs.poses(rig, rigs.scene_frames())
    assert same(rig, now[:15], source[:15]) and not same(rig, now[16:], source[16:])
    bpy.ops.heft.remove()
    assert not ik.mute and not rig.animation_data.drivers


def test_a_driver_of_the_users_on_ik_is_left_alone(rig):
    with_ik(rig)
    mine = rig.driver_add('pose.bones["bone.003"].constraints["IK"].mute').driver
    mine.expression = "frame > 20"
    shorter(rig)
    bpy.ops.heft.simulate()
    bpy.ops.heft.remove()
    assert [curve.driver.expression for curve in rig.animation_data.drivers] == ["frame > 20"]


def test_a_frame_looks_through_the_curves_once(rig, monkeypatch):
    """With some thousand of them twice is felt while playing."""
    bpy.ops.heft.simulate()
    asked, is_keyed = [], show_constraints.mix_is_keyed
    monkeypatch.setattr(show_constraints, "mix_is_keyed", lambda each: asked.append(each) or is_keyed(each))
    bpy.context.scene.frame_set(7)
    assert asked == [rig]
