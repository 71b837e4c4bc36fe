"""Bake to Controls: on Rigify's humans, on a rig with IK of its own, by a list of the user's."""

from __future__ import annotations

import math
import time

import addon_utils
import bpy
import numpy as np
import pytest

import rigs
import state
from heft.addon.bake import control_map, probe_controls
from heft.addon.blender import actions
from heft.addon.result import result_armature
from heft.addon.simulate import session

FRAMES = range(1, 25)
# Shown against simulated; then what baked controls may be off: degrees, and parts of the height for 1 mm of 1.8 m.
SHOWN = 0.05
LIMBS, PLACE, SPINE = 0.2, 1.0 / 1800.0, 1.0
LIMB_WORDS = ("arm", "hand", "thigh", "shin", "foot")
SPINE_WORDS = ("spine",)
# Where a face is simulated bone by bone, it is as far as any control can make it.
LEFT_OUT = ("DEF-spine.", "DEF-spine", "DEF-shoulder", "DEF-upper_arm", "DEF-forearm", "DEF-hand", "DEF-thigh",
            "DEF-shin", "DEF-foot", "DEF-toe", "DEF-f_", "DEF-thumb")  # fmt: skip


@pytest.fixture(scope="module")
def rigify():
    rigs.new_file()
    if addon_utils.enable("rigify", default_set=True) is None:
        pytest.skip("Rigify cannot be enabled in this Blender")
    yield
    addon_utils.disable("rigify", default_set=True)


def key(rig, name: str, frame: int, **channels) -> None:
    bone = rig.pose.bones[name]
    for channel, value in channels.items():
        setattr(bone, channel, value)
        bone.keyframe_insert(channel, frame=frame)


def human(kind: str) -> bpy.types.Object:
    """A generated human whose controls step to another pose on frame 6, and a ball that stops at its left wrist."""
    rigs.new_file()
    getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    for frame, s in ((1, 0.0), (6, 1.0)):
        key(rig, "hand_ik.L", frame, location=(0.1 * s, 0.1 * s, 0.15 * s))
        key(rig, "hand_ik.R", frame, location=(-0.1 * s, -0.2 * s, 0.2 * s), rotation_quaternion=(1.0, 0.3 * s, 0, 0))
        key(rig, "foot_ik.L", frame, location=(0.0, -0.15 * s, 0.1 * s))
        key(rig, "head", frame, rotation_quaternion=(1.0, 0.0, 0.2 * s, 0.1 * s))
        key(rig, "chest", frame, rotation_quaternion=(1.0, 0.05 * s, 0.05 * s, 0.0))
        key(rig, "torso", frame, location=(0.02 * s, 0.03 * s, -0.02 * s))
    for curve in actions.active_curves(rig):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    bpy.ops.heft.add()
    for bone in rig.pose.bones:
        if not bone.name.startswith(LEFT_OUT):
            bone.heft.behaviour = "IGNORED"
    rig.heft.settle_time = 0.3
    scene.frame_set(12)
    wrist = rig.matrix_world @ rig.pose.bones["DEF-hand.L"].head
    ball = rigs.ball(radius=0.06)
    rigs.throw(ball, (wrist[0], wrist[1] - 0.5, wrist[2]), (wrist[0], wrist[1] - 0.02, wrist[2]), 4, 14)
    rigs.collide(rig, ball)
    return rig


def simulated_turns(rig) -> tuple[list[str], np.ndarray]:
    """(frames, bodies, 3, 3) rotations in the world that the engine's own numbers make."""
    from heft.engine.math import rotations

    shown = session.last_shown(rig)
    model, motion = shown.reading.model, shown.result.motion
    turns = np.empty((len(motion.rotations), len(model.parents), 4))
    for b, parent in enumerate(model.parents):
        turns[:, b] = rotations.multiply(model.rest_rotations[b], motion.rotations[:, b])
        if parent >= 0:
            turns[:, b] = rotations.multiply(turns[:, parent], turns[:, b])
    return list(shown.reading.names), rotations.to_matrix(turns)


