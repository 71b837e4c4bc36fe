"""Reference of every joint at the end of the step, by the closed form of Follow and On Time (METHODS §1a, §2).

Owns the reference r: the target plus an error that decays in closed form (METHODS §1a). Must not know about masses,
loads or how the step is solved.

For a ball e = log(R_t⁻¹ R) obeys the equation component by component, exactly at any step: R₁ = R_t(t+h)·exp(e₁), ω₁ =
exp(−e₁)ω_t + J_r(e₁)ė₁.
"""

from __future__ import annotations

import math

from ...compile.decorators import inlined, kernel, separate
from ...compile.kernel_types import Index, Real
from ...dynamics.joints import difference, joint_rates, measure_error, store_rates
from ...math.vectors import (
    add,
    axpy,
    dot,
    load3,
    load4,
    quat_exp,
    quat_mul,
    quat_tidy,
    right_jacobian,
    scale,
    store3,
    store4,
    sub,
    unrotate,
)
from ...model.model import BALL, FIXED, FREE
from ...tables import aim as A, control as C, sample as SA, state as S
from ...tables.classes import Aim, Control, State, Target, Tree, Work
from ...tables.motion import evaluate, evaluate_body
from ..on_time.arrivals import ON_TIME, expected, has_key_ahead, promise_next, put_arrival, put_struck, put_way_in
from ..shared.blow_state import changes, end_blows, is_deflected, is_light, stays_off, swung_out
from ..shared.rate_limits import die_away
from .spring import response

# A ball's error keeps its branch past half a turn, so that a limb that swings through does not flip; beyond this it
# takes the shorter way (METHODS §1a).
BRANCH = 1.25 * math.pi
# Smaller errors are rounding: the joint is on its target.
TINY_ANGLE = 1e-14
TINY_RATE = 1e-12


@separate
def begin_frame(tree: Tree, target: Target, control: Control, state: State, aim: Aim, frame: Index, dt: Real):
    """Update behaviours and gains for the frame; detect jumps of the target.

    Reads: A.FROM, A.GAINS, C.ARRIVAL, C.OMEGA, C.RECOVERY, C.ZETA, C.assist, S.ANCHOR, S.COORDS, S.DUE, S.DUE_DRIFT,
        S.DUE_KEY, S.DUE_PLACE, S.DUE_RATE, S.DUE_VALUE, S.REFERENCE, S.REFERENCE_ANCHOR, S.REFERENCE_V, S.RETURNS, S.V,
        S.behaviour
    Writes: A.FROM, A.GAINS, A.PULL_LIMIT, A.RESPONSE, S.ANCHOR, S.COORDS, S.DEFLECTION, S.DRIFT, S.DUE, S.DUE_BLOW,
        S.DUE_KEY, S.ERROR, S.REFERENCE, S.REFERENCE_ANCHOR, S.REFERENCE_V, S.RETURNS, S.SLIPPED, S.V, S.behaviour
    """
    evaluate(target, tree.kind, frame, 0.0, dt, aim.body, A.FROM)
    row = min(frame, len(control.behaviour) - 1)
    assist_row = min(frame, len(control.assist) - 1)
    for i in range(1, len(tree.parent)):
        aim.body[i, A.PULL_LIMIT] = control.assist[assist_row, i]
        before = state.behaviour[i]
        now = _behaviour_now(tree, control, state, i, frame, row, dt)
        state.behaviour[i] = now
        if has_key_ahead(state, i):
            put_way_in(tree, state, aim, i, float(frame), dt, A.FROM)
        else:
            _set_gains(control, aim, row, i)
        jumped = frame > 0 and target.hold[frame - 1, i]
        if before < 0:
            _start_on_target(tree, state, aim, i)
        elif now == C.SIMULATED or now == C.ASSIST:
            if before != now:
                _take_reference(tree, state, i)
                state.body[i, S.SLIPPED] = 0.0
            if before != now or jumped:
                _measure(tree, state, aim, A.FROM, i)


