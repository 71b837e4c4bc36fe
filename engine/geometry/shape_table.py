"""Shapes as the kernels read them: constant tables.

Owns their layout. Must not know where bodies are or what a contact is.

Every shape gets a frame of its own with the middle of its bounding box at the origin: a
capsule lies along Z, a plane's normal is Z, a box is straight. So a bounding box is the
half sizes in that frame, and the kernels need no offsets.

As in `tables`, names are first columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import table
from ..errors import SettingError
from ..math import quaternions as rot
from ..memo import derived
from .convex_hull import Solid, box_solid, hull_solid, sides_of
from .shapes import Box, Capsule, Grid, Hull, Plane, Shape, Sphere

# Kinds, in the order the kernels lean on: round ones first, then those with faces.
SPHERE, CAPSULE, BOX, HULL, GRID, PLANE = (np.int64(k) for k in range(6))
# Columns of Shapes.shape
columns = Columns()
OWN_SPOT = columns(3)  # the shape's frame in the body's …
OWN_AXES = columns(9)  # … and its axes, a matrix row by row
ROUNDING = columns()  # radius of a sphere or capsule, 0 for the others
HALF = columns(3)  # half sizes of the bounding box in the shape's frame, without the rounding
BOUND = columns()  # radius of the ball about the shape's origin that holds it all
REACH = columns()  # distance of its farthest point from the body's origin
CELL = columns()  # a grid's cell
FRICTION = columns()
BOUNCE = columns()
THICK = columns()  # how deep its middle lies, infinite for a plane [m]
SHAPE_COLUMNS = columns.count
# Columns of Shapes.link; ranges are first and behind the last
columns = Columns()
BODY, KIND, ROOT, RESPONSE_KIND = columns.ones(4)
POINT_FIRST, POINT_END = columns.ones(2)
EDGE_FIRST, EDGE_END = columns.ones(2)
FACE_FIRST, FACE_END = columns.ones(2)
GRID_FIRST = columns()
GRID_SIZE = columns(3)  # values along X, Y, Z
GROUP = columns()  # which group of `member` it is in
# Shapes of one family (0 and above) do not touch one another; −1: in none; those of one below that touch one another
# where one of them is on a limp body that falls (`LIMP_FAMILY` minus a number)
FAMILY = columns()
LINK_COLUMNS = columns.count
LIMP_FAMILY = np.int64(-2)
# Columns of Shapes.edges: one row for each side of an edge, so a face's rows go round it
columns = Columns()
EDGE_START, EDGE_STOP, EDGE_FACE, EDGE_OTHER = columns.ones(4)
# Columns of Shapes.rings
columns = Columns()
RING_FIRST, RING_END = columns.ones(2)
# Columns of Shapes.faces
columns = Columns()
FACE_NORMAL = columns(3)
FACE_OFFSET = columns()
# Column of Shapes.points
columns = Columns()
XYZ = columns(3)
# Columns of the table of where bodies are, row 0 the world
columns = Columns()
POSITION = columns(3)
QUATERNION = columns(4)
# Columns of a table of placed shapes
columns = Columns()
SPOT = columns(3)  # the shape's origin in the world, the middle of its bounding box
AXES = columns(9)  # its axes in the world, a matrix row by row
EXTENT = columns(3)  # half sizes of its bounding box in world axes, with the rounding
PLACED_COLUMNS = columns.count


@table
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


def build_shapes(
    bodies: Sequence[int],
    shapes: Sequence[Shape],
    friction: Sequence[float],
    bounce: Sequence[float],
    response: Sequence[int],
    roots: Sequence[int],
    apart: Sequence[tuple[int, int]] = (),
    families: Sequence[int] | None = None,
) -> Shapes:
    """Lay shapes out for the kernels, all sequences one entry a shape: the row of its body (0: the world), of
    that body's tree root, …; `apart`: pairs of shapes that never touch; `families`: whose shapes never touch one
    another, −1 for none (see FAMILY), a tree's all the same."""
    count = len(shapes)
    for name, given in (("bodies", bodies), ("frictions", friction), ("bounces", bounce), ("responses", response),
                        ("tree roots", roots)):  # fmt: skip
        if len(given) != count:
            raise SettingError(f"{count} shapes came with {len(given)} {name}: give one for each shape.")
    table = np.zeros((count, SHAPE_COLUMNS))
    link = np.zeros((count, LINK_COLUMNS), dtype=np.int64)
    link[:, FAMILY] = -1 if families is None else families
    layouts = [layout_of(shape) for shape in shapes]
    points, edges, faces, values = 0, 0, 0, 0  # so many stand before
    sides, rings = [], []
    for s, (shape, own) in enumerate(zip(shapes, layouts, strict=True)):
        table[s], link[s, KIND] = own.row, own.kind
        table[s, FRICTION], table[s, BOUNCE] = friction[s], bounce[s]
        link[s, BODY], link[s, ROOT], link[s, RESPONSE_KIND] = bodies[s], roots[s], response[s]
        link[s, POINT_FIRST], link[s, EDGE_FIRST], link[s, FACE_FIRST] = points, edges, faces
        sides.append(own.edges + np.where(own.edges < 0, 0, [points, points, faces, faces]))
        rings.append(own.rings + edges)
        points, edges, faces = points + len(own.points), edges + len(own.edges), faces + len(own.faces)
        link[s, POINT_END], link[s, EDGE_END], link[s, FACE_END] = points, edges, faces
        if isinstance(shape, Grid):
            link[s, GRID_FIRST] = values
            link[s, GRID_SIZE : GRID_SIZE + 3] = shape.values.shape
            values += shape.values.size
    bad = ~(np.isfinite(table[:, FRICTION]) & (table[:, FRICTION] >= 0.0) & (table[:, BOUNCE] >= 0.0))
    if bad.any() or not np.isfinite(table[:, BOUNCE]).all():
        raise SettingError("Friction and bounce of a shape must be finite and not below zero: check its settings.")
    skip_start, skip = _skips(count, apart)
    member_start, member = _groups(link)
    return Shapes(
        table,
        link,
        _pool([own.points for own in layouts], NO_POINTS),
        _pool(sides, NO_EDGES),
        _pool([own.faces for own in layouts], NO_FACES),
        _pool(rings, NO_RINGS),
        np.concatenate([*(shape.values.ravel() for shape in shapes if isinstance(shape, Grid)), np.zeros(1)]),
        skip_start,
        skip,
        member_start,
        member,
    )


