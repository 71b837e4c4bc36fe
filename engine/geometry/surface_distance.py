"""Distance of points to the surface of a shape.

Owns the distances in plain numpy, for what is looked at once: fitting a shape to a skin, or where a ball arrives. Must
not know Blender, bodies or motion. Metres, in the frame of the shape's body.
"""

from __future__ import annotations

import numpy as np

from ..math import rotations
from .shapes import Box, Capsule, Grid, Hull, Shape, Sphere


def gaps(shape: Shape, points: np.ndarray) -> np.ndarray:
    """(k,) distances of points (k, 3) from a shape's surface, negative inside. Beside the edges of a hull it is the
    distance from the nearest of its planes."""
    if isinstance(shape, Sphere):
        return np.linalg.norm(points - shape.center, axis=1) - shape.radius
    if isinstance(shape, Capsule):
        start, way = np.array(shape.start), np.subtract(shape.end, shape.start)
        along = np.clip((points - start) @ way / max(float(way @ way), 1e-18), 0.0, 1.0)
        return np.linalg.norm(points - start - along[:, None] * way, axis=1) - shape.radius
    if isinstance(shape, Box):
        own = np.abs((points - shape.center) @ rotations.to_matrix(np.array(shape.rotation))) - shape.half
        return np.linalg.norm(np.maximum(own, 0.0), axis=1) + np.minimum(own.max(axis=1), 0.0)
    if isinstance(shape, Hull):
        return _hull_gaps(shape.points, points)
    if isinstance(shape, Grid):
        return _grid_gaps(shape, points)
    raise TypeError(f"Nobody knows how far points are from a {type(shape).__name__}.")


def _hull_gaps(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    from scipy.spatial import ConvexHull, QhullError  # noqa: PLC0415 - late: scipy loads slowly

    try:
        planes = ConvexHull(corners).equations
    except QhullError:  # flat: as far as the nearest corner
        return np.linalg.norm(points[:, None] - corners[None], axis=2).min(axis=1)
    return (points @ planes[:, :3].T + planes[:, 3]).max(axis=1)


def _grid_gaps(grid: Grid, points: np.ndarray) -> np.ndarray:
    from scipy.ndimage import map_coordinates  # noqa: PLC0415 - late: scipy loads slowly

    size = np.array(grid.values.shape)
    at = (points - grid.middle) / grid.cell + 0.5 * (size - 1)
    inside = np.clip(at, 0.0, size - 1.0)
    outside = np.linalg.norm(at - inside, axis=1) * grid.cell
    return map_coordinates(grid.values, inside.T, order=1) + outside


def farthest(shape: Shape) -> float:
    """How far the body's origin is from the farthest point of a shape [m], or a little more."""
    if isinstance(shape, Sphere):
        return float(np.linalg.norm(shape.center)) + shape.radius
    if isinstance(shape, Capsule):
        return max(float(np.linalg.norm(end)) for end in (shape.start, shape.end)) + shape.radius
    if isinstance(shape, Box):
        return float(np.linalg.norm(shape.center) + np.linalg.norm(shape.half))
    return float(np.linalg.norm(shape.points, axis=1).max())


def middle_of(shape: Shape) -> np.ndarray:
    """(3,) a point well inside of a shape, as far as it has an inside."""
    if isinstance(shape, Capsule):
        return 0.5 * np.add(shape.start, shape.end)
    if isinstance(shape, (Sphere, Box)):
        return np.array(shape.center)
    if isinstance(shape, Hull):
        return 0.5 * (shape.points.min(axis=0) + shape.points.max(axis=0))
    return shape.points[int(np.linalg.norm(shape.points - shape.middle, axis=1).argmin())]
