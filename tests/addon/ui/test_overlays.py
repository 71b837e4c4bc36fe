"""What the 3D View shows of a rig, as the pieces it would draw."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

import rigs
from heft import engine
from heft.addon import declare, events, memory, settings
from heft.addon.read import inputs
from heft.addon.settings import saved
from heft.addon.settings.overlays import OverlaySettings
from heft.addon.simulate import session
from heft.addon.ui.overlays import OVERLAYS, callbacks, center_of_mass, contacts, overlay_input, stress, support
from heft.addon.ui.overlays.primitives import Dots, Faces, Lines, Mark, Note, Solid, Wires
from heft.engine.analysis.whole_body import ballistic
from overlay_pieces import drawn, only, placed, seen, select, walker


@pytest.fixture
def rig(empty):
    empty.frame_end = 40
    rig = rigs.post(3)
    bpy.ops.heft.add()
    rig.heft.total_mass = 3.0
    memory.notify(memory.UNDO)
    yield rig
    memory.notify(memory.UNDO)


# --- shapes and limits ---------------------------------------------------------------


def test_bones_before_any_simulation(rig):
    rig.location, rig.scale = (1.0, 2.0, 3.0), (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    found = drawn(rig, "show_shapes")
    for piece in (*only(found, Wires), *only(found, Solid)):
        points = placed(piece)
        np.testing.assert_allclose(points[:, :2].mean(axis=0), (1.0, 2.0), atol=0.02)
        assert points[:, 2].min() == pytest.approx(3.0, abs=1e-3) and points[:, 2].max() == pytest.approx(6.0, abs=1e-3)


def test_shapes_follow_the_pose_and_their_settings(rig):
    before = placed(only(drawn(rig, "show_shapes"), Wires)[0])
    rig.pose.bones[2].rotation_mode = "XYZ"
    rig.pose.bones[2].rotation_euler.x = 1.0
    bpy.context.view_layer.update()
    after = placed(only(drawn(rig, "show_shapes"), Wires)[0])
    assert after.shape == before.shape and np.abs(after - before).max() > 0.1
    rig.pose.bones[2].heft.shape = "NONE"
    assert len(placed(only(drawn(rig, "show_shapes"), Wires)[0])) < len(after)


def test_colliders_ground_and_limits(rig):
    ball = rigs.ball(radius=0.2, location=(2.0, 0.0, 1.0))
    ball.scale = (0.5, 0.5, -0.5)
    rigs.collide(rig, ball)
    rig.heft.ground, rig.heft.ground_height = True, -0.5
    rig.heft.natural_limits = False
    bone = rig.pose.bones[1]
    bone.heft.use_limits, bone.heft.limit_swing = True, math.radians(30.0)
    bpy.context.view_layer.update()
    found = drawn(rig, "show_shapes", "show_limits")
    bones, collider, bounds = only(found, Wires)
    np.testing.assert_allclose(np.linalg.norm(placed(collider) - (2.0, 0.0, 1.0), axis=-1), 0.1, atol=1e-3)
    assert len(only(found, Solid)) == 2
    (ground,) = only(found, Lines)
    assert (ground.make()[0][..., 2] == pytest.approx(-0.5)) and len(placed(bones))
    cone = placed(bounds) - (0.0, 0.0, 0.5)
    long = np.linalg.norm(cone, axis=1)
    lean = np.degrees(np.arccos(cone[long > 0.2, 2] / long[long > 0.2]))
    np.testing.assert_allclose(lean, 30.0, atol=0.1)
    ball.location.x = 5.0
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    moved = only(callbacks.pieces(rig, bpy.context.scene, graph), Wires)[1]
    assert placed(moved)[:, 0].mean() == pytest.approx(5.0, abs=1e-3), "placed without building again"


def test_limits_of_the_selected_bones_alone(rig):
    for bone in rig.pose.bones[1:]:
        bone.heft.use_limits, bone.heft.limit_swing = True, math.radians(30.0)
    every = placed(only(drawn(rig, "show_limits"), Wires)[0])
    assert np.ptp(every[:, 2]) > 0.5
    bpy.ops.object.mode_set(mode="POSE")
    select(rig, rig.pose.bones[2].name)
    some = placed(only(drawn(rig, "show_limits"), Wires)[0])
    there = some[np.linalg.norm(some - some.mean(axis=0), axis=1) > 0.0]
    shown = [p for p in there if np.abs(np.array([rig.pose.bones[1].head]) - p).max() > 1e-4]
    assert min(p[2] for p in shown) > 0.9
    bpy.ops.object.mode_set(mode="OBJECT")


# --- the motion as a whole -----------------------------------------------------------


def test_a_thrown_rig_flies_the_parabola_that_is_drawn(empty):
    empty.frame_end = 24
    rig = rigs.post(3, at=(0.0, 0.0, 3.0))
    for frame, spot in ((1, (0.0, 0.0, 0.0)), (2, (0.05, 0.0, 0.15))):
        rig.pose.bones[0].location = spot
        rig.pose.bones[0].keyframe_insert("location", frame=frame)
    bpy.ops.heft.add()
    rig.heft.controller, rig.heft.root, rig.heft.ground = "LIMP", "FREE", True
    bpy.ops.heft.simulate()
    looked = seen(rig, 6)
    assert looked.shows_result
    flight, film = center_of_mass.flight_of(looked), looked.film
    landed = int(np.flatnonzero(~film.flying(looked.ground, looked.reach))[0])
    flying = np.arange(landed)
    assert landed > 10
    centers = film.whole.centers[flying]
    away = np.linalg.norm(flight[:, None] - centers[None], axis=2).min(axis=0)
    # the line goes through all centres of the flight, between its own points
    step = np.linalg.norm(np.diff(flight, axis=0), axis=1).max()
    assert away.max() < 0.51 * step
    # and it is the closed form, whatever frame it is drawn from
    times = np.arange(len(flying)) / film.fps
    path = ballistic(centers[0], film.whole.velocities[0], looked.gravity, times)
    np.testing.assert_allclose(centers, path, atol=1e-4)
    marks = only(drawn(rig, "show_mass", frame=6), Mark)
    np.testing.assert_allclose(marks[0].point, centers[5], atol=1e-6)


def test_the_flight_of_a_keyed_jump_without_ground(empty):
    """Nothing was to be touched, so nothing had a shape in it: the bones' shapes tell when it is in the air."""
    empty.frame_end = 12
    rig = rigs.post(3)
    for frame, height in ((1, 0.0), (4, 0.0), (7, 0.06), (10, 0.0)):
        rig.location.z = height
        rig.keyframe_insert("location", frame=frame)
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    rig.heft.show_mass = True
    assert center_of_mass.flight_of(seen(rig, 3)) is None
    looked = seen(rig, 7)
    flight = center_of_mass.flight_of(looked)
    flying = looked.film.flying(looked.ground, looked.reach)
    touching = np.flatnonzero(~flying)
    before, after = touching[touching < 6].max(), touching[touching > 6].min()
    whole = looked.film.whole
    times = (np.array([before, after]) - 6) / looked.film.fps
    wanted = ballistic(whole.centers[6], whole.velocities[6], np.array([0.0, 0.0, -9.81]), times)
    np.testing.assert_allclose(flight[[0, -1]], wanted, atol=1e-9)
    rig.heft.ballistic = "ALWAYS"
    assert center_of_mass.flight_of(seen(rig, 3)) is not None


