"""The control stage: where each joint should be at the end of the step.

Owns the reference r: the target plus an error that dies away in closed form
(METHODS §1a). Must not know about masses, loads or how the step is solved.

For a ball e = log(R_t⁻¹ R) obeys the equation component by component, exactly at
any step: R₁ = R_t(t+h)·exp(e₁), ω₁ = exp(−e₁)ω_t + J_r(e₁)ė₁.
"""

from __future__ import annotations

import math

from .jit import kernel
from .model import BALL, FREE
from .pd import response
from .spatial import (
    add,
    dot,
    load3,
    load4,
    quat_conj,
    quat_exp,
    quat_log,
    quat_mul,
    quat_unit,
    right_jacobian,
    right_jacobian_inverse,
    scale,
    store3,
    store4,
    sub,
    unrotate,
)
from .state import ANIMATED, ASSIST, COMPLIANT, LIMP, LOOSE, PRESCRIBED, SIMULATED
from .target import evaluate

# A ball's error keeps its branch past half a turn, so that a limb swung through
# does not flip; beyond this it takes the short way (METHODS §1a).
BRANCH = 1.25 * math.pi
# Errors below these are rounding: the joint is on its target.
TINY_ANGLE = 1e-14
TINY_RATE = 1e-12


@kernel
def coordinate_rates(kind, v, d):
    """The first three rates of a joint, zero where it has fewer."""
    if kind == 0:
        return 0.0, 0.0, 0.0
    if kind == 1:
        return v[d], 0.0, 0.0
    if kind == 2:
        return v[d], v[d + 1], 0.0
    return v[d], v[d + 1], v[d + 2]


@kernel
def store_rates(kind, v, d, w):
    if kind >= 1:
        v[d] = w[0]
    if kind >= 2:
        v[d + 1] = w[1]
    if kind >= BALL:
        v[d + 2] = w[2]


@kernel
def advance(kind, c, w, h):
    """Coordinates c after turning at rates w for h seconds."""
    if kind >= BALL:
        return quat_unit(quat_mul(c, quat_exp(scale(h, w))))
    return c[0] + h * w[0], c[1] + h * w[1], 0.0, 0.0


@kernel
def difference(kind, a, b):
    """What leads from coordinates a to b, in the frame of b's body: rotation vector or angles."""
    if kind >= BALL:
        return quat_log(quat_mul(quat_conj(a), b))
    return b[0] - a[0], b[1] - a[1], 0.0


@kernel
def measure_error(kind, c, w, value, rate):
    """E and Ė of a joint at (c, w) against a target at (value, rate)."""
    e = difference(kind, value, c)
    if kind >= BALL:
        return e, right_jacobian_inverse(e, sub(w, unrotate(quat_exp(e), rate)))
    return e, sub(w, rate)


@kernel
def begin_frame(tree, target, plan, state, aim, frame, dt, h):
    """Take over the frame's behaviours and gains; see where the target jumped."""
    evaluate(target, tree.kind, frame, 0.0, dt, aim.value0, aim.rate0, aim.anchor0, aim.anchor_rate0)
    row = min(frame, len(plan.behaviour) - 1)
    for i in range(1, len(tree.parent)):
        omega = plan.omega[row, i]
        zeta = plan.zeta[row, i]
        if aim.gains[i, 0] != omega * omega or aim.gains[i, 1] != 2.0 * zeta * omega or frame == 0:
            u, g, du, dg = response(omega, zeta, h)
            store4(aim.response, i, (u, g, du, dg))
            aim.gains[i, 0] = omega * omega
            aim.gains[i, 1] = 2.0 * zeta * omega
        before = state.behaviour[i]
        now = plan.behaviour[row, i]
        state.behaviour[i] = now
        jumped = frame > 0 and target.hold[frame - 1, i]
        if before < 0:
            _start_on_target(tree, state, aim, i)
        elif now == SIMULATED or now == ASSIST:
            if before != now:
                _take_reference(tree, state, i)
            if before != now or jumped:
                _measure(tree, state, aim, i)


