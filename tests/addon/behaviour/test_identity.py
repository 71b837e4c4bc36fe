"""Undisturbed and effortless, the result of a motion is that motion: shown and baked."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

import rigs
from heft.addon.blender import actions
from heft.addon.result import result_armature
from rigs import DATA

# Of the rig's height, and degrees.
OFFSET, ANGLE = 1e-4, 0.02
# Of each make of recording one in every Blender, the rest in one.
EVERYWHERE = ("20tab_freebvh", "cmu_02_01", "makehuman_walk1", "pybvh_test2", "threejs_pirouette")
MOCAP = [
    pytest.param(path, marks=() if path.stem in EVERYWHERE else pytest.mark.in_one_blender, id=path.stem)
    for path in sorted((DATA / "mocap").glob("*.bvh"))
]


def check_identity(rig) -> None:
    frames = rigs.scene_frames()
    source = rigs.poses(rig, frames)
    assert bpy.ops.heft.add() == {"FINISHED"}
    rig.heft.heaviness = 0.0
    assert bpy.ops.heft.simulate() == {"FINISHED"}
    assert rig.heft.shown == "RESULT"
    found = {"shown": rigs.poses(rig, frames)}
    assert bpy.ops.heft.bake(target="ACTION") == {"FINISHED"}
    found["baked"] = rigs.poses(rig, frames)
    for what, poses in found.items():
        offset, angle = rigs.deviation(source, poses, rigs.height(rig))
        print(f"{what} {len(frames)} frames: {offset:.1e} of the height, {angle:.5f} deg")
        assert offset < OFFSET
        assert angle < ANGLE
        assert rigs.stretch(source, poses) < OFFSET


@pytest.mark.skipif(not MOCAP, reason=f"no motion capture in {DATA / 'mocap'}")
@pytest.mark.parametrize("path", MOCAP)
def test_motion_capture(empty, path):
    bpy.ops.import_anim.bvh(filepath=str(path), update_scene_fps=True, update_scene_duration=True)
    rig, scene = bpy.context.object, bpy.context.scene
    scene.frame_start, scene.frame_end = (int(frame) for frame in rig.animation_data.action.frame_range)
    check_identity(rig)


@pytest.mark.parametrize("connected", [True, False])
def test_every_rotation_mode(empty, connected):
    rig = rigs.chain(9, connected)
    rigs.wave(rig, modes=rigs.MODES)
    check_identity(rig)


@pytest.mark.parametrize("fps", [24, 30, 60, 120])
@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_frame_rate_and_object_transform(empty, fps, scale):
    rig = rigs.chain(7, connected=False)
    rigs.wave(rig, modes=rigs.MODES)
    bpy.context.scene.render.fps = fps
    bpy.context.scene.render.fps_base = 1.001 if fps == 24 else 1.0
    turn = Euler((0.7, -1.1, 2.3)).to_matrix().to_4x4()
    # Blender takes every constrained bone through float32 world space and back: 0.02 units of rig may
    # stand a few units from the origin before that rounding alone is 1e-4 of its height.
    rig.matrix_world = Matrix.Translation((3.1, -4.7, 1.2)) @ turn @ Matrix.Scale(scale, 4)
    check_identity(rig)


@pytest.mark.parametrize("scale", [(-1.0, 1.0, 1.0), (-2.0, -2.0, -2.0), (0.5, 2.0, 1.5)])
def test_mirrored_and_uneven_objects(empty, scale):
    rig = rigs.chain(5, connected=False)
    rigs.wave(rig)
    rig.scale = scale
    rig.rotation_euler = (0.3, 0.2, 0.1)
    check_identity(rig)


def test_animated_object_and_parent(empty):
    rig = rigs.chain(5)
    rigs.wave(rig)
    holder = bpy.data.objects.new("holder", None)
    bpy.context.scene.collection.objects.link(holder)
    rig.parent = holder
    for frame in (1, 20, 40):
        holder.rotation_euler = (0.02 * frame, 0.0, 0.05 * frame)
        holder.keyframe_insert("rotation_euler", frame=frame)
        rig.location = (0.1 * frame, 0.0, math.sin(frame))
        rig.keyframe_insert("location", frame=frame)
    check_identity(rig)


def test_animated_location_and_scale_pass_through(empty):
    rig = rigs.chain(6, connected=False)
    rigs.wave(rig)
    for i, bone in enumerate(rig.pose.bones):
        for frame in (1, 15, 40):
            bone.location = (0.05 * i, 0.01 * frame, -0.02 * i)
            size = 1.0 + 0.01 * frame * (i % 3)
            bone.scale = (size, size, size)
            bone.keyframe_insert("location", frame=frame)
            bone.keyframe_insert("scale", frame=frame)
    check_identity(rig)


def test_uneven_scale_keeps_tails(empty):
    """A child of an unevenly scaled bone is sheared: no bone can be posed so, but its head and direction can."""
    rig = rigs.chain(4, connected=True)
    rigs.wave(rig)
    rig.pose.bones[1].scale = (1.0, 1.7, 0.6)
    frames = rigs.scene_frames()
    source = rigs.poses(rig, frames)
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, frames)
    assert np.abs(source[..., :3, 3] - shown[..., :3, 3]).max() < OFFSET * rigs.height(rig)
    assert np.abs(source[..., :3, 1] - shown[..., :3, 1]).max() < 1e-5


def test_mirrored_bones(empty):
    rig = rigs.chain(5, connected=False)
    rigs.wave(rig)
    rig.pose.bones[1].scale = (-1.0, -1.0, -1.0)
    rig.pose.bones[3].scale = (-1.0, 1.0, 1.0)
    frames = rigs.scene_frames()
    source = rigs.poses(rig, frames)
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    assert rigs.deviation(source, rigs.poses(rig, frames), rigs.height(rig))[0] < OFFSET
    y_and_head = np.abs(source - rigs.poses(rig, frames))[..., :3, [1, 3]]
    assert y_and_head.max() < 1e-4


@pytest.mark.parametrize("ignored", [(0,), (2,), (2, 3), (5,), (0, 3)])
def test_ignored_bones_ride_along(empty, ignored):
    rig = rigs.chain(6, connected=False)
    rigs.wave(rig)
    rig.pose.bones[2].scale = (1.3, 1.3, 1.3)
    bpy.ops.heft.add()
    for i in ignored:
        rig.pose.bones[i].heft.behaviour = "IGNORED"
    check_identity(rig)
    assert len(result_armature.body_names(rig)) == 6 - len(ignored)


def test_unkeyed_rig_keeps_its_pose(empty):
    rig = rigs.chain(4)
    rig.pose.bones[1].rotation_mode = "XYZ"
    rig.pose.bones[1].rotation_euler = (0.5, 0.2, 0.1)
    bpy.context.scene.frame_end = 10
    check_identity(rig)


def test_unusual_inheritance(empty):
    rig = rigs.chain(6, connected=False)
    for bone, kind in zip(rig.data.bones, ("FULL", "NONE", "AVERAGE", "ALIGNED", "FIX_SHEAR", "FULL"), strict=True):
        bone.inherit_scale = kind
    rig.data.bones[3].use_inherit_rotation = False
    rig.data.bones[4].use_local_location = False
    rigs.wave(rig)
    rig.pose.bones[0].scale = (1.2, 1.2, 1.2)
    rig.pose.bones[4].location = (0.1, 0.2, 0.0)
    check_identity(rig)


def heavy_poses(fps: int, scale: float) -> np.ndarray:
    """The same second and a half at some frame rate and size, simulated with weight, every 24th of a second."""
    rigs.new_file()
    rig = rigs.chain(5)
    step = fps // 24
    rigs.wave(rig, end=37, step=4)
    for curve in actions.active_curves(rig):
        for point in curve.keyframe_points:
            point.co[0] = 1 + (point.co[0] - 1) * step
            point.interpolation = "LINEAR"
    scene = bpy.context.scene
    scene.render.fps, scene.frame_end = fps, 1 + 36 * step
    rig.scale = (scale, scale, scale)
    rig.rotation_euler = (0.0, 0.0, 1.3)
    rig.location = (0.2, -0.1, 0.3)
    bpy.ops.heft.add()
    rig.heft.heaviness, rig.heft.settle_time, rig.heft.total_mass = 0.3, 0.3, 5.0
    rig.heft.meters_per_unit = 1.0 / scale
    source = rigs.poses(rig, (30 * step,))
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, range(1, scene.frame_end + 1, step))
    assert rigs.deviation(source, rigs.poses(rig, (30 * step,)), rigs.height(rig))[1] > 2.0
    return shown


@pytest.mark.parametrize(("fps", "scale"), [(48, 1.0), (120, 1.0), (24, 0.01), (24, 100.0)])
def test_a_disturbed_motion_is_the_same_at_every_frame_rate_and_size(empty, fps, scale):
    """Linear keys turned into samples at 24 frames a second cut their corners: hence half a degree."""
    a, b = heavy_poses(24, 1.0), heavy_poses(fps, scale)
    offset, angle = rigs.deviation(a, b, 2.0)
    print(f"{fps} fps, scale {scale}: {offset:.1e} of the height, {angle:.4f} deg")
    assert offset < (1e-2 if fps != 24 else 1e-4) and angle < (0.5 if fps != 24 else 0.02)
