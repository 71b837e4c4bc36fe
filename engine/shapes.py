"""The shapes that bodies touch one another with.

Owns what a user gives (spheres, capsules, boxes, hulls, planes, grids, each in the frame of
the body it sits on), what follows from it (volume, centre, inertia, fitting to points) and
the constant tables the kernels read. Must not know where bodies are or what a contact is.

Every shape gets a frame of its own with the middle of its bounding box at the origin: a
capsule lies along Z, a plane's normal is Z, a box is straight. So a bounding box is the
half sizes in that frame, and the kernels need no offsets.

As in `tree`, names are first columns, numpy integers for numba's sake.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from . import rotations as rot
from .errors import LibraryError, SettingError

# Kinds, in the order the kernels lean on: round ones first, then those with faces.
SPHERE, CAPSULE, BOX, HULL, GRID, PLANE = (np.int64(k) for k in range(6))

# Columns of Shapes.shape
OWN_SPOT = np.int64(0)  # 3: the shape's frame in the body's …
OWN_AXES = np.int64(3)  # 9: … and its axes, a matrix row by row
ROUNDING = np.int64(12)  # 1: radius of a sphere or capsule, 0 for the others
HALF = np.int64(13)  # 3: half sizes of the bounding box in the shape's frame, without the rounding
BOUND = np.int64(16)  # 1: radius of the ball about the shape's origin that holds it all
REACH = np.int64(17)  # 1: distance of its farthest point from the body's origin
CELL = np.int64(18)  # 1: a grid's cell
FRICTION = np.int64(19)  # 1
BOUNCE = np.int64(20)  # 1
SHAPE_COLUMNS = np.int64(21)

# Columns of Shapes.link; ranges are first and behind the last
BODY, KIND, ROOT, RESPONSE_KIND = (np.int64(k) for k in range(4))
POINT_FIRST, POINT_END = np.int64(4), np.int64(5)
EDGE_FIRST, EDGE_END = np.int64(6), np.int64(7)
FACE_FIRST, FACE_END = np.int64(8), np.int64(9)
GRID_FIRST = np.int64(10)
GRID_SIZE = np.int64(11)  # 3: values along X, Y, Z
GROUP = np.int64(14)  # which group of `member` it is in
LINK_COLUMNS = np.int64(15)

# Columns of Shapes.edges: one row for each side of an edge, so a face's rows go round it
EDGE_START, EDGE_STOP, EDGE_FACE, EDGE_OTHER = (np.int64(k) for k in range(4))
# Columns of Shapes.rings
RING_FIRST, RING_END = np.int64(0), np.int64(1)
# Columns of Shapes.faces
FACE_NORMAL, FACE_OFFSET = np.int64(0), np.int64(3)

# Column of Shapes.points
XYZ = np.int64(0)

# Columns of the table of where bodies are, row 0 the world
POSITION, QUATERNION = np.int64(0), np.int64(3)  # 3, 4

# Columns of a table of placed shapes
SPOT = np.int64(0)  # 3: the shape's origin in the world, the middle of its bounding box
AXES = np.int64(3)  # 9: its axes in the world, a matrix row by row
EXTENT = np.int64(12)  # 3: half sizes of its bounding box in world axes, with the rounding
PLACED_COLUMNS = np.int64(15)

HULL_POINTS = 48  # a hull with more corners costs more than they are worth
GRID_POINTS = 300  # what a grid keeps of its surface to touch others with
THICKNESS = 1e-3  # of its size: what a flat hull is given
COPLANAR = 1e-7  # triangles of a hull this much in one plane, against its size, are one face


@dataclass(frozen=True)
class Sphere:
    radius: float
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _check_length(self.radius, "A sphere's radius")
        _check_vector(self.center, "A sphere's center")


@dataclass(frozen=True)
class Capsule:
    """All points no farther than the radius from the line between start and end."""

    radius: float
    start: tuple[float, float, float]
    end: tuple[float, float, float]

    def __post_init__(self) -> None:
        _check_length(self.radius, "A capsule's radius")
        _check_vector(self.start, "A capsule's start")
        _check_vector(self.end, "A capsule's end")


@dataclass(frozen=True)
class Box:
    """half: half the size along its own axes; rotation (wxyz) of those in the body."""

    half: tuple[float, float, float]
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _check_vector(self.half, "A box's half sizes")
        for size in self.half:
            _check_length(size, "A box's half size")
        _check_vector(self.center, "A box's center")
        if np.shape(self.rotation) != (4,) or not 1e-6 < np.linalg.norm(self.rotation) < 1e6:
            raise SettingError(f"A box's rotation is {self.rotation}: give a quaternion (w, x, y, z) of length one.")


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of points (k, 3)."""

    points: np.ndarray

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=float)
        if points.ndim != 2 or points.shape[1] != 3 or not len(points):
            raise SettingError(f"A hull's points have the shape {points.shape}: give at least one point, as (k, 3).")
        if not np.isfinite(points).all():
            raise SettingError("A hull's points are not all finite numbers: check the mesh they come from.")
        points.flags.writeable = False
        object.__setattr__(self, "points", points)


