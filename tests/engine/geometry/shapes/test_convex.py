"""A convex shape is its corners: shown with a toy that the engine does not have, one file and no line elsewhere."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import engine
from engine.analysis.support_polygon import Soles
from engine.geometry.mass_properties import center_of_mass, inertia, volume
from engine.geometry.shapes import Box, Capsule, Plane, Sphere
from engine.posing.posing import Posing
from pair import Pair, directions, floor_grid
from props import limp_thing, thing
from shapes import random_quaternion

TOY = Path(__file__).parents[2] / "toys" / "wedge.py"
HALF = np.array([0.3, 0.2, 0.15])
# Of the slope: up and outward.
SLOPE = np.array([-HALF[2], 0.0, HALF[0]]) / np.hypot(HALF[0], HALF[2])


@pytest.fixture(scope="module")
def wedge():
    """The toy's class, as if its file stood beside the other shapes."""
    name = "engine.geometry.shapes.wedge"
    spec = importlib.util.spec_from_file_location(name, TOY)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    yield module.Wedge
    del sys.modules[name]


def test_its_mass_is_that_of_the_closed_form(wedge, rng):
    """A prism over a right triangle, the mean squares of which are (Σ vᵢ vᵢᵀ) / 12 of its corners about their mean."""
    x, y, z = HALF
    corners = np.array([(-x, -z), (x, -z), (x, z)]) - (x / 3.0, -z / 3.0)
    xz = corners.T @ corners / 12.0
    squares = np.array([[xz[0, 0], 0.0, xz[0, 1]], [0.0, y * y / 3.0, 0.0], [xz[1, 0], 0.0, xz[1, 1]]])
    own = np.trace(squares) * np.eye(3) - squares
    middle = np.array([x / 3.0, 0.0, -z / 3.0])
    turn, shift = Rotation.random(random_state=3).as_matrix(), rng.normal(size=3)
    straight = wedge(tuple(HALF))
    for shape, axes, spot in ((straight, np.eye(3), np.zeros(3)), (straight.moved(turn, shift), turn, shift)):
        assert volume(shape) == pytest.approx(4.0 * x * y * z)
        np.testing.assert_allclose(center_of_mass(shape), axes @ middle + spot, atol=1e-12)
        np.testing.assert_allclose(inertia(shape, 2.5), 2.5 * axes @ own @ axes.T, atol=1e-12)


def test_it_touches_ground_box_and_sphere_where_it_should(wedge):
    """Gaps by hand, and as many contacts as its faces have corners."""
    shape = wedge(tuple(HALF))
    ground = Pair(shape, Plane())
    ground.move((0.0, 0.0, HALF[2] + 0.004))
    assert ground.gap()[0] == pytest.approx(0.004) and len(ground.hits()[0]) == 4
    box = Pair(shape, Box((1.0, 1.0, 0.5))).move((0.2, 0.1, 0.5 + HALF[2] - 0.003))
    gap, normal = box.gap()
    assert gap == pytest.approx(-0.003) and len(box.hits()[0]) == 4
    np.testing.assert_allclose(normal, (0.0, 0.0, 1.0), atol=1e-9)
    ball = Pair(Sphere(0.1), shape)
    gap, normal = ball.move(place=0.107 * SLOPE).gap()
    assert gap == pytest.approx(0.007) and len(ball.hits()[0]) == 1
    np.testing.assert_allclose(normal, SLOPE, atol=1e-9)
    # beyond the sharp edge the ball is below the slope's plane, and rolls round the edge
    edge = np.array([-HALF[0], 0.0, -HALF[2]])
    way = np.array([-np.cos(0.3), 0.0, -np.sin(0.3)])
    gap, normal = ball.move(place=edge + 0.12 * way).gap()
    assert gap == pytest.approx(0.02)
    np.testing.assert_allclose(normal, way, atol=1e-9)


@pytest.mark.parametrize("other", ["sphere", "capsule", "box", "wedge"])
def test_gaps_are_the_largest_separation(wedge, other, rng, figure):
    """By support functions, without a kernel; near and far, apart and overlapping."""
    worst = beaten = 0.0
    around = directions(rng, 2000)
    overlaps = 0
    shape = wedge(tuple(HALF))
    made = {"sphere": Sphere(0.2), "capsule": Capsule(0.1, (0, 0, -0.2), (0, 0.1, 0.3)), "box": Box((0.1, 0.2, 0.3))}
    for number in range(60):
        pair = Pair(shape, made.get(other, shape))
        place = rng.normal(size=3) * (0.1, 0.3, 0.8)[number % 3]
        pair.move(place, random_quaternion(rng), turn2=random_quaternion(rng))
        gap, n = pair.gap()
        overlaps += gap < 0.0
        worst = max(worst, abs(pair.separation(n[None])[0] - gap))
        beaten = max(beaten, pair.separation(around).max() - gap + min(gap, 0.0) * 0.02)
    assert 5 < overlaps < 55
    figure(f"wedge, {other}: gap along its own normal", worst, 1e-8)
    figure(f"wedge, {other}: a direction with more room", beaten, 1e-8)


