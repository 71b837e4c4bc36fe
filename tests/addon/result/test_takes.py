"""Takes: kept, shown again to the byte, undone, saved, deleted; nothing is ever lost."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest

import rigs
import state
from heft.addon.blender import actions
from heft.addon.read import shot
from heft.addon.result import stamps, take_settings, takes, takes_side_by_side
from heft.addon.simulate import live, session
from heft.addon.ui import view_caption

WHEN = range(1, 41, 3)


@pytest.fixture
def rig(empty):
    rig = rigs.chain(4)
    rigs.wave(rig)
    bpy.ops.heft.add()
    rig.heft.heaviness = 0.3
    bpy.ops.heft.simulate()
    return rig


@pytest.fixture
def two(rig):
    """Two takes that differ, the second shown; poses of both."""
    bpy.ops.heft.keep_take(name="Soft")
    soft = rigs.poses(rig, WHEN)
    rig.heft.settle_time = 0.05
    rig.pose.bones[2].heft.settle_scale = 3.0
    bpy.ops.heft.simulate()
    bpy.ops.heft.keep_take(name="Stiff")
    return rig, soft, rigs.poses(rig, WHEN)


def shown(rig):
    return takes.shown(rig).name


def taken_actions():
    return sorted(action.name for action in bpy.data.actions if " result" not in action.name)


def test_a_take_comes_back_to_the_byte_with_its_settings(two):
    rig, soft, stiff = two
    assert rigs.deviation(soft, stiff, rigs.height(rig))[1] > 1.0
    for name, poses, settle, scale in (("Soft", soft, 0.2, 1.0), ("Stiff", stiff, 0.05, 3.0)) * 2:
        assert bpy.ops.heft.choose_take(name=name) == {"FINISHED"}
        assert shown(rig) == name and rig.heft.takes[rig.heft.take_index].name == name
        assert rig.heft.settle_time == np.float32(settle)
        assert rig.pose.bones[2].heft.settle_scale == np.float32(scale)
        assert np.array_equal(rigs.poses(rig, WHEN), poses)
        assert session.is_current(rig, bpy.context.scene), "the result belongs to the settings: nothing to simulate"
    assert len(rig.heft.takes) == 2, "what is in a take is not kept twice"


def test_the_source_stays_what_it_is(two):
    rig, _, _ = two
    before = state.snapshot(rig, pose=False)
    bpy.ops.heft.choose_take(name="Soft")
    bpy.ops.heft.flip_take()
    assert state.difference(before, state.snapshot(rig, pose=False)) == []


def test_a_click_in_the_list_shows_the_take(two):
    rig, soft, _ = two
    rig.heft.take_index = 0
    assert shown(rig) == "Soft" and np.array_equal(rigs.poses(rig, WHEN), soft)


def test_what_is_in_no_take_becomes_one(two):
    rig, _, _ = two
    rig.heft.damping_ratio = 0.4
    bpy.ops.heft.simulate()
    poses = rigs.poses(rig, WHEN)
    rig.heft.take_index = 0
    assert [(take.name, take.auto) for take in rig.heft.takes] == [("Soft", False), ("Stiff", False), ("Take 1", True)]
    bpy.ops.heft.flip_take()
    assert shown(rig) == "Take 1" and rig.heft.damping_ratio == np.float32(0.4)
    assert np.array_equal(rigs.poses(rig, WHEN), poses)
    # It follows while it is shown; a kept one never does.
    rig.heft.damping_ratio = 0.6
    bpy.ops.heft.simulate()
    bpy.ops.heft.flip_take()
    bpy.ops.heft.flip_take()
    assert len(rig.heft.takes) == 3 and rig.heft.damping_ratio == np.float32(0.6)
    bpy.ops.heft.keep_take(name="Good")
    assert [(take.name, take.auto) for take in rig.heft.takes][2:] == [("Good", False)]


def test_settings_that_were_not_simulated_are_not_lost(two):
    rig, _, _ = two
    rig.heft.settle_time = 0.6
    bpy.ops.heft.choose_take(name="Soft")
    bpy.ops.heft.flip_take()
    assert rig.heft.settle_time == np.float32(0.6)
    assert not session.is_current(rig, bpy.context.scene), "and are said to be out of date"


def test_keys_that_belong_to_other_settings_stay_out_of_date(two):
    """As a save or an undo in the middle of a job leaves them."""
    rig, _, _ = two
    actions.active_bag(rig.heft_result).fcurves[0].keyframe_points[3].co[1] += 0.3
    stamps.begin(rig.heft_result)
    assert not session.is_current(rig, bpy.context.scene)
    bpy.ops.heft.keep_take(name="Half")
    bpy.ops.heft.choose_take(name="Soft")
    assert session.is_current(rig, bpy.context.scene)
    bpy.ops.heft.choose_take(name="Half")
    assert not session.is_current(rig, bpy.context.scene)
    bpy.ops.heft.simulate()
    assert session.is_current(rig, bpy.context.scene)


def test_live_changes_the_present_and_never_the_take(two):
    rig, soft, _ = two
    bpy.ops.heft.choose_take(name="Soft")
    rig.heft.live = True
    for settle in (0.3, 0.5, 0.8):
        rig.heft.settle_time = settle
    assert takes.is_changed(rig) and rigs.deviation(soft, rigs.poses(rig, WHEN), 1.0)[1] > 1.0
    assert take_settings.phrase(rig.heft.made_with, takes.shown(rig).settings) == "settle 0.8 s"
    assert len(rig.heft.takes) == 2
    bpy.ops.heft.choose_take()
    assert rig.heft.live and np.array_equal(rigs.poses(rig, WHEN), soft)
    # The first drag after a take writes every channel again.
    rig.heft.settle_time = 0.3
    now = rigs.poses(rig, WHEN)
    rig.heft.live = False
    bpy.ops.heft.simulate()
    assert np.array_equal(rigs.poses(rig, WHEN), now)


def test_update_and_delete(two):
    rig, _, _ = two
    rig.heft.heaviness = 0.9
    bpy.ops.heft.simulate()
    heavy = rigs.poses(rig, WHEN)
    bpy.ops.heft.update_take()
    bpy.ops.heft.choose_take(name="Soft")
    bpy.ops.heft.choose_take(name="Stiff")
    assert rig.heft.heaviness == np.float32(0.9) and np.array_equal(rigs.poses(rig, WHEN), heavy)
    bpy.ops.heft.delete_take()
    assert [take.name for take in rig.heft.takes] == ["Soft"] and takes.shown(rig) is None
    assert np.array_equal(rigs.poses(rig, WHEN), heavy), "what is shown stays"
    bpy.ops.heft.delete_take(name="Soft")
    assert not len(rig.heft.takes) and not bpy.ops.heft.delete_take.poll()
    assert sum(" result" in action.name for action in bpy.data.actions) == 1, "no action is left behind"


def test_flip_goes_to_the_kept_take_and_back_to_the_present(rig):
    bpy.ops.heft.keep_take()
    kept = rigs.poses(rig, WHEN)
    rig.heft.heaviness = 0.8
    bpy.ops.heft.simulate()
    now = rigs.poses(rig, WHEN)
    for _ in range(2):
        bpy.ops.heft.flip_take()
        assert np.array_equal(rigs.poses(rig, WHEN), kept)
        bpy.ops.heft.flip_take()
        assert np.array_equal(rigs.poses(rig, WHEN), now)
    assert len(rig.heft.takes) == 2


def test_the_same_is_not_kept_twice(rig):
    bpy.ops.heft.keep_take(name="One")
    with pytest.raises(RuntimeError, match="kept already, as 'One'"):
        bpy.ops.heft.keep_take(name="Two")
    assert len(rig.heft.takes) == 1


def test_without_a_result_there_is_nothing_to_keep(empty):
    rigs.chain(3)
    bpy.ops.heft.add()
    with pytest.raises(RuntimeError, match="press Simulate first"):
        bpy.ops.heft.keep_take()


def test_a_result_changed_by_hand_becomes_a_take_with_its_own_settings(rig):
    rig.heft.live = True
    curve = next(iter(actions.active_curves(rig.heft_result)))
    curve.keyframe_points[3].co[1] += 0.25
    by_hand = rigs.poses(rig, WHEN)
    rig.heft.heaviness = 0.7
    assert [take.name for take in rig.heft.takes] == ["By Hand 1"]
    assert takes.shown(rig) is None, "the present is what was simulated"
    bpy.ops.heft.choose_take(name="By Hand 1")
    assert rig.heft.heaviness == np.float32(0.3) and np.array_equal(rigs.poses(rig, WHEN), by_hand)


def test_hand_work_on_the_shown_result_is_kept_before_another_is_shown(two):
    rig, _, _ = two
    next(iter(actions.active_curves(rig.heft_result))).keyframe_points[3].co[1] += 0.25
    by_hand = rigs.poses(rig, WHEN)
    bpy.ops.heft.choose_take(name="Soft")
    bpy.ops.heft.flip_take()
    assert np.array_equal(rigs.poses(rig, WHEN), by_hand)


def test_undo_and_redo_are_one_step_each(two):
    name = two[0].name
    bpy.ops.ed.undo_push(message="two takes")
    bpy.data.objects[name].heft.take_index = 0
    bpy.ops.ed.undo_push(message="chosen")
    bpy.ops.ed.undo()
    rig = bpy.data.objects[name]
    assert shown(rig) == "Stiff" and rig.heft.settle_time == np.float32(0.05)
    assert np.array_equal(rigs.poses(rig, WHEN), two[2]) and session.is_current(rig, bpy.context.scene)
    bpy.ops.ed.redo()
    rig = bpy.data.objects[name]
    assert shown(rig) == "Soft" and rig.heft.settle_time == np.float32(0.2)
    assert np.array_equal(rigs.poses(rig, WHEN), two[1]) and session.is_current(rig, bpy.context.scene)


def test_saved_with_the_file(two, tmp_path):
    name = two[0].name
    for turn in range(2):
        path = str(tmp_path / f"{turn}.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects[name]
    assert shown(rig) == "Stiff"
    for take, poses in (("Soft", two[1]), ("Stiff", two[2])):
        bpy.ops.heft.choose_take(name=take)
        assert np.array_equal(rigs.poses(rig, WHEN), poses) and session.is_current(rig, bpy.context.scene)


def test_remove_takes_them_out_of_the_file(rig):
    before = taken_actions()
    bpy.ops.heft.keep_take()
    rig.heft.heaviness = 0.8
    bpy.ops.heft.simulate()
    bpy.ops.heft.keep_take()
    assert len(taken_actions()) == len(before) + 2
    bpy.ops.heft.remove()
    assert taken_actions() == before
    assert not any(" result" in action.name for action in bpy.data.actions)


def test_bake_bakes_the_shown_take(two):
    rig, soft, _ = two
    bpy.ops.heft.choose_take(name="Soft")
    bpy.ops.heft.bake(target="ACTION")
    off, angle = rigs.deviation(soft, rigs.poses(rig, WHEN), rigs.height(rig))
    assert off < 1e-5 and angle < 0.01


def test_a_duplicated_rig_has_takes_of_its_own(two):
    rig, soft, stiff = two
    bpy.ops.object.select_all(action="DESELECT")
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.duplicate()
    twin = bpy.context.object
    bpy.context.scene.frame_set(2)
    bpy.ops.heft.choose_take(name="Soft")
    assert np.array_equal(rigs.poses(twin, WHEN), soft) and np.array_equal(rigs.poses(rig, WHEN), stiff)
    bpy.ops.heft.remove()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.choose_take(name="Soft")
    assert np.array_equal(rigs.poses(rig, WHEN), soft), "the twin has left the other's takes alone"


def test_free_objects_and_their_settings_belong_to_it(rig):
    ball = rigs.ball(location=(0.0, 0.5, 2.0))
    rigs.collide(rig, ball)
    ball.heft_collider.moves, ball.heft_collider.bounce = "FREE", 0.0
    rig.heft.ground = True
    bpy.ops.heft.simulate()
    bpy.ops.heft.keep_take(name="Dull")
    dull = rigs.places(ball, WHEN)
    ball.heft_collider.bounce, rig.heft.ground_bounce = 0.9, 0.9
    bpy.ops.heft.simulate()
    bouncy = rigs.places(ball, WHEN)
    assert np.abs(bouncy - dull).max() > 0.1
    bpy.ops.heft.choose_take(name="Dull")
    assert ball.heft_collider.bounce == 0.0 and np.array_equal(rigs.places(ball, WHEN), dull)
    bpy.ops.heft.flip_take()
    assert ball.heft_collider.bounce == np.float32(0.9) and np.array_equal(rigs.places(ball, WHEN), bouncy)
    ball.heft_collider.moves = "ANIMATED"
    bpy.ops.heft.simulate()
    bpy.ops.heft.choose_take(name="Dull")
    assert ball.heft_collider.moves == "FREE" and np.array_equal(rigs.places(ball, WHEN), dull)
    bpy.ops.heft.flip_take()
    assert ball.heft_collider.moves == "ANIMATED" and ball.constraints.get("Heft") is None


def test_characters_of_one_shot_show_theirs_together(rig):
    other = rigs.chain(3, name="Other")
    other.location = (1.0, 0.0, 0.0)
    bpy.ops.heft.add()
    rigs.collide(rig, other)
    bpy.ops.heft.simulate()
    bpy.ops.heft.keep_take(name="A")
    poses = {ob: rigs.poses(ob, WHEN) for ob in (rig, other)}
    other.heft.heaviness = rig.heft.heaviness = 0.9
    bpy.ops.heft.simulate()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.choose_take(name="A")
    for ob in (rig, other):
        assert shown(ob) == "A" and np.array_equal(rigs.poses(ob, WHEN), poses[ob])
        assert session.is_current(ob, bpy.context.scene)
    assert [take.name for take in other.heft.takes] == [take.name for take in rig.heft.takes] == ["A", "Take 1"]
    rig.heft.takes[1].name = "B"
    assert [take.name for take in other.heft.takes] == ["A", "B"]


def test_a_take_that_lacks_anothers_result_changes_nothing(rig):
    other = rigs.chain(3, name="Other")
    bpy.ops.heft.add()
    rigs.collide(rig, other)
    bpy.ops.heft.simulate()
    bpy.ops.heft.keep_take(name="A")
    rig.heft.settle_time = 0.7
    bpy.ops.heft.simulate()
    bpy.context.view_layer.objects.active = rig
    bpy.data.actions.remove(other.heft.takes["A"].action)
    with pytest.raises(RuntimeError, match="'A' on 'Other' is gone"):
        bpy.ops.heft.choose_take(name="A")
    assert rig.heft.settle_time == np.float32(0.7)


def test_renamed_colliders_keep_their_settings(rig):
    ball, wall = rigs.ball("Ball", 0.1, (2.0, 0.0, 0.0)), rigs.block("Wall", 0.2, (3.0, 0.0, 0.0))
    rigs.collide(rig, ball, wall)
    ball.heft_collider.mass, wall.heft_collider.friction = 7.0, 0.2
    bpy.ops.heft.simulate()
    bpy.ops.heft.keep_take(name="A")
    wall.heft_collider.friction = 0.9
    bpy.ops.heft.simulate()
    ball.name, rig.heft.colliders.name = "Boulder", "Things"
    bpy.ops.heft.choose_take(name="A")
    assert rig.heft.colliders == bpy.data.collections["Things"]
    assert ball.is_property_set("heft_collider") and ball.heft_collider.mass == 7.0
    assert wall.heft_collider.friction == np.float32(0.2)


def test_a_take_beside_a_rig_whose_result_was_deleted(two):
    rig, _, _ = two
    bpy.data.objects.remove(rig.heft_result)
    rig.heft.takes["Soft"].beside = True
    takes_side_by_side.apply(rig)
    assert not takes_side_by_side.shown_of(rig)
    bpy.ops.heft.choose_take(name="Soft")
    takes_side_by_side.apply(rig)
    assert takes_side_by_side.shown_of(rig)


def test_a_take_beside_the_character_moves_as_it_did_and_leaves_no_trace(two):
    rig, soft, _ = two
    before = state.snapshot(rig, pose=False)
    rig.heft.takes["Soft"].beside = True
    bones = takes_side_by_side.shown_of(rig)[rig.heft.takes["Soft"].uid]
    assert np.abs(rigs.poses(bones, WHEN) - soft).max() < 1e-5
    assert bones.hide_select and bones.hide_render and bones.name in bpy.context.view_layer.objects
    off = np.array(rig.matrix_world.inverted() @ bones.matrix_world)[:3, 3]
    assert off[0] > rigs.height(rig) * 0.25 and not off[1:].any()
    rig.heft.beside_distance = 0.0
    bpy.context.view_layer.update()
    assert np.allclose(np.array(bones.matrix_world), np.array(rig.matrix_world))
    bpy.ops.heft.delete_take(name="Soft")
    assert not takes_side_by_side.shown_of(rig)
    rig.heft.takes["Stiff"].beside = True
    rig.heft.heaviness = 0.9
    bpy.ops.heft.simulate()
    heavy = rigs.poses(rig, WHEN)
    bpy.ops.heft.update_take()
    assert np.abs(rigs.poses(takes_side_by_side.shown_of(rig)[rig.heft.take], WHEN) - heavy).max() < 1e-5
    rig.heft.takes["Stiff"].beside = False
    assert not takes_side_by_side.shown_of(rig)
    assert state.difference(before, state.snapshot(rig, pose=False)) == []
    rig.heft.takes["Stiff"].beside = True
    bpy.ops.heft.remove()
    assert [ob.name for ob in bpy.data.objects] == ["Rig"] and len(bpy.data.armatures) == 1


def test_keyed_settings_are_left_to_their_keys(rig):
    rig.heft.keyframe_insert("heaviness", frame=1)
    bpy.ops.heft.simulate()
    bpy.ops.heft.keep_take(name="Keyed")
    bpy.context.scene.frame_set(20)
    assert takes.same(rig, shot.of(rig)) is not None
    assert json.loads(takes.shown(rig).settings)["armature"]["heaviness"] is None


def test_lists_come_back(rig):
    bpy.ops.heft.keep_take(name="Calm")
    push = rig.heft.pushes.add()
    push.bone, push.impulse, push.frame = "bone.002", 5.0, 12
    bpy.ops.heft.simulate()
    hit = rigs.poses(rig, WHEN)
    bpy.ops.heft.choose_take(name="Calm")
    assert not len(rig.heft.pushes)
    bpy.ops.heft.flip_take()
    assert (rig.heft.pushes[0].bone, rig.heft.pushes[0].impulse, rig.heft.pushes[0].frame) == ("bone.002", 5.0, 12)
    assert np.array_equal(rigs.poses(rig, WHEN), hit)
    assert take_settings.phrase(rig.heft.takes["Calm"].settings, takes.shown(rig).settings) == "pushes"


def test_a_take_whose_action_was_deleted_says_so(two):
    rig, _, stiff = two
    bpy.data.actions.remove(rig.heft.takes["Soft"].action)
    with pytest.raises(RuntimeError, match="'Soft' is gone"):
        bpy.ops.heft.choose_take(name="Soft")
    rig.heft.take_index = 0
    assert "'Soft' is gone" in rig.heft.message and shown(rig) == "Stiff"
    assert np.array_equal(rigs.poses(rig, WHEN), stiff)
    bpy.ops.heft.delete_take()
    assert [take.name for take in rig.heft.takes] == ["Stiff"]


def test_the_view_says_what_is_shown(two):
    rig, _, _ = two
    assert view_caption.text_of(rig) == ("RESULT", "Result: Stiff")
    bpy.ops.heft.flip()
    assert view_caption.text_of(rig) == ("SOURCE", "Source")
    bpy.ops.heft.flip_take()
    assert view_caption.text_of(rig) == ("RESULT", "Result: Soft")
    rig.heft.heaviness = 0.5
    bpy.ops.heft.simulate()
    assert view_caption.text_of(rig) == ("RESULT", "Result: Soft, changed")
    actions.assign(rig, actions.new_action("other", rig))
    assert view_caption.text_of(rig) == ("SOURCE", "Source"), "it stands back"


def test_what_was_simulated_comes_back_to_those_who_draw_it(two):
    rig, _, _ = two
    stiff = session.last_shown(rig)
    bpy.ops.heft.choose_take(name="Soft")
    soft = session.last_shown(rig)
    assert soft is not None and soft is not stiff
    bpy.ops.heft.flip_take()
    assert session.last_shown(rig) is stiff


def test_live_follows_a_source_that_changed_since(two):
    rig, _, _ = two
    rig.heft.live = True
    for point in actions.active_curves(rig)[5].keyframe_points:
        point.co[1] += 0.3
    live.follow_source()
    bpy.ops.heft.choose_take(name="Soft")
    assert not session.is_current(rig, bpy.context.scene)
    live.follow_source()
    assert session.is_current(rig, bpy.context.scene) and takes.is_changed(rig)
