"""Signed distance grids of meshes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from ...errors import SettingError
from .. import shape_table as SH
from ..distance_grid import (
    GRID_POINTS,
    checked_mesh,
    spread_points,
    surface_samples,
    thicken_sheets,
    unsigned_distances,
)
from ..mesh_inside import inside_nodes
from ..moments import Moments, from_squares
from ..shape_layout import Layout, laid_out
from .base import CORNERS, Shape, check_length

GRID_PADDING = 3  # [cells] margin around the mesh
GRID_LIMIT = 8e6  # most values of a grid


@dataclass(frozen=True, eq=False)
class Grid(Shape):
    """Signed distances of a mesh, which may be concave, on a grid of cubic cells around it."""

    values: np.ndarray  # (nx, ny, nz) [m], negative inside
    middle: np.ndarray  # (3,) the grid's centre in the body
    cell: float  # [m]
    half: np.ndarray  # (3,) half sizes of the mesh's bounding box, which has the same centre
    points: np.ndarray  # (k, 3) points spread over its surface, in the body

    kind = "MESH"
    convex = False
    needs_triangles = True

    @classmethod
    def from_mesh(cls, vertices: np.ndarray, triangles: np.ndarray, cell: float | None = None, cells: int = 48) -> Grid:
        """The grid of a triangle mesh: vertices (k, 3) [m], triangles (f, 3). Cells have the size `cell`, or there are
        `cells` of them along the longest side. The mesh may have holes and inconsistent normals."""
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

    @classmethod
    def around(cls, points: np.ndarray, triangles: np.ndarray) -> Grid:
        return cls.from_mesh(points, triangles)

    @classmethod
    def around_placed(cls, points: np.ndarray, triangles: np.ndarray, turn: np.ndarray, shift: np.ndarray) -> Grid:
        """The grid is aligned with the body's axes, whatever the mesh's rotation."""
        return cls.around(points @ turn.T + shift, triangles)

    def moved(self, turn: np.ndarray, shift: np.ndarray) -> NoReturn:
        raise SettingError("A grid is straight in its body and cannot be turned: make it of the mesh as it sits there.")

    def _laid_out(self) -> Layout:
        half = np.asarray(self.half, dtype=float)
        return laid_out(
            SH.GRID, self.middle, np.asarray(self.points - self.middle, dtype=float).reshape(-1, 3),
            half=half, thick=half.min(), cell=self.cell, values=self.values,
            held_by=half * CORNERS,  # its points are only samples: the box contains all of the mesh
        )  # fmt: skip

    def moments(self) -> Moments:
        """Sums over the cells. Cells at the surface count with their share inside."""
        share = np.clip(0.5 - self.values / self.cell, 0.0, 1.0)
        total = share.sum()
        if total <= 0.0:
            raise SettingError("A grid without inside has no volume or mass: give smaller cells or close the mesh.")
        axes = [(np.arange(n) - 0.5 * (n - 1)) * self.cell for n in self.values.shape]
        nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        middle = np.einsum("xyz,xyzi->i", share, nodes) / total
        squares = np.einsum("xyz,xyzi,xyzj->ij", share, nodes, nodes) / total + np.eye(3) * self.cell**2 / 12.0
        squares -= np.outer(middle, middle)
        return Moments(float(total * self.cell**3), self.middle + middle, from_squares(squares))

    def balls(self) -> np.ndarray:
        return np.column_stack([self.middle + self.half * CORNERS, np.zeros(8)])

    def bearing(self) -> np.ndarray:
        return np.column_stack([self.points, np.zeros(len(self.points))])

    def gaps(self, points: np.ndarray) -> np.ndarray:
        from scipy.ndimage import map_coordinates  # noqa: PLC0415 - scipy takes long to load

        size = np.array(self.values.shape)
        at = (points - self.middle) / self.cell + 0.5 * (size - 1)
        inside = np.clip(at, 0.0, size - 1.0)
        outside = np.linalg.norm(at - inside, axis=1) * self.cell
        return map_coordinates(self.values, inside.T, order=1) + outside

    def lowest(self, up: np.ndarray) -> np.ndarray:
        return (up @ self.points.T).min(axis=1)

    def farthest(self) -> float:
        return float(np.linalg.norm(self.points, axis=1).max())

    def inside(self) -> np.ndarray:
        """The point of its surface nearest its centre."""
        return self.points[int(np.linalg.norm(self.points - self.middle, axis=1).argmin())]

    def wires(self) -> np.ndarray:
        """Its points, as small crosses."""
        arms = 0.25 * self.cell * np.stack([-np.eye(3), np.eye(3)], axis=1)
        return (self.points[:, None, None] + arms[None]).reshape(-1, 2, 3)
