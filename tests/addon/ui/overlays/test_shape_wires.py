"""Line segments of shapes and limits lie where the shapes' surfaces and the limits are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from heft.addon.ui.overlays import shape_wires
from heft.engine import Box, Capsule, Grid, Hull, Sphere

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.0)])


def test_sphere_and_capsule_lie_on_their_surface():
    ball = shape_wires.of_shape(Sphere(0.3, (1.0, 2.0, 3.0)))
    np.testing.assert_allclose(np.linalg.norm(ball - (1.0, 2.0, 3.0), axis=-1), 0.3)
    start, end = np.array([0.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.5])
    rod = shape_wires.of_shape(Capsule(0.2, tuple(start), tuple(end)))
    way = end - start
    t = np.clip((rod - start) @ way / (way @ way), 0.0, 1.0)
    np.testing.assert_allclose(np.linalg.norm(rod - start - t[..., None] * way, axis=-1), 0.2, atol=1e-12)
    dot = shape_wires.of_shape(Capsule(0.2, (1.0, 0.0, 0.0), (1.0, 0.0, 0.0)))
    np.testing.assert_allclose(np.linalg.norm(dot - (1.0, 0.0, 0.0), axis=-1), 0.2)


def test_box_and_hull_have_their_twelve_edges():
    turn = (math.cos(0.4), 0.0, 0.0, math.sin(0.4))
    box = shape_wires.of_shape(Box((0.5, 1.0, 1.5), (0.5, 1.0, 1.5)))
    hull = shape_wires.of_shape(Hull(CUBE))
    assert len(box) == len(hull) == 12
    for edges in (box, hull):
        assert {tuple(np.round(point, 9)) for point in edges.reshape(-1, 3)} == {tuple(point) for point in CUBE}
    turned = shape_wires.of_shape(Box((0.5, 1.0, 1.5), (0.5, 1.0, 1.5), turn))
    middle = turned.reshape(-1, 3).mean(axis=0)
    np.testing.assert_allclose(middle, (0.5, 1.0, 1.5), atol=1e-12)
    assert np.ptp(turned[..., 0]) > 1.2


def test_a_grid_shows_its_surface():
    triangles = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6],
                 [0, 6, 4], [1, 5, 7], [1, 7, 3]]  # fmt: skip
    grid = Grid.from_mesh(CUBE, np.array(triangles))
    crosses = shape_wires.of_shape(grid).mean(axis=1)
    beside = np.minimum(np.abs(crosses), np.abs(crosses - (1.0, 2.0, 3.0))).min(axis=1)
    assert len(crosses) >= 3 * 100 and beside.max() < grid.cell


def test_limits_open_as_far_as_they_are_set():
    rim = shape_wires.cone(0.6, -0.3, 0.5, 2.0).reshape(-1, 3)
    far = rim[np.linalg.norm(rim, axis=1) > 1.5]
    np.testing.assert_allclose(np.arccos(far[:, 1] / 2.0), 0.6, atol=1e-9)
    twist = rim[np.abs(np.linalg.norm(rim, axis=1) - 0.8) < 1e-9]
    angles = np.arctan2(twist[:, 0], twist[:, 2])
    assert angles.min() == pytest.approx(-0.3) and angles.max() == pytest.approx(0.5)
    assert len(shape_wires.cone(np.inf, -np.inf, np.inf, 1.0)) == 0
    hinge = shape_wires.fan(np.array([1.0, 0.0, 0.0]), -0.2, 1.1, 2.0).reshape(-1, 3)
    edge = hinge[np.linalg.norm(hinge, axis=1) > 1.0]
    turn = np.arctan2(edge[:, 2], edge[:, 1])
    assert turn.min() == pytest.approx(-0.2) and turn.max() == pytest.approx(1.1)
    assert len(shape_wires.fan(np.array([1.0, 0.0, 0.0]), -np.inf, np.inf, 1.0)) == 0


def test_arrows_and_the_ground():
    shafts = shape_wires.arrows(np.zeros((2, 3)), np.array([[0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
    assert np.isfinite(shafts).all() and shafts[..., 2].max() == 2.0
    assert len(shape_wires.arrows(np.zeros((0, 3)), np.zeros((0, 3)))) == 0
    level = shape_wires.ground(np.array([10.2, -3.0, 5.0]), 0.25, 2.0)
    assert (level[..., 2] == 0.25).all()
    assert abs(level[..., 0].mean() - 10.2) < 0.5


def test_an_oval_limit_is_drawn_where_the_engine_has_it():
    """About axes turned by half a right angle: every corner of the rim is on the oval."""
    turn = Rotation.from_rotvec([0.0, 0.0, np.pi / 4.0])
    rim = shape_wires.cone(1.0, -np.inf, np.inf, 1.0, 0.3, turn.as_matrix()).reshape(-1, 3)
    rim = turn.inv().apply(rim[np.linalg.norm(rim, axis=1) > 0.5])
    angle = np.arccos(rim[:, 1])
    lean = np.stack([rim[:, 2], -rim[:, 0]], axis=1) * (angle / np.sin(angle))[:, None]
    np.testing.assert_allclose((lean[:, 0] / 1.0) ** 4 + (lean[:, 1] / 0.3) ** 4, 1.0, atol=1e-9)
    assert np.abs(lean[:, 0]).max() == pytest.approx(1.0) and np.abs(lean[:, 1]).max() == pytest.approx(0.3)
