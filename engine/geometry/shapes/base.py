"""Interface of all shapes.

Owns the methods that a shape implements. A shape is given in the frame of its body, in metres. Must not know where
bodies are, what a contact is, or which shapes there are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...errors import SettingError
from ...math import rotations
from ...memo import derived
from ..moments import Moments
from ..shape_layout import Layout
from ..surfaces import Surface

NO_TRIANGLES = np.zeros((0, 3), dtype=int)
# Signs of a box's corners (8, 3).
CORNERS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))


class Shape:
    """Base class. A convex shape may inherit `Convex`, which implements everything from its corners."""

    kind: ClassVar[str] = ""  # its name in the settings; empty if they do not offer it
    convex: ClassVar[bool] = True
    needs_triangles: ClassVar[bool] = False  # True if it cannot be made of a mesh without faces

    # --- made of a mesh or a skin ------------------------------------------------------------------

    @classmethod
    def around(cls, points: np.ndarray, triangles: np.ndarray) -> Shape:
        """The shape around a mesh, points (k, 3) and triangles (t, 3), along the axes of the points' space."""
        raise NotImplementedError

    @classmethod
    def around_placed(cls, points: np.ndarray, triangles: np.ndarray, turn: np.ndarray, shift: np.ndarray) -> Shape:
        """The shape around a mesh that is rotated (3, 3) and translated (3,) in its body."""
        return cls.around(points, triangles).moved(turn, shift)

    @classmethod
    def fits(cls, points: np.ndarray, vector: np.ndarray) -> list[Shape]:
        """Candidate shapes for the skin (k, 3) of a bone along the vector (3,), in order of preference."""
        return [cls.around(points, NO_TRIANGLES)]

    @classmethod
    def rod(cls, radius: float, vector: np.ndarray) -> Shape:
        """The shape for a bone without skin, along the vector (3,), with this radius [m]."""
        half = np.array([radius, radius, max(0.5 * float(np.linalg.norm(vector)), radius)])
        turn = rotations.to_matrix(rotations.turn_z_to(vector))
        return cls.around(CORNERS * half, NO_TRIANGLES).moved(turn, 0.5 * np.asarray(vector, dtype=float))

    def moved(self, turn: np.ndarray, shift: np.ndarray) -> Shape:
        """The same shape, rotated (3, 3) and translated (3,)."""
        raise NotImplementedError

    # --- for the engine ----------------------------------------------------------------------------

    def layout(self) -> Layout:
        """Its part of the kernels' tables. Cached, because a shape is constant and settings change often."""
        return derived(self, "layout", self._laid_out)

    def _laid_out(self) -> Layout:
        raise NotImplementedError

    def moments(self) -> Moments:
        """Volume, centre of mass and inertia, for uniform density."""
        raise NotImplementedError

    def balls(self) -> np.ndarray:
        """(k, 4) centres and radii of few balls whose convex hull contains it; infinite for a plane."""
        raise NotImplementedError

    def bearing(self) -> np.ndarray:
        """(k, 4) centres and radii of balls, one of which is the first part to touch a level ground."""
        return self.balls()

    # --- distances in plain numpy, for single queries ----------------------------------------------

    def gaps(self, points: np.ndarray) -> np.ndarray:
        """(k,) signed distances of points (k, 3) from its surface, negative inside [m]."""
        raise NotImplementedError

    def lowest(self, up: np.ndarray) -> np.ndarray:
        """(k,) heights of its lowest point along unit vectors `up` (k, 3) [m]."""
        raise NotImplementedError

    def farthest(self) -> float:
        """Upper bound of the distance of its points from the body's origin [m]."""
        raise NotImplementedError

    def inside(self) -> np.ndarray:
        """(3,) a point well inside, or on its surface if it has no inside."""
        raise NotImplementedError

    # --- for drawing -------------------------------------------------------------------------------

    def wires(self) -> np.ndarray:
        """(k, 2, 3) lines on its surface."""
        raise NotImplementedError

    def surface(self) -> Surface | None:
        """Its surface as triangles; None if only its wires are drawn."""
        return None


def check_length(value: float, what: str) -> None:
    if not (np.ndim(value) == 0 and math.isfinite(value) and value > 0.0):
        raise SettingError(f"{what} is {value}: give a finite number of metres above zero.")


def check_vector(value: Sequence[float], what: str) -> None:
    if np.shape(value) != (3,) or not np.isfinite(np.asarray(value, dtype=float)).all():
        raise SettingError(f"{what} is {value}: give three finite numbers in metres.")