def figures(rig, names, a, b) -> tuple[float, float]:
    index = [rig.pose.bones.find(name) for name in names]
    return rigs.deviation(a[:, index], b[:, index], rigs.height(rig))


def having(bodies, words) -> list[str]:
    return [name for name in bodies if any(word in name for word in words)]


@pytest.mark.parametrize("kind", ["basic_human", "human"])
def test_a_rigify_human_is_baked_to_its_controls(rigify, kind):
    rig = human(kind)
    source = rigs.poses(rig, FRAMES)
    bpy.ops.heft.simulate()
    bodies = [bone.name for bone in rig.pose.bones if bone.name in result_armature.body_names(rig)]
    shown = rigs.poses(rig, FRAMES)
    names, turns = simulated_turns(rig)
    index = [rig.pose.bones.find(name) for name in names]
    angle = np.degrees(rigs.angles(shown[:, index, :3, :3], turns).max())
    effect = figures(rig, bodies, source, shown)
    start = time.process_time()
    bpy.ops.heft.bake(target="CONTROLS")
    seconds = time.process_time() - start
    baked = rigs.poses(rig, FRAMES)
    print(f"\n{kind}: {len(bodies)} bodies, moved by {effect[1]:.0f} deg; shown {angle:.4f} deg off;", end=" ")
    print(f"{len(FRAMES)} frames in {seconds:.1f} s of the processor")
    for word in (*LIMB_WORDS, *SPINE_WORDS, "shoulder", "toe", "f_", "thumb"):
        chosen = having(bodies, (word,))
        if chosen:
            off = figures(rig, chosen, shown, baked)
            print(f"   {word:10} {len(chosen):3} bones {off[1]:8.4f} deg {1800.0 * off[0]:8.3f} mm of 1.8 m")
    assert effect[1] > 10.0, "the step and the ball move it"
    assert angle < SHOWN
    limbs = figures(rig, having(bodies, LIMB_WORDS), shown, baked)
    assert limbs[1] < LIMBS and limbs[0] < PLACE
    assert figures(rig, having(bodies, SPINE_WORDS), shown, baked)[1] < SPINE


def test_a_basic_human_goes_back_to_its_source(rigify):
    """The bake adds an action; with the source's on it again, nothing is left of it."""
    rig = human("basic_human")
    bpy.ops.heft.simulate()
    bpy.ops.heft.show(which="SOURCE")
    poses = rigs.poses(rig, FRAMES)
    bpy.context.scene.frame_set(10)
    source, slot = rig.animation_data.action, actions.slot_of(rig)
    before = state.snapshot(rig, pose=False)
    bpy.ops.heft.show(which="RESULT")
    bpy.ops.heft.bake(target="CONTROLS")
    name = rig.animation_data.action.name
    path = 'pose.bones["upper_arm_parent.L"]["IK_FK"]'
    curve = actions.active_bag(rig).fcurves.find(path)
    assert [tuple(point.co) for point in curve.keyframe_points] == [(0.0, 0.0), (1.0, 1.0), (25.0, 0.0)]
    assert all(point.interpolation == "CONSTANT" for point in curve.keyframe_points)
    bpy.context.scene.frame_set(10)
    assert rig.pose.bones["upper_arm_parent.L"]["IK_FK"] == 1.0
    actions.assign(rig, source, slot)
    bpy.context.scene.frame_set(10)
    again = rigs.poses(rig, FRAMES)
    bpy.context.scene.frame_set(10)
    after = state.snapshot(rig, pose=False)
    assert after.pop(f"action {name}")
    source.use_fake_user = False
    after[f"action {source.name}"] = state._action(source)
    assert state.difference(before, after) == []
    assert rigs.deviation(poses, again, rigs.height(rig)) == (0.0, 0.0)


