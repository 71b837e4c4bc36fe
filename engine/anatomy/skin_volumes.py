"""Volume and moments of a skin, split among bones by vertex weights.

Owns the inside of meshes with holes, inverted faces, and overlapping parts. Must not know Blender, nor masses.

The inside is divided into cells. A mesh part with small holes is closed; a part that is mostly hole (a cape, a blade of
hair) has no inside. Overlapping volumes count once. Each cell is assigned to the bones of the nearest point of the
surface, by its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..geometry import distance_grid, mesh_inside

# The number of cells in the box around the skin, and the most along its longest side.
CELLS, ALONG = 600_000, 300
# Vertices nearer than this part of the skin's size are merged: importers split them at UV seams.
SAME = 1e-6
# A part whose holes have more than this part of its area is a sheet. Sleeves have 0.1, a skirt 0.35, a cape 0.9.
SHEET = 0.4
# Surface points nearer to one another than this part of a cell are merged.
NEAR = 0.2
# Parts with inconsistent faces are processed one by one: this many of them, the largest.
MIXED = 20


@dataclass(frozen=True, eq=False)
class Piece:
    """One skinned mesh: vertices (k, 3), triangles (t, 3), for each vertex bones (k, w) and their weights (k, w), 0 for
    unused slots."""

    vertices: np.ndarray
    triangles: np.ndarray
    bones: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class Moments:
    """For each bone: volumes (b,), firsts (b, 3) and seconds (b, 3, 3) about the origin; 0 without skin."""

    volumes: np.ndarray
    firsts: np.ndarray
    seconds: np.ndarray


def fill(pieces: Sequence[Piece], count: int) -> Moments:
    """The moments of the inside of `count` bones' skin, in the pieces' own units."""
    empty = Moments(np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3, 3)))
    pieces = [piece for piece in pieces if len(piece.triangles)]
    if not pieces:
        return empty
    points = np.concatenate([piece.vertices for piece in pieces])
    size = float(np.ptp(points, axis=0).max())
    if not size > 0.0:
        return empty
    cell, axes = _cells(points, size)
    inside = np.zeros([len(axis) for axis in axes], dtype=bool)
    for piece in pieces:
        inside |= _inside(piece, axes, cell, size)
    where = np.argwhere(inside)
    if not len(where):
        return empty
    nodes = np.stack([axis[where[:, k]] for k, axis in enumerate(axes)], axis=1)
    bones, weights = _nearest(pieces, nodes, cell, lambda spots: _buried(spots, inside, axes, cell))
    return _gather(nodes, bones, weights * cell**3, cell, count)


def _cells(points: np.ndarray, size: float) -> tuple[float, list[np.ndarray]]:
    """The cells' width, and the coordinates of their centres along X, Y, Z, symmetric about the middle of the skin."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.maximum(high - low, 1e-3 * size)
    cell = max(float(span.prod() / CELLS) ** (1.0 / 3.0), size / ALONG)
    counts = np.ceil(span / cell).astype(int) + 1
    middle = 0.5 * (low + high)
    return cell, [middle[k] + (np.arange(counts[k]) - 0.5 * (counts[k] - 1)) * cell for k in range(3)]


def _inside(piece: Piece, axes: list[np.ndarray], cell: float, size: float) -> np.ndarray:
    """True for cells inside a mesh."""
    vertices, triangles = _welded(piece.vertices, piece.triangles, SAME * size)
    inside = np.zeros([len(axis) for axis in axes], dtype=bool)
    if not len(triangles):
        return inside
    vertices, triangles = _closed(vertices, triangles)
    if not len(triangles):
        return inside
    part = _parts(triangles, len(vertices))[triangles[:, 0]]
    mixed = np.zeros(part.max() + 1, dtype=bool)
    mixed[part[_disagreeing(triangles)]] = True
    # Orient outward, each part by itself: an inverted part would subtract from what it overlaps.
    a, b, c = np.moveaxis(vertices[triangles] - vertices.mean(axis=0), 1, 0)
    volumes = np.bincount(part, np.einsum("ij,ij->i", a, np.cross(b, c)))
    turned = triangles.copy()
    turned[volumes[part] < 0.0] = triangles[volumes[part] < 0.0][:, ::-1]
    even = ~mixed[part]
    if even.any():
        inside |= mesh_inside.windings_above(axes, vertices, turned[even], cell) > 0
    rows = np.bincount(part, minlength=len(mixed)) * mixed
    for each in np.argsort(-rows, kind="stable")[:MIXED]:
        if rows[each]:
            # whatever the faces' orientation, an odd number of them is above an inside point
            inside |= mesh_inside.windings_above(axes, vertices, triangles[part == each], cell) % 2 != 0
    return inside


def _welded(vertices: np.ndarray, triangles: np.ndarray, near: float) -> tuple[np.ndarray, np.ndarray]:
    """Merge vertices at one position; drop triangles without area."""
    _, first, index = np.unique(np.round(vertices / near), axis=0, return_index=True, return_inverse=True)
    triangles = index.reshape(-1)[triangles]
    whole = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
    return vertices[first], triangles[whole]


def _parts(triangles: np.ndarray, count: int) -> np.ndarray:
    """(count,) index of the connected part of each vertex."""
    from scipy.sparse import coo_matrix  # noqa: PLC0415 - late: scipy loads slowly
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - late: scipy loads slowly

    start, stop = triangles[:, [0, 1]].ravel(), triangles[:, [1, 2]].ravel()
    joined = coo_matrix((np.ones(len(start), dtype=np.int8), (start, stop)), shape=(count, count))
    return connected_components(joined, directed=False)[1]


