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
GRID_PADDING = 3  # cells around the mesh
GRID_LIMIT = 8e6  # values
THICKNESS = 1e-3  # of its size: what a flat hull is given
NEAR_SAMPLES = 12  # of the surface whose triangles are measured exactly from a node
CLUSTER = 16  # triangles that are not divided any more
THIN = 0.4  # of a cell: a surface that a grid can show is seldom missed by more
BONE_THICKNESS = 0.15  # of its length: radius of a bone without skin
BONE_SKIN = 60.0  # percent of the skin that is inside a bone's capsule
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

    @classmethod
    def from_mesh(cls, vertices: np.ndarray, triangles: np.ndarray, cell: float | None = None, cells: int = 48) -> Grid:
        """The grid of a triangle mesh, (k, 3) metres and (f, 3) rows of vertices: cubes of size `cell`, or as many
        as `cells` along its longest side. The mesh may have holes and faces turned either way."""
        vertices, triangles = _checked_mesh(vertices, triangles)
        low, high = vertices[triangles].min(axis=(0, 1)), vertices[triangles].max(axis=(0, 1))
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        longest = 2.0 * half.max()
        if cell is None:
            if not (cells > 2 * GRID_PADDING + 1 and longest > 0.0):
                raise SettingError(f"A grid of {cells} cells about a mesh of {longest} m: give more of both.")
            cell = longest / (cells - 2 * GRID_PADDING)
        _check_length(cell, "A grid's cell")
        size = np.ceil(2.0 * half / cell).astype(int) + 1 + 2 * GRID_PADDING
        if size.astype(float).prod() > GRID_LIMIT:
            raise SettingError(f"A grid of {' × '.join(map(str, size))} cells is too large: give larger cells.")
        axes = [middle[k] + (np.arange(size[k]) - 0.5 * (size[k] - 1)) * cell for k in range(3)]
        nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        corners = vertices[triangles]
        samples, owner = _surface_samples(corners, 0.5 * cell)
        values = _unsigned_distances(nodes, corners, samples, owner).reshape(size)
        inside = _inside_nodes(nodes.reshape(*size, 3), values, corners, _is_closed(triangles), cell)
        values[inside] *= -1.0
        _thicken_sheets(values, inside, samples, axes, cell)
        spread = _spread_points(vertices[np.unique(triangles)], samples, GRID_POINTS)
        return cls(values, middle, float(cell), half, spread)


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


def volume(shape: Shape) -> float:
    """Cubic metres."""
    return _moments(shape)[0]


def center_of_mass(shape: Shape) -> np.ndarray:
    """(3,) in the body's frame, the shape being of one material throughout."""
    return _moments(shape)[1]


def inertia(shape: Shape, mass: float) -> np.ndarray:
    """(3, 3) about the centre of mass, in the body's axes."""
    _check_length(mass, "A mass")
    return mass * _moments(shape)[2]


def bounding_sphere(shape: Shape) -> tuple[np.ndarray, float]:
    """Centre in the body's frame and radius of a ball that holds the shape; endless for a plane."""
    row, link = np.zeros(SHAPE_COLUMNS), np.zeros(LINK_COLUMNS, dtype=np.int64)
    _lay_out(shape, row, link, {"points": [], "edges": [], "faces": [], "rings": []})
    return row[OWN_SPOT : OWN_SPOT + 3].copy(), math.inf if isinstance(shape, Plane) else float(row[BOUND])


