"""Contacts of solids with faces: box and hull with each other or with a capsule.

Owns the clipping of two faces against each other. Must not know how the distance of two shapes is computed.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel
from ..geometry import shape_table as SH
from ..math.vectors import add, axpy, cross, dot, load3, matrix_apply, scale, store3, sub
from ..tables import contacts as CT
from .capsule_contacts import PARALLEL, rods
from .contact_table import CROSSING, OF_TWO, WITNESS, offer
from .gjk import convex, corner, relative
from .signed_distance import load9, matrix_unapply

FLAT = 0.98  # cosine between the normals of face and contact from which on the face is in contact
STEEP = 0.1  # … and below which the face is useless
SLACK = 1e-3  # tolerance: a corner outside a face by less than this share of an edge's length is still on it


@kernel
def solids(shapes, placed, one, two, margin, contact, meet, first):
    """Contacts of a solid or capsule (one) and a solid (two)."""
    faces = shapes.faces
    m, shift = relative(placed, one, two)
    radius = shapes.shape[one, SH.ROUNDING]
    d, n, x = convex(shapes, one, two, m, shift, max(margin + radius, 0.0))
    if d - radius > margin:
        return first
    face, across = _facing(faces, shapes.link[two, SH.FACE_FIRST], shapes.link[two, SH.FACE_END], n)
    mine, cosine = face, across
    useful = across >= FLAT
    faced = shapes.link[one, SH.FACE_END] > shapes.link[one, SH.FACE_FIRST]
    if faced:
        back = matrix_unapply(m, scale(-1.0, n))  # in the frame of one
        mine, cosine = _facing(faces, shapes.link[one, SH.FACE_FIRST], shapes.link[one, SH.FACE_END], back)
        useful = max(across, cosine) >= FLAT and min(across, cosine) >= STEEP
    last = first
    if useful:
        last = _corners_of_one(shapes, one, two, m, shift, d, n, mine, face, across, margin, contact, meet, first, last)
        if faced:
            last = _corners_of_two(shapes, one, two, m, shift, d, n, mine, face, margin, contact, meet, first, last)
        last = _crossings(shapes, one, two, m, shift, d, n, mine, face, margin, contact, meet, first, last)
    elif not faced and d > 0.0:
        last = _along_an_edge(shapes, one, two, m, shift, d, n, x, margin, contact, meet, first)
    lowest = -math.inf if last > first and not useful else math.inf  # two ends of a line: no contact between them
    for row in range(first, last):
        lowest = min(lowest, contact[row, CT.GAP])
    if lowest > d - radius + 1e-9 + 1e-6 * abs(d):  # the two faces need not contain the deepest point
        last = offer(contact, meet, first, last, margin, x, n, d, radius, 0.0, WITNESS)
    world, spot = load9(placed, two, SH.AXES), load3(placed, two, SH.SPOT)
    for row in range(first, last):
        store3(contact, row, CT.POINT, add(spot, matrix_apply(world, load3(contact, row, CT.POINT))))
        store3(contact, row, CT.NORMAL, matrix_apply(world, load3(contact, row, CT.NORMAL)))
    return last


@kernel
def _outline(shapes, one, mine):
    """The edges of one that are clipped: those around its face, or a capsule's own."""
    if shapes.link[one, SH.FACE_END] > shapes.link[one, SH.FACE_FIRST]:
        return shapes.rings[mine, SH.RING_FIRST], shapes.rings[mine, SH.RING_END]
    return shapes.link[one, SH.EDGE_FIRST], shapes.link[one, SH.EDGE_END]


@kernel
def _corners_of_one(shapes, one, two, m, shift, d, n, mine, face, across, margin, contact, meet, first, last):
    """Contacts at corners of one over the face of two."""
    points, edges, faces = shapes.points, shapes.edges, shapes.faces
    faced = shapes.link[one, SH.FACE_END] > shapes.link[one, SH.FACE_FIRST]
    begin, end = _outline(shapes, one, mine)
    top, bottom = shapes.rings[face, SH.RING_FIRST], shapes.rings[face, SH.RING_END]
    start = shapes.link[one, SH.POINT_FIRST]
    normal = load3(faces, face, SH.FACE_NORMAL)
    for k in range(end - begin if faced else 2):
        i = edges[begin + k, SH.EDGE_START] if faced else start + k
        p = corner(points, i, m, shift)
        if _over(points, edges, top, bottom, p, n):
            far = max((dot(normal, p) - faces[face, SH.FACE_OFFSET]) / across, d)
            last = offer(contact, meet, first, last, margin, p, n, far, shapes.shape[one, SH.ROUNDING], 0.0, i - start)
    return last


