"""Contacts of grids and planes with the points and edges of other shapes.

Owns the test of points and edges against a signed distance. Must not know how solids or round shapes touch.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel
from ..geometry import shape_table as SH
from ..math.vectors import add, axpy, dot, load3, matrix_apply, scale, sub
from .contact_table import CROSSING, OF_ONE, OF_TWO, offer
from .gjk import corner, relative
from .signed_distance import load9, matrix_unapply, own_distance, own_nearest


@kernel
def features_against(shapes, placed, one, two, margin, far, contact, meet, first, last):
    """Append the points of one that are within the margin of two; if two is a grid, also its points near one, and the
    edges of one. Returns the new last row, and the smallest gap below `far` with its normal."""
    least, best = far, (0.0, 0.0, 1.0)
    hollow = shapes.shape[two, SH.CELL] > 0.0
    for turned in range(2 if hollow and shapes.shape[one, SH.ROUNDING] == 0.0 else 1):
        # the points of s against shape o; in the second pass s is two, and the results are converted
        s, o, sign, base = (two, one, -1.0, OF_TWO) if turned else (one, two, 1.0, OF_ONE)
        m, spot = load9(placed, o, SH.AXES), load3(placed, o, SH.SPOT)
        own, place = load9(placed, s, SH.AXES), load3(placed, s, SH.SPOT)
        radius = shapes.shape[s, SH.ROUNDING]
        bounded = shapes.shape[o, SH.THICK] < math.inf
        half = load3(shapes.shape, o, SH.HALF)
        start = shapes.link[s, SH.POINT_FIRST]
        for i in range(start, shapes.link[s, SH.POINT_END]):
            p = load3(shapes.points, i, SH.XYZ)
            x = add(place, matrix_apply(own, p))
            y = matrix_unapply(m, sub(x, spot))
            wide = shapes.shape[o, SH.ROUNDING] + radius + max(least, margin)
            if bounded and max(abs(y[0]) - half[0], abs(y[1]) - half[1], abs(y[2]) - half[2]) > wide:
                continue
            d, n = own_distance(shapes, o, y)
            n = matrix_apply(m, n)
            if d - radius <= margin and shapes.shape[s, SH.CELL] > 0.0:
                # a point of a floor next to a box is near, but does not face it
                _, outward = own_distance(shapes, s, p)
                if dot(matrix_apply(own, outward), n) > -0.5:
                    continue
            if turned:
                x = axpy(-d, n, x)
                n = scale(sign, n)
            if d - radius < least:
                least, best = d - radius, n
            last = offer(contact, meet, first, last, margin, x, n, d, radius, 0.0, base + i - start)
    if hollow and shapes.link[one, SH.EDGE_END] > shapes.link[one, SH.EDGE_FIRST]:
        m, shift = relative(placed, one, two)
        world, spot = load9(placed, two, SH.AXES), load3(placed, two, SH.SPOT)
        radius = shapes.shape[one, SH.ROUNDING]
        start = shapes.link[one, SH.EDGE_FIRST]
        for e in range(start, shapes.link[one, SH.EDGE_END]):
            if shapes.edges[e, SH.EDGE_START] > shapes.edges[e, SH.EDGE_STOP]:
                continue
            p = corner(shapes.points, shapes.edges[e, SH.EDGE_START], m, shift)
            side = sub(corner(shapes.points, shapes.edges[e, SH.EDGE_STOP], m, shift), p)
            d, _ = own_distance(shapes, two, axpy(0.5, side, p))
            if d - 0.5 * math.sqrt(dot(side, side)) - radius > max(least, margin):
                continue
            t, d, n = own_nearest(shapes, two, p, add(p, side))
            if t <= 0.01 or t >= 0.99:  # nearest at an end, which is a point and already tested
                continue
            n = matrix_apply(world, n)
            if d - radius < least:
                least, best = d - radius, n
            x = add(spot, matrix_apply(world, axpy(t, side, p)))
            last = offer(contact, meet, first, last, margin, x, n, d, radius, 0.0, CROSSING + e - start)
    return last, least, best
