"""Signed distance of a point or a segment to a shape.

Owns the placement of shapes in the world and the signed distance: negative inside, with the outward normal. Must not
know about pairs, contacts or time.

Points and normals are computed in the shape's own frame, where every shape is simple. Where the nearest point is not
unique (a sphere's centre, a capsule's axis), any of them is returned. All results are finite.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel
from ..geometry import shape_table as SH
from ..math.vectors import add, axpy, cross, dot, load3, load4, matrix_apply, quat_matrix, scale, store3, sub

NO_DIRECTION = 1e-12  # [m] the direction of shorter vectors is rounding error
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
NARROWINGS = 45  # iterations of the golden section search: 0.618⁴⁵ is 4e-10
GRID_NARROWINGS = 20  # the same within two cells: 0.618²⁰ of them is finer than the grid is accurate
SAMPLES = 256  # most samples along a line through a grid


@kernel
def load9(a, i, c):
    return (
        a[i, c],
        a[i, c + 1],
        a[i, c + 2],
        a[i, c + 3],
        a[i, c + 4],
        a[i, c + 5],
        a[i, c + 6],
        a[i, c + 7],
        a[i, c + 8],
    )


@kernel
def matrix_unapply(m, v):
    """Mᵀ·v"""
    return (
        m[0] * v[0] + m[3] * v[1] + m[6] * v[2],
        m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
        m[2] * v[0] + m[5] * v[1] + m[8] * v[2],
    )


@kernel
def place_shape(shapes, s, position, turn, placed):
    """Write shape s to its row of `placed`, with its body's frame at a position and rotation (quaternion)."""
    body = quat_matrix(turn)
    store3(placed, s, SH.SPOT, add(position, matrix_apply(body, load3(shapes.shape, s, SH.OWN_SPOT))))
    half = load3(shapes.shape, s, SH.HALF)
    for k in range(3):
        line = (body[3 * k], body[3 * k + 1], body[3 * k + 2])
        size = shapes.shape[s, SH.ROUNDING]
        for c in range(3):
            value = 0.0
            for j in range(3):
                value += line[j] * shapes.shape[s, SH.OWN_AXES + 3 * j + c]
            placed[s, SH.AXES + 3 * k + c] = value
            size += abs(value) * half[c]
        placed[s, SH.EXTENT + k] = size if shapes.shape[s, SH.THICK] < math.inf else math.inf


@kernel
def place_shapes(shapes, where, placed):
    """Place all shapes, with their bodies' frames in `where` (n+1, 7): position, then quaternion; row 0 is the
    world."""
    for s in range(len(shapes.link)):
        body = shapes.link[s, SH.BODY]
        place_shape(shapes, s, load3(where, body, SH.POSITION), load4(where, body, SH.QUATERNION), placed)


@kernel
def distance(shapes, placed, s, point):
    """Signed distance of a world point to shape s and the outward normal there: (d, nx, ny, nz)."""
    m = load9(placed, s, SH.AXES)
    d, n = own_distance(shapes, s, matrix_unapply(m, sub(point, load3(placed, s, SH.SPOT))))
    x, y, z = matrix_apply(m, n)
    return d, x, y, z


@kernel
def own_distance(shapes, s, p):
    """Signed distance and normal in the shape's own frame: (d, normal)."""
    kind = shapes.link[s, SH.KIND]
    half = load3(shapes.shape, s, SH.HALF)
    if kind == SH.PLANE:
        return p[2], (0.0, 0.0, 1.0)
    if kind <= SH.CAPSULE:
        arm = (p[0], p[1], p[2] - min(max(p[2], -half[2]), half[2]))
        far = math.sqrt(dot(arm, arm))
        n = scale(1.0 / far, arm) if far > NO_DIRECTION else (1.0, 0.0, 0.0)
        return far - shapes.shape[s, SH.ROUNDING], n
    if kind == SH.BOX:
        return _box_distance(half, p)
    if kind == SH.HULL:
        return _hull_distance(shapes, s, p)
    return _grid_distance(shapes, s, p)