def test_standing_still_the_point_is_below_the_centre(rig):
    rig.heft.ground = True
    bpy.ops.heft.simulate()
    looked = seen(rig, 20)
    corners, point, holds = support.balance(looked, looked.row)
    assert holds and len(corners) > 2
    np.testing.assert_allclose(point[:2], looked.film.whole.centers[looked.row][:2], atol=1e-6)
    found = drawn(rig, "show_support", frame=20)
    (cross,) = only(found, Mark)
    assert cross.kind == "CROSS" and cross.color[1] > cross.color[0], "green"
    # one body weight, straight up, as long as the setting says
    shaft = next(piece for piece in only(found, Lines) if piece.key[0] == "reaction").make()[0][0]
    head = next(piece for piece in only(found, Faces) if piece.key[0] == "reaction head").make()
    assert head[..., 2].max() - shaft[0, 2] == pytest.approx(rig.heft.force_scale * looked.tall, rel=1e-4)


def test_leaning_too_far_is_seen(empty):
    """A post that leans over as one piece, with its root on the ground: its point leaves what it stands on."""
    empty.frame_end = 20
    rig = rigs.post(3)
    bone = rig.pose.bones[0]
    bone.rotation_mode, bone.rotation_euler.x = "XYZ", math.radians(35.0)
    bone.keyframe_insert("rotation_euler", frame=1)
    bpy.ops.heft.add()
    looked = seen_of(rig, "show_support", 10)
    _, point, holds = support.balance(looked, looked.row)
    assert not holds and np.isfinite(point).all()
    (cross,) = only(callbacks.pieces(rig, looked.scene, looked.graph), Mark)
    assert cross.color[0] > cross.color[1], "red"


