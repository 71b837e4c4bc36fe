"""What Bake writes, and what it keeps."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
import state
from heft.addon.blender import actions


@pytest.fixture
def rig(empty):
    rig = rigs.chain(6, connected=False)
    rigs.wave(rig, modes=rigs.MODES)
    rig.pose.bones[2]["twist"] = 0.25
    for frame in (3, 30):
        rig.pose.bones[2].keyframe_insert('["twist"]', frame=frame)
    rig.keyframe_insert("location", frame=1)
    bpy.ops.heft.add()
    rig.heft.total_mass = 2.0
    return rig


def simulated(rig, **settings) -> np.ndarray:
    """Simulate with some weight, so that the result differs from the source."""
    rig.heft.heaviness = 0.2
    for name, value in settings.items():
        setattr(rig.heft, name, value)
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, rigs.scene_frames())
    assert rigs.deviation(source, shown, rigs.height(rig))[1] > 0.5, "the test needs a visible effect"
    return shown


def close(rig, a, b) -> None:
    offset, angle = rigs.deviation(a, b, rigs.height(rig))
    assert offset < 1e-4 and angle < 0.02


def curves(action, rig) -> dict:
    bag = actions.bag_of(action, actions.same_slot(action, actions.slot_of(rig)))
    return {key: state._curve(curve) for key, curve in actions.curve_table(bag).items()}


def test_baked_action_is_what_was_shown(rig):
    shown = simulated(rig)
    source = rig.animation_data.action
    before = state._action(source)
    bpy.ops.heft.bake(target="ACTION")
    close(rig, shown, rigs.poses(rig, rigs.scene_frames()))
    assert rig.animation_data.action != source
    after = state._action(source)
    assert source.use_fake_user
    assert after[1:] == before[1:]


def test_other_channels_are_kept(rig):
    simulated(rig)
    source = rig.animation_data.action
    kept = {key: value for key, value in curves(source, rig).items() if "twist" in key[0] or key[0] == "location"}
    assert kept
    bpy.ops.heft.bake(target="ACTION")
    baked = curves(rig.animation_data.action, rig)
    assert {key: baked[key] for key in kept} == kept


def test_selected_bones_only(rig):
    simulated(rig)
    source = curves(rig.animation_data.action, rig)
    select(rig, ["bone.001", "bone.004"])
    bpy.ops.heft.bake(target="ACTION", selected_only=True)
    changed = {key[0] for key, value in curves(rig.animation_data.action, rig).items() if source.get(key) != value}
    assert changed
    assert all(path.startswith(('pose.bones["bone.001"]', 'pose.bones["bone.004"]')) for path in changed)


def test_nothing_selected_is_an_error(rig):
    simulated(rig)
    select(rig, [])
    with pytest.raises(RuntimeError, match="No simulated bone is selected"):
        bpy.ops.heft.bake(target="ACTION", selected_only=True)


def test_keys_outside_the_range_stay(rig):
    simulated(rig, range="CUSTOM", frame_start=10, frame_end=20)
    source = rig.animation_data.action
    path = 'pose.bones["bone.001"].rotation_euler'
    before = keys(source, rig, path)
    bpy.ops.heft.bake(target="ACTION")
    after = keys(rig.animation_data.action, rig, path)
    outside = (before[:, 0] < 10) | (before[:, 0] > 20)
    assert outside.any()
    np.testing.assert_array_equal(before[outside], after[(after[:, 0] < 10) | (after[:, 0] > 20)])
    inside = after[(after[:, 0] >= 10) & (after[:, 0] <= 20), 0]
    np.testing.assert_array_equal(inside, np.arange(10, 21))


@pytest.mark.parametrize(("start", "end"), [(7, 19), (1, 20), (12, 40)])
def test_baking_part_of_the_shot_changes_no_other_frame(rig, start, end):
    """Neither between keys that lie around it, nor on channels without keys, nor under modifiers."""
    bag = actions.active_bag(rig)
    for curve in list(bag.fcurves):
        if curve.data_path.startswith('pose.bones["bone.004"]'):
            bag.fcurves.remove(curve)
    rig.pose.bones[4].rotation_euler = (0.1, 0.2, 0.3)
    bag.fcurves.find('pose.bones["bone.001"].rotation_euler', index=0).modifiers.new("NOISE").strength = 0.5
    shown = simulated(rig, range="CUSTOM", frame_start=start, frame_end=end)
    bpy.ops.heft.bake(target="ACTION")
    close(rig, shown, rigs.poses(rig, rigs.scene_frames()))


def test_rotations_never_jump(rig):
    """Spinning on and on: Euler angles keep counting, quaternions keep their half."""
    for bone in rig.pose.bones:
        if bone.rotation_mode[0] == "X" or bone.rotation_mode[2] == "X":
            for frame in range(1, 41):
                bone.rotation_euler = (0.5 * frame, 0.2, -0.1)
                bone.keyframe_insert("rotation_euler", frame=frame)
    spin = rig.pose.bones[0]
    for frame in range(1, 41):
        half = 0.25 * frame
        spin.rotation_quaternion = (np.cos(half), np.sin(half), 0.0, 0.0)
        spin.keyframe_insert("rotation_quaternion", frame=frame)
    source = rig.animation_data.action
    bpy.ops.heft.simulate()
    bpy.ops.heft.bake(target="ACTION")
    for bone in rig.pose.bones:
        path = {"QUATERNION": "rotation_quaternion"}.get(bone.rotation_mode, "rotation_euler")
        for i in range(3):
            before = curve_of(source, rig, f"{bone.path_from_id()}.{path}", i)
            after = curve_of(rig.animation_data.action, rig, f"{bone.path_from_id()}.{path}", i)
            for frame in rigs.scene_frames():
                assert after.evaluate(frame) == pytest.approx(before.evaluate(frame), abs=1e-3)


def test_constant_channels_get_one_key(rig):
    bone = rig.pose.bones[5]
    bag = actions.active_bag(rig)
    for curve in list(bag.fcurves):
        if curve.data_path.startswith(bone.path_from_id()):
            bag.fcurves.remove(curve)
    bone.heft.behaviour = "ANIMATED"
    bpy.ops.heft.simulate()
    result = rig.heft_result
    table = actions.curve_table(actions.active_bag(result))
    path = f"{bone.path_from_id()}.rotation_quaternion"
    assert [len(table[path, i].keyframe_points) for i in range(4)] == [1, 1, 1, 1]


def test_nla_strip_plays_the_result(rig):
    shown = simulated(rig)
    source = rig.animation_data.action
    before = state._action(source)
    bpy.ops.heft.bake(target="NLA")
    assert rig.animation_data.action is None
    assert len(rig.animation_data.nla_tracks) == 2
    assert rig.animation_data.nla_tracks[0].strips[0].action == source
    close(rig, shown, rigs.poses(rig, rigs.scene_frames()))
    assert state._action(source) == before


def test_nla_strip_over_an_action_of_half_influence(rig):
    """Baked over some bones only, the others must go on as the pushed-down action moved them."""
    data = rig.animation_data
    below = data.nla_tracks.new()
    strip = below.strips.new("below", 1, data.action.copy())
    strip.action_frame_start, strip.frame_start = 10, 1
    data.action_influence = 0.4
    shown = simulated(rig)
    bpy.ops.heft.show(which="SOURCE")
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.show(which="RESULT")
    select(rig, ["bone.000"])
    bpy.ops.heft.bake(target="NLA", selected_only=True)
    now = rigs.poses(rig, rigs.scene_frames())
    close(rig, shown[:, :1], now[:, :1])
    local = [np.linalg.inv(poses[:, 0]) @ poses[:, 1] for poses in (source, now)]
    np.testing.assert_allclose(*local, atol=1e-5)


def test_baking_follows_the_mix(rig):
    simulated(rig)
    rig.heft.mix = 0.4
    shown = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.bake(target="ACTION")
    close(rig, shown, rigs.poses(rig, rigs.scene_frames()))


def test_curve_modifiers_are_baked_in(rig):
    curve = actions.active_bag(rig).fcurves.find('pose.bones["bone.001"].rotation_euler', index=0)
    noise = curve.modifiers.new("NOISE")
    noise.strength = 0.5
    shown = simulated(rig)
    bpy.ops.heft.bake(target="ACTION")
    close(rig, shown, rigs.poses(rig, rigs.scene_frames()))
    assert len(curve.modifiers) == 1


def test_bones_that_constraints_move_are_refused_or_their_constraints_muted(rig):
    copy = rig.pose.bones[3].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget, copy.mix_mode = rig, "bone.000", "ADD"
    shown = simulated(rig)
    source = rig.animation_data.action
    with pytest.raises(RuntimeError, match=r"'bone.003' is moved by its constraint 'Copy Rotation'.*Mute Constraints"):
        bpy.ops.heft.bake(target="ACTION")
    assert rig.animation_data.action == source and rig.heft.shown == "RESULT"
    select(rig, ["bone.001"])
    bpy.ops.heft.bake(target="ACTION", selected_only=True)  # a bone that nothing else moves
    actions.assign(rig, source)
    bpy.ops.heft.show(which="RESULT")
    bpy.ops.heft.bake(target="ACTION", mute_constraints=True)
    assert copy.mute
    close(rig, shown, rigs.poses(rig, rigs.scene_frames()))


def test_bones_that_drivers_move_are_refused(rig):
    rig.pose.bones[1].driver_add("rotation_euler", 0).driver.expression = "0.1 * sin(frame)"
    simulated(rig)
    with pytest.raises(RuntimeError, match=r"'bone.001' is moved by a driver on its rotation euler"):
        bpy.ops.heft.bake(target="ACTION")


def test_limits_are_no_reason_to_refuse(rig):
    limit = rig.pose.bones[3].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.min_x, limit.max_x, limit.owner_space = True, -3.0, 3.0, "LOCAL"
    shown = simulated(rig)
    bpy.ops.heft.bake(target="ACTION")
    close(rig, shown, rigs.poses(rig, rigs.scene_frames()))


@pytest.mark.parametrize("target", ["ACTION", "NLA", "CONTROLS"])
def test_part_of_the_range(rig, target):
    """Within it the result, outside the source."""
    source = rigs.poses(rig, rigs.scene_frames())
    shown = simulated(rig)
    bpy.ops.heft.bake(target=target, use_range=True, frame_start=12, frame_end=25)
    now = rigs.poses(rig, rigs.scene_frames())
    inside = np.isin(list(rigs.scene_frames()), range(12, 26))
    close(rig, shown[inside], now[inside])
    close(rig, source[~inside], now[~inside])


def test_a_range_without_simulated_frames_is_an_error(rig):
    simulated(rig)
    with pytest.raises(RuntimeError, match="outside the simulated frames"):
        bpy.ops.heft.bake(target="ACTION", use_range=True, frame_start=100, frame_end=120)
    with pytest.raises(RuntimeError, match="has no frames"):
        bpy.ops.heft.bake(target="ACTION", use_range=True, frame_start=20, frame_end=10)


@pytest.mark.parametrize("target", ["ACTION", "CONTROLS"])
def test_baking_follows_mix_keyed_on_part_of_the_body(rig, target):
    """Physics fades in on two bones, and on the whole rig: what is baked is what is seen."""
    for name, times in (
        ("", ((5, 0.0), (15, 1.0), (30, 1.0), (38, 0.2))),
        ("bone.002", ((1, 0.0), (20, 0.0), (30, 1.0))),
        ("bone.004", ((10, 1.0), (20, 0.0))),
    ):
        for frame, value in times:
            (rig.pose.bones[name] if name else rig).heft.mix = value
            rig.keyframe_insert(f'pose.bones["{name}"].heft.mix' if name else "heft.mix", frame=frame)
    source = rigs.poses(rig, rigs.scene_frames())
    shown = simulated(rig)
    local = [np.linalg.inv(side[:, 1]) @ side[:, 2] for side in (source, shown)]
    assert rigs.deviation(local[0][:18], local[1][:18], 1.0)[1] < 0.01, "not yet faded in"
    assert rigs.deviation(local[0][28:34], local[1][28:34], 1.0)[1] > 0.1
    bpy.ops.heft.bake(target=target)
    close(rig, shown, rigs.poses(rig, rigs.scene_frames()))


def test_a_channel_that_only_the_bake_has_keyed_goes_back(rig):
    """The source has no keys on this bone: with the source on again, the bone is where it was."""
    bag = actions.active_bag(rig)
    for curve in list(bag.fcurves):
        if curve.data_path.startswith('pose.bones["bone.004"]'):
            bag.fcurves.remove(curve)
    rig.pose.bones[4].rotation_euler = (0.1, 0.2, 0.3)
    simulated(rig)
    source, slot = rig.animation_data.action, actions.slot_of(rig)
    bpy.ops.heft.bake(target="ACTION")
    bpy.context.scene.frame_set(17)
    assert (np.array(rig.pose.bones[4].rotation_euler) != np.float32((0.1, 0.2, 0.3))).any()
    actions.assign(rig, source, slot)
    bpy.context.scene.frame_set(18)
    np.testing.assert_array_equal(np.array(rig.pose.bones[4].rotation_euler), np.float32((0.1, 0.2, 0.3)))


def test_without_a_result_there_is_nothing_to_bake(rig):
    with pytest.raises(RuntimeError, match="press Simulate first"):
        bpy.ops.heft.bake(target="ACTION")


def curve_of(action, rig, path: str, index: int = 0) -> bpy.types.FCurve:
    bag = actions.bag_of(action, actions.same_slot(action, actions.slot_of(rig)))
    return bag.fcurves.find(path, index=index)


def keys(action, rig, path: str, index: int = 0) -> np.ndarray:
    return np.array([point.co[:] for point in curve_of(action, rig, path, index).keyframe_points])


def select(rig, names) -> None:
    for bone in rig.pose.bones:
        holder = bone if hasattr(bone, "select") else bone.bone
        holder.select = bone.name in names