def new_placed(shapes: Shapes) -> np.ndarray:
    """The table `place_shapes` fills."""
    return np.zeros((len(shapes.shape), PLACED_COLUMNS))


def _pool(parts: list[np.ndarray], none: np.ndarray) -> np.ndarray:
    """All rows in one table, which has one row at least; `none`: such a table without rows."""
    rows = np.concatenate([none, *parts])
    return rows if len(rows) else np.zeros((1, none.shape[1]), dtype=none.dtype)


class Layout(NamedTuple):
    """One shape's part of the tables, its points, edges and faces counted from 0."""

    kind: int
    row: np.ndarray  # (SHAPE_COLUMNS,)
    points: np.ndarray  # (k, 3)
    edges: np.ndarray  # (m, 4)
    faces: np.ndarray  # (f, 4)
    rings: np.ndarray  # (f, 2)


NO_POINTS, NO_EDGES = np.zeros((0, 3)), np.zeros((0, 4), dtype=np.int64)
NO_FACES, NO_RINGS = np.zeros((0, 4)), np.zeros((0, 2), dtype=np.int64)


def layout_of(shape: Shape) -> Layout:
    """The shape laid out, made once: a shape is constant and settings change often."""
    if not isinstance(shape, Shape):
        return _lay_out(shape)  # which says what is wrong
    return derived(shape, "layout", lambda: _lay_out(shape))


