"""Shapes: refusals that help, moments by closed forms and sampling, fits that hold their points, grids of meshes."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from engine.collision import signed_distance
from engine.compile.decorators import entry_point
from engine.errors import SettingError
from engine.geometry import shape_table as SH
from engine.geometry.build_shapes import build_shapes
from engine.geometry.convex_hull import HULL_POINTS, hull_solid
from engine.geometry.mass_properties import center_of_mass, inertia, volume
from engine.geometry.shape_table import new_placed
from engine.geometry.shapes import SHAPES, Box, Capsule, Grid, Hull, Plane, Sphere, named
from engine.geometry.shapes.box import fit_box
from engine.geometry.shapes.capsule import fit_bone_capsule, fit_capsule
from shapes import random_quaternion


@entry_point
def _distances(shapes, where, placed, points, out):
    signed_distance.place_shapes(shapes, where, placed)
    for k in range(len(points)):
        out[k] = signed_distance.distance(shapes, placed, 0, (points[k, 0], points[k, 1], points[k, 2]))[0]


def distances(shape, points):
    """Of points in the body's frame."""
    shapes = build_shapes([0], [shape], [0.5], [0.0], [0], [0])
    out = np.zeros(len(points))
    _distances(shapes, np.array([[0.0, 0, 0, 1, 0, 0, 0]]), new_placed(shapes), np.ascontiguousarray(points), out)
    return out


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: Sphere(0.0), "radius"),
        (lambda: Sphere(np.nan), "radius"),
        (lambda: Sphere(1.0, (0, np.inf, 0)), "center"),
        (lambda: Capsule(-1.0, (0, 0, 0), (0, 0, 1)), "radius"),
        (lambda: Capsule(1.0, (0, 0), (0, 0, 1)), "start"),
        (lambda: Box((1, 1, 0)), "half size"),
        (lambda: Box((1, 1, 1), rotation=(0, 0, 0, 0)), "rotation"),
        (lambda: Hull(np.zeros((0, 3))), "at least one point"),
        (lambda: Hull([[0, 0, np.nan]]), "finite"),
        (lambda: Plane((0, 0, 0)), "normal"),
        (lambda: Plane((0, 0, 1), np.inf), "offset"),
        (lambda: volume(Plane()), "box"),
        (lambda: inertia(Sphere(1.0), 0.0), "mass"),
        (lambda: fit_box(np.zeros((0, 3))), "at least one"),
        (lambda: fit_bone_capsule(0.0), "length"),
        (lambda: Grid.from_mesh(np.zeros((3, 3)), [[0, 1, 3]]), "not there"),
        (lambda: Grid.from_mesh(np.zeros((3, 2)), [[0, 1, 2]]), "(3, 2)"),
        (lambda: Grid.from_mesh(np.eye(3), [[0, 1, 2]], cell=1e-5), "larger cells"),
        (lambda: build_shapes([1], [Sphere(1.0)], [0.5, 0.5], [0.0], [0], [1]), "frictions"),
        (lambda: build_shapes([1], [Sphere(1.0)], [-0.5], [0.0], [0], [1]), "Friction"),
        (lambda: build_shapes([1], ["ball"], [0.5], [0.0], [0], [1]), "not a shape"),
    ],
)
def test_refusals_name_the_problem(make, names):
    with pytest.raises(SettingError) as caught:
        make()
    assert names in str(caught.value)


def test_no_shapes_and_pools_have_rows():
    for shapes in (build_shapes([], [], [], [], [], []), build_shapes([1], [Sphere(1.0)], [0.5], [0.0], [0], [1])):
        assert all(len(pool) for pool in (shapes.points, shapes.edges, shapes.faces, shapes.rings, shapes.grid))
        assert shapes.shape.dtype == float and shapes.link.dtype == np.int64
    assert len(shapes.shape) == 1


def solid_is_closed(solid):
    sides = [(r[k], r[(k + 1) % len(r)]) for r in solid.rings for k in range(len(r))]
    assert len(sides) == len(set(sides)) and {(q, p) for p, q in sides} == set(sides)
    assert len(solid.points) - len(sides) // 2 + len(solid.rings) == 2, "Euler"
    for ring, normal in zip(solid.rings, solid.normals, strict=True):
        heights = (solid.points - solid.points[ring[0]]) @ normal
        size = np.ptp(solid.points, axis=0).max()
        assert heights.max() < 1e-6 * size and np.abs(heights[ring]).max() < 1e-6 * size


