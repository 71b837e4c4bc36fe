"""The shapes of objects, and of bones around their skins."""

from __future__ import annotations

import math

import bmesh
import bpy
import numpy as np
import pytest

import rigs
from heft.addon import memory
from heft.addon.read import collision_shapes
from heft.addon.rig import skin
from heft.addon.simulate import session
from heft.addon.ui.overlays import shape_wires
from heft.engine.geometry import mass_properties, shapes as engine_shapes
from heft.engine.math import rotations

pytestmark = pytest.mark.in_one_blender

SKINS = [rigs.DATA / "rigs" / name for name in ("CesiumMan.glb", "RiggedFigure.glb", "gdquest_bee_bot.glb")]


def test_a_concave_mesh_holds_a_ball(rig):
    """The ball comes to rest inside the bowl, where a convex hull would keep it out."""
    bpy.context.scene.frame_end = 80
    ball = rigs.ball(radius=0.12, location=(3.1, 0.0, 1.0))
    rigs.collide(rig, rigs.bowl(), ball)
    ball.heft_collider.moves = "FREE"
    bpy.ops.heft.simulate()
    end = rigs.places(ball, (80,))[0, :3, 3]
    assert math.hypot(end[0] - 3.0, end[1]) < 0.4
    assert 0.0 < end[2] < 0.35, "inside the bowl, whose bottom is at 0 and rim at 0.5"


def test_a_grid_is_built_once_a_session_and_named_before(rig, monkeypatch):
    """Known by the mesh's content: not again after an undo or a fresh start, nor for a twin; edited it is."""
    bowl = rigs.bowl(radius=0.47)
    twin = bpy.data.objects.new("Twin", bowl.data)
    bpy.context.scene.collection.objects.link(twin)
    twin.location.z = 5.0
    wall = twin.modifiers.new("Wall", "SOLIDIFY")
    wall.thickness, wall.offset = 0.08, 1.0
    rigs.collide(rig, bowl, twin)
    made = []
    original = engine_shapes.Grid.from_mesh
    monkeypatch.setattr(engine_shapes.Grid, "from_mesh", lambda *args: made.append(1) or original(*args))
    steps = session.simulate_steps(rig, bpy.context.scene)
    labels = [(step.label, len(made)) for step in steps]
    assert ("shaping 'Bowl'", 0) in labels and ("shaping 'Twin'", 1) in labels
    memory.notify(memory.UNDO)
    bpy.ops.heft.simulate()
    assert len(made) == 1
    bowl.modifiers["Wall"].thickness = 0.1
    bpy.ops.heft.simulate()
    assert len(made) == 2


@pytest.mark.parametrize("kind", ["SPHERE", "CAPSULE", "BOX", "HULL", "MESH"])
def test_every_kind_of_shape_holds_a_ball_up(rig, kind):
    stand = rigs.block("Stand", 1.0, (3.0, 0.0, -0.5))
    ball = rigs.ball(radius=0.1, location=(3.0, 0.0, 0.35 if kind in {"BOX", "HULL", "MESH"} else 0.75))
    stand.heft_collider.shape = kind
    ball.heft_collider.moves = "FREE"
    rigs.collide(rig, stand, ball)
    bpy.ops.heft.simulate()
    top = {"SPHERE": math.sqrt(3.0) / 2 - 0.5, "CAPSULE": None}.get(kind, 0.0)
    height = rigs.places(ball, rigs.FRAMES)[:, 2, 3]
    assert height.min() > 0.05, "never below the stand"
    if top is not None:
        assert height[-1] == pytest.approx(top + 0.1, abs=0.02)


def test_auto_finds_the_simplest_shape(empty):
    def kind_of(ob):
        return type(collision_shapes.object_shape(ob, empty, 1, np.eye(3))).__name__

    assert kind_of(rigs.ball("a")) == "Sphere"
    assert kind_of(rigs.block("b")) == "Box"
    cone = rigs.mesh_object(
        "c", lambda form: bmesh.ops.create_cone(form, cap_ends=True, segments=12, radius1=1.0, depth=1.0)
    )
    assert kind_of(cone) == "Hull"
    assert kind_of(rigs.bowl()) == "Grid"


def skinned(rig, mirror: bool = False, waist: float = 1.0) -> bpy.types.Object:
    """A tube of 0.2 across around the post, times the waist at its middle bone, every ring with the bone beside it."""

    def build(form):
        bmesh.ops.create_cone(form, segments=16, radius1=0.1, radius2=0.1, depth=1.5)
        bmesh.ops.subdivide_edges(form, edges=form.edges, cuts=5, use_grid_fill=True)
        for vertex in form.verts:
            vertex.co.z += 0.75
            if 0.49 < vertex.co.z < 1.01:
                vertex.co.xy *= waist

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
    volume = mass_properties.volume(shape)
    assert isinstance(shape, engine_shapes.Capsule)
    assert math.pi * 0.1**2 * 0.5 * 0.7 < volume < math.pi * 0.1**2 * 0.5 * 1.5
    np.testing.assert_allclose(mass_properties.center_of_mass(shape), (0.0, 0.25, 0.0), atol=0.02)


