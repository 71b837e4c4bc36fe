"""Characters that meet things: ground, colliders, loads, ties, pushes, limits, one another."""

from __future__ import annotations

import math

import bmesh
import bpy
import numpy as np
import pytest

import rigs
from heft.addon import actions, rotations, session, shot, skin, solids, wires
from heft.engine import moments
from heft.engine import shapes as engine_shapes

FRAMES = range(1, 41)
SKINS = [rigs.DATA / "rigs" / name for name in ("CesiumMan.glb", "RiggedFigure.glb", "gdquest_bee_bot.glb")]
MOCAP = sorted((rigs.DATA / "mocap").glob("*02_01*.bvh"))


@pytest.fixture
def rig(empty):
    """A post of three bones that stands still, light enough to be knocked about."""
    empty.frame_end = FRAMES[-1]
    rig = rigs.post(3)
    bpy.ops.heft.add()
    rig.heft.total_mass = 3.0
    return rig


def bend(rig, frames=FRAMES) -> np.ndarray:
    """(frames,) degrees by which the last bone leans from upright."""
    axis = rigs.poses(rig, frames)[:, -1, :3, 1]
    return np.degrees(np.arccos(np.clip(axis[:, 2], -1.0, 1.0)))


def passing_ball(rig, moves: str = "ANIMATED") -> bpy.types.Object:
    """A ball that flies through the top of the post between frames 10 and 20."""
    ball = rigs.ball(radius=0.1)
    rigs.throw(ball, (-1.2, 0.0, 1.3), (1.2, 0.0, 1.3), 5, 25)
    rigs.collide(rig, ball)
    ball.heft_collider.moves = moves
    return ball


# --- undisturbed -------------------------------------------------------------------


def test_standing_and_walking_on_the_ground_is_the_source(empty):
    """Ground, colliders far away and a shape on every bone: what touches nothing hard is left alone."""
    rig = rigs.chain(5)
    rigs.wave(rig)
    source = rigs.poses(rig, FRAMES)
    bpy.ops.heft.add()
    rig.heft.ground = True
    rig.heft.ground_height = -5.0
    rigs.collide(rig, rigs.ball(location=(0.0, 0.0, 30.0)), rigs.block(location=(40.0, 0.0, 0.0)))
    bpy.ops.heft.simulate()
    assert any(len(shapes) for shapes in session.last_shown(rig).reading.model.shapes)
    offset, angle = rigs.deviation(source, rigs.poses(rig, FRAMES), rigs.height(rig))
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


# --- colliders ---------------------------------------------------------------------


def test_an_animated_ball_pushes_the_arm_and_it_recovers(rig):
    ball = passing_ball(rig)
    flight = rigs.places(ball, FRAMES)
    bpy.ops.heft.simulate()
    lean = bend(rig)
    assert lean[:10].max() < 0.02, "before the hit the pose is the source"
    assert lean.max() > 10.0
    assert lean[-1] < 0.1 * lean.max()
    np.testing.assert_allclose(rigs.places(ball, FRAMES), flight, atol=1e-6)
    assert ball.heft_result is None and not len(ball.constraints)


def test_a_near_miss_changes_nothing(rig):
    ball = passing_ball(rig)
    ball.delta_location = (0.0, 0.0, 0.5)
    bpy.ops.heft.simulate()
    assert bend(rig).max() < 0.02


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
        leans[response] = bend(rig)[-1]
    assert leans["GIVES_WAY"] > 0.5
    assert leans["BRACES"] < 0.5 * leans["GIVES_WAY"]


def test_scale_mirror_and_units_reach_the_shape(empty):
    """A ball of radius 1 scaled to 0.1 units, in a scene whose unit is 2 m, seen from a mirrored rig."""
    empty.frame_end = FRAMES[-1]
    rig = rigs.post(3)
    rig.scale = (-1.0, 1.0, 1.0)
    bpy.ops.heft.add()
    rig.heft.total_mass, rig.heft.meters_per_unit = 3.0, 2.0
    ball = passing_ball(rig)
    ball.data = rigs.ball("Unit", 1.0).data
    ball.scale = (0.1, -0.1, 0.1)
    bpy.ops.heft.simulate()
    shown = session.last_shown(rig)
    shape = solids.object_shape(ball, empty, 1, shown.tracks[0].stretch)
    assert isinstance(shape, engine_shapes.Sphere)
    assert shape.radius == pytest.approx(0.2, rel=1e-3)
    assert bend(rig).max() > 5.0
    tips = rigs.poses(rig, FRAMES)[:, -1]
    world = np.array([np.array(rig.matrix_world) @ pose for pose in tips])
    assert world[:, 0, 1].max() > 0.1 > -world[:, 0, 1].min(), "it leans the way the ball flies"


