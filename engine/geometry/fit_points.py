"""Fit circles and axes to points.

Owns which points of many matter to a fit, which way they lie, and which of several fits is taken. Must not know shapes
or rigs.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..errors import SettingError
from ..math.rotations import axes_with_z
from .convex_hull import convex_hull, thicken

# A fit that is smaller by less than this part is no better: which of those that are alike is taken, rounding must not
# decide.
BETTER = 1e-3
# Extents that differ by less than this part say nothing of which way a body lies.
ALIKE = 0.02
# What is thinner than this part of its longest side [and metres] is given that thickness.
THIN, THINNEST = 1e-3, 1e-4
ROUNDS = 100  # of the search for a circle, which takes a few


def check_points(points: np.ndarray) -> None:
    if points.ndim != 2 or points.shape[1] != 3 or not len(points) or not np.isfinite(points).all():
        raise SettingError(f"Points to fit have the shape {points.shape}: give at least one finite point, as (k, 3).")


def outer_points(points: np.ndarray) -> np.ndarray:
    """Those that matter to a fit."""
    points = np.asarray(points, dtype=float)
    check_points(points)
    points = np.unique(points, axis=0)
    if len(points) > 100:
        points = thicken(points)
        points = points[convex_hull(points).vertices]
    return points


def smallest(fits: list, size):
    """The first of those that are as small as any, nearly."""
    sizes = [size(each) for each in fits]
    return next(each for each, found in zip(fits, sizes, strict=True) if found * (1.0 - BETTER) <= min(sizes))


def main_axes(points: np.ndarray) -> np.ndarray:
    """(3, 3) orthonormal rows, right-handed, the longest extent first. Where two extents are alike, any axes across the
    third would do: those next to the axes of the points' own space are taken."""
    if len(points) < 2:
        return np.eye(3)
    _, extents, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    extents, axes = (extents, axes) if len(axes) == 3 else (np.zeros(3), _completed(axes))
    for one, two, across in ((1, 2, 0), (0, 1, 2)):
        if extents[one] - extents[two] <= ALIKE * extents[one] and extents[one] > 0.0:
            frame = axes_with_z(axes[across])
            axes[one], axes[two] = frame[:, 0], frame[:, 1]
    for row in axes:  # which way an axis points, rounding must not say either
        row *= np.sign(row[int(np.argmax(np.abs(row) >= np.abs(row).max() - 0.1))])
    axes[2] *= np.sign(np.linalg.det(axes))
    return axes


def _completed(axes: np.ndarray) -> np.ndarray:
    """(3, 3) orthonormal rows that begin with the first of these, of fewer points than three."""
    frame = axes_with_z(axes[0])
    return np.stack([axes[0], frame[:, 0], frame[:, 1]])


def circle(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Centre and radius of the smallest circle about points (k, 2) in the plane: about two or three of them, to which
    the farthest is added until none is outside."""
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
    """The smallest circle about at most four points, and which of them lie on it."""
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
    """(2,) the middle of two points, or of the circle through three; None where these lie in a line."""
    if len(points) == 2:
        return points.mean(axis=0)
    sides = points[1:] - points[0]
    if abs(np.linalg.det(sides)) <= 1e-12 * (sides**2).sum():
        return None
    return points[0] + np.linalg.solve(2.0 * sides, (sides**2).sum(axis=1))


def extents(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(3,) the middle of the straight box around points (k, 3), and half its sizes."""
    low, high = points.min(axis=0), points.max(axis=0)
    return 0.5 * (low + high), 0.5 * (high - low)


def thinnest(half: np.ndarray) -> float:
    """The least half size of a shape about points with these (3,)."""
    return max(0.5 * THIN * float(half.max()), THINNEST)
