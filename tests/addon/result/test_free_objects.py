"""Free objects: their results shown, baked and taken away, their own animation untouched."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
import state
from heft.addon import handlers
from heft.addon.blender import actions
from heft.addon.result import plot_curves
from heft.addon.simulate import session

FRAMES = range(1, 41)


@pytest.fixture
def shot(empty):
    """A post, and a ball with everything that could be lost: keys, a driver, NLA, a constraint, custom values."""
    empty.frame_end = FRAMES[-1]
    rig = rigs.post(3)
    rigs.wave(rig)
    holder = bpy.data.objects.new("Holder", None)
    holder.location, holder.rotation_euler, holder.scale = (0.3, 0.2, 0.1), (0.4, 0.1, 0.7), (1.5, 1.5, 1.5)
    empty.collection.objects.link(holder)
    ball = rigs.ball(radius=0.1)
    ball.parent = holder
    ball.matrix_parent_inverse.identity()
    ball.delta_location, ball.delta_rotation_euler = (0.01, 0.02, 0.03), (0.1, 0.2, 0.3)
    rigs.throw(ball, (-1.0, 0.0, 1.3), (-0.3, 0.0, 1.3), 1, 10)
    ball["note"] = "mine"
    ball.constraints.new("LIMIT_SCALE")
    driver = ball.driver_add("color", 0).driver
    driver.expression = "0.01 * frame"
    track = ball.animation_data.nla_tracks.new()
    track.strips.new("old", 1, ball.animation_data.action.copy())
    track.mute = True
    bpy.context.view_layer.objects.active = rig
    return rig, ball


def free(rig, ball) -> None:
    bpy.ops.heft.add()
    rigs.collide(rig, ball)
    ball.heft_collider.moves, ball.heft_collider.free_from = "FREE", 10


def blocks() -> dict[str, list[str]]:
    names = ("objects", "armatures", "actions", "scenes", "collections", "meshes")
    return {name: sorted(block.name for block in getattr(bpy.data, name)) for name in names}


def test_shown_mixed_and_hidden_again(shot):
    rig, ball = shot
    source = rigs.places(ball, FRAMES)
    free(rig, ball)
    bpy.ops.heft.simulate()
    result = rigs.places(ball, FRAMES)
    assert np.abs(result[:10] - source[:10]).max() < 1e-5
    assert np.abs(result[30:, :3, 3] - source[30:, :3, 3]).max() > 0.5
    bpy.ops.heft.show(which="SOURCE")
    np.testing.assert_array_equal(rigs.places(ball, FRAMES), source)
    bpy.ops.heft.show(which="RESULT")
    np.testing.assert_array_equal(rigs.places(ball, FRAMES), result)
    rig.heft.mix = 0.5
    half = rigs.places(ball, (40,))[0, :3, 3]
    np.testing.assert_allclose(half, 0.5 * (source[-1] + result[-1])[:3, 3], atol=1e-4)
    rig.heft.mix = 0.0
    assert ball.constraints.get("Heft") is None
    np.testing.assert_array_equal(rigs.places(ball, FRAMES), source)


def test_a_keyed_mix_fades_the_ball_too(shot):
    rig, ball = shot
    source = rigs.places(ball, FRAMES)
    free(rig, ball)
    bpy.ops.heft.simulate()
    result = rigs.places(ball, FRAMES)
    for frame, value in ((20, 0.0), (30, 1.0)):
        rig.heft.mix = value
        rig.keyframe_insert("heft.mix", frame=frame)
    now = rigs.places(ball, FRAMES)
    np.testing.assert_allclose(now[:20], source[:20], atol=1e-6)
    np.testing.assert_allclose(now[29:], result[29:], atol=1e-5)
    assert source[25, 2, 3] > now[25, 2, 3] > result[25, 2, 3]
    assert ball.animation_data.drivers.find('constraints["Heft"].influence') is not None
    bag = actions.active_bag(rig)
    bag.fcurves.remove(bag.fcurves.find("heft.mix"))
    rig.heft.mix = 1.0
    np.testing.assert_allclose(rigs.places(ball, FRAMES), result, atol=1e-6)
    assert ball.animation_data.drivers.find('constraints["Heft"].influence') is None


def test_its_own_scale_and_parent_stay(shot):
    rig, ball = shot
    ball.scale = (1.0, 0.5, 2.0)
    source = rigs.places(ball, FRAMES)
    free(rig, ball)
    bpy.ops.heft.simulate()
    sizes = [np.linalg.norm(m[:, :3, :3], axis=1) for m in (source, rigs.places(ball, FRAMES))]
    np.testing.assert_allclose(sizes[1], sizes[0], rtol=1e-4)


def test_every_step_and_remove_leave_every_byte(shot):
    rig, ball = shot
    bpy.ops.object.select_all(action="DESELECT")
    before, there = state.snapshot(rig, pose=False), blocks()
    bpy.ops.heft.add()
    ball.select_set(True)
    bpy.ops.heft.add_colliders()
    ball.select_set(False)
    assert ball.name in rig.heft.colliders.all_objects
    ball.heft_collider.moves, ball.heft_collider.free_from = "FREE", 10
    for act in (
        bpy.ops.heft.simulate,
        lambda: bpy.ops.heft.show(which="SOURCE"),
        lambda: bpy.ops.heft.show(which="RESULT"),
        lambda: setattr(rig.heft, "mix", 0.3),
        lambda: setattr(rig.heft, "live", True),
        lambda: setattr(ball.heft_collider, "bounce", 0.5),
        lambda: setattr(rig.heft, "live", False),
    ):
        act()
        assert state.difference(before, state.snapshot(rig, pose=False)) == []
    bpy.ops.heft.remove()
    assert not stored(ball) and not stored(rig)
    assert state.difference(before, state.snapshot(rig, pose=False)) == []
    assert blocks() == there


def test_what_another_armature_uses_stays(shot):
    rig, ball = shot
    free(rig, ball)
    other = rigs.post(2, "Other")
    bpy.ops.heft.add()
    other.heft.colliders = rig.heft.colliders
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.simulate()
    assert other.heft_result is not None, "who meets the same free ball is in one shot"
    bpy.ops.heft.remove()
    assert ball.heft_result is not None and ball.heft_collider.moves == "FREE"
    assert other.heft.colliders is not None and not session.is_current(other, bpy.context.scene)
    bpy.context.view_layer.objects.active = other
    bpy.ops.heft.simulate()
    assert ball.heft_result is not None and session.is_current(other, bpy.context.scene)
    bpy.ops.heft.remove()
    assert not stored(ball)


def stored(holder) -> list[str]:
    bag = holder.bl_system_properties_get() if hasattr(holder, "bl_system_properties_get") else holder
    return [key for key in (bag.keys() if bag is not None else ()) if key.startswith("heft")]


def test_a_ball_without_animation_has_none_afterwards(empty):
    """Where the scene plays more than was simulated, a driver switches the result off outside."""
    empty.frame_end = 60
    rig, ball = rigs.post(2), rigs.ball(location=(2.0, 0.0, 1.0))
    bpy.context.view_layer.objects.active = rig
    free(rig, ball)
    ball.heft_collider.free_from = 5
    rig.heft.range, rig.heft.frame_start, rig.heft.frame_end = "CUSTOM", 5, 30
    bpy.ops.heft.simulate()
    now = rigs.places(ball, (2, 20, 50))[:, 2, 3]
    assert now[0] == now[2] == 1.0 and now[1] < 0.5
    assert len(ball.animation_data.drivers) == 1
    bpy.ops.heft.show(which="SOURCE")
    assert ball.animation_data is None
    bpy.ops.heft.show(which="RESULT")
    bpy.ops.heft.remove()
    assert ball.animation_data is None and not stored(ball)


@pytest.mark.parametrize("target", ["ACTION", "NLA"])
@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION"])
def test_bake_is_what_was_shown(shot, target, mode):
    rig, ball = shot
    ball.rotation_mode = mode
    if mode == "QUATERNION":
        ball.delta_rotation_quaternion = (0.9, 0.1, 0.3, 0.2)
        ball.delta_rotation_quaternion.normalize()
    source = ball.animation_data.action
    kept = state._action(source)
    free(rig, ball)
    bpy.ops.heft.simulate()
    result = rigs.places(ball, FRAMES)
    bpy.ops.heft.bake(target=target)
    assert ball.constraints.get("Heft") is None
    np.testing.assert_allclose(rigs.places(ball, FRAMES), result, atol=2e-5)
    assert state.difference(kept[1:], state._action(source)[1:]) == []
    assert source.users > 0
    if target == "ACTION":
        assert ball.animation_data.action != source and "baked" in ball.animation_data.action.name
    bpy.ops.heft.remove()
    np.testing.assert_allclose(rigs.places(ball, FRAMES), result, atol=2e-5)


def test_a_ball_without_keys_is_baked_too(empty):
    empty.frame_end = FRAMES[-1]
    rig, ball = rigs.post(2), rigs.ball(location=(2.0, 0.0, 1.0))
    bpy.context.view_layer.objects.active = rig
    free(rig, ball)
    bpy.ops.heft.simulate()
    result = rigs.places(ball, FRAMES)
    bpy.ops.heft.bake()
    np.testing.assert_allclose(rigs.places(ball, FRAMES), result, atol=1e-5)
    assert all(not curve.lock for curve in actions.active_curves(ball))


def test_no_longer_free_no_longer_shown(shot):
    rig, ball = shot
    source = rigs.places(ball, FRAMES)
    free(rig, ball)
    bpy.ops.heft.simulate()
    count = len(bpy.data.objects)
    ball.heft_collider.moves = "ANIMATED"
    bpy.ops.heft.simulate()
    assert ball.heft_result is None and len(bpy.data.objects) == count - 1
    np.testing.assert_array_equal(rigs.places(ball, FRAMES), source)


def test_a_duplicate_lets_go_and_a_deleted_rig_leaves_the_source(shot):
    rig, ball = shot
    source = rigs.places(ball, FRAMES)
    free(rig, ball)
    bpy.ops.heft.simulate()
    twin = ball.copy()
    bpy.context.scene.collection.objects.link(twin)
    np.testing.assert_array_equal(rigs.places(twin, FRAMES), source)
    assert ball.constraints.get("Heft") is not None
    bpy.data.objects.remove(rig)
    np.testing.assert_array_equal(rigs.places(ball, FRAMES), source)
    assert ball.heft_result is None


@pytest.mark.parametrize("stop_after", [1, 2, 5, 30])
def test_cancelling_keeps_what_was_shown(shot, stop_after):
    rig, ball = shot
    free(rig, ball)
    bpy.ops.heft.simulate()
    shown, before, there = rigs.places(ball, FRAMES), state.snapshot(rig, pose=False), blocks()
    ball.heft_collider.bounce = 0.9
    steps = session.simulate_steps(rig, bpy.context.scene)
    for _ in range(stop_after):
        next(steps)
    steps.close()
    np.testing.assert_array_equal(rigs.places(ball, FRAMES), shown)
    assert state.difference(before, state.snapshot(rig, pose=False)) == []
    assert blocks() == there


def test_what_a_character_stands_on_cannot_be_free(shot):
    rig, ball = shot
    free(rig, ball)
    rig.parent = ball
    with pytest.raises(RuntimeError, match="'Ball' is free and carries 'Rig'"):
        bpy.ops.heft.simulate()


def test_undo_and_redo(shot):
    rig, ball = shot
    free(rig, ball)
    source = rigs.places(ball, FRAMES)
    bpy.ops.ed.undo_push(message="start")
    bpy.ops.heft.simulate()
    result = rigs.places(ball, FRAMES)
    bpy.ops.ed.undo_push(message="simulate")
    bpy.ops.heft.bake()
    bpy.ops.ed.undo_push(message="bake")
    bpy.ops.ed.undo()
    ball = bpy.data.objects["Ball"]
    np.testing.assert_allclose(rigs.places(ball, FRAMES), result, atol=1e-6)
    assert ball.constraints.get("Heft") is not None
    bpy.ops.ed.undo()
    ball = bpy.data.objects["Ball"]
    np.testing.assert_array_equal(rigs.places(ball, FRAMES), source)
    assert ball.heft_result is None
    bpy.ops.ed.redo()
    ball = bpy.data.objects["Ball"]
    np.testing.assert_allclose(rigs.places(ball, FRAMES), result, atol=1e-6)


def test_save_and_reload(shot, tmp_path):
    rig, ball = shot
    free(rig, ball)
    rig.heft.ground, rig.heft.ground_height = True, -0.25
    ball.heft_collider.bounce, ball.heft_collider.shape = 0.75, "SPHERE"
    rig.pose.bones[1].heft.shape, rig.pose.bones[1].heft.overlap_group = "BOX", 2
    push = rig.heft.pushes.add()
    push.bone, push.impulse = "bone.002", 7.0
    tie = rig.heft.ties.add()
    tie.bone, tie.target, tie.kind, tie.on = "bone.001", ball, "WELD", False
    bpy.ops.heft.simulate()
    result = rigs.places(ball, FRAMES)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    rigs.new_file()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    rig, ball = bpy.data.objects["Rig"], bpy.data.objects["Ball"]
    assert session.is_current(rig, bpy.context.scene)
    np.testing.assert_allclose(rigs.places(ball, FRAMES), result, atol=1e-6)
    assert rig.heft.ground and rig.heft.colliders.name == "Colliders"
    assert ball.heft_collider.bounce == 0.75 and ball.heft_collider.moves == "FREE"
    assert rig.pose.bones[1].heft.shape == "BOX" and rig.pose.bones[1].heft.overlap_group == 2
    assert rig.heft.pushes[0].impulse == 7.0 and rig.heft.ties[0].target == ball
    bpy.ops.heft.remove()
    assert ball.heft_result is None and not ball.constraints.get("Heft")


def test_settings_lost_with_the_group_come_back_from_the_store(shot):
    from heft.addon import handlers, settings

    rig, ball = shot
    free(rig, ball)
    rig.heft.ground_friction = 0.25
    rig.pose.bones[1].heft.limit_swing = 0.4
    push = rig.heft.pushes.add()
    push.bone, push.direction = "bone.002", (0.0, 0.0, 1.0)
    tie = rig.heft.ties.add()
    tie.bone, tie.target = "bone.001", ball
    handlers.on_save()
    settings.forget(rig, "heft")
    settings.forget(rig.pose.bones[1], "heft")
    assert rig.heft.colliders is None
    handlers.on_load()
    assert rig.heft.colliders.name == "Colliders" and rig.heft.ground_friction == pytest.approx(0.25)
    assert rig.pose.bones[1].heft.limit_swing == pytest.approx(0.4)
    assert rig.heft.pushes[0].bone == "bone.002" and tuple(rig.heft.pushes[0].direction) == (0.0, 0.0, 1.0)
    assert rig.heft.ties[0].target == ball


def test_contact_settings_can_be_overridden(shot, tmp_path):
    """A linked shot: armature, ball and collection as overrides, changed, saved and simulated."""
    rig, ball = shot
    free(rig, ball)
    whole = bpy.data.collections.new("Whole")
    bpy.context.scene.collection.children.link(whole)
    for ob in (rig, ball, bpy.data.objects["Holder"]):
        whole.objects.link(ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    rigs.new_file()
    scene = bpy.context.scene
    scene.frame_end = FRAMES[-1]
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_theirs, ours):
        ours.collections = ["Whole"]
    scene.collection.children.link(ours.collections[0])
    ours.collections[0].override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    rig = next(ob for ob in bpy.data.objects if ob.override_library and ob.type == "ARMATURE")
    ball = next(ob for ob in bpy.data.objects if ob.override_library and ob.name.startswith("Ball"))
    bpy.context.view_layer.objects.active = rig
    if rig.heft.colliders is None or ball.name not in {
        ob.name for ob in rig.heft.colliders.all_objects if not ob.library
    }:
        group = bpy.data.collections.new("Mine")
        group.objects.link(ball)
        rig.heft.colliders = group
    rig.heft.ground, rig.heft.ground_height = True, -0.5
    ball.heft_collider.moves, ball.heft_collider.free_from, ball.heft_collider.bounce = "FREE", 10, 0.5
    bpy.ops.heft.simulate()
    result = rigs.places(ball, FRAMES)
    assert np.ptp(result[:, 2, 3]) > 0.5
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    rig = next(ob for ob in bpy.data.objects if ob.override_library and ob.type == "ARMATURE")
    ball = next(ob for ob in bpy.data.objects if ob.override_library and ob.name.startswith("Ball"))
    assert rig.heft.ground and ball.heft_collider.moves == "FREE"
    assert ball.heft_collider.bounce == 0.5


@pytest.mark.parametrize("plotted", [False, True])
def test_a_deleted_character_is_gone_from_its_shot(shot, plotted):
    """Its ball and its curves point to it: Blender would keep it, to be met and simulated unseen."""
    rig, ball = shot
    source = rigs.places(ball, FRAMES)
    free(rig, ball)
    other = rigs.post(2, "Zed", at=(1.0, 0.0, 0.0))
    bpy.ops.heft.add()
    other.heft.colliders = rig.heft.colliders
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.simulate()
    rig.heft.use_curves = plotted
    result = rigs.places(ball, FRAMES)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.select_all(action="DESELECT")
    rig.select_set(True)
    bpy.ops.object.delete()
    bpy.context.view_layer.update()
    assert session.rigs() == [other] and plot_curves.holder_of(other) is None
    assert [ob.name for ob in bpy.context.scene.objects if ob.name.startswith("Rig")] == []
    assert np.abs(rigs.places(ball, FRAMES) - source).max() < 1e-6
    bpy.ops.ed.undo_push(message="deleted")
    bpy.ops.ed.undo()
    rig, ball = bpy.data.objects["Rig"], bpy.data.objects["Ball"]
    assert np.abs(rigs.places(ball, FRAMES) - result).max() < 1e-6
    assert session.is_current(rig, bpy.context.scene) and rig.heft.use_curves == (
        plot_curves.holder_of(rig) is not None
    )


def test_a_character_that_a_file_or_a_redo_brought_back_deleted(shot):
    rig, ball = shot
    free(rig, ball)
    bpy.ops.heft.simulate()
    for back in (handlers.on_undo, handlers.on_load):
        bpy.context.scene.collection.objects.unlink(rig)
        assert session.rigs() == [rig], "its ball holds on to it"
        back()
        assert session.rigs() == [] and ball.constraints.get("Heft") is None
        bpy.context.scene.collection.objects.link(rig)
        assert session.rigs() == [rig] and not session.is_current(rig, bpy.context.scene)
        bpy.context.view_layer.objects.active = rig
        bpy.ops.heft.simulate()
        assert ball.constraints.get("Heft") is not None