def seen_of(rig, switch: str, frame: int) -> overlay_input.Sight:
    setattr(rig.heft, switch, True)
    return seen(rig, frame)


def test_scale_units_and_mirror_do_not_move_what_is_drawn(empty):
    """The centre of mass is drawn where the bones are, in a scaled, mirrored rig measured in centimetres."""
    empty.frame_end = 10
    rig = rigs.post(3, at=(1.0, 2.0, 0.0))
    rig.scale = (-2.0, 2.0, 2.0)
    bpy.ops.heft.add()
    rig.heft.meters_per_unit = 0.01
    bpy.context.view_layer.update()
    (sign,) = only(drawn(rig, "show_mass"), Mark)
    np.testing.assert_allclose(sign.point[:2], (1.0, 2.0), atol=1e-3)
    assert 1.0 < sign.point[2] < 2.0
    ghostly = only(drawn(rig, "show_onion"), Solid)
    points = placed(ghostly[0])
    np.testing.assert_allclose(0.5 * (points.min(axis=0) + points.max(axis=0)), (1.0, 2.0, 1.5), atol=0.02)


def test_the_source_is_seen_as_it_is_edited(rig):
    before = only(drawn(rig, "show_mass", frame=10), Mark)[0].point
    rig.location.x = 2.0
    rig.keyframe_insert("location", frame=1)
    after = only(drawn(rig, "show_mass", frame=10), Mark)[0].point
    np.testing.assert_allclose(after - before, (2.0, 0.0, 0.0), atol=1e-5)


# --- contacts and stress -------------------------------------------------------------


def test_contacts_of_the_frame(rig):
    ball = rigs.ball(radius=0.1, location=(2.0, 0.0, 0.1))
    ball.heft_collider.moves, ball.heft_collider.mass = "FREE", 3.0
    rigs.collide(rig, ball)
    rig.heft.ground = True
    bpy.ops.heft.simulate()
    found = drawn(rig, "show_contacts", frame=30)
    points, _ = only(found, Dots)[0].make()
    near = points[np.linalg.norm(points - (2.0, 0.0, 0.0), axis=1) < 0.2]
    assert len(near)
    # a ball as heavy as the rig presses with one body weight in all
    looked = seen(rig, 30)
    where, forces, _ = contacts.here(looked, looked.row)
    on_ball = np.linalg.norm(where - (2.0, 0.0, 0.0), axis=1) < 0.2
    assert forces[on_ball, 2].sum() == pytest.approx(3.0 * 9.81, rel=0.02)
    bpy.ops.heft.show(which="SOURCE")
    assert drawn(rig, "show_contacts", frame=30) == []


