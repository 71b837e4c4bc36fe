"""Distance and closest points of convex shapes: GJK, and separating axes where they overlap.

Owns the closest points of two sets of corners (GJK) and, if they overlap, the smallest penetration (separating axes).
Must not know what a contact is.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile.decorators import kernel
from ..geometry import shape_table as SH
from ..math.vectors import add, axpy, cross, dot, load3, matrix_apply, scale, sub
from .contact_table import PREFER
from .signed_distance import load9, matrix_unapply, nearest_between

ROUNDS = 60  # most iterations of GJK; 4 to 8 are usual
CONVERGED = 1e-10  # tolerance, relative to the squared distance
OVERLAP = 1e-7  # relative to the pair's size: below this distance GJK's direction is rounding error
INSIDE = np.int64(4)  # returned in place of a corner's number if the origin is inside the tetrahedron


@kernel
def convex(shapes, one, two, m, shift, far):
    """Signed distance of two convex shapes without their rounding, the direction from two to one, and the closest point
    of one: (d, n, x), in the frame of `two`. `one` is rotated by m and translated by `shift` in that frame. If the
    distance exceeds `far`, d is only a lower bound above it."""
    d, n, x = _approach(shapes, one, two, m, shift, far)
    if d < 0.0:
        d, n, x = _least_way_out(shapes, one, two, m, shift)
    return d, n, x


@kernel
def relative(placed, row, other):
    """The axes and origin of the placed shape in `row`, in the frame of the one in row `other`."""
    a, b = load9(placed, row, SH.AXES), load9(placed, other, SH.AXES)
    x = matrix_unapply(b, (a[0], a[3], a[6]))
    y = matrix_unapply(b, (a[1], a[4], a[7]))
    z = matrix_unapply(b, (a[2], a[5], a[8]))
    shift = matrix_unapply(b, sub(load3(placed, row, SH.SPOT), load3(placed, other, SH.SPOT)))
    return (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]), shift


@kernel
def corner(points, i, m, shift):
    return add(shift, matrix_apply(m, load3(points, i, SH.XYZ)))


@kernel
def farthest(points, first, end, x, y, z):
    """Support point: the index of the point of a range that is farthest along a direction."""
    best, at = -math.inf, first
    for i in range(first, end):
        value = points[i, 0] * x + points[i, 1] * y + points[i, 2] * z
        if value > best:
            best, at = value, i
    return at


@kernel
def _approach(shapes, one, two, m, shift, far):
    """GJK: the point of the Minkowski difference of one and two that is nearest the origin, by simplices of its corners
    that approach the origin. The distance is −1 if the difference contains the origin."""
    points = shapes.points
    first, end = shapes.link[one, SH.POINT_FIRST], shapes.link[one, SH.POINT_END]
    other, stop = shapes.link[two, SH.POINT_FIRST], shapes.link[two, SH.POINT_END]
    floor = OVERLAP * (shapes.shape[one, SH.BOUND] + shapes.shape[two, SH.BOUND])
    w0 = w1 = w2 = (0.0, 0.0, 0.0)
    k0 = k1 = k2 = np.int64(-1)
    l0, l1, l2 = 1.0, 0.0, 0.0
    n, square = 0, math.inf
    v = shift if dot(shift, shift) > 0.0 else (1.0, 0.0, 0.0)
    for _ in range(ROUNDS):
        if square <= floor * floor:
            return -1.0, v, v
        x, y, z = matrix_unapply(m, v)
        i = farthest(points, first, end, -x, -y, -z)
        j = farthest(points, other, stop, v[0], v[1], v[2])
        w = sub(corner(points, i, m, shift), load3(points, j, SH.XYZ))
        k = (i << 32) + j
        progress, length = dot(v, w), math.sqrt(dot(v, v))
        if progress > far * length:
            return progress / length, scale(1.0 / length, v), v
        if n > 0 and (k == k0 or k == k1 or k == k2 or square - progress <= CONVERGED * square):
            break
        if n == 0:
            w0, k0 = w, k
        elif n == 1:
            w1, k1 = w, k
            _, l0, l1 = _line_weights(w0, w1)
        elif n == 2:
            w2, k2 = w, k
            _, l0, l1, l2 = _triangle_weights(w0, w1, w2)
        else:
            gone, l0, l1, l2 = _tetrahedron(w0, w1, w2, w)
            if gone == INSIDE:
                return -1.0, v, v
            n = 2
            if gone == 0:
                w0, k0 = w, k
            elif gone == 1:
                w1, k1 = w, k
            elif gone == 2:
                w2, k2 = w, k
        n, w0, k0, l0, w1, k1, l1, k2, l2 = _keep_weighty(n + 1, w0, k0, l0, w1, k1, l1, w2, k2, l2)
        v = axpy(l0, w0, axpy(l1, w1, scale(l2, w2)))
        d = dot(v, v)
        if d >= square:
            break
        square = d
    x = scale(l0, corner(points, k0 >> 32, m, shift))
    if l1 > 0.0:
        x = axpy(l1, corner(points, k1 >> 32, m, shift), x)
    if l2 > 0.0:
        x = axpy(l2, corner(points, k2 >> 32, m, shift), x)
    far = math.sqrt(dot(v, v))
    if far <= floor:
        return -1.0, v, v
    return far, scale(1.0 / far, v), x


@kernel
def _tetrahedron(w0, w1, w2, w):
    """Reduce a tetrahedron, three corners and the new one w: which corner is removed, and the weights of the others.
    The new corner takes the removed one's position. INSIDE if the tetrahedron contains the origin; otherwise the
    nearest point is on a side that faces the origin."""
    a, b, c = sub(w1, w0), sub(w2, w0), sub(w, w0)
    volume = dot(a, cross(b, c))
    flat = abs(volume) <= 1e-12 * math.sqrt(dot(a, a) * dot(b, b) * dot(c, c))
    against = (dot(w1, cross(w2, w)), -dot(w0, cross(b, c)), -dot(a, cross(w0, c)), -dot(a, cross(b, w0)))
    best, gone = math.inf, INSIDE
    l0 = l1 = l2 = 0.0
    for k in range(4):
        if flat or against[k] * volume <= 0.0:
            d, x, y, z = _triangle_weights(w if k == 0 else w0, w if k == 1 else w1, w if k == 2 else w2)
            if d < best:
                best, l0, l1, l2, gone = d, x, y, z, k
    return gone, l0, l1, l2


@kernel
def _keep_weighty(n, w0, k0, l0, w1, k1, l1, w2, k2, l2):
    """Remove those of n corners that have no weight: the last one takes the position of a removed one."""
    if n > 2 and l2 <= 0.0:
        n -= 1
    if n > 1 and l1 <= 0.0:
        n -= 1
        if n == 2:
            w1, k1, l1 = w2, k2, l2
    if n > 1 and l0 <= 0.0:
        n -= 1
        if n == 2:
            w0, k0, l0 = w2, k2, l2
        else:
            w0, k0, l0 = w1, k1, l1
    if n < 3:
        l2, k2 = 0.0, np.int64(-1)
    if n < 2:
        l1, k1 = 0.0, np.int64(-1)
    return n, w0, k0, l0, w1, k1, l1, k2, l2


@kernel
def _line_weights(a, b):
    """The point of the segment a–b nearest the origin: its squared distance and the weights of a and b."""
    side = sub(b, a)
    square = dot(side, side)
    t = min(max(-dot(a, side) / square, 0.0), 1.0) if square > 0.0 else 0.0
    x = axpy(t, side, a)
    return dot(x, x), 1.0 - t, t


@kernel
def _triangle_weights(a, b, c):
    """The same for a triangle. If the origin does not project into it, the nearest point is on a side that faces the
    origin."""
    u, v = sub(b, a), sub(c, a)
    n = cross(u, v)
    square = dot(n, n)
    x, y, z = dot(n, cross(b, c)), dot(n, cross(c, a)), dot(n, cross(a, b))
    flat = square <= 1e-20 * dot(u, u) * dot(v, v)
    if x > 0.0 and y > 0.0 and z > 0.0 and not flat:
        f = 1.0 / (x + y + z)
        height = dot(n, a)
        return height * height / square, x * f, y * f, z * f
    best, p, q, r = math.inf, 1.0, 0.0, 0.0
    if x <= 0.0 or flat:
        best, q, r = _line_weights(b, c)
        p = 0.0
    if y <= 0.0 or flat:
        d, f, g = _line_weights(c, a)
        if d < best:
            best, p, q, r = d, g, 0.0, f
    if z <= 0.0 or flat:
        d, f, g = _line_weights(a, b)
        if d < best:
            best, p, q, r = d, f, g, 0.0
    return best, p, q, r


@kernel
def _least_way_out(shapes, one, two, m, shift):
    """Separating axes of two convex shapes that overlap: the axis of the smallest penetration. Candidates are normals
    of faces, and directions perpendicular to an edge of each if the two edges form a face of the Minkowski
    difference."""
    points, faces = shapes.points, shapes.faces
    first, stop = shapes.link[one, SH.POINT_FIRST], shapes.link[one, SH.POINT_END]
    other, halt = shapes.link[two, SH.POINT_FIRST], shapes.link[two, SH.POINT_END]
    best, n, x = -math.inf, (0.0, 0.0, 1.0), shift
    for f in range(shapes.link[two, SH.FACE_FIRST], shapes.link[two, SH.FACE_END]):
        normal = load3(faces, f, SH.FACE_NORMAL)
        a = matrix_unapply(m, normal)
        i = farthest(points, first, stop, -a[0], -a[1], -a[2])
        p = corner(points, i, m, shift)
        d = dot(normal, p) - faces[f, SH.FACE_OFFSET]
        if d > best:
            best, n, x = d, normal, p
    for f in range(shapes.link[one, SH.FACE_FIRST], shapes.link[one, SH.FACE_END]):
        normal = matrix_apply(m, load3(faces, f, SH.FACE_NORMAL))
        j = farthest(points, other, halt, -normal[0], -normal[1], -normal[2])
        q = load3(points, j, SH.XYZ)
        d = dot(normal, sub(q, shift)) - faces[f, SH.FACE_OFFSET]
        if d > best + (PREFER - 1.0) * abs(best):
            best, n, x = d, scale(-1.0, normal), axpy(-d, normal, q)
    return _least_across_edges(shapes, one, two, m, shift, best, n, x)


@kernel
def _least_across_edges(shapes, one, two, m, shift, best, n, x):
    """The same among the axes perpendicular to an edge of each, given the best of the faces' normals."""
    points, edges, faces = shapes.points, shapes.edges, shapes.faces
    half = load3(shapes.shape, two, SH.HALF)
    for e in range(shapes.link[one, SH.EDGE_FIRST], shapes.link[one, SH.EDGE_END]):
        if edges[e, SH.EDGE_START] > edges[e, SH.EDGE_STOP]:
            continue
        p = corner(points, edges[e, SH.EDGE_START], m, shift)
        u = sub(corner(points, edges[e, SH.EDGE_STOP], m, shift), p)
        near = True
        for k in range(3):  # an edge farther away than the penetration found so far cannot give a smaller one
            low, high = min(p[k], p[k] + u[k]), max(p[k], p[k] + u[k])
            near = near and low <= half[k] + abs(best) and high >= -half[k] - abs(best)
        if not near:
            continue
        faced = edges[e, SH.EDGE_FACE] >= 0
        a = b = u
        if faced:
            a = scale(-1.0, matrix_apply(m, load3(faces, edges[e, SH.EDGE_FACE], SH.FACE_NORMAL)))
            b = scale(-1.0, matrix_apply(m, load3(faces, edges[e, SH.EDGE_OTHER], SH.FACE_NORMAL)))
        for g in range(shapes.link[two, SH.EDGE_FIRST], shapes.link[two, SH.EDGE_END]):
            if edges[g, SH.EDGE_START] > edges[g, SH.EDGE_STOP]:
                continue
            c = load3(faces, edges[g, SH.EDGE_FACE], SH.FACE_NORMAL)
            d = load3(faces, edges[g, SH.EDGE_OTHER], SH.FACE_NORMAL)
            cu = dot(c, u)
            if cu * dot(d, u) >= 0.0:
                continue
            q = load3(points, edges[g, SH.EDGE_START], SH.XYZ)
            v = sub(load3(points, edges[g, SH.EDGE_STOP], SH.XYZ), q)
            if faced:
                # Gauss map: the arcs between the normals at the two edges must cross
                bv = dot(b, v)
                if dot(a, v) * bv >= 0.0 or cu * bv <= 0.0:
                    continue
            axis = cross(u, v)
            square = dot(axis, axis)
            if square <= 1e-8 * dot(u, u) * dot(v, v):
                continue
            f = 1.0 / math.sqrt(square)
            axis = scale(f if dot(axis, add(c, d)) > 0.0 else -f, axis)
            depth = dot(axis, sub(p, q))
            if depth > best + (PREFER - 1.0) * abs(best):
                s, _ = nearest_between(axpy(0.5, u, p), scale(0.5, u), axpy(0.5, v, q), scale(0.5, v))
                best, n, x = depth, axis, axpy(0.5 + 0.5 * s, u, p)
    return best, n, x