def _edges(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sides of all triangles: start and end vertices, and an index of the edge."""
    start, stop = triangles.ravel(), triangles[:, [1, 2, 0]].ravel()
    count = int(triangles.max()) + 1
    return start, stop, np.minimum(start, stop).astype(np.int64) * count + np.maximum(start, stop)


def _disagreeing(triangles: np.ndarray) -> np.ndarray:
    """(t,) True for triangles with an edge that is not used equally often in both directions."""
    start, stop, edge = _edges(triangles)
    _, index = np.unique(edge, return_inverse=True)
    balance = np.bincount(index.reshape(-1), np.where(start < stop, 1.0, -1.0))
    return (balance[index.reshape(-1)] != 0.0).reshape(-1, 3).any(axis=1)


def _closed(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mesh with its holes closed by a fan each; without its sheets."""
    part = _parts(triangles, len(vertices))
    start, stop, edge = _edges(triangles)
    _, index, times = np.unique(edge, return_inverse=True, return_counts=True)
    rim = times[index.reshape(-1)] % 2 == 1
    if not rim.any():
        return vertices, triangles
    start, stop = start[rim], stop[rim]
    # each hole's rim is a connected set of open edges
    loop = _parts(np.column_stack([start, stop, stop]), len(vertices))[start]
    loop = np.unique(loop, return_inverse=True)[1].reshape(-1)
    middles = np.stack([np.bincount(loop, vertices[start, k]) for k in range(3)], axis=1)
    middles /= np.bincount(loop)[:, None]
    lids = np.column_stack([stop, start, len(vertices) + loop])
    points = np.concatenate([vertices, middles])
    count = part.max() + 1
    skin = np.bincount(part[triangles[:, 0]], _areas(points, triangles), count)
    holes = np.bincount(part[start], _areas(points, lids), count)
    kept = holes <= SHEET * skin
    return points, np.concatenate([triangles[kept[part[triangles[:, 0]]]], lids[kept[part[start]]]])


def _areas(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def _buried(spots: np.ndarray, inside: np.ndarray, axes: list[np.ndarray], cell: float) -> np.ndarray:
    """(k,) True for surface points inside other parts: the end of an arm inside the chest."""
    from scipy.ndimage import binary_erosion  # noqa: PLC0415 - late: scipy loads slowly

    deep = binary_erosion(inside)
    index = [np.clip(np.rint((spots[:, k] - axes[k][0]) / cell).astype(int), 0, len(axes[k]) - 1) for k in range(3)]
    return deep[tuple(index)]


def _nearest(pieces: Sequence[Piece], nodes: np.ndarray, cell: float, buried) -> tuple[np.ndarray, np.ndarray]:
    """Bones (n, w) and weights (n, w), with sum 1, of the visible surface point nearest to each node."""
    from scipy.spatial import cKDTree  # noqa: PLC0415 - late: scipy loads slowly

    width = max(piece.bones.shape[1] for piece in pieces)
    places, bones, weights = [], [], []
    for piece in pieces:
        corners = piece.vertices[piece.triangles]
        spots, owner = distance_grid.surface_samples(corners, cell)
        nearest = np.linalg.norm(corners[owner] - spots[:, None], axis=2).argmin(axis=1)
        vertex = piece.triangles[owner, nearest]
        held = piece.weights[vertex].sum(axis=1) > 0.0
        room = ((0, 0), (0, width - piece.bones.shape[1]))
        places.append(spots[held])
        bones.append(np.pad(piece.bones[vertex[held]], room))
        weights.append(np.pad(piece.weights[vertex[held]], room))
    if not sum(map(len, places)):
        return np.zeros((len(nodes), 1), dtype=np.int64), np.zeros((len(nodes), 1))
    spots = np.concatenate(places)
    outer = np.flatnonzero(~buried(spots))
    outer = outer if len(outer) else np.arange(len(spots))
    outer = outer[_apart(spots[outer], NEAR * cell)]
    tree = cKDTree(spots[outer], balanced_tree=False, compact_nodes=False)
    found = outer[tree.query(nodes)[1]]
    share = np.concatenate(weights)[found]
    return np.concatenate(bones)[found], share / share.sum(axis=1, keepdims=True)


def _apart(spots: np.ndarray, near: float) -> np.ndarray:
    """A subset of the points (k, 3) with this minimum distance: repeated meshes have coincident points."""
    at = np.round((spots - spots.min(axis=0)) / near).astype(np.int64)
    wide = at.max(axis=0) + 1
    return np.sort(np.unique((at[:, 0] * wide[1] + at[:, 1]) * wide[2] + at[:, 2], return_index=True)[1])


def _gather(nodes: np.ndarray, bones: np.ndarray, volumes: np.ndarray, cell: float, count: int) -> Moments:
    """Sum up cells (n, w) with volumes by their bones."""
    places = np.repeat(nodes, bones.shape[1], axis=0)
    bone, volume = bones.ravel(), volumes.ravel()

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(bone, volume * values, count)

    whole = total(np.ones(len(bone)))
    firsts = np.stack([total(places[:, k]) for k in range(3)], axis=1)
    seconds = np.stack([[total(places[:, j] * places[:, k]) for k in range(3)] for j in range(3)])
    own = whole[:, None, None] * (cell**2 / 12.0) * np.eye(3)
    return Moments(whole, firsts, np.moveaxis(seconds, 2, 0) + own)