def _moments(shape: Shape) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, centre of mass, and inertia of a unit mass."""
    if isinstance(shape, Sphere):
        r = shape.radius
        return 4.0 / 3.0 * math.pi * r**3, np.array(shape.center, dtype=float), 0.4 * r**2 * np.eye(3)
    if isinstance(shape, Capsule):
        return _capsule_moments(shape)
    if isinstance(shape, Box):
        x, y, z = np.square(shape.half)
        turn = rot.rotate(np.array(shape.rotation) / np.linalg.norm(shape.rotation), np.eye(3)).T
        own = np.diag([y + z, x + z, x + y]) / 3.0
        return 8.0 * math.sqrt(x * y * z), np.array(shape.center, dtype=float), turn @ own @ turn.T
    if isinstance(shape, Hull):
        solid = hull_solid(shape.points)
        fans = [(ring[0], ring[k], ring[k + 1]) for ring in solid.rings for k in range(1, len(ring) - 1)]
        return _mesh_moments(solid.points[np.array(fans)])
    if isinstance(shape, Grid):
        return _grid_moments(shape)
    raise SettingError("A plane has no end and so no volume or mass: use a box for a body that moves.")


def _capsule_moments(shape: Capsule) -> tuple[float, np.ndarray, np.ndarray]:
    start, end, r = np.array(shape.start, dtype=float), np.array(shape.end, dtype=float), shape.radius
    length = float(np.linalg.norm(end - start))
    tube, ball = math.pi * r**2 * length, 4.0 / 3.0 * math.pi * r**3
    along = 0.5 * tube * r**2 + 0.4 * ball * r**2
    # the half balls' own centres are 3/8 r beyond the tube's ends
    across = tube * (length**2 / 12.0 + r**2 / 4.0) + ball * (0.4 * r**2 + 0.25 * length**2 + 0.375 * length * r)
    axes = _axes_with_z(end - start)
    return tube + ball, 0.5 * (start + end), axes @ np.diag([across, across, along]) @ axes.T / (tube + ball)


def _mesh_moments(corners: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Of a closed mesh of triangles (f, 3, 3): tetrahedra from one point to each."""
    origin = corners.mean(axis=(0, 1))
    a, b, c = np.moveaxis(corners - origin, 1, 0)
    parts = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    total = parts.sum()
    sums = a + b + c
    middle = (parts @ sums) / (4.0 * total)
    squares = sum(np.einsum("i,ij,ik->jk", parts, v, v) for v in (a, b, c, sums)) / (20.0 * total)
    return float(total), origin + middle, _from_squares(squares - np.outer(middle, middle))


def _grid_moments(shape: Grid) -> tuple[float, np.ndarray, np.ndarray]:
    """Of the cells, those at the surface counted by the part that is inside."""
    share = np.clip(0.5 - shape.values / shape.cell, 0.0, 1.0)
    total = share.sum()
    if total <= 0.0:
        raise SettingError("A grid without inside has no volume or mass: give smaller cells or close the mesh.")
    axes = [(np.arange(n) - 0.5 * (n - 1)) * shape.cell for n in shape.values.shape]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    middle = np.einsum("xyz,xyzi->i", share, nodes) / total
    squares = np.einsum("xyz,xyzi,xyzj->ij", share, nodes, nodes) / total + np.eye(3) * shape.cell**2 / 12.0
    squares -= np.outer(middle, middle)
    return float(total * shape.cell**3), shape.middle + middle, _from_squares(squares)


def _from_squares(squares: np.ndarray) -> np.ndarray:
    """Inertia of a unit mass from the mean of x xᵀ."""
    return np.trace(squares) * np.eye(3) - squares


