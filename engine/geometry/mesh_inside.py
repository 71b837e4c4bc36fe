"""Which nodes of a grid are inside a mesh: its winding number.

Owns inside and outside, also of meshes with holes and faces turned either way. Must not
know distances or shapes.

A mesh without holes whose faces all look the same way is counted exactly, by what lies
above each node. Of any other the sphere seen from a node is summed up, clusters of far
triangles as one small face.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile.decorators import entry_point, kernel

CLUSTER = 8  # triangles in the smallest clusters, and clusters in the next larger
FAR = 3.0  # radii of a cluster from which it counts as one small face
HALF = 0.52  # a sheet alone never reaches one half
SHIFT = (1e-6 * np.sqrt(2.0), 1e-6 * np.sqrt(3.0))  # of a cell: columns beside the corners that meshes put on nodes


def inside_nodes(
    axes: list[np.ndarray], vertices: np.ndarray, triangles: np.ndarray, values: np.ndarray, cell: float
) -> np.ndarray:
    """Which nodes of the grid the mesh winds around; a mesh turned inside out does so too.

    axes: the nodes' places along X, Y, Z; values: their distances from the mesh.
    """
    if faces_agree(triangles):
        return windings_above(axes, vertices, triangles, cell) != 0
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    corners = vertices[triangles]
    inside = np.zeros(values.shape, dtype=bool)
    within = ((nodes >= corners.min(axis=(0, 1))) & (nodes <= corners.max(axis=(0, 1)))).all(axis=-1)
    asked, first, regions = _asked(within, values, triangles, cell)
    inside[asked] = np.abs(windings(nodes[asked], corners)) > HALF
    return np.where(regions > 0, inside.ravel()[first][regions], inside)


def _asked(within: np.ndarray, values: np.ndarray, triangles: np.ndarray, cell: float):
    """Which nodes to look from. If the mesh has no holes, neighbours farther than half a cell from it are on one
    side of it, and one of each such region answers for all."""
    from scipy import ndimage  # noqa: PLC0415 - late: scipy loads slowly

    if not is_closed(triangles):
        return within, np.zeros(1, dtype=np.int64), np.zeros(values.shape, dtype=int)
    regions, count = ndimage.label(values > 0.5 * cell)
    asked = within & (regions == 0)
    first = np.zeros(count + 1, dtype=np.int64)
    if count:
        deepest = ndimage.maximum_position(values, regions, np.arange(1, count + 1))
        first[1:] = np.ravel_multi_index(np.array(deepest).T, values.shape)
        asked.ravel()[first[1:]] = True
    return asked, first, regions


def is_closed(triangles: np.ndarray) -> bool:
    """Whether every edge has two sides."""
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return bool((np.unique(edges, axis=0, return_counts=True)[1] % 2 == 0).all())


def faces_agree(triangles: np.ndarray) -> bool:
    """Whether every edge is gone along as often one way as the other: no holes, and all faces look outward, or all
    inward."""
    start, stop = (triangles[:, order].ravel().astype(np.int64) for order in ([0, 1, 2], [1, 2, 0]))
    count = int(triangles.max()) + 1
    return bool(np.array_equal(np.sort(start * count + stop), np.sort(stop * count + start)))


# --- exactly ---------------------------------------------------------------------


def windings_above(axes: list[np.ndarray], vertices, triangles, cell: float) -> np.ndarray:
    """(nx, ny, nz) faces above each node that look up, less those that look down."""
    shape = tuple(len(axis) for axis in axes)
    x, y = ((vertices[:, k] - axes[k][0]) / cell - SHIFT[k] for k in range(2))
    low = np.ceil(np.stack([a[triangles].min(axis=1) for a in (x, y)], axis=1)).astype(int)
    high = np.floor(np.stack([a[triangles].max(axis=1) for a in (x, y)], axis=1)).astype(int)
    size = np.maximum(high - low + 1, 0)
    many = size.prod(axis=1)
    face = np.repeat(np.arange(len(triangles)), many)
    rank = np.arange(len(face)) - np.repeat(np.cumsum(many) - many, many)
    i, j = low[face, 0] + rank // size[face, 1], low[face, 1] + rank % size[face, 1]
    ahead, area = np.empty((len(face), 3), dtype=bool), np.empty((len(face), 3))
    for k in range(3):
        a, b = triangles[face, k], triangles[face, (k + 1) % 3]
        # both faces of an edge work it out the same way, so that no column slips between them
        swap = a > b
        p, q = np.where(swap, b, a), np.where(swap, a, b)
        side = (x[q] - x[p]) * (j - y[p]) - (y[q] - y[p]) * (i - x[p])
        ahead[:, k] = (side > 0.0) != swap
        area[:, (k + 2) % 3] = np.abs(side)
    up, down = ahead.all(axis=1), ~ahead.any(axis=1)
    hit = up | down
    face, i, j, area = face[hit], i[hit], j[hit], area[hit]
    heights = vertices[triangles[face], 2]
    total = area.sum(axis=1)
    place = np.where(total > 0.0, (area * heights).sum(axis=1) / np.maximum(total, 1e-300), heights[:, 0])
    below = np.searchsorted(axes[2], place)  # nodes of the column under the face
    crossing = np.zeros((shape[0], shape[1], shape[2] + 1), dtype=np.int64)
    np.add.at(crossing, (i, j, below), np.where(up[hit], 1, -1))
    return np.cumsum(crossing[:, :, ::-1], axis=2)[:, :, ::-1][:, :, 1:]


# --- by what is seen -------------------------------------------------------------


def windings(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(p,) how often triangles (f, 3, 3) wind around points (p, 3)."""
    corners = np.ascontiguousarray(corners[_along_a_curve(corners.mean(axis=1))], dtype=np.float64)
    ball, below, top = _clusters(corners)
    total = np.zeros(len(points))
    stack = np.zeros(len(ball) + 1, dtype=np.int64)
    _look(np.ascontiguousarray(points, dtype=np.float64), corners, ball, below, top, stack, total)
    return total / (4.0 * np.pi)


