"""Throw a Ball: the closed form by itself, and balls that really hit."""

from __future__ import annotations

import math
import re

import bpy
import numpy as np
import pytest

import figure
import mixamo_like
import rigs
import state
from heft.addon.errors import RigError
from heft.addon.simulate import session
from heft.addon.tools import first_hit, throw_ball, throw_path
from heft.engine.geometry.shapes import Sphere

GRAVITY = np.array([0.3, -0.2, -9.81])
FIRST, LAST = 1, 60


# --- the closed form --------------------------------------------------------------------


@pytest.mark.parametrize("fps", [24.0, 30.0, 120.0])
def test_it_is_where_it_shall_be_when_it_shall_be(fps):
    """Beside small steps of the equation of motion."""
    target, heading = np.array([1.0, 2.0, 1.4]), np.array([0.6, -0.8, 0.0])
    throw = throw_path.aim(target, heading, 8.0, GRAVITY, (10, 30), fps)
    place, velocity, steps = throw.place.copy(), throw.velocity.copy(), 20000
    step = 20 / fps / steps
    for _ in range(steps):  # leapfrog, exact for a constant pull
        place += velocity * step + 0.5 * GRAVITY * step**2
        velocity += GRAVITY * step
    np.testing.assert_allclose(place, target, atol=1e-9)
    np.testing.assert_allclose(throw.place_at(30), target, atol=1e-12)
    np.testing.assert_allclose(throw.velocity_at(30), velocity, atol=1e-9)
    # Without a wind of gravity's along the ground, the speed along the way is the one asked for.
    level = throw_path.aim(target, heading, 8.0, (0, 0, -9.81), (10, 30), fps)
    assert level.velocity @ heading == pytest.approx(8.0)
    assert level.place[2] == pytest.approx(target[2])


def test_lifted_it_arrives_all_the_same():
    throw = throw_path.aim(np.array([0.0, 0.0, 0.1]), np.array([1.0, 0.0, 0.0]), 5.0, GRAVITY, (3, 13), 24.0)
    higher = throw_path.lifted(throw, 0.5)
    assert higher.place[2] == pytest.approx(0.5)
    np.testing.assert_allclose(higher.place_at(13), [0.0, 0.0, 0.1], atol=1e-12)
    assert throw_path.lifted(throw, -1.0) is throw


@pytest.mark.parametrize(
    ("wanted", "frames"),
    [
        (30, (21, 30)),  # 3 m at 8 m/s are 9 frames
        (1, (2, 11)),  # as soon as it can be there
        (500, (51, 60)),  # not after the shot
    ],
)
def test_a_flight_keeps_within_the_shot(wanted, frames):
    assert throw_path.flight(wanted, 3.0, 8.0, 24.0, FIRST, LAST) == frames


def test_a_short_shot_has_a_short_flight_or_none():
    assert throw_path.flight(1, 3.0, 8.0, 24.0, 1, 5) == (2, 5)
    with pytest.raises(RigError, match="The shot has 3 frames, from 4 to 6"):
        throw_path.flight(5, 3.0, 8.0, 24.0, 4, 6)


@pytest.mark.parametrize("angle", [-2.5, -0.4, 0.0, 1.0, 3.0])
def test_angles_and_headings_answer_one_another(angle):
    front = np.array([math.cos(0.7), math.sin(0.7), 0.0])
    heading = throw_path.heading_from(front, angle)
    assert throw_path.angle_of(front, -heading) == pytest.approx(angle)
    assert throw_path.angle_of(front, (0.0, 0.0, 1.0)) is None


# --- what it touches first ------------------------------------------------------------


@pytest.mark.parametrize(("side", "touched"), [(0.0, ("near", 13.5)), (0.35, ("far", 15.5)), (2.0, None)])
def test_the_first_touch_is_found_between_frames(side, touched):
    """Two balls of 0.2 m, one before the other and beside it; the thrown one has 0.1 m and flies 0.1 m a frame."""
    shapes = [[Sphere(0.2, (0.0, 0.0, 0.0))], [Sphere(0.2, (0.0, 0.0, 0.0))], []]
    places = np.tile([[1.65, 0.0, 0.0], [1.85, 0.35, 0.0], [0.5, 0.0, 0.0]], (30, 1, 1))
    film = first_hit.Film(("near", "far", "bare"), shapes, np.arange(30), places, np.tile(np.eye(3), (30, 3, 1, 1)))
    found = first_hit.first_touch(film, lambda frame: np.array([0.1 * frame, side, 0.0]), 0.1, 0.0, 29.0)
    assert found is None if touched is None else (found.body == touched[0] and abs(found.frame - touched[1]) < 1e-3)


