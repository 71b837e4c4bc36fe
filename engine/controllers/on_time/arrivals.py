"""Arrivals: the body reaches a key's pose and velocity at the key's time (METHODS §2).

Owns which arrival is a body's next and the closed form that meets it. Must not know masses, loads or how the step is
solved.

With s the time left, the target is the straight way in, q̂ − ŵs, and the error against it obeys Euler's equation: E = A
s^p₁ + B s^p₂, p = ((1 + 2n) ± √(1 + 4n))/2. Both powers are above one, so error and its rate vanish with s. Gains n²/s²
and 2n/s, as in S2.
"""

from __future__ import annotations

import math

from ...compile.decorators import kernel
from ...math.vectors import axpy, load3, load4, quat_exp, quat_mul, quat_unit, scale, store3, store4
from ...model.model import BALL, FREE
from ...tables import aim as A, control as C, motion as M, sample as SA, state as S
from ..shared.blow_state import QUICKER_TOGETHER

# Steps end on arrivals to within this share of a frame.
ON_TIME = 1e-7
# Springs that bring a struck body back stiffen as its time runs out, up to their value at this share of it: more would
# be a jolt.
LEAST_LEFT = 0.07


@kernel
def arrival(shape, left, after):
    """(u, g, du, dg) as in `spring.response`, from `left` seconds before the arrival to `after` seconds before it."""
    root = math.sqrt(1.0 + 4.0 * shape)
    p, q = 0.5 * (1.0 + 2.0 * shape + root), 0.5 * (1.0 + 2.0 * shape - root)
    x = after / left
    fast, slow = x ** (p - 1.0), x ** (q - 1.0)
    u = x * (p * slow - q * fast) / root
    g = left * x * (slow - fast) / root
    return u, g, -shape * shape * (slow - fast) / (left * root), (p * fast - q * slow) / root


@kernel
def expected(state, i):
    """True if the body has an arrival to meet; a limp or animated body has none."""
    driven = state.behaviour[i] == C.SIMULATED or state.behaviour[i] == C.ASSIST
    return driven and 0.0 < state.body[i, S.DUE] < math.inf


@kernel
def has_key_ahead(state, i):
    """True if the arrival is a key; otherwise the body must be back on its motion."""
    return expected(state, i) and state.body[i, S.DUE_KEY] >= 0.0


@kernel
def put_way_in(tree, state, aim, i, time, dt, sample):
    """A target sample on the straight way to the body's arrival at a time [frames]."""
    kind = tree.kind[i]
    left = max((state.body[i, S.DUE] - time) * dt, 0.0)
    value, rate = load4(state.body, i, S.DUE_VALUE), load3(state.body, i, S.DUE_RATE)
    if kind >= BALL:
        value = quat_unit(quat_mul(value, quat_exp(scale(-left, rate))))
    else:
        value = (value[0] - left * rate[0], value[1] - left * rate[1], 0.0, 0.0)
    store4(aim.body, i, sample + SA.VALUE, value)
    store3(aim.body, i, sample + SA.RATE, rate)
    if kind == FREE:
        drift = load3(state.body, i, S.DUE_DRIFT)
        store3(aim.body, i, sample + SA.ANCHOR, axpy(-left, drift, load3(state.body, i, S.DUE_PLACE)))
        store3(aim.body, i, sample + SA.ANCHOR_RATE, drift)


