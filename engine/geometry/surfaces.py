"""Surfaces of shapes as triangles with normals, for drawing.

Owns the triangulation. Must not know where they are drawn.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from ..math.rotations import axes_with_z
from .convex_hull import Solid

# Detail of a capsule: sides around it, and rings of each of its caps. PLAIN is for many capsules drawn faintly at once.
FINE, PLAIN = (8, 2), (6, 1)


class Surface(NamedTuple):
    vertices: np.ndarray  # (v, 3)
    normals: np.ndarray  # (v, 3)
    triangles: np.ndarray  # (t, 3)


@cache
def _unit_capsule(sides: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normals (v, 3) of a capsule along Z, the end (0 or 1) of each vertex (v,), and triangles (t, 3). Cached."""
    turn = 2.0 * np.pi * np.arange(sides) / sides
    lifts = np.linspace(-0.5 * np.pi, 0.0, count + 1)[1:]
    lift = np.concatenate([lifts, -lifts[::-1]])
    rings = np.stack(
        [
            np.cos(lift)[:, None] * np.cos(turn),
            np.cos(lift)[:, None] * np.sin(turn),
            np.sin(lift)[:, None] + 0.0 * turn,
        ],
        axis=-1,
    ).reshape(-1, 3)
    normals = np.concatenate([rings, [[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]])
    ends = np.concatenate([np.repeat([0, 1], count * sides), [0, 1]])
    faces = []
    for ring in range(2 * count - 1):
        for k in range(sides):
            a, b = ring * sides + k, ring * sides + (k + 1) % sides
            faces += [(a, b, b + sides), (a, b + sides, a + sides)]
    low, high, top = len(rings), len(rings) + 1, (2 * count - 1) * sides
    for k in range(sides):
        faces += [(low, (k + 1) % sides, k), (high, top + k, top + (k + 1) % sides)]
    return normals, ends, np.array(faces)


def capsule_surface(
    start: np.ndarray, end: np.ndarray, radius: float, far: float | None = None, grain: tuple[int, int] = FINE
) -> Surface:
    """The surface of a capsule. far: its radius at the end, if it differs; grain: FINE or PLAIN."""
    normals, ends, faces = _unit_capsule(*grain)
    turned = normals @ axes_with_z(np.asarray(end, dtype=float) - start).T
    radii = np.where(ends == 0, radius, radius if far is None else far)
    return Surface(np.where(ends[:, None] == 0, start, end) + radii[:, None] * turned, turned, faces)


def faceted(solid: Solid) -> Surface:
    """The surface of a solid: flat faces, each with its own vertices."""
    vertices, normals, faces, count = [], [], [], 0
    for ring, normal in zip(solid.rings, solid.normals, strict=True):
        corners = solid.points[ring]
        vertices.append(corners)
        normals.append(np.tile(normal, (len(corners), 1)))
        faces += [(count, count + k, count + k + 1) for k in range(1, len(corners) - 1)]
        count += len(corners)
    return Surface(np.concatenate(vertices), np.concatenate(normals), np.array(faces))