def test_a_blow_is_seen_where_and_when_it_struck(rig):
    rig.heft.total_mass = 30.0
    ball = rigs.ball(radius=0.1, location=(0.0, 0.0, 0.0))
    rigs.throw(ball, (0.0, -2.0, 1.2), (0.0, -0.4, 1.2), 1, 9)
    ball.heft_collider.moves, ball.heft_collider.free_from, ball.heft_collider.mass = "FREE", 9, 4.0
    rigs.collide(rig, ball)
    bpy.ops.heft.simulate()
    # the first frame on which the ball flies back
    way = session.last_shown(rig).result.objects[ball.name_full][0]
    turned = int(np.flatnonzero(np.diff(way[:, 1]) < 0.1)[0])
    rings = {frame: [m for m in only(drawn(rig, "show_contacts", frame=frame), Mark) if m.kind == "RING"]
             for frame in (turned - 3, turned + 3, turned + 12)}  # fmt: skip
    assert not rings[turned - 3] and not rings[turned + 12]
    (ring,) = rings[turned + 3]
    assert ring.point[1] < 0.05 and abs(ring.point[2] - 1.2) < 0.25


def test_stress_is_the_torque_in_parts_of_the_strength(empty):
    rig = walker(empty, use_strength=True, strength=0.5, heaviness=0.5)
    looked = seen(rig, 12)
    share = stress.shares(looked)
    result, reading = session.last_shown(rig).result, looked.footage.reading
    most = 0.5 * engine.strength_limits(reading.model, [None] * len(reading.names))
    np.testing.assert_allclose(share, np.linalg.norm(result.torques, axis=2) / most, rtol=1e-6)
    found = drawn(rig, "show_stress", frame=12)
    tints = only(found, Solid)[0].tints
    order = np.argsort(share[looked.row][1:])
    assert (np.diff(tints[1:][order][:, 0]) >= -1e-6).all(), "the more, the redder"
    np.testing.assert_allclose(stress.colors(np.array([0.0, 2.0]), 1.0), stress.SCALE[[0, -1]], atol=1e-6)
    assert "100 % of its strength" in only(found, Note)[0].end
    bpy.ops.heft.show(which="SOURCE")
    assert drawn(rig, "show_stress", frame=12) == []


# --- the house -----------------------------------------------------------------------


def test_display_settings_are_not_part_of_the_simulation(rig, monkeypatch):
    bpy.ops.heft.simulate()
    scene, before = bpy.context.scene, inputs.of(rig, bpy.context.scene).total
    monkeypatch.setattr(events.setting_changed, "_listeners", [lambda _rig: pytest.fail("Live was started")])
    rig.heft.live = False
    for name in declare.names(OverlaySettings):
        prop = rig.heft.bl_rna.properties[name]
        if prop.type == "ENUM":
            setattr(rig.heft, name, prop.enum_items[-1].identifier)
        else:
            setattr(rig.heft, name, not getattr(rig.heft, name) if prop.type == "BOOLEAN" else prop.soft_max)
        assert prop.is_overridable if hasattr(prop, "is_overridable") else True
    assert inputs.of(rig, scene).total == before and session.is_current(rig, scene)
    saved.pack(rig)
    values = {name: getattr(rig.heft, name) for name in declare.names(OverlaySettings)}
    settings.forget(rig, "heft")
    saved.unpack(rig)
    assert {name: getattr(rig.heft, name) for name in declare.names(OverlaySettings)} == values


def test_the_master_switch(rig):
    assert drawn(rig, "show_shapes")
    rig.heft.show_overlays = False
    assert drawn(rig, "show_shapes") == []


def test_pieces_with_one_key_are_the_same(empty):
    """What is kept by its key must not depend on anything else."""
    rig = walker(empty, heaviness=0.5)
    names = [overlay.switch for overlay in OVERLAYS]
    kept: dict = {}
    for frame in (5, 9, 5, 9):
        for piece in drawn(rig, *names, frame=frame):
            if isinstance(piece, (Lines, Faces, Dots)):
                made = piece.make()
                made = made[0] if isinstance(made, tuple) else made
                assert np.allclose(kept.setdefault((type(piece), piece.key), made), made), piece.key
    assert kept