@dataclass(frozen=True)
class Plane:
    """A half space: points x with normal·x < offset are inside."""

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def __post_init__(self) -> None:
        _check_vector(self.normal, "A plane's normal")
        if not np.linalg.norm(self.normal) > 1e-9:
            raise SettingError(f"A plane's normal is {self.normal}: give a direction that is not zero.")
        if not math.isfinite(self.offset):
            raise SettingError(f"A plane's offset is {self.offset}: give a finite number of metres.")


@dataclass(frozen=True, eq=False)
class Grid:
    """Signed distances of any mesh, also concave, on a grid of cubes about it."""

    values: np.ndarray  # (nx, ny, nz) metres, negative inside
    middle: np.ndarray  # (3,) the grid's middle in the body
    cell: float
    half: np.ndarray  # (3,) half sizes of the mesh's bounding box, whose middle is the grid's
    points: np.ndarray  # (k, 3) some of its surface, well spread, in the body


Shape = Sphere | Capsule | Box | Hull | Plane | Grid


class Shapes(NamedTuple):
    """Constant tables of ns shapes."""

    shape: np.ndarray  # (ns, SHAPE_COLUMNS)
    link: np.ndarray  # (ns, LINK_COLUMNS)
    points: np.ndarray  # (k, 3) corners, ends and surface points, in the shape's frame
    edges: np.ndarray  # (m, 4) points of each side of an edge, its face and the one behind it (−1: none)
    faces: np.ndarray  # (f, 4) outward normal and offset
    rings: np.ndarray  # (f, 2) the rows of `edges` that go round the face
    grid: np.ndarray  # flat values, Z fastest
    skip_start: np.ndarray  # (ns+1,) where each shape's part of `skip` begins
    skip: np.ndarray  # shapes it never touches
    member_start: np.ndarray  # (groups+1,) a group: the shapes of one tree, or a single plane
    member: np.ndarray  # (ns,)


class _Solid(NamedTuple):
    """Corners and faces in the shape's own frame."""

    points: np.ndarray  # (k, 3)
    rings: list[list[int]]  # corners of each face, counter-clockwise from outside
    normals: np.ndarray  # (f, 3)


def build_shapes(
    bodies: Sequence[int],
    shapes: Sequence[Shape],
    friction: Sequence[float],
    bounce: Sequence[float],
    response: Sequence[int],
    roots: Sequence[int],
    apart: Iterable[tuple[int, int]] = (),
) -> Shapes:
    """Lay shapes out for the kernels, all sequences one entry a shape: the row of its body (0: the world), of
    that body's tree root, …; `apart`: pairs of shapes that never touch."""
    count = len(shapes)
    for name, given in (("bodies", bodies), ("frictions", friction), ("bounces", bounce), ("responses", response),
                        ("tree roots", roots)):  # fmt: skip
        if len(given) != count:
            raise SettingError(f"{count} shapes came with {len(given)} {name}: give one for each shape.")
    table = np.zeros((count, SHAPE_COLUMNS))
    link = np.zeros((count, LINK_COLUMNS), dtype=np.int64)
    pools: dict[str, list] = {"points": [], "edges": [], "faces": [], "rings": [], "grid": []}
    filled = 0  # values in pools["grid"]
    for s, shape in enumerate(shapes):
        link[s, BODY], link[s, ROOT], link[s, RESPONSE_KIND] = bodies[s], roots[s], response[s]
        table[s, FRICTION], table[s, BOUNCE] = friction[s], bounce[s]
        _lay_out(shape, table[s], link[s], pools)
        if isinstance(shape, Grid):
            link[s, GRID_FIRST] = filled
            link[s, GRID_SIZE : GRID_SIZE + 3] = shape.values.shape
            pools["grid"].append(shape.values.ravel())
            filled += shape.values.size
    bad = ~(np.isfinite(table[:, FRICTION]) & (table[:, FRICTION] >= 0.0) & (table[:, BOUNCE] >= 0.0))
    if bad.any() or not np.isfinite(table[:, BOUNCE]).all():
        raise SettingError("Friction and bounce of a shape must be finite and not below zero: check its settings.")
    skip_start, skip = _skips(count, apart)
    member_start, member = _groups(link)
    return Shapes(
        table,
        link,
        _pool(pools["points"], (3,), float),
        _pool(pools["edges"], (4,), np.int64),
        _pool(pools["faces"], (4,), float),
        _pool(pools["rings"], (2,), np.int64),
        np.concatenate([*pools["grid"], np.zeros(1)]),
        skip_start,
        skip,
        member_start,
        member,
    )


