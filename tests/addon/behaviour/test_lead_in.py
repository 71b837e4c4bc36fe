"""What comes before the frames that are shown: cycles that loop, and a pre-roll."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

import rigs
from heft.addon.blender import actions
from heft.addon.read import cycles, frame_plan, shot
from heft.addon.simulate import session
from heft.engine.math import rotations

PERIOD, BONES = 24, 6
POSE_GAP, RATE_GAP = 0.05, 0.02  # [degrees], of the fastest
IDENTITY = 1e-4  # parts of the rig's height; rounding of float32 keys
HEAVY = 0.3


def ponytail(travels: float = 0.0, start: int = 1, cycles: bool = True) -> bpy.types.Object:
    """A chain that sways and bobs, one cycle of keys on `start` to `start` + PERIOD, as a walk has them."""
    rig = rigs.chain(BONES)
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    for frame in range(start, start + PERIOD + 1, 4):
        phase = 2.0 * math.pi * (frame - start) / PERIOD
        for i, bone in enumerate(rig.pose.bones):
            bone.rotation_euler = (0.3 * math.sin(phase + 0.6 * i), 0.0, 0.25 * math.cos(2.0 * phase - i))
            bone.keyframe_insert("rotation_euler", frame=frame)
        root = rig.pose.bones[0]
        root.location = (0.0, travels * (frame - start) / PERIOD, 0.05 * math.sin(2.0 * phase))
        root.keyframe_insert("location", frame=frame)
    for curve in actions.active_curves(rig):
        curve.extrapolation = "CONSTANT"
        for point in curve.keyframe_points:
            point.interpolation = (
                "LINEAR" if curve.data_path.endswith("location") and curve.array_index == 1 else "BEZIER"
            )
        if cycles:
            repeat = curve.modifiers.new("CYCLES")
            offset = curve.data_path.endswith("location") and curve.array_index == 1 and travels
            repeat.mode_before = repeat.mode_after = "REPEAT_OFFSET" if offset else "REPEAT"
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = start, start + PERIOD - 1
    bpy.ops.heft.add()
    rig.heft.total_mass, rig.heft.heaviness = 2.0, HEAVY
    return rig


def cycle_of(rig) -> cycles.Cycle | None:
    return frame_plan.plan_of(shot.of(rig), bpy.context.scene).cycle


def simulated(rig) -> tuple:
    assert bpy.ops.heft.simulate() == {"FINISHED"}
    found = session.last_shown(rig)
    return found.reading, found.result


def gaps(result, row: int = 0, after: int = PERIOD) -> tuple[float, float]:
    """Degrees between a frame and the one a cycle later, and how much of the fastest rate their rates differ."""
    motion, rates = result.motion, result.velocities
    angle = rotations.angle_between(motion.rotations[row], motion.rotations[row + after]).max()
    return float(np.degrees(angle)), float(np.abs(rates[row] - rates[row + after]).max() / np.abs(rates).max())


@pytest.mark.parametrize("travels", [0.0, 1.5])
def test_a_cycle_loops_and_goes_on(empty, travels):
    rig = ponytail(travels)
    _reading, result = simulated(rig)
    pose, rate = gaps(result)
    shown = rigs.poses(rig, range(1, PERIOD + 2))
    moved = shown[-1, 0, :3, 3] - shown[0, 0, :3, 3]
    shown[-1, :, :3, 3] -= moved
    offset, angle = rigs.deviation(shown[:1], shown[-1:], rigs.height(rig))
    print(f"loop, {travels} a cycle: pose gap {pose:.2g}°, in Blender {angle:.2g}°, velocity gap {rate:.2g}")
    assert max(pose, angle) <= POSE_GAP and rate <= RATE_GAP and offset < 1e-5
    assert np.linalg.norm(moved) == pytest.approx(travels, abs=1e-5)
    assert rig.heft.message == "" and (rig.heft.result_start, rig.heft.result_end) == (1, PERIOD + 1)
    rig.heft.loop = "OFF"
    open_end = gaps(simulated(rig)[1], after=PERIOD - 1)[0]
    assert open_end > 10 * POSE_GAP, "or the test shows nothing"


@pytest.mark.parametrize("travels", [0.0, 1.5])
def test_many_cycles_are_shown_and_one_is_baked(empty, travels):
    rig = ponytail(travels)
    empty.frame_end = 3 * PERIOD
    source = rig.animation_data.action
    kept = state_of(source)
    simulated(rig)
    frames = range(1, 3 * PERIOD + 1)
    shown = rigs.poses(rig, frames)
    turned = shown[:, :, :3, :3]
    assert np.abs(turned[PERIOD:] - turned[:-PERIOD]).max() < 1e-5
    bends = np.abs(np.diff(turned, n=2, axis=0)).max(axis=(1, 2, 3))  # about frames 2, 3, 4 …
    seam, most = bends[PERIOD - 2 : PERIOD + 1].max(), np.delete(bends[:PERIOD], [0, PERIOD - 2, PERIOD - 1]).max()
    print(f"steps change by {seam:.2g} at the seam, by {most:.2g} elsewhere")
    assert seam < 1.5 * most
    assert bpy.ops.heft.bake(target="ACTION") == {"FINISHED"}
    baked = rig.animation_data.action
    spans = [curve.range()[:] for curve in actions.active_curves(rig) if len(curve.keyframe_points) > 1]
    assert baked != source and set(spans) == {(1.0, 1.0 + PERIOD)}
    assert all(
        actions.is_endless(curve.modifiers[0], before=True)
        for curve in actions.active_curves(rig)
        if len(curve.keyframe_points) > 1
    )
    offset, angle = rigs.deviation(shown, rigs.poses(rig, frames), rigs.height(rig))
    print(f"three rounds of the baked cycle, {travels} each: off by {offset:.2g} of the height, {angle:.2g}°")
    assert offset < 1e-4 and angle < 0.02
    assert state_of(source) == kept
    rig.heft.shown = "RESULT"
    actions.assign(rig, source)
    simulated(rig)
    bpy.ops.heft.bake(target="ACTION", reduce=0.5)
    ends = rigs.poses(rig, (1, 1 + PERIOD))
    assert np.abs(ends[0, :, :3, :3] - ends[1, :, :3, :3]).max() < 1e-5, "reduced keys come round too"


def state_of(action) -> list:
    import state

    return state._action(action)[1:]


@pytest.mark.parametrize("heaviness", [0.0, HEAVY])
def test_an_undisturbed_cycle_is_its_source(empty, heaviness):
    rig = ponytail(1.5)
    empty.frame_start, empty.frame_end = 8, 2 * PERIOD
    rig.heft.heaviness = heaviness
    source = rigs.poses(rig, rigs.scene_frames())
    simulated(rig)
    offset, angle = rigs.deviation(source, rigs.poses(rig, rigs.scene_frames()), rigs.height(rig))
    print(f"cycle with heaviness {heaviness}: off its source by {offset:.2g} of the height, {angle:.2g}°")
    assert (offset < IDENTITY and angle < 0.02) == (heaviness == 0.0)


def test_a_range_that_starts_within_the_cycle_shows_the_same_cycle(empty):
    rig = ponytail()
    empty.frame_end = 2 * PERIOD
    simulated(rig)
    whole = rigs.poses(rig, range(8, 2 * PERIOD))
    empty.frame_start = 8
    simulated(rig)
    assert rigs.deviation(whole, rigs.poses(rig, range(8, 2 * PERIOD)), rigs.height(rig))[1] < 1e-3


def test_a_cyclic_action_loops_without_modifiers(empty):
    rig = ponytail(cycles=False)
    empty.frame_end = 60
    action = rig.animation_data.action
    action.use_frame_range = action.use_cyclic = True
    action.frame_start, action.frame_end = 1, PERIOD + 1
    _reading, result = simulated(rig)
    pose, rate = gaps(result)
    assert pose <= POSE_GAP and rate <= RATE_GAP and rig.heft.result_end == PERIOD + 1
    bpy.ops.heft.bake(target="ACTION")
    baked = rig.animation_data.action
    assert baked.use_cyclic and (baked.frame_start, baked.frame_end) == (1, PERIOD + 1)
    ends = rigs.poses(rig, (1, PERIOD + 1))
    assert rigs.deviation(ends[:1], ends[1:], rigs.height(rig))[1] <= POSE_GAP


@pytest.mark.skipif(not rigs.DATA.exists(), reason="the real rigs are not beside the project")
def test_real_cycles_loop(tmp_path):
    """RobotExpressive's actions, as a game would loop them: marked as cyclic, heaviness 0.3."""
    rigs.open_skin(rigs.DATA / "rigs" / "RobotExpressive.glb", tmp_path)
    rig = bpy.data.objects["RobotArmature"]
    for track in list(rig.animation_data.nla_tracks):
        rig.animation_data.nla_tracks.remove(track)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.add()
    rig.heft.range = "ACTION"
    # Before slots the armature's name stands behind the action's.
    names = [name + end for name in ("Walking", "Running") for end in ("", "_RobotArmature")]
    found = [action for action in bpy.data.actions if action.name in names]
    assert len(found) == 2
    for action in found:
        actions.assign(rig, action)
        action.use_frame_range = action.use_cyclic = True
        action.frame_start, action.frame_end = action.curve_frame_range
        rig.heft.loop, rig.heft.heaviness = "AUTO", 0.0
        reading, result = simulated(rig)
        same = np.degrees(rotations.angle_between(reading.motion.rotations, result.motion.rotations).max())
        rig.heft.heaviness = HEAVY
        result = simulated(rig)[1]
        rig.heft.loop = "OFF"
        once = simulated(rig)[1]
        last = len(result.motion) - 1
        (pose, rate), open_end = gaps(result, after=last), gaps(once, after=last)[0]
        print(
            f"{action.name}, {len(reading.names)} bodies, {last} frames: pose gap {pose:.2g}°, velocity gap {rate:.2g}"
        )
        print(f"    without a loop {open_end:.2g}°; undisturbed {same:.2g}° from the source")
        assert pose <= POSE_GAP and rate <= RATE_GAP and same < 0.01
        assert open_end > 10 * POSE_GAP, "or the test shows nothing"


