"""Convex solids: corners, flat faces and the edges between them.

Owns the construction of a solid with few corners from points. Must not know what it is used for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import LibraryError

HULL_POINTS = 48  # most corners of a hull: more cost time without a visible gain
THICKNESS = 1e-3  # half the thickness added to a flat hull, relative to its size
COPLANAR = 1e-7  # tolerance, relative to its size, within which triangles of a hull are one face


class Solid(NamedTuple):
    """Corners and faces in the shape's own frame."""

    points: np.ndarray  # (k, 3)
    rings: list[list[int]]  # corners of each face, counter-clockwise from outside
    normals: np.ndarray  # (f, 3)


def sides_of(ring: list[int]) -> list[tuple[int, int]]:
    return [(ring[k], ring[(k + 1) % len(ring)]) for k in range(len(ring))]


def box_solid(half: np.ndarray) -> Solid:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    rings = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    normals = np.repeat(np.eye(3), 2, axis=0) * np.array([-1.0, 1.0] * 3)[:, None]
    return Solid(signs * half, rings, normals)


def hull_solid(points: np.ndarray, limit: int = HULL_POINTS) -> Solid:
    """Corners (at most `limit`) and flat faces of the convex hull. A flat hull is made slightly thick."""
    points = thicken(np.unique(np.asarray(points, dtype=float), axis=0))
    hull = convex_hull(points)
    if len(hull.vertices) > limit:
        points = _few_corners(points[hull.vertices], limit)
        hull = convex_hull(points)
    corners = points[hull.vertices]
    number = np.full(len(points), -1)
    number[hull.vertices] = np.arange(len(corners))
    triangles = number[hull.simplices]
    normals = hull.equations[:, :3]
    # scipy's triangles have no consistent orientation
    turn = np.cross(
        corners[triangles[:, 1]] - corners[triangles[:, 0]], corners[triangles[:, 2]] - corners[triangles[:, 0]]
    )
    wrong = (turn * normals).sum(axis=1) < 0.0
    triangles[wrong] = triangles[wrong][:, [0, 2, 1]]
    return _merge_faces(corners, triangles, normals, hull.neighbors)


def convex_hull(points: np.ndarray, **options):
    try:
        from scipy.spatial import ConvexHull  # noqa: PLC0415 - scipy may be missing, and loads slowly
    except ImportError as error:
        raise LibraryError(f"A hull needs scipy, which is missing ({error}): use a capsule or box instead.") from error
    return ConvexHull(points, **options)


def thicken(points: np.ndarray) -> np.ndarray:
    """Add thickness to flat, straight or single points: copies shifted both ways along each missing dimension."""
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    size = max(float(np.linalg.norm(points - middle, axis=1).max()), 1e-9)
    axes = (
        np.linalg.svd(points - points.mean(axis=0))[2] if len(points) < 2000 else np.linalg.eigh(np.cov(points.T))[1].T
    )
    thin = max(THICKNESS * size, 1e-5)
    for axis in axes:
        spread = np.ptp(points @ axis)
        if spread < 1e-6 * size or spread < 1e-9:
            points = np.concatenate([points - thin * axis, points + thin * axis])
    return points


def _few_corners(points: np.ndarray, limit: int) -> np.ndarray:
    """Select corners greedily: the next one is always the farthest outside the hull of those selected."""
    chosen = {int(k) for axis in np.eye(3) for k in (np.argmin(points @ axis), np.argmax(points @ axis))}
    middle = points.mean(axis=0)
    while len(chosen) < 4:  # extremes may coincide: add the point farthest from those selected
        gaps = np.min([np.linalg.norm(points - points[k], axis=1) for k in chosen], axis=0)
        chosen.add(int(np.argmax(gaps)))
    while len(chosen) < limit:
        some = sorted(chosen)
        try:
            planes = convex_hull(points[some]).equations
            outside = (points @ planes[:, :3].T + planes[:, 3]).max(axis=1)
        except LibraryError:
            raise
        except Exception:  # qhull rejects flat input: add the point farthest from those selected
            outside = np.min([np.linalg.norm(points - points[k], axis=1) for k in some], axis=0)
        outside[some] = -np.inf
        best = int(np.argmax(outside))
        if outside[best] <= 1e-9 * np.linalg.norm(points - middle, axis=1).max():
            break
        chosen.add(best)
    return points[sorted(chosen)]


def _merge_faces(corners: np.ndarray, triangles: np.ndarray, normals: np.ndarray, neighbors: np.ndarray) -> Solid:
    """Merge coplanar triangles into faces."""
    size = np.linalg.norm(corners - corners.mean(axis=0), axis=1).max()
    group = np.full(len(triangles), -1)
    rings, kept = [], []
    for first in range(len(triangles)):
        if group[first] >= 0:
            continue
        plane, offset = normals[first], float(normals[first] @ corners[triangles[first, 0]])
        todo, inside = [first], {first}
        while todo:
            for other in neighbors[todo.pop()]:
                flat = np.abs(corners[triangles[other]] @ plane - offset).max() < COPLANAR * size
                if group[other] < 0 and other not in inside and flat:
                    inside.add(int(other))
                    todo.append(int(other))
        ring = _outline([tuple(triangles[k]) for k in inside])
        if ring is None:  # the merged outline is not a single loop: keep the triangle
            inside, ring = {first}, [int(k) for k in triangles[first]]
        group[list(inside)] = len(rings)
        rings.append(ring)
        kept.append(plane)
    used = sorted({k for ring in rings for k in ring})  # without corners inside faces
    number = {k: n for n, k in enumerate(used)}
    return Solid(corners[used], [[number[k] for k in ring] for ring in rings], np.array(kept))


def _outline(triangles: list[tuple[int, int, int]]) -> list[int] | None:
    """The outline of triangles as one closed loop; None if it is not a single loop."""
    sides = {side for triangle in triangles for side in sides_of(list(triangle))}
    follow = {p: q for p, q in sides if (q, p) not in sides}
    border = sum((q, p) not in sides for p, q in sides)
    start = next(iter(follow))
    ring = [int(start)]
    while (after := follow[ring[-1]]) != start:
        if len(ring) >= border or after not in follow:
            return None
        ring.append(int(after))
    return ring if len(ring) == border else None
