"""Convex shapes defined by their corners.

Owns all methods that can be computed from corners and flat faces. A subclass implements `corners`, `moved` and
`around`, and overrides what it can compute better, such as moments in closed form.
"""

from __future__ import annotations

import numpy as np

from ...memo import derived
from .. import shape_table as SH
from ..convex_hull import Solid, hull_solid, sides_of
from ..moments import Moments, mesh_moments
from ..shape_layout import Layout, laid_out, solid_parts
from ..surfaces import Surface, faceted
from .base import CORNERS, Shape


class Convex(Shape):
    """The convex hull of its corners."""

    def corners(self) -> np.ndarray:
        """(k, 3) points whose convex hull is the shape."""
        raise NotImplementedError

    def solid(self) -> Solid:
        """Its faces. The hull of many corners is simplified, and a flat one is made slightly thick. Cached."""
        return derived(self, "solid", lambda: hull_solid(self.corners()))

    def _laid_out(self) -> Layout:
        solid = self.solid()
        low, high = solid.points.min(axis=0), solid.points.max(axis=0)
        spot, half = 0.5 * (low + high), 0.5 * (high - low)
        own = solid._replace(points=solid.points - spot)
        return laid_out(SH.HULL, spot, own.points, half=half, thick=half.min(), **solid_parts(own))

    def moments(self) -> Moments:
        solid = self.solid()
        fans = [(ring[0], ring[k], ring[k + 1]) for ring in solid.rings for k in range(1, len(ring) - 1)]
        return mesh_moments(solid.points[np.array(fans)])

    def balls(self) -> np.ndarray:
        low, high = self.corners().min(axis=0), self.corners().max(axis=0)
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        return np.column_stack([middle + half * CORNERS, np.zeros(8)])

    def bearing(self) -> np.ndarray:
        corners = self.corners()
        return np.column_stack([corners, np.zeros(len(corners))])

    def gaps(self, points: np.ndarray) -> np.ndarray:
        """Outside near its edges and corners a lower bound: the largest distance from its faces' planes."""
        from scipy.spatial import ConvexHull, QhullError  # noqa: PLC0415 - scipy takes long to load

        corners = self.corners()
        try:
            planes = ConvexHull(corners).equations
        except QhullError:  # flat: the distance of the nearest corner
            return np.linalg.norm(points[:, None] - corners[None], axis=2).min(axis=1)
        return (points @ planes[:, :3].T + planes[:, 3]).max(axis=1)

    def lowest(self, up: np.ndarray) -> np.ndarray:
        return (up @ self.corners().T).min(axis=1)

    def farthest(self) -> float:
        return float(np.linalg.norm(self.corners(), axis=1).max())

    def inside(self) -> np.ndarray:
        return 0.5 * (self.corners().min(axis=0) + self.corners().max(axis=0))

    def wires(self) -> np.ndarray:
        solid = self.solid()
        sides = {tuple(sorted(side)) for ring in solid.rings for side in sides_of(ring)}
        return solid.points[np.array(sorted(sides))]

    def surface(self) -> Surface:
        return faceted(self.solid())