@kernel
def _behaviour_now(tree, control, state, i, frame, row, dt):
    """A body's behaviour in this frame: as set, but a body that was limp and has a recovery time is driven back to its
    motion in that time, even if it is animated from then on."""
    now = control.behaviour[row, i]
    if now == C.LIMP or state.behaviour[i] < 0:
        state.body[i, S.RETURNS] = 0.0
    elif state.behaviour[i] == C.LIMP and control.setting[row, i, C.RECOVERY] > 0.0 and _follows(tree, control, i, row):
        state.body[i, S.RETURNS] = 1.0
        state.body[i, S.DUE], state.body[i, S.DUE_KEY] = frame + control.setting[row, i, C.RECOVERY] / dt, -1.0
        state.body[i, S.DUE_BLOW] = math.inf
    elif state.body[i, S.DUE] <= frame + ON_TIME or state.body[i, S.DUE] == math.inf:
        state.body[i, S.RETURNS] = 0.0
    if state.body[i, S.RETURNS] != 0.0 and now == C.ANIMATED:
        now = C.ASSIST if tree.kind[i] == FREE else C.SIMULATED
    return now


@kernel
def _follows(tree, control, i, row):
    """True if a body returns to its motion, False if to its next key."""
    return control.setting[row, i, C.ARRIVAL] < 0.0 or tree.kind[i] == FREE


@kernel
def _set_gains(control, aim, row, i):
    omega, zeta = control.setting[row, i, C.OMEGA], control.setting[row, i, C.ZETA]
    if aim.body[i, A.GAINS] != omega * omega or aim.body[i, A.GAINS + 1] != 2.0 * zeta * omega:
        aim.body[i, A.GAINS] = omega * omega
        aim.body[i, A.GAINS + 1] = 2.0 * zeta * omega
        aim.body[0, A.RESPONSE] = 0.0


@separate
def keep_appointments(
    tree: Tree, target: Target, control: Control, state: State, aim: Aim, frame: Index, s: Real, dt: Real
):
    """At frame + s, before a step: bodies whose arrival is over get the next one, or follow the motion again.

    Reads: A.FROM, A.GAINS, C.ARRIVAL, C.OMEGA, C.ZETA, S.COORDS, S.DUE, S.DUE_DRIFT, S.DUE_KEY, S.DUE_PLACE,
        S.DUE_RATE, S.DUE_VALUE, S.REFERENCE, S.REFERENCE_ANCHOR, S.REFERENCE_V, S.V, S.behaviour
    Writes: A.FROM, A.GAINS, A.RESPONSE, S.DUE, S.DUE_DRIFT, S.DUE_KEY, S.DUE_PLACE, S.DUE_RATE, S.DUE_VALUE, S.ERROR,
        S.STRUCK, S.off
    """
    row = min(frame, len(control.behaviour) - 1)
    time = frame + s
    for i in range(1, len(tree.parent)):
        driven = state.behaviour[i] == C.SIMULATED or state.behaviour[i] == C.ASSIST
        if not driven or state.body[i, S.DUE] > time + ON_TIME:
            continue
        if state.body[i, S.DUE_KEY] >= 0.0:
            _note_arrival(tree, state, i)
        promise_next(target, control, state, i, row, time)
        if expected(state, i):
            put_way_in(tree, state, aim, i, time, dt, A.FROM)
        else:
            evaluate_body(target, tree.kind[i], i, frame, s, dt, aim.body, A.FROM)
            _set_gains(control, aim, row, i)
            aim.body[0, A.RESPONSE] = 0.0
            if tree.parent[i] == 0:
                state.body[i, S.STRUCK] = 0.0  # it is back: its feet are no longer led
        if time > 0.0 or expected(state, i):
            _measure(tree, state, aim, A.FROM, i)