def test_hulls(rng):
    cube = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    solid = hull_solid(np.concatenate([cube, rng.uniform(-1, 1, (200, 3)), cube * [1, 1, 0], cube * [0.5, 0.5, 1]]))
    assert len(solid.points) == 8 and sorted(map(len, solid.rings)) == [4] * 6, "one face a side"
    solid_is_closed(solid)
    for _ in range(30):
        points = rng.normal(size=(int(rng.integers(4, 300)), 3)) * rng.uniform(0.01, 1.0, 3)
        solid = hull_solid(points)
        solid_is_closed(solid)
        full = ConvexHull(points)
        assert len(solid.points) <= HULL_POINTS
        if len(full.vertices) <= HULL_POINTS:
            assert len(solid.points) == len(full.vertices)
        else:
            assert ConvexHull(solid.points).volume > 0.85 * full.volume
    ball = rng.normal(size=(3000, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    solid = hull_solid(ball)
    solid_is_closed(solid)
    assert len(solid.points) == HULL_POINTS and volume(Hull(ball)) > 0.8 * 4 / 3 * np.pi


@pytest.mark.parametrize("points", [[[1, 2, 3]], [[0, 0, 0], [1, 0, 0]], [[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.eye(3)])
def test_flat_hulls_get_a_little_thickness(points):
    points = np.array(points, dtype=float)
    solid = hull_solid(points)
    solid_is_closed(solid)
    assert np.abs(distances(Hull(points), points)).max() < 3e-3
    assert volume(Hull(points)) > 0.0


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(*[st.floats(-100, 100) | st.sampled_from([0.0, 1.0])] * 3), min_size=1, max_size=40))
def test_any_hull_can_be_built(points):
    shapes = build_shapes([1], [Hull(np.array(points))], [0.5], [0.0], [0], [1])
    link = shapes.link[0]
    corners = link[SH.POINT_END] - link[SH.POINT_FIRST]
    sides, faces = link[SH.EDGE_END] - link[SH.EDGE_FIRST], link[SH.FACE_END] - link[SH.FACE_FIRST]
    assert 4 <= corners <= HULL_POINTS and corners - sides // 2 + faces == 2
    assert np.isfinite(shapes.faces).all()


def bounding_sphere(shape):
    row = shape.layout().row
    return row[SH.OWN_SPOT : SH.OWN_SPOT + 3], row[SH.BOUND]


def moments_by_sampling(shape, rng, count=400_000):
    center, radius = bounding_sphere(shape)
    points = center + rng.uniform(-radius, radius, (count, 3))
    inside = points[distances(shape, points) < 0.0]
    middle = inside.mean(axis=0)
    arms = inside - middle
    spread = np.einsum("ki,kj->ij", arms, arms) / len(inside)
    return (2 * radius) ** 3 * len(inside) / count, middle, np.trace(spread) * np.eye(3) - spread


@pytest.mark.parametrize("kind", ["sphere", "capsule", "box", "hull"])
def test_moments_against_sampling(kind, rng, figure):
    shape = {
        "sphere": Sphere(0.3, (0.1, 0.2, 0.3)),
        "capsule": Capsule(0.2, (0.1, 0.0, 0.0), (0.5, 0.4, -0.3)),
        "box": Box((0.1, 0.3, 0.5), (0.2, 0.0, 0.1), tuple(random_quaternion(rng))),
        "hull": Hull(rng.normal(size=(20, 3)) * [0.2, 0.3, 0.5] + 0.3),
    }[kind]
    amount, middle, turning = moments_by_sampling(shape, rng)
    size = bounding_sphere(shape)[1]
    figure(f"{kind}: volume against sampling", abs(volume(shape) / amount - 1.0), 0.02)
    figure(f"{kind}: centre against sampling", np.abs(center_of_mass(shape) - middle).max() / size, 0.005)
    wrong = np.abs(inertia(shape, 3.0) / 3.0 - turning).max()
    figure(f"{kind}: inertia against sampling", wrong / np.trace(turning), 0.01)


def test_moments_by_closed_forms(rng):
    assert volume(Sphere(2.0)) == pytest.approx(32 / 3 * np.pi)
    assert np.allclose(inertia(Sphere(2.0), 5.0), 8.0 * np.eye(3))
    assert np.allclose(inertia(Box((0.5, 1.0, 1.5)), 12.0), np.diag([13.0, 10.0, 5.0]))
    # a capsule of no length is a ball, one of no thickness a rod
    point = Capsule(2.0, (0, 0, 0), (0, 0, 0))
    assert np.allclose(inertia(point, 5.0), 8.0 * np.eye(3)) and volume(point) == pytest.approx(32 / 3 * np.pi)
    rod = inertia(Capsule(1e-6, (0, -1, 0), (0, 2, 0)), 4.0)
    assert np.allclose(rod, np.diag([3.0, 0.0, 3.0]), atol=1e-4)
    # a box's corners as a hull
    half = np.array([0.2, 0.5, 0.8])
    turn = random_quaternion(rng)
    corners = Rotation.from_quat(turn, scalar_first=True).apply(
        np.array(list(itertools.product((-1, 1), repeat=3))) * half
    )
    box, hull = Box(tuple(half), (1.0, 2.0, 3.0), tuple(turn)), Hull(corners + np.array([1, 2, 3]))
    assert volume(hull) == pytest.approx(volume(box)) and np.allclose(center_of_mass(hull), [1, 2, 3])
    assert np.allclose(inertia(hull, 2.0), inertia(box, 2.0))


def test_bounding_spheres(rng):
    for shape in (Capsule(0.2, (0, 0, 0), (1, 0, 0)), Box((1, 2, 3), (1, 0, 0)), Hull(rng.normal(size=(20, 3)))):
        center, radius = bounding_sphere(shape)
        points = center + 1.0001 * radius * Rotation.random(500, random_state=1).apply([0, 0, 1])
        assert distances(shape, points).min() > 0.0


def test_fit_box(rng, figure):
    worst = 0.0
    for _ in range(10):
        turn, half, middle = (
            Rotation.random(random_state=int(rng.integers(1 << 30))),
            rng.uniform(0.1, 1.0, 3),
            rng.normal(size=3),
        )
        points = turn.apply(rng.uniform(-1, 1, (2000, 3)) * half) + middle
        box = fit_box(points)
        assert distances(box, points).max() < 1e-9
        worst = max(worst, volume(box) / (8 * half.prod()))
    figure("fit_box: volume against the box the points are of", worst, 1.1)
    flat = fit_box(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.0]]))
    assert min(flat.half) == pytest.approx(1e-4) and volume(flat) < 1e-3
    assert volume(fit_box([[1, 2, 3]])) == pytest.approx(8e-12)


