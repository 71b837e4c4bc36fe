"""The shapes that bodies touch one another with.

Owns what a user gives: spheres, capsules, boxes, hulls, planes and grids, each in the frame
of the body it sits on. Must not know where bodies are or what a contact is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import SettingError
from ..math import quaternions as rot
from .distance_grid import GRID_POINTS, checked_mesh, spread_points, surface_samples, thicken_sheets, unsigned_distances
from .mesh_inside import inside_nodes

GRID_PADDING = 3  # cells around the mesh
GRID_LIMIT = 8e6  # values


@dataclass(frozen=True)
class Sphere:
    radius: float
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_length(self.radius, "A sphere's radius")
        check_vector(self.center, "A sphere's center")


@dataclass(frozen=True)
class Capsule:
    """All points no farther than the radius from the line between start and end."""

    radius: float
    start: tuple[float, float, float]
    end: tuple[float, float, float]

    def __post_init__(self) -> None:
        check_length(self.radius, "A capsule's radius")
        check_vector(self.start, "A capsule's start")
        check_vector(self.end, "A capsule's end")


@dataclass(frozen=True)
class Box:
    """half: half the size along its own axes; rotation (wxyz) of those in the body."""

    half: tuple[float, float, float]
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_vector(self.half, "A box's half sizes")
        for size in self.half:
            check_length(size, "A box's half size")
        check_vector(self.center, "A box's center")
        if np.shape(self.rotation) != (4,) or not 1e-6 < np.linalg.norm(self.rotation) < 1e6:
            raise SettingError(f"A box's rotation is {self.rotation}: give a quaternion (w, x, y, z) of length one.")


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of points (k, 3)."""

    points: np.ndarray

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=float)
        if points.ndim != 2 or points.shape[1] != 3 or not len(points):
            raise SettingError(f"A hull's points have the shape {points.shape}: give at least one point, as (k, 3).")
        if not np.isfinite(points).all():
            raise SettingError("A hull's points are not all finite numbers: check the mesh they come from.")
        points.flags.writeable = False
        object.__setattr__(self, "points", points)


@dataclass(frozen=True)
class Plane:
    """A half space: points x with normal·x < offset are inside."""

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def __post_init__(self) -> None:
        check_vector(self.normal, "A plane's normal")
        if not np.linalg.norm(self.normal) > 1e-9:
            raise SettingError(f"A plane's normal is {self.normal}: give a direction that is not zero.")
        if not math.isfinite(self.offset):
            raise SettingError(f"A plane's offset is {self.offset}: give a finite number of metres.")


@dataclass(frozen=True, eq=False)
class Grid:
    """Signed distances of any mesh, also concave, on a grid of cubes about it."""

    values: np.ndarray  # (nx, ny, nz) metres, negative inside
    middle: np.ndarray  # (3,) the grid's middle in the body
    cell: float
    half: np.ndarray  # (3,) half sizes of the mesh's bounding box, whose middle is the grid's
    points: np.ndarray  # (k, 3) some of its surface, well spread, in the body

    @classmethod
    def from_mesh(cls, vertices: np.ndarray, triangles: np.ndarray, cell: float | None = None, cells: int = 48) -> Grid:
        """The grid of a triangle mesh, (k, 3) metres and (f, 3) rows of vertices: cubes of size `cell`, or as many
        as `cells` along its longest side. The mesh may have holes and faces turned either way."""
        vertices, triangles = checked_mesh(vertices, triangles)
        low, high = vertices[triangles].min(axis=(0, 1)), vertices[triangles].max(axis=(0, 1))
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        longest = 2.0 * half.max()
        if cell is None:
            if not (cells > 2 * GRID_PADDING + 1 and longest > 0.0):
                raise SettingError(f"A grid of {cells} cells about a mesh of {longest} m: give more of both.")
            cell = longest / (cells - 2 * GRID_PADDING)
        check_length(cell, "A grid's cell")
        size = np.ceil(2.0 * half / cell).astype(int) + 1 + 2 * GRID_PADDING
        if size.astype(float).prod() > GRID_LIMIT:
            raise SettingError(f"A grid of {' × '.join(map(str, size))} cells is too large: give larger cells.")
        axes = [middle[k] + (np.arange(size[k]) - 0.5 * (size[k] - 1)) * cell for k in range(3)]
        nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        corners = vertices[triangles]
        samples, owner = surface_samples(corners, 0.5 * cell)
        values = unsigned_distances(nodes, corners, samples, owner, cell).reshape(size)
        inside = inside_nodes(axes, vertices, triangles, values, cell)
        values[inside] *= -1.0
        thicken_sheets(values, inside, samples, axes, cell)
        spread = spread_points(vertices[np.unique(triangles)], samples, GRID_POINTS)
        return cls(values, middle, float(cell), half, spread)


Shape = Sphere | Capsule | Box | Hull | Plane | Grid


def hold(shape: Shape) -> np.ndarray:
    """Balls (k, 4), centre and radius, whose convex hull holds the shape; a plane's is endless."""
    if isinstance(shape, Sphere):
        return np.array([[*shape.center, shape.radius]], dtype=float)
    if isinstance(shape, Capsule):
        return np.array([[*shape.start, shape.radius], [*shape.end, shape.radius]], dtype=float)
    if isinstance(shape, Plane):
        return np.array([[0.0, 0.0, 0.0, math.inf]])
    if isinstance(shape, Hull):
        low, high = shape.points.min(axis=0), shape.points.max(axis=0)
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
    elif isinstance(shape, Grid):
        middle, half = shape.middle, shape.half
    else:
        middle, half = np.array(shape.center, dtype=float), np.array(shape.half, dtype=float)
    corners = half * np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    if isinstance(shape, Box):
        corners = rot.rotate(np.array(shape.rotation) / np.linalg.norm(shape.rotation), corners)
    return np.column_stack([middle + corners, np.zeros(8)])


def check_length(value: float, what: str) -> None:
    if not (np.ndim(value) == 0 and math.isfinite(value) and value > 0.0):
        raise SettingError(f"{what} is {value}: give a finite number of metres above zero.")


def check_vector(value: Sequence[float], what: str) -> None:
    if np.shape(value) != (3,) or not np.isfinite(np.asarray(value, dtype=float)).all():
        raise SettingError(f"{what} is {value}: give three finite numbers in metres.")
