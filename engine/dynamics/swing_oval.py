"""The oval limit of a ball joint's swing: distance and direction to its edge.

Owns the oval's geometry. Must not know rows or joints.

A swing as a vector is angle · (c, s), its components about X and Z. The oval of half widths a and b is k(c, s) · angle
≤ 1 with k⁴ = (c/a)⁴ + (s/b)⁴. It is nearly vertical at its sides: a knee fully bent is as free to the sides as one half
bent. It is convex, so it lies on one side of each of its tangents.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel
from ..math.vectors import add, cross, rotate, scale

# Largest angle over its sine: near half a turn directions are undefined.
STEEPEST = 10.0


@kernel
def oval_room(q, inward, angle, sine, a, b):
    """The distance of a swing q from the oval's edge, positive inside, and the rates that widen it, to first order.
    inward: the rates that reduce the swing."""
    about = scale(-1.0, rotate(q, inward))
    k, slope = _edge(about[0], about[2], a, b)
    steep = math.sqrt(k * k + slope * slope)
    return (1.0 - k * angle) / steep, _rates(k / steep, slope / steep, inward, angle, sine)


@kernel
def room_beside(q, inward, angle, sine, a, b, way):
    """The same to the tangent of the edge that is `way` radians farther along the edge.

    Where the edge bends sharply, a step that slides along one tangent is stopped by the next.
    """
    about = scale(-1.0, rotate(q, inward))
    here = math.atan2(about[2], about[0])
    k, _ = _edge(about[0], about[2], a, b)
    turn = way * k
    c, s = math.cos(here + turn), math.sin(here + turn)
    k, slope = _edge(c, s, a, b)
    steep = math.sqrt(k * k + slope * slope)
    # the tangent's normal, components along the swing and across it
    along = (k * math.cos(turn) - slope * math.sin(turn)) / steep
    beside = (slope * math.cos(turn) + k * math.sin(turn)) / steep
    return 1.0 / steep - along * angle, _rates(along, beside, inward, angle, sine)


@kernel
def _edge(c, s, a, b):
    """k in a direction (c, s), and its derivative along the edge."""
    c2, s2 = c * c / (a * a), s * s / (b * b)
    k = math.sqrt(math.sqrt(c2 * c2 + s2 * s2))
    return k, c * s * (s2 / (b * b) - c2 / (a * a)) / (k * k * k)


@kernel
def _rates(along, beside, inward, angle, sine):
    """The rates that widen a gap whose normal has these components along the swing and across it."""
    side = scale(-beside * min(angle / sine, STEEPEST), cross((0.0, 1.0, 0.0), inward))
    return add(scale(along, inward), side)
