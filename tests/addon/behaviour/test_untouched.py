"""Nothing but Heft's own data changes: bytes before, bytes after."""

from __future__ import annotations

import bpy
import pytest

import rigs
import state
from heft.addon.simulate import session


@pytest.fixture
def rig(empty):
    """A rig with everything that could be lost: modes, drivers, NLA, constraints, custom and unkeyed values."""
    rig = rigs.chain(6, connected=False)
    rigs.wave(rig, modes=rigs.MODES)
    rig["note"] = "mine"
    rig.pose.bones[2]["twist"] = 0.25
    rig.pose.bones[2].keyframe_insert('["twist"]', frame=3)
    rig.keyframe_insert("location", frame=1)
    limit = rig.pose.bones[4].constraints.new("LIMIT_ROTATION")
    limit.influence = 0.5
    driver = rig.driver_add('pose.bones["bone.005"].scale', 0).driver
    driver.expression = "1 + 0.01 * frame"
    for mute in (True, False):
        track = rig.animation_data.nla_tracks.new()
        strip = track.strips.new("old", 1, rig.animation_data.action.copy())
        strip.use_animated_influence = True
        strip.fcurves.find("influence").keyframe_points.insert(4.0, 0.6)
        track.mute = mute
    both = rig.pose.bones[5].constraints.new("ARMATURE").targets.new()
    both.target, both.subtarget = rig, "bone.001"
    rig.pose.bones[5].constraints[0].influence = 0.3
    rig.constraints.new("LIMIT_SCALE")
    bpy.context.scene.frame_set(17)
    rig.pose.bones[3].rotation_euler = (0.1, 0.2, 0.3)
    rig.pose.bones[1].location = (0.0, 0.01, 0.0)
    return rig


def test_sampling_keeps_frame_and_unkeyed_pose(rig):
    before = state.snapshot(rig)
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    assert state.difference(before, state.snapshot(rig)) == []
    assert bpy.context.scene.frame_current == 17
    assert [scene.name for scene in bpy.data.scenes] == ["Scene"]


def test_simulate_show_mix_and_remove_leave_every_byte(rig):
    before = state.snapshot(rig, pose=False)
    blocks = _blocks()
    bpy.ops.heft.add()
    for act in (
        bpy.ops.heft.simulate,
        lambda: bpy.ops.heft.show(which="SOURCE"),
        lambda: bpy.ops.heft.show(which="RESULT"),
        bpy.ops.heft.flip,
        lambda: setattr(rig.heft, "mix", 0.0),
        lambda: setattr(rig.heft, "live", True),
        lambda: setattr(rig.heft, "settle_time", 0.5),
        bpy.ops.heft.simulate,
    ):
        act()
        assert state.difference(before, state.snapshot(rig, pose=False)) == []
    bpy.ops.heft.remove()
    bpy.context.scene.frame_set(3)
    assert not _stored(rig) and not any(_stored(bone) for bone in rig.pose.bones)
    assert state.difference(before, state.snapshot(rig, pose=False)) == []
    assert _blocks() == blocks
    assert not any(c.name == "Heft" for bone in rig.pose.bones for c in bone.constraints)


@pytest.mark.parametrize("reload", [False, True])
def test_remove_leaves_every_byte_of_a_rig_with_ik_and_a_shorter_range(rig, reload, tmp_path):
    """Muted IK, drivers on its mute and on Heft's constraints: nothing of it stays, not even through a file."""
    goal = bpy.data.objects.new("goal", None)
    bpy.context.scene.collection.objects.link(goal)
    goal.keyframe_insert("location", frame=1)
    ik = rig.pose.bones[3].constraints.new("IK")
    ik.target, ik.chain_count, ik.influence = goal, 3, 0.8
    before, blocks = state.snapshot(rig, pose=False), _blocks()
    bpy.ops.heft.add()
    rig.heft.range, rig.heft.frame_start, rig.heft.frame_end = "CUSTOM", 10, 25
    rig.heft.live = True
    rig.heft.heaviness = 0.2
    bpy.context.scene.frame_set(14)
    assert ik.mute and len(rig.animation_data.drivers) == 1 + 6 + 1
    if reload:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
        rig = bpy.context.object
    bpy.ops.heft.remove()
    assert state.difference(before, state.snapshot(rig, pose=False)) == []
    assert _blocks() == blocks