@kernel
def _box_distance(half, p):
    x, y, z = abs(p[0]) - half[0], abs(p[1]) - half[1], abs(p[2]) - half[2]
    sx = 1.0 if p[0] >= 0.0 else -1.0
    sy = 1.0 if p[1] >= 0.0 else -1.0
    sz = 1.0 if p[2] >= 0.0 else -1.0
    out = (max(x, 0.0), max(y, 0.0), max(z, 0.0))
    far = math.sqrt(dot(out, out))
    if far > NO_DIRECTION:
        f = 1.0 / far
        return far, (sx * out[0] * f, sy * out[1] * f, sz * out[2] * f)
    if z >= x and z >= y:
        return z, (0.0, 0.0, sz)
    if y >= x:
        return y, (0.0, sy, 0.0)
    return x, (sx, 0.0, 0.0)


@kernel
def _hull_distance(shapes, s, p):
    first, end = shapes.link[s, SH.FACE_FIRST], shapes.link[s, SH.FACE_END]
    inside = -math.inf
    n = (0.0, 0.0, 1.0)
    for f in range(first, end):
        normal = load3(shapes.faces, f, SH.FACE_NORMAL)
        height = dot(normal, p) - shapes.faces[f, SH.FACE_OFFSET]
        if height > inside:
            inside, n = height, normal
    if inside <= NO_DIRECTION:
        return inside, n
    # outside: the nearest point is on a face that faces p, at least as far as the face's plane
    best = math.inf
    for f in range(first, end):
        normal = load3(shapes.faces, f, SH.FACE_NORMAL)
        height = dot(normal, p) - shapes.faces[f, SH.FACE_OFFSET]
        if height <= 0.0 or height * height >= best:
            continue
        over = True
        for e in range(shapes.rings[f, SH.RING_FIRST], shapes.rings[f, SH.RING_END]):
            q = load3(shapes.points, shapes.edges[e, SH.EDGE_START], SH.XYZ)
            side = sub(load3(shapes.points, shapes.edges[e, SH.EDGE_STOP], SH.XYZ), q)
            arm = sub(p, q)
            if dot(cross(side, arm), normal) < 0.0:
                over = False
                t = min(max(dot(arm, side) / dot(side, side), 0.0), 1.0)
                arm = axpy(-t, side, arm)
                square = dot(arm, arm)
                if square < best:
                    best, n = square, arm
        if over:
            best, n = height * height, scale(height, normal)
    far = math.sqrt(best)
    return far, scale(1.0 / far, n)


@kernel
def _grid_distance(shapes, s, p):
    """Trilinear interpolation in the grid. Outside of it a lower bound: the hypotenuse of the distance to the grid and
    the value there."""
    cell = shapes.shape[s, SH.CELL]
    nx, ny, nz = shapes.link[s, SH.GRID_SIZE], shapes.link[s, SH.GRID_SIZE + 1], shapes.link[s, SH.GRID_SIZE + 2]
    x = min(max(p[0] / cell + 0.5 * (nx - 1), 0.0), nx - 1.0)
    y = min(max(p[1] / cell + 0.5 * (ny - 1), 0.0), ny - 1.0)
    z = min(max(p[2] / cell + 0.5 * (nz - 1), 0.0), nz - 1.0)
    i, j, k = min(int(x), nx - 2), min(int(y), ny - 2), min(int(z), nz - 2)
    at = shapes.link[s, SH.GRID_FIRST] + (i * ny + j) * nz + k
    d = gx = gy = gz = 0.0
    for a in range(2):
        fx, sx = (x - i, 1.0) if a else (1.0 - x + i, -1.0)
        for b in range(2):
            fy, sy = (y - j, 1.0) if b else (1.0 - y + j, -1.0)
            row = at + (a * ny + b) * nz
            low, high = shapes.grid[row], shapes.grid[row + 1]
            value = low + (z - k) * (high - low)
            d += fx * fy * value
            gx += sx * fy * value
            gy += sy * fx * value
            gz += fx * fy * (high - low)
    n = (gx, gy, gz)
    far = math.sqrt(dot(n, n))
    n = scale(1.0 / far, n) if far > 1e-6 * cell else (0.0, 0.0, 1.0)
    out = (
        p[0] - (x - 0.5 * (nx - 1)) * cell,
        p[1] - (y - 0.5 * (ny - 1)) * cell,
        p[2] - (z - 0.5 * (nz - 1)) * cell,
    )
    leg2 = dot(out, out)
    if leg2 > 1e-18 * cell * cell:
        d = max(d, 0.0)
        n = axpy(d, n, out)
        d = math.sqrt(d * d + leg2)
        far = math.sqrt(dot(n, n))
        n = scale(1.0 / far, n) if far > 1e-9 * cell else (0.0, 0.0, 1.0)
    return d, n