def test_a_repeated_strip_loops(empty):
    rig = ponytail(cycles=False)
    data = rig.animation_data
    strip = data.nla_tracks.new().strips.new("walk", 1, data.action)
    if actions.HAS_SLOTS:
        strip.action_slot = data.action_slot
    data.action = None
    strip.repeat = 4.0
    empty.frame_end = 2 * PERIOD
    _reading, result = simulated(rig)
    pose, rate = gaps(result, row=5)
    assert pose <= POSE_GAP and rate <= RATE_GAP and rig.heft.result_period == 0
    assert cycle_of(rig) == cycles.Cycle(1, PERIOD, endless=True)
    bpy.ops.heft.bake(target="ACTION")
    ends = rigs.poses(rig, (5, 5 + PERIOD))
    assert rigs.deviation(ends[:1], ends[1:], rigs.height(rig))[1] <= POSE_GAP


def test_the_range_as_a_cycle_and_a_source_that_does_not_come_round(empty):
    rig = ponytail(cycles=False)
    empty.frame_end = PERIOD + 1
    rig.heft.loop = "RANGE"
    _reading, result = simulated(rig)
    assert gaps(result)[0] <= POSE_GAP and rig.heft.message == ""
    empty.frame_end = PERIOD - 6
    simulated(rig)
    assert "does not come round" in rig.heft.message and "Loop to Off" in rig.heft.message