def test_remove_leaves_a_rig_without_animation_without_animation_data(empty):
    rig = rigs.chain(3)
    before, blocks = state.snapshot(rig), _blocks()
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    assert rig.animation_data is None
    bpy.ops.heft.remove()
    assert rig.animation_data is None
    assert state.difference(before, state.snapshot(rig)) == []
    assert _blocks() == blocks


@pytest.mark.parametrize("stop_after", [1, 2, 5, 30])
def test_cancelling_half_way_leaves_nothing(rig, stop_after):
    bpy.ops.heft.add()
    before, blocks = state.snapshot(rig), _blocks()
    steps = session.simulate_steps(rig, bpy.context.scene)
    for _ in range(stop_after):
        next(steps)
    steps.close()
    assert state.difference(before, state.snapshot(rig)) == []
    assert _blocks() == blocks
    assert rig.heft_result is None and not rig.heft.fingerprint


def test_cancelling_a_second_simulation_keeps_the_first_result(rig):
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, (5, 20))
    before, mark = state.snapshot(rig, pose=False), rig.heft.fingerprint
    rig.heft.heaviness = 0.3
    steps = session.simulate_steps(rig, bpy.context.scene)
    next(steps)
    next(steps)
    steps.close()
    assert rig.heft.shown == "RESULT" and rig.heft.fingerprint == mark
    assert state.difference(before, state.snapshot(rig, pose=False)) == []
    assert rigs.deviation(shown, rigs.poses(rig, (5, 20)), rigs.height(rig)) == (0.0, 0.0)


def test_undo_and_redo(rig):
    before = state.snapshot(rig, pose=False)
    bpy.ops.ed.undo_push(message="start")
    bpy.ops.heft.add()
    bpy.ops.ed.undo_push(message="add")
    bpy.ops.heft.simulate()
    bpy.ops.ed.undo_push(message="simulate")
    shown = rigs.poses(bpy.context.object, (5, 20))
    bpy.ops.ed.undo()
    rig = bpy.context.object
    assert rig.heft.enabled and rig.heft_result is None
    assert state.difference(before, state.snapshot(rig, pose=False)) == []
    bpy.ops.ed.redo()
    rig = bpy.context.object
    assert rig.heft_result is not None and rig.heft.shown == "RESULT"
    assert state.difference(before, state.snapshot(rig, pose=False)) == []
    assert rigs.deviation(shown, rigs.poses(rig, (5, 20)), rigs.height(rig)) == (0.0, 0.0)
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    rig = bpy.context.object
    assert not rig.heft.enabled
    assert state.difference(before, state.snapshot(rig, pose=False)) == []


def test_on_time_leaves_the_source_alone(rig):
    before = state.snapshot(rig)
    bpy.ops.heft.add()
    rig.heft.controller = "ON_TIME"
    bpy.ops.heft.simulate()
    assert len(session.last_shown(rig).reading.motion.keys.bodies) > len(rig.pose.bones)
    assert state.difference(before, state.snapshot(rig)) == []
    bpy.ops.heft.remove()
    assert state.difference(before, state.snapshot(rig)) == []


def test_keys_of_a_pose_script_are_undone(rig):
    bpy.ops.heft.add()
    bpy.ops.heft.save_pose(name="Saved")
    rig.heft.script.add().pose = "Saved"
    old, before = rig.animation_data.action.name, state.snapshot(rig, pose=False)
    bpy.ops.ed.undo_push(message="start")
    assert bpy.ops.heft.script_to_keys() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="keys")
    assert bpy.context.object.animation_data.action.name != old
    bpy.ops.ed.undo()
    rig = bpy.context.object
    assert rig.animation_data.action.name == old
    assert state.difference(before, state.snapshot(rig, pose=False)) == []


