"""Spheres."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .. import shape_table as SH
from ..fit_points import extents, thinnest
from ..moments import Moments
from ..shape_layout import Layout, laid_out
from ..surfaces import Surface, capsule_surface
from ..wires import ball
from .base import Shape, check_length, check_vector


@dataclass(frozen=True)
class Sphere(Shape):
    radius: float
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)

    kind = "SPHERE"

    def __post_init__(self) -> None:
        check_length(self.radius, "A sphere's radius")
        check_vector(self.center, "A sphere's center")

    @classmethod
    def around(cls, points: np.ndarray, triangles: np.ndarray) -> Sphere:
        middle, half = extents(points)
        return cls(max(float(np.linalg.norm(points - middle, axis=1).max()), thinnest(half)), tuple(middle))

    def moved(self, turn: np.ndarray, shift: np.ndarray) -> Sphere:
        return Sphere(self.radius, tuple(turn @ self.center + shift))

    def _laid_out(self) -> Layout:
        return laid_out(
            SH.SPHERE, np.array(self.center, dtype=float), np.zeros((1, 3)), rounding=self.radius, thick=self.radius
        )

    def moments(self) -> Moments:
        r = self.radius
        return Moments(4.0 / 3.0 * math.pi * r**3, np.array(self.center, dtype=float), 0.4 * r**2 * np.eye(3))

    def balls(self) -> np.ndarray:
        return np.array([[*self.center, self.radius]], dtype=float)

    def gaps(self, points: np.ndarray) -> np.ndarray:
        return np.linalg.norm(points - self.center, axis=1) - self.radius

    def lowest(self, up: np.ndarray) -> np.ndarray:
        return up @ self.center - self.radius

    def farthest(self) -> float:
        return float(np.linalg.norm(self.center)) + self.radius

    def inside(self) -> np.ndarray:
        return np.array(self.center)

    def wires(self) -> np.ndarray:
        return ball(self.radius) + np.array(self.center)

    def surface(self) -> Surface:
        return capsule_surface(np.array(self.center), np.array(self.center), self.radius)
