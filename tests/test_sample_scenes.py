"""The sample scenes: they build, their files are small and up to date, and each shows what it is there to show.

Runs inside bpy, once a Blender version.
"""

from __future__ import annotations

import importlib

import bpy
import numpy as np
import pytest

from sample_scenes import SCENES, stage

MAX_BYTES = 300_000
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
    }
    pose, rig_name = sample(rig), rig.name
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rig = bpy.data.objects[rig_name]
    found = {
        "bones": [bone.name for bone in rig.pose.bones],
        "action": rig.animation_data.action.name,
        "keys": sorted(len(curve.keyframe_points) for curve in stage.curves_of(rig.animation_data.action)),
        "settings": (rig.heft.settle_time, rig.heft.damping_ratio, rig.heft.heaviness),
    }
    assert found == wanted
    np.testing.assert_allclose(sample(rig), pose, atol=1e-5)


@pytest.mark.parametrize("name", SCENES)
def test_without_heaviness_the_result_is_the_source(name):
    rig = build(name)
    for curve in stage.curves_of(rig.animation_data.action):  # stepped keys are swung between, by design
        for key in curve.keyframe_points:
            key.interpolation = "BEZIER"
    for bone in rig.pose.bones:
        if bone.heft.behaviour == "LIMP":
            bone.heft.behaviour = "SIMULATED"
    source = sample(rig)
    shown = simulate(rig, heaviness=0.0)
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