@kernel
def nearest_between(p, u, q, v):
    """The closest points p + s u and q + t v of two segments: (s, t), each in −1 … 1."""
    r = sub(p, q)
    a, e, b = dot(u, u), dot(v, v), dot(u, v)
    c, f = dot(u, r), dot(v, r)
    if a <= NO_DIRECTION * NO_DIRECTION:
        if e <= NO_DIRECTION * NO_DIRECTION:
            return 0.0, 0.0
        return 0.0, min(max(f / e, -1.0), 1.0)
    if e <= NO_DIRECTION * NO_DIRECTION:
        return min(max(-c / a, -1.0), 1.0), 0.0
    bottom = a * e - b * b
    s = 0.0
    if bottom > 1e-12 * a * e:  # otherwise parallel: any s is right
        s = min(max((b * f - c * e) / bottom, -1.0), 1.0)
    t = (b * s + f) / e
    if t < -1.0 or t > 1.0:
        t = min(max(t, -1.0), 1.0)
        s = min(max((b * t - c) / a, -1.0), 1.0)
    return s, t


@kernel
def nearest_on_segment(shapes, placed, s, a, b):
    """The point of the segment a–b with the smallest signed distance to shape s: (t in 0 … 1, d, nx, ny, nz)."""
    m, spot = load9(placed, s, SH.AXES), load3(placed, s, SH.SPOT)
    t, d, n = own_nearest(shapes, s, matrix_unapply(m, sub(a, spot)), matrix_unapply(m, sub(b, spot)))
    x, y, z = matrix_apply(m, n)
    return t, d, x, y, z


@kernel
def own_nearest(shapes, s, a, b):
    """`nearest_on_segment` in the shape's own frame: (t, d, normal)."""
    hollow = shapes.shape[s, SH.CELL] > 0.0
    side = sub(b, a)
    low, high = 0.0, 1.0
    if shapes.shape[s, SH.THICK] == math.inf:
        low = high = 0.0 if a[2] <= b[2] else 1.0
    elif shapes.shape[s, SH.ROUNDING] > 0.0:
        u = scale(0.5, side)
        where = nearest_between(add(a, u), u, (0.0, 0.0, 0.0), (0.0, 0.0, shapes.shape[s, SH.HALF + 2]))
        low = high = 0.5 + 0.5 * where[0]
    elif hollow:
        # find the lowest sample, then search around it
        count = min(int(math.sqrt(dot(side, side)) / shapes.shape[s, SH.CELL]) + 2, SAMPLES)
        best, at = math.inf, 0
        for k in range(count + 1):
            d, _ = own_distance(shapes, s, axpy(k / count, side, a))
            if d < best:
                best, at = d, k
        low, high = max(at - 1, 0) / count, min(at + 1, count) / count
    if high > low:
        # the distance to a convex shape is convex along a line
        t0, t1 = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        d0, _ = own_distance(shapes, s, axpy(t0, side, a))
        d1, _ = own_distance(shapes, s, axpy(t1, side, a))
        for _ in range(GRID_NARROWINGS if hollow else NARROWINGS):
            left = d0 <= d1
            if left:
                high, t1, d1 = t1, t0, d0
                t0 = high - GOLDEN * (high - low)
            else:
                low, t0, d0 = t0, t1, d1
                t1 = low + GOLDEN * (high - low)
            d, _ = own_distance(shapes, s, axpy(t0 if left else t1, side, a))
            if left:
                d0 = d
            else:
                d1 = d
    # the golden section search never reaches the ends themselves
    t = 0.5 * (low + high)
    t = 0.0 if t < 1e-8 else 1.0 if t > 1.0 - 1e-8 else t
    d, n = own_distance(shapes, s, axpy(t, side, a))
    return t, d, n