@pytest.mark.parametrize(
    "what", ["one curve without", "noise", "a count", "fractions", "muted", "does not come round", "driven", "a goal"]
)
def test_what_does_not_repeat_for_ever_is_no_loop(empty, what):
    rig = ponytail()
    curves = list(actions.active_curves(rig))
    assert cycle_of(rig) is not None
    if what == "one curve without":
        curves[0].modifiers.remove(curves[0].modifiers[0])
    elif what == "noise":
        curves[0].modifiers.new("NOISE")
    elif what == "a count":
        curves[0].modifiers[0].cycles_after = 3
    elif what == "fractions":
        curves[0].keyframe_points[-1].co[0] += 0.5
    elif what == "does not come round":
        curves[0].keyframe_points[-1].co[1] += 0.2
    elif what == "driven":
        rig.driver_add('pose.bones["bone.001"].scale', 0).driver.expression = "1 + 0.01 * frame"
    elif what == "a goal":
        goal = bpy.data.objects.new("goal", None)
        for frame in (1, 9):
            goal.location.x = frame
            goal.keyframe_insert("location", frame=frame)
        rig.pose.bones[3].constraints.new("DAMPED_TRACK").target = goal
    else:
        curves[0].modifiers[0].mute = True
    assert cycle_of(rig) is None
    simulated(rig)
    assert ("is marked to repeat" in rig.heft.message) == (what != "one curve without")