def test_fit_capsule(rng, figure):
    worst = 0.0
    for _ in range(10):
        start, end, radius = rng.normal(size=3), rng.normal(size=3), rng.uniform(0.05, 0.5)
        line = rng.random((3000, 1))
        points = start + line * (end - start) + radius * Rotation.random(3000, random_state=2).apply([0, 0, 1])
        capsule = fit_capsule(points)
        assert distances(capsule, points).max() < 1e-6
        worst = max(worst, volume(capsule) / volume(Capsule(radius, tuple(start), tuple(end))))
    figure("fit_capsule: volume against the capsule the points are of", worst, 1.15)
    assert distances(fit_capsule([[1, 2, 3]]), np.array([[1.0, 2, 3]]))[0] < 0.0


def test_rounding_chooses_no_fit(rng, figure):
    """A limb that is as wide to all sides: which way a box is turned about it, and a capsule's axis, would hang on
    rounding alone."""
    turn = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    ring = np.column_stack([0.05 * np.cos(turn), np.zeros(12), 0.05 * np.sin(turn)])
    limb = np.concatenate([ring + np.array([0.0, y, 0.0]) for y in np.linspace(0.0, 0.4, 5)])
    worst = ends = 0.0
    for _ in range(20):
        box, moved = (fit_box(points) for points in (limb, limb + 1e-7 * rng.normal(size=limb.shape)))
        apart = abs(np.dot(box.rotation, moved.rotation))
        worst = max(worst, np.abs(np.array(box.half) - moved.half).max(), 1.0 - apart)
        capsule, moved = (fit_capsule(points) for points in (limb, limb + 1e-7 * rng.normal(size=limb.shape)))
        worst = max(worst, abs(capsule.radius - moved.radius))
        ends = max(
            ends, *(np.abs(np.subtract(*pair)).max() for pair in zip(ends_of(capsule), ends_of(moved), strict=True))
        )
    figure("fits of a round limb, its points moved by 1e-7 m: off by [m]", worst, 1e-5)
    # points on the rim of a round end: their depth goes with the square root
    figure("fits of a round limb, its points moved by 1e-7 m: ends off by [m]", ends, 5e-4)