def test_settings_of_objects_are_live(rig):
    ball = passing_ball(rig)
    rig.heft.live = True
    strong = bend(rig).max()
    assert strong > 5.0
    ball.heft_collider.shape = "BOX"
    ball.heft_collider.shape = "AUTO"
    assert bend(rig).max() == pytest.approx(strong, abs=1e-4)
    ball.heft_collider.moves = "FREE"
    ball.heft_collider.mass = 0.001
    assert bend(rig).max() < 0.3 * strong
    assert session.is_current(rig, bpy.context.scene)


def test_out_of_date_after_changes_of_colliders(rig):
    scene = bpy.context.scene
    ball = passing_ball(rig)
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
    bowl_object = bowl()
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
    bowl_object = bowl()
    bowl_object.scale = (1.3, 1.3, 1.3)
    for frame, angle in ((1, 0.0), (40, 3.0)):
        bowl_object.rotation_euler = (angle, 0.3 * angle, 0.7)
        bowl_object.keyframe_insert("rotation_euler", frame=frame)
    shapes = set()
    for frame in FRAMES:
        matrix = rigs.places(bowl_object, (frame,))[0]
        stretch = rotations.stretch(matrix[:3, :3])[1]
        shapes.add(solids.object_shape(bowl_object, bpy.context.scene, 1, stretch))
    assert len(shapes) <= 2


# --- shapes ------------------------------------------------------------------------


def bowl(radius: float = 0.5, location=(3.0, 0.0, 0.5)) -> bpy.types.Object:
    """Half a hollow ball, open to the top, with a wall that a Solidify modifier makes."""

    def build(form):
        bmesh.ops.create_icosphere(form, subdivisions=3, radius=radius)
        bmesh.ops.delete(form, geom=[v for v in form.verts if v.co.z > 0.01], context="VERTS")

    ob = rigs.mesh_object("Bowl", build, location)
    solid = ob.modifiers.new("Wall", "SOLIDIFY")
    solid.thickness, solid.offset = 0.08, 1.0
    return ob


def test_a_concave_mesh_holds_a_ball(rig):
    """The ball comes to rest inside the bowl, where a convex hull would keep it out."""
    bpy.context.scene.frame_end = 80
    ball = rigs.ball(radius=0.12, location=(3.1, 0.0, 1.0))
    rigs.collide(rig, bowl(), ball)
    ball.heft_collider.moves = "FREE"
    bpy.ops.heft.simulate()
    end = rigs.places(ball, (80,))[0, :3, 3]
    assert math.hypot(end[0] - 3.0, end[1]) < 0.4
    assert 0.0 < end[2] < 0.35, "inside the bowl, whose bottom is at 0 and rim at 0.5"


@pytest.mark.parametrize("kind", ["SPHERE", "CAPSULE", "BOX", "HULL", "MESH"])
def test_every_kind_of_shape_holds_a_ball_up(rig, kind):
    stand = rigs.block("Stand", 1.0, (3.0, 0.0, -0.5))
    ball = rigs.ball(radius=0.1, location=(3.0, 0.0, 0.35 if kind in {"BOX", "HULL", "MESH"} else 0.75))
    stand.heft_collider.shape = kind
    ball.heft_collider.moves = "FREE"
    rigs.collide(rig, stand, ball)
    bpy.ops.heft.simulate()
    top = {"SPHERE": math.sqrt(3.0) / 2 - 0.5, "CAPSULE": None}.get(kind, 0.0)
    height = rigs.places(ball, FRAMES)[:, 2, 3]
    assert height.min() > 0.05, "never below the stand"
    if top is not None:
        assert height[-1] == pytest.approx(top + 0.1, abs=0.02)


