"""A character that touches itself, and several that meet."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
from heft.addon import rotations, session


def folded(rig) -> None:
    """Key the top of the post through its bottom: a triangle that closes too far."""
    for name, angle in (("bone.001", 2.3), ("bone.002", 2.3)):
        bone = rig.pose.bones[name]
        bone.rotation_mode = "XYZ"
        for frame, part in ((1, 0.0), (30, 1.0)):
            bone.rotation_euler.x = part * angle
            bone.keyframe_insert("rotation_euler", frame=frame)


def deepest(rig) -> float:
    """The least distance between the axes of the first and the last bone on the last frame."""
    pose = rigs.poses(rig, (40,))[0]
    a = pose[0, :3, 3] + np.linspace(0.0, 0.5, 60)[:, None] * pose[0, :3, 1]
    b = pose[2, :3, 3] + np.linspace(0.0, 0.5, 60)[:, None] * pose[2, :3, 1]
    return float(np.linalg.norm(a[:, None] - b[None], axis=-1).min())


def test_a_character_touches_itself_only_if_asked(rig):
    folded(rig)
    source = deepest(rig)
    rig.heft.ground, rig.heft.ground_height = True, -2.0
    bpy.ops.heft.simulate()
    assert deepest(rig) == pytest.approx(source, abs=1e-3)
    rig.heft.touch_self = True
    bpy.ops.heft.simulate()
    apart = deepest(rig)
    assert apart > source + 0.02
    for bone in rig.pose.bones:
        bone.heft.overlap_group = 3
    bpy.ops.heft.simulate()
    assert deepest(rig) == pytest.approx(source, abs=1e-3)


def test_shapes_that_overlap_at_rest_never_touch(empty):
    """Four bones in a bundle: touching themselves must not blow them apart."""
    empty.frame_end = rigs.FRAMES[-1]
    rig = rigs.post(1)
    bpy.ops.object.mode_set(mode="EDIT")
    for i in range(3):
        bone = rig.data.edit_bones.new(f"side.{i}")
        bone.head, bone.tail = (0.02 * i, 0.03, 0.1), (0.02 * i, 0.03, 0.45)
        bone.parent = rig.data.edit_bones[0]
    bpy.ops.object.mode_set(mode="OBJECT")
    source = rigs.poses(rig, rigs.FRAMES)
    bpy.ops.heft.add()
    rig.heft.touch_self = True
    bpy.ops.heft.simulate()
    offset, angle = rigs.deviation(source, rigs.poses(rig, rigs.FRAMES), rigs.height(rig))
    assert offset < 1e-4 and angle < 0.02


def test_the_first_frame_is_where_the_reading_says(rig):
    """`at_start` walks the joints: it must come out where Blender has the bones."""
    folded(rig)
    rig.location = (1.0, 2.0, 3.0)
    rig.rotation_euler = (0.3, 0.2, 0.9)
    bpy.context.scene.frame_start = 20
    bpy.ops.heft.simulate()
    bpy.ops.heft.show(which="SOURCE")
    pose = rigs.poses(rig, (20,))[0]
    world = np.array([np.array(rig.matrix_world) @ each for each in pose])
    places, turns = session.last_shown(rig).reading.at_start()
    np.testing.assert_allclose(places, world[:, :3, 3], atol=1e-5)
    np.testing.assert_allclose(rotations.to_matrix(turns), world[:, :3, :3], atol=1e-5)


def two(empty) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Two posts side by side; the first swings its top into the other."""
    empty.frame_end = rigs.FRAMES[-1]
    other = rigs.post(3, "Other", at=(0.0, 0.5, 0.0))
    bpy.ops.heft.add()
    rig = rigs.post(3)
    bpy.ops.heft.add()
    for each in (rig, other):
        each.heft.total_mass = 3.0
    bone = rig.pose.bones[1]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (20, -0.9)):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    rigs.collide(rig, other)
    return rig, other


def test_two_characters_bump_into_one_another(empty):
    rig, other = two(empty)
    source = rigs.poses(other, rigs.FRAMES)
    tip = rigs.poses(rig, (40,))[0, 2, 1, 3]
    if tip < 0.0:  # the swing must go towards the other
        other.location.y = -0.5
    bpy.ops.heft.simulate()
    assert rig.heft.shown == other.heft.shown == "RESULT"
    now = rigs.poses(other, rigs.FRAMES)
    assert rigs.deviation(source, now, rigs.height(other))[1] > 2.0
    assert other.heft.leader == rig and rig.heft.leader is None
    assert session.is_current(rig, empty) and session.is_current(other, empty)
    other.heft.settle_time = 0.4
    assert not session.is_current(rig, empty) and not session.is_current(other, empty)
    rig.heft.live = True
    calm = rigs.poses(other, rigs.FRAMES)
    other.heft.settle_time = 0.1
    assert rigs.deviation(calm, rigs.poses(other, rigs.FRAMES), rigs.height(other))[1] > 0.1, "one shot, one Live"
    assert session.is_current(other, empty)


def test_together_and_apart_again(empty):
    rig, other = two(empty)
    bpy.ops.heft.simulate()
    bpy.context.view_layer.objects.active = other
    bpy.ops.heft.simulate()
    assert other.heft.leader == rig, "from either side it is one shot"
    rig.heft.colliders.objects.unlink(other)
    bpy.ops.heft.simulate()
    assert other.heft.leader is None and session.is_current(other, empty)
    assert other.heft.undisturbed, "alone, nobody pushes it"


def test_what_cannot_take_part_is_named(rig):
    plain = rigs.post(2, "Plain")
    bpy.context.view_layer.objects.active = rig
    curve = bpy.data.objects.new("Path", bpy.data.curves.new("Path", "CURVE"))
    rigs.collide(rig, plain, curve)
    bpy.ops.heft.simulate()
    assert "'Plain' is left out" in rig.heft.message and "'Path' is left out" in rig.heft.message


def test_the_command_line_bakes_characters_that_meet(empty, tmp_path):
    from heft.addon import cli

    _rig, other = two(empty)
    bpy.ops.heft.simulate()
    shown = rigs.poses(other, rigs.FRAMES)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert cli.run(["bake", "--output", str(tmp_path / "out.blend")]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out.blend"))
    for name in ("Rig", "Other"):
        assert "baked" in bpy.data.objects[name].animation_data.action.name
    offset, angle = rigs.deviation(shown, rigs.poses(bpy.data.objects["Other"], rigs.FRAMES), 1.5)
    assert offset < 1e-4 and angle < 0.02