def new_placed(shapes: Shapes) -> np.ndarray:
    """The table `place_shapes` fills."""
    return np.zeros((len(shapes.shape), PLACED_COLUMNS))


def _pool(rows: list, width: tuple[int, ...], kind: type) -> np.ndarray:
    return np.array(rows, dtype=kind).reshape(-1, *width) if rows else np.zeros((1, *width), dtype=kind)


def _lay_out(shape: Shape, row: np.ndarray, link: np.ndarray, pools: dict[str, list]) -> None:
    """One shape's rows of the tables."""
    link[POINT_FIRST], link[EDGE_FIRST], link[FACE_FIRST] = (len(pools[k]) for k in ("points", "edges", "faces"))
    axes = np.eye(3)
    if isinstance(shape, Sphere):
        link[KIND] = SPHERE
        spot, row[ROUNDING] = np.array(shape.center, dtype=float), shape.radius
        pools["points"].append(np.zeros(3))
    elif isinstance(shape, Capsule):
        link[KIND] = CAPSULE
        start, end = np.array(shape.start, dtype=float), np.array(shape.end, dtype=float)
        spot, axes, row[ROUNDING] = 0.5 * (start + end), _axes_with_z(end - start), shape.radius
        row[HALF + 2] = 0.5 * np.linalg.norm(end - start)
        pools["edges"].append([len(pools["points"]), len(pools["points"]) + 1, -1, -1])
        pools["points"] += [np.array([0.0, 0.0, -row[HALF + 2]]), np.array([0.0, 0.0, row[HALF + 2]])]
    elif isinstance(shape, Box):
        link[KIND] = BOX
        spot, row[HALF : HALF + 3] = np.array(shape.center, dtype=float), shape.half
        axes = rot.rotate(np.array(shape.rotation) / np.linalg.norm(shape.rotation), np.eye(3)).T
        _add_solid(_box_solid(np.array(shape.half, dtype=float)), pools)
    elif isinstance(shape, Hull):
        link[KIND] = HULL
        solid = hull_solid(shape.points)
        low, high = solid.points.min(axis=0), solid.points.max(axis=0)
        spot, row[HALF : HALF + 3] = 0.5 * (low + high), 0.5 * (high - low)
        _add_solid(solid._replace(points=solid.points - spot), pools)
    elif isinstance(shape, Grid):
        link[KIND] = GRID
        spot, row[HALF : HALF + 3], row[CELL] = shape.middle, shape.half, shape.cell
        pools["points"] += list(shape.points - shape.middle)
    elif isinstance(shape, Plane):
        link[KIND] = PLANE
        normal = np.array(shape.normal, dtype=float)
        length = np.linalg.norm(normal)
        spot, axes = normal * shape.offset / length**2, _axes_with_z(normal)
    else:
        raise SettingError(f"{type(shape).__name__} is not a shape: give a Sphere, Capsule, Box, Hull, Plane or Grid.")
    row[OWN_SPOT : OWN_SPOT + 3], row[OWN_AXES : OWN_AXES + 9] = spot, axes.ravel()
    link[POINT_END], link[EDGE_END], link[FACE_END] = (len(pools[k]) for k in ("points", "edges", "faces"))
    own = np.array(pools["points"][link[POINT_FIRST] :]).reshape(-1, 3)
    if isinstance(shape, Grid):  # its points are a choice: the box holds all of the mesh
        own = _box_solid(np.asarray(shape.half, dtype=float)).points
    if len(own):
        row[BOUND] = np.linalg.norm(own, axis=1).max() + row[ROUNDING]
        row[REACH] = np.linalg.norm(own @ axes.T + spot, axis=1).max() + row[ROUNDING]