def test_auto_finds_the_simplest_shape(empty):
    def kind_of(ob):
        return type(solids.object_shape(ob, empty, 1, np.eye(3))).__name__

    assert kind_of(rigs.ball("a")) == "Sphere"
    assert kind_of(rigs.block("b")) == "Box"
    cone = rigs.mesh_object(
        "c", lambda form: bmesh.ops.create_cone(form, cap_ends=True, segments=12, radius1=1.0, depth=1.0)
    )
    assert kind_of(cone) == "Hull"
    assert kind_of(bowl()) == "Grid"


def skinned(rig, mirror: bool = False) -> bpy.types.Object:
    """A tube of 0.2 across around the post, every ring with the bone beside it."""

    def build(form):
        bmesh.ops.create_cone(form, segments=16, radius1=0.1, radius2=0.1, depth=1.5)
        bmesh.ops.subdivide_edges(form, edges=form.edges, cuts=5, use_grid_fill=True)
        for vertex in form.verts:
            vertex.co.z += 0.75

    ob = rigs.mesh_object("Skin", build)
    if mirror:
        form = bmesh.new()
        form.from_mesh(ob.data)
        bmesh.ops.delete(form, geom=[v for v in form.verts if v.co.x > 1e-4], context="VERTS")
        form.to_mesh(ob.data)
        form.free()
        ob.modifiers.new("Mirror", "MIRROR")
    ob.parent = rig
    ob.modifiers.new("Armature", "ARMATURE").object = rig
    for i, bone in enumerate(rig.pose.bones):
        group = ob.vertex_groups.new(name=bone.name)
        near = [v.index for v in ob.data.vertices if i * 0.5 - 1e-4 <= v.co.z <= (i + 1) * 0.5 + 1e-4]
        group.add(near, 1.0 if i == 1 else 0.9, "REPLACE")
    return ob


@pytest.mark.parametrize("mirror", [False, True])
def test_shapes_are_fitted_to_the_skin(rig, mirror):
    skinned(rig, mirror)
    rig.heft.ground, rig.heft.ground_height = True, -1.0
    bpy.ops.heft.simulate()
    shape = session.last_shown(rig).reading.model.shapes[1][0]
    volume = moments.volume(shape)
    assert isinstance(shape, engine_shapes.Capsule)
    assert math.pi * 0.1**2 * 0.5 * 0.7 < volume < math.pi * 0.1**2 * 0.5 * 1.5
    np.testing.assert_allclose(moments.center_of_mass(shape), (0.0, 0.25, 0.0), atol=0.02)


@pytest.mark.skipif(not SKINS[0].exists(), reason=f"no rigs in {rigs.DATA / 'rigs'}")
@pytest.mark.parametrize("path", SKINS, ids=lambda path: path.stem)
def test_real_skins_get_shapes_close_to_them(empty, path):
    """The shapes at rest fill the skin's box and little more, and a fitted ground disturbs nothing."""
    bpy.ops.import_scene.gltf(filepath=str(path))
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    empty.frame_start, empty.frame_end = 1, 40
    source = rigs.poses(rig, FRAMES)
    bpy.ops.heft.add()
    bpy.ops.heft.fit_ground()
    bpy.ops.heft.simulate()
    offset, angle = rigs.deviation(source, rigs.poses(rig, FRAMES), rigs.height(rig))
    assert offset < 1e-4 and angle < 0.02
    reading = session.last_shown(rig).reading
    places, turns = reading.at_rest()
    corners = []
    for body, shapes in enumerate(reading.model.shapes):
        for shape in shapes:
            corners.append(wires.of_shape(shape) @ rotations.to_matrix(turns[body]).T + places[body])
    there = np.concatenate(corners).reshape(-1, 3) / reading.placement.sizes[0]
    wanted = np.concatenate(list(skin.points(rig, empty).values()))
    size = np.ptp(wanted, axis=0).max()
    assert np.abs(there.min(axis=0) - wanted.min(axis=0)).max() < 0.08 * size
    assert np.abs(there.max(axis=0) - wanted.max(axis=0)).max() < 0.08 * size