def test_undo_and_redo_of_live_mix_bake_and_remove(rig):
    """Step by step back to the start and forth again: the source is the same bytes on every step."""
    before = state.snapshot(rig, pose=False)
    source = before[f"action {rig.animation_data.action.name}"]
    name = rig.animation_data.action.name
    bpy.ops.ed.undo_push(message="start")
    bpy.ops.heft.add()
    for act in (
        lambda rig: setattr(rig.heft, "live", True),
        lambda rig: setattr(rig.heft, "heaviness", 0.3),
        lambda rig: setattr(rig.heft, "mix", 0.5),
        lambda rig: bpy.ops.heft.bake(target="ACTION", mute_constraints=True),
        lambda rig: bpy.ops.heft.remove(),
    ):
        bpy.ops.ed.undo_push(message="before")
        act(bpy.context.object)
    bpy.ops.ed.undo_push(message="end")
    end = state.snapshot(bpy.context.object, pose=False)
    for move, wanted in ((bpy.ops.ed.undo, before), (bpy.ops.ed.redo, end), (bpy.ops.ed.undo, before)):
        for _ in range(6):
            move()
            now = state._action(bpy.data.actions[name])
            assert state.difference(source[1:], now[1:]) == []  # [0]: the fake user that Bake gives it
        rig = bpy.context.object
        assert state.difference(wanted, state.snapshot(rig, pose=False)) == []
        assert not rig.is_property_set("heft") or not rig.heft.enabled


def test_save_and_reload_keeps_result_and_settings(rig, tmp_path):
    before = state.snapshot(rig, pose=False)
    bpy.ops.heft.add()
    rig.heft.settle_time, rig.heft.mix, rig.heft.root = 0.37, 0.75, "ASSISTED"
    rig.pose.bones[2].heft.behaviour = "ANIMATED"
    rig.pose.bones[3].heft.settle_scale = 2.5
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, (1, 11, 40))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    rigs.new_file()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    rig = bpy.context.object
    assert state.difference(before, state.snapshot(rig, pose=False)) == []
    assert rig.heft.settle_time == pytest.approx(0.37) and rig.heft.mix == 0.75 and rig.heft.root == "ASSISTED"
    assert rig.pose.bones[2].heft.behaviour == "ANIMATED" and rig.pose.bones[3].heft.settle_scale == 2.5
    assert rig.heft.shown == "RESULT" and session.is_current(rig, bpy.context.scene)
    assert rigs.deviation(shown, rigs.poses(rig, (1, 11, 40)), rigs.height(rig)) == (0.0, 0.0)


def test_settings_lost_with_the_group_come_back_from_the_store(rig):
    from heft.addon import handlers, settings

    bpy.ops.heft.add()
    rig.heft.settle_time = 0.61
    rig.pose.bones[1].heft.mass = 3.0
    handlers.on_save()
    settings.forget(rig, "heft")
    settings.forget(rig.pose.bones[1], "heft")
    assert not rig.heft.enabled
    handlers.on_load()
    assert rig.heft.enabled and rig.heft.settle_time == pytest.approx(0.61)
    assert rig.pose.bones[1].heft.mass == 3.0


def _blocks() -> dict[str, list[str]]:
    names = ("objects", "armatures", "actions", "scenes", "collections", "meshes")
    return {name: sorted(block.name for block in getattr(bpy.data, name)) for name in names}


def _stored(holder) -> list[str]:
    bag = holder.bl_system_properties_get() if hasattr(holder, "bl_system_properties_get") else holder
    return [key for key in (bag.keys() if bag is not None else ()) if key.startswith("heft")]