def _add_solid(solid: _Solid, pools: dict[str, list]) -> None:
    """Corners, faces and both sides of every edge."""
    first, face = len(pools["points"]), len(pools["faces"])
    behind = {(p, q): f for f, ring in enumerate(solid.rings) for p, q in _sides(ring)}
    pools["points"] += list(solid.points)
    for f, ring in enumerate(solid.rings):
        begin = len(pools["edges"])
        pools["edges"] += [[first + p, first + q, face + f, face + behind[q, p]] for p, q in _sides(ring)]
        pools["rings"].append([begin, len(pools["edges"])])
        # the plane through the farthest corner, so that no corner is outside
        pools["faces"].append([*solid.normals[f], (solid.points @ solid.normals[f]).max()])


def _sides(ring: list[int]) -> list[tuple[int, int]]:
    return [(ring[k], ring[(k + 1) % len(ring)]) for k in range(len(ring))]


def _box_solid(half: np.ndarray) -> _Solid:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    rings = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    normals = np.repeat(np.eye(3), 2, axis=0) * np.array([-1.0, 1.0] * 3)[:, None]
    return _Solid(signs * half, rings, normals)


def hull_solid(points: np.ndarray, limit: int = HULL_POINTS) -> _Solid:
    """Corners (at most `limit`) and flat faces of the convex hull; a flat one gets a little thickness."""
    points = _thicken(np.unique(np.asarray(points, dtype=float), axis=0))
    hull = _convex_hull(points)
    if len(hull.vertices) > limit:
        points = _few_corners(points[hull.vertices], limit)
        hull = _convex_hull(points)
    corners = points[hull.vertices]
    number = np.full(len(points), -1)
    number[hull.vertices] = np.arange(len(corners))
    triangles = number[hull.simplices]
    normals = hull.equations[:, :3]
    # scipy's triangles turn either way
    turn = np.cross(
        corners[triangles[:, 1]] - corners[triangles[:, 0]], corners[triangles[:, 2]] - corners[triangles[:, 0]]
    )
    wrong = (turn * normals).sum(axis=1) < 0.0
    triangles[wrong] = triangles[wrong][:, [0, 2, 1]]
    return _merge_faces(corners, triangles, normals, hull.neighbors)


def _convex_hull(points: np.ndarray, **options):
    try:
        from scipy.spatial import ConvexHull
    except ImportError as error:
        raise LibraryError(f"A hull needs scipy, which is missing ({error}): use a capsule or box instead.") from error
    return ConvexHull(points, **options)


def _thicken(points: np.ndarray) -> np.ndarray:
    """Copies of flat, straight or single points shifted along what they lack."""
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    size = max(float(np.linalg.norm(points - middle, axis=1).max()), 1e-9)
    axes = (
        np.linalg.svd(points - points.mean(axis=0))[2] if len(points) < 2000 else np.linalg.eigh(np.cov(points.T))[1].T
    )
    thin = max(THICKNESS * size, 1e-5)
    for axis in axes:
        spread = np.ptp(points @ axis)
        if spread < 1e-6 * size or spread < 1e-9:
            points = np.concatenate([points - thin * axis, points + thin * axis])
    return points


def _few_corners(points: np.ndarray, limit: int) -> np.ndarray:
    """The corners that matter most: each next one is that farthest outside of those before."""
    chosen = {int(k) for axis in np.eye(3) for k in (np.argmin(points @ axis), np.argmax(points @ axis))}
    middle = points.mean(axis=0)
    while len(chosen) < 4:  # extremes that coincide: the farthest from what is there
        gaps = np.min([np.linalg.norm(points - points[k], axis=1) for k in chosen], axis=0)
        chosen.add(int(np.argmax(gaps)))
    while len(chosen) < limit:
        some = sorted(chosen)
        try:
            planes = _convex_hull(points[some]).equations
            outside = (points @ planes[:, :3].T + planes[:, 3]).max(axis=1)
        except LibraryError:
            raise
        except Exception:  # qhull refuses what is flat: go away from what is there
            outside = np.min([np.linalg.norm(points - points[k], axis=1) for k in some], axis=0)
        outside[some] = -np.inf
        best = int(np.argmax(outside))
        if outside[best] <= 1e-9 * np.linalg.norm(points - middle, axis=1).max():
            break
        chosen.add(best)
    return points[sorted(chosen)]


