"""What the 3D View shows of contact, as the lines it would draw."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

import rigs
from heft.addon import overlay, properties


@pytest.fixture
def rig(empty):
    empty.frame_end = 40
    rig = rigs.post(3)
    bpy.ops.heft.add()
    rig.heft.total_mass = 3.0
    overlay.forget()
    yield rig
    overlay.forget()


def drawn(rig, frame: int = 1) -> dict[str, np.ndarray]:
    bpy.context.scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    overlay.build(rig, bpy.context.scene)
    return overlay.lines(rig, bpy.context.scene, graph)


def test_bones_before_any_simulation(rig):
    rig.location, rig.scale = (1.0, 2.0, 3.0), (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    bones = drawn(rig)["bones"].reshape(-1, 3)
    np.testing.assert_allclose(bones[:, :2].mean(axis=0), (1.0, 2.0), atol=0.02)
    assert bones[:, 2].min() == pytest.approx(3.0, abs=1e-3) and bones[:, 2].max() == pytest.approx(6.0, abs=1e-3)


def test_shapes_follow_the_pose_and_their_settings(rig):
    before = drawn(rig)["bones"]
    rig.pose.bones[2].rotation_mode = "XYZ"
    rig.pose.bones[2].rotation_euler.x = 1.0
    bpy.context.view_layer.update()
    after = drawn(rig)["bones"]
    assert after.shape == before.shape and np.abs(after - before).max() > 0.1
    rig.pose.bones[2].heft.shape = "NONE"
    assert len(drawn(rig)["bones"]) < len(after)


def test_colliders_ground_and_limits(rig):
    ball = rigs.ball(radius=0.2, location=(2.0, 0.0, 1.0))
    ball.scale = (0.5, 0.5, -0.5)
    rigs.collide(rig, ball)
    rig.heft.ground, rig.heft.ground_height = True, -0.5
    bone = rig.pose.bones[1]
    bone.heft.use_limits, bone.heft.limit_swing = True, math.radians(30.0)
    bpy.context.view_layer.update()
    lines = drawn(rig)
    away = np.linalg.norm(lines["colliders"] - (2.0, 0.0, 1.0), axis=-1)
    np.testing.assert_allclose(away, 0.1, atol=1e-3)
    assert (lines["ground"][..., 2] == pytest.approx(-0.5)) and len(lines["limits"])
    cone = lines["limits"].reshape(-1, 3) - (0.0, 0.0, 0.5)
    long = np.linalg.norm(cone, axis=1)
    lean = np.degrees(np.arccos(cone[long > 0.2, 2] / long[long > 0.2]))
    np.testing.assert_allclose(lean, 30.0, atol=0.1)
    ball.location.x = 5.0
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    moved = overlay.lines(rig, bpy.context.scene, graph)["colliders"]
    assert moved[..., 0].mean() == pytest.approx(5.0, abs=1e-3), "placed without building again"


def test_contacts_of_the_frame(rig):
    ball = rigs.ball(radius=0.1, location=(2.0, 0.0, 0.1))
    ball.heft_collider.moves = "FREE"
    rigs.collide(rig, ball)
    rig.heft.ground = True
    bpy.ops.heft.simulate()
    marks = drawn(rig, 30)["contacts"].reshape(-1, 3)
    near = marks[np.linalg.norm(marks - (2.0, 0.0, 0.0), axis=1) < 1.0]
    assert len(near) and np.abs(near[:, :2] - (2.0, 0.0)).max() < 0.2
    bpy.ops.heft.show(which="SOURCE")
    assert len(drawn(rig, 30)["contacts"]) == 0


def test_drawing_never_raises_and_leaves_no_trace(rig, monkeypatch, capsys):
    other = rigs.ball("Other")
    drawn(rig)
    assert not other.is_property_set("heft_collider")
    monkeypatch.setattr(overlay, "_draw", lambda: 1 / 0)
    overlay.draw()
    overlay.draw()
    assert capsys.readouterr().out.count("ZeroDivisionError") == 1
    assert properties.has_physics(rig)