def test_a_bone_without_skin_touches_only_if_asked(rig):
    ob = skinned(rig)
    ob.vertex_groups.remove(ob.vertex_groups["bone.000"])
    rig.heft.ground = True
    bpy.ops.heft.simulate()
    assert not session.last_shown(rig).reading.model.shapes[0]
    rig.pose.bones[0].heft.shape = "CAPSULE"
    rig.pose.bones[1].heft.shape = "NONE"
    bpy.ops.heft.simulate()
    shapes = session.last_shown(rig).reading.model.shapes
    assert isinstance(shapes[0][0], engine_shapes.Capsule) and not shapes[1]


def test_weights_are_read_once_while_dragging(rig, monkeypatch):
    skinned(rig)
    rig.heft.ground, rig.heft.ground_height = True, -1.0
    reads = []
    original = skin._read
    monkeypatch.setattr(skin, "_read", lambda *args: reads.append(1) or original(*args))
    rig.heft.live = True
    rig.heft.settle_time = 0.3
    rig.pose.bones[1].heft.shape = "BOX"
    assert len(reads) == 1


# --- loads -------------------------------------------------------------------------


def carried(rig, bone: str = "bone.002") -> bpy.types.Object:
    """A box held beside the top of the post."""
    box = rigs.block("Box", 0.2)
    box.parent, box.parent_type, box.parent_bone = rig, "BONE", bone
    box.location = (0.5, 0.0, 0.0)
    return box


def test_a_parented_object_adds_its_mass_and_shape(rig):
    bpy.ops.heft.simulate()
    bare = session.last_shown(rig).reading.model
    box = carried(rig)
    box.heft_collider.mass = 5.0
    rig.heft.ground, rig.heft.ground_height = True, -1.0
    bpy.ops.heft.simulate()
    model = session.last_shown(rig).reading.model
    assert model.total_mass == pytest.approx(bare.total_mass + 5.0)
    assert model.centers[2, 0] > 0.3, "the centre moves towards the load"
    assert len(model.shapes[2]) == 2
    held = model.shapes[2][1]
    bpy.context.view_layer.update()
    spot = np.linalg.inv(np.array(rig.pose.bones[2].matrix)) @ np.array(box.matrix_world)
    np.testing.assert_allclose(moments.center_of_mass(held), spot[:3, 3], atol=1e-5)
    box.heft_collider.mass = 0.0
    bpy.ops.heft.simulate()
    heavy = session.last_shown(rig).reading.model.total_mass
    assert heavy == pytest.approx(bare.total_mass + 1000.0 * 0.2**3, rel=1e-6), "as heavy as water"


def test_a_load_makes_an_arm_harder_to_push(rig):
    push = rig.heft.pushes.add()
    push.bone, push.direction, push.impulse, push.frame = "bone.002", (0.0, 1.0, 0.0), 3.0, 10
    bpy.ops.heft.simulate()
    light = bend(rig).max()
    carried(rig).heft_collider.mass = 5.0
    bpy.ops.heft.simulate()
    assert bend(rig).max() < 0.6 * light


def test_an_object_that_moves_on_its_bone_is_no_part_of_it(rig):
    box = carried(rig)
    assert [load.ob for load in shot.loads(rig)] == [box]
    box.keyframe_insert("location", frame=3)
    assert shot.loads(rig) == []


# --- free objects --------------------------------------------------------------------


def test_a_free_ball_flies_on_with_the_speed_of_its_keys(rig):
    ball = rigs.ball(radius=0.1)
    rigs.throw(ball, (2.0, 0.0, 2.0), (2.0, 0.9, 2.0), 1, 10)
    rigs.collide(rig, ball)
    ball.heft_collider.moves, ball.heft_collider.free_from = "FREE", 10
    keyed = rigs.places(ball, range(1, 11))
    bpy.ops.heft.simulate()
    now = rigs.places(ball, FRAMES)
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