def _along_a_curve(places: np.ndarray) -> np.ndarray:
    """An order in which neighbours in space are mostly neighbours in the row (Morton's)."""
    low = places.min(axis=0)
    span = max(float(np.ptp(places, axis=0).max()), 1e-300)
    cells = ((places - low) * (1023.0 / span)).astype(np.int64)
    code = np.zeros(len(places), dtype=np.int64)
    for bit in range(10):
        for axis in range(3):
            code |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return np.argsort(code, kind="stable")


def _clusters(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Clusters of neighbours in the row, the smallest first: (c, 7) middle, radius and sum of the triangles' areas
    (a vector); (c, 2) which clusters, or of the smallest which triangles, are in them; and where the largest begin."""
    area = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    weight = np.linalg.norm(area, axis=1) + 1e-300
    moment = weight[:, None] * corners.mean(axis=1)
    balls, below, width, first, within = [], [], CLUSTER, 0, len(corners)
    while True:
        starts = np.arange(0, len(corners), width)
        middle = np.add.reduceat(moment, starts) / np.add.reduceat(weight, starts)[:, None]
        reach = np.linalg.norm(corners - np.repeat(middle, width, axis=0)[: len(corners), None], axis=2).max(axis=1)
        balls.append(np.column_stack([middle, np.maximum.reduceat(reach, starts), np.add.reduceat(area, starts)]))
        edges = first + np.minimum(np.arange(len(starts) + 1) * CLUSTER, within)
        below.append(np.column_stack([edges[:-1], edges[1:]]))
        first, within = sum(map(len, below[:-1])), len(starts)
        if within <= CLUSTER:
            return np.concatenate(balls), np.concatenate(below).astype(np.int64), first
        width *= CLUSTER


@entry_point
def _look(points, corners, ball, below, top, stack, total):
    """Add up the solid angles of all triangles, from each point; stack: room for every cluster."""
    leaves = (len(corners) + CLUSTER - 1) // CLUSTER
    for p in range(len(points)):
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        depth = 0
        for c in range(top, len(ball)):
            stack[depth] = c
            depth += 1
        angle = 0.0
        while depth > 0:
            depth -= 1
            c = stack[depth]
            ax, ay, az = ball[c, 0] - x, ball[c, 1] - y, ball[c, 2] - z
            square = ax * ax + ay * ay + az * az
            reach = FAR * ball[c, 3] + 1e-12
            if square > reach * reach:
                angle += (ax * ball[c, 4] + ay * ball[c, 5] + az * ball[c, 6]) / (square * math.sqrt(square))
            elif c < leaves:
                for t in range(below[c, 0], below[c, 1]):
                    angle += _solid_angle(corners, t, x, y, z)
            else:
                for k in range(below[c, 0], below[c, 1]):
                    stack[depth] = k
                    depth += 1
        total[p] = angle


@kernel
def _solid_angle(corners, t, x, y, z):
    """Of a triangle, from a point: the tangent of half of it, by Van Oosterom."""
    ax, ay, az = corners[t, 0, 0] - x, corners[t, 0, 1] - y, corners[t, 0, 2] - z
    bx, by, bz = corners[t, 1, 0] - x, corners[t, 1, 1] - y, corners[t, 1, 2] - z
    cx, cy, cz = corners[t, 2, 0] - x, corners[t, 2, 1] - y, corners[t, 2, 2] - z
    a = math.sqrt(ax * ax + ay * ay + az * az)
    b = math.sqrt(bx * bx + by * by + bz * bz)
    c = math.sqrt(cx * cx + cy * cy + cz * cz)
    over = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    under = a * b * c
    under += c * (ax * bx + ay * by + az * bz) + a * (bx * cx + by * cy + bz * cz) + b * (cx * ax + cy * ay + cz * az)
    return 2.0 * math.atan2(over, under)
