"""Fit circles and axes to points.

Owns the selection of the points that affect a fit, their main axes, and the choice between fits. Must not know shapes
or rigs.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..errors import SettingError
from ..math.rotations import axes_with_z
from .convex_hull import convex_hull, thicken

# Tolerance: a fit that is smaller by less than this part is not better, so that rounding does not choose between equal
# fits.
BETTER = 1e-3
# Extents that differ by less than this part do not define an orientation.
ALIKE = 0.02
# The least thickness of a shape, relative to its longest side, and in metres.
THIN, THINNEST = 1e-3, 1e-4
ROUNDS = 100  # most iterations of the search for a circle; a few are usual


def check_points(points: np.ndarray) -> None:
    if points.ndim != 2 or points.shape[1] != 3 or not len(points) or not np.isfinite(points).all():
        raise SettingError(f"Points to fit have the shape {points.shape}: give at least one finite point, as (k, 3).")


def outer_points(points: np.ndarray) -> np.ndarray:
    """The points that affect a fit: if there are many, only the corners of their convex hull."""
    points = np.asarray(points, dtype=float)
    check_points(points)
    points = np.unique(points, axis=0)
    if len(points) > 100:
        points = thicken(points)
        points = points[convex_hull(points).vertices]
    return points


def smallest(fits: list, size):
    """The first fit that is within the tolerance BETTER of the smallest."""
    sizes = [size(each) for each in fits]
    return next(each for each, found in zip(fits, sizes, strict=True) if found * (1.0 - BETTER) <= min(sizes))


def main_axes(points: np.ndarray) -> np.ndarray:
    """Main axes of points: (3, 3) orthonormal rows, right-handed, the longest extent first. If two extents are alike,
    their axes are arbitrary: those closest to the axes of the points' space are used."""
    if len(points) < 2:
        return np.eye(3)
    _, extents, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    extents, axes = (extents, axes) if len(axes) == 3 else (np.zeros(3), _completed(axes))
    for one, two, across in ((1, 2, 0), (0, 1, 2)):
        if extents[one] - extents[two] <= ALIKE * extents[one] and extents[one] > 0.0:
            frame = axes_with_z(axes[across])
            axes[one], axes[two] = frame[:, 0], frame[:, 1]
    for row in axes:  # rounding must not decide the signs either
        row *= np.sign(row[int(np.argmax(np.abs(row) >= np.abs(row).max() - 0.1))])
    axes[2] *= np.sign(np.linalg.det(axes))
    return axes


def _completed(axes: np.ndarray) -> np.ndarray:
    """(3, 3) orthonormal rows that begin with the first of `axes`, for fewer than three points."""
    frame = axes_with_z(axes[0])
    return np.stack([axes[0], frame[:, 0], frame[:, 1]])


def circle(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Centre and radius of the smallest circle around points (k, 2). It is defined by two or three of them: the
    farthest outside point is added until none is outside."""
    rim = [int(np.argmax(((points - points.mean(axis=0)) ** 2).sum(axis=1)))]
    middle, radius = points[rim[0]], 0.0
    for _ in range(ROUNDS):
        far = ((points - middle) ** 2).sum(axis=1)
        farthest = int(np.argmax(far))
        if farthest in rim or np.sqrt(far[farthest]) <= radius * (1.0 + 1e-12):
            break
        rim, middle, radius = _about_few(points, [*rim, farthest])
    return middle, float(np.sqrt(((points - middle) ** 2).sum(axis=1).max()))


def _about_few(points: np.ndarray, chosen: list[int]) -> tuple[list[int], np.ndarray, float]:
    """The smallest circle around at most four points: the indices of those on it, its centre and radius."""
    best: tuple[list[int], np.ndarray, float] = (chosen, points[chosen].mean(axis=0), np.inf)
    for count in (2, 3):
        for rim in combinations(chosen, count):
            middle = _through(points[list(rim)])
            if middle is None:
                continue
            radius = float(np.linalg.norm(points[rim[0]] - middle))
            inside = np.linalg.norm(points[chosen] - middle, axis=1).max() <= radius * (1.0 + 1e-9)
            if inside and radius < best[2]:
                best = list(rim), middle, radius
    return best


def _through(points: np.ndarray) -> np.ndarray | None:
    """(2,) the midpoint of two points, or the centre of the circle through three; None if these are collinear."""
    if len(points) == 2:
        return points.mean(axis=0)
    sides = points[1:] - points[0]
    if abs(np.linalg.det(sides)) <= 1e-12 * (sides**2).sum():
        return None
    return points[0] + np.linalg.solve(2.0 * sides, (sides**2).sum(axis=1))


def extents(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre (3,) and half sizes (3,) of the axis-aligned bounding box of points (k, 3)."""
    low, high = points.min(axis=0), points.max(axis=0)
    return 0.5 * (low + high), 0.5 * (high - low)


def thinnest(half: np.ndarray) -> float:
    """The least half size of a shape around points with these half sizes (3,)."""
    return max(0.5 * THIN * float(half.max()), THINNEST)
