"""Contacts of grids and planes with the points and edges of other shapes.

Owns the points' way. Must not know how solids or round shapes touch.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel
from ..geometry.shape_table import (
    AXES,
    BOX,
    CAPSULE,
    EDGE_END,
    EDGE_FIRST,
    EDGE_START,
    EDGE_STOP,
    GRID,
    HALF,
    KIND,
    PLANE,
    POINT_END,
    POINT_FIRST,
    ROUNDING,
    SPOT,
    XYZ,
)
from ..math.vectors import add, axpy, dot, load3, matrix_apply, scale, sub
from .contact_table import CROSSING, OF_ONE, OF_TWO, offer
from .gjk import corner, relative
from .signed_distance import load9, matrix_unapply, own_distance, own_nearest


@kernel
def features_against(shapes, placed, one, two, margin, far, contact, meet, first, last):
    """Offer the points of one that are within the margin of two; if two is a grid, also its points near one, and the
    edges of one. With the new last row, and the least gap and its normal among what is nearer than `far`."""
    least, best = far, (0.0, 0.0, 1.0)
    solid = shapes.link[one, KIND] >= BOX and shapes.link[two, KIND] == GRID
    for turned in range(2 if solid else 1):
        # the points of s against shape o; told from the other side where that is not one
        s, o, sign, base = (two, one, -1.0, OF_TWO) if turned else (one, two, 1.0, OF_ONE)
        m, spot = load9(placed, o, AXES), load3(placed, o, SPOT)
        own, place = load9(placed, s, AXES), load3(placed, s, SPOT)
        radius = shapes.shape[s, ROUNDING]
        bounded = shapes.link[o, KIND] != PLANE
        half = load3(shapes.shape, o, HALF)
        start = shapes.link[s, POINT_FIRST]
        for i in range(start, shapes.link[s, POINT_END]):
            p = load3(shapes.points, i, XYZ)
            x = add(place, matrix_apply(own, p))
            y = matrix_unapply(m, sub(x, spot))
            wide = shapes.shape[o, ROUNDING] + radius + max(least, margin)
            if bounded and max(abs(y[0]) - half[0], abs(y[1]) - half[1], abs(y[2]) - half[2]) > wide:
                continue
            d, n = own_distance(shapes, o, y)
            n = matrix_apply(m, n)
            if d - radius <= margin and shapes.link[s, KIND] == GRID:
                # a point of a floor beside a box is near, but does not face it
                _, outward = own_distance(shapes, s, p)
                if dot(matrix_apply(own, outward), n) > -0.5:
                    continue
            if turned:
                x = axpy(-d, n, x)
                n = scale(sign, n)
            if d - radius < least:
                least, best = d - radius, n
            last = offer(contact, meet, first, last, margin, x, n, d, radius, 0.0, base + i - start)
    if shapes.link[one, KIND] >= CAPSULE and shapes.link[two, KIND] == GRID:
        m, shift = relative(placed, one, two)
        world, spot = load9(placed, two, AXES), load3(placed, two, SPOT)
        radius = shapes.shape[one, ROUNDING]
        start = shapes.link[one, EDGE_FIRST]
        for e in range(start, shapes.link[one, EDGE_END]):
            if shapes.edges[e, EDGE_START] > shapes.edges[e, EDGE_STOP]:
                continue
            p = corner(shapes.points, shapes.edges[e, EDGE_START], m, shift)
            side = sub(corner(shapes.points, shapes.edges[e, EDGE_STOP], m, shift), p)
            d, _ = own_distance(shapes, two, axpy(0.5, side, p))
            if d - 0.5 * math.sqrt(dot(side, side)) - radius > max(least, margin):
                continue
            t, d, n = own_nearest(shapes, two, p, add(p, side))
            if t <= 0.01 or t >= 0.99:  # as near at its ends, which are points
                continue
            n = matrix_apply(world, n)
            if d - radius < least:
                least, best = d - radius, n
            x = add(spot, matrix_apply(world, axpy(t, side, p)))
            last = offer(contact, meet, first, last, margin, x, n, d, radius, 0.0, CROSSING + e - start)
    return last, least, best
