"""The private scene, and when it is not enough."""

from __future__ import annotations

import bpy
import numpy as np

import rigs
from heft.addon.blender import sample_poses


def drive_by_scene(rig) -> None:
    bpy.context.scene["wind"] = 0.3
    bpy.context.scene.keyframe_insert('["wind"]', frame=1)
    bpy.context.scene["wind"] = 1.1
    bpy.context.scene.keyframe_insert('["wind"]', frame=40)
    driver = rig.driver_add('pose.bones["bone.001"].rotation_euler', 0).driver
    rig.pose.bones["bone.001"].rotation_mode = "XYZ"
    variable = driver.variables.new()
    variable.targets[0].id_type = "SCENE"
    variable.targets[0].id = bpy.context.scene
    variable.targets[0].data_path = '["wind"]'
    driver.expression = variable.name


def test_samples_equal_the_scene_frame_by_frame(empty):
    rig = rigs.chain(4)
    rigs.wave(rig)
    rig.keyframe_insert("location", frame=1)
    rig.location = (1.0, 2.0, 3.0)
    rig.keyframe_insert("location", frame=40)
    got = sample_poses.finish(sample_poses.sample(rig, bpy.context.scene, np.arange(1, 41)))
    np.testing.assert_array_equal(got.poses, rigs.poses(rig, range(1, 41)).astype(np.float32))
    assert got.placements[39, 2, 3] == 3.0


def test_drivers_that_read_the_scene_use_the_scene(empty):
    rig = rigs.chain(4)
    rigs.wave(rig)
    assert not sample_poses.reads_scene(rig)
    drive_by_scene(rig)
    assert sample_poses.reads_scene(rig)
    wanted = rigs.poses(rig, range(1, 41))
    bpy.context.scene.frame_set(23)
    rig.pose.bones[2].rotation_quaternion = (0.5, 0.5, 0.5, 0.5)
    got = sample_poses.finish(sample_poses.sample(rig, bpy.context.scene, np.arange(1, 41)))
    np.testing.assert_allclose(got.poses, wanted, atol=1e-6)
    assert bpy.context.scene.frame_current == 23
    assert tuple(rig.pose.bones[2].rotation_quaternion) == (0.5, 0.5, 0.5, 0.5)


def test_closing_half_way_removes_the_private_scene(empty):
    rig = rigs.chain(4)
    rigs.wave(rig)
    steps = sample_poses.sample(rig, bpy.context.scene, np.arange(1, 41))
    next(steps)
    assert len(bpy.data.scenes) == 2
    steps.close()
    assert len(bpy.data.scenes) == 1


def test_without_a_window_as_on_the_command_line(empty):
    rig = rigs.chain(3)
    rigs.wave(rig)
    with bpy.context.temp_override(window=None):
        assert bpy.context.window is None
        sample_poses.finish(sample_poses.sample(rig, bpy.context.scene, np.arange(1, 10)))
    assert len(bpy.data.scenes) == 1
