"""The sample scenes: they build, their files are small and up to date, and each shows what it is there to show.

Runs inside bpy, once a Blender version.
"""

from __future__ import annotations

import importlib
import sys

import bpy
import numpy as np
import pytest

from sample_scenes import SCENES, stage

pytestmark = pytest.mark.in_one_blender

MAX_BYTES = 500_000
# Identity: the pose without heaviness is the source pose (fraction of the rig's height; degrees).
MAX_OFFSET = 1e-4
MAX_ANGLE = 0.02


@pytest.fixture(autouse=True)
def addon():
    stage.load_addon()


def build(name: str) -> bpy.types.Object:
    return importlib.import_module(f"sample_scenes.{name}").build()


def sample(rig: bpy.types.Object) -> np.ndarray:
    """(frames, bones, 4, 4) evaluated pose matrices in armature space."""
    scene, poses = bpy.context.scene, []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        poses.append([np.array(bone.matrix) for bone in evaluated.pose.bones])
    return np.array(poses)


def places(name: str) -> np.ndarray:
    """(frames, 3) an object's evaluated place in the world."""
    scene, ob, found = bpy.context.scene, bpy.data.objects[name], []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        found.append(ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.copy())
    return np.array(found)


def leave_alone(rig: bpy.types.Object) -> None:
    """Nothing touches, holds or pushes the rig any more."""
    rig.heft.ground, rig.heft.colliders = False, None
    rig.heft.ties.clear()
    rig.heft.pushes.clear()


def meets(rig: bpy.types.Object) -> tuple:
    """What the rig meets, with its settings, and how many ties it has."""
    group = rig.heft.colliders
    objects = sorted(group.objects, key=lambda ob: ob.name) if group else ()
    colliders = [(ob.name, ob.heft_collider.moves, ob.heft_collider.mass, ob.heft_collider.response) for ob in objects]
    return rig.heft.ground, colliders, len(rig.heft.ties)


def simulate(rig: bpy.types.Object, **settings) -> np.ndarray:
    """The rig's pose with the result shown."""
    for name, value in settings.items():
        setattr(rig.heft, name, value)
    assert bpy.ops.heft.simulate() == {"FINISHED"}
    return sample(rig)