def test_a_box_let_go_starts_from_the_hand(rig):
    box = carried(rig)
    box.heft_collider.moves, box.heft_collider.free_from = "FREE", 15
    rigs.collide(rig, box)
    before = rigs.places(box, FRAMES)
    bpy.ops.heft.simulate()
    now = rigs.places(box, FRAMES)
    np.testing.assert_allclose(now[:15], before[:15], atol=1e-5)
    assert now[-1, 2, 3] < before[-1, 2, 3] - 1.0
    assert session.last_shown(rig).reading.model.total_mass == pytest.approx(3.0, rel=1e-5)


# --- ties, pushes, limits ----------------------------------------------------------------


def test_a_push_knocks_a_bone_over(rig):
    push = rig.heft.pushes.add()
    push.bone, push.direction, push.impulse, push.frame = "bone.002", (1.0, 0.0, 0.0), 3.0, 10
    bpy.ops.heft.simulate()
    lean = bend(rig)
    assert lean[:10].max() < 0.02 < 3.0 < lean.max()
    tip = rigs.poses(rig, FRAMES)[:, 2, 0, 1]
    assert tip.max() > 0.05 and tip.max() > -tip.min()
    push.frame = 400
    bpy.ops.heft.simulate()
    assert bend(rig).max() < 0.02, "outside the range it never comes"


def test_a_pin_holds_a_bone_while_it_is_keyed_on(rig):
    rig.pose.bones[0].rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (40, 0.6)):
        rig.pose.bones[0].rotation_euler.x = angle
        rig.pose.bones[0].keyframe_insert("rotation_euler", frame=frame)
    for bone, angle in zip(rig.pose.bones[1:], (0.8, -1.4), strict=True):  # bent, so that it can give
        bone.rotation_mode = "XYZ"
        bone.rotation_euler.x = angle
    source = rigs.poses(rig, FRAMES)
    tie = rig.heft.ties.add()
    tie.bone = "bone.002"
    for frame, on in ((1, True), (20, False)):
        tie.on = on
        rig.keyframe_insert("heft.ties[0].on", frame=frame)
    bpy.ops.heft.simulate()

    def tips(poses):
        return poses[:, 2, :3, 3] + 0.5 * poses[:, 2, :3, 1]

    now = rigs.poses(rig, FRAMES)
    held = np.linalg.norm(tips(now) - tips(source)[0], axis=1)
    assert held[:18].max() < 0.01
    assert np.linalg.norm(tips(source)[17] - tips(source)[0]) > 0.1, "the keys go elsewhere"
    assert np.linalg.norm(tips(now)[-1] - tips(source)[-1]) < 0.02, "let go, it comes back to its keys"


def hook_at(*keys) -> bpy.types.Object:
    """An empty keyed from place to place."""
    hook = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(hook)
    rigs.throw(hook, *keys)
    return hook


def tip_of(rig, bone: int) -> np.ndarray:
    now = rigs.poses(rig, FRAMES)
    return now[:, bone, :3, 3] + 0.5 * now[:, bone, :3, 1]


def test_a_pin_to_a_moving_object_takes_the_bone_along(rig):
    hook = hook_at((0.0, 0.0, 1.5), (0.5, 0.0, 1.3), 5, 30)
    tie = rig.heft.ties.add()
    tie.bone, tie.target = "bone.002", hook
    bpy.ops.heft.simulate()
    assert np.linalg.norm(tip_of(rig, 2) - rigs.places(hook, FRAMES)[:, :3, 3], axis=1).max() < 0.02


def test_a_weld_holds_the_rotation_too(empty):
    empty.frame_end = FRAMES[-1]
    rig = rigs.post(5, length=0.5)
    for bone, angle in zip(rig.pose.bones[1:4], (0.7, -1.4, 0.7), strict=True):
        bone.rotation_mode = "XYZ"
        bone.rotation_euler.x = angle
    bpy.ops.heft.add()
    hook = hook_at((0.0, 0.0, 2.0), (0.0, 0.1, 2.0), 5, 30)
    for frame, angle in ((5, 0.0), (30, 0.4)):
        hook.rotation_euler.x = angle
        hook.keyframe_insert("rotation_euler", frame=frame)
    tie = rig.heft.ties.add()
    tie.bone, tie.target = "bone.004", hook
    leans = {}
    for kind in ("PIN", "WELD"):
        tie.kind = kind
        bpy.ops.heft.simulate()
        leans[kind] = bend(rig)[-1]
    assert leans["WELD"] == pytest.approx(math.degrees(0.4), abs=2.0)
    assert abs(leans["PIN"] - math.degrees(0.4)) > 4.0


