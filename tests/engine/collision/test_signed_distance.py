"""Signed distances: MuJoCo, dense samples and closed forms, and never a number that is not finite."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from engine.collision import signed_distance
from engine.compile.decorators import entry_point
from engine.geometry import shape_table as SH
from engine.geometry.build_shapes import build_shapes
from engine.geometry.convex_hull import hull_solid
from engine.geometry.shape_table import new_placed
from engine.geometry.shapes import Box, Capsule, Grid, Hull, Plane, Sphere
from shapes import random_quaternion


@entry_point
def _place(shapes, where, placed):
    signed_distance.place_shapes(shapes, where, placed)


@entry_point
def _measure(shapes, placed, s, starts, ends, points, lines):
    for k in range(len(starts)):
        a = (starts[k, 0], starts[k, 1], starts[k, 2])
        near = signed_distance.distance(shapes, placed, s, a)
        along = signed_distance.nearest_on_segment(shapes, placed, s, a, (ends[k, 0], ends[k, 1], ends[k, 2]))
        for c in range(4):
            points[k, c] = near[c]
        for c in range(5):
            lines[k, c] = along[c]


class Placed:
    """One shape on one body at a place."""

    def __init__(self, shape, place=(0.0, 0.0, 0.0), turn=(1.0, 0.0, 0.0, 0.0)):
        self.shapes = build_shapes([1], [shape], [0.5], [0.0], [0], [1])
        self.where = np.array([[0, 0, 0, 1, 0, 0, 0], [*place, *turn]], dtype=float)
        self.table = new_placed(self.shapes)
        _place(self.shapes, self.where, self.table)

    def measure(self, starts, ends=None):
        """Distances and normals (k, 4) of the starts; t, distance and normal (k, 5) along the lines to the ends."""
        starts = np.ascontiguousarray(np.atleast_2d(starts), dtype=float)
        ends = starts if ends is None else np.ascontiguousarray(np.atleast_2d(ends), dtype=float)
        points, lines = np.full((len(starts), 4), np.nan), np.full((len(starts), 5), np.nan)
        _measure(self.shapes, self.table, 0, starts, ends, points, lines)
        return points, lines

    def own(self, points):
        """World points in the body's frame."""
        turn = Rotation.from_quat(self.where[1, 3:], scalar_first=True)
        return turn.inv().apply(points - self.where[1, :3])


def torus_grid(cells=48, large=0.3, small=0.1):
    """Exact values of a torus about Z."""
    cell = 2.0 * (large + small) / (cells - 7)
    half = np.array([large + small, large + small, small])
    size = 2 * np.ceil(half / cell).astype(int) + 7
    axes = [(np.arange(n) - 0.5 * (n - 1)) * cell for n in size]
    x, y, z = np.meshgrid(*axes, indexing="ij")
    values = np.hypot(np.hypot(x, y) - large, z) - small
    turns = np.linspace(0.0, 2 * np.pi, 16, endpoint=False)
    u, v = (a.ravel() for a in np.meshgrid(turns, turns))
    ring = large + small * np.cos(v)
    points = np.column_stack([ring * np.cos(u), ring * np.sin(u), small * np.sin(v)])
    return Grid(values, np.zeros(3), cell, half, points)


def random_shapes(rng):
    """One of each kind, half a metre or so."""
    return {
        "sphere": Sphere(rng.uniform(0.05, 0.5), tuple(rng.normal(size=3) * 0.2)),
        "capsule": Capsule(rng.uniform(0.02, 0.3), tuple(rng.normal(size=3) * 0.3), tuple(rng.normal(size=3) * 0.3)),
        "box": Box(tuple(rng.uniform(0.02, 0.5, 3)), tuple(rng.normal(size=3) * 0.2), tuple(random_quaternion(rng))),
        "hull": Hull(rng.normal(size=(int(rng.integers(4, 40)), 3)) * rng.uniform(0.05, 0.5, 3)),
        "plane": Plane(tuple(rng.normal(size=3)), rng.normal() * 0.3),
        "grid": torus_grid(),
    }


