"""Surfaces that bodies carry, as one mesh.

Must not know Blender: plain arrays in, plain arrays out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....engine.geometry.surfaces import Surface
from .primitives import Mesh


def joined(parts: Sequence[tuple[int, Surface]], scale: float = 1.0) -> Mesh:
    """One mesh of surfaces that bodies carry."""
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
