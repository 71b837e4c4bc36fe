"""Volume, centre of mass and inertia of shapes.

Owns what is asked of a shape's moments. Must not know bodies.
"""

from __future__ import annotations

import numpy as np

from .shapes.base import Shape, check_length

# The mean square across a body, in parts of that along it, at least.
THINNEST = 1e-6


def volume(shape: Shape) -> float:
    """Cubic metres."""
    return shape.moments().volume


def center_of_mass(shape: Shape) -> np.ndarray:
    """(3,) in the body's frame, the shape being of one material throughout."""
    return shape.moments().center


def inertia(shape: Shape, mass: float) -> np.ndarray:
    """(3, 3) about the centre of mass, in the body's axes."""
    check_length(mass, "A mass")
    return mass * shape.moments().turning


def plausible(inertias: np.ndarray) -> np.ndarray:
    """The same inertias (n, 3, 3), none flatter than a body can be: a wing of one sheet has no thickness, and rounding
    may give it less than none."""
    values, axes = np.linalg.eigh(inertias)
    # Mean squares along the principal axes: what each has of the other two's sum.
    squares = 0.5 * values.sum(axis=-1, keepdims=True) - values
    thick = np.maximum(squares, THINNEST * squares.max(axis=-1, keepdims=True))
    moments = thick.sum(axis=-1, keepdims=True) - thick
    mended = (axes * moments[..., None, :]) @ np.swapaxes(axes, -1, -2)
    return np.where((thick > squares).any(axis=-1)[..., None, None], mended, inertias)
