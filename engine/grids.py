"""From a triangle mesh to signed distances on a grid.

Owns distance, inside and outside, also of meshes with holes. Must not know shapes.
"""

from __future__ import annotations

import numpy as np

from .errors import LibraryError, SettingError

GRID_POINTS = 300  # what a grid keeps of its surface to touch others with
NEAR_SAMPLES = 12  # of the surface whose triangles are measured exactly from a node
CLUSTER = 16  # triangles that are not divided any more
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
    points, owner = [], []
    for count in np.unique(parts):
        chosen = np.flatnonzero(parts == count)
        i, j = (a.ravel() for a in np.meshgrid(np.arange(count + 1), np.arange(count + 1)))
        keep = i + j <= count
        u, v = i[keep] / count, j[keep] / count
        weights = np.column_stack([1.0 - u - v, u, v])
        points.append(np.einsum("pk,fkc->fpc", weights, corners[chosen]).reshape(-1, 3))
        owner.append(np.repeat(chosen, len(weights)))
    return np.concatenate(points), np.concatenate(owner)


def unsigned_distances(nodes: np.ndarray, corners: np.ndarray, samples: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """Of points to triangles: exactly to those with the nearest samples."""
    tree = _search_tree(samples)
    best = np.empty(len(nodes))
    for begin in range(0, len(nodes), 20_000):
        part = nodes[begin : begin + 20_000]
        reached, near = tree.query(part, k=min(NEAR_SAMPLES, len(samples)))
        near = owner[near.reshape(len(part), -1)]
        exact = _to_triangles(np.repeat(part, near.shape[1], axis=0), corners[near.ravel()]).reshape(near.shape)
        best[begin : begin + 20_000] = np.minimum(exact.min(axis=1), reached.reshape(len(part), -1)[:, 0])
    return best


def _search_tree(points: np.ndarray):
    try:
        from scipy.spatial import cKDTree
    except ImportError as error:
        raise LibraryError(f"A grid needs scipy, which is missing ({error}): use a hull or box instead.") from error
    return cKDTree(points)


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


def is_closed(triangles: np.ndarray) -> bool:
    """Whether every edge has two sides."""
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return bool((np.unique(edges, axis=0, return_counts=True)[1] % 2 == 0).all())


def inside_nodes(nodes: np.ndarray, values: np.ndarray, corners: np.ndarray, closed: bool, cell: float) -> np.ndarray:
    """Which nodes the mesh winds around. If it has no holes, neighbours farther than half a cell from it are on one
    side of it, and one of each such region answers for all."""
    from scipy import ndimage

    regions, count = ndimage.label(values > 0.5 * cell) if closed else (np.zeros(values.shape, dtype=int), 0)
    asked = regions == 0
    first = np.zeros(count + 1, dtype=np.int64)
    if count:
        deepest = ndimage.maximum_position(values, regions, np.arange(1, count + 1))
        first[1:] = np.ravel_multi_index(np.array(deepest).T, values.shape)
        asked.ravel()[first[1:]] = True
    inside = np.zeros(values.shape, dtype=bool)
    # a mesh turned inside out winds the other way; a sheet alone never reaches one half
    inside[asked] = np.abs(_winding(nodes[asked], corners)) > 0.52
    return np.where(regions > 0, inside.ravel()[first][regions], inside)


def _winding(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """How often a mesh of triangles winds around points. From far away a cluster of triangles counts as one small
    face; from near by it is halved."""
    places = corners.mean(axis=1)
    area = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    weight = np.linalg.norm(area, axis=1) + 1e-300
    total = np.zeros(len(points))
    todo = [(np.arange(len(corners)), np.arange(len(points)))]
    while todo:
        members, rows = todo.pop()
        middle = np.average(places[members], axis=0, weights=weight[members])
        radius = np.linalg.norm(corners[members] - middle, axis=2).max()
        arm = middle - points[rows]
        far = np.linalg.norm(arm, axis=1)
        away = far > 3.0 * radius + 1e-12
        total[rows[away]] += arm[away] @ area[members].sum(axis=0) / far[away] ** 3
        rows = rows[~away]
        if not len(rows):
            continue
        if len(members) > CLUSTER:
            axis = int(np.argmax(np.ptp(places[members], axis=0)))
            order = members[np.argsort(places[members, axis], kind="stable")]
            todo += [(order[: len(order) // 2], rows), (order[len(order) // 2 :], rows)]
            continue
        for begin in range(0, len(rows), 50_000):
            some = rows[begin : begin + 50_000]
            total[some] += _solid_angles(points[some], corners[members])
    return total / (4.0 * np.pi)


def _solid_angles(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Summed over the triangles, of the sphere seen from each point (the tangent of half an angle, by Van Oosterom)."""
    a, b, c = (corners[None, :, k] - points[:, None] for k in range(3))
    x, y, z = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    over = np.einsum("pfi,pfi->pf", a, np.cross(b, c))
    under = x * y * z + z * (a * b).sum(axis=2) + x * (b * c).sum(axis=2) + y * (c * a).sum(axis=2)
    return 2.0 * np.arctan2(over, under).sum(axis=1)


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
