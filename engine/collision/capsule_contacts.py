"""Contacts of capsules: of two capsules, and of a capsule along an edge.

Owns the closed forms for rounded segments. Must not know other shapes.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel
from ..geometry import shape_table as SH
from ..math.vectors import axpy, cross, dot, scale, sub
from .contact_table import HIGH_END, LOW_END, WITNESS, offer
from .signed_distance import NO_DIRECTION, nearest_between

PARALLEL = 0.02  # squared sine of the angle below which segments count as parallel


@kernel
def rods(p, u, q, v, radius, other, margin, contact, meet, first):
    """Contacts of two rounded segments p ± u and q ± v: one at the nearest points, or two at the ends of their overlap
    if they are parallel."""
    uu, vv, uv = dot(u, u), dot(v, v), dot(u, v)
    where, _ = nearest_between(p, u, q, v)
    x, d, n = _beside(p, u, q, v, where)
    last, both = first, False
    if uu > NO_DIRECTION * NO_DIRECTION and vv > NO_DIRECTION * NO_DIRECTION and uu * vv - uv * uv < PARALLEL * uu * vv:
        at, reach = dot(sub(q, p), u) / uu, abs(uv) / uu
        low, high = max(-1.0, at - reach), min(1.0, at + reach)
        if (high - low) * math.sqrt(uu) > 0.1 * radius:
            x1, d1, n1 = _beside(p, u, q, v, low)
            x2, d2, n2 = _beside(p, u, q, v, high)
            both = min(d1, d2) <= d + 0.01 * radius  # otherwise they cross between these ends
            if both:
                x, d, n = x1, d1, n1
                last = offer(contact, meet, first, last, margin, x2, n2, d2, radius, other, HIGH_END)
    return offer(contact, meet, first, last, margin, x, n, d, radius, other, LOW_END if both else WITNESS)


@kernel
def half_axis(shape, placed, s):
    """The vector from a round shape's centre to its end."""
    h = shape[s, SH.HALF + 2]
    return h * placed[s, SH.AXES + 2], h * placed[s, SH.AXES + 5], h * placed[s, SH.AXES + 8]


@kernel
def direction(x, y, u, v):
    """Distance and unit vector from y to x. If the points coincide, the vector is perpendicular to both axes u and
    v."""
    arm = sub(x, y)
    far = math.sqrt(dot(arm, arm))
    if far > NO_DIRECTION:
        return far, scale(1.0 / far, arm)
    n = cross(u, v)
    square = dot(n, n)
    if square <= 1e-12 * dot(u, u) * dot(v, v) or square <= NO_DIRECTION**4:
        axis = u if dot(u, u) > dot(v, v) else v
        # perpendicular to the axis and to a world axis that is not parallel to it
        x, y, z = abs(axis[0]), abs(axis[1]), abs(axis[2])
        n = cross(axis, (0.0, 0.0, 1.0)) if z <= max(x, y) else cross(axis, (1.0, 0.0, 0.0))
        square = dot(n, n)
        if square <= NO_DIRECTION**4:
            return far, (0.0, 0.0, 1.0)
    return far, scale(1.0 / math.sqrt(square), n)


@kernel
def _beside(p, u, q, v, s):
    """The point at s of the segment p ± u, its distance from the segment q ± v, and the direction from there."""
    x = axpy(s, u, p)
    square = dot(v, v)
    t = min(max(dot(sub(x, q), v) / square, -1.0), 1.0) if square > NO_DIRECTION * NO_DIRECTION else 0.0
    d, n = direction(x, axpy(t, v, q), u, v)
    return x, d, n