# --- in Blender ----------------------------------------------------------------------------


@pytest.fixture
def man(empty):
    """A man who looks along −Y and walks to +X while he turns his chest."""
    empty.frame_start, empty.frame_end = FIRST, LAST
    rig = figure.rig(arms_down=1.2)
    walk(rig)
    bpy.ops.heft.add()
    return rig


def walk(rig, scale: float = 1.0) -> None:
    for frame, x, turn in ((FIRST, 0.0, 0.0), (LAST, 1.5, 0.4)):
        rig.location = (x * scale, 0.0, 0.0)
        rig.keyframe_insert("location", frame=frame)
        bone = rig.pose.bones["chest"]
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = (0.0, turn, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)


def struck(name: str = "Ball") -> int:
    """The last frame on which a ball is on the flight that gravity alone would give it; 0: to the end."""
    ob = bpy.data.objects[name]
    frames = range(FIRST, LAST + 1)
    shown = rigs.places(ob, frames)[:, :3, 3]
    steps = np.diff(shown, axis=0)
    start = ob.heft_collider.free_from - FIRST
    # After its release every step differs from the last by the same fall.
    bends = np.diff(steps, axis=0)[start:]
    off = np.linalg.norm(bends - bends[0], axis=1) / np.linalg.norm(steps[start])
    return FIRST + start + 1 + int(np.argmax(off > 0.05)) if (off > 0.05).any() else 0


def bent(rig, source: np.ndarray, bone: str) -> np.ndarray:
    """(frames,) by how many metres a bone's head is off its source."""
    k = [b.name for b in rig.pose.bones].index(bone)
    result = rigs.poses(rig, range(FIRST, LAST + 1))
    return np.linalg.norm((result - source)[:, k, :3, 3], axis=1)


@pytest.mark.parametrize("ground", [False, True])
@pytest.mark.parametrize("angle", [0.0, math.pi / 2, math.pi, -1.0])
def test_the_ball_hits_the_moving_chest_on_its_frame(man, angle, ground):
    source = rigs.poses(man, range(FIRST, LAST + 1))
    bpy.ops.heft.throw(frame=30, angle=angle, ground=ground)
    assert man.heft.ground == ground
    low = rigs.places(bpy.data.objects["Ball"], [LAST])[0, 2, 3]
    # It is on the floor, which is where the soles are, or bounces there, or has fallen through.
    assert -0.02 < low - 0.12 - man.heft.ground_height < 0.5 if ground else low < -1.0
    # A round chest is met a little later than a wall would be; from the side an arm is before it.
    assert abs(struck() - 30) <= (2 if abs(angle) in (1.0, math.pi / 2) else 1)
    off = bent(man, source, "neck")
    assert off[: 30 - FIRST - 2].max() < 1e-4, "before it nothing changes"
    assert off[30 - FIRST : 45].max() > 0.01, "then it does"
    assert man.heft.shown == "RESULT"


def test_the_keys_are_the_flight(man):
    """The curves Blender plays, beside the closed form on every frame."""
    thrown = throw_ball.throw(man, bpy.context.scene, throw_ball.Order(0.0, "", 30, 8.0, 3.0, 0.12, 3.0))
    throw = thrown.throw
    assert (thrown.bone, throw.hit) == ("chest", 30)
    frames = range(throw.release - 1, 2 * throw.hit - throw.release + 1)
    expected = np.array([throw.place_at(frame) for frame in frames])
    np.testing.assert_allclose(rigs.places(thrown.ob, frames)[:, :3, 3], expected, atol=2e-5)
    # It stands in front of the man, and has touched the front of his chest a little before.
    chest = rigs.poses(man, [30])[0][[b.name for b in man.pose.bones].index("chest")]
    assert throw.place[1] < -2.0 and -0.4 < throw.place_at(30 - throw_ball.LEAD)[1] < -0.12
    assert abs(throw.place_at(30)[0] - (man.matrix_world.translation.x + chest[0, 3])) < 0.3


@pytest.mark.parametrize(("scale", "size"), [(0.01, 1.0), (1.0, 0.01), (100.0, 1.0)])
def test_any_scale_of_rig(empty, scale, size):
    """Bones drawn small or large, or an object scaled: the same ball for the same man."""
    empty.frame_start, empty.frame_end = FIRST, LAST
    rig = figure.rig(arms_down=1.2, scale=scale)
    rig.scale = (size,) * 3
    walk(rig, scale * size)
    bpy.ops.heft.add()
    unit = 1.0 / (scale * size)
    assert rig.heft.meters_per_unit == pytest.approx(unit, rel=0.05)
    rig.heft.meters_per_unit = unit
    bpy.ops.heft.throw(frame=30)
    assert abs(struck() - 30) <= 1
    assert bpy.data.objects["Ball"].dimensions.x == pytest.approx(0.24 * scale * size, rel=0.01)


