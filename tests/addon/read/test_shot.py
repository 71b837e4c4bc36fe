"""A character that touches itself, and several that meet."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
from heft.addon.read import read_scene, shot
from heft.addon.simulate import session
from heft.engine.math import rotations


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


@pytest.mark.parametrize("roots", [1, 4])
def test_shapes_that_overlap_at_rest_never_touch(empty, roots):
    """Four bones in a bundle, of one root or each its own: touching themselves must not blow them apart."""
    empty.frame_end = rigs.FRAMES[-1]
    rig = rigs.post(1)
    bpy.ops.object.mode_set(mode="EDIT")
    for i in range(3):
        bone = rig.data.edit_bones.new(f"side.{i}")
        bone.head, bone.tail = (0.02 * i, 0.03, 0.1), (0.02 * i, 0.03, 0.45)
        bone.parent = rig.data.edit_bones[0] if roots == 1 else None
    bpy.ops.object.mode_set(mode="OBJECT")
    source = rigs.poses(rig, rigs.FRAMES)
    bpy.ops.heft.add()
    rig.heft.touch_self = True
    bpy.ops.heft.simulate()
    never = read_scene.overlapping(session.last_shown(rig).reading)
    assert never >= {(1, 2), (2, 3)}
    assert roots == 1 or {(0, 1), (0, 2)} <= never, "bodies of other trees, too"
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
    assert shot.leader(other) == shot.leader(rig) == rig
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
    bpy.context.view_layer.objects.active = other
    bpy.ops.heft.simulate()
    assert rig.heft_result is not None and not other.heft.undisturbed, "from either side it is one shot"
    assert session.is_current(rig, empty) and session.is_current(other, empty)
    rig.heft.colliders.objects.unlink(other)
    assert not session.is_current(rig, empty) and not session.is_current(other, empty)
    bpy.ops.heft.simulate()
    assert shot.leader(other) == other and session.is_current(other, empty)
    assert other.heft.undisturbed, "alone, nobody pushes it"


def test_whoever_meets_is_in_one_shot(empty):
    """Ann has Bob among her colliders, Cat too; Dan is met by Bob; Eve by nobody."""
    people = {}
    for i, name in enumerate(("Ann", "Bob", "Cat", "Dan", "Eve")):
        people[name] = rigs.post(2, name, at=(2.0 * i, 0.0, 0.0))
        bpy.ops.heft.add()
    crate, ball = rigs.block("Crate"), rigs.ball()
    for one, *others in (("Ann", people["Bob"], crate), ("Cat", people["Bob"]), ("Bob", people["Dan"], ball)):
        group = bpy.data.collections.new(one)
        people[one].heft.colliders = group
        for ob in others:
            group.objects.link(ob)
    names = [[ob.name for ob in cast] for cast in shot.casts()]
    assert names == [["Ann", "Cat", "Bob", "Dan"], ["Eve"]]
    for name in ("Ann", "Bob", "Cat", "Dan"):
        group = shot.of(people[name])
        assert group.leader.name == "Ann" and set(group.objects) == {crate, ball}
    people["Eve"].heft.colliders = bpy.data.collections.new("Eve")
    people["Eve"].heft.colliders.objects.link(ball)
    assert shot.leader(people["Eve"]) == people["Eve"], "what nobody moves, each may meet alone"
    ball.heft_collider.moves = "FREE"
    assert len(shot.casts()) == 1, "a free ball goes one way, so all who meet it are together"
    people["Eve"].heft.colliders = None
    people["Bob"].heft.colliders.objects.link(people["Ann"])
    assert {shot.leader(ob).name for ob in people.values()} == {"Cat", "Eve"}, "who is met by nobody leads"


def test_the_shot_stands_on_whosever_ground(empty):
    rig, other = two(empty)
    ball = rigs.ball(radius=0.1, location=(3.0, 0.0, 0.5))
    rigs.collide(rig, ball)
    ball.heft_collider.moves = "FREE"
    other.heft.ground, other.heft.ground_height = True, 0.2
    bpy.ops.heft.simulate()
    assert rigs.places(ball, (40,))[0, 2, 3] == pytest.approx(0.3, abs=2e-3)
    rig.heft.ground = True
    bpy.ops.heft.simulate()
    assert rigs.places(ball, (40,))[0, 2, 3] == pytest.approx(0.1, abs=2e-3), "the one that leads comes first"


@pytest.mark.parametrize("target", ["ACTION", "NLA"])
@pytest.mark.parametrize("first", [0, 1])
def test_baking_one_leaves_the_others_result_current(empty, target, first):
    pair = two(empty)
    one, other = pair[first], pair[1 - first]
    ball = rigs.ball(radius=0.1, location=(3.0, 0.0, 0.5))
    rigs.collide(pair[0], ball)
    ball.heft_collider.moves = "FREE"
    bpy.ops.heft.simulate()
    shown = rigs.poses(other, rigs.FRAMES)
    one.heft.live = other.heft.live = True
    bpy.context.view_layer.objects.active = one
    bpy.ops.heft.bake(target=target)
    assert session.is_current(other, empty) and not other.heft.live
    np.testing.assert_array_equal(rigs.poses(other, rigs.FRAMES), shown)
    other.heft.settle_time = 0.35
    assert not session.is_current(other, empty), "what matters still counts"
    other.heft.settle_time = 0.2
    bpy.context.view_layer.objects.active = other
    bpy.ops.heft.bake(target=target)
    offset, angle = rigs.deviation(shown, rigs.poses(other, rigs.FRAMES), rigs.height(other))
    assert offset < 1e-4 and angle < 0.02
    bpy.ops.heft.simulate()
    assert session.is_current(one, empty) and session.is_current(other, empty) and not other.heft.baked


def test_baking_what_is_out_of_date_makes_nothing_current(empty):
    rig, other = two(empty)
    bpy.ops.heft.simulate()
    rig.heft.settle_time = 0.35
    bpy.ops.heft.bake()
    assert not session.is_current(other, empty)


def test_what_cannot_take_part_is_named(rig):
    plain = rigs.post(2, "Plain")
    bpy.context.view_layer.objects.active = rig
    curve = bpy.data.objects.new("Path", bpy.data.curves.new("Path", "CURVE"))
    rigs.collide(rig, plain, curve)
    bpy.ops.heft.simulate()
    assert "'Plain' is left out" in rig.heft.message and "'Path' is left out" in rig.heft.message


def test_the_command_line_bakes_characters_that_meet(empty, tmp_path):
    from heft.addon.batch import command_line

    _rig, other = two(empty)
    bpy.ops.heft.simulate()
    shown = rigs.poses(other, rigs.FRAMES)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert command_line.run(["bake", "--output", str(tmp_path / "out.blend")]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out.blend"))
    for name in ("Rig", "Other"):
        assert "baked" in bpy.data.objects[name].animation_data.action.name
    offset, angle = rigs.deviation(shown, rigs.poses(bpy.data.objects["Other"], rigs.FRAMES), 1.5)
    assert offset < 1e-4 and angle < 0.02


def test_each_keeps_its_own_settings_and_is_told_what_the_leader_decides(empty):
    rig, other = two(empty)
    other.heft.settle_time, other.heft.heaviness = 0.6, 0.4
    bpy.ops.heft.simulate()
    assert rig.heft.message == other.heft.message == ""
    result = {each.name: session.last_shown(each).result.motion.rotations for each in (rig, other)}
    other.heft.gravity, other.heft.steps_per_second = (0.0, 0.0, -1.6), 60
    other.heft.range, other.heft.frame_end, other.heft.pre_roll = "CUSTOM", 12, 4
    bpy.ops.heft.simulate()
    for each in (rig, other):
        assert np.array_equal(session.last_shown(each).result.motion.rotations, result[each.name])
    assert rig.heft.message == ""
    for word in ("gravity", "range", "pre-roll", "steps per second", "'Rig'", "'Other'"):
        assert word in other.heft.message
    assert (other.heft.result_start, other.heft.result_end) == (1, 40)
    rig.heft.settle_time = 0.6
    bpy.ops.heft.simulate()
    assert not np.array_equal(session.last_shown(rig).result.motion.rotations, result["Rig"])