@inlined
def _note_arrival(tree, state, i):
    """The error of the body itself, loads included.

    Reads: S.COORDS, S.DUE_KEY, S.DUE_RATE, S.DUE_VALUE, S.V
    Writes: S.off
    """
    kind, k = tree.kind[i], int(state.body[i, S.DUE_KEY])
    e = difference(kind, load4(state.body, i, S.DUE_VALUE), load4(state.body, i, S.COORDS))
    w = sub(joint_rates(kind, state.rate, S.V, tree.dof[i]), load3(state.body, i, S.DUE_RATE))
    store3(state.off, k, 0, e)
    store3(state.off, k, 3, w)


@kernel
def set_responses(tree, aim, h):
    """Closed-form responses for steps of h seconds; row 0 stores h."""
    if aim.body[0, A.RESPONSE] == h:
        return
    aim.body[0, A.RESPONSE] = h
    for i in range(1, len(tree.parent)):
        omega = math.sqrt(aim.body[i, A.GAINS])
        store4(aim.body, i, A.RESPONSE, response(omega, 0.5 * aim.body[i, A.GAINS + 1] / omega, h))


@inlined
def _start_on_target(tree, state, aim, i):
    """The shot's first frame: put the body at its keys, with their velocity.

    Reads: A.FROM, S.ANCHOR, S.COORDS, S.V
    Writes: S.ANCHOR, S.COORDS, S.DEFLECTION, S.DRIFT, S.REFERENCE, S.REFERENCE_ANCHOR, S.REFERENCE_V, S.V
    """
    kind, d = tree.kind[i], tree.dof[i]
    value, place = load4(aim.body, i, A.FROM + SA.VALUE), load3(aim.body, i, A.FROM + SA.ANCHOR)
    store4(state.body, i, S.COORDS, value)
    store3(state.body, i, S.ANCHOR, place)
    store_rates(kind, state.rate, S.V, d, load3(aim.body, i, A.FROM + SA.RATE))
    drift = load3(aim.body, i, A.FROM + SA.ANCHOR_RATE)
    if kind == FREE:
        store3(state.rate, S.V, d + 3, drift)
        drift = (0.0, 0.0, 0.0)
    store3(state.body, i, S.DRIFT, drift)
    _take_reference(tree, state, i)


@kernel
def _take_reference(tree, state, i):
    """Start r at the body's pose."""
    store4(state.body, i, S.REFERENCE, load4(state.body, i, S.COORDS))
    store3(state.body, i, S.REFERENCE_ANCHOR, load3(state.body, i, S.ANCHOR))
    for d in range(tree.dof[i], tree.dof[i + 1]):
        state.rate[S.REFERENCE_V, d] = state.rate[S.V, d]
    for k in range(6):
        state.body[i, S.DEFLECTION + k] = 0.0


@kernel
def take_blow(tree, state, aim, change):
    """After an impact that changed the rates by `change` (nv,): driven joints take their error back to the target in
    closed form (METHODS §1d: impacts, then control).

    Under a guided root the blow is a deflection instead: the bodies' inertias couple it from joint to joint and to the
    root. In closed form each joint would come back by itself, and the guidance of the root would absorb the momentum.
    """
    guided, root = False, 0
    for i in range(1, len(tree.parent)):
        if tree.parent[i] == 0:
            root = i
            guided = state.behaviour[i] == C.ASSIST and state.body[i, S.RETURNS] == 0.0 and changes(tree, i, change)
            if guided:
                state.body[i, S.STRUCK] = 1.0
        together = guided and not (
            has_key_ahead(state, i) or is_light(tree, root, i) or state.body[i, S.RETURNS] != 0.0
        )
        if state.behaviour[i] == C.SIMULATED and together:
            state.body[i, S.STRUCK] = 1.0
        elif state.behaviour[i] == C.SIMULATED:
            struck = False
            for d in range(tree.dof[i], tree.dof[i + 1]):
                if change[d] != 0.0:
                    struck = True
                    state.rate[S.REFERENCE_V, d] += change[d]
            if struck:
                _measure(tree, state, aim, A.FROM, i)


