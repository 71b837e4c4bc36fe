"""Fit capsules and boxes to points.

Owns how a shape is fitted to a bone's skin, or guessed without one. Must not know rigs.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..errors import SettingError
from ..math import quaternions as rot
from .convex_hull import _thicken, convex_hull
from .mass_properties import volume
from .shape_table import axes_with_z
from .shapes import Box, Capsule, check_length

BONE_THICKNESS = 0.15  # of its length: radius of a bone without skin
BONE_SKIN = 60.0  # percent of the skin that is inside a bone's capsule
AT_END = 1e-3  # of its length: skin this little beyond a bone's end lies on it
# A fit that is smaller by less than this part is no better: which of those that are alike is taken, rounding must not
# decide.
BETTER = 1e-3
# Extents that differ by less than this part say nothing of which way a body lies.
ALIKE = 0.02
ROUNDS = 100  # of the search for a circle, which takes a few


def fit_capsule(points: np.ndarray) -> Capsule:
    """The smallest capsule about points (k, 3), nearly."""
    points = _outer_points(points)
    axes = _main_axes(points)
    best = smallest([_capsule_along(points, axis) for axis in axes], volume)
    step = 0.3
    while step > 0.005:
        axis = np.array(best.end) - np.array(best.start)
        axes = axes_with_z(axis if np.linalg.norm(axis) > 1e-9 else axes[0]).T
        tries = [axes[2] + step * (x * axes[0] + y * axes[1]) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        other = smallest([_capsule_along(points, axis) for axis in tries], volume)
        if volume(other) < volume(best) * (1.0 - BETTER):
            best = other
        else:
            step *= 0.5
    return best


def fit_box(points: np.ndarray) -> Box:
    """The smallest box about points (k, 3), nearly."""
    points = _outer_points(points)
    best = smallest([_box_with(points, axes) for axes in (np.eye(3), _main_axes(points))], lambda box: box[0])
    step = 0.3
    while step > 0.003:
        tries = []
        for axis in np.eye(3):
            for sign in (-1.0, 1.0):
                turn = rot.rotate(rot.exp(sign * step * axis), np.eye(3))
                tries.append(_box_with(points, turn @ best[1]))
        other = smallest(tries, lambda box: box[0])
        if other[0] < best[0] * (1.0 - BETTER):
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
        middle = (along >= -AT_END * length) & (along <= (1.0 + AT_END) * length)
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


def smallest(fits: list, size):
    """The first of those that are as small as any, nearly."""
    sizes = [size(each) for each in fits]
    return next(each for each, found in zip(fits, sizes, strict=True) if found * (1.0 - BETTER) <= min(sizes))


def _main_axes(points: np.ndarray) -> np.ndarray:
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
