"""Which nodes of a grid are inside a mesh, by its winding number.

Owns inside and outside, also for meshes with holes and inconsistent normals. Must not know how distances are computed,
or shapes.

A closed mesh with consistent normals is counted exactly, by the faces above each node. For any other mesh the solid
angles of its triangles are summed, with a cluster of far triangles as one small face.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile.decorators import entry_point, kernel

CLUSTER = 8  # triangles in a cluster of the lowest level, and clusters in one of the next level
FAR = 3.0  # [radii] from this distance on a cluster counts as one small face
HALF = 0.52  # threshold of the winding number: a single sheet never reaches one half
SHIFT = (1e-6 * np.sqrt(2.0), 1e-6 * np.sqrt(3.0))  # [cells] offset of columns, off vertices that lie exactly on nodes


def inside_nodes(
    axes: list[np.ndarray], vertices: np.ndarray, triangles: np.ndarray, values: np.ndarray, cell: float
) -> np.ndarray:
    """True for the nodes of the grid that are inside the mesh, also if the mesh is inside out.

    axes: the nodes' coordinates along X, Y, Z; values (nx, ny, nz): their distances from the mesh.
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
    """Which nodes to compute. If the mesh has no holes, connected nodes farther than half a cell from it are on one
    side of it. Then one node of each such region stands for all.

    Returns the nodes to compute (a mask), the flat index of each region's node, and the regions' labels.
    """
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
    """True if every edge belongs to an even number of triangles."""
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return bool((np.unique(edges, axis=0, return_counts=True)[1] % 2 == 0).all())


def faces_agree(triangles: np.ndarray) -> bool:
    """True if every edge occurs equally often in both directions: no holes, and all normals point outward, or all
    inward."""
    start, stop = (triangles[:, order].ravel().astype(np.int64) for order in ([0, 1, 2], [1, 2, 0]))
    count = int(triangles.max()) + 1
    return bool(np.array_equal(np.sort(start * count + stop), np.sort(stop * count + start)))


# --- exact -----------------------------------------------------------------------


def windings_above(axes: list[np.ndarray], vertices, triangles, cell: float) -> np.ndarray:
    """(nx, ny, nz) number of upward faces above each node, minus the downward ones."""
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
        # both faces of an edge compute it in the same order, so that no column passes between them by rounding
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


# --- by solid angles -------------------------------------------------------------


def windings(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(p,) winding numbers of triangles (f, 3, 3) around points (p, 3)."""
    corners = np.ascontiguousarray(corners[_along_a_curve(corners.mean(axis=1))], dtype=np.float64)
    ball, below, top = _clusters(corners)
    total = np.zeros(len(points))
    stack = np.zeros(len(ball) + 1, dtype=np.int64)
    _look(np.ascontiguousarray(points, dtype=np.float64), corners, ball, below, top, stack, total)
    return total / (4.0 * np.pi)


def _along_a_curve(places: np.ndarray) -> np.ndarray:
    """Morton order: points that are close in space are mostly close in the order."""
    low = places.min(axis=0)
    span = max(float(np.ptp(places, axis=0).max()), 1e-300)
    cells = ((places - low) * (1023.0 / span)).astype(np.int64)
    code = np.zeros(len(places), dtype=np.int64)
    for bit in range(10):
        for axis in range(3):
            code |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return np.argsort(code, kind="stable")


def _clusters(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Hierarchy of clusters of consecutive triangles, the lowest level first.

    Returns (c, 7) centre, radius and vector sum of the triangles' areas; (c, 2) the range of each one's clusters, on
    the lowest level of its triangles; and the index of the first cluster of the top level.
    """
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
    """Sum the solid angles of all triangles for each point. stack: scratch with room for every cluster."""
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
    """Solid angle of a triangle from a point, by the formula of Van Oosterom and Strackee."""
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