@kernel
def _measure(tree, state, aim, sample, i):
    """E and Ė of r against a target sample."""
    kind, d = tree.kind[i], tree.dof[i]
    value, rate = load4(aim.body, i, sample + SA.VALUE), load3(aim.body, i, sample + SA.RATE)
    w = joint_rates(kind, state.rate, S.REFERENCE_V, d)
    e, de = measure_error(kind, load4(state.body, i, S.REFERENCE), w, value, rate)
    store3(state.body, i, S.ERROR, e)
    store3(state.body, i, S.ERROR + 3, de)
    if kind == FREE:
        place, drift = load3(aim.body, i, sample + SA.ANCHOR), load3(aim.body, i, sample + SA.ANCHOR_RATE)
        store3(state.body, i, S.ERROR + 6, sub(load3(state.body, i, S.REFERENCE_ANCHOR), place))
        store3(state.body, i, S.ERROR + 9, sub(load3(state.rate, S.REFERENCE_V, d + 3), drift))


@separate
def aim_step(
    tree: Tree,
    target: Target,
    control: Control,
    state: State,
    aim: Aim,
    work: Work,
    frame: Index,
    s1: Real,
    dt: Real,
    h: Real,
):
    """Fill `aim` for the step that ends at frame + s1; its FROM sample holds the target at the start.

    Reads: A.FROM, A.GAINS, A.LEANED, A.RESPONSE, A.TO, A.mode, C.HEAVINESS, C.LAW, C.OMEGA, C.QUICKER, C.RECOVERY,
        C.SHAPE, C.TONE_DAMPING, C.TONE_PULL, C.ZETA, S.ANCHOR, S.COORDS, S.DEFLECTION, S.DUE, S.DUE_DRIFT, S.DUE_KEY,
        S.DUE_PLACE, S.DUE_RATE, S.DUE_VALUE, S.ERROR, S.REFERENCE, S.REFERENCE_ANCHOR, S.REFERENCE_V, S.RETURNS,
        S.STRUCK, S.V, S.behaviour, W.BONE_TURN, W.FASTEST, W.NOW, W.OWN_RATE
    Writes: A.ABLE, A.DRIFT_SECANT, A.END, A.GAINS, A.GOAL, A.GOAL_ANCHOR, A.GOAL_DRIFT, A.LIMITED, A.PUSH, A.RESPONSE,
        A.SECANT, A.SHARE, A.START, A.STIFFER, A.SURGE, A.TO, A.TONE, A.mode, S.DEFLECTION, S.ERROR, S.REFERENCE,
        S.REFERENCE_ANCHOR, S.REFERENCE_V, S.SLIPPED, S.STRUCK
    """
    evaluate(target, tree.kind, frame, s1, dt, aim.body, A.TO)
    set_responses(tree, aim, h)
    end_blows(tree, state)
    row = min(frame, len(control.behaviour) - 1)
    guided, root = False, 0
    for i in range(1, len(tree.parent)):
        behaviour = state.behaviour[i]
        if tree.parent[i] == 0:
            guided, root = behaviour == C.ASSIST and state.body[i, S.RETURNS] == 0.0, i
        if has_key_ahead(state, i):
            put_way_in(tree, state, aim, i, frame + s1, dt, A.TO)
        aim.body[i, A.STIFFER] = 1.0
        if expected(state, i):
            put_arrival(control, state, aim, i, row, frame + s1 - h / dt, h, dt)
        if state.body[i, S.STRUCK] != 0.0:
            put_struck(control, state, aim, i, row)
        aim.mode[i] = A.PRESCRIBED
        share = 0.0
        if behaviour == C.ANIMATED:
            _aim_at_keys(tree, state, aim, i, h)
        elif behaviour == C.LIMP:
            share = 1.0
            _let_go(tree, aim, i)
        else:
            share = 1.0
            if behaviour == C.SIMULATED:
                share = control.setting[row, i, C.HEAVINESS]
                _choose_mode(tree, state, aim, root, i, share, guided)
            _aim_by_error(tree, state, aim, work, i, h)
        aim.body[i, A.TONE] = control.setting[row, i, C.TONE_DAMPING]
        aim.body[i, A.TONE + 1] = control.setting[row, i, C.TONE_PULL]
        aim.body[i, A.LIMITED] = 0.0
        aim.body[i, A.ABLE] = float(aim.mode[i])
        for d in range(tree.dof[i], tree.dof[i + 1]):
            aim.rate[A.SHARE, d] = share
        if tree.kind[i] != FREE:
            _aim_anchor(state, aim, i, h)
    _assist_when_disturbed(tree, state, aim)


