"""A toy shape: a ramp. All that a convex shape has to say is where its corners are, how it is moved, and how one is
made about a mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...math import rotations
from ..fit_points import extents, thinnest
from .convex import Convex


@dataclass(frozen=True)
class Wedge(Convex):
    """Half of a box, below the plane from its bottom edge at −X to its top edge at +X."""

    half: tuple[float, float, float]
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)

    kind = "WEDGE"

    @classmethod
    def around(cls, points: np.ndarray, triangles: np.ndarray) -> Wedge:
        middle, half = extents(points)
        return cls(tuple(np.maximum(half, thinnest(half))), tuple(middle))

    def moved(self, turn: np.ndarray, shift: np.ndarray) -> Wedge:
        rotation = rotations.multiply(rotations.from_matrix(turn), np.array(self.rotation))
        return Wedge(self.half, tuple(turn @ self.center + shift), tuple(rotation))

    def corners(self) -> np.ndarray:
        own = np.array([(x, y, z) for x, z in ((-1, -1), (1, -1), (1, 1)) for y in (-1, 1)]) * self.half
        return own @ rotations.to_matrix(np.array(self.rotation)).T + self.center
