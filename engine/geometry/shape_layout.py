"""One shape's part of the kernels' tables.

Owns the data of a single shape there. Must not know other shapes or bodies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import shape_table as SH
from .convex_hull import Solid, sides_of

NO_POINTS, NO_EDGES = np.zeros((0, 3)), np.zeros((0, 4), dtype=np.int64)
NO_FACES, NO_RINGS = np.zeros((0, 4)), np.zeros((0, 2), dtype=np.int64)
NO_VALUES = np.zeros((0, 0, 0))


class Layout(NamedTuple):
    """Indices of points, edges and faces start at 0 for each shape."""

    kind: int
    row: np.ndarray  # (SHAPE_COLUMNS,)
    points: np.ndarray  # (k, 3)
    edges: np.ndarray  # (m, 4)
    faces: np.ndarray  # (f, 4)
    rings: np.ndarray  # (f, 2)
    values: np.ndarray  # (nx, ny, nz) of a grid


def laid_out(
    kind: int,
    spot: np.ndarray,
    points: np.ndarray,
    *,
    thick: float,
    axes: np.ndarray | None = None,
    half=(0.0, 0.0, 0.0),
    rounding: float = 0.0,
    cell: float = 0.0,
    edges: np.ndarray = NO_EDGES,
    faces: np.ndarray = NO_FACES,
    rings: np.ndarray = NO_RINGS,
    values: np.ndarray = NO_VALUES,
    held_by: np.ndarray | None = None,
) -> Layout:
    """Build the layout of a shape.

    spot, axes   origin (3,) and axes (3, 3) of the shape's frame in the body's
    points       (k, 3) in the shape's frame
    held_by      (j, 3) in the shape's frame: their convex hull with the rounding contains the shape; `points` if None

    The other arguments are columns of `shape_table`.
    """
    axes = np.eye(3) if axes is None else axes
    row = np.zeros(SH.SHAPE_COLUMNS)
    row[SH.OWN_SPOT : SH.OWN_SPOT + 3], row[SH.OWN_AXES : SH.OWN_AXES + 9] = spot, axes.ravel()
    row[SH.HALF : SH.HALF + 3], row[SH.ROUNDING], row[SH.CELL], row[SH.THICK] = half, rounding, cell, thick
    own = points if held_by is None else held_by
    if len(own):
        row[SH.BOUND] = np.linalg.norm(own, axis=1).max() + rounding
        row[SH.REACH] = np.linalg.norm(own @ axes.T + spot, axis=1).max() + rounding
    return Layout(kind, row, points, edges, faces, rings, values)


def solid_parts(solid: Solid) -> dict[str, np.ndarray]:
    """Both directions of every edge, the faces and their rings: arguments of `laid_out`."""
    behind = {(p, q): f for f, ring in enumerate(solid.rings) for p, q in sides_of(ring)}
    edges, faces, rings = [], [], []
    for f, ring in enumerate(solid.rings):
        begin = len(edges)
        edges += [[p, q, f, behind[q, p]] for p, q in sides_of(ring)]
        rings.append([begin, len(edges)])
        # the plane through the farthest corner, so that no corner is outside
        faces.append([*solid.normals[f], (solid.points @ solid.normals[f]).max()])
    return {"edges": np.array(edges), "faces": np.array(faces), "rings": np.array(rings)}
