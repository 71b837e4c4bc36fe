"""Convex hulls of points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import SettingError
from .base import Shape
from .box import Box
from .convex import Convex


@dataclass(frozen=True, eq=False)
class Hull(Convex):
    """The convex hull of points (k, 3)."""

    points: np.ndarray

    kind = "HULL"

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=float)
        if points.ndim != 2 or points.shape[1] != 3 or not len(points):
            raise SettingError(f"A hull's points have the shape {points.shape}: give at least one point, as (k, 3).")
        if not np.isfinite(points).all():
            raise SettingError("A hull's points are not all finite numbers: check the mesh they come from.")
        points.flags.writeable = False
        object.__setattr__(self, "points", points)

    @classmethod
    def around(cls, points: np.ndarray, triangles: np.ndarray) -> Hull:
        return cls(points)

    @classmethod
    def rod(cls, radius: float, vector: np.ndarray) -> Shape:
        return Box.rod(radius, vector)

    def moved(self, turn: np.ndarray, shift: np.ndarray) -> Hull:
        return Hull(self.points @ turn.T + shift)

    def corners(self) -> np.ndarray:
        return self.points