@kernel
def _start_on_target(tree, state, aim, i):
    """The shot's first frame: the body is where its keys say, moving as they say."""
    kind, d = tree.kind[i], tree.dof[i]
    store4(state.coords, i, load4(aim.value0, i))
    store4(state.reference, i, load4(aim.value0, i))
    store3(state.anchors, i, load3(aim.anchor0, i))
    store3(state.reference_anchor, i, load3(aim.anchor0, i))
    store3(state.drift, i, load3(aim.anchor_rate0, i))
    store_rates(kind, state.v, d, load3(aim.rate0, i))
    store_rates(kind, state.reference_v, d, load3(aim.rate0, i))
    if kind == FREE:
        store3(state.drift, i, (0.0, 0.0, 0.0))
        for k in range(3):
            state.v[d + 3 + k] = aim.anchor_rate0[i, k]
            state.reference_v[d + 3 + k] = aim.anchor_rate0[i, k]


@kernel
def _take_reference(tree, state, i):
    """A body handed over from keys or limpness: r starts from where it is."""
    store4(state.reference, i, load4(state.coords, i))
    store3(state.reference_anchor, i, load3(state.anchors, i))
    for d in range(tree.dof[i], tree.dof[i + 1]):
        state.reference_v[d] = state.v[d]
    for k in range(6):
        state.deflection[i, k] = 0.0


@kernel
def _measure(tree, state, aim, i):
    kind, d = tree.kind[i], tree.dof[i]
    w = coordinate_rates(kind, state.reference_v, d)
    e, de = measure_error(kind, load4(state.reference, i), w, load4(aim.value0, i), load3(aim.rate0, i))
    for k in range(3):
        state.error[i, k] = e[k]
        state.error[i, 3 + k] = de[k]
        if kind == FREE:
            state.error[i, 6 + k] = state.reference_anchor[i, k] - aim.anchor0[i, k]
            state.error[i, 9 + k] = state.reference_v[d + 3 + k] - aim.anchor_rate0[i, k]


@kernel
def aim_step(tree, target, plan, state, aim, frame, s1, dt, h):
    """Fill `aim` for the step that ends at frame + s1; aim.*0 hold the target at its start."""
    evaluate(target, tree.kind, frame, s1, dt, aim.value1, aim.rate1, aim.anchor1, aim.anchor_rate1)
    row = min(frame, len(plan.behaviour) - 1)
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        behaviour = state.behaviour[i]
        aim.mode[i] = PRESCRIBED
        share = 0.0
        if behaviour == ANIMATED:
            _aim_at_keys(tree, state, aim, i, h)
        elif behaviour == LIMP:
            aim.mode[i] = LOOSE
            share = 1.0
            for j in range(d, tree.dof[i + 1]):
                aim.start[j] = aim.end[j] = aim.secant[j] = aim.push[j] = 0.0
        else:
            _aim_by_error(tree, state, aim, i, h)
            share = plan.heaviness[row, i]
            if behaviour == ASSIST:
                share = 1.0
            elif share > 0.0 or _deflected(state, i):
                aim.mode[i] = COMPLIANT
        for j in range(d, tree.dof[i + 1]):
            aim.share[j] = share
        if kind == FREE:
            for k in range(3):
                aim.drift[i, k] = aim.drift_secant[i, k] = 0.0
        else:
            store3(aim.anchors, i, load3(aim.anchor1, i))
            store3(aim.drift, i, load3(aim.anchor_rate1, i))
            store3(aim.drift_secant, i, scale(1.0 / h, sub(load3(aim.anchor1, i), load3(state.anchors, i))))
    _assist_when_disturbed(tree, state, aim)


@kernel
def _assist_when_disturbed(tree, state, aim):
    """An assisted root holds its motion exactly until something in its tree is loose or deflected."""
    for root in tree.roots:
        if state.behaviour[root] != ASSIST:
            continue
        if _deflected(state, root):
            aim.mode[root] = COMPLIANT
        for i in range(root + 1, tree.last[root] + 1):
            if aim.mode[i] != PRESCRIBED:
                aim.mode[root] = COMPLIANT


@kernel
def _deflected(state, i):
    for k in range(6):
        if state.deflection[i, k] != 0.0:
            return True
    return False


@kernel
def _aim_at_keys(tree, state, aim, i, h):
    kind, d = tree.kind[i], tree.dof[i]
    for j in range(d, tree.dof[i + 1]):
        aim.start[j] = state.v[j]
        aim.push[j] = 0.0
    store4(aim.coords, i, load4(aim.value1, i))
    store_rates(kind, aim.end, d, load3(aim.rate1, i))
    store_rates(kind, aim.secant, d, scale(1.0 / h, difference(kind, load4(state.coords, i), load4(aim.value1, i))))
    if kind == FREE:
        store3(aim.anchors, i, load3(aim.anchor1, i))
        for k in range(3):
            aim.end[d + 3 + k] = aim.anchor_rate1[i, k]
            aim.secant[d + 3 + k] = (aim.anchor1[i, k] - state.anchors[i, k]) / h


