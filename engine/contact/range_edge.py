"""Keep a limp joint within its range after a large turn in a step.

Owns the correction of a ball joint's new coordinates. Must not know loads or rows.

Limits are rows of the solve, linear in the step's turn (`tie_rows`). A hand or toe that is thrown about by a kick or a
fall turns by tens of degrees in a step. The error of the linear rows is corrected here, for driven joints and for
ragdolls.
"""

from __future__ import annotations

from ..compile.decorators import kernel
from ..math.vectors import add, dot, load4, quat_exp, quat_mul, quat_tidy, scale, store4
from ..model.model import BALL
from ..tables import control as C, state as S, work as W
from .ragdoll import RAGDOLL
from .tie_rows import room_of_ball

# The share of an excess from before the step that is corrected.
BACK = 0.5
ROUNDS = 8
NEAR = 1e-6  # [rad]


@kernel
def keep_in_range(tree, state, work, touch, i):
    """Correct the new coordinates of a body to its range. Returns True if they have changed."""
    if touch is None:
        return False
    held = state.behaviour[i] == C.SIMULATED or touch.rows.ragdoll[touch.rows.root[i]] == RAGDOLL
    if tree.kind[i] != BALL or not held or len(touch.holds.tie) > 0:
        return False  # correcting a single joint would open ties
    bound = touch.holds.bound
    new = load4(work.body, i, W.NEW)
    if not _is_outside(bound, i, new):
        return False
    gap, _, low, high, _ = room_of_ball(bound, i, load4(state.body, i, S.COORDS))
    least = (min(0.0, BACK * gap), min(0.0, BACK * low), min(0.0, BACK * high))
    for _ in range(ROUNDS):
        gap, along, low, high, twist = room_of_ball(bound, i, new)
        back = (0.0, 0.0, 0.0)
        if gap < least[0]:
            back = scale((least[0] - gap) / dot(along, along), along)
        if low < least[1]:
            back = add(back, scale((least[1] - low) / dot(twist, twist), twist))
        elif high < least[2]:
            back = add(back, scale((high - least[2]) / dot(twist, twist), twist))
        new = quat_tidy(quat_mul(new, quat_exp(back)))
        if dot(back, back) < NEAR * NEAR:
            break
    store4(work.body, i, W.NEW, new)
    return True


@kernel
def _is_outside(bound, i, c):
    gap, _, low, high, _ = room_of_ball(bound, i, c)
    return min(gap, low, high) < 0.0