def surface(kind, shape, rng, count=60_000):
    """Dense points of a shape's surface, in the body's frame."""
    unit = rng.normal(size=(count, 3))
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    if kind == "sphere":
        return np.array(shape.center) + shape.radius * unit
    if kind == "capsule":
        start, end = np.array(shape.start), np.array(shape.end)
        axis = end - start
        arm = np.cross(axis, unit)
        arm /= np.linalg.norm(arm, axis=1, keepdims=True)
        side = start + rng.random((count, 1)) * axis + shape.radius * arm
        caps = np.where((unit @ axis > 0)[:, None], end, start) + shape.radius * unit
        return np.concatenate([side, caps])
    if kind == "box":
        flat = rng.uniform(-1.0, 1.0, (count, 3))
        axis = rng.integers(0, 3, count)
        flat[np.arange(count), axis] = np.sign(flat[np.arange(count), axis])
        turn = Rotation.from_quat(shape.rotation, scalar_first=True)
        return turn.apply(flat * shape.half) + shape.center
    solid = hull_solid(shape.points)
    triangles = np.array([(r[0], r[k], r[k + 1]) for r in solid.rings for k in range(1, len(r) - 1)])
    a, b, c = (solid.points[triangles[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    pick = rng.choice(len(area), count, p=area / area.sum())
    u, v = rng.random((2, count, 1))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    return a[pick] + u * (b - a)[pick] + v * (c - a)[pick]


@pytest.mark.parametrize("kind", ["sphere", "capsule", "box", "hull"])
def test_against_dense_samples(kind, rng, figure):
    """Inside and outside; the normal leads from or to the nearest sample; the sign is that of being inside."""
    worst = turned = 0.0
    for _ in range(20):
        shape = random_shapes(rng)[kind]
        body = Placed(shape, rng.normal(size=3), random_quaternion(rng))
        points = body.where[1, :3] + rng.normal(size=(400, 3)) * 0.6
        answers, _ = body.measure(points)
        samples = surface(kind, shape, rng)
        reached, _ = cKDTree(samples).query(body.own(points))
        spacing = np.median(cKDTree(samples).query(samples[:500], k=2)[0][:, 1]) * 3.0
        short = reached - np.abs(answers[:, 0])
        assert short.min() > -1e-9, "no sample is nearer than the distance"
        worst = max(worst, (short / spacing).max())
        clear = np.abs(answers[:, 0]) > 0.05
        foot = points - answers[:, :1] * answers[:, 1:]
        turned = max(turned, np.abs(body.measure(foot[clear])[0][:, 0]).max())
        assert np.allclose(np.linalg.norm(answers[:, 1:], axis=1), 1.0)
    figure(f"{kind}: distance against dense samples, in sample spacings", worst, 4.0)
    figure(f"{kind}: the point one distance along the normal lies on the surface", turned, 1e-9)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "box", "hull"])
def test_sign(kind, rng):
    """Points drawn towards the middle of the shape are inside, beyond the surface they are not."""
    for _ in range(20):
        shape = random_shapes(rng)[kind]
        body = Placed(shape)
        samples = surface(kind, shape, rng, 500)
        middle = samples.mean(axis=0)
        assert (body.measure(middle + 0.97 * (samples - middle))[0][:, 0] < 0.0).all()
        assert (body.measure(middle + 1.03 * (samples - middle))[0][:, 0] > 0.0).all()


def mujoco_geom(kind, shape) -> tuple[str, str]:
    """An asset and a geom of the shape, on a body."""
    if kind == "sphere":
        return "", f'<geom type="sphere" size="{shape.radius}" pos="{numbers(shape.center)}"/>'
    if kind == "capsule":
        return "", f'<geom type="capsule" size="{shape.radius}" fromto="{numbers((*shape.start, *shape.end))}"/>'
    if kind == "box":
        place = f'pos="{numbers(shape.center)}" quat="{numbers(shape.rotation)}"'
        return "", f'<geom type="box" size="{numbers(shape.half)}" {place}/>'
    points = shape.points
    return f'<mesh name="hull" vertex="{numbers(points.ravel())}"/>', '<geom type="mesh" mesh="hull"/>'


def numbers(values) -> str:
    return " ".join(repr(float(v)) for v in values)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "box", "hull"])
def test_against_mujoco(kind, rng, figure):
    """A small ball's distance to the shape, at 300 places."""
    worst = 0.0
    for _ in range(15):
        shape = random_shapes(rng)[kind]
        asset, geom = mujoco_geom(kind, shape)
        place, turn = rng.normal(size=3), random_quaternion(rng)
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><compiler inertiafromgeom="true"/><asset>{asset}</asset><worldbody>'
            f'<body pos="{numbers(place)}" quat="{numbers(turn)}">{geom}</body>'
            '<body mocap="true"><geom type="sphere" size="0.01"/></body></worldbody></mujoco>'
        )
        data = mujoco.MjData(model)
        body = Placed(shape, place, turn)
        for point in place + rng.normal(size=(20, 3)):
            data.mocap_pos[0] = point
            mujoco.mj_forward(model, data)
            theirs = mujoco.mj_geomDistance(model, data, 0, 1, 100.0, None) + 0.01
            if theirs > 0.02:
                worst = max(worst, abs(body.measure(point)[0][0, 0] - theirs))
    figure(f"MuJoCo: distance of a ball and a {kind}", worst, 2e-6 if kind == "hull" else 1e-7)


