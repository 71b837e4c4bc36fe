"""What a character meets: ground, moving and free objects."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
from heft.addon.blender import actions
from heft.addon.read import collision_shapes
from heft.addon.simulate import session
from heft.engine.geometry import shapes as engine_shapes
from heft.engine.math import rotations

MOCAP = sorted((rigs.DATA / "mocap").glob("*02_01*.bvh"))


def test_standing_and_walking_on_the_ground_is_the_source(empty):
    """Ground, colliders far away and a shape on every bone: what touches nothing hard is left alone."""
    rig = rigs.chain(5)
    rigs.wave(rig)
    source = rigs.poses(rig, rigs.FRAMES)
    bpy.ops.heft.add()
    rig.heft.ground = True
    rig.heft.ground_height = -5.0
    rigs.collide(rig, rigs.ball(location=(0.0, 0.0, 30.0)), rigs.block(location=(40.0, 0.0, 0.0)))
    bpy.ops.heft.simulate()
    assert any(len(shapes) for shapes in session.last_shown(rig).reading.model.shapes)
    offset, angle = rigs.deviation(source, rigs.poses(rig, rigs.FRAMES), rigs.height(rig))
    assert offset < 1e-4 and angle < 0.02
    assert rig.heft.undisturbed


@pytest.mark.skipif(not MOCAP, reason=f"no motion capture in {rigs.DATA / 'mocap'}")
def test_a_walk_on_fitted_ground_is_the_source(empty):
    """Feet on the ground on every step, bones of a real capture: still the same motion."""
    bpy.ops.import_anim.bvh(filepath=str(MOCAP[0]), update_scene_fps=True, update_scene_duration=True)
    rig = bpy.context.object
    empty.frame_start, empty.frame_end = 1, 120
    source = rigs.poses(rig, range(1, 121))
    bpy.ops.heft.add()
    bpy.ops.heft.set_size()
    bpy.ops.heft.fit_ground()
    assert rig.heft.ground
    bpy.ops.heft.simulate()
    offset, angle = rigs.deviation(source, rigs.poses(rig, range(1, 121)), rigs.height(rig))
    assert offset < 1e-4 and angle < 0.02


def test_fitted_ground_lies_under_the_lowest_shape(rig):
    rig.location.z = 3.0
    rig.pose.bones[0].heft.shape = "BOX"
    bpy.context.view_layer.update()
    bpy.ops.heft.fit_ground()
    assert rig.heft.ground and rig.heft.ground_height == pytest.approx(3.0, abs=1e-4)


def test_without_anything_to_touch_bones_have_no_shapes(rig):
    bpy.ops.heft.simulate()
    assert not any(session.last_shown(rig).reading.model.shapes)


def test_an_animated_ball_pushes_the_arm_and_it_recovers(rig):
    ball = rigs.passing_ball(rig)
    flight = rigs.places(ball, rigs.FRAMES)
    bpy.ops.heft.simulate()
    lean = rigs.bend(rig)
    assert lean[:10].max() < 0.02, "before the hit the pose is the source"
    assert lean.max() > 10.0
    assert lean[-1] < 0.1 * lean.max()
    np.testing.assert_allclose(rigs.places(ball, rigs.FRAMES), flight, atol=1e-6)
    assert ball.heft_result is None and not len(ball.constraints)


def test_a_near_miss_changes_nothing(rig):
    ball = rigs.passing_ball(rig)
    ball.delta_location = (0.0, 0.0, 0.5)
    bpy.ops.heft.simulate()
    assert rigs.bend(rig).max() < 0.02


def test_braced_joints_hold_what_others_yield_to(rig):
    """A block pressed slowly against the post: the one whose joints brace leans less."""
    block = rigs.ball("Block", 0.2)
    rigs.throw(block, (-0.6, 0.0, 1.3), (-0.22, 0.0, 1.3), 1, 30)
    rigs.collide(rig, block)
    block.heft_collider.moves, block.heft_collider.free_from, block.heft_collider.mass = "FREE", 6, 2.0
    rig.heft.gravity = (4.0, 0.0, 0.0)
    leans = {}
    for response in ("GIVES_WAY", "BRACES"):
        block.heft_collider.response = response
        bpy.ops.heft.simulate()
        leans[response] = rigs.bend(rig)[-1]
    assert leans["GIVES_WAY"] > 0.5
    assert leans["BRACES"] < 0.5 * leans["GIVES_WAY"]


def test_scale_mirror_and_units_reach_the_shape(empty):
    """A ball of radius 1 scaled to 0.1 units, in a scene whose unit is 2 m, seen from a mirrored rig."""
    empty.frame_end = rigs.FRAMES[-1]
    rig = rigs.post(3)
    rig.scale = (-1.0, 1.0, 1.0)
    bpy.ops.heft.add()
    rig.heft.total_mass, rig.heft.meters_per_unit = 3.0, 2.0
    ball = rigs.passing_ball(rig)
    ball.data = rigs.ball("Unit", 1.0).data
    ball.scale = (0.1, -0.1, 0.1)
    bpy.ops.heft.simulate()
    shown = session.last_shown(rig)
    shape = collision_shapes.object_shape(ball, empty, 1, shown.tracks[0].stretch)
    assert isinstance(shape, engine_shapes.Sphere)
    assert shape.radius == pytest.approx(0.2, rel=1e-3)
    assert rigs.bend(rig).max() > 5.0
    tips = rigs.poses(rig, rigs.FRAMES)[:, -1]
    world = np.array([np.array(rig.matrix_world) @ pose for pose in tips])
    assert world[:, 0, 1].max() > 0.1 > -world[:, 0, 1].min(), "it leans the way the ball flies"


@pytest.mark.parametrize("kind", ["AUTO", "HULL", "MESH"])
def test_a_box_scaled_unevenly_holds_a_ball_where_it_seems_to(rig, kind):
    """Long, flat and turned: the ball rests on its end, and falls past where it would be without its scale."""
    stand = rigs.block("Stand", 1.0, (3.0, 0.0, 0.0))
    stand.scale, stand.rotation_euler = (2.0, 0.6, 0.4), (0.0, 0.0, 0.7)
    stand.heft_collider.shape = kind
    along = np.array([np.cos(0.7), np.sin(0.7), 0.0])
    across = np.array([-np.sin(0.7), np.cos(0.7), 0.0])
    above = np.array([3.0, 0.0, 0.35])
    on, off = rigs.ball("On", 0.1, above + 0.85 * along), rigs.ball("Off", 0.1, above + 0.45 * across)
    rigs.collide(rig, stand, on, off)
    on.heft_collider.moves = off.heft_collider.moves = "FREE"
    bpy.ops.heft.simulate()
    assert rigs.places(on, (40,))[0, 2, 3] == pytest.approx(0.3, abs=0.01)
    assert rigs.places(off, (40,))[0, 2, 3] < -1.0
    np.testing.assert_allclose(rigs.places(stand, (40,))[0, :3, :3], np.array(stand.matrix_world)[:3, :3], atol=1e-6)


def test_a_collider_that_changes_its_size_is_refused_by_name(rig):
    ball = rigs.passing_ball(rig)
    for frame, size in ((1, 1.0), (12, 1.0), (20, 1.5)):
        ball.scale = (size, size, 1.0 / size)
        ball.keyframe_insert("scale", frame=frame)
    with pytest.raises(RuntimeError, match="'Ball' changes its size on frame 13: a solid keeps one"):
        bpy.ops.heft.simulate()
    tie = rig.heft.ties.add()
    tie.bone, tie.target = "bone.002", ball
    rig.heft.colliders.objects.unlink(ball)
    assert bpy.ops.heft.simulate() == {"FINISHED"}, "as a place to hold on to it may"


def test_settings_of_objects_are_live(rig):
    ball = rigs.passing_ball(rig)
    rig.heft.live = True
    strong = rigs.bend(rig).max()
    assert strong > 5.0
    ball.heft_collider.shape = "BOX"
    ball.heft_collider.shape = "AUTO"
    assert rigs.bend(rig).max() == pytest.approx(strong, abs=1e-4)
    ball.heft_collider.moves = "FREE"
    ball.heft_collider.mass = 0.001
    assert rigs.bend(rig).max() < 0.3 * strong
    assert session.is_current(rig, bpy.context.scene)


def test_out_of_date_after_changes_of_colliders(rig):
    scene = bpy.context.scene
    ball = rigs.passing_ball(rig)
    for change in (
        lambda: setattr(ball.heft_collider, "friction", 0.1),
        lambda: setattr(ball, "scale", (2.0, 2.0, 2.0)),
        lambda: setattr(ball.data.vertices[0], "co", (0.0, 0.0, 0.3)),
        lambda: setattr(actions.active_bag(ball).fcurves[0].keyframe_points[0], "co", (5.0, -2.0)),
        lambda: setattr(rig.heft, "ground", True),
        lambda: setattr(rig.pose.bones[1].heft, "shape", "BOX"),
        lambda: setattr(rig.heft, "colliders", None),
        lambda: rig.heft.pushes.add(),
    ):
        bpy.ops.heft.simulate()
        for frame in (30, 12):
            scene.frame_set(frame)
            assert session.is_current(rig, scene), "the frame alone changes nothing"
        change()
        assert not session.is_current(rig, scene)


def test_dragging_builds_no_shape_twice(rig, monkeypatch):
    bowl_object = rigs.bowl()
    rigs.collide(rig, bowl_object)
    bowl_object.heft_collider.shape = "MESH"
    made = []
    original = engine_shapes.Grid.from_mesh
    monkeypatch.setattr(engine_shapes.Grid, "from_mesh", lambda *args: made.append(1) or original(*args))
    rig.heft.live = True
    rig.heft.settle_time = 0.3
    bowl_object.heft_collider.friction = 0.2
    assert len(made) == 1


def test_a_turning_collider_keeps_its_grid(rig):
    """Its matrix is rounded differently on every frame: the shape must not be another one for that."""
    bowl_object = rigs.bowl()
    bowl_object.scale = (1.3, 1.3, 1.3)
    for frame, angle in ((1, 0.0), (40, 3.0)):
        bowl_object.rotation_euler = (angle, 0.3 * angle, 0.7)
        bowl_object.keyframe_insert("rotation_euler", frame=frame)
    shapes = set()
    for frame in rigs.FRAMES:
        matrix = rigs.places(bowl_object, (frame,))[0]
        stretch = rotations.stretch(matrix[:3, :3])[1]
        shapes.add(collision_shapes.object_shape(bowl_object, bpy.context.scene, 1, stretch))
    assert len(shapes) <= 2


def test_a_free_ball_flies_on_with_the_speed_of_its_keys(rig):
    ball = rigs.ball(radius=0.1)
    rigs.throw(ball, (2.0, 0.0, 2.0), (2.0, 0.9, 2.0), 1, 10)
    rigs.collide(rig, ball)
    ball.heft_collider.moves, ball.heft_collider.free_from = "FREE", 10
    keyed = rigs.places(ball, range(1, 11))
    bpy.ops.heft.simulate()
    now = rigs.places(ball, rigs.FRAMES)
    np.testing.assert_allclose(now[:10], keyed, atol=1e-6)
    t = (np.arange(11, 41) - 10) / bpy.context.scene.render.fps
    np.testing.assert_allclose(now[10:, 1, 3], 0.9 + 2.4 * t, atol=1e-3)
    np.testing.assert_allclose(now[10:, 2, 3], 2.0 - 0.5 * 9.81 * t**2, atol=0.05)


def test_a_ball_falls_on_the_ground_and_lies_there(rig):
    ball = rigs.ball(radius=0.1, location=(2.0, 0.0, 0.5))
    rigs.collide(rig, ball)
    ball.heft_collider.moves = "FREE"
    rig.heft.ground = True
    bpy.ops.heft.simulate()
    assert rigs.places(ball, (40,))[0, 2, 3] == pytest.approx(0.1, abs=2e-3)
