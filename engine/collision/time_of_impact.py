"""Time of impact of two moving shapes, by conservative advancement.

Owns conservative advancement. Must not know what follows from an impact.
"""

from __future__ import annotations

import math

from ..compile.decorators import separate
from ..compile.kernel_types import Index, Real, Table
from ..geometry import shape_table as SH
from ..geometry.shape_table import Shapes
from ..math.vectors import axpy, dot, load3, load4, quat_conj, quat_exp, quat_log, quat_mul, scale, sub
from .narrow_phase import gap_of
from .signed_distance import place_shape

ADVANCES = 200  # most iterations; 5 to 20 are usual


@separate
def time_of_impact(shapes: Shapes, before: Table, after: Table, scratch: Table, a: Index, b: Index, slop: Real):
    """The time, in 0 … 1 between the placements `before` and `after` (n+1, 7), at which the gap of shapes a and b first
    falls to the slop; 2 if never. Bodies move straight and turn at a constant rate. `scratch` is a table like `placed`,
    of which rows a and b are used.

    Conservative advancement: the time is advanced by the gap divided by the largest closing speed, within which no
    impact is possible. A pair that starts within the slop has an impact at 0 if it closes. Otherwise it is sampled
    until it has separated or closes."""
    body, other = shapes.link[a, SH.BODY], shapes.link[b, SH.BODY]
    place, place2 = load3(before, body, SH.POSITION), load3(before, other, SH.POSITION)
    move = sub(load3(after, body, SH.POSITION), place)
    move2 = sub(load3(after, other, SH.POSITION), place2)
    turn, turn2 = load4(before, body, SH.QUATERNION), load4(before, other, SH.QUATERNION)
    spin = quat_log(quat_mul(quat_conj(turn), load4(after, body, SH.QUATERNION)))
    spin2 = quat_log(quat_mul(quat_conj(turn2), load4(after, other, SH.QUATERNION)))
    path = sub(move, move2)
    length = math.sqrt(dot(path, path))
    rate, rate2 = math.sqrt(dot(spin, spin)), math.sqrt(dot(spin2, spin2))
    bounds = shapes.shape[a, SH.BOUND] + shapes.shape[b, SH.BOUND]
    sweep = rate * shapes.shape[a, SH.REACH] + rate2 * shapes.shape[b, SH.REACH]
    hollow = shapes.shape[a, SH.CELL] > 0.0 or shapes.shape[b, SH.CELL] > 0.0
    endless, endless2 = shapes.shape[a, SH.THICK] == math.inf, shapes.shape[b, SH.THICK] == math.inf
    near, watch = 0.01 * slop + 1e-9, 0.01 * max(slop, 1e-6)
    t, back, last = 0.0, 0.0, 0.0
    touching = True
    for k in range(ADVANCES):
        place_shape(shapes, a, axpy(t, move, place), quat_mul(turn, quat_exp(scale(t, spin))), scratch)
        place_shape(shapes, b, axpy(t, move2, place2), quat_mul(turn2, quat_exp(scale(t, spin2))), scratch)
        if k == 0:
            arm = sub(load3(scratch, a, SH.SPOT), load3(scratch, b, SH.SPOT))
            if endless or endless2:
                # a point of a turning plane sweeps faster the farther away it is
                far = bounds + length + math.sqrt(dot(arm, arm))
                far += shapes.shape[a, SH.REACH] + shapes.shape[b, SH.REACH]
                sweep += rate * (far if endless else 0.0) + rate2 * (far if endless2 else 0.0)
            else:
                # cheap test: the bounding balls, moved past each other
                s = min(max(-dot(arm, path) / (length * length), 0.0), 1.0) if length > 0.0 else 0.0
                arm = axpy(s, path, arm)
                if math.sqrt(dot(arm, arm)) > bounds + sweep + slop:
                    return 2.0
        gap, x, y, z = gap_of(shapes, scratch, a, b)
        within = gap <= slop + near
        if within and not touching:
            return t
        # convex shapes close at most at the speed along the normal
        closing = sweep + (length if hollow else -dot(path, (x, y, z)))
        if k > 0 and within and gap < last - 1e-3 * closing * (t - back):
            return back
        if closing <= 0.0:
            return 2.0
        touching = touching and within
        last, back = gap, t
        # a lasting contact is sampled at growing intervals
        t += min(watch / closing, 1.0 / 32.0) if touching else (gap - slop) / closing
        watch *= 1.5
        if t >= 1.0:
            return 2.0
    return 2.0 if touching else t
