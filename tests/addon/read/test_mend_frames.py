"""Bad recordings: what is found and named, what is left alone, how it is read, and that nothing flies apart."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import menagerie
import rigs
import state
from heft.addon.blender import actions
from rigs import DATA

WRONG = "cmu_20_10"
# Runs, jumps, punches, falls: nothing of them is a flaw but the rest pose on frame 1 of CMU's files.
RIGHT = ("cmu_02_05", "cmu_09_01", "cmu_16_03", "cmu_90_16", "20tab_freebvh", "pybvh_test2")


def recording(name: str) -> bpy.types.Object:
    path = DATA / "mocap" / f"{name}.bvh"
    if not path.exists():
        pytest.skip(f"no {path}")
    return menagerie.open_recording(path)


def waving(frames: int = 60) -> bpy.types.Object:
    """A chain with a key on every frame, as recordings have them."""
    rig = rigs.chain(5)
    rigs.wave(rig, end=frames, step=1)
    return rig


def spoil(rig, path: str, frames, value: float, index: int = 0) -> None:
    """Add to the keys of some frames."""
    for curve in actions.active_curves(rig):
        if curve.data_path == path and curve.array_index == index:
            for point in curve.keyframe_points:
                if round(point.co[0]) in frames:
                    point.co[1] += value
            curve.update()


@pytest.mark.in_one_blender
@pytest.mark.parametrize("name", RIGHT)
def test_real_motion_is_left_alone(empty, name):
    rig = recording(name)
    bpy.ops.heft.add()
    print(rig.heft.flaws)
    found = [line for line in rig.heft.flaws.splitlines() if "between frames" in line]
    assert all("frame 1 is no part of the motion, which begins on frame 2" in line for line in found)
    assert len(found) == name.startswith("cmu")


def test_the_bad_recording_is_named_with_its_frames(empty):
    rig = recording(WRONG)
    before = state.snapshot(rig, pose=False)
    bpy.ops.heft.add()
    assert "frames 1 to 14 are no part of the motion, which begins on frame 15. Root 'Hips' jumps" in rig.heft.flaws
    assert "between frames 14 and 15" in rig.heft.flaws
    assert "Bone 'RThumb' turns 174° between frames 431 and 432, and once more." in rig.heft.flaws
    bpy.ops.heft.fix_motion(method="SKIP")
    assert rig.heft.bad_frames == "SKIP"
    assert state.difference(before, state.snapshot(rig, pose=False)) == []
    bpy.ops.heft.remove()
    assert state.difference(before, state.snapshot(rig, pose=False)) == []


def test_bad_ends_are_left_out(empty):
    rig = recording("cmu_09_01")
    last = bpy.context.scene.frame_end
    bpy.ops.heft.add()
    bpy.ops.heft.leave_out()
    assert (rig.heft.range, rig.heft.frame_start, rig.heft.frame_end) == ("CUSTOM", 2, last)
    assert rig.heft.flaws == ""
    with pytest.raises(RuntimeError, match="nothing to leave out"):
        bpy.ops.heft.leave_out()


@pytest.mark.in_one_blender
@pytest.mark.parametrize("root", ["ANIMATED", "ASSISTED", "FREE"])
def test_nothing_explodes(empty, root):
    """Kept as it is, on the ground, with its whole weight: the body stays a body and near its way."""
    rig = recording(WRONG)
    bpy.context.scene.frame_end = 46
    source = rigs.poses(rig, rigs.scene_frames())
    tall = rigs.height(rig)
    bpy.ops.heft.add()
    rig.heft.meters_per_unit, rig.heft.root, rig.heft.ground, rig.heft.heaviness = 1.75 / tall, root, True, 1.0
    for controller, how, most in (
        ("FOLLOW", "KEEP", 6.0),
        ("ON_TIME", "KEEP", 6.0),
        ("LIMP", "KEEP", 6.0),
        ("ON_TIME", "SMOOTH", 2.0),
        ("LIMP", "SKIP", 2.0),
    ):
        rig.heft.controller, rig.heft.bad_frames = controller, how
        bpy.ops.heft.simulate()
        shown = rigs.poses(rig, rigs.scene_frames())
        off = np.linalg.norm(shown - source, axis=2)[:, :, 3].max() / tall
        wide = np.linalg.norm(shown[:, :, :3, 3] - shown[:, :1, :3, 3], axis=2).max() / tall
        print(f"{root} {controller} {how}: {off:.2f} heights from the source, {wide:.2f} wide")
        assert off < most and wide < 1.0


@pytest.mark.parametrize("how", ["SMOOTH", "SKIP"])
def test_a_flip_of_one_frame_is_taken_out(empty, how):
    """Compared with the same motion as it was before the flip."""
    rig = waving()
    frames = rigs.scene_frames()
    clean = rigs.poses(rig, frames)
    base = rig.pose.bones[2].path_from_id()
    turned = rigs.poses(rig, frames)
    for index in range(4):
        spoil(rig, f"{base}.rotation_quaternion", {30}, (-1.0) ** index * 3.0, index)
    spoiled = rigs.deviation(turned, rigs.poses(rig, frames), rigs.height(rig))
    assert spoiled[1] > 90.0
    bpy.ops.heft.add()
    assert "Bone 'bone.002' turns" in rig.heft.flaws and "between frames 29 and 30" in rig.heft.flaws
    rig.heft.bad_frames = how
    bpy.ops.heft.simulate()
    offset, angle = rigs.deviation(clean, rigs.poses(rig, frames), rigs.height(rig))
    print(f"{how}: {offset:.4f} of the height, {angle:.2f} deg from the clean motion, {spoiled[1]:.0f} deg spoiled")
    # Held for a frame the joint stands behind by what it would have turned, and then catches up.
    assert angle < (1.0 if how == "SMOOTH" else 15.0)


def test_a_root_that_leaps_and_stays_is_smoothed(empty):
    rig = waving()
    base = rig.pose.bones[0].path_from_id()
    spoil(rig, f"{base}.location", range(30, 61), 3.0)
    frames = rigs.scene_frames()
    bpy.ops.heft.add()
    assert "Root 'bone.000' jumps" in rig.heft.flaws and "between frames 29 and 30" in rig.heft.flaws
    steps = {}
    for how in ("KEEP", "SMOOTH"):
        rig.heft.bad_frames = how
        bpy.ops.heft.simulate()
        steps[how] = np.linalg.norm(np.diff(rigs.poses(rig, frames)[:, 0, :3, 3], axis=0), axis=1).max()
    assert steps["KEEP"] > 2.5
    assert steps["SMOOTH"] < 0.8 * steps["KEEP"]


def test_keys_held_constant_are_meant(empty):
    rig = waving()
    base = rig.pose.bones[0].path_from_id()
    spoil(rig, f"{base}.location", range(30, 61), 3.0)
    for curve in actions.active_curves(rig):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    bpy.ops.heft.add()
    assert rig.heft.flaws == ""


def test_an_animated_root_is_where_held_keys_put_it(empty):
    """On the very frame of the key, not one later."""
    rig = rigs.chain(4)
    rigs.wave(rig, step=8)
    for curve in actions.active_curves(rig):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    frames = rigs.scene_frames()
    source = rigs.poses(rig, frames)
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, frames)
    assert np.abs(np.diff(source[:, 0, :3, 3], axis=0)).max() > 0.1
    assert rigs.deviation(source[:, :1], shown[:, :1], rigs.height(rig))[0] < 1e-5
