"""Volume, centre of mass and inertia: sums over triangles or cells.

Owns these integrals. Must not know shapes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Moments(NamedTuple):
    """For uniform density."""

    volume: float  # [m³]
    center: np.ndarray  # (3,) the centre of mass, in the body's frame [m]
    turning: np.ndarray  # (3, 3) inertia of a unit mass about the centre of mass, in the body's axes [m²]


def mesh_moments(corners: np.ndarray) -> Moments:
    """Moments of a closed mesh of triangles (f, 3, 3), as a sum over tetrahedra from one point to each triangle."""
    origin = corners.mean(axis=(0, 1))
    a, b, c = np.moveaxis(corners - origin, 1, 0)
    parts = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    total = parts.sum()
    sums = a + b + c
    middle = (parts @ sums) / (4.0 * total)
    squares = sum(np.einsum("i,ij,ik->jk", parts, v, v) for v in (a, b, c, sums)) / (20.0 * total)
    return Moments(float(total), origin + middle, from_squares(squares - np.outer(middle, middle)))


def from_squares(squares: np.ndarray) -> np.ndarray:
    """Inertia of a unit mass from the mean of x xᵀ."""
    return np.trace(squares) * np.eye(3) - squares
