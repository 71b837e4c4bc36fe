"""What every shape answers.

Owns the questions. A shape stands in the frame of the body it sits on, in metres. Must not know where bodies are, what
a contact is, or which shapes there are.
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
    """A convex shape inherits `Convex`, which answers everything by its corners."""

    kind: ClassVar[str] = ""  # what the settings call it; none for what they do not offer
    convex: ClassVar[bool] = True
    needs_triangles: ClassVar[bool] = False  # a mesh without faces is none

    # --- made of a mesh or a skin ------------------------------------------------------------------

    @classmethod
    def around(cls, points: np.ndarray, triangles: np.ndarray) -> Shape:
        """One about a mesh, points (k, 3) and triangles (t, 3), along the points' own axes."""
        raise NotImplementedError

    @classmethod
    def around_placed(cls, points: np.ndarray, triangles: np.ndarray, turn: np.ndarray, shift: np.ndarray) -> Shape:
        """One about a mesh that sits in a body turned (3, 3) and shifted (3,)."""
        return cls.around(points, triangles).moved(turn, shift)

    @classmethod
    def fits(cls, points: np.ndarray, vector: np.ndarray) -> list[Shape]:
        """Those that may suit the skin (k, 3) of a bone that reaches along the vector (3,)."""
        return [cls.around(points, NO_TRIANGLES)]

    @classmethod
    def rod(cls, radius: float, vector: np.ndarray) -> Shape:
        """One about a bone without skin: as thick as the radius, along the vector (3,)."""
        half = np.array([radius, radius, max(0.5 * float(np.linalg.norm(vector)), radius)])
        turn = rotations.to_matrix(rotations.turn_z_to(vector))
        return cls.around(CORNERS * half, NO_TRIANGLES).moved(turn, 0.5 * np.asarray(vector, dtype=float))

    def moved(self, turn: np.ndarray, shift: np.ndarray) -> Shape:
        """The same turned (3, 3) and shifted (3,)."""
        raise NotImplementedError

    # --- what the engine asks ----------------------------------------------------------------------

    def layout(self) -> Layout:
        """Its part of the kernels' tables, made once: a shape is constant and settings change often."""
        return derived(self, "layout", self._laid_out)

    def _laid_out(self) -> Layout:
        raise NotImplementedError

    def moments(self) -> Moments:
        """Volume, centre of mass and inertia, of one material throughout."""
        raise NotImplementedError

    def balls(self) -> np.ndarray:
        """(k, 4) centres and radii of few balls whose convex hull holds it; a plane's is endless."""
        raise NotImplementedError

    def bearing(self) -> np.ndarray:
        """(k, 4) centres and radii of balls, of which one is the first that a level ground meets."""
        return self.balls()

    # --- distances, in plain numpy, for what is looked at once -------------------------------------

    def gaps(self, points: np.ndarray) -> np.ndarray:
        """(k,) distances of points (k, 3) from its surface, negative inside."""
        raise NotImplementedError

    def lowest(self, up: np.ndarray) -> np.ndarray:
        """(k,) how far its lowest point is up along unit vectors (k, 3)."""
        raise NotImplementedError

    def farthest(self) -> float:
        """How far the body's origin is from its farthest point, or a little more."""
        raise NotImplementedError

    def inside(self) -> np.ndarray:
        """(3,) a point well inside, as far as it has an inside."""
        raise NotImplementedError

    # --- its look ----------------------------------------------------------------------------------

    def wires(self) -> np.ndarray:
        """(k, 2, 3) lines on its surface."""
        raise NotImplementedError

    def surface(self) -> Surface | None:
        """Its surface as triangles; None for what is shown by its wires alone."""
        return None


def check_length(value: float, what: str) -> None:
    if not (np.ndim(value) == 0 and math.isfinite(value) and value > 0.0):
        raise SettingError(f"{what} is {value}: give a finite number of metres above zero.")


def check_vector(value: Sequence[float], what: str) -> None:
    if np.shape(value) != (3,) or not np.isfinite(np.asarray(value, dtype=float)).all():
        raise SettingError(f"{what} is {value}: give three finite numbers in metres.")