@kernel
def put_arrival(control, state, aim, i, row, time, h, dt):
    """The body's response and gains over a step of h seconds from a time [frames].

    A body that returns to its motion and feels its weight keeps its own gains, and sags as it always does.
    """
    shape = control.setting[row, i, C.SHAPE]
    left = (state.body[i, S.DUE] - time) * dt
    returns, leans = state.body[i, S.RETURNS], aim.body[i, A.LEANED]
    if returns != 0.0 and leans != 0.0:  # it does not press with growing stiffness against what holds it off
        left = max(left, LEAST_LEFT * control.setting[row, i, C.RECOVERY])
    after = left - h
    if after < ON_TIME * dt:
        after = 0.0
    same = state.body[i - 1, S.DUE] == state.body[i, S.DUE] and control.setting[row, i - 1, C.SHAPE] == shape
    same = same and state.body[i - 1, S.RETURNS] == returns and aim.body[i - 1, A.LEANED] == leans
    if same and expected(state, i - 1):  # most bodies have their keys in common, and powers are slow
        store4(aim.body, i, A.RESPONSE, load4(aim.body, i - 1, A.RESPONSE))
    else:
        store4(aim.body, i, A.RESPONSE, arrival(shape, left, after))
    heavy = state.behaviour[i] == C.SIMULATED and control.setting[row, i, C.HEAVINESS] > 0.0
    if state.body[i, S.DUE_KEY] >= 0.0 or not heavy:
        middle = 0.5 * (left + after)
        if state.body[i, S.STRUCK] != 0.0:
            middle = max(middle, LEAST_LEFT * control.setting[row, i, C.RECOVERY])
        # Small joints respond faster to loads (`even_weight`). None responds slower than its key allows, or it would be
        # late.
        quicker = 1.0 if control.setting[row, i, C.LAW] != 0.0 else max(1.0, control.setting[row, i, C.QUICKER])
        omega = quicker * shape / middle
        aim.body[i, A.GAINS] = omega * omega
        aim.body[i, A.GAINS + 1] = 2.0 * omega


@kernel
def put_struck(control, state, aim, i, row):
    """Gains of a struck body under a guided root: its joints keep their gains, and get stiffer towards their deadline.
    The root itself uses the whole time to return, but turns no farther than a joint would."""
    if state.behaviour[i] == C.SIMULATED and control.setting[row, i, C.HEAVINESS] > 0.0:
        return
    omega, zeta = QUICKER_TOGETHER * control.setting[row, i, C.OMEGA], control.setting[row, i, C.ZETA]
    if not expected(state, i):
        aim.body[i, A.GAINS], aim.body[i, A.GAINS + 1] = omega * omega, 2.0 * zeta * omega
    elif state.behaviour[i] == C.ASSIST:
        aim.body[i, A.STIFFER] = math.sqrt(max(1.0, 2.0 * zeta * omega / aim.body[i, A.GAINS + 1]))
    else:
        aim.body[i, A.GAINS] = max(QUICKER_TOGETHER * QUICKER_TOGETHER * aim.body[i, A.GAINS], omega * omega)
        aim.body[i, A.GAINS + 1] = max(QUICKER_TOGETHER * aim.body[i, A.GAINS + 1], 2.0 * zeta * omega)


@kernel
def until_due(state, time, h, dt):
    """The step shortened to end on the first arrival within it [s]."""
    first = math.inf
    for i in range(1, len(state.body)):
        if state.body[i, S.DUE] > time + ON_TIME:
            first = min(first, state.body[i, S.DUE])
    left = (first - time) * dt
    return left if left < h - ON_TIME * dt else h


@kernel
def promise_next(target, control, state, i, row, time):
    """Assign the body its first arrival after a time [frames], if it meets keys and has one left."""
    state.body[i, S.DUE], state.body[i, S.DUE_KEY] = math.inf, -1.0
    timed = control.setting[row, i, C.ARRIVAL]
    if timed < 0.0:
        return
    for k in range(target.key_first[i], target.key_first[i + 1]):
        if target.key[k, M.WHEN] > time + ON_TIME:
            state.body[i, S.DUE], state.body[i, S.DUE_KEY] = target.key[k, M.WHEN], float(k)
            store4(state.body, i, S.DUE_VALUE, load4(target.key, k, M.KEY_VALUE))
            store3(state.body, i, S.DUE_RATE, scale(timed, load3(target.key, k, M.KEY_RATE)))
            store3(state.body, i, S.DUE_PLACE, load3(target.key, k, M.KEY_PLACE))
            store3(state.body, i, S.DUE_DRIFT, scale(timed, load3(target.key, k, M.KEY_DRIFT)))
            return
