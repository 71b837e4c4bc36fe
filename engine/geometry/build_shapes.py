"""Build the kernels' tables of shapes.

Owns the concatenation of the layouts of single shapes. Must not know where bodies are or what a contact is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import SettingError
from . import shape_table as SH
from .shape_layout import NO_EDGES, NO_FACES, NO_POINTS, NO_RINGS, Layout
from .shape_table import Shapes
from .shapes.base import Shape


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
    """Build the tables of shapes. All sequences have one entry for each shape.

    bodies     the row of its body, 0 for the world
    roots      the row of that body's tree root
    apart      pairs of shapes that never touch
    families   shapes of one family never touch one another; −1 for none (see `shape_table.FAMILY`). All shapes of a
               tree have the same.
    """
    count = len(shapes)
    for name, given in (("bodies", bodies), ("frictions", friction), ("bounces", bounce), ("responses", response),
                        ("tree roots", roots)):  # fmt: skip
        if len(given) != count:
            raise SettingError(f"{count} shapes came with {len(given)} {name}: give one for each shape.")
    table = np.zeros((count, SH.SHAPE_COLUMNS))
    link = np.zeros((count, SH.LINK_COLUMNS), dtype=np.int64)
    link[:, SH.FAMILY] = -1 if families is None else families
    layouts = [_layout_of(shape) for shape in shapes]
    points, edges, faces, values = 0, 0, 0, 0  # running totals: the offsets of the next shape
    sides, rings = [], []
    for s, own in enumerate(layouts):
        table[s], link[s, SH.KIND] = own.row, own.kind
        table[s, SH.FRICTION], table[s, SH.BOUNCE] = friction[s], bounce[s]
        link[s, SH.BODY], link[s, SH.ROOT], link[s, SH.RESPONSE_KIND] = bodies[s], roots[s], response[s]
        link[s, SH.POINT_FIRST], link[s, SH.EDGE_FIRST], link[s, SH.FACE_FIRST] = points, edges, faces
        sides.append(own.edges + np.where(own.edges < 0, 0, [points, points, faces, faces]))
        rings.append(own.rings + edges)
        points, edges, faces = points + len(own.points), edges + len(own.edges), faces + len(own.faces)
        link[s, SH.POINT_END], link[s, SH.EDGE_END], link[s, SH.FACE_END] = points, edges, faces
        if own.values.size:
            link[s, SH.GRID_FIRST] = values
            link[s, SH.GRID_SIZE : SH.GRID_SIZE + 3] = own.values.shape
            values += own.values.size
    bad = ~(np.isfinite(table[:, SH.FRICTION]) & (table[:, SH.FRICTION] >= 0.0) & (table[:, SH.BOUNCE] >= 0.0))
    if bad.any() or not np.isfinite(table[:, SH.BOUNCE]).all():
        raise SettingError("Friction and bounce of a shape must be finite and not below zero: check its settings.")
    skip_start, skip = _skips(count, apart)
    member_start, member = _groups(link, np.isinf(table[:, SH.THICK]))
    return Shapes(
        table,
        link,
        _pool([own.points for own in layouts], NO_POINTS),
        _pool(sides, NO_EDGES),
        _pool([own.faces for own in layouts], NO_FACES),
        _pool(rings, NO_RINGS),
        np.concatenate([*(own.values.ravel() for own in layouts), np.zeros(1)]),
        skip_start,
        skip,
        member_start,
        member,
    )


def _layout_of(shape: Shape) -> Layout:
    if not isinstance(shape, Shape):  # scripts may pass anything
        raise SettingError(f"{type(shape).__name__} is not a shape: give a Sphere, Capsule, Box, Hull, Plane or Grid.")
    return shape.layout()


def _pool(parts: list[np.ndarray], none: np.ndarray) -> np.ndarray:
    """Concatenate tables; the result has at least one row. `none`: a table of this kind without rows."""
    rows = np.concatenate([none, *parts])
    return rows if len(rows) else np.zeros((1, none.shape[1]), dtype=none.dtype)


def _skips(count: int, apart: Sequence[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """`skip_start` and `skip`: each shape's excluded partners with a higher index."""
    partners: list[set[int]] = [set() for _ in range(count)]
    for a, b in apart:
        partners[min(a, b)].add(max(a, b))
    start = np.zeros(count + 1, dtype=np.int64)
    start[1:] = np.cumsum([len(p) for p in partners])
    return start, np.array([*(k for p in partners for k in sorted(p)), -1], dtype=np.int64)


def _groups(link: np.ndarray, endless: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`member_start` and `member`: shapes grouped by tree. Each plane has a group of its own, because it would make its
    group's box infinite."""
    groups: dict[tuple, list[int]] = {}
    for s, row in enumerate(link):
        groups.setdefault(("plane", s) if endless[s] else ("tree", int(row[SH.ROOT])), []).append(s)
    start = np.zeros(len(groups) + 1, dtype=np.int64)
    for g, members in enumerate(groups.values()):
        link[members, SH.GROUP] = g
        start[g + 1] = start[g] + len(members)
    return start, np.array([*(s for members in groups.values() for s in members), -1], dtype=np.int64)