def test_cycles_of_different_lengths_meet(empty):
    rig = ponytail()
    for curve in actions.active_curves(rig):
        if curve.data_path.endswith("location"):
            while len(curve.keyframe_points) > 4:
                curve.keyframe_points.remove(curve.keyframe_points[-1])
    assert cycle_of(rig).period == math.lcm(PERIOD, 12)


def test_keys_of_a_cycle_are_met_on_time(empty):
    rig = ponytail()
    empty.frame_end = 2 * PERIOD
    rig.heft.controller = "ON_TIME"
    _reading, result = simulated(rig)
    pose, _rate = gaps(result)
    missed = np.degrees(result.arrivals.angles.max())
    print(f"On Time in a loop: pose gap {pose:.2g}°, worst key {missed:.2g}° off")
    assert pose <= POSE_GAP and missed < 0.5 and len(result.arrivals.frames) == (BONES - 1) * PERIOD // 4


def test_the_last_keys_of_a_cycle_that_does_not_play_on_have_its_speed(empty):
    """The same cycle with modifiers and without, as its range: one result."""
    rig = ponytail(1.0)
    empty.frame_end = PERIOD + 1
    rig.heft.controller = "ON_TIME"
    for curve in actions.active_curves(rig):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"  # handles would follow the modifiers
    plays_on = simulated(rig)[1]
    for curve in actions.active_curves(rig):
        curve.modifiers[0].mute = True
    rig.heft.loop = "RANGE"
    held = simulated(rig)[1]
    off = np.degrees(rotations.angle_between(plays_on.motion.rotations, held.motion.rotations).max())
    fastest = np.abs(plays_on.velocities).max()
    slow = np.abs(plays_on.velocities[-1] - held.velocities[-1]).max() / fastest
    print(
        f"On Time in a cycle that is held after its end: {off:.2g}°, {slow:.2g} of the fastest from one that plays on"
    )
    assert off < 0.3 and slow < 0.03


def test_keyed_settings_come_round(empty):
    rig = ponytail()
    for frame, value in ((1, 0.1), (13, 0.5), (25, 0.1)):
        rig.heft.heaviness = value
        rig.keyframe_insert("heft.heaviness", frame=frame)
    assert cycle_of(rig) is None, "a setting that changes once"
    rigs.actions_of(rig).fcurves.find("heft.heaviness").modifiers.new("CYCLES")
    _reading, result = simulated(rig)
    pose, rate = gaps(result)
    assert cycle_of(rig) is not None and pose <= POSE_GAP and rate <= RATE_GAP


def test_what_happens_once_is_no_loop_unless_asked_for(empty):
    rig = ponytail()
    empty.frame_end = 2 * PERIOD
    push = rig.heft.pushes.add()
    push.bone, push.impulse, push.frame, push.direction = "bone.004", 0.3, 40, (1.0, 0.0, 0.0)
    assert cycle_of(rig) is None
    _reading, result = simulated(rig)
    assert np.abs(result.velocities[41] - result.velocities[41 - PERIOD]).max() > 0.1, "the push is felt on its frame"
    push.frame, empty.frame_end, rig.heft.loop = 9, PERIOD + 1, "RANGE"
    pose, rate = gaps(simulated(rig)[1])
    assert pose <= POSE_GAP and rate <= RATE_GAP, "one a round"


def test_others_in_the_shot_must_come_round_too(empty):
    rig = ponytail()
    ball = rigs.ball(location=(5.0, 0.0, 0.0))
    rigs.collide(rig, ball)
    assert cycle_of(rig) is not None, "it stands"
    rigs.throw(ball, (5.0, 0.0, 0.0), (6.0, 0.0, 0.0))
    assert cycle_of(rig) is None, "it passes once"
    rig.heft.colliders.objects.unlink(ball)
    other = rigs.chain(2, name="Other")
    rigs.wave(other, end=60)
    bpy.ops.heft.add()
    rig.heft.colliders.objects.link(other)
    empty.frame_end = PERIOD
    assert shot.leader(other) == rig and cycle_of(rig) is None, "it does something else"
    for curve in actions.active_curves(other):
        while len(curve.keyframe_points) > 10:
            curve.keyframe_points.remove(curve.keyframe_points[-1])
        curve.keyframe_points[-1].co[1] = curve.keyframe_points[0].co[1]
        curve.update()
        curve.modifiers.new("CYCLES")
    assert cycle_of(rig).period == math.lcm(PERIOD, 36)


# --- pre-roll -------------------------------------------------------------------------