def fit_capsule(points: np.ndarray) -> Capsule:
    """The smallest capsule about points (k, 3), nearly."""
    points = _outer_points(points)
    axes = _main_axes(points)
    best = min((_capsule_along(points, axis) for axis in axes), key=volume)
    step = 0.3
    while step > 0.005:
        axis = np.array(best.end) - np.array(best.start)
        axes = _axes_with_z(axis if np.linalg.norm(axis) > 1e-9 else axes[0]).T
        tries = [axes[2] + step * (x * axes[0] + y * axes[1]) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        other = min((_capsule_along(points, axis) for axis in tries), key=volume)
        if volume(other) < volume(best):
            best = other
        else:
            step *= 0.5
    return best


def fit_box(points: np.ndarray) -> Box:
    """The smallest box about points (k, 3), nearly."""
    points = _outer_points(points)
    best = min((_box_with(points, axes) for axes in (_main_axes(points), np.eye(3))), key=lambda box: box[0])
    step = 0.3
    while step > 0.003:
        tries = []
        for axis in np.eye(3):
            for sign in (-1.0, 1.0):
                turn = rot.rotate(rot.exp(sign * step * axis), np.eye(3))
                tries.append(_box_with(points, turn @ best[1]))
        other = min(tries, key=lambda box: box[0])
        if other[0] < best[0] * (1.0 - 1e-9):
            best = other
        else:
            step *= 0.5
    _, axes, middle, half = best
    return Box(tuple(map(float, half)), tuple(map(float, middle)), tuple(map(float, _quaternion(axes.T))))


def fit_bone_capsule(length: float, points: np.ndarray | None = None) -> Capsule:
    """A capsule along a bone, its Y axis from 0 to the length: through the skin that follows the bone, points (k, 3)
    in its frame, or of a usual thickness without."""
    _check_length(length, "A bone's length")
    radius, low, high = BONE_THICKNESS * length, 0.0, length
    if points is not None and len(points):
        points = np.asarray(points, dtype=float)
        _check_points(points)
        along = points[:, 1]
        beside = np.hypot(points[:, 0], points[:, 2])
        middle = (along >= 0.0) & (along <= length)
        some = beside[middle] if middle.sum() >= 4 else beside
        # most of the skin, but not the folds and stray points that follow a bone
        radius = float(np.clip(np.percentile(some, BONE_SKIN), 0.02 * length, 1.5 * length))
        low, high = np.clip(np.percentile(along, (2.0, 98.0)), -0.5 * length, 1.5 * length)
        low, high = min(low, 0.25 * length), max(high, 0.75 * length)
    start, end = low + radius, high - radius
    if start > end:
        start = end = 0.5 * (low + high)
    return Capsule(radius, (0.0, float(start), 0.0), (0.0, float(end), 0.0))


def _check_points(points: np.ndarray) -> None:
    if points.ndim != 2 or points.shape[1] != 3 or not len(points) or not np.isfinite(points).all():
        raise SettingError(f"Points to fit have the shape {points.shape}: give at least one finite point, as (k, 3).")


def _outer_points(points: np.ndarray) -> np.ndarray:
    """Those that matter to a fit."""
    points = np.asarray(points, dtype=float)
    _check_points(points)
    points = np.unique(points, axis=0)
    if len(points) > 100:
        points = _thicken(points)
        points = points[_convex_hull(points).vertices]
    return points


def _main_axes(points: np.ndarray) -> np.ndarray:
    """(3, 3) orthonormal rows, right-handed, the longest extent first."""
    axes = np.linalg.svd(points - points.mean(axis=0))[2] if len(points) > 1 else np.eye(3)
    return axes * np.sign(np.linalg.det(axes))


def _capsule_along(points: np.ndarray, axis: np.ndarray) -> Capsule:
    axes = _axes_with_z(axis)
    own = points @ axes
    middle, radius = _circle(own[:, :2])
    radius = max(radius * (1.0 + 1e-9), 1e-4)
    cap = np.sqrt(np.maximum(radius**2 - ((own[:, :2] - middle) ** 2).sum(axis=1), 0.0))
    low, high = float((own[:, 2] + cap).min()), float((own[:, 2] - cap).max())
    if low > high:
        low = high = 0.5 * (low + high)
    start, end = axes @ [*middle, low], axes @ [*middle, high]
    return Capsule(float(radius), tuple(map(float, start)), tuple(map(float, end)))


def _circle(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Centre and radius of a circle about points in the plane: towards the farthest, ever less."""
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    for k in range(1, 120):
        away = points - middle
        middle = middle + away[np.argmax((away**2).sum(axis=1))] / (k + 1.0)
    return middle, float(np.sqrt(((points - middle) ** 2).sum(axis=1).max()))


def _box_with(points: np.ndarray, axes: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Volume, axes (rows), middle and half sizes of the box about points."""
    own = points @ axes.T
    low, high = own.min(axis=0), own.max(axis=0)
    half = np.maximum(0.5 * (high - low), 1e-4)
    return float(half.prod()), axes, (0.5 * (low + high)) @ axes, half


def _quaternion(matrix: np.ndarray) -> np.ndarray:
    """(4,) of a rotation matrix, by its largest entry."""
    m = matrix
    squares = 1.0 + np.array([np.trace(m), *(2.0 * np.diag(m) - np.trace(m))])
    k = int(np.argmax(squares))
    w = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    xy, xz, yz = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
    rows = [(squares[0], *w), (w[0], squares[1], xy, xz), (w[1], xy, squares[2], yz), (w[2], xz, yz, squares[3])]
    q = np.array(rows[k])
    return q / np.linalg.norm(q)


def _checked_mesh(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    vertices, triangles = np.asarray(vertices, dtype=float), np.asarray(triangles, dtype=np.int64)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
        raise SettingError(f"A mesh's vertices have the shape {vertices.shape}: give finite numbers, as (k, 3).")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or not len(triangles):
        raise SettingError(f"A mesh's triangles have the shape {triangles.shape}: give at least one, as (f, 3).")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise SettingError(f"A mesh's triangles name vertices that are not there: it has {len(vertices)}.")
    return vertices, triangles


def _surface_samples(corners: np.ndarray, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Points no farther apart than the spacing on triangles (f, 3, 3), and whose they are."""
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    parts = np.ceil(sides / spacing).astype(int).clip(1, 400)
    points, owner = [], []
    for count in np.unique(parts):
        chosen = np.flatnonzero(parts == count)
        i, j = (a.ravel() for a in np.meshgrid(np.arange(count + 1), np.arange(count + 1)))
        keep = i + j <= count
        u, v = i[keep] / count, j[keep] / count
        weights = np.column_stack([1.0 - u - v, u, v])
        points.append(np.einsum("pk,fkc->fpc", weights, corners[chosen]).reshape(-1, 3))
        owner.append(np.repeat(chosen, len(weights)))
    return np.concatenate(points), np.concatenate(owner)


def _unsigned_distances(nodes: np.ndarray, corners: np.ndarray, samples: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """Of points to triangles: exactly to those with the nearest samples."""
    tree = _search_tree(samples)
    best = np.empty(len(nodes))
    for begin in range(0, len(nodes), 20_000):
        part = nodes[begin : begin + 20_000]
        reached, near = tree.query(part, k=min(NEAR_SAMPLES, len(samples)))
        near = owner[near.reshape(len(part), -1)]
        exact = _to_triangles(np.repeat(part, near.shape[1], axis=0), corners[near.ravel()]).reshape(near.shape)
        best[begin : begin + 20_000] = np.minimum(exact.min(axis=1), reached.reshape(len(part), -1)[:, 0])
    return best


def _search_tree(points: np.ndarray):
    try:
        from scipy.spatial import cKDTree
    except ImportError as error:
        raise LibraryError(f"A grid needs scipy, which is missing ({error}): use a hull or box instead.") from error
    return cKDTree(points)


def _to_triangles(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Distances of points (k, 3), each to its own triangle (k, 3, 3)."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    square = np.maximum((normal**2).sum(axis=1), 1e-300)
    over = square > 1e-200
    best = np.full(len(points), np.inf)
    for k in range(3):
        start = corners[:, k]
        side = corners[:, (k + 1) % 3] - start
        arm = points - start
        over &= np.einsum("ij,ij->i", np.cross(side, arm), normal) >= 0.0
        t = np.einsum("ij,ij->i", arm, side) / np.maximum((side**2).sum(axis=1), 1e-300)
        best = np.minimum(best, ((arm - np.clip(t, 0.0, 1.0)[:, None] * side) ** 2).sum(axis=1))
    height = np.einsum("ij,ij->i", points - corners[:, 0], normal)
    return np.sqrt(np.where(over, height**2 / square, best))


def _is_closed(triangles: np.ndarray) -> bool:
    """Whether every edge has two sides."""
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return bool((np.unique(edges, axis=0, return_counts=True)[1] % 2 == 0).all())


def _inside_nodes(nodes: np.ndarray, values: np.ndarray, corners: np.ndarray, closed: bool, cell: float) -> np.ndarray:
    """Which nodes the mesh winds around. If it has no holes, neighbours farther than half a cell from it are on one
    side of it, and one of each such region answers for all."""
    from scipy import ndimage

    regions, count = ndimage.label(values > 0.5 * cell) if closed else (np.zeros(values.shape, dtype=int), 0)
    asked = regions == 0
    first = np.zeros(count + 1, dtype=np.int64)
    if count:
        deepest = ndimage.maximum_position(values, regions, np.arange(1, count + 1))
        first[1:] = np.ravel_multi_index(np.array(deepest).T, values.shape)
        asked.ravel()[first[1:]] = True
    inside = np.zeros(values.shape, dtype=bool)
    # a mesh turned inside out winds the other way; a sheet alone never reaches one half
    inside[asked] = np.abs(_winding(nodes[asked], corners)) > 0.52
    return np.where(regions > 0, inside.ravel()[first][regions], inside)


def _winding(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """How often a mesh of triangles winds around points. From far away a cluster of triangles counts as one small
    face; from near by it is halved."""
    places = corners.mean(axis=1)
    area = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    weight = np.linalg.norm(area, axis=1) + 1e-300
    total = np.zeros(len(points))
    todo = [(np.arange(len(corners)), np.arange(len(points)))]
    while todo:
        members, rows = todo.pop()
        middle = np.average(places[members], axis=0, weights=weight[members])
        radius = np.linalg.norm(corners[members] - middle, axis=2).max()
        arm = middle - points[rows]
        far = np.linalg.norm(arm, axis=1)
        away = far > 3.0 * radius + 1e-12
        total[rows[away]] += arm[away] @ area[members].sum(axis=0) / far[away] ** 3
        rows = rows[~away]
        if not len(rows):
            continue
        if len(members) > CLUSTER:
            axis = int(np.argmax(np.ptp(places[members], axis=0)))
            order = members[np.argsort(places[members, axis], kind="stable")]
            todo += [(order[: len(order) // 2], rows), (order[len(order) // 2 :], rows)]
            continue
        for begin in range(0, len(rows), 50_000):
            some = rows[begin : begin + 50_000]
            total[some] += _solid_angles(points[some], corners[members])
    return total / (4.0 * np.pi)


def _solid_angles(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Summed over the triangles, of the sphere seen from each point (the tangent of half an angle, by Van Oosterom)."""
    a, b, c = (corners[None, :, k] - points[:, None] for k in range(3))
    x, y, z = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    over = np.einsum("pfi,pfi->pf", a, np.cross(b, c))
    under = x * y * z + z * (a * b).sum(axis=2) + x * (b * c).sum(axis=2) + y * (c * a).sum(axis=2)
    return 2.0 * np.arctan2(over, under).sum(axis=1)


def _thicken_sheets(
    values: np.ndarray, inside: np.ndarray, samples: np.ndarray, axes: list[np.ndarray], cell: float
) -> None:
    """Make what is too thin for the grid at least thick enough to be felt: where the values between the nodes do not
    come near zero at the surface, the nodes around are lowered."""
    if not inside.any():
        values -= 0.5 * cell
        return
    low = np.array([axis[0] for axis in axes])
    place = (samples - low) / cell
    base = np.minimum(np.floor(place).astype(int), np.array(values.shape) - 2)
    part = place - base
    found = np.zeros(len(samples))
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(corner, part, 1.0 - part), axis=1)
        found += weight * values[tuple((base + corner).T)]
    thin = found > THIN * cell
    drop = np.zeros(values.shape)
    for corner in np.ndindex(2, 2, 2):
        np.maximum.at(drop, tuple((base[thin] + corner).T), found[thin] + 0.25 * cell)
    values -= drop


def _spread_points(vertices: np.ndarray, samples: np.ndarray, limit: int) -> np.ndarray:
    """Vertices and other points of a surface, each next one the farthest from those before."""
    vertices = np.unique(vertices, axis=0)
    if len(vertices) > 4000:
        vertices = vertices[:: len(vertices) // 4000 + 1]
    others = samples[:: len(samples) // 6000 + 1]
    chosen, gaps = [], np.full(len(vertices), np.inf)
    gaps_others = np.full(len(others), np.inf)
    while len(chosen) < limit:
        # corners first: half of the places are the vertices'
        use_vertices = len(chosen) < limit // 2 and gaps.max() > 0.0
        pool, far = (vertices, gaps) if use_vertices else (others, gaps_others)
        at = int(np.argmax(far)) if chosen else int(np.argmax(np.linalg.norm(pool - pool.mean(axis=0), axis=1)))
        if far[at] <= 1e-9:
            break
        chosen.append(pool[at])
        gaps = np.minimum(gaps, np.linalg.norm(vertices - pool[at], axis=1))
        gaps_others = np.minimum(gaps_others, np.linalg.norm(others - pool[at], axis=1))
    return np.array(chosen)


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