def ends_of(capsule: Capsule) -> tuple[np.ndarray, np.ndarray]:
    return np.array(capsule.start), np.array(capsule.end)


def test_fit_bone_capsule(rng):
    bare = fit_bone_capsule(0.4)
    assert (
        bare.radius == pytest.approx(0.06)
        and bare.start[1] == pytest.approx(0.06)
        and bare.end[1] == pytest.approx(0.34)
    )
    angle, along = rng.uniform(0, 2 * np.pi, 500), rng.uniform(0, 0.4, 500)
    skin = np.column_stack([0.05 * np.cos(angle), along, 0.05 * np.sin(angle)])
    stray = rng.normal(size=(40, 3))
    capsule = fit_bone_capsule(0.4, np.concatenate([skin, stray]))
    assert capsule.radius == pytest.approx(0.05, rel=0.02)
    assert capsule.start[0] == capsule.start[2] == capsule.end[0] == capsule.end[2] == 0.0
    assert -0.2 <= capsule.start[1] <= 0.1 and 0.3 <= capsule.end[1] <= 0.6
    wide = fit_bone_capsule(0.1, skin * [4, 0.25, 4])
    assert wide.start == wide.end and wide.radius == pytest.approx(0.15)


def torus_mesh(large=0.3, small=0.1, around=64, across=32):
    u, v = np.meshgrid(np.arange(around) / around * 2 * np.pi, np.arange(across) / across * 2 * np.pi, indexing="ij")
    ring = large + small * np.cos(v)
    vertices = np.stack([ring * np.cos(u), ring * np.sin(u), small * np.sin(v)], axis=-1).reshape(-1, 3)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(around), np.arange(across), indexing="ij"))
    a, b = i * across + j, (i + 1) % around * across + j
    c, d = (i + 1) % around * across + (j + 1) % across, i * across + (j + 1) % across
    return vertices, np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])


def ball_mesh(radius=0.4, count=1500):
    k = np.arange(count) + 0.5
    z, turn = 1 - 2 * k / count, np.pi * (1 + 5**0.5) * k
    points = radius * np.column_stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z])
    hull = ConvexHull(points)
    faces = hull.simplices.copy()
    turned = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    wrong = (turned * hull.equations[:, :3]).sum(axis=1) < 0
    faces[wrong] = faces[wrong][:, ::-1]
    return points, faces


# two triangles a side
BOX_FACES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
BOX_FACES = np.concatenate([BOX_FACES[:, [0, 1, 2]], BOX_FACES[:, [0, 2, 3]]])


def box_mesh(half):
    return np.array(list(itertools.product((-1.0, 1.0), repeat=3))) * half, BOX_FACES