@kernel
def _corners_of_two(shapes, one, two, m, shift, d, n, mine, face, margin, contact, meet, first, last):
    """Contacts at corners of two over the face of one."""
    points, edges, faces = shapes.points, shapes.edges, shapes.faces
    begin, end = _outline(shapes, one, mine)
    normal, back = load3(faces, mine, SH.FACE_NORMAL), matrix_unapply(m, scale(-1.0, n))
    for g in range(shapes.rings[face, SH.RING_FIRST], shapes.rings[face, SH.RING_END]):
        j = edges[g, SH.EDGE_START]
        q = load3(points, j, SH.XYZ)
        p = matrix_unapply(m, sub(q, shift))
        if _over(points, edges, begin, end, p, back):
            far = max((dot(normal, p) - faces[mine, SH.FACE_OFFSET]) / dot(normal, back), d)
            feature = OF_TWO + j - shapes.link[two, SH.POINT_FIRST]
            last = offer(contact, meet, first, last, margin, axpy(far, n, q), n, far, 0.0, 0.0, feature)
    return last


@kernel
def _crossings(shapes, one, two, m, shift, d, n, mine, face, margin, contact, meet, first, last):
    """Contacts where the outlines of the two faces cross."""
    points, edges = shapes.points, shapes.edges
    begin, end = _outline(shapes, one, mine)
    for e in range(begin, end):
        p = corner(points, edges[e, SH.EDGE_START], m, shift)
        u = sub(corner(points, edges[e, SH.EDGE_STOP], m, shift), p)
        for g in range(shapes.rings[face, SH.RING_FIRST], shapes.rings[face, SH.RING_END]):
            q = load3(points, edges[g, SH.EDGE_START], SH.XYZ)
            v = sub(load3(points, edges[g, SH.EDGE_STOP], SH.XYZ), q)
            under = dot(n, cross(u, v))
            if under * under <= 1e-8 * dot(u, u) * dot(v, v):
                continue
            arm = sub(q, p)
            s, t = dot(n, cross(arm, v)) / under, dot(n, cross(arm, u)) / under
            if s <= 0.0 or s >= 1.0 or t <= 0.0 or t >= 1.0:
                continue
            arm = axpy(s, u, p)
            far = max(dot(n, sub(arm, axpy(t, v, q))), d)
            feature = CROSSING + ((e - shapes.link[one, SH.EDGE_FIRST]) << 9) + g - shapes.link[two, SH.EDGE_FIRST]
            last = offer(contact, meet, first, last, margin, arm, n, far, shapes.shape[one, SH.ROUNDING], 0.0, feature)
    return last


@kernel
def _along_an_edge(shapes, one, two, m, shift, d, n, x, margin, contact, meet, first):
    """Contacts of a capsule that is parallel to an edge: the ends of their overlap."""
    points, edges = shapes.points, shapes.edges
    radius = shapes.shape[one, SH.ROUNDING]
    u = scale(shapes.shape[one, SH.HALF + 2], (m[2], m[5], m[8]))
    height = dot(n, x) - d
    for g in range(shapes.link[two, SH.EDGE_FIRST], shapes.link[two, SH.EDGE_END]):
        q = load3(points, edges[g, SH.EDGE_START], SH.XYZ)
        v = scale(0.5, sub(load3(points, edges[g, SH.EDGE_STOP], SH.XYZ), q))
        q = add(q, v)
        uu, vv, uv = dot(u, u), dot(v, v), dot(u, v)
        if uv > 0.0 and uu * vv - uv * uv < PARALLEL * uu * vv and height - dot(n, q) < 0.1 * radius:
            return rods(shift, u, q, v, radius, 0.0, margin, contact, meet, first)
    return first


@kernel
def _facing(faces, first, end, d):
    """The face of a range whose normal is closest to d, and the cosine of the angle between them: (face, cosine)."""
    best, at = -math.inf, first
    for f in range(first, end):
        value = (
            faces[f, SH.FACE_NORMAL] * d[0] + faces[f, SH.FACE_NORMAL + 1] * d[1] + faces[f, SH.FACE_NORMAL + 2] * d[2]
        )
        if value > best:
            best, at = value, f
    return at, best


@kernel
def _over(points, edges, begin, end, p, n):
    """True if p, projected along n, is within the outline of a face."""
    for e in range(begin, end):
        q = load3(points, edges[e, SH.EDGE_START], SH.XYZ)
        side = sub(load3(points, edges[e, SH.EDGE_STOP], SH.XYZ), q)
        if dot(cross(side, sub(p, q)), n) < -SLACK * dot(side, side):
            return False
    return True
