"""Capsules and boxes laid closely about points.

Owns how a shape is fitted to a bone's skin, or guessed without one. Must not know rigs.
"""

from __future__ import annotations

import numpy as np

from . import rotations as rot
from .errors import SettingError
from .hulls import _thicken, convex_hull
from .moments import volume
from .shape_tables import axes_with_z
from .shapes import Box, Capsule, check_length

BONE_THICKNESS = 0.15  # of its length: radius of a bone without skin
BONE_SKIN = 60.0  # percent of the skin that is inside a bone's capsule


def fit_capsule(points: np.ndarray) -> Capsule:
    """The smallest capsule about points (k, 3), nearly."""
    points = _outer_points(points)
    axes = _main_axes(points)
    best = min((_capsule_along(points, axis) for axis in axes), key=volume)
    step = 0.3
    while step > 0.005:
        axis = np.array(best.end) - np.array(best.start)
        axes = axes_with_z(axis if np.linalg.norm(axis) > 1e-9 else axes[0]).T
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
    check_length(length, "A bone's length")
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
        points = points[convex_hull(points).vertices]
    return points


def _main_axes(points: np.ndarray) -> np.ndarray:
    """(3, 3) orthonormal rows, right-handed, the longest extent first."""
    axes = np.linalg.svd(points - points.mean(axis=0))[2] if len(points) > 1 else np.eye(3)
    return axes * np.sign(np.linalg.det(axes))


def _capsule_along(points: np.ndarray, axis: np.ndarray) -> Capsule:
    axes = axes_with_z(axis)
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
