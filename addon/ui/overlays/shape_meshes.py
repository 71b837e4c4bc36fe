"""Shapes and bones as triangles with normals.

Owns their look. Must not know Blender: plain arrays in, plain arrays out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....engine.geometry.convex_hull import hull_solid
from ....engine.geometry.shape_table import axes_with_z
from ....engine.geometry.shapes import Box, Capsule, Hull, Shape, Sphere
from ....engine.math import rotations
from ...memory import remembered
from .primitives import Mesh

# Sides around a capsule, and rings of each of its caps. Coarse ones are many at a time, and faint.
FINE, PLAIN = (8, 2), (6, 1)


@remembered("content")
def _unit_capsule(sides: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normals (v, 3) about Z, the end (v,) of each vertex, and triangles (t, 3)."""
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


def capsule(start: np.ndarray, end: np.ndarray, radius: float, far: float | None = None, grain=FINE):
    """Vertices, normals and triangles of a capsule. far: its radius at the end, if it differs."""
    normals, ends, faces = _unit_capsule(*grain)
    turned = normals @ axes_with_z(np.asarray(end, dtype=float) - start).T
    radii = np.where(ends == 0, radius, radius if far is None else far)
    return np.where(ends[:, None] == 0, start, end) + radii[:, None] * turned, turned, faces


def _faceted(rings: Sequence[Sequence[int]], points: np.ndarray, middle: np.ndarray):
    """Flat faces, with separate vertices for each."""
    vertices, normals, faces, count = [], [], [], 0
    for ring in rings:
        corners = points[list(ring)]
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        normal /= max(np.linalg.norm(normal), 1e-12)
        normal = normal if normal @ (corners[0] - middle) > 0.0 else -normal
        vertices.append(corners)
        normals.append(np.tile(normal, (len(corners), 1)))
        faces += [(count, count + k, count + k + 1) for k in range(1, len(corners) - 1)]
        count += len(corners)
    return np.concatenate(vertices), np.concatenate(normals), np.array(faces)


BOX = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
BOX_RINGS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def of_shape(shape: Shape):
    """Vertices, normals and triangles of a shape in its body's frame [m]; None for shapes of points alone."""
    if isinstance(shape, Sphere):
        return capsule(np.array(shape.center), np.array(shape.center), shape.radius)
    if isinstance(shape, Capsule):
        return capsule(np.array(shape.start), np.array(shape.end), shape.radius)
    if isinstance(shape, Box):
        corners = (BOX * shape.half) @ rotations.to_matrix(np.array(shape.rotation)).T + np.array(shape.center)
        return _faceted(BOX_RINGS, corners, np.array(shape.center))
    if isinstance(shape, Hull):
        solid = hull_solid(shape.points)
        rings = [ring for ring in solid.rings if len(ring) > 2]
        return _faceted(rings, solid.points, solid.points.mean(axis=0)) if rings else None
    return None


def joined(parts: Sequence[tuple[int, tuple]], scale: float = 1.0) -> Mesh:
    """One mesh of parts (body, (vertices, normals, triangles))."""
    vertices, normals, faces, bodies, count = [], [], [], [], 0
    for body, (points, ways, triangles) in parts:
        vertices.append(points * scale)
        normals.append(ways)
        faces.append(triangles + count)
        bodies.append(np.full(len(points), body))
        count += len(points)
    if not parts:
        return Mesh(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3), dtype=int), np.zeros(0, dtype=int))
    return Mesh(*(np.concatenate(each) for each in (vertices, normals, faces, bodies)))