def _merge_faces(corners: np.ndarray, triangles: np.ndarray, normals: np.ndarray, neighbors: np.ndarray) -> _Solid:
    """Triangles in one plane become one face."""
    size = np.linalg.norm(corners - corners.mean(axis=0), axis=1).max()
    group = np.full(len(triangles), -1)
    rings, kept = [], []
    for first in range(len(triangles)):
        if group[first] >= 0:
            continue
        plane, offset = normals[first], float(normals[first] @ corners[triangles[first, 0]])
        todo, inside = [first], {first}
        while todo:
            for other in neighbors[todo.pop()]:
                flat = np.abs(corners[triangles[other]] @ plane - offset).max() < COPLANAR * size
                if group[other] < 0 and other not in inside and flat:
                    inside.add(int(other))
                    todo.append(int(other))
        ring = _outline([tuple(triangles[k]) for k in inside])
        if ring is None:  # cannot be told apart from its neighbours: leave it a triangle
            inside, ring = {first}, [int(k) for k in triangles[first]]
        group[list(inside)] = len(rings)
        rings.append(ring)
        kept.append(plane)
    used = sorted({k for ring in rings for k in ring})  # corners in the middle of a face are none
    number = {k: n for n, k in enumerate(used)}
    return _Solid(corners[used], [[number[k] for k in ring] for ring in rings], np.array(kept))


def _outline(triangles: list[tuple[int, int, int]]) -> list[int] | None:
    """The one closed line around triangles; None if it is not one."""
    sides = {side for triangle in triangles for side in _sides(list(triangle))}
    follow = {p: q for p, q in sides if (q, p) not in sides}
    border = sum((q, p) not in sides for p, q in sides)
    start = next(iter(follow))
    ring = [int(start)]
    while (after := follow[ring[-1]]) != start:
        if len(ring) >= border or after not in follow:
            return None
        ring.append(int(after))
    return ring if len(ring) == border else None


def _skips(count: int, apart: Iterable[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Each shape's partners with a higher number."""
    partners: list[set[int]] = [set() for _ in range(count)]
    for a, b in apart:
        partners[min(a, b)].add(int(max(a, b)))
    start = np.zeros(count + 1, dtype=np.int64)
    start[1:] = np.cumsum([len(p) for p in partners])
    return start, np.array([*(k for p in partners for k in sorted(p)), -1], dtype=np.int64)


def _groups(link: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shapes by tree. A plane has no end and would make its group's box endless: it gets a group of its own."""
    groups: dict[tuple, list[int]] = {}
    for s, row in enumerate(link):
        groups.setdefault(("plane", s) if row[KIND] == PLANE else ("tree", int(row[ROOT])), []).append(s)
    start = np.zeros(len(groups) + 1, dtype=np.int64)
    for g, members in enumerate(groups.values()):
        link[members, GROUP] = g
        start[g + 1] = start[g] + len(members)
    return start, np.array([*(s for members in groups.values() for s in members), -1], dtype=np.int64)


def _axes_with_z(direction: np.ndarray) -> np.ndarray:
    """Rotation matrix whose third column is the direction; the identity for none."""
    length = np.linalg.norm(direction)
    if length < 1e-12:
        return np.eye(3)
    z = np.asarray(direction, dtype=float) / length
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _check_length(value: float, what: str) -> None:
    if not (np.ndim(value) == 0 and math.isfinite(value) and value > 0.0):
        raise SettingError(f"{what} is {value}: give a finite number of metres above zero.")


def _check_vector(value: Sequence[float], what: str) -> None:
    if np.shape(value) != (3,) or not np.isfinite(np.asarray(value, dtype=float)).all():
        raise SettingError(f"{what} is {value}: give three finite numbers in metres.")
