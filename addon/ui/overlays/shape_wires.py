"""Shapes, limits and ground as line segments, (k, 2, 3) each.

Owns the look of limits and ground; a shape has its own. Must not know Blender: plain arrays in, plain arrays out.
"""

from __future__ import annotations

import numpy as np

from ....engine.geometry.shapes import Shape
from ....engine.geometry.wires import NO_WIRES, ROUND, arc, line
from ...memory import LOAD, remembered


@remembered("content", (LOAD,), most=1024)
def of_shape(shape: Shape) -> np.ndarray:
    """The wires of a shape, in its body's frame [m]; read-only, since they are kept."""
    found = shape.wires()
    found.flags.writeable = False
    return found


def ground_middle(middle: np.ndarray, size: float, lines: int = 10) -> tuple[float, float]:
    """The crossing of the grid's lines nearest to a point."""
    step = 2.0 * size / lines
    return tuple(float(np.round(c / step) * step) for c in middle[:2])


def ground(middle: np.ndarray, height: float, size: float, lines: int = 10) -> np.ndarray:
    """A level grid around a point; its lines stay in place when the point moves."""
    x0, y0 = ground_middle(middle, size, lines)
    ticks = np.linspace(-size, size, lines + 1)
    out = []
    for tick in ticks:
        out.append([[x0 + tick, y0 - size, height], [x0 + tick, y0 + size, height]])
        out.append([[x0 - size, y0 + tick, height], [x0 + size, y0 + tick, height]])
    return np.array(out)


def cone(swing: float, low: float, high: float, length: float, across: float = np.inf, axes=None) -> np.ndarray:
    """The limits of a ball joint in its frame at rest: a cone about Y, and the twist as an arc about it [rad].

    across: the swing about Z if it differs; axes (3, 3): the frame of the limits, the joint's if None.
    """
    parts = [NO_WIRES]
    if np.isfinite(swing) and swing < np.pi - 1e-3:
        turn = np.linspace(0.0, 2.0 * np.pi, ROUND + 1)
        lean = swing * np.stack([np.cos(turn), np.sin(turn)], axis=1)
        if np.isfinite(across):
            # the same superellipse as the engine's: (x/a)⁴ + (z/b)⁴ = 1
            lean = np.sign(lean) * np.sqrt(np.abs(lean) / swing) * (swing, across)
        rim = length * line(_leaned(lean))
        parts += [rim, np.stack([np.zeros((4, 3)), rim[:: ROUND // 4, 0]], axis=1)]
    if np.isfinite([low, high]).all() and high - low < 2.0 * np.pi - 1e-3:
        # A twist about Y turns Z towards X.
        x, _, z = np.eye(3) * length
        parts.append(_fan(0.4 * z, 0.4 * x, low, high))
    out = np.concatenate(parts)
    return out if axes is None else out @ np.transpose(axes)


def _leaned(lean: np.ndarray) -> np.ndarray:
    """(k, 3) directions of Y turned by rotation vectors (k, 2) about X and Z."""
    angle = np.linalg.norm(lean, axis=1)
    out = np.sinc(angle / np.pi)[:, None] * np.stack([-lean[:, 1], np.zeros(len(lean)), lean[:, 0]], axis=1)
    out[:, 1] = np.cos(angle)
    return out


def fan(axis: np.ndarray, low: float, high: float, length: float) -> np.ndarray:
    """The limits of a hinge in its frame at rest: the directions that the bone (Y, or X about Y) can reach."""
    if not np.isfinite([low, high]).all():
        return NO_WIRES
    start = np.array([0.0, 1.0, 0.0]) if abs(axis[1]) < 0.9 else np.array([0.0, 0.0, 1.0])
    start = start - axis * (axis @ start)
    return _fan(length * start, length * np.cross(axis, start), low, high)


def _fan(x: np.ndarray, y: np.ndarray, low: float, high: float) -> np.ndarray:
    rim = arc(x, y, low, high)
    return np.concatenate([rim, np.array([[np.zeros(3), rim[0, 0]], [np.zeros(3), rim[-1, 1]]])])


def arrows(points: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Arrows (k, 3) from points (k, 3), each a shaft and two barbs."""
    if not len(points):
        return NO_WIRES
    ends = points + vectors
    side = np.cross(vectors, np.where(np.abs(vectors[:, 2:]) < 0.9 * np.linalg.norm(vectors, axis=1)[:, None],
                                      [[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]]))  # fmt: skip
    long = np.linalg.norm(side, axis=1, keepdims=True)
    side = np.where(long > 1e-12, side / np.maximum(long, 1e-12), 0.0) * np.linalg.norm(vectors, axis=1, keepdims=True)
    barbs = [ends - 0.25 * vectors + sign * 0.12 * side for sign in (-1.0, 1.0)]
    return np.concatenate([np.stack([points, ends], axis=1), *(np.stack([ends, barb], axis=1) for barb in barbs)])


def crosses(points: np.ndarray, size: float) -> np.ndarray:
    """Small crosses at points (k, 3)."""
    if not len(points):
        return NO_WIRES
    arms = size * np.stack([-np.eye(3), np.eye(3)], axis=1)
    return (points[:, None, None] + arms[None]).reshape(-1, 2, 3)


def dashes(points: np.ndarray, step: float) -> np.ndarray:
    """A dashed line through points (k, 3), with dashes and gaps of length `step`."""
    long = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    count = int(long[-1] / step)
    if not count:
        return line(points)
    at = np.linspace(0.0, long[-1], 2 * max(count // 2, 1) + 2)
    spots = np.stack([np.interp(at, long, points[:, k]) for k in range(3)], axis=1)
    return np.stack([spots[0::2], spots[1::2]], axis=1)


def circle(middle: np.ndarray, radius: float) -> np.ndarray:
    """A level ring."""
    x, y, _ = radius * np.eye(3)
    return arc(x, y) + middle


def shafts(points: np.ndarray, vectors: np.ndarray, head: float) -> np.ndarray:
    """The shafts of arrows (k, 3) from points (k, 3), up to heads of that length."""
    long = np.linalg.norm(vectors, axis=1)
    kept = long > 0.25 * head
    part = np.maximum(1.0 - head / np.maximum(long[kept], 1e-12), 0.0)
    return np.stack([points[kept], points[kept] + vectors[kept] * part[:, None]], axis=1)


def heads(points: np.ndarray, vectors: np.ndarray, size: float, sides: int = 8) -> np.ndarray:
    """Triangles (t, 3, 3): the cones at the ends of arrows (k, 3) from points (k, 3)."""
    long = np.linalg.norm(vectors, axis=1)
    kept = long > 0.25 * size
    z = vectors[kept] / np.maximum(long[kept], 1e-12)[:, None]
    if not len(z):
        return np.zeros((0, 3, 3))
    tips = points[kept] + vectors[kept]
    length = np.minimum(long[kept], 1.6 * size)[:, None]
    x = np.cross(np.eye(3)[np.argmin(np.abs(z), axis=1)], z)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = np.cross(z, x)
    turn = 2.0 * np.pi * np.arange(sides + 1) / sides
    rim = np.cos(turn)[None, :, None] * x[:, None] + np.sin(turn)[None, :, None] * y[:, None]
    rim = (tips - z * length)[:, None] + 0.42 * length[:, None] * rim
    cone = np.stack([rim[:, :-1], rim[:, 1:], np.broadcast_to(tips[:, None], rim[:, 1:].shape)], axis=2)
    return cone.reshape(-1, 3, 3)
