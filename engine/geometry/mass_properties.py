"""Volume, centre of mass and inertia of shapes.

Owns the queries of a shape's moments, and the correction of implausible inertias. Must not know bodies.
"""

from __future__ import annotations

import numpy as np

from .shapes.base import Shape, check_length

# The least mean square extent of a body along a principal axis, relative to its largest.
THINNEST = 1e-6


def volume(shape: Shape) -> float:
    """[m³]"""
    return shape.moments().volume


def center_of_mass(shape: Shape) -> np.ndarray:
    """(3,) in the body's frame, for uniform density [m]."""
    return shape.moments().center


def inertia(shape: Shape, mass: float) -> np.ndarray:
    """(3, 3) about the centre of mass, in the body's axes [kg m²]."""
    check_length(mass, "A mass")
    return mass * shape.moments().turning


def plausible(inertias: np.ndarray) -> np.ndarray:
    """Correct inertias (n, 3, 3) that are flatter than a body can be. A wing made of one sheet has no thickness, and
    rounding may even make it negative."""
    values, axes = np.linalg.eigh(inertias)
    # Mean squares along the principal axes: half the sum of the moments, minus the axis's own moment.
    squares = 0.5 * values.sum(axis=-1, keepdims=True) - values
    thick = np.maximum(squares, THINNEST * squares.max(axis=-1, keepdims=True))
    moments = thick.sum(axis=-1, keepdims=True) - thick
    mended = (axes * moments[..., None, :]) @ np.swapaxes(axes, -1, -2)
    return np.where((thick > squares).any(axis=-1)[..., None, None], mended, inertias)