def test_only_selected_limbs_are_baked(rigify):
    """One arm by its controls: the other arm and its switch are left alone."""
    rig = human("basic_human")
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, FRAMES)
    source = {key[0] for key in actions.curve_table(actions.active_bag(rig))}
    chosen = ("upper_arm_fk.R", "forearm_fk.R", "hand_fk.R")
    for bone in rig.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in chosen
    bpy.ops.heft.bake(target="CONTROLS", selected_only=True)
    new = {key[0] for key in actions.curve_table(actions.active_bag(rig))} - source
    assert {path.split('"')[1] for path in new} >= set(chosen)
    assert all(".R" in path for path in new), new
    now = rigs.poses(rig, FRAMES)
    upper, fore = (rig.pose.bones.find(name) for name in ("DEF-upper_arm.R", "DEF-forearm.R"))
    local = [np.linalg.inv(side[:, upper]) @ side[:, fore] for side in (shown, now)]
    assert rigs.deviation(*local, 1.0)[1] < LIMBS


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (
            "basic_quadruped",
            {"front_thigh_fk.L": "DEF-front_thigh.L", "shin_fk.R": "DEF-shin.R", "toe.L": "DEF-toe.L",
             "head": "DEF-spine.011"},
        ),
        (
            "horse",
            {"forearm_fk.R": "DEF-forearm.R", "hind_foot_fk.L": "DEF-hind_foot.L", "tail.003": "DEF-tail.003",
             "ear.L": "DEF-ear.L", "jaw": "DEF-jaw", "head": "DEF-head"},
        ),
    ],
)  # fmt: skip
def test_the_controls_of_four_legs_are_found(rigify, kind, wanted):
    rigs.new_file()
    getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    bpy.ops.heft.add()
    for bone in rig.pose.bones:
        bone.heft.behaviour = "SIMULATED" if bone.bone.use_deform else "IGNORED"
    bpy.ops.heft.find_controls()
    found = {(item.control, item.body, item.part) for item in rig.heft.controls}
    for control, body in wanted.items():
        assert (control, body, "ROTATION") in found
    assert [
        item.control for item in rig.heft.controls if item.part == "ALL" and not item.control.startswith("DEF-")
    ] == ["torso"]
    assert len(rig.heft.switches) == 4 and all(item.value == 1.0 for item in rig.heft.switches)
    assert all("IK_FK" in item.path for item in rig.heft.switches)
    turned = {item.body for item in rig.heft.controls if item.part != "REST"}
    print(f"\n{kind}: {len(turned)} of {sum(bone.bone.use_deform for bone in rig.pose.bones)} bodies have controls")


def test_bones_that_nothing_can_key_are_named(empty):
    """Driven bones and no control: there is nothing to bake to."""
    rig = rigs.chain(2)
    for bone in rig.pose.bones:
        bone.driver_add("rotation_quaternion", 1).driver.expression = "0.1 * sin(frame)"
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 10
    bpy.ops.heft.add()
    rig.heft.total_mass = 2.0
    bpy.ops.heft.simulate()
    with pytest.raises(RuntimeError, match="No control of 'Rig' moves a simulated bone"):
        bpy.ops.heft.bake(target="CONTROLS")


def baked_as_shown(rig) -> None:
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.bake(target="CONTROLS")
    offset, angle = rigs.deviation(shown, rigs.poses(rig, rigs.scene_frames()), rigs.height(rig))
    assert offset < 1e-4 and angle < 0.02


def test_a_rig_without_keys_is_its_own_controls(empty):
    rig = rigs.chain(4)
    empty.frame_start, empty.frame_end = 1, 20
    bpy.ops.heft.add()
    rig.heft.total_mass, rig.heft.controller = 2.0, "LIMP"
    baked_as_shown(rig)


def test_strips_go_on_below_the_baked_action(empty):
    rig = rigs.chain(4)
    rigs.wave(rig)
    data = rig.animation_data
    strip = data.nla_tracks.new().strips.new("below", 1, data.action)
    if actions.HAS_SLOTS:
        strip.action_slot = data.action.slots[0]
    data.action = None
    bpy.ops.heft.add()
    rig.heft.total_mass, rig.heft.heaviness = 2.0, 0.2
    baked_as_shown(rig)
    assert len(data.nla_tracks) == 1


