"""Line segments (k, 2, 3), for drawing shapes.

Owns lines, arcs and balls. Must not know where they are drawn.
"""

from __future__ import annotations

import numpy as np

ROUND = 16  # segments of a circle
NO_WIRES = np.zeros((0, 2, 3))


def line(points: np.ndarray) -> np.ndarray:
    """The segments of a polyline through points (k, 3)."""
    return np.stack([points[:-1], points[1:]], axis=1)


def arc(x: np.ndarray, y: np.ndarray, start: float = 0.0, end: float = 2.0 * np.pi) -> np.ndarray:
    """Segments of an arc from angle `start` to `end` [rad], of an ellipse with half axes x and y (3,)."""
    count = max(round(ROUND * abs(end - start) / (2.0 * np.pi)), ROUND // 4)
    t = np.linspace(start, end, count + 1)[:, None]
    return line(np.cos(t) * x + np.sin(t) * y)


def ball(radius: float) -> np.ndarray:
    """Three circles about the origin."""
    x, y, z = radius * np.eye(3)
    return np.concatenate([arc(x, y), arc(y, z), arc(z, x)])