def waved() -> bpy.types.Object:
    rig = rigs.chain(5)
    rigs.wave(rig, end=60)
    bpy.ops.heft.add()
    rig.heft.total_mass, rig.heft.heaviness = 2.0, HEAVY
    return rig


def test_a_pre_roll_is_a_simulation_begun_earlier(empty):
    rig = waved()
    empty.frame_start = 21
    late = simulated(rig)[1].motion.rotations
    rig.heft.pre_roll = 14
    reading, result = simulated(rig)
    assert reading.frames[0] == 21 and (rig.heft.result_start, rig.heft.result_end) == (21, 60)
    assert session.is_current(rig, empty)
    shown = rigs.poses(rig, range(21, 61))
    rig.heft.pre_roll, empty.frame_start = 0, 7
    early = simulated(rig)[1]
    assert rigs.deviation(shown, rigs.poses(rig, range(21, 61)), rigs.height(rig))[1] < 1e-4
    off = rotations.angle_between(result.motion.rotations, early.motion.rotations[14:]).max()
    apart = np.degrees(rotations.angle_between(late[0], early.motion.rotations[14]).max())
    print(f"pre-roll of 14 frames: {off:.2g} rad from a simulation begun 14 frames earlier; without it {apart:.2g}°")
    assert off <= 1e-9 and np.array_equal(result.velocities, early.velocities[14:])
    assert apart > 1.0, "or the test shows nothing"


def test_a_pre_roll_before_the_first_key_settles_the_first_pose(empty):
    rig = waved()
    rig.heft.pre_roll = 200
    _reading, result = simulated(rig)
    print(f"settled: {np.abs(result.velocities[0]).max():.2g} rad/s on the first frame")
    # What is held before the first key is that pose; only the curve's own start moves there.
    rig.heft.pre_roll = 100
    again = simulated(rig)[1]
    assert rotations.angle_between(result.motion.rotations[0], again.motion.rotations[0]).max() < 1e-5
    rig.heft.pre_roll = 0
    fresh = simulated(rig)[1]
    assert rotations.angle_between(result.motion.rotations[0], fresh.motion.rotations[0]).max() > 1e-3


def test_a_pre_roll_holds_the_first_pose_of_a_strip(empty):
    rig = waved()
    data = rig.animation_data
    strip = data.nla_tracks.new().strips.new("take", 10, data.action)
    if actions.HAS_SLOTS:
        strip.action_slot = data.action_slot
    data.action = None
    strip.extrapolation = "NOTHING"
    empty.frame_start = 10
    rig.heft.heaviness = 0.0
    source = rigs.poses(rig, rigs.scene_frames())
    rig.heft.pre_roll = 12
    reading, _result = simulated(rig)
    assert rigs.deviation(source, rigs.poses(rig, rigs.scene_frames()), rigs.height(rig))[1] < 0.02
    assert reading.frames[0] == 10 and len(reading.motion) == len(rigs.scene_frames())


def test_a_free_ball_waits_for_its_frame_through_the_pre_roll(rig):
    ball = rigs.passing_ball(rig, "FREE")
    ball.heft_collider.free_from = 8
    source = rigs.places(ball, range(1, 9))
    rig.heft.pre_roll = 20
    bpy.ops.heft.simulate()
    assert np.abs(rigs.places(ball, range(1, 9)) - source).max() < 1e-5
    assert np.abs(rigs.places(ball, (30,))[0, :3, 3] - rigs.places(ball, (8,))[0, :3, 3]).max() > 0.3


def test_the_range_of_an_action_is_its_own_frame_range(empty):
    from heft.addon.read import read_controller

    rig = waved()
    rig.heft.range = "ACTION"
    assert read_controller.frame_range(rig, empty)[[0, -1]].tolist() == [1, 57]
    action = rig.animation_data.action
    action.use_frame_range, action.frame_start, action.frame_end = True, 5, 30
    assert read_controller.frame_range(rig, empty)[[0, -1]].tolist() == [5, 30]
    slot = actions.slot_of(rig)
    rig.animation_data.action = None
    strip = rig.animation_data.nla_tracks.new().strips.new("take", 100, action)
    if slot is not None:
        strip.action_slot = slot
    assert read_controller.frame_range(rig, empty)[[0, -1]].tolist() == [100, 125]
    bpy.ops.heft.simulate()
    assert (rig.heft.result_start, rig.heft.result_end) == (100, 125)