def test_a_distance_keeps_its_length(rig):
    hook = hook_at((1.0, 0.0, 1.5), (1.4, 0.0, 1.5), 5, 30)
    tie = rig.heft.ties.add()
    tie.bone, tie.target, tie.kind = "bone.002", hook, "DISTANCE"
    bpy.ops.heft.simulate()
    away = np.linalg.norm(tip_of(rig, 2) - rigs.places(hook, FRAMES)[:, :3, 3], axis=1)
    np.testing.assert_allclose(away, 1.0, atol=0.02)
    assert bend(rig)[-1] > 5.0


def test_a_hand_carries_a_ball_and_lets_go(rig):
    ball = rigs.ball(radius=0.1, location=(0.0, 0.3, 1.5))
    ball.heft_collider.moves, ball.heft_collider.mass = "FREE", 0.5
    rigs.collide(rig, ball)
    tie = rig.heft.ties.add()
    tie.bone, tie.target, tie.kind, tie.response = "bone.002", ball, "WELD", "BRACES"
    for frame, on in ((1, True), (20, False)):
        tie.on = on
        rig.keyframe_insert("heft.ties[0].on", frame=frame)
    bpy.ops.heft.simulate()
    height = rigs.places(ball, FRAMES)[:, 2, 3]
    assert height[:18].min() > 1.4 and height[-1] < 0.5


def test_a_tie_between_two_bones_closes_a_loop(rig):
    """The tip pinned to the first bone's head while the keys open the chain."""
    for bone in rig.pose.bones[1:]:
        bone.rotation_mode = "XYZ"
        for frame, angle in ((1, 2.0943951), (30, 1.5)):
            bone.rotation_euler.x = angle
            bone.keyframe_insert("rotation_euler", frame=frame)
    tie = rig.heft.ties.add()
    tie.bone, tie.target, tie.target_bone = "bone.002", rig, "bone.000"
    bpy.ops.heft.simulate()
    tip = tip_of(rig, 2)
    assert np.linalg.norm(tip - tip[0], axis=1).max() < 0.02


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (lambda rig: rig.heft.pushes.add(), "Push 1 names no bone"),
        (lambda rig: setattr(rig.heft.pushes.add(), "bone", "tail"), "names 'tail', which is no simulated bone"),
        (lambda rig: rig.heft.ties.add(), "Tie 1 names no bone"),
    ],
)
def test_unfinished_pushes_and_ties_are_named(rig, setting, message):
    setting(rig)
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.heft.simulate()


def test_limits_hold_a_joint_back(rig):
    bone = rig.pose.bones[2]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (20, 1.2)):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.heft.simulate()
    assert bend(rig)[-1] == pytest.approx(math.degrees(1.2), abs=0.1)
    bone.heft.use_limits, bone.heft.limit_swing = True, math.radians(30.0)
    bpy.ops.heft.simulate()
    own = bend(rig)
    assert own[-1] == pytest.approx(30.0, abs=3.0) and own.max() < 36.0
    bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, math.radians(-10.0), math.radians(50.0)
    bone.use_ik_limit_z, bone.ik_min_z, bone.ik_max_z = True, 0.0, 0.0
    bpy.ops.heft.simulate()
    assert bend(rig)[-1] == pytest.approx(50.0, abs=3.0)
    limit = bone.constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.influence = "LOCAL", 0.0
    limit.use_limit_x, limit.max_x = True, math.radians(20.0)
    limit.use_limit_z = True
    assert not session.is_current(rig, bpy.context.scene)
    bone.heft.limits_from = "OWN"
    bpy.ops.heft.simulate()
    assert bend(rig)[-1] == pytest.approx(30.0, abs=3.0)


