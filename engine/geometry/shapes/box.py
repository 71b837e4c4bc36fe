"""Boxes, and their fit to points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import SettingError
from ...math import quaternions as rot, rotations
from .. import shape_table as SH
from ..convex_hull import Solid, box_solid
from ..fit_points import BETTER, extents, main_axes, outer_points, smallest, thinnest
from ..moments import Moments
from ..shape_layout import Layout, laid_out, solid_parts
from .base import CORNERS, Shape, check_length, check_vector
from .convex import Convex


@dataclass(frozen=True)
class Box(Convex):
    """half: half sizes along its own axes [m]; rotation: quaternion (w, x, y, z) of these axes in the body."""

    half: tuple[float, float, float]
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)

    kind = "BOX"

    def __post_init__(self) -> None:
        check_vector(self.half, "A box's half sizes")
        for size in self.half:
            check_length(size, "A box's half size")
        check_vector(self.center, "A box's center")
        if np.shape(self.rotation) != (4,) or not 1e-6 < np.linalg.norm(self.rotation) < 1e6:
            raise SettingError(f"A box's rotation is {self.rotation}: give a quaternion (w, x, y, z) of length one.")

    @classmethod
    def around(cls, points: np.ndarray, triangles: np.ndarray) -> Box:
        middle, half = extents(points)
        return cls(tuple(np.maximum(half, thinnest(half))), tuple(middle))

    @classmethod
    def fits(cls, points: np.ndarray, vector: np.ndarray) -> list[Shape]:
        return [fit_box(points)]

    @classmethod
    def rod(cls, radius: float, vector: np.ndarray) -> Box:
        half = (radius, radius, max(0.5 * float(np.linalg.norm(vector)), radius))
        return cls(half, tuple(0.5 * vector), rotations.turn_z_to(vector))

    def moved(self, turn: np.ndarray, shift: np.ndarray) -> Box:
        rotation = rotations.multiply(rotations.from_matrix(turn), np.array(self.rotation))
        return Box(self.half, tuple(turn @ self.center + shift), tuple(rotation))

    def _axes(self) -> np.ndarray:
        """(3, 3) its own axes, as columns."""
        return rot.rotate(np.array(self.rotation) / np.linalg.norm(self.rotation), np.eye(3)).T

    def corners(self) -> np.ndarray:
        turn = np.array(self.rotation) / np.linalg.norm(self.rotation)
        return np.array(self.center, dtype=float) + rot.rotate(turn, np.array(self.half, dtype=float) * CORNERS)

    def solid(self) -> Solid:
        own = box_solid(np.array(self.half, dtype=float))
        return Solid(self.corners(), own.rings, own.normals @ self._axes().T)

    def _laid_out(self) -> Layout:
        own = box_solid(np.array(self.half, dtype=float))
        spot = np.array(self.center, dtype=float)
        return laid_out(
            SH.BOX, spot, own.points, axes=self._axes(), half=self.half, thick=min(self.half), **solid_parts(own)
        )

    def moments(self) -> Moments:
        x, y, z = np.square(self.half)
        turn, own = self._axes(), np.diag([y + z, x + z, x + y]) / 3.0
        return Moments(8.0 * float(np.sqrt(x * y * z)), np.array(self.center, dtype=float), turn @ own @ turn.T)

    def balls(self) -> np.ndarray:
        return self.bearing()

    def gaps(self, points: np.ndarray) -> np.ndarray:
        own = np.abs((points - self.center) @ rotations.to_matrix(np.array(self.rotation))) - self.half
        return np.linalg.norm(np.maximum(own, 0.0), axis=1) + np.minimum(own.max(axis=1), 0.0)

    def lowest(self, up: np.ndarray) -> np.ndarray:
        axes = rotations.to_matrix(np.array(self.rotation))
        return up @ self.center - np.abs(up @ axes) @ self.half

    def farthest(self) -> float:
        return float(np.linalg.norm(self.center) + np.linalg.norm(self.half))

    def inside(self) -> np.ndarray:
        return np.array(self.center)


def fit_box(points: np.ndarray) -> Box:
    """The smallest box around points (k, 3), approximately: a local search over rotations."""
    points = outer_points(points)
    best = smallest([_box_with(points, axes) for axes in (np.eye(3), main_axes(points))], lambda box: box[0])
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


def _box_with(points: np.ndarray, axes: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """An eighth of the volume, axes (rows), centre and half sizes of the box around points along these axes."""
    own = points @ axes.T
    low, high = own.min(axis=0), own.max(axis=0)
    half = np.maximum(0.5 * (high - low), 1e-4)
    return float(half.prod()), axes, (0.5 * (low + high)) @ axes, half


def _quaternion(matrix: np.ndarray) -> np.ndarray:
    """(4,) the quaternion of a rotation matrix, computed from its largest component for accuracy."""
    m = matrix
    squares = 1.0 + np.array([np.trace(m), *(2.0 * np.diag(m) - np.trace(m))])
    k = int(np.argmax(squares))
    w = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    xy, xz, yz = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
    rows = [(squares[0], *w), (w[0], squares[1], xy, xz), (w[1], xy, squares[2], yz), (w[2], xz, yz, squares[3])]
    q = np.array(rows[k])
    return q / np.linalg.norm(q)
