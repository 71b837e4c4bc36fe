"""Support polygon of a body, and the signed distance of a point to its edge.

Owns the points of shapes that could touch level ground, and convex outlines in its plane. Must not know forces or
solvers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..math import quaternions as rot
from ..model.model import Model

# Frames processed at a time, to limit memory.
CHUNK = 64
# Points of the circle in which a ball is cut.
RING = 8


@dataclass(frozen=True, eq=False)
class Soles:
    """The parts of a model's bodies that could touch the ground: balls (k,) in their frames.

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
        """(b, 3) the parts within `reach` [m] of the ground or below it, projected onto it: points, or circles where
        balls are cut at that height. places (n, 3), turns (n, 4); bodies: indices of those that count, None for all."""
        spots = places[self.bodies] + rot.rotate(turns[self.bodies], self.points)
        low = spots[:, 2] - self.radii - height < reach
        if bodies is not None:
            low &= np.isin(self.bodies, bodies)
        spots, radii = spots[low], self.radii[low]
        # a ball more than half below has its largest circle
        above = np.maximum(spots[:, 2] - height - reach, 0.0)
        wide = np.sqrt(np.maximum(radii**2 - above**2, 0.0))
        turn = 2.0 * np.pi * np.arange(RING) / RING
        ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        flat = (spots[:, None, :2] + wide[:, None, None] * ring).reshape(-1, 2)
        return np.column_stack([flat, np.full(len(flat), height)])

    def clearance(self, places: np.ndarray, turns: np.ndarray, height: float) -> np.ndarray:
        """(frames,) height of the lowest point above the ground [m]; infinite without shapes."""
        out = np.full(len(places), np.inf)
        if not len(self.bodies):
            return out
        for start in range(0, len(places), CHUNK):
            rows = slice(start, start + CHUNK)
            q = turns[rows]
            # the third row of the rotation matrix, which is enough for a height
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
    """(h, 2) corners of the convex hull of points (k, 2), anticlockwise (Andrew's monotone chain); fewer than three if
    they are on a line."""
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
    """Signed distance of a point (2,) to the edge of an outline (h, 2): positive inside, negative outside; minus
    infinity for an empty outline."""
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
