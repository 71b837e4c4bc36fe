"""Signed distances of a triangle mesh on a grid.

Owns how far nodes are, and what a grid keeps of the surface; `winding` says which are
inside. Must not know shapes.

Contacts happen near the surface: there distances are exact. Farther off each node takes
the triangle of the nearest sample, a hundredth of a cell off at most.
"""

from __future__ import annotations

import numpy as np

from ..errors import LibraryError, SettingError

GRID_POINTS = 300  # what a grid keeps of its surface to touch others with
NEAR_SAMPLES = 12  # of the surface whose triangles are measured from a node near it …
NEAR = 2.0  # … which is one within so many cells
AT_ONCE = 20_000  # nodes, to bound memory
THIN = 0.4  # of a cell: a surface that a grid can show is seldom missed by more


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
    """Points no farther apart than the spacing on triangles (f, 3, 3), and whose they are."""
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
    """Of points to triangles: exactly to those with the nearest samples."""
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
    # not balanced: built three times sooner, searched as fast
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
    """Make what is too thin for the grid at least thick enough to be felt: where the values between the nodes do not
    come near zero at the surface, the nodes around are lowered."""
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
    """Vertices and other points of a surface, each next one the farthest from those before."""
    vertices = np.unique(vertices, axis=0)
    if len(vertices) > 4000:
        vertices = vertices[:: len(vertices) // 4000 + 1]
    others = samples[:: len(samples) // 6000 + 1]
    chosen, gaps = [], np.full(len(vertices), np.inf)
    gaps_others = np.full(len(others), np.inf)
    while len(chosen) < limit:
        # corners first: half of the places are the vertices'
        use_vertices = len(chosen) < limit // 2 and gaps.max() > 0.0
        pool, far = (vertices, gaps) if use_vertices else (others, gaps_others)
        at = int(np.argmax(far)) if chosen else int(np.argmax(np.linalg.norm(pool - pool.mean(axis=0), axis=1)))
        if far[at] <= 1e-9:
            break
        chosen.append(pool[at])
        gaps = np.minimum(gaps, np.linalg.norm(vertices - pool[at], axis=1))
        gaps_others = np.minimum(gaps_others, np.linalg.norm(others - pool[at], axis=1))
    return np.array(chosen)