def test_plane(rng):
    normal, offset = rng.normal(size=3), 0.7
    body = Placed(Plane(tuple(normal), offset))
    points = rng.normal(size=(50, 3))
    answers, _ = body.measure(points)
    length = np.linalg.norm(normal)
    assert np.allclose(answers[:, 0], (points @ normal - offset) / length, atol=1e-12)
    assert np.allclose(answers[:, 1:], normal / length)


def test_grid_of_a_torus(rng, figure):
    grid = torus_grid()
    body = Placed(grid, rng.normal(size=3), random_quaternion(rng))
    points = body.where[1, :3] + rng.normal(size=(4000, 3)) * 0.3
    answers, _ = body.measure(points)
    x, y, z = body.own(points).T
    exact = np.hypot(np.hypot(x, y) - 0.3, z) - 0.1
    size = 0.5 * (np.array(grid.values.shape) - 1) * grid.cell
    inside = (np.abs(body.own(points)) < size).all(axis=1) & (exact > -0.09) & (np.hypot(x, y) > 0.02)
    assert inside.sum() > 500
    figure("torus grid: error in cells", np.abs(answers[:, 0] - exact)[inside].max() / grid.cell, 1 / 3)
    # outside the grid: a lower bound that grows on the way out
    assert (answers[~inside & (exact > 0), 0] < exact[~inside & (exact > 0)] + grid.cell).all()
    ray = body.where[1, :3] + np.linspace(0.45, 9.0, 200)[:, None] * Rotation.from_quat(
        body.where[1, 3:], scalar_first=True
    ).apply([0.6, 0.64, 0.48])
    out = body.measure(ray)[0]
    assert (np.diff(out[:, 0]) > 0.0).all()
    assert np.allclose(np.linalg.norm(out[:, 1:], axis=1), 1.0)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "box", "hull", "plane", "grid"])
def test_nearest_on_segment(kind, rng, figure):
    """No point of the line is nearer than the one found."""
    worst = 0.0
    for _ in range(10):
        body = Placed(random_shapes(rng)[kind], rng.normal(size=3), random_quaternion(rng))
        starts, ends = body.where[1, :3] + rng.normal(size=(2, 30, 3)) * 0.7
        _, lines = body.measure(starts, ends)
        steps = np.linspace(0.0, 1.0, 401)[:, None]
        for a, b, (t, d, *n) in zip(starts, ends, lines, strict=True):
            near, _ = body.measure(a + t * (b - a))
            assert abs(near[0, 0] - d) < 1e-9 and np.isclose(np.linalg.norm(n), 1.0)
            worst = max(worst, d - body.measure(a + steps * (b - a))[0][:, 0].min())
    figure(
        f"{kind}: least distance along a line, above the least of 401 samples", worst, 1e-6 if kind == "grid" else 1e-9
    )


sizes = st.floats(1e-3, 100.0)
anywhere = st.floats(-100.0, 100.0) | st.just(0.0)
place = st.tuples(anywhere, anywhere, anywhere)
shape = st.one_of(
    st.builds(Sphere, sizes, place),
    st.builds(Capsule, sizes, place, place),
    st.builds(Box, st.tuples(sizes, sizes, sizes), place),
    st.builds(lambda points: Hull(np.array(points)), st.lists(place, min_size=1, max_size=12)),
    st.builds(Plane, place.filter(lambda v: np.linalg.norm(v) > 1e-6), anywhere),
)


@settings(deadline=None, max_examples=300)
@given(shape, place, place)
def test_wild_input_stays_finite(shape, a, b):
    body = Placed(shape, a)
    spots = np.array([a, b, np.zeros(3), body.table[0, :3]])
    points, lines = body.measure(spots, spots[::-1])
    assert np.isfinite(points).all() and np.isfinite(lines).all()
    assert np.allclose(np.linalg.norm(points[:, 1:], axis=1), 1.0, atol=1e-9)
    assert ((lines[:, 0] >= 0.0) & (lines[:, 0] <= 1.0)).all()
    # nearly parallel lines are told apart to the root of rounding, in parts of the shape's size
    size = min(1.0 + np.abs(body.table[0, SH.EXTENT : SH.EXTENT + 3]).max(), 1e3)
    assert (lines[:, 1] <= points[:, 0] + 1e-6 * size).all()