@inlined
def _choose_mode(tree, state, aim, root, i, share, guided):
    """Whether a driven joint follows the closed form, or gives under its share of the load; `guided`: the root of its
    tree is.

    Reads: A.FROM, A.LEANED, S.ANCHOR, S.COORDS, S.DEFLECTION, S.DUE, S.DUE_KEY, S.REFERENCE, S.REFERENCE_ANCHOR,
        S.REFERENCE_V, S.RETURNS, S.STRUCK, S.V, S.behaviour
    Writes: A.mode, S.DEFLECTION, S.ERROR, S.REFERENCE, S.REFERENCE_ANCHOR, S.REFERENCE_V, S.STRUCK
    """
    late = state.body[i, S.RETURNS] != 0.0 and share == 0.0 and is_deflected(tree, state, i)
    if late or (state.body[i, S.STRUCK] != 0.0 and swung_out(state, i)):
        # obstacles have delayed it by this much: the remaining time is for that, too
        state.body[i, S.STRUCK] = 0.0
        _take_reference(tree, state, i)
        _measure(tree, state, aim, A.FROM, i)
    loaded = share > 0.0 or aim.body[i, A.LEANED] != 0.0 or state.body[i, S.STRUCK] != 0.0
    if tree.kind[i] != FIXED and loaded:
        aim.mode[i] = A.COMPLIANT
    elif guided and stays_off(tree, state, root, i) and not has_key_ahead(state, i):
        # the contact that leaned on it is gone: its deflection decays as after a blow
        state.body[i, S.STRUCK] = 1.0
        aim.mode[i] = A.COMPLIANT
    elif is_deflected(tree, state, i):
        # nothing leans on it any more: the rest decays like any other error
        _take_reference(tree, state, i)
        _measure(tree, state, aim, A.FROM, i)


@inlined
def _let_go(tree, aim, i):
    """Nothing drives the joint.

    Writes: A.START, A.SURGE, A.mode
    """
    aim.mode[i] = A.LOOSE
    for d in range(tree.dof[i], tree.dof[i + 1]):
        for k in range(4):
            aim.rate[A.START + k, d] = 0.0
        aim.rate[A.SURGE, d] = 0.0


@inlined
def _aim_anchor(state, aim, i, h):
    """A joint's place on its parent is that of the keys.

    Reads: A.TO, S.ANCHOR
    Writes: A.DRIFT_SECANT, A.GOAL_ANCHOR, A.GOAL_DRIFT
    """
    place = load3(aim.body, i, A.TO + SA.ANCHOR)
    store3(aim.body, i, A.GOAL_ANCHOR, place)
    store3(aim.body, i, A.GOAL_DRIFT, load3(aim.body, i, A.TO + SA.ANCHOR_RATE))
    store3(aim.body, i, A.DRIFT_SECANT, scale(1.0 / h, sub(place, load3(state.body, i, S.ANCHOR))))


