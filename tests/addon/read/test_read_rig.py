"""From a rig to Model and Motion."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
from heft.addon.blender import sample_poses
from heft.addon.read import read_controller, read_rig
from heft.addon.simulate import session
from heft.engine import Limp, simulate


def read(rig) -> read_rig.Reading:
    scene = bpy.context.scene
    samples = sample_poses.finish(sample_poses.sample(rig, scene, read_controller.frame_range(rig, scene)))
    return read_rig.read(rig, scene, samples)


@pytest.fixture
def rig(empty):
    rig = rigs.chain(5, connected=False)
    rigs.wave(rig)
    bpy.ops.heft.add()
    return rig


def test_engine_kinematics_reproduce_the_pose(rig):
    """x = x_p + R_p·position and R = R_p·rest·R(q), written out here, give Blender's heads and axes."""
    from heft.engine.math import rotations

    rig.location, rig.rotation_euler, rig.scale = (1.0, 2.0, 3.0), (0.5, 0.1, -0.4), (2.0, 2.0, 2.0)
    rig.heft.meters_per_unit = 0.5
    got = read(rig)
    poses = rigs.poses(rig, rigs.scene_frames())
    frame = 17
    world = np.array(rig.matrix_world)
    spots, turns = {}, {}
    for b, name in enumerate(got.names):
        parent = int(got.model.parents[b])
        above = turns[parent] if parent >= 0 else np.eye(3)
        spots[b] = (spots[parent] if parent >= 0 else 0.0) + above @ got.motion.positions[frame, b]
        rest = rotations.to_matrix(got.model.rest_rotations[b])
        turns[b] = above @ rest @ rotations.to_matrix(got.motion.rotations[frame, b])
        seen = world @ poses[frame, list(rig.pose.bones.keys()).index(name)]
        np.testing.assert_allclose(spots[b], 0.5 * seen[:3, 3], atol=1e-5)
        np.testing.assert_allclose(turns[b], seen[:3, :3] / 2.0, atol=1e-5)


def test_frame_rate_and_range(rig):
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = 30, 1.001
    rig.heft.range, rig.heft.frame_start, rig.heft.frame_end = "CUSTOM", -3, 12
    got = read(rig)
    assert got.motion.fps == pytest.approx(30 / 1.001)
    assert len(got.motion) == 16 and got.motion.frame_start == -3
    rig.heft.range = "ACTION"
    assert read_controller.frame_range(rig, scene)[[0, -1]].tolist() == [1, 37]
    rig.heft.range = "PREVIEW"
    assert read_controller.frame_range(rig, scene)[[0, -1]].tolist() == [1, 40]
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 5, 9
    assert read_controller.frame_range(rig, scene).tolist() == [5, 6, 7, 8, 9]


def test_stepped_keys_are_marked_where_they_jump(rig):
    from heft.addon.blender import actions

    curve = actions.active_bag(rig).fcurves.find('pose.bones["bone.002"].rotation_quaternion', index=1)
    for point in curve.keyframe_points:
        point.interpolation = "CONSTANT"
    points = {int(point.co[0]): point.co[1] for point in curve.keyframe_points}
    assert len(points) == 10
    got = read(rig)
    column = got.names.index("bone.002")
    assert (np.flatnonzero(got.motion.stepped[:, column]) + 1).tolist() == sorted(points)[1:]
    assert not got.motion.stepped[:, [i for i in range(5) if i != column]].any()


def test_held_keys_of_equal_value_and_stepped_modifiers_are_no_jumps(rig):
    from heft.addon.blender import actions

    curve = actions.active_bag(rig).fcurves.find('pose.bones["bone.002"].rotation_quaternion', index=1)
    for point in curve.keyframe_points:
        point.interpolation = "CONSTANT"
        point.co[1] = 0.25
    actions.active_bag(rig).fcurves.find('pose.bones["bone.003"].rotation_quaternion', index=1).modifiers.new("STEPPED")
    assert not read(rig).motion.stepped.any()


def test_ignored_bones_pass_their_steps_on(rig):
    from heft.addon.blender import actions

    curve = actions.active_bag(rig).fcurves.find('pose.bones["bone.002"].rotation_quaternion', index=1)
    for point in curve.keyframe_points:
        point.interpolation = "CONSTANT"
    rig.pose.bones["bone.002"].heft.behaviour = "IGNORED"
    got = read(rig)
    assert got.motion.stepped[:, got.names.index("bone.003")].any()


def test_several_roots(empty):
    rig = rigs.chain(4)
    bpy.ops.object.mode_set(mode="EDIT")
    for i in range(2):
        bone = rig.data.edit_bones.new(f"other.{i}")
        bone.head, bone.tail = (1.0 + i, 0.0, 0.0), (1.0 + i, 0.0, 0.5)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.heft.add()
    bpy.context.scene.frame_end = 5
    assert (read(rig).model.parents < 0).sum() == 3