def test_no_ground_where_the_animator_said_so(man):
    man.heft.ground = False
    bpy.ops.heft.throw(frame=30)
    assert not man.heft.ground


def test_a_bone_of_choice_is_hit(man):
    # with an Assisted root the whole body gives, and so does the other leg
    man.heft.root, man.heft.settle_time, man.heft.recovery_time = "ANIMATED", 0.2, 0.0
    source = rigs.poses(man, range(FIRST, LAST + 1))
    bpy.ops.heft.throw(frame=20, bone="shin.L")
    assert abs(struck() - 20) <= 1
    assert bent(man, source, "foot.L").max() > max(0.02, 3.0 * bent(man, source, "foot.R").max())


def test_a_mirrored_man_is_hit_from_the_side_asked_for(empty):
    empty.frame_start, empty.frame_end = FIRST, LAST
    rig = figure.rig(arms_down=1.2)
    rig.scale = (-1.0, 1.0, 1.0)
    walk(rig)
    bpy.ops.heft.add()
    bpy.ops.heft.throw(frame=30)
    assert abs(struck() - 30) <= 1
    assert rigs.places(bpy.data.objects["Ball"], [1])[0, 1, 3] < -2.0


def test_bones_that_cannot_be_hit_are_named(man):
    before = state.snapshot(man)
    for bone in man.pose.bones:
        bone.heft.shape = "NONE"
    with pytest.raises(RuntimeError, match="has a shape for a ball to hit"):
        bpy.ops.heft.throw()
    with pytest.raises(RuntimeError, match="'nobody' is no simulated bone"):
        bpy.ops.heft.throw(bone="nobody")
    assert state.difference(before, state.snapshot(man)) == []


def test_a_throw_that_cannot_be_simulated_leaves_no_ball(man, monkeypatch):
    def fails(*_):
        raise RigError("no")

    before = state.snapshot(man)
    monkeypatch.setattr(session, "simulate", fails)
    with pytest.raises(RuntimeError, match="no"):
        bpy.ops.heft.throw()
    assert state.difference(before, state.snapshot(man)) == []
    assert not bpy.data.collections and man.heft.colliders is None
    assert not man.heft.is_property_set("ground") and not man.heft.ground


def test_colliders_that_cannot_be_edited_leave_no_ball(man, tmp_path):
    group = bpy.data.collections.new("Props")
    path = str(tmp_path / "props.blend")
    bpy.data.libraries.write(path, {group})
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.collections = ["Props"]
    man.heft.colliders = here.collections[0]
    before = state.snapshot(man)
    with pytest.raises(RuntimeError, match="'Props' is linked"):
        bpy.ops.heft.throw()
    assert state.difference(before, state.snapshot(man)) == []
    assert not man.heft.is_property_set("ground") and not bpy.data.meshes.get("Ball")


def test_in_a_shot_that_another_leads_its_range_gravity_and_ground_hold(man):
    lead = rigs.post(3, "A lead", at=(0.0, 4.0, 0.0))
    bpy.ops.heft.add()
    rigs.collide(lead, man)
    lead.heft.range, lead.heft.frame_start, lead.heft.frame_end = "CUSTOM", FIRST + 10, LAST
    lead.heft.gravity = (0.0, 0.0, -2.0)
    lead.heft.ground, lead.heft.ground_height = True, 1.2
    bpy.context.view_layer.objects.active = man
    bpy.ops.heft.throw(frame=FIRST, bone="chest", radius=0.1)
    ball = bpy.data.objects["Ball"]
    assert ball.heft_collider.free_from == FIRST + 11
    bpy.ops.heft.show(which="SOURCE")
    way = rigs.places(ball, range(FIRST + 11, FIRST + 16))[:, 2, 3]
    fps = bpy.context.scene.render.fps
    assert way[0] >= 1.3 - 1e-5
    assert np.diff(way, n=2) * fps**2 == pytest.approx(-2.0, abs=0.02)


def test_one_undo_takes_the_ball_and_its_result_back(man):
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.heft.throw(frame=30)
    bpy.ops.ed.undo_push(message="thrown")
    assert "Ball" in bpy.data.objects
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Man"]
    assert "Ball" not in bpy.data.objects and rig.heft_result is None and rig.heft.enabled