@inlined
def _assist_when_disturbed(tree, state, aim):
    """An assisted root follows its motion exactly until something in its tree is loose or deflected. One that was limp
    and returns ignores disturbances, because it has a deadline.

    Reads: A.mode, S.DEFLECTION, S.REFERENCE_V, S.RETURNS, S.V, S.behaviour
    Writes: A.mode
    """
    for root in tree.roots:
        if state.behaviour[root] == C.ASSIST and state.body[root, S.RETURNS] == 0.0:
            if is_deflected(tree, state, root):
                aim.mode[root] = A.COMPLIANT
            for i in range(root + 1, tree.last[root] + 1):
                if aim.mode[i] != A.PRESCRIBED:
                    aim.mode[root] = A.COMPLIANT


@inlined
def _aim_at_keys(tree, state, aim, i, h):
    """Exactly the keys, wherever the body is now.

    Reads: A.TO, S.ANCHOR, S.COORDS, S.V
    Writes: A.END, A.GOAL, A.GOAL_ANCHOR, A.PUSH, A.SECANT, A.START, A.SURGE
    """
    kind, d = tree.kind[i], tree.dof[i]
    for j in range(d, tree.dof[i + 1]):
        aim.rate[A.START, j] = state.rate[S.V, j]
        aim.rate[A.PUSH, j] = aim.rate[A.SURGE, j] = 0.0
    value = load4(aim.body, i, A.TO + SA.VALUE)
    store4(aim.body, i, A.GOAL, value)
    store_rates(kind, aim.rate, A.END, d, load3(aim.body, i, A.TO + SA.RATE))
    turn = difference(kind, load4(state.body, i, S.COORDS), value)
    store_rates(kind, aim.rate, A.SECANT, d, scale(1.0 / h, turn))
    if kind == FREE:
        place = load3(aim.body, i, A.TO + SA.ANCHOR)
        store3(aim.body, i, A.GOAL_ANCHOR, place)
        store3(aim.rate, A.END, d + 3, load3(aim.body, i, A.TO + SA.ANCHOR_RATE))
        store3(aim.rate, A.SECANT, d + 3, scale(1.0 / h, sub(place, load3(state.body, i, S.ANCHOR))))


@inlined
def _aim_by_error(tree, state, aim, work, i, h):
    """Let the error decay for one step and add it to the target at the step's end.

    Reads: A.RESPONSE, A.TO, S.DUE, S.ERROR, S.REFERENCE, S.REFERENCE_ANCHOR, S.REFERENCE_V, S.behaviour, W.BONE_TURN,
        W.FASTEST, W.NOW, W.OWN_RATE
    Writes: A.END, A.GOAL, A.GOAL_ANCHOR, A.PUSH, A.SECANT, A.START, A.SURGE, S.ERROR, S.SLIPPED
    """
    kind, d = tree.kind[i], tree.dof[i]
    value, rate = load4(aim.body, i, A.TO + SA.VALUE), load3(aim.body, i, A.TO + SA.RATE)
    e, de = load3(state.body, i, S.ERROR), load3(state.body, i, S.ERROR + 3)
    push = surge = (0.0, 0.0, 0.0)
    for j in range(d, tree.dof[i + 1]):
        aim.rate[A.START, j] = state.rate[S.REFERENCE_V, j]
    if dot(e, e) > 0.0 or dot(de, de) > 0.0:
        e1, de1 = die_away(tree, state, aim, work, i, h)
        if dot(e1, e1) < TINY_ANGLE * TINY_ANGLE and dot(de1, de1) < TINY_RATE * TINY_RATE:
            e1 = de1 = (0.0, 0.0, 0.0)
            state.body[i, S.SLIPPED] = 0.0
        store3(state.body, i, S.ERROR, e1)
        store3(state.body, i, S.ERROR + 3, de1)
        surge = _lead(e, e1, de, de1, h)
        if kind >= BALL:
            back = quat_exp(e1)
            before, de1 = right_jacobian(e, de), right_jacobian(e1, de1)
            value = quat_tidy(quat_mul(value, back))
            rate = add(unrotate(back, rate), de1)
            push = sub(de1, before)
        else:
            value = (value[0] + e1[0], value[1] + e1[1], 0.0, 0.0)
            rate = add(rate, de1)
            push = sub(de1, de)
    store4(aim.body, i, A.GOAL, value)
    store_rates(kind, aim.rate, A.PUSH, d, push)
    store_rates(kind, aim.rate, A.SURGE, d, surge)
    store_rates(kind, aim.rate, A.END, d, rate)
    turn = difference(kind, load4(state.body, i, S.REFERENCE), value)
    store_rates(kind, aim.rate, A.SECANT, d, scale(1.0 / h, turn))
    if kind == FREE:
        _aim_position_by_error(state, aim, i, d, h)