def test_two_characters_know_their_own_contacts(empty):
    empty.frame_end = 20
    first = rigs.post(3, "One", at=(0.0, 0.0, 0.0))
    bpy.ops.heft.add()
    second = rigs.post(3, "Two", at=(3.0, 0.0, 0.0))
    bpy.ops.heft.add()
    rigs.collide(first, second)
    for rig in (first, second):
        rig.heft.ground, rig.heft.root, rig.heft.controller = True, "FREE", "LIMP"
    bpy.context.view_layer.objects.active = first
    bpy.ops.heft.simulate()
    for rig, x in ((first, 0.0), (second, 3.0)):
        looked = seen(rig, 20)
        points, forces, _ = contacts.standing(looked, looked.row)
        assert len(points) and np.abs(points[:, 0] - x).max() < 1.6
        assert len(forces) == len(points)


def test_ground_and_gravity_are_those_of_the_shot(empty):
    """Its leader's: with what the others say nothing was simulated."""
    empty.frame_end = 10
    first = rigs.post(3, "One")
    bpy.ops.heft.add()
    second = rigs.post(3, "Two", at=(3.0, 0.0, 0.0))
    bpy.ops.heft.add()
    rigs.collide(first, second)
    first.heft.ground, first.heft.ground_height, first.heft.gravity = True, -0.2, (0.0, 0.0, -1.62)
    second.heft.ground, second.heft.ground_height = True, 0.5
    for rig in (first, second):
        rig.heft.show_mass = True
        looked = seen(rig, 3)
        np.testing.assert_allclose(looked.gravity, (0.0, 0.0, -1.62), atol=1e-6)
        assert looked.ground == pytest.approx(-0.2)
        grid = only(drawn(rig, "show_shapes", frame=3), Lines)[0].make()[0]
        np.testing.assert_allclose(grid[..., 2], -0.2, atol=1e-6)


def test_a_ball_that_was_deleted_takes_no_overlay_with_it(rig):
    ball = rigs.passing_ball(rig, "FREE")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.simulate()
    bpy.data.objects.remove(ball)
    assert only(drawn(rig, "show_contacts", "show_mass", frame=12), Mark)


def test_linked_colliders_have_shapes_too(rig, tmp_path):
    path = str(tmp_path / "set.blend")
    wall = rigs.block("Wall", location=(2.0, 0.0, 0.5))
    bpy.data.libraries.write(path, {wall})
    bpy.data.objects.remove(wall)
    with bpy.data.libraries.load(path, link=True) as (_, there):
        there.objects = ["Wall"]
    bpy.context.scene.collection.objects.link(there.objects[0])
    rigs.collide(rig, there.objects[0])
    found = [placed(piece) for piece in only(drawn(rig, "show_shapes"), Wires)]
    assert any(np.abs(points.mean(axis=0) - (2.0, 0.0, 0.5)).max() < 1e-4 for points in found)


def test_what_is_drawn_is_worked_out_in_the_scene_it_is_drawn_in(rig, monkeypatch):
    """Another window may show another scene; and what is not drawn need not be known."""
    other = bpy.data.scenes.new("Other")
    looked = []
    monkeypatch.setattr(callbacks, "catch_up", lambda each, scene: looked.append((each, scene)))
    rig.heft.show_mass = True
    callbacks._stale[rig.session_uid] = other.name
    callbacks._catch_up()
    callbacks._catch_up()
    assert looked == [(rig, other)]


def test_drawing_never_raises_and_leaves_no_trace(rig, capsys):
    other = rigs.ball("Other")
    drawn(rig, "show_shapes")
    assert not other.is_property_set("heft_collider")
    broken = callbacks.guarded(lambda: 1 / 0)
    broken()
    broken()
    assert capsys.readouterr().out.count("ZeroDivisionError") == 1