@pytest.mark.parametrize("name", ["ball", "torus"])
@pytest.mark.parametrize("wear", ["whole", "inside out", "holes"])
def test_grid_of_a_mesh(name, wear, rng, figure):
    """Against the exact distance; turned inside out, and with a tenth of its faces missing."""
    vertices, faces = ball_mesh() if name == "ball" else torus_mesh()
    if wear == "inside out":
        faces = faces[:, ::-1]
    elif wear == "holes":
        faces = faces[rng.random(len(faces)) > 0.1]
    shift = np.array([0.3, -0.2, 0.1])
    clock = time.perf_counter()
    grid = Grid.from_mesh(vertices + shift, faces, cells=32)
    figure.note(
        f"{name}, {wear}: grid of {grid.values.size} values and {len(faces)} faces [s]", time.perf_counter() - clock
    )
    size = 0.5 * (np.array(grid.values.shape) - 1) * grid.cell
    points = rng.uniform(-1, 1, (4000, 3)) * size
    rim = np.hypot(points[:, 0], points[:, 1])
    exact = np.linalg.norm(points, axis=1) - 0.4 if name == "ball" else np.hypot(rim - 0.3, points[:, 2]) - 0.1
    smooth = (np.abs(exact) < 0.3) & (rim > 0.05) if name == "ball" else (exact > -0.08) & (rim > 0.03)
    wrong = np.abs(distances(grid, points + shift) - exact)[smooth] / grid.cell
    if wear == "holes":  # near a hole the nearest face is farther
        figure(f"{name}, {wear}: median error in cells", np.median(wrong), 1 / 3)
        figure(f"{name}, {wear}: 99th percentile of the error in cells", np.percentile(wrong, 99), 2.0)
    else:
        figure(f"{name}, {wear}: error in cells", wrong.max(), 1 / 3)
        true = 4 / 3 * np.pi * 0.4**3 if name == "ball" else 2 * np.pi**2 * 0.3 * 0.1**2
        figure(f"{name}, {wear}: volume", abs(volume(grid) / true - 1.0), 0.03)
        assert np.allclose(center_of_mass(grid), shift, atol=2e-3)
        about = 0.4 * 0.4**2 if name == "ball" else 0.3**2 + 0.75 * 0.1**2
        figure(f"{name}, {wear}: inertia about Z", abs(inertia(grid, 1.0)[2, 2] / about - 1.0), 0.03)


def test_grid_points_are_spread_over_the_surface(rng):
    grid = Grid.from_mesh(*torus_mesh(), cells=24)
    assert 200 <= len(grid.points) <= 300
    rim = np.hypot(grid.points[:, 0], grid.points[:, 1])
    assert np.abs(np.hypot(rim - 0.3, grid.points[:, 2]) - 0.1).max() < 2e-3
    u = rng.uniform(0, 2 * np.pi, (2, 500))
    probe = np.column_stack(
        [(0.3 + 0.1 * np.cos(u[1])) * np.cos(u[0]), (0.3 + 0.1 * np.cos(u[1])) * np.sin(u[0]), 0.1 * np.sin(u[1])]
    )
    nearest = np.linalg.norm(probe[:, None] - grid.points[None], axis=2).min(axis=1)
    assert nearest.max() < 0.08, "area over points, about 6 cm a side"
    corners = Grid.from_mesh(*box_mesh([0.5, 0.4, 0.3]), cells=16).points
    for corner in box_mesh([0.5, 0.4, 0.3])[0]:
        assert np.linalg.norm(corners - corner, axis=1).min() < 1e-9


def test_a_grid_of_a_box(figure):
    half = np.array([0.5, 0.4, 0.3])
    grid = Grid.from_mesh(*box_mesh(half), cells=32)
    points = np.random.default_rng(1).uniform(-1, 1, (4000, 3)) * half * 1.2
    exact = distances(Box(tuple(half)), points)
    figure("box grid: error in cells", np.abs(distances(grid, points) - exact).max() / grid.cell, 0.6)
    figure("box grid: median error in cells", np.median(np.abs(distances(grid, points) - exact)) / grid.cell, 0.05)
    figure("box grid: volume", abs(volume(grid) / (8 * half.prod()) - 1.0), 0.05)


@pytest.mark.parametrize("offset", [0.0, 0.25, 0.5])
def test_sheets_and_thin_walls_are_felt(offset):
    """A single sheet, and a plate thinner than a cell, have an inside about their surface wherever it lies."""
    sheet = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0.0]])
    two = np.array([[0, 1, 2], [0, 2, 3]])
    lift = np.array([[0.0, 0, 3], [0.1, 0, 3], [0, 0.1, 3]])  # makes the grid's planes fall elsewhere
    for height in (0.0, offset * 0.1):
        vertices = np.concatenate([sheet + np.array([0, 0, height]), lift])
        grid = Grid.from_mesh(vertices, np.concatenate([two, [[4, 5, 6]]]), cell=0.1)
        points = np.column_stack([np.random.default_rng(2).uniform(-0.8, 0.8, (300, 2)), np.full(300, height)])
        assert distances(grid, points).max() <= 0.0
        away = distances(grid, points + np.array([0, 0, 0.4]))
        assert np.abs(away - 0.4).max() < 0.1
    plate = Grid.from_mesh(*box_mesh([1.0, 1.0, 0.01]), cell=0.1)
    points = np.column_stack([np.random.default_rng(2).uniform(-0.9, 0.9, (300, 2)), np.zeros(300)])
    assert distances(plate, points).max() < 0.0