def _lay_out(shape: Shape) -> Layout:
    row, axes = np.zeros(SHAPE_COLUMNS), np.eye(3)
    points, edges, faces, rings = NO_POINTS, NO_EDGES, NO_FACES, NO_RINGS
    if isinstance(shape, Sphere):
        kind, spot, row[ROUNDING] = SPHERE, np.array(shape.center, dtype=float), shape.radius
        points = np.zeros((1, 3))
    elif isinstance(shape, Capsule):
        start, end = np.array(shape.start, dtype=float), np.array(shape.end, dtype=float)
        kind, spot, axes, row[ROUNDING] = CAPSULE, 0.5 * (start + end), axes_with_z(end - start), shape.radius
        half = row[HALF + 2] = 0.5 * np.linalg.norm(end - start)
        points, edges = np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]), np.array([[0, 1, -1, -1]])
    elif isinstance(shape, Box):
        kind, spot, row[HALF : HALF + 3] = BOX, np.array(shape.center, dtype=float), shape.half
        axes = rot.rotate(np.array(shape.rotation) / np.linalg.norm(shape.rotation), np.eye(3)).T
        points, edges, faces, rings = _lay_out_solid(box_solid(np.array(shape.half, dtype=float)))
    elif isinstance(shape, Hull):
        solid = hull_solid(shape.points)
        low, high = solid.points.min(axis=0), solid.points.max(axis=0)
        kind, spot, row[HALF : HALF + 3] = HULL, 0.5 * (low + high), 0.5 * (high - low)
        points, edges, faces, rings = _lay_out_solid(solid._replace(points=solid.points - spot))
    elif isinstance(shape, Grid):
        kind, spot, row[HALF : HALF + 3], row[CELL] = GRID, shape.middle, shape.half, shape.cell
        points = np.asarray(shape.points - shape.middle, dtype=float).reshape(-1, 3)
    elif isinstance(shape, Plane):
        normal = np.array(shape.normal, dtype=float)
        kind, spot, axes = PLANE, normal * shape.offset / np.linalg.norm(normal) ** 2, axes_with_z(normal)
    else:
        raise SettingError(f"{type(shape).__name__} is not a shape: give a Sphere, Capsule, Box, Hull, Plane or Grid.")
    row[OWN_SPOT : OWN_SPOT + 3], row[OWN_AXES : OWN_AXES + 9] = spot, axes.ravel()
    row[THICK] = row[ROUNDING] if kind <= CAPSULE else np.inf if kind == PLANE else row[HALF : HALF + 3].min()
    # a grid's points are a choice: the box holds all of the mesh
    own = box_solid(np.asarray(shape.half, dtype=float)).points if isinstance(shape, Grid) else points
    if len(own):
        row[BOUND] = np.linalg.norm(own, axis=1).max() + row[ROUNDING]
        row[REACH] = np.linalg.norm(own @ axes.T + spot, axis=1).max() + row[ROUNDING]
    return Layout(kind, row, points, edges, faces, rings)


def _lay_out_solid(solid: Solid) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Corners, both sides of every edge, faces and their rings."""
    behind = {(p, q): f for f, ring in enumerate(solid.rings) for p, q in sides_of(ring)}
    edges, faces, rings = [], [], []
    for f, ring in enumerate(solid.rings):
        begin = len(edges)
        edges += [[p, q, f, behind[q, p]] for p, q in sides_of(ring)]
        rings.append([begin, len(edges)])
        # the plane through the farthest corner, so that no corner is outside
        faces.append([*solid.normals[f], (solid.points @ solid.normals[f]).max()])
    return np.asarray(solid.points, dtype=float), np.array(edges), np.array(faces), np.array(rings)


def _skips(count: int, apart: Sequence[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Each shape's partners with a higher number."""
    partners: list[set[int]] = [set() for _ in range(count)]
    for a, b in apart:
        partners[min(a, b)].add(max(a, b))
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


def axes_with_z(direction: np.ndarray) -> np.ndarray:
    """Rotation matrix whose third column is the direction; the identity for none."""
    length = np.linalg.norm(direction)
    if length < 1e-12:
        return np.eye(3)
    z = np.asarray(direction, dtype=float) / length
    # of axes that are nearly as far from it the first: rounding must not choose
    x = np.cross(np.eye(3)[int(np.argmax(np.abs(z) <= np.abs(z).min() + 0.1))], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
