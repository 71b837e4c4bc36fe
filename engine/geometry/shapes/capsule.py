"""Capsules, and their fit to points and bones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...math import rotations
from ...math.rotations import axes_with_z
from .. import shape_table as SH
from ..fit_points import BETTER, check_points, circle, main_axes, outer_points, smallest
from ..moments import Moments
from ..shape_layout import Layout, laid_out
from ..surfaces import Surface, capsule_surface
from ..wires import arc, ball
from .base import Shape, check_length, check_vector
from .sphere import Sphere

BONE_THICKNESS = 0.15  # radius of a bone without skin, relative to its length
BONE_SKIN = 60.0  # [%] share of the skin that is inside a bone's capsule
AT_END = 1e-3  # tolerance, relative to its length: skin this far beyond a bone's end still counts as along the bone
SHORT = 0.25  # relative to its skin's extent: a shorter bone does not define the direction of its skin


@dataclass(frozen=True)
class Capsule(Shape):
    """All points within the radius of the segment from start to end."""

    radius: float
    start: tuple[float, float, float]
    end: tuple[float, float, float]

    kind = "CAPSULE"

    def __post_init__(self) -> None:
        check_length(self.radius, "A capsule's radius")
        check_vector(self.start, "A capsule's start")
        check_vector(self.end, "A capsule's end")

    @classmethod
    def around(cls, points: np.ndarray, triangles: np.ndarray) -> Capsule:
        return fit_capsule(points)

    @classmethod
    def fits(cls, points: np.ndarray, vector: np.ndarray) -> list[Shape]:
        """The smallest capsule around the skin. Before it, if the bone is long enough to define a direction, one along
        the bone that contains most of its skin: folds and outliers must not make a limb thick."""
        found: list[Shape] = [fit_capsule(points)]
        length = float(np.linalg.norm(vector))
        if length >= SHORT * float(np.ptp(points, axis=0).max()):
            # its second column is along the bone
            turn = rotations.to_matrix(rotations.turn_z_to(vector))[:, [1, 2, 0]]
            found.insert(0, fit_bone_capsule(length, points @ turn).moved(turn, np.zeros(3)))
        return found

    @classmethod
    def rod(cls, radius: float, vector: np.ndarray) -> Shape:
        """Its round ends are inside the bone's length, so that neighbours do not overlap."""
        length = float(np.linalg.norm(vector))
        if length <= 2.0 * radius:
            return Sphere(radius, tuple(0.5 * vector))
        way = vector * (radius / length)
        return cls(radius, tuple(way), tuple(vector - way))

    def moved(self, turn: np.ndarray, shift: np.ndarray) -> Capsule:
        return Capsule(self.radius, tuple(turn @ self.start + shift), tuple(turn @ self.end + shift))

    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.start, dtype=float), np.array(self.end, dtype=float)

    def _laid_out(self) -> Layout:
        start, end = self._ends()
        half = 0.5 * np.linalg.norm(end - start)
        return laid_out(
            SH.CAPSULE, 0.5 * (start + end), np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]),
            axes=axes_with_z(end - start), half=(0.0, 0.0, half), rounding=self.radius, thick=self.radius,
            edges=np.array([[0, 1, -1, -1]]),
        )  # fmt: skip

    def moments(self) -> Moments:
        (start, end), r = self._ends(), self.radius
        length = float(np.linalg.norm(end - start))
        tube, ends = math.pi * r**2 * length, 4.0 / 3.0 * math.pi * r**3
        along = 0.5 * tube * r**2 + 0.4 * ends * r**2
        # the half balls' centres of mass are 3/8 r beyond the tube's ends
        across = tube * (length**2 / 12.0 + r**2 / 4.0) + ends * (0.4 * r**2 + 0.25 * length**2 + 0.375 * length * r)
        axes = axes_with_z(end - start)
        turning = axes @ np.diag([across, across, along]) @ axes.T / (tube + ends)
        return Moments(tube + ends, 0.5 * (start + end), turning)

    def balls(self) -> np.ndarray:
        return np.array([[*self.start, self.radius], [*self.end, self.radius]], dtype=float)

    def gaps(self, points: np.ndarray) -> np.ndarray:
        start, way = np.array(self.start), np.subtract(self.end, self.start)
        along = np.clip((points - start) @ way / max(float(way @ way), 1e-18), 0.0, 1.0)
        return np.linalg.norm(points - start - along[:, None] * way, axis=1) - self.radius

    def lowest(self, up: np.ndarray) -> np.ndarray:
        return np.minimum(up @ self.start, up @ self.end) - self.radius

    def farthest(self) -> float:
        return max(float(np.linalg.norm(end)) for end in (self.start, self.end)) + self.radius

    def inside(self) -> np.ndarray:
        return 0.5 * np.add(self.start, self.end)

    def wires(self) -> np.ndarray:
        start, end = self._ends()
        if np.linalg.norm(end - start) < 1e-9:
            return ball(self.radius) + start
        x, y, z = self.radius * axes_with_z(end - start).T
        parts = [arc(x, y) + spot for spot in (start, end)]
        for side in (x, y):
            parts += [arc(side, z, 0.0, np.pi) + end, arc(side, -z, 0.0, np.pi) + start]
        parts += [np.array([[start + side, end + side]]) for side in (x, -x, y, -y)]
        return np.concatenate(parts)

    def surface(self) -> Surface:
        return capsule_surface(*self._ends(), self.radius)


def volume(capsule: Capsule) -> float:
    return capsule.moments().volume


def fit_capsule(points: np.ndarray) -> Capsule:
    """The smallest capsule around points (k, 3), approximately: a local search over directions."""
    points = outer_points(points)
    axes = main_axes(points)
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


def _capsule_along(points: np.ndarray, axis: np.ndarray) -> Capsule:
    axes = axes_with_z(axis)
    own = points @ axes
    middle, radius = circle(own[:, :2])
    radius = max(radius * (1.0 + 1e-9), 1e-4)
    cap = np.sqrt(np.maximum(radius**2 - ((own[:, :2] - middle) ** 2).sum(axis=1), 0.0))
    low, high = float((own[:, 2] + cap).min()), float((own[:, 2] - cap).max())
    if low > high:
        low = high = 0.5 * (low + high)
    start, end = axes @ [*middle, low], axes @ [*middle, high]
    return Capsule(float(radius), tuple(map(float, start)), tuple(map(float, end)))


def fit_bone_capsule(length: float, points: np.ndarray | None = None) -> Capsule:
    """A capsule along a bone, which reaches from 0 to `length` on Y: around most of the bone's skin, points (k, 3) in
    its frame. Without skin it has the radius BONE_THICKNESS."""
    check_length(length, "A bone's length")
    radius, low, high = BONE_THICKNESS * length, 0.0, length
    if points is not None and len(points):
        points = np.asarray(points, dtype=float)
        check_points(points)
        along = points[:, 1]
        beside = np.hypot(points[:, 0], points[:, 2])
        middle = (along >= -AT_END * length) & (along <= (1.0 + AT_END) * length)
        some = beside[middle] if middle.sum() >= 4 else beside
        # most of the skin, without folds and outliers
        radius = float(np.clip(np.percentile(some, BONE_SKIN), 0.02 * length, 1.5 * length))
        low, high = np.clip(np.percentile(along, (2.0, 98.0)), -0.5 * length, 1.5 * length)
        low, high = min(low, 0.25 * length), max(high, 0.75 * length)
    start, end = low + radius, high - radius
    if start > end:
        start = end = 0.5 * (low + high)
    return Capsule(radius, (0.0, float(start), 0.0), (0.0, float(end), 0.0))
