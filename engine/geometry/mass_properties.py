"""Volume, centre of mass, inertia and bounds of shapes.

Owns the integrals: closed forms, and sums over triangles or cells. Must not know bodies.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import SettingError
from ..math import quaternions as rot
from . import shape_table as SH
from .convex_hull import hull_solid
from .shape_table import axes_with_z, layout_of
from .shapes import Box, Capsule, Grid, Hull, Plane, Shape, Sphere, check_length

# The mean square across a body, in parts of that along it, at least.
THINNEST = 1e-6


def volume(shape: Shape) -> float:
    """Cubic metres."""
    return _moments(shape)[0]


def center_of_mass(shape: Shape) -> np.ndarray:
    """(3,) in the body's frame, the shape being of one material throughout."""
    return _moments(shape)[1]


def inertia(shape: Shape, mass: float) -> np.ndarray:
    """(3, 3) about the centre of mass, in the body's axes."""
    check_length(mass, "A mass")
    return mass * _moments(shape)[2]


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


def bounding_sphere(shape: Shape) -> tuple[np.ndarray, float]:
    """Centre in the body's frame and radius of a ball that holds the shape; endless for a plane."""
    row = layout_of(shape).row
    return row[SH.OWN_SPOT : SH.OWN_SPOT + 3].copy(), math.inf if isinstance(shape, Plane) else float(row[SH.BOUND])


def _moments(shape: Shape) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, centre of mass, and inertia of a unit mass."""
    if isinstance(shape, Sphere):
        r = shape.radius
        return 4.0 / 3.0 * math.pi * r**3, np.array(shape.center, dtype=float), 0.4 * r**2 * np.eye(3)
    if isinstance(shape, Capsule):
        return _capsule_moments(shape)
    if isinstance(shape, Box):
        x, y, z = np.square(shape.half)
        turn = rot.rotate(np.array(shape.rotation) / np.linalg.norm(shape.rotation), np.eye(3)).T
        own = np.diag([y + z, x + z, x + y]) / 3.0
        return 8.0 * math.sqrt(x * y * z), np.array(shape.center, dtype=float), turn @ own @ turn.T
    if isinstance(shape, Hull):
        solid = hull_solid(shape.points)
        fans = [(ring[0], ring[k], ring[k + 1]) for ring in solid.rings for k in range(1, len(ring) - 1)]
        return _mesh_moments(solid.points[np.array(fans)])
    if isinstance(shape, Grid):
        return _grid_moments(shape)
    raise SettingError("A plane has no end and so no volume or mass: use a box for a body that moves.")


def _capsule_moments(shape: Capsule) -> tuple[float, np.ndarray, np.ndarray]:
    start, end, r = np.array(shape.start, dtype=float), np.array(shape.end, dtype=float), shape.radius
    length = float(np.linalg.norm(end - start))
    tube, ball = math.pi * r**2 * length, 4.0 / 3.0 * math.pi * r**3
    along = 0.5 * tube * r**2 + 0.4 * ball * r**2
    # the half balls' own centres are 3/8 r beyond the tube's ends
    across = tube * (length**2 / 12.0 + r**2 / 4.0) + ball * (0.4 * r**2 + 0.25 * length**2 + 0.375 * length * r)
    axes = axes_with_z(end - start)
    return tube + ball, 0.5 * (start + end), axes @ np.diag([across, across, along]) @ axes.T / (tube + ball)


def _mesh_moments(corners: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Of a closed mesh of triangles (f, 3, 3): tetrahedra from one point to each."""
    origin = corners.mean(axis=(0, 1))
    a, b, c = np.moveaxis(corners - origin, 1, 0)
    parts = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    total = parts.sum()
    sums = a + b + c
    middle = (parts @ sums) / (4.0 * total)
    squares = sum(np.einsum("i,ij,ik->jk", parts, v, v) for v in (a, b, c, sums)) / (20.0 * total)
    return float(total), origin + middle, _from_squares(squares - np.outer(middle, middle))


def _grid_moments(shape: Grid) -> tuple[float, np.ndarray, np.ndarray]:
    """Of the cells, those at the surface counted by the part that is inside."""
    share = np.clip(0.5 - shape.values / shape.cell, 0.0, 1.0)
    total = share.sum()
    if total <= 0.0:
        raise SettingError("A grid without inside has no volume or mass: give smaller cells or close the mesh.")
    axes = [(np.arange(n) - 0.5 * (n - 1)) * shape.cell for n in shape.values.shape]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    middle = np.einsum("xyz,xyzi->i", share, nodes) / total
    squares = np.einsum("xyz,xyzi,xyzj->ij", share, nodes, nodes) / total + np.eye(3) * shape.cell**2 / 12.0
    squares -= np.outer(middle, middle)
    return float(total * shape.cell**3), shape.middle + middle, _from_squares(squares)


def _from_squares(squares: np.ndarray) -> np.ndarray:
    """Inertia of a unit mass from the mean of x xᵀ."""
    return np.trace(squares) * np.eye(3) - squares
