"""Signed distances of a triangle mesh on a grid.

Owns the distances of nodes, and the points of the surface that a grid stores. Must not know shapes, or which nodes are
inside (`mesh_inside`).

Distances are exact near the surface, where contacts occur. Farther off, a node uses only the triangle of the nearest
sample, with an error of at most a hundredth of a cell.
"""

from __future__ import annotations

import numpy as np

from ..errors import LibraryError, SettingError

GRID_POINTS = 300  # points of its surface that a grid stores for contacts
NEAR_SAMPLES = 12  # a node near the surface is measured to the triangles of this many nearest samples
NEAR = 2.0  # [cells] a node within this distance is near the surface
AT_ONCE = 20_000  # nodes in one batch, to bound memory
THIN = 0.4  # [cells] largest usual error of the interpolated distance at a surface that the grid resolves


def checked_mesh(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    vertices, triangles = np.asarray(vertices, dtype=float), np.asarray(triangles, dtype=np.int64)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
        raise SettingError(f"A mesh's vertices have the shape {vertices.shape}: give finite numbers, as (k, 3).")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or not len(triangles):
        raise SettingError(f"A mesh's triangles have the shape {triangles.shape}: give at least one, as (f, 3).")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise SettingError(f"A mesh's triangles name vertices that are not there: it has {len(vertices)}.")
    return vertices, triangles


def surface_samples(corners: np.ndarray, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Sample triangles (f, 3, 3) with points at most `spacing` apart. Returns the points (k, 3) and the index of each
    one's triangle (k,)."""
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    parts = np.ceil(sides / spacing).astype(int).clip(1, 400)
    small = np.flatnonzero(parts == 1)
    points, owner = [corners[small].mean(axis=1)], [small]
    for count in np.unique(parts[parts > 1]):
        chosen = np.flatnonzero(parts == count)
        i, j = (a.ravel() for a in np.meshgrid(np.arange(count + 1), np.arange(count + 1)))
        keep = i + j <= count
        u, v = i[keep] / count, j[keep] / count
        weights = np.column_stack([1.0 - u - v, u, v])
        points.append(np.einsum("pk,fkc->fpc", weights, corners[chosen]).reshape(-1, 3))
        owner.append(np.repeat(chosen, len(weights)))
    return np.concatenate(points), np.concatenate(owner)


def unsigned_distances(
    nodes: np.ndarray, corners: np.ndarray, samples: np.ndarray, owner: np.ndarray, cell: float
) -> np.ndarray:
    """Distances of points to a mesh: exact to the triangles of the nearest samples."""
    tree = _search_tree(samples)
    reached, nearest = tree.query(nodes)
    best = np.minimum(_to_triangles(nodes, corners[owner[nearest]]), reached)
    near = np.flatnonzero(reached < NEAR * cell)
    for begin in range(0, len(near), AT_ONCE):
        rows = near[begin : begin + AT_ONCE]
        some = owner[tree.query(nodes[rows], k=min(NEAR_SAMPLES, len(samples)))[1].reshape(len(rows), -1)]
        exact = _to_triangles(np.repeat(nodes[rows], some.shape[1], axis=0), corners[some.ravel()])
        best[rows] = np.minimum(best[rows], exact.reshape(some.shape).min(axis=1))
    return best


def _search_tree(points: np.ndarray):
    try:
        from scipy.spatial import cKDTree  # noqa: PLC0415 - scipy may be missing, and loads slowly
    except ImportError as error:
        raise LibraryError(f"A grid needs scipy, which is missing ({error}): use a hull or box instead.") from error
    # unbalanced: three times faster to build, equally fast to search
    return cKDTree(points, balanced_tree=False, compact_nodes=False)


def _to_triangles(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Distances of points (k, 3), each to its own triangle (k, 3, 3)."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    square = np.maximum((normal**2).sum(axis=1), 1e-300)
    over = square > 1e-200
    best = np.full(len(points), np.inf)
    for k in range(3):
        start = corners[:, k]
        side = corners[:, (k + 1) % 3] - start
        arm = points - start
        over &= np.einsum("ij,ij->i", np.cross(side, arm), normal) >= 0.0
        t = np.einsum("ij,ij->i", arm, side) / np.maximum((side**2).sum(axis=1), 1e-300)
        best = np.minimum(best, ((arm - np.clip(t, 0.0, 1.0)[:, None] * side) ** 2).sum(axis=1))
    height = np.einsum("ij,ij->i", points - corners[:, 0], normal)
    return np.sqrt(np.where(over, height**2 / square, best))


def thicken_sheets(
    values: np.ndarray, inside: np.ndarray, samples: np.ndarray, axes: list[np.ndarray], cell: float
) -> None:
    """Thicken parts of the mesh that the grid cannot resolve, so that they still have contacts. Where the interpolated
    value at the surface is not close to zero, the nodes around it are lowered. Changes `values`."""
    if not inside.any():
        values -= 0.5 * cell
        return
    low = np.array([axis[0] for axis in axes])
    place = (samples - low) / cell
    base = np.minimum(np.floor(place).astype(int), np.array(values.shape) - 2)
    part = place - base
    found = np.zeros(len(samples))
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(corner, part, 1.0 - part), axis=1)
        found += weight * values[tuple((base + corner).T)]
    thin = found > THIN * cell
    drop = np.zeros(values.shape)
    for corner in np.ndindex(2, 2, 2):
        np.maximum.at(drop, tuple((base[thin] + corner).T), found[thin] + 0.25 * cell)
    values -= drop


def spread_points(vertices: np.ndarray, samples: np.ndarray, limit: int) -> np.ndarray:
    """Farthest point sampling of a surface: vertices and samples, the next one always farthest from those chosen."""
    vertices = np.unique(vertices, axis=0)
    if len(vertices) > 4000:
        vertices = vertices[:: len(vertices) // 4000 + 1]
    others = samples[:: len(samples) // 6000 + 1]
    chosen, gaps = [], np.full(len(vertices), np.inf)
    gaps_others = np.full(len(others), np.inf)
    while len(chosen) < limit:
        # vertices first, for half of the points
        use_vertices = len(chosen) < limit // 2 and gaps.max() > 0.0
        pool, far = (vertices, gaps) if use_vertices else (others, gaps_others)
        at = int(np.argmax(far)) if chosen else int(np.argmax(np.linalg.norm(pool - pool.mean(axis=0), axis=1)))
        if far[at] <= 1e-9:
            break
        chosen.append(pool[at])
        gaps = np.minimum(gaps, np.linalg.norm(vertices - pool[at], axis=1))
        gaps_others = np.minimum(gaps_others, np.linalg.norm(others - pool[at], axis=1))
    return np.array(chosen)
