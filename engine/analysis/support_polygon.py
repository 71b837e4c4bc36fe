"""Support polygon of a body, and the signed distance of a point to its edge.

Owns where shapes could bear on level ground, and outlines in its plane. Must not know forces or solvers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..math import quaternions as rot
from ..model.model import Model

# Frames looked at together: what is in memory at a time.
CHUNK = 64
# Points around the cut through a ball.
RING = 8


@dataclass(frozen=True, eq=False)
class Soles:
    """Where a model's bodies could touch the ground: balls (k,) in their frames.

    bodies (k,), points (k, 3) [m], radii (k,) [m]
    """

    bodies: np.ndarray
    points: np.ndarray
    radii: np.ndarray

    @classmethod
    def of(cls, model: Model) -> Soles:
        """Of all shapes of the model."""
        found = [(body, shape.bearing()) for body, shapes in enumerate(model.shapes) for shape in shapes]
        bodies = np.repeat([body for body, _ in found], [len(balls) for _, balls in found]).astype(int)
        balls = np.concatenate([np.zeros((0, 4)), *(balls for _, balls in found)])
        return cls(bodies, balls[:, :3], balls[:, 3])

    def bearing(
        self, places: np.ndarray, turns: np.ndarray, height: float, reach: float, bodies: np.ndarray | None = None
    ) -> np.ndarray:
        """(b, 3) what is within `reach` [m] of the ground or below, put onto it: points, and rings where balls are cut
        so high above it. places (n, 3), turns (n, 4); bodies: of these alone, as their indices."""
        spots = places[self.bodies] + rot.rotate(turns[self.bodies], self.points)
        low = spots[:, 2] - self.radii - height < reach
        if bodies is not None:
            low &= np.isin(self.bodies, bodies)
        spots, radii = spots[low], self.radii[low]
        # a ball that is more than half below is as wide as it gets
        above = np.maximum(spots[:, 2] - height - reach, 0.0)
        wide = np.sqrt(np.maximum(radii**2 - above**2, 0.0))
        turn = 2.0 * np.pi * np.arange(RING) / RING
        ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        flat = (spots[:, None, :2] + wide[:, None, None] * ring).reshape(-1, 2)
        return np.column_stack([flat, np.full(len(flat), height)])

    def clearance(self, places: np.ndarray, turns: np.ndarray, height: float) -> np.ndarray:
        """(frames,) how far the lowest point is above the ground [m]; endless without shapes."""
        out = np.full(len(places), np.inf)
        if not len(self.bodies):
            return out
        for start in range(0, len(places), CHUNK):
            rows = slice(start, start + CHUNK)
            q = turns[rows]
            # the third row of the rotation: all that a height takes
            up = np.stack(
                [
                    2.0 * (q[..., 1] * q[..., 3] - q[..., 0] * q[..., 2]),
                    2.0 * (q[..., 2] * q[..., 3] + q[..., 0] * q[..., 1]),
                    1.0 - 2.0 * (q[..., 1] ** 2 + q[..., 2] ** 2),
                ],
                axis=-1,
            )
            spots = np.einsum("fki,ki->fk", up[:, self.bodies], self.points) + places[rows][:, self.bodies, 2]
            out[rows] = (spots - self.radii).min(axis=1) - height
        return out


def outline(points: np.ndarray) -> np.ndarray:
    """(h, 2) the corners of the convex hull of points (k, 2), anticlockwise; fewer than three where they lie on a
    line (Andrew's monotone chain)."""
    order = sorted({(float(x), float(y)) for x, y in np.asarray(points)[:, :2]})
    if len(order) < 3:
        return np.array(order).reshape(-1, 2)

    def half(chain) -> list:
        kept: list[tuple[float, float]] = []
        for p in chain:
            while len(kept) > 1 and _left(kept[-2], kept[-1], p) <= 0.0:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return np.array(half(order) + half(order[::-1]))


def _left(a, b, c) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def margin(corners: np.ndarray, point: np.ndarray) -> float:
    """How far within an outline (h, 2) a point (2,) is, below zero outside of it; endlessly far outside of none."""
    if not len(corners):
        return -np.inf
    after = np.roll(corners, -1, axis=0)
    way = after - corners
    square = np.maximum((way * way).sum(axis=1), 1e-300)
    t = np.clip(((point - corners) * way).sum(axis=1) / square, 0.0, 1.0)
    away = np.linalg.norm(corners + t[:, None] * way - point, axis=1).min()
    inside = len(corners) > 2 and bool(
        (way[:, 0] * (point[1] - corners[:, 1]) - way[:, 1] * (point[0] - corners[:, 0]) >= 0.0).all()
    )
    return float(away if inside else -away)