def test_a_hinge_takes_its_own_two_ends(rig):
    bone = rig.pose.bones[2]
    bone.rotation_mode = "XYZ"
    bone.lock_rotation = (False, True, True)
    for frame, angle in ((1, 0.0), (20, 1.2)):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    bone.heft.use_limits, bone.heft.limit_low, bone.heft.limit_high = True, -0.2, math.radians(40.0)
    bpy.ops.heft.simulate()
    assert bend(rig)[-1] == pytest.approx(40.0, abs=3.0)


# --- itself and others -------------------------------------------------------------------


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
    empty.frame_end = FRAMES[-1]
    rig = rigs.post(1)
    bpy.ops.object.mode_set(mode="EDIT")
    for i in range(3):
        bone = rig.data.edit_bones.new(f"side.{i}")
        bone.head, bone.tail = (0.02 * i, 0.03, 0.1), (0.02 * i, 0.03, 0.45)
        bone.parent = rig.data.edit_bones[0]
    bpy.ops.object.mode_set(mode="OBJECT")
    source = rigs.poses(rig, FRAMES)
    bpy.ops.heft.add()
    rig.heft.touch_self = True
    bpy.ops.heft.simulate()
    offset, angle = rigs.deviation(source, rigs.poses(rig, FRAMES), rigs.height(rig))
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
    empty.frame_end = FRAMES[-1]
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
    source = rigs.poses(other, FRAMES)
    tip = rigs.poses(rig, (40,))[0, 2, 1, 3]
    if tip < 0.0:  # the swing must go towards the other
        other.location.y = -0.5
    bpy.ops.heft.simulate()
    assert rig.heft.shown == other.heft.shown == "RESULT"
    now = rigs.poses(other, FRAMES)
    assert rigs.deviation(source, now, rigs.height(other))[1] > 2.0
    assert other.heft.leader == rig and rig.heft.leader is None
    assert session.is_current(rig, empty) and session.is_current(other, empty)
    other.heft.settle_time = 0.4
    assert not session.is_current(rig, empty) and not session.is_current(other, empty)
    rig.heft.live = True
    calm = rigs.poses(other, FRAMES)
    other.heft.settle_time = 0.1
    assert rigs.deviation(calm, rigs.poses(other, FRAMES), rigs.height(other))[1] > 0.1, "one shot, one Live"
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
    shown = rigs.poses(other, FRAMES)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert cli.run(["bake", "--output", str(tmp_path / "out.blend")]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out.blend"))
    for name in ("Rig", "Other"):
        assert "baked" in bpy.data.objects[name].animation_data.action.name
    offset, angle = rigs.deviation(shown, rigs.poses(bpy.data.objects["Other"], FRAMES), 1.5)
    assert offset < 1e-4 and angle < 0.02


# --- strength and wind ---------------------------------------------------------------


def test_without_strength_the_post_faints_and_with_enough_it_stands(rig):
    rig.heft.use_strength = True
    rig.heft.strength = 2.0
    rig.rotation_euler.y = math.radians(20.0)  # leaning: it takes strength to stand
    bpy.ops.heft.simulate()
    start = bend(rig)[0]
    assert abs(bend(rig) - start).max() < 0.05
    rig.heft.strength = 0.0
    bpy.ops.heft.simulate()
    assert bend(rig)[-1] > start + 30.0


def test_one_weak_bone_gives_way(rig):
    rig.heft.use_strength = True
    rig.rotation_euler.y = math.radians(20.0)
    rig.pose.bones[-1].heft.strength_scale = 0.0
    bpy.ops.heft.simulate()
    turned = rigs.poses(rig, FRAMES)[:, :, :3, 1]
    assert np.abs(turned[-1, 1] - turned[0, 1]).max() < 1e-3
    assert bend(rig)[-1] > bend(rig)[0] + 30.0


def test_wind_bends_the_post_and_a_keyed_lull_lets_it_stand(rig):
    rig.heft.settle_time = 0.3
    rig.heft.wind = (12.0, 0.0, 0.0)
    for frame, strength in ((1, 20.0), (20, 20.0), (21, 0.0)):
        rig.heft.wind_strength = strength
        rig.keyframe_insert("heft.wind_strength", frame=frame)
    bpy.ops.heft.simulate()
    angles = bend(rig)
    assert angles[:20].max() > 1.0
    assert angles[-1] < 0.1 * angles[:20].max()
