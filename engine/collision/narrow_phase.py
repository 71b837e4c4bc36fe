"""Narrow phase: contact points of two shapes, dispatched by their kinds.

Owns the choice of an algorithm for a pair of shapes, the pair's contacts and its smallest gap. Must not know which
pairs are tested, or what follows from a contact.

Round shapes have closed forms. For solids (box, hull), also against a capsule, the contact normal is the direction of
the closest points (GJK) or, if they overlap, of the smallest penetration (separating axes). Where a face is
perpendicular to the normal, the outlines of both faces are clipped against each other, and the corners of their
intersection are the contacts. Grids and planes are tested against the other shape's points, and a grid's own points
against the other shape.

A pair is always computed with the simpler shape first (`one`, `two`), in the frame of `two` if convenient. Results are
in the caller's order: swapping a and b only negates normals.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Index, IndexTable, Real, Table
from ..geometry import shape_table as SH
from ..geometry.shape_table import Shapes
from ..math.vectors import axpy, load3, matrix_apply, scale, store3
from ..tables import contacts as CT
from .capsule_contacts import direction, half_axis, rods
from .contact_table import keep
from .face_contacts import solids
from .gjk import convex, relative
from .point_contacts import features_against
from .signed_distance import load9, nearest_between

NO_ROW = np.int64(0)  # first and last row if nothing is written
# Algorithms for a pair: the points of one against the other, two rounded segments, solids with faces, or none.
POINTS, RODS, SOLIDS, NEVER = (np.int64(k) for k in range(4))
# Algorithm by the kinds of a pair, the simpler first. A new shape that is laid out as one of these kinds needs no line.
WAYS = {
    (SH.SPHERE, SH.SPHERE): POINTS,
    (SH.SPHERE, SH.CAPSULE): POINTS,
    (SH.SPHERE, SH.BOX): POINTS,
    (SH.SPHERE, SH.HULL): POINTS,
    (SH.SPHERE, SH.GRID): POINTS,
    (SH.SPHERE, SH.PLANE): POINTS,
    (SH.CAPSULE, SH.CAPSULE): RODS,
    (SH.CAPSULE, SH.BOX): SOLIDS,
    (SH.CAPSULE, SH.HULL): SOLIDS,
    (SH.CAPSULE, SH.GRID): POINTS,
    (SH.CAPSULE, SH.PLANE): POINTS,
    (SH.BOX, SH.BOX): SOLIDS,
    (SH.BOX, SH.HULL): SOLIDS,
    (SH.BOX, SH.GRID): POINTS,
    (SH.BOX, SH.PLANE): POINTS,
    (SH.HULL, SH.HULL): SOLIDS,
    (SH.HULL, SH.GRID): POINTS,
    (SH.HULL, SH.PLANE): POINTS,
    (SH.GRID, SH.GRID): POINTS,
    (SH.GRID, SH.PLANE): POINTS,
    (SH.PLANE, SH.PLANE): NEVER,
}
# The same for the kernels, (kinds, kinds).
WAY = np.array([[WAYS.get((kind, other), NEVER) for other in SH.KINDS] for kind in SH.KINDS])


@separate
def collide(
    shapes: Shapes, placed: Table, a: Index, b: Index, margin: Real, contact: Table, meet: IndexTable, count: Index
):
    """Append the contacts of shapes a and b whose gap is at most the margin. Returns the new count."""
    if count >= len(contact) or _apart(placed, a, b, margin):
        return count
    one, two, sign = _order(shapes.link, a, b)
    way = WAY[shapes.link[one, SH.KIND], shapes.link[two, SH.KIND]]
    last = count
    if way == POINTS:
        last, _, _ = features_against(shapes, placed, one, two, margin, margin, contact, meet, count, last)
    elif way == RODS:
        last = rods(
            load3(placed, one, SH.SPOT), half_axis(shapes.shape, placed, one),
            load3(placed, two, SH.SPOT), half_axis(shapes.shape, placed, two),
            shapes.shape[one, SH.ROUNDING], shapes.shape[two, SH.ROUNDING], margin, contact, meet, count,
        )  # fmt: skip
    elif way == SOLIDS:
        last = solids(shapes, placed, one, two, margin, contact, meet, count)
    last = keep(contact, meet, count, last)
    friction = math.sqrt(shapes.shape[a, SH.FRICTION] * shapes.shape[b, SH.FRICTION])
    bounce = max(shapes.shape[a, SH.BOUNCE], shapes.shape[b, SH.BOUNCE])
    for row in range(count, last):
        store3(contact, row, CT.NORMAL, scale(sign, load3(contact, row, CT.NORMAL)))
        contact[row, CT.FRICTION], contact[row, CT.BOUNCE] = friction, bounce
        meet[row, CT.SHAPE_A], meet[row, CT.SHAPE_B] = a, b
        meet[row, CT.BODY_A], meet[row, CT.BODY_B] = shapes.link[a, SH.BODY], shapes.link[b, SH.BODY]
    return last


@kernel
def gap_of(shapes, placed, a, b):
    """The smallest gap of a pair and the direction from b to a there: (gap, nx, ny, nz)."""
    one, two, sign = _order(shapes.link, a, b)
    way = WAY[shapes.link[one, SH.KIND], shapes.link[two, SH.KIND]]
    gap, n = math.inf, (0.0, 0.0, 1.0)
    if way == POINTS:
        # no gap is below the margin −∞, so nothing is written, and any tables may be passed for the contacts
        _, gap, n = features_against(shapes, placed, one, two, -math.inf, math.inf, placed, shapes.link, NO_ROW, NO_ROW)
    elif way == RODS:
        u, v = half_axis(shapes.shape, placed, one), half_axis(shapes.shape, placed, two)
        p, q = load3(placed, one, SH.SPOT), load3(placed, two, SH.SPOT)
        s, t = nearest_between(p, u, q, v)
        gap, n = direction(axpy(s, u, p), axpy(t, v, q), u, v)
        gap -= shapes.shape[one, SH.ROUNDING] + shapes.shape[two, SH.ROUNDING]
    elif way == SOLIDS:
        m, shift = relative(placed, one, two)
        gap, n, _ = convex(shapes, one, two, m, shift, math.inf)
        gap -= shapes.shape[one, SH.ROUNDING]
        n = matrix_apply(load9(placed, two, SH.AXES), n)
    return gap, sign * n[0], sign * n[1], sign * n[2]


@kernel
def _order(link, a, b):
    """The simpler shape, the other one, and −1 if they were swapped, else 1."""
    kind, other = link[a, SH.KIND], link[b, SH.KIND]
    if kind > other or (kind == other and a > b):
        return b, a, -1.0
    return a, b, 1.0


@kernel
def _apart(placed, a, b, margin):
    """True if the bounding boxes are apart by more than the margin."""
    for k in range(3):
        far = abs(placed[a, SH.SPOT + k] - placed[b, SH.SPOT + k])
        if far > placed[a, SH.EXTENT + k] + placed[b, SH.EXTENT + k] + margin:
            return True
    return False