@kernel
def _aim_by_error(tree, state, aim, i, h):
    """Let the error die away for one step and put it on the target's end."""
    kind, d = tree.kind[i], tree.dof[i]
    u, g, du, dg = load4(aim.response, i)
    old = load4(state.reference, i)
    value, rate = load4(aim.value1, i), load3(aim.rate1, i)
    e = load3(state.error, i)
    de = (state.error[i, 3], state.error[i, 4], state.error[i, 5])
    was, e1, de1 = de, e, de
    for j in range(d, tree.dof[i + 1]):
        aim.start[j] = state.reference_v[j]
    if dot(e, e) > 0.0 or dot(de, de) > 0.0:
        e1 = add(scale(u, e), scale(g, de))
        de1 = add(scale(du, e), scale(dg, de))
        if dot(e1, e1) < TINY_ANGLE * TINY_ANGLE and dot(de1, de1) < TINY_RATE * TINY_RATE:
            e1 = de1 = (0.0, 0.0, 0.0)
        if kind >= BALL:
            back = quat_exp(e1)
            was = right_jacobian(e, de)
            value = quat_unit(quat_mul(value, back))
            push = right_jacobian(e1, de1)
            rate = add(unrotate(back, rate), push)
            de_now = push
        else:
            value = (value[0] + e1[0], value[1] + e1[1], 0.0, 0.0)
            rate = add(rate, de1)
            de_now = de1
        store_rates(kind, aim.push, d, sub(de_now, was))
    else:
        store_rates(kind, aim.push, d, (0.0, 0.0, 0.0))
    store4(aim.coords, i, value)
    store_rates(kind, aim.end, d, rate)
    store_rates(kind, aim.secant, d, scale(1.0 / h, difference(kind, old, value)))
    for k in range(3):
        state.error[i, k] = e1[k]
        state.error[i, 3 + k] = de1[k]
    if kind == FREE:
        _aim_position_by_error(state, aim, i, d, h)


@kernel
def _aim_position_by_error(state, aim, i, d, h):
    u, g, du, dg = load4(aim.response, i)
    for k in range(3):
        e, de = state.error[i, 6 + k], state.error[i, 9 + k]
        state.error[i, 6 + k] = u * e + g * de
        state.error[i, 9 + k] = du * e + dg * de
        aim.anchors[i, k] = aim.anchor1[i, k] + state.error[i, 6 + k]
        aim.end[d + 3 + k] = aim.anchor_rate1[i, k] + state.error[i, 9 + k]
        aim.push[d + 3 + k] = state.error[i, 9 + k] - de
        aim.secant[d + 3 + k] = (aim.anchors[i, k] - state.reference_anchor[i, k]) / h


@kernel
def end_step(tree, state, aim):
    """The end of this step is the start of the next; r is now where it was aimed."""
    aim.value0[:] = aim.value1
    aim.rate0[:] = aim.rate1
    aim.anchor0[:] = aim.anchor1
    aim.anchor_rate0[:] = aim.anchor_rate1
    for i in range(1, len(tree.parent)):
        behaviour = state.behaviour[i]
        if behaviour == SIMULATED or behaviour == ASSIST:
            store4(state.reference, i, load4(aim.coords, i))
            store3(state.reference_anchor, i, load3(aim.anchors, i))
            for j in range(tree.dof[i], tree.dof[i + 1]):
                state.reference_v[j] = aim.end[j]
            if tree.kind[i] >= BALL:
                _rebranch(tree, state, aim, i)


@kernel
def _rebranch(tree, state, aim, i):
    e = load3(state.error, i)
    if dot(e, e) > BRANCH * BRANCH:
        w = coordinate_rates(tree.kind[i], state.reference_v, tree.dof[i])
        e, de = measure_error(tree.kind[i], load4(state.reference, i), w, load4(aim.value0, i), load3(aim.rate0, i))
        for k in range(3):
            state.error[i, k] = e[k]
            state.error[i, 3 + k] = de[k]