@kernel
def _lead(e, e1, de, de1, h):
    """The secant of a curve minus the mean of its slopes."""
    return sub(scale(1.0 / h, sub(e1, e)), scale(0.5, add(de, de1)))


@inlined
def _aim_position_by_error(state, aim, i, d, h):
    """Reads: A.RESPONSE, A.TO, S.ERROR, S.REFERENCE_ANCHOR
    Writes: A.END, A.GOAL_ANCHOR, A.PUSH, A.SECANT, A.SURGE, S.ERROR
    """
    u, g, du, dg = load4(aim.body, i, A.RESPONSE)
    e, de = load3(state.body, i, S.ERROR + 6), load3(state.body, i, S.ERROR + 9)
    e1, de1 = axpy(u, e, scale(g, de)), axpy(du, e, scale(dg, de))
    store3(state.body, i, S.ERROR + 6, e1)
    store3(state.body, i, S.ERROR + 9, de1)
    place = add(load3(aim.body, i, A.TO + SA.ANCHOR), e1)
    store3(aim.body, i, A.GOAL_ANCHOR, place)
    store3(aim.rate, A.PUSH, d + 3, sub(de1, de))
    store3(aim.rate, A.SURGE, d + 3, _lead(e, e1, de, de1, h))
    store3(aim.rate, A.END, d + 3, add(load3(aim.body, i, A.TO + SA.ANCHOR_RATE), de1))
    store3(aim.rate, A.SECANT, d + 3, scale(1.0 / h, sub(place, load3(state.body, i, S.REFERENCE_ANCHOR))))


@separate
def end_step(tree: Tree, state: State, aim: Aim):
    """Finish the step: its end is the start of the next; r is now at its goal.

    Reads: A.END, A.GOAL, A.GOAL_ANCHOR, A.TO, A.mode, S.ANCHOR, S.COORDS, S.ERROR, S.REFERENCE, S.REFERENCE_ANCHOR,
        S.REFERENCE_V, S.V, S.behaviour
    Writes: A.FROM, S.DEFLECTION, S.ERROR, S.REFERENCE, S.REFERENCE_ANCHOR, S.REFERENCE_V
    """
    for i in range(1, len(tree.parent)):
        for k in range(SA.COLUMNS):
            aim.body[i, A.FROM + k] = aim.body[i, A.TO + k]
        behaviour = state.behaviour[i]
        if behaviour == C.SIMULATED and aim.mode[i] == A.LOOSE:
            # its drive was saturated: from here the error to the target decays from its present value
            _take_reference(tree, state, i)
            _measure(tree, state, aim, A.TO, i)
        elif behaviour == C.SIMULATED or behaviour == C.ASSIST:
            store4(state.body, i, S.REFERENCE, load4(aim.body, i, A.GOAL))
            store3(state.body, i, S.REFERENCE_ANCHOR, load3(aim.body, i, A.GOAL_ANCHOR))
            for d in range(tree.dof[i], tree.dof[i + 1]):
                state.rate[S.REFERENCE_V, d] = aim.rate[A.END, d]
            e = load3(state.body, i, S.ERROR)
            if tree.kind[i] >= BALL and dot(e, e) > BRANCH * BRANCH:
                _measure(tree, state, aim, A.TO, i)
