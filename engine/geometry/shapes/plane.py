"""Planes: half spaces, such as a level ground."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...errors import SettingError
from ...math.rotations import axes_with_z
from .. import shape_table as SH
from ..moments import Moments
from ..shape_layout import NO_POINTS, Layout, laid_out
from ..wires import NO_WIRES
from .base import Shape, check_vector


@dataclass(frozen=True)
class Plane(Shape):
    """A half space: points x with normal·x < offset are inside."""

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    offset: float = 0.0

    convex = False  # it has no corners

    def __post_init__(self) -> None:
        check_vector(self.normal, "A plane's normal")
        if not np.linalg.norm(self.normal) > 1e-9:
            raise SettingError(f"A plane's normal is {self.normal}: give a direction that is not zero.")
        if not math.isfinite(self.offset):
            raise SettingError(f"A plane's offset is {self.offset}: give a finite number of metres.")

    def _spot(self) -> np.ndarray:
        """(3,) the point of the plane nearest the body's origin."""
        normal = np.array(self.normal, dtype=float)
        return normal * self.offset / np.linalg.norm(normal) ** 2

    def moved(self, turn: np.ndarray, shift: np.ndarray) -> Plane:
        normal = turn @ self.normal
        return Plane(tuple(normal), self.offset + float(normal @ shift))

    def _laid_out(self) -> Layout:
        axes = axes_with_z(np.array(self.normal, dtype=float))
        return laid_out(SH.PLANE, self._spot(), NO_POINTS, axes=axes, thick=np.inf)

    def moments(self) -> Moments:
        raise SettingError("A plane has no end and so no volume or mass: use a box for a body that moves.")

    def balls(self) -> np.ndarray:
        return np.array([[0.0, 0.0, 0.0, math.inf]])

    def gaps(self, points: np.ndarray) -> np.ndarray:
        normal = np.array(self.normal, dtype=float)
        return (points @ normal - self.offset) / np.linalg.norm(normal)

    def lowest(self, up: np.ndarray) -> np.ndarray:
        return np.full(len(up), -np.inf)

    def farthest(self) -> float:
        return math.inf

    def inside(self) -> np.ndarray:
        return self._spot()

    def wires(self) -> np.ndarray:
        return NO_WIRES