def angles(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(frames, bones) angle between rotations [°], exact for small ones."""
    difference = one[..., :3, :3] - other[..., :3, :3]
    return np.degrees(2 * np.arcsin(np.clip(np.linalg.norm(difference, axis=(-2, -1)) / np.sqrt(8), 0, 1)))


def column(rig: bpy.types.Object, name: str) -> int:
    return rig.pose.bones.find(name)


@pytest.mark.parametrize("name", SCENES)
def test_file_is_small_and_up_to_date(name):
    path = stage.ROOT / "sample_scenes" / f"{name}.blend"
    assert path.stat().st_size < MAX_BYTES
    rig = build(name)
    wanted = {
        "bones": [bone.name for bone in rig.pose.bones],
        "action": rig.animation_data.action.name,
        "keys": sorted(len(curve.keyframe_points) for curve in stage.curves_of(rig.animation_data.action)),
        "settings": (rig.heft.settle_time, rig.heft.damping_ratio, rig.heft.heaviness),
        "meets": meets(rig),
    }
    pose, rig_name = sample(rig), rig.name
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rig = bpy.data.objects[rig_name]
    found = {
        "bones": [bone.name for bone in rig.pose.bones],
        "action": rig.animation_data.action.name,
        "keys": sorted(len(curve.keyframe_points) for curve in stage.curves_of(rig.animation_data.action)),
        "settings": (rig.heft.settle_time, rig.heft.damping_ratio, rig.heft.heaviness),
        "meets": meets(rig),
    }
    assert found == wanted
    np.testing.assert_allclose(sample(rig), pose, atol=1e-5)


@pytest.mark.parametrize("name", SCENES)
def test_without_heaviness_and_left_alone_the_result_is_the_source(name):
    rig = build(name)
    leave_alone(rig)
    for curve in stage.curves_of(rig.animation_data.action):  # stepped keys are swung between, by design
        for key in curve.keyframe_points:
            key.interpolation = "BEZIER"
    for bone in rig.pose.bones:
        if bone.heft.behaviour == "LIMP":
            bone.heft.behaviour = "SIMULATED"
    source = sample(rig)
    shown = simulate(rig, heaviness=0.0, controller="FOLLOW")
    assert bpy.ops.heft.bake(target="ACTION") == {"FINISHED"}
    baked = sample(rig)
    height = np.ptp([bone.head_local for bone in rig.data.bones], axis=0).max()
    for result in (shown, baked):
        assert np.abs(result[..., :3, 3] - source[..., :3, 3]).max() < MAX_OFFSET * height
        assert angles(result, source).max() < MAX_ANGLE


def test_chain_lags_and_swings_through():
    rig = build("chain")
    source = sample(rig)
    result = simulate(rig)
    tip = column(rig, "link.11")
    lag = (result - source)[:, tip, 0, 3]
    assert lag.min() < -0.15  # behind the hook as it darts off to +x
    assert lag.max() > 0.05  # and past it when the hook stops
    assert np.abs(lag[:9]).max() < 1e-3  # at rest until the hook moves
    np.testing.assert_allclose(result[:, column(rig, "hook")], source[:, column(rig, "hook")], atol=1e-5)


def test_tail_drags_behind_the_body():
    rig = build("tail")
    source = sample(rig)
    result = simulate(rig)
    for bone in ("body", "head"):
        np.testing.assert_allclose(result[:, column(rig, bone)], source[:, column(rig, bone)], atol=1e-5)
    off = np.linalg.norm((result - source)[:, :, :3, 3], axis=2)
    assert off[:, column(rig, "tail.09")].max() > 0.15
    assert off[:, column(rig, "tail.03")].max() < off[:, column(rig, "tail.09")].max()


def test_arm_swings_between_stepped_poses_and_arrives():
    rig = build("arm")
    source = sample(rig)
    result = simulate(rig)
    jump = angles(source[1:], source[:-1]).max()
    move = angles(result[1:], result[:-1]).max()
    assert jump > 45.0  # the source leaps from pose to pose
    assert move < jump / 2  # the result goes there
    for last_of_pose in (7, 25, 43, 61, 84):
        assert angles(result[last_of_pose - 1], source[last_of_pose - 1]).max() < 6.0


def test_mannequin_has_one_limp_arm_and_exact_legs():
    rig = build("mannequin")
    source = sample(rig)
    result = simulate(rig)
    turned = angles(result, source).max(axis=0)
    for bone in ("hips", "thigh.L", "shin.R", "foot.L"):
        assert turned[column(rig, bone)] < MAX_ANGLE
    assert turned[column(rig, "forearm.L")] > 60.0
    assert turned[column(rig, "forearm.R")] < turned[column(rig, "forearm.L")] / 2


def test_block_is_held_by_the_arm_that_braces():
    rig = build("block")
    source = sample(rig)
    turned = angles(simulate(rig), source)
    assert turned[-1, column(rig, "near.3")] > 10.0
    for plank in ("far.1", "far.2", "far.3"):
        assert turned[:, column(rig, plank)].max() < 0.05
    assert places("Block far")[-1, 2] == pytest.approx(1.1 + 0.025 + 0.12, abs=1e-3)
    assert places("Block near")[-1, 2] > 0.9  # it gives way, but carries


def test_ball_is_deflected_by_the_chain():
    rig = build("ball_hits_chain")
    source = sample(rig)
    turned = angles(simulate(rig), source).max(axis=1)
    assert turned[:9].max() < MAX_ANGLE
    assert turned.max() > 20.0
    assert turned[-1] < 0.5  # back on its keys
    ball = places("Ball")
    assert ball[8, 0] - ball[7, 0] > 0.1
    assert np.diff(ball[16:, 0]).max() < 0.05  # it never flies on as it came
    assert ball[-1, 2] == pytest.approx(0.15, abs=2e-3)  # it lies on the ground


def test_tentacle_leans_on_the_wall_and_comes_back():
    rig = build("obstructed")
    source = sample(rig)
    result = simulate(rig)
    turned = angles(result, source).max(axis=1)
    assert turned[:15].max() < MAX_ANGLE and turned[-1] < 0.1
    assert np.ptp(result[42:55, column(rig, "link.7"), 2, 3]) < 1e-3  # it rests
    # Joints over the wall are above it; the keys have them inside.
    for poses, above in ((source, False), (result, True)):
        heads = poses[49, :, :3, 3]
        over = np.abs(heads[:, 0] - 0.16) < 0.2
        assert over.any() and (heads[over, 2] > 0.85).all() == above


def test_walker_is_struck_and_recovers():
    rig = build("ball_hits_walker")
    source = sample(rig)
    result = simulate(rig)
    turned = angles(result, source)
    assert turned[:25].max() < MAX_ANGLE
    assert turned[:, column(rig, "chest")].max() > 5.0
    assert turned[-1].max() < 0.3
    for foot in ("foot.L", "foot.R"):  # they do not stay where the blow made them step
        assert np.linalg.norm((result - source)[-1, column(rig, foot), :3, 3]) < 0.005
    ball = places("Ball")
    assert ball[26:, 0].min() > -2.0 and np.diff(ball[30:, 0]).min() > -0.12  # it came with 0.25 m a frame


def test_mace_knocks_the_crate_off_its_stand():
    rig = build("mace")
    source = sample(rig)
    result = simulate(rig)
    np.testing.assert_allclose(result[:, column(rig, "hand")], source[:, column(rig, "hand")], atol=1e-5)
    crate = places("Crate")
    assert np.abs(crate[:27] - crate[0]).max() < 1e-3
    assert crate[-1, 2] == pytest.approx(0.15, abs=2e-3)
    assert crate[-1, 0] > crate[0, 0] + 0.4


def test_box_is_carried_to_the_other_table():
    rig = build("carry_box")
    simulate(rig)
    box, target = places("Box"), np.array(bpy.data.objects["Table to"].location)
    assert np.abs(box[:20] - box[0]).max() < 1e-3  # nobody touches it before it is taken
    assert box[:, 2].max() > box[0, 2] + 0.15
    assert np.abs(box[-1, :2] - target[:2]).max() < 0.1
    assert box[-1, 2] == pytest.approx(0.5 + 0.11, abs=2e-3)
    assert np.abs(np.diff(box[-12:], axis=0)).max() < 1e-4  # it lies still


def test_arm_that_gives_way_to_the_box_still_carries_it():
    rig = build("carry_box")
    source = sample(rig)
    rig.heft.ties[0].response = "GIVES_WAY"
    turned = angles(simulate(rig), source).max()
    assert 1.0 < turned < 15.0


def test_two_bump_and_walk_on():
    rig = build("two_bump")
    other = bpy.data.objects["Bob"]
    before = sample(rig), sample(other)
    simulate(rig)
    for ob, source in zip((rig, other), before, strict=True):
        turned = angles(sample(ob), source)
        assert turned[:28].max() < MAX_ANGLE
        assert turned[:, column(ob, "chest")].max() > 10.0
        assert turned[-1].max() < 1.0


@pytest.mark.parametrize(
    ("name", "times"),
    [("ymca", (0.1, 1.1, 1.85, 2.355)), ("conductor", (0.3, 0.6, 0.9, 1.3, 1.845, 2.39))],
)
@pytest.mark.parametrize("root", ["ANIMATED", "FREE"])
def test_every_pose_of_a_script_is_met_on_its_time(name, times, root):
    rig = build(name)
    source = sample(rig)
    turned = angles(simulate(rig, root=root), source)
    shown = sys.modules["heft.addon.simulate.session"].last_shown(rig)
    model, arrivals = shown.reading.model, shown.result.arrivals
    assert model.nv == 6 + 39
    keyed = sorted({round((frame - 1.0) / 24.0, 3) for frame in arrivals.frames.tolist()})
    assert keyed == pytest.approx(times, abs=2e-3)
    assert len(arrivals.bodies) == len(times) * (len(model) - 1)  # the root is not the controller's
    assert np.degrees(arrivals.angles).max() <= 0.1 and np.degrees(arrivals.rates).max() <= 1.0
    assert turned.max() > 5.0  # between the keys it moves by itself


def test_straight_and_bent_arm_arrive_together():
    rig = build("straight_and_bent")
    source = sample(rig)
    result = simulate(rig)
    arrive = {}
    for arm in ("straight", "bent"):
        upper = column(rig, f"upper.{arm}")
        left = angles(result[:24, upper], np.repeat(source[23:24, upper], 24, axis=0))
        assert left[23] < 0.1
        arrive[arm] = int(np.argmax(left < 0.01 * left[0]))  # within 1 % of the swing
    assert abs(arrive["straight"] - arrive["bent"]) <= 1
    torques = sys.modules["heft.addon.simulate.session"].last_shown(rig).result.torques
    names = sys.modules["heft.addon.simulate.session"].last_shown(rig).reading.names
    straight, bent = (np.abs(torques[:, names.index(f"upper.{arm}")]).max() for arm in ("straight", "bent"))
    assert straight > 1.3 * bent  # though it takes more


def hand_from_ball(name: str) -> np.ndarray:
    """(frames,) how far the catcher's hand is from where its ball arrives [m]."""
    scene, rig, ball = bpy.context.scene, bpy.data.objects[name], bpy.data.objects[f"Ball {name}"]
    curves = [c for c in stage.curves_of(ball.animation_data.action) if c.data_path == "location"]
    place = np.array([curve.evaluate(40.0) for curve in sorted(curves, key=lambda c: c.array_index)])
    found = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(np.linalg.norm(np.array(evaluated.matrix_world @ evaluated.pose.bones["hand.R"].tail) - place))
    return np.array(found)


def test_both_catch_though_one_is_struck():
    rig = build("catch")
    simulate(rig)
    struck, still = hand_from_ball("Struck"), hand_from_ball("Still")
    assert np.abs(struck - still)[:18].max() < 1e-4
    assert (struck - still).max() > 0.05  # the blow
    assert still[39] < 0.001 and struck[39] < 0.01
    assert not len(rig.heft.misses)


def test_too_weak_for_the_blow_the_catch_is_missed_and_told():
    rig = build("catch")
    simulate(rig, use_strength=True, strength=0.1)
    miss = next(miss for miss in rig.heft.misses if miss.frame == 40.0)
    bone = miss.bone
    result = sample(rig)
    bpy.ops.heft.show(which="SOURCE")
    source = sample(rig)

    def joint(poses):
        above = poses[39, column(rig, rig.pose.bones[bone].parent.name), :3, :3]
        return above.T @ poses[39, column(rig, bone), :3, :3]

    off = np.degrees(np.arccos(np.clip((np.trace(joint(source).T @ joint(result)) - 1.0) / 2.0, -1.0, 1.0)))
    assert miss.degrees == pytest.approx(off, abs=0.1) and off > 0.5


def test_net_holds_together_and_stops_the_ball():
    rig = build("net")
    result = simulate(rig)
    tails = result @ np.array([[0.0, bone.bone.length, 0.0, 1.0] for bone in rig.pose.bones])[:, :, None]
    ties = [(tie.bone, tie.target_bone) for tie in rig.heft.ties]
    assert len(ties) == 25
    for bone, target in ties:
        apart = (tails[:, column(rig, bone)] - tails[:, column(rig, target)])[:, :3, 0]
        assert np.linalg.norm(apart, axis=1).max() < 2e-3
    assert places("Ball")[:, 1].max() < 0.15