@pytest.mark.skipif(not SKINS[0].exists(), reason=f"no rigs in {rigs.DATA / 'rigs'}")
@pytest.mark.parametrize("path", SKINS, ids=lambda path: path.stem)
def test_real_skins_get_shapes_close_to_them(path, tmp_path):
    """The shapes at rest fill the skin's box and little more, and a fitted ground disturbs nothing."""
    rigs.open_skin(path, tmp_path)
    scene = bpy.context.scene
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    scene.frame_start, scene.frame_end = 1, 40
    source = rigs.poses(rig, rigs.FRAMES)
    bpy.ops.heft.add()
    bpy.ops.heft.fit_ground()
    bpy.ops.heft.simulate()
    offset, angle = rigs.deviation(source, rigs.poses(rig, rigs.FRAMES), rigs.height(rig))
    assert offset < 1e-4 and angle < 0.02
    reading = session.last_shown(rig).reading
    assert reading.model.total_mass == pytest.approx(rig.heft.total_mass, rel=1e-4)
    moved = np.linalg.eigvalsh(reading.model.inertias)
    assert (moved > 0.0).all() and (moved[:, 2] <= moved[:, :2].sum(axis=1) * (1.0 + 1e-9)).all(), "solid bodies"
    places, turns = reading.at_rest()
    corners = []
    for body, shapes in enumerate(reading.model.shapes):
        for shape in shapes:
            corners.append(shape_wires.of_shape(shape) @ rotations.to_matrix(turns[body]).T + places[body])
    there = np.concatenate(corners).reshape(-1, 3) / reading.placement.sizes[0]
    wanted = np.concatenate(list(skin.points(rig, scene).values()))
    size = np.ptp(wanted, axis=0).max()
    assert np.abs(there.min(axis=0) - wanted.min(axis=0)).max() < 0.08 * size
    assert np.abs(there.max(axis=0) - wanted.max(axis=0)).max() < 0.08 * size


def model_of(rig):
    bpy.ops.heft.simulate()
    return session.last_shown(rig).reading.model


def test_bones_weigh_what_their_skin_fills(rig):
    bare = model_of(rig)
    skinned(rig, waist=3.0)
    model = model_of(rig)
    assert model.masses.sum() == pytest.approx(3.0) == pytest.approx(bare.masses.sum())
    # rings of 16 corners a quarter of a metre apart; the two where bones meet are shared by their weights, 0.9 : 1,
    # and the skin halfway to a ring is that ring's
    z = np.arange(1.5 / 12000, 1.5, 1.5 / 6000)
    radius = np.interp(z, np.arange(7) * 0.25, 0.1 * np.array([1, 1, 3, 3, 3, 1, 1]))
    first = np.interp(np.round(z / 0.25), np.arange(7), [1, 1, 0.9 / 1.9, 0, 0, 0, 0])
    share = (first * radius**2).sum() / (radius**2).sum()
    print(f"outer bone: {model.masses[0] / 3.0:.4f} of the skin, by its rings {share:.4f}")
    assert model.masses[0] / 3.0 == pytest.approx(share, abs=0.02)
    assert model.masses[0] == pytest.approx(model.masses[2], rel=0.02)
    assert model.centers[1] == pytest.approx([0.0, 0.25, 0.0], abs=0.01)
    rig.heft.ground, rig.heft.ground_height = True, -1.0
    np.testing.assert_array_equal(model_of(rig).masses, model.masses, "whether anything touches does not matter")
    rig.pose.bones[1].heft.shape = "NONE"
    np.testing.assert_array_equal(model_of(rig).masses, model.masses, "nor what others touch of it")


def test_a_given_mass_and_a_bone_that_rides_along(rig):
    """The top bone Ignored: its skin is the middle bone's. A mass given to a bone is its own alone."""
    skinned(rig)
    third = model_of(rig).masses
    rig.pose.bones[2].heft.behaviour = "IGNORED"
    model = model_of(rig)
    assert model.masses.sum() == pytest.approx(3.0) and model.masses[1] > 1.5 * third[1]
    assert model.centers[1, 1] == pytest.approx(0.5, abs=0.05), "in the middle of both"
    rig.pose.bones[0].heft.mass = 9.0
    np.testing.assert_allclose(model_of(rig).masses, [9.0, model.masses[1]])


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