def test_a_broken_key_is_named(rig):
    from heft.addon.blender import actions

    curve = actions.active_bag(rig).fcurves.find('pose.bones["bone.003"].rotation_quaternion', index=1)
    curve.keyframe_points[2].co[1] = float("nan")
    with pytest.raises(RuntimeError, match=r"bone\.00[345]"):
        bpy.ops.heft.simulate()


def test_all_ignored_is_an_error(rig):
    for bone in rig.pose.bones:
        bone.heft.behaviour = "IGNORED"
    with pytest.raises(RuntimeError, match="Ignored"):
        bpy.ops.heft.simulate()


def test_free_fall_is_the_same_at_every_unit(empty):
    """A limp free rig falls g t²/2 in world metres, whatever units and transforms it is drawn in."""
    drops = []
    for scale, per_unit in ((1.0, 1.0), (0.01, 1.0), (100.0, 1.0), (1.0, 0.01), (-1.0, 1.0)):
        rigs.new_file()
        rig = rigs.chain(1)
        rig.scale = (scale, abs(scale), abs(scale))
        rig.rotation_euler = (1.0, 0.2, 0.3)
        bpy.context.scene.frame_end = 25
        bpy.ops.heft.add()
        rig.heft.controller, rig.heft.root, rig.heft.meters_per_unit = "LIMP", "FREE", per_unit
        bpy.ops.heft.simulate()
        heads = [(rig.matrix_world @ _head(rig, frame)).z * per_unit for frame in (1, 25)]
        drops.append(heads[0] - heads[1])
    np.testing.assert_allclose(drops, 0.5 * 9.81, rtol=0.02)


def _head(rig, frame: int):
    bpy.context.scene.frame_set(frame)
    bone = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[0]
    return 0.5 * (bone.head + bone.tail)


def test_simulating_is_repeatable_to_the_byte(rig):
    got = read(rig)
    a, b = (simulate(got.model, got.motion, Limp(tone=0.0, root="FREE")).motion.rotations for _ in range(2))
    assert a.tobytes() == b.tobytes()


def lock(rig, axis: int = 0) -> None:
    """A chain whose bones turn about one axis only, in every mode, the others locked."""
    for i, bone in enumerate(rig.pose.bones[1:]):
        bone.rotation_mode = rigs.MODES[i % len(rigs.MODES)]
        bone.lock_rotation = [i != axis for i in range(3)]
        for frame in range(1, 41, 3):
            angle = 0.6 * np.sin(0.2 * frame + i)
            turn = np.zeros(3)
            turn[axis] = angle
            path = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(
                bone.rotation_mode, "rotation_euler"
            )
            if path == "rotation_quaternion":
                value = (np.cos(angle / 2), *(np.sin(turn / 2)))
            elif path == "rotation_axis_angle":
                value = (angle, *np.eye(3)[axis])
            else:
                value = turn
            setattr(bone, path, value)
            bone.keyframe_insert(path, frame=frame)
    bpy.context.scene.frame_end = 40


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_bones_locked_on_two_axes_are_hinges(empty, axis):
    rig = rigs.chain(10)
    lock(rig, axis)
    bpy.ops.heft.add()
    got = read(rig)
    assert got.model.nv == 6 + 9
    np.testing.assert_array_equal(got.model.axes[1:, 0], np.tile(np.eye(3)[axis], (9, 1)))
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.simulate()
    offset, angle = rigs.deviation(source, rigs.poses(rig, rigs.scene_frames()), rigs.height(rig))
    assert offset < 1e-5 and angle < 1e-3
    # Limp, they turn about that axis and no other.
    rig.heft.controller, rig.heft.total_mass = "LIMP", 2.0
    result = simulate(got.model, got.motion, Limp(tone=0.0))
    others = [1 + i for i in range(3) if i != axis]
    assert np.abs(result.motion.rotations[:, 1:, others]).max() < 1e-9
    assert np.abs(result.motion.rotations - got.motion.rotations).max() > 0.1


def test_locks_that_the_motion_breaks_make_no_hinge(empty):
    rig = rigs.chain(4)
    lock(rig)
    bpy.ops.heft.add()
    assert read(rig).model.nv == 6 + 3
    bone = rig.pose.bones[2]
    bone.rotation_euler[1] = 0.05
    bone.keyframe_insert("rotation_euler", index=1, frame=20)
    assert read(rig).model.nv == 6 + 5
    rig.pose.bones[3].lock_rotation = (True, False, False)
    assert read(rig).model.nv == 6 + 7


def test_changed_locks_are_read_again(empty):
    rig = rigs.chain(4)
    lock(rig)
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    rig.pose.bones[2].lock_rotation = (False, False, False)
    assert not session.is_current(rig, bpy.context.scene)