def each_shape(rng):
    """One of every kind there is."""
    found = {
        Sphere: Sphere(0.3, (0.1, 0.2, 0.3)),
        Capsule: Capsule(0.2, (0.1, 0.0, 0.0), (0.5, 0.4, -0.3)),
        Box: Box((0.1, 0.3, 0.5), (0.2, 0.0, 0.1), tuple(random_quaternion(rng))),
        Hull: Hull(rng.normal(size=(20, 3)) * [0.2, 0.3, 0.5] + 0.3),
        Plane: Plane((0.0, 0.6, 0.8), 0.2),
        Grid: Grid.from_mesh(*box_mesh([0.3, 0.2, 0.4]), cells=24),
    }
    return [found[shape] for shape in SHAPES]


def test_every_shape_answers_for_itself(rng):
    """Its answers agree with one another, and with the kernels' distance."""
    up = Rotation.random(40, random_state=2).apply([0.0, 0.0, 1.0])
    for shape in each_shape(rng):
        near = shape.inside() + rng.normal(size=(300, 3)) * 0.3
        fine = {"atol": 0.6 * getattr(shape, "cell", 0.0) + 1e-9}
        inside = shape.gaps(near) < 0.0
        agree = inside == (distances(shape, near) < 0.0)
        assert 10 < inside.sum() < 290 and agree[np.abs(shape.gaps(near)) > fine["atol"]].all()
        lowest = shape.lowest(up)
        for balls in (shape.balls(), shape.bearing()):
            low = (up @ balls[:, :3].T - balls[:, 3]).min(axis=1)
            assert (low <= lowest + 1e-9).all(), "they hold it"
        np.testing.assert_allclose(low, lowest, atol=1e-9, err_msg="of those that bear it one is the first")
        assert (near[inside] @ up.T >= lowest - fine["atol"]).all()
        assert np.linalg.norm(near[inside], axis=1).max() <= shape.farthest() + fine["atol"]
        assert np.abs(shape.gaps(shape.wires().reshape(-1, 3))).max(initial=0.0) <= 0.1 + fine["atol"]
        surface = shape.surface()
        if surface is not None:
            assert surface.vertices.shape == surface.normals.shape and surface.triangles.max() < len(surface.vertices)
            np.testing.assert_allclose(shape.gaps(surface.vertices), 0.0, atol=1e-9)
            assert (shape.gaps(surface.vertices + 0.01 * surface.normals) > 0.0).all(), "normals look outward"


def test_moved_shapes_are_as_far_from_moved_points(rng):
    turn, shift = Rotation.random(random_state=4).as_matrix(), rng.normal(size=3)
    points = rng.normal(size=(100, 3))
    for shape in each_shape(rng):
        if isinstance(shape, Grid):  # the one that cannot be turned
            with pytest.raises(SettingError, match="straight in its body"):
                shape.moved(turn, shift)
        else:
            moved = shape.moved(turn, shift)
            np.testing.assert_allclose(moved.gaps(points @ turn.T + shift), shape.gaps(points), atol=1e-9)


def test_shapes_are_made_around_a_mesh(rng):
    """By the names that settings have for them; what sits in a body is where it sits."""
    vertices, faces = ball_mesh(count=300)
    turn, shift = Rotation.random(random_state=6).as_matrix(), np.array([0.5, 0.0, -0.2])
    kinds = [shape.kind for shape in SHAPES if shape.kind]
    assert kinds == ["SPHERE", "CAPSULE", "BOX", "HULL", "MESH"]
    for kind in kinds:
        shape = named(kind).around_placed(vertices, faces, turn, shift)
        assert shape.gaps(vertices @ turn.T + shift).max() < getattr(shape, "cell", 1e-6)
        np.testing.assert_allclose(center_of_mass(shape), shift, atol=0.02)
