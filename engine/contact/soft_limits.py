"""Soft ends of a range: an implicit spring and damper over the last degrees before a limit.

Owns the torque that grows over the last few degrees of a range. Must not know how limits act as rows (`tie_rows`).

Tissue is taut before a joint is at its end: passive moments rise steeply there (Riener and Edrich 1999). Within a zone
before the limit a joint with tone is pushed back by m (k s − c ġ s / zone): s its depth in the zone, g the room that is
left, m its inertia along the direction that widens g. k = STIFF / t² and c = 2 √STIFF / t with the pendulum time t of
`tone`, so that a limb held out level comes to rest 1 / STIFF radians deep in the zone. The torque is implicit, and
joints of light bodies that rest on it take no row in the solve of contacts. It also damps on the way out: without that,
light fingers rattle between their range and the ground.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel
from ..dynamics.tone import DAMPING, PULL
from ..math.vectors import load4, scale
from ..model.model import BALL
from ..tables import aim as A, holds as H, state as S, work as W
from .tie_rows import room_of_ball

STIFF = 25.0
# The zone [rad], and at most this part of the range.
ZONE, PART_OF_RANGE = 0.1, 0.2


@kernel
def soften_ends(tree, state, aim, work, bound, i, h):
    """Add the torques of joint i to TONED and SLOWED, and their implicit part to its rows of work.block.

    The rows of work.block hold D, of which COMPLIANCE times joins the mass.
    """
    first = tree.dof[i]
    # 1 / t from the gains of tone, without the tone factor
    pace = aim.body[i, A.TONE + 1] / aim.body[i, A.TONE] * (2.0 * DAMPING / PULL)
    if tree.kind[i] == BALL:
        gap, along, below, above, turn = room_of_ball(bound, i, load4(state.body, i, S.COORDS))
        widest = bound[i, H.SWING]
        if not math.isinf(bound[i, H.SWING_Z]):
            widest = min(widest, bound[i, H.SWING_Z])
        _push_back(state, work, i, first, 3, along, gap, 2.0 * widest, pace, h)
        twist = bound[i, H.TWIST_HIGH] - bound[i, H.TWIST_LOW]
        _push_back(state, work, i, first, 3, turn, below, twist, pace, h)
        _push_back(state, work, i, first, 3, scale(-1.0, turn), above, twist, pace, h)
        return
    for k in range(tree.dof[i + 1] - first):
        low, high, angle = bound[i, H.LOW + 2 * k], bound[i, H.HIGH + 2 * k], state.body[i, S.COORDS + k]
        up = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 0.0)
        count = tree.dof[i + 1] - first
        _push_back(state, work, i, first, count, up, angle - low, high - low, pace, h)
        _push_back(state, work, i, first, count, scale(-1.0, up), high - angle, high - low, pace, h)


@kernel
def _push_back(state, work, i, first, count, along, room, span, pace, h):
    """The torque of one end of a range. Rates `along` widen the `room` that is left; the range is `span` radians
    wide."""
    zone = min(ZONE, PART_OF_RANGE * span)
    depth = zone - room
    if not depth > 0.0:
        return
    rate, block = work.rate, work.block
    inertia = widening = 0.0
    for d in range(count):
        widening += along[d] * state.rate[S.V, first + d]
        for e in range(count):
            inertia += along[d] * block[first + d, e] * along[e]
    depth = min(depth, zone)  # beyond the limit its row acts
    stiff, slow = STIFF * pace * pace, 2.0 * math.sqrt(STIFF) * pace * depth / zone
    implicit = h * (slow + h * stiff)
    push = h * stiff * depth
    for d in range(count):
        rate[W.TONED, first + d] += inertia * push * along[d]
        rate[W.SLOWED, first + d] -= inertia * implicit * widening * along[d]
        for e in range(count):
            block[first + d, e] += inertia * implicit / work.body[i, W.COMPLIANCE] * along[d] * along[e]