def test_it_stands_on_a_mesh(wedge):
    pair = Pair(wedge(tuple(HALF)), floor_grid())
    pair.move((0.0, 0.0, HALF[2] + 0.003))
    assert pair.gap()[0] == pytest.approx(0.003, abs=1e-6) and len(pair.hits()[0]) == 4


def test_it_falls_and_comes_to_rest(wedge, figure):
    """On the ground, with a ball that rolls down its slope and off."""
    shape = wedge(tuple(HALF))
    actors = [
        limp_thing("wedge", shape, 20.0, 24.0, 48, (0.0, 0.0, HALF[2] + 0.1)),
        limp_thing("ball", Sphere(0.05), 0.2, 24.0, 48, (0.15, 0.0, 0.6)),
    ]
    result = engine.simulate_together(actors, engine.Scene(ground=engine.Ground()), steps_per_second=240)
    ramp, ball = (each.motion.positions[:, 0] for each in result)
    figure("wedge at rest off the ground [m]", abs(ramp[-1, 2] - HALF[2]), 2e-3)
    figure("wedge at rest, its speed [m/s]", np.linalg.norm(ramp[-1] - ramp[-2]) * 24.0, 0.02)
    assert ball[-1, 0] < ramp[-1, 0] - HALF[0] and ball[:, 2].min() > 0.045, "down the slope, onto the ground"


def test_what_else_is_asked_follows_from_its_corners(wedge, rng):
    """Soles, Pull Pose's floor, distances, wires and surface."""
    turn, shift = Rotation.random(random_state=5).as_matrix(), rng.normal(size=3)
    shape = wedge(tuple(HALF)).moved(turn, shift)
    model = thing("ramp", shape, 3.0)
    lowest = shape.corners()[:, 2].min()
    clear = Soles.of(model).clearance(np.zeros((1, 1, 3)), np.array([[[1.0, 0, 0, 0]]]), -3.0)
    assert clear[0] == pytest.approx(lowest + 3.0) == pytest.approx(shape.lowest(np.array([[0.0, 0, 1]]))[0] + 3.0)
    assert len(Posing(model, np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)))._pull.spot) == 6
    points = shift + rng.uniform(-0.2, 0.2, (200, 3))
    inside = shape.gaps(points) < 0.0
    pair = Pair(shape, Sphere(0.1))
    assert np.array_equal(inside, pair.distance(0, points) < 0.0) and 5 < inside.sum() < 195
    edges = shape.wires()
    assert len(edges) == 9 and np.abs(shape.gaps(edges.reshape(-1, 3))).max() < 1e-9
    surface = shape.surface()
    assert len(surface.triangles) == 2 * 1 + 3 * 2
    a, b, c = np.moveaxis(surface.vertices[surface.triangles], 1, 0)
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2 == pytest.approx(
        4 * HALF[0] * HALF[2] + 4 * HALF[1] * (HALF[0] + HALF[2] + np.hypot(HALF[0], HALF[2]))
    )
    assert (np.einsum("ij,ij->i", surface.normals, surface.vertices - center_of_mass(shape)) > 0.0).all()
    rod = wedge.rod(0.1, np.array([0.0, 0.0, 0.8]))
    assert volume(rod) == pytest.approx(4.0 * 0.1 * 0.1 * 0.4)
    assert wedge.fits(points, np.ones(3)) == [wedge.around(points, None)]


def test_a_box_is_one(rng):
    """What a box says of itself is what its corners say."""
    box = Box(tuple(HALF), tuple(rng.normal(size=3)), tuple(random_quaternion(rng)))
    hull = engine.Hull(box.corners())
    up = directions(rng, 50)
    inside = box.inside() + rng.uniform(-0.1, 0.1, (50, 3))
    np.testing.assert_allclose(box.lowest(up), hull.lowest(up), atol=1e-12)
    np.testing.assert_allclose(box.gaps(inside), hull.gaps(inside), atol=1e-12)
    assert len(box.wires()) == len(hull.wires()) == 12
    assert {len(each.surface().triangles) for each in (box, hull)} == {12}
    sides = itertools.chain(*(each.wires().reshape(-1, 3) for each in (box, hull)))
    assert max(np.linalg.norm(box.corners() - point, axis=1).min() for point in sides) < 1e-9