def test_bones_that_inherit_in_unusual_ways(empty):
    rig = rigs.chain(6, connected=False)
    rigs.wave(rig, modes=rigs.MODES)
    ways = ("FULL", "NONE", "ALIGNED", "AVERAGE", "FIX_SHEAR", "FULL")
    for i, bone in enumerate(rig.data.bones):
        bone.use_inherit_rotation, bone.use_local_location, bone.inherit_scale = i % 2 == 0, i % 3 != 0, ways[i]
    bpy.ops.heft.add()
    rig.heft.total_mass, rig.heft.heaviness = 2.0, 0.2
    baked_as_shown(rig)


def test_baking_to_controls_is_undone(empty):
    rig = rigs.chain(4)
    rigs.wave(rig)
    bpy.ops.heft.add()
    rig.heft.total_mass, rig.heft.heaviness = 2.0, 0.2
    bpy.ops.heft.simulate()
    bpy.ops.ed.undo_push(message="before")
    before = state.snapshot(bpy.context.object, pose=False)
    bpy.ops.heft.bake(target="CONTROLS")
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.ed.undo()
    assert state.difference(before, state.snapshot(bpy.context.object, pose=False)) == []


def ik_rig(empty) -> bpy.types.Object:
    """A chain that IK solves, with a target bone of its own: no FK controls, no switch but the constraint's."""
    rig = rigs.chain(4)
    rigs.wave(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    last = rig.data.edit_bones["bone.003"]
    target = rig.data.edit_bones.new("target")
    target.head, target.tail, target.use_deform = last.tail, (*last.tail[:2], last.tail[2] + 0.1), False
    bpy.ops.object.mode_set(mode="OBJECT")
    ik = rig.pose.bones["bone.003"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count = rig, "target", 3
    for frame in (1, 20, 40):
        key(rig, "target", frame, location=(0.2 * math.sin(frame), 0.0, 0.1 * math.cos(frame)))
    bpy.ops.heft.add()
    rig.heft.total_mass = 2.0
    rig.heft.heaviness = 0.2
    return rig


def test_bones_that_ik_moves_are_refused_and_baked_to_controls(empty):
    rig = ik_rig(empty)
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, rigs.scene_frames())
    with pytest.raises(RuntimeError, match=r"'bone.001' is moved by 'IK' on 'bone.003'.*bake to Controls"):
        bpy.ops.heft.bake(target="ACTION")
    bpy.ops.heft.bake(target="CONTROLS")
    offset, angle = rigs.deviation(shown[:, :4], rigs.poses(rig, rigs.scene_frames())[:, :4], rigs.height(rig))
    print(f"\nIK chain to its own bones: {angle:.5f} deg, {offset:.1e}")
    assert offset < 1e-4 and angle < 0.02
    assert not rig.pose.bones["bone.003"].constraints["IK"].mute


def control_rig(empty) -> bpy.types.Object:
    """Three bodies that copy three controls, turned against them; only a driven switch gives the controls effect."""
    rig = rigs.chain(3)
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for i in range(3):
        body = rig.data.edit_bones[f"bone.{i:03d}"]
        control = rig.data.edit_bones.new(f"ctl.{i}")
        control.head, control.tail, control.roll = body.head, body.tail, body.roll + 0.5
        control.parent, control.use_deform = above, False
        above = control
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.pose.bones["ctl.0"]["on"] = 0.0
    for i in range(3):
        copy = rig.pose.bones[f"bone.{i:03d}"].constraints.new("COPY_ROTATION")
        copy.target, copy.subtarget = rig, f"ctl.{i}"
        driver = copy.driver_add("influence").driver
        driver.type = "SUM"
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = rig, 'pose.bones["ctl.0"]["on"]'
    for frame in range(1, 41, 8):
        turn = (math.cos(0.1 * frame), math.sin(0.1 * frame), 0.0, 0.0)
        key(rig, "bone.001", frame, rotation_quaternion=turn)
        key(rig, "ctl.1", frame, rotation_quaternion=turn)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 40
    bpy.ops.heft.add()
    rig.heft.total_mass = 2.0
    rig.heft.heaviness = 0.2
    return rig


def test_a_list_of_the_users_is_saved_loaded_and_baked_to(empty, tmp_path):
    rig = control_rig(empty)
    for i in range(3):
        bpy.ops.heft.list_add(which="controls")
        item = rig.heft.controls[i]
        item.control, item.body, item.part = f"ctl.{i}", f"bone.{i:03d}", "ROTATION"
    bpy.ops.heft.list_add(which="switches")
    rig.heft.switches[0].path = 'pose.bones["ctl.0"]["on"]'
    path = str(tmp_path / "make.json")
    bpy.ops.heft.save_controls(filepath=path)
    saved = control_map.listed_on(rig)
    bpy.ops.heft.clear_controls()
    assert not len(rig.heft.controls) and not len(rig.heft.switches)
    bpy.ops.heft.load_controls(filepath=path)
    assert control_map.listed_on(rig) == saved
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.bake(target="CONTROLS")
    keyed = {key[0] for key in actions.curve_table(actions.active_bag(rig))}
    assert 'pose.bones["ctl.2"].rotation_quaternion' in keyed
    assert 'pose.bones["bone.002"].rotation_quaternion' not in keyed
    off = rigs.deviation(shown[:, :3], rigs.poses(rig, rigs.scene_frames())[:, :3], rigs.height(rig))
    assert off[0] < 1e-4 and off[1] < 0.02


def test_fewer_keys_on_controls(empty, capfd):
    rig = control_rig(empty)
    for i in range(3):
        item = rig.heft.controls.add()
        item.control, item.body = f"ctl.{i}", f"bone.{i:03d}"
    rig.heft.switches.add().path = 'pose.bones["ctl.0"]["on"]'
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.bake(target="CONTROLS", reduce=0.2)
    assert "keys instead of" in capfd.readouterr().out
    now = rigs.poses(rig, rigs.scene_frames())
    counts = [len(c.keyframe_points) for c in actions.active_curves(rig) if c.data_path.endswith("quaternion")]
    assert max(counts) < 30
    # Each of the three controls may be off by as much.
    assert rigs.deviation(shown[:, :3], now[:, :3], rigs.height(rig))[1] < 3 * 0.2


def test_a_wrong_list_is_named(empty, tmp_path):
    rig = control_rig(empty)
    bpy.ops.heft.simulate()
    bpy.ops.heft.list_add(which="controls")
    rig.heft.controls[0].control, rig.heft.controls[0].body = "ctl.0", "nobody"
    with pytest.raises(RuntimeError, match="no bone 'nobody'"):
        bpy.ops.heft.bake(target="CONTROLS")
    rig.heft.controls[0].body = "bone.000"
    bpy.ops.heft.list_add(which="switches")
    rig.heft.switches[0].path = 'pose.bones["ctl.0"]["off"]'
    source = rig.animation_data.action
    with pytest.raises(RuntimeError, match="no property"):
        bpy.ops.heft.bake(target="CONTROLS")
    assert rig.animation_data.action == source
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(RuntimeError, match="is no list of controls"):
        bpy.ops.heft.load_controls(filepath=str(tmp_path / "other.json"))


def test_trying_controls_out_leaves_no_trace(empty):
    rig = control_rig(empty)
    bpy.context.scene.frame_set(13)
    before = state.snapshot(rig)
    found = probe_controls.measure(
        rig, bpy.context.scene, ("ctl.0", "ctl.1"), [control_map.Switch('pose.bones["ctl.0"]["on"]', 1.0)]
    )
    assert state.difference(before, state.snapshot(rig)) == []
    assert found.turns_whole("ctl.0", "bone.000") and found.turns_whole("ctl.0", "ctl.2")
    assert found.of("ctl.1", "bone.000") == pytest.approx((0.0, 0.0), abs=1e-3)