def test_balls_add_up_and_go_with_the_physics(man):
    meshes, actions = set(bpy.data.meshes), set(bpy.data.actions)
    bpy.ops.heft.throw(frame=20)
    bpy.ops.heft.throw(frame=35, angle=math.pi)
    assert [abs(struck(name) - frame) <= 1 for name, frame in (("Ball", 20), ("Ball.001", 35))] == [True, True]
    bpy.ops.heft.remove()
    assert {ob.name for ob in bpy.context.scene.objects} == {"Man"}
    assert (set(bpy.data.meshes), set(bpy.data.actions)) == (meshes, actions)
    assert not bpy.data.collections


def test_a_ball_that_is_the_animators_stays(man):
    """Changed, used elsewhere, or baked."""
    for frame in (15, 20, 25, 30, 35):
        bpy.ops.heft.throw(frame=frame)
    first, second, third, fourth, _ = (bpy.data.objects[f"Ball{end}"] for end in ("", ".001", ".002", ".003", ".004"))
    rigs.actions_of(first).fcurves[0].keyframe_points[0].co[1] += 1.0
    second.data.vertices[0].co.x += 0.01
    third.data.use_fake_user = True
    group = bpy.data.collections.new("Props")
    bpy.context.scene.collection.children.link(group)
    group.objects.link(fourth)
    bpy.ops.heft.remove()
    names = {ob.name for ob in bpy.context.scene.objects}
    assert names == {"Man", "Ball", "Ball.001", "Ball.002", "Ball.003"}
    assert all(bpy.data.objects[name].animation_data.action is not None for name in names - {"Man"})


def test_a_baked_ball_stays(man):
    bpy.ops.heft.throw(frame=20)
    bpy.ops.heft.bake()
    bpy.ops.heft.remove()
    assert "baked" in bpy.data.objects["Ball"].animation_data.action.name


@pytest.mark.parametrize("scale", mixamo_like.SCALES)
def test_it_hits_who_was_imported_at_any_object_scale(empty, tmp_path, capfd, scale):
    """Bones there are drawn 20 m long, or a centimetre."""
    rig = mixamo_like.open_imported(scale, tmp_path)
    bpy.context.scene.frame_end = 45
    frames = range(1, 46)
    source = rigs.poses(rig, frames)
    bpy.ops.heft.add()
    bpy.ops.heft.throw(frame=30)
    said = re.search(r"'Ball' hits '(.*)' on frame (\d+)", capfd.readouterr().out)
    assert said is not None and (said[1], int(said[2])) == ("mixamorig:Spine2", 30)
    bone = [each.name for each in rig.pose.bones].index(said[1])
    turned = np.degrees(rigs.angles(source[:, bone, :3, :3], rigs.poses(rig, frames)[:, bone, :3, :3]))
    assert turned[: 30 - 1].max() < 0.02 and turned[30 - 1 :].max() > 1.0


def test_a_ball_that_will_not_hit_is_not_thrown(man, monkeypatch):
    """Its check looks along the flight of another ball, which goes far beside."""
    before, kept = state.snapshot(man), first_hit.first_touch

    def beside(film, place_at, *others):
        return kept(film, lambda frame: np.add(place_at(frame), (2.0, 0.0, 0.0)), *others)

    monkeypatch.setattr(first_hit, "first_touch", beside)
    with pytest.raises(RuntimeError, match="would fly past 'chest' of 'Man': it was not thrown"):
        bpy.ops.heft.throw(frame=30, bone="chest")
    assert state.difference(before, state.snapshot(man)) == [] and "Ball" not in bpy.data.objects


def test_the_bone_in_the_way_is_the_one_that_is_named(man, capfd):
    """Both arms stretched out to the front: a ball for the head from the side of the hand meets the hand."""
    thrown = throw_ball.throw(man, bpy.context.scene, throw_ball.Order(math.pi / 2, "chest", 30, 8.0, 3.0, 0.12, 3.0))
    assert thrown.bone == "upper_arm.L" and abs(thrown.frame - 30) <= 2
    throw_ball.take_back(thrown)


def test_what_does_not_give_is_told_so_and_not_that_nothing_disturbs(man, capfd):
    man.heft.root = "ANIMATED"
    for bone in man.pose.bones:
        bone.heft.behaviour = "ANIMATED"
    bpy.ops.heft.throw(frame=30)
    out = capfd.readouterr().out
    assert "which does not give" in out and "Nothing disturbs" not in out
