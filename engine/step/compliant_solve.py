"""Solve the loads on loose and compliant joints in two stages of a step (METHODS §1b, §1c).

Owns the solve for everything that is not prescribed. Must not know targets or keys: it reads rates to follow (`Aim`)
and loads.

A compliant joint's pose is r ⊕ δ. r never sees a load; δ obeys M δ̈ + D(k_v δ̇ + k_p δ) = share · (load that following
r leaves), integrated by a two-stage SDIRK (γ = 1 − 1/√2) whose stages share one factor of M + C, C = D(γh k_v + γ²h²
k_p). A loose joint is the same with D = 0 and share 1. Gyroscopic loads are computed in `momentum`.
"""

from __future__ import annotations

import math

from ..compile.decorators import inlined, kernel, separate
from ..compile.kernel_types import Flag, Real, Vector
from ..contact.held_inertia import add_carried
from ..contact.soft_limits import soften_ends
from ..contact.step_size import brake_whirls
from ..contact.sustained import brace, lean, press, tied
from ..contact.tie_rows import feel_wind
from ..controllers.shared.root_assist import stiffen_turns
from ..controllers.shared.strength import across_slip, add_spent, slips_aside
from ..dynamics.articulated import composite_inertia, factorise, mass_block, solve
from ..dynamics.joints import difference, joint_rates, store_rates
from ..dynamics.momentum import bring_momenta, carry_over, leftover
from ..dynamics.tone import add_tone, even_axes, has_tone, lay_tone, tone_compliance
from ..math.vectors import (
    add,
    axpy,
    copy,
    dot,
    load3,
    load4,
    quat_conj,
    quat_exp,
    quat_mul,
    right_jacobian_inverse,
    scale,
    store3,
    store6,
    sub,
    unrotate,
)
from ..model.model import BALL, FREE
from ..tables import aim as A, control as C, state as S, tree as T, work as W
from ..tables.classes import Aim, Pose, State, Touch, Tree, Work
from ..tables.work import factor_of, pose_of

GAMMA = 1.0 - math.sqrt(0.5)
# A secant that leads the rates' mean by this much in a step is a snap [rad, m]; below this part of it, as in all smooth
# motion, there is no response.
SNAP = 0.01
CRUMB = 0.1
# A joint that turns by less than this in a step turns little [rad].
LITTLE_TURN = 0.1


@separate
def measure_deflection(tree: Tree, state: State, aim: Aim, work: Work, h: Real):
    """Fill u, δ and the rates to follow: their change over the step and their secant excess.

    Reads: A.END, A.PUSH, A.SECANT, A.START, A.SURGE, A.mode, S.ANCHOR, S.COORDS, S.DEFLECTION, S.REFERENCE,
        S.REFERENCE_ANCHOR, S.V, W.EXCESS, W.SEEN_SURGE
    Writes: W.CHANGE, W.DELTA, W.EXCESS, W.SEEN_PUSH, W.SEEN_SURGE, W.U
    """
    for i in range(1, len(tree.parent)):
        loose = aim.mode[i] == A.LOOSE
        for d in range(tree.dof[i], tree.dof[i + 1]):
            start, end = aim.rate[A.START, d], aim.rate[A.END, d]
            work.rate[W.U, d] = state.rate[S.V, d] if loose else 0.0
            work.rate[W.DELTA, d] = 0.0
            work.rate[W.SEEN_PUSH, d] = aim.rate[A.PUSH, d]
            work.rate[W.SEEN_SURGE, d] = aim.rate[A.SURGE, d]
            work.rate[W.CHANGE, d] = 0.0 if loose else end - start
            work.rate[W.EXCESS, d] = 0.0 if loose else aim.rate[A.SECANT, d] - 0.5 * (end + start)
        if aim.mode[i] == A.COMPLIANT:
            _measure_compliant(tree, state, aim, work, i, h)
        for d in range(tree.dof[i], tree.dof[i + 1]):
            # a smooth secant leads by third-order terms, which are best left out; a snap leads by its length
            lead = max(0.0, abs(work.rate[W.EXCESS, d]) * h / SNAP - CRUMB) ** 2
            work.rate[W.EXCESS, d] *= lead / (1.0 + lead)
            work.rate[W.SEEN_SURGE, d] *= lead / (1.0 + lead)


@inlined
def _measure_compliant(tree, state, aim, work, i, h):
    """Reads: A.END, A.PUSH, A.START, A.SURGE, S.ANCHOR, S.COORDS, S.DEFLECTION, S.REFERENCE, S.REFERENCE_ANCHOR, S.V,
        W.EXCESS
    Writes: W.CHANGE, W.DELTA, W.EXCESS, W.SEEN_PUSH, W.SEEN_SURGE, W.U
    """
    kind, d = tree.kind[i], tree.dof[i]
    delta = difference(kind, load4(state.body, i, S.REFERENCE), load4(state.body, i, S.COORDS))
    w = joint_rates(kind, state.rate, S.V, d)
    start = joint_rates(kind, aim.rate, A.START, d)
    end = joint_rates(kind, aim.rate, A.END, d)
    excess = joint_rates(kind, work.rate, W.EXCESS, d)
    push = joint_rates(kind, aim.rate, A.PUSH, d)
    surge = joint_rates(kind, aim.rate, A.SURGE, d)
    if kind >= BALL:
        # r's rates in the frame of the deflected body, which is rotated by exp(δ)
        delta = _same_branch(delta, load3(state.body, i, S.DEFLECTION))
        turn = quat_mul(quat_conj(load4(state.body, i, S.REFERENCE)), load4(state.body, i, S.COORDS))
        start = unrotate(turn, start)
        excess = unrotate(turn, excess)
        push = unrotate(turn, push)
        surge = unrotate(turn, surge)
        ahead = quat_mul(turn, quat_exp(scale(h, sub(w, start))))
        end = unrotate(ahead, end)
    u = sub(w, start)
    change = sub(end, start)
    store_rates(kind, work.rate, W.U, d, u)
    store_rates(kind, work.rate, W.DELTA, d, delta)
    store_rates(kind, work.rate, W.CHANGE, d, change)
    store_rates(kind, work.rate, W.EXCESS, d, excess)
    store_rates(kind, work.rate, W.SEEN_PUSH, d, push)
    store_rates(kind, work.rate, W.SEEN_SURGE, d, surge)
    if kind == FREE:
        for k in range(3):
            work.rate[W.U, d + 3 + k] = state.rate[S.V, d + 3 + k] - aim.rate[A.START, d + 3 + k]
            work.rate[W.DELTA, d + 3 + k] = state.body[i, S.ANCHOR + k] - state.body[i, S.REFERENCE_ANCHOR + k]


@kernel
def _same_branch(delta, before):
    """Of the two rotation vectors of the same rotation, the one nearest to the previous."""
    angle = math.sqrt(dot(delta, delta))
    if angle < 1.0:
        return delta
    other = scale(1.0 - 2.0 * math.pi / angle, delta)
    near, far = sub(delta, before), sub(other, before)
    return other if dot(far, far) < dot(near, near) else delta


@separate
def prepare_factor(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, pose: Pose, h: Real):
    """Factor M + C at `pose`. Returns whether any joint is compliant, and whether loads are shared next to loose joints
    or a guided root, which needs the tracking factor too.

    Reads: A.ACROSS, A.GAINS, A.HELD, A.LIMITED, A.SHARE, A.STIFFER, A.TONE, A.mode, H.HIGH, H.LIMIT_FRAME, H.LOW,
        H.SWING, H.SWING_Z, H.TWIST_HIGH, H.TWIST_LOW, P.MOMENT, P.TURNS, P.WORLD_INERTIA, S.COORDS, S.V, S.behaviour,
        W.COMPLIANCE, W.COMPOSITE, W.SLOWED, W.TONED, W.TRACKING, W.WELDED, W.block
    Writes: W.COMPLIANCE, W.COMPOSITE, W.MAIN, W.SLOWED, W.TONED, W.TRACKING, W.block
    """
    compliant = mixed = loose = toned = False
    for i in range(1, len(tree.parent)):
        mode = aim.mode[i]
        work.active[W.MAIN, i] = mode != A.PRESCRIBED
        # a guided root responds to its load with the joints held, otherwise its light body alone would be thrown about
        work.active[W.TRACKING, i] = mode == A.LOOSE or (mode == A.COMPLIANT and state.behaviour[i] == C.ASSIST)
        work.body[i, W.COMPLIANCE] = 0.0
        loose = loose or work.active[W.TRACKING, i]
        if mode == A.COMPLIANT:
            compliant = True
            mixed = mixed or aim.rate[A.SHARE, tree.dof[i]] < 1.0
            work.body[i, W.COMPLIANCE] = _compliance(aim, i, h)
        elif has_tone(aim, i):
            toned = True
        elif slips_aside(aim, i):
            work.body[i, W.COMPLIANCE] = aim.body[i, A.ACROSS]
            across_slip(tree, aim, i, work.block, 0.0)
    if compliant or toned:
        composite_inertia(tree, pose, work.body, W.COMPOSITE)
        add_carried(tree, work)
        for i in range(1, len(tree.parent)):
            if aim.mode[i] == A.COMPLIANT:
                mass_block(tree, pose, work.body, W.COMPOSITE, i, work.block)
                if aim.body[i, A.STIFFER] != 1.0:
                    stiffen_turns(tree, aim, i, work.block)
            elif has_tone(aim, i):
                mass_block(tree, pose, work.body, W.COMPOSITE, i, work.block)
                even_axes(tree, work.block, i)
                lay_tone(tree, state, aim, work, i, h)
                work.body[i, W.COMPLIANCE] = tone_compliance(aim, i, h)
                if touch is not None:
                    soften_ends(tree, state, aim, work, touch.holds.bound, i, h)
                if slips_aside(aim, i):
                    across_slip(tree, aim, i, work.block, work.body[i, W.COMPLIANCE] / aim.body[i, A.ACROSS])
                    work.body[i, W.COMPLIANCE] = aim.body[i, A.ACROSS]
    mixed = mixed and loose
    factor_at(tree, aim, work, pose, mixed, h)
    return compliant, mixed


@separate
def factor_at(tree: Tree, aim: Aim, work: Work, pose: Pose, mixed: Flag, h: Real):
    """Factor M of `pose` + C as prepared, and the tracking factor if loads are shared next to loose joints.

    Reads: A.GAINS, A.LIMITED, A.mode, P.MOMENT, P.TURNS, P.WORLD_INERTIA, W.COMPLIANCE, W.MAIN, W.TRACKING, W.block
    Writes: W.COMPLIANCE, W.MAIN, W.TRACKING
    """
    factorise(tree, pose, work.body, W.COMPLIANCE, work.block, factor_of(work, W.MAIN))
    if not mixed:
        return
    for root in tree.roots:
        if aim.mode[root] == A.COMPLIANT:
            work.body[root, W.COMPLIANCE] = 0.0
    factorise(tree, pose, work.body, W.COMPLIANCE, work.block, factor_of(work, W.TRACKING))
    for root in tree.roots:
        if aim.mode[root] == A.COMPLIANT:
            work.body[root, W.COMPLIANCE] = _compliance(aim, root, h)


@kernel
def _compliance(aim, i, h):
    """c of C = c·D; 0 for a limited drive."""
    if aim.body[i, A.LIMITED] != 0.0:
        return 0.0
    return GAMMA * h * (aim.body[i, A.GAINS + 1] + GAMMA * h * aim.body[i, A.GAINS])


@separate
def share_load(tree: Tree, aim: Aim, work: Work, pose: Pose, mixed: Flag):
    """From the load G: FELT, the part that each degree of freedom feels, and TRACKED.

    If some feel only part and others are loose, the loose ones first respond as if the compliant ones were held
    (TRACKED); the remaining load on the compliant joints is the one to share, −τ₀ of METHODS §1c.

    Reads: A.SHARE, A.mode, P.COM, P.MOMENT, P.ROTATION, P.TURNS, P.WORLD_INERTIA, P.axes, W.FELT, W.G, W.MOMENTUM,
        W.STILL, W.TRACKED, W.TRACKING
    Writes: W.FELT, W.MOMENTUM, W.TRACKED, W.TRACKING
    """
    g, felt, tracked = work.rate[W.G], work.rate[W.FELT], work.rate[W.TRACKED]
    if not mixed:
        for d in range(len(g)):
            felt[d] = aim.rate[A.SHARE, d] * g[d]
            tracked[d] = 0.0
        return
    solve(tree, pose, factor_of(work, W.TRACKING), g, tracked)
    for i in range(1, len(tree.parent)):
        store6(work.body, i, W.MOMENTUM, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    leftover(tree, pose, work.body, W.MOMENTUM, tracked, work.body, W.STILL, work, felt)
    for i in range(1, len(tree.parent)):
        for d in range(tree.dof[i], tree.dof[i + 1]):
            felt[d] = 0.0 if aim.mode[i] == A.LOOSE else aim.rate[A.SHARE, d] * (g[d] + felt[d])


@separate
def first_half(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, h: Real, gravity: Vector):
    """At the middle pose: ENDS, the joints' rates at the end, and MEAN, their mean rates.

    Returns True if loads are shared next to loose joints.

    Reads: A.END, A.SECANT, A.SHARE, A.mode, CT.drag, R.WINDY, S.V, W.CHANGE, W.ENDS, W.FELT, W.LOAD, W.LOADED_RATE,
        W.MEAN, W.MIDDLE, W.SEEN_PUSH, W.SHIFTED, W.TRACKED, W.block
    Writes: W.ENDS, W.FELT, W.LOAD, W.LOADED_RATE, W.MEAN
    """
    pose = pose_of(work, W.MIDDLE)
    nv = len(work.rate[W.G])
    measure_deflection(tree, state, aim, work, h)
    compliant, mixed = prepare_factor(tree, state, aim, work, touch, pose, h)
    step_load(tree, state, aim, work, pose, h, gravity)
    share_load(tree, aim, work, pose, mixed)
    if compliant:
        _add_blocks(tree, aim, work, W.SEEN_PUSH)
    brace(tree, state, aim, work, touch, pose, h, mixed)
    feel_wind(tree, aim, work, touch, pose)
    lean(tree, work, touch, pose)
    stages(tree, state, aim, work, touch, pose, h, compliant)
    for d in range(nv):
        work.rate[W.ENDS, d] += work.rate[W.TRACKED, d]
        work.rate[W.MEAN, d] += 0.5 * work.rate[W.TRACKED, d]
    answer_secants(tree, aim, work, pose, mixed, compliant)
    _shift_places(work, touch, h)
    for i in range(1, len(tree.parent)):
        for d in range(tree.dof[i], tree.dof[i + 1]):
            if aim.mode[i] == A.PRESCRIBED:
                work.rate[W.ENDS, d] = aim.rate[A.END, d]
                work.rate[W.MEAN, d] = aim.rate[A.SECANT, d]
            else:
                work.rate[W.ENDS, d] += state.rate[S.V, d] + work.rate[W.CHANGE, d]
    return mixed


@kernel
def _shift_places(work, touch, h):
    """Depth and ties' errors are corrected by moving positions only, not by rates that are carried on."""
    if touch is None:
        return
    for d in range(len(work.rate[W.MEAN])):
        work.rate[W.MEAN, d] += work.rate[W.SHIFTED, d] / h


@separate
def step_load(tree: Tree, state: State, aim: Aim, work: Work, pose: Pose, h: Real, gravity: Vector):
    """G: the load of the whole step. Gyroscopic terms from the start to the middle, twice; gravity; and the load of
    changing the rates to follow. All are linear in momenta and rates: one pass.

    Reads: A.ACROSS, A.END, A.GOAL_DRIFT, A.HELD, A.LIMITED, A.TONE, A.mode, P.COM, P.MOMENT, P.ROTATION,
        P.WORLD_INERTIA, P.axes, S.DRIFT, S.LINEAR, S.SPIN, S.V, S.behaviour, W.CARRIED, W.CHANGE, W.FEED, W.G,
        W.MOMENTUM, W.MOTION, W.NOW, W.OTHER_DRIFT, W.SLOWED, W.STAGE_RATE, W.TONED
    Writes: W.CARRIED, W.G, W.MOMENTUM, W.MOTION, W.OTHER_DRIFT, W.STAGE_RATE, W.WHOLE
    """
    bring_momenta(tree, state, work, pose, h)
    for i in range(1, len(tree.parent)):
        weight = scale(h * tree.body[i, T.MASS], gravity)
        spin, linear = load3(work.body, i, W.CARRIED), load3(work.body, i, W.CARRIED + 3)
        store6(work.body, i, W.MOMENTUM, scale(2.0, spin), axpy(2.0, linear, weight))
        store3(work.body, i, W.OTHER_DRIFT, add(load3(aim.body, i, A.GOAL_DRIFT), load3(state.body, i, S.DRIFT)))
    rates, g = work.rate[W.STAGE_RATE], work.rate[W.G]
    for d in range(len(g)):
        rates[d] = 2.0 * state.rate[S.V, d] + work.rate[W.CHANGE, d]
    leftover(tree, pose, work.body, W.MOMENTUM, rates, work.body, W.OTHER_DRIFT, work, g)
    less_feed_forward(tree, aim, state, work, W.FEED, 2.0, g)
    less_feed_forward(tree, aim, state, work, W.FEED + 1, 1.0, g)
    copy(g, work.rate[W.WHOLE])
    add_spent(tree, state, aim, g)
    add_tone(tree, aim, work, g)


@kernel
def less_feed_forward(tree, aim, state, work, row, times, g):
    """Subtract the load of an assisted root's undisturbed motion (METHODS §1d)."""
    for root in tree.roots:
        if state.behaviour[root] == C.ASSIST and aim.mode[root] == A.COMPLIANT:
            for d in range(tree.dof[root], tree.dof[root + 1]):
                g[d] -= times * work.rate[row, d]


@kernel
def _add_blocks(tree, aim, work, row):
    """FELT += share · D · row, on the compliant joints."""
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == A.COMPLIANT:
            first, end = tree.dof[i], tree.dof[i + 1]
            for d in range(first, end):
                for e in range(first, end):
                    work.rate[W.FELT, d] += aim.rate[A.SHARE, d] * work.block[d, e - first] * work.rate[row, e]


@separate
def stages(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, pose: Pose, h: Real, compliant: Flag):
    """SDIRK2 from (U, DELTA) under the load FELT: the change of u in ENDS, its mean in MEAN.

    Reads: A.GAINS, A.HELD, A.LIMITED, A.mode, P.ROTATION, P.TURNS, P.axes, S.behaviour, W.COMPLIANCE, W.DELTA, W.ENDS,
        W.FELT, W.G, W.MAIN, W.PULL, W.STAGE_PLACE, W.STAGE_RATE, W.U, W.X1, W.X2, W.block, W.rate
    Writes: W.ENDS, W.G, W.MAIN, W.MEAN, W.PULL, W.STAGE_PLACE, W.STAGE_RATE, W.rate
    """
    factor = factor_of(work, W.MAIN)
    rate = work.rate
    nv = len(rate[W.G])
    if not compliant:
        solve(tree, pose, factor, rate[W.FELT], rate[W.ENDS])
        copy(rate[W.U], rate[W.STAGE_RATE])
        press(tree, state, aim, work, touch, pose, W.ENDS, 1.0, 1.0, 1.0, h, True)
        for d in range(nv):
            rate[W.MEAN, d] = rate[W.U, d] + 0.5 * rate[W.ENDS, d]
        return
    for k in range(2):
        x = W.X1 + k
        _stage_load(tree, aim, work, h, k)
        solve(tree, pose, factor, rate[W.G], rate[x])
        weight = GAMMA if k == 1 else 1.0 - GAMMA
        press(tree, state, aim, work, touch, pose, x, GAMMA, 1.0 if k == 1 else GAMMA, weight, h, k == 1)
        _note_pull(tree, state, aim, work, x, float(k), weight)
    for d in range(nv):
        x1, x2 = rate[W.X1, d], rate[W.X2, d]
        rate[W.ENDS, d] = (1.0 - GAMMA) * x1 + GAMMA * x2
        first, second = rate[W.U, d] + GAMMA * x1, rate[W.STAGE_RATE, d] + GAMMA * x2
        rate[W.MEAN, d] = (1.0 - GAMMA) * first + GAMMA * second


@kernel
def _stage_load(tree, aim, work, h, k):
    """The start of stage k, STAGE_RATE and STAGE_PLACE, and G = FELT − h D (k_v STAGE_RATE + k_p STAGE_PLACE)."""
    rate, block = work.rate, work.block
    for i in range(1, len(tree.parent)):
        first, end = tree.dof[i], tree.dof[i + 1]
        for d in range(first, end):
            u, place = rate[W.U, d], rate[W.DELTA, d]
            if k == 1:
                place += (1.0 - GAMMA) * h * (u + GAMMA * rate[W.X1, d])
                u += (1.0 - GAMMA) * rate[W.X1, d]
            rate[W.STAGE_RATE, d] = u
            rate[W.STAGE_PLACE, d] = place + GAMMA * h * u
            rate[W.G, d] = rate[W.FELT, d]
        if aim.mode[i] != A.COMPLIANT:
            continue
        if tree.kind[i] >= BALL:
            # a ball's coordinate is a rotation vector, which changes by more than the rotation: δ̇ = J⁻¹(δ) u
            delta = load3(rate, W.DELTA, first)
            way = sub(load3(rate, W.STAGE_PLACE, first), delta)
            store3(rate, W.STAGE_PLACE, first, add(delta, right_jacobian_inverse(delta, way)))
        if aim.body[i, A.LIMITED] != 0.0:
            for d in range(first, end):
                rate[W.G, d] += aim.rate[A.HELD, d]
            continue
        kp, kv = h * aim.body[i, A.GAINS], h * aim.body[i, A.GAINS + 1]
        for e in range(first, end):
            pull = kv * rate[W.STAGE_RATE, e] + kp * rate[W.STAGE_PLACE, e]
            for d in range(first, end):
                rate[W.G, d] -= block[d, e - first] * pull


@kernel
def _note_pull(tree, state, aim, work, x, keep, weight):
    """PULL = keep · PULL + weight · impulse of the guided roots' springs in this stage, C·x included."""
    for i in tree.roots:
        if aim.mode[i] == A.COMPLIANT and state.behaviour[i] == C.ASSIST:
            first, end = tree.dof[i], tree.dof[i + 1]
            for d in range(first, end):
                spring = work.rate[W.G, d] - work.rate[W.FELT, d]
                for e in range(first, end):
                    spring -= work.body[i, W.COMPLIANCE] * work.block[d, e - first] * work.rate[x, e]
                work.rate[W.PULL, d] = keep * work.rate[W.PULL, d] + weight * spring


@separate
def answer_secants(tree: Tree, aim: Aim, work: Work, pose: Pose, mixed: Flag, compliant: Flag):
    """Prescribed joints move by their secant but carry their end rate: loose ones respond to the difference in position
    only.

    Reads: A.SHARE, A.mode, P.COM, P.MOMENT, P.ROTATION, P.TURNS, P.WORLD_INERTIA, P.axes, W.EXCESS, W.FELT, W.MAIN,
        W.MEAN, W.MOMENTUM, W.SEEN_SURGE, W.STILL, W.TRACKED, W.X1, W.block
    Writes: W.FELT, W.G, W.MAIN, W.MEAN, W.MOMENTUM, W.X1
    """
    largest = 0.0
    for d in range(len(work.rate[W.G])):
        largest = max(largest, abs(work.rate[W.EXCESS, d]))
    if largest == 0.0:
        return
    for i in range(1, len(tree.parent)):
        store6(work.body, i, W.MOMENTUM, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    leftover(tree, pose, work.body, W.MOMENTUM, work.rate[W.EXCESS], work.body, W.STILL, work, work.rate[W.G])
    share_load(tree, aim, work, pose, mixed)
    if compliant:
        _add_blocks(tree, aim, work, W.SEEN_SURGE)
    solve(tree, pose, factor_of(work, W.MAIN), work.rate[W.FELT], work.rate[W.X1])
    for d in range(len(work.rate[W.G])):
        work.rate[W.MEAN, d] += work.rate[W.X1, d] + work.rate[W.TRACKED, d]


@kernel
def needs_own_factor(tree, aim, work, h):
    """True if a joint is loose (except free roots, whose momentum is corrected at the end) or turns far."""
    for i in range(1, len(tree.parent)):
        if tree.kind[i] != FREE:
            if aim.mode[i] == A.LOOSE:
                return True
            for d in range(tree.dof[i], tree.dof[i + 1]):
                if abs(work.rate[W.MEAN, d]) * h > LITTLE_TURN:
                    return True
    return False


@kernel
def _see_ends(tree, state, aim, work):
    """Convert the end rates to follow of deflected balls to the frame in which they end, not the one predicted when the
    step began: a second-order difference in every step, to which only joints that feel their full load are
    insensitive."""
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == A.COMPLIANT and tree.kind[i] >= BALL:
            turn = quat_mul(quat_conj(load4(aim.body, i, A.GOAL)), load4(work.body, i, W.NEW))
            end = unrotate(turn, load3(aim.rate, A.END, tree.dof[i]))
            for k in range(3):
                d = tree.dof[i] + k
                seen = state.rate[S.V, d] - work.rate[W.U, d] + work.rate[W.CHANGE, d]
                work.rate[W.ENDS, d] += (1.0 - aim.rate[A.SHARE, d]) * (end[k] - seen)


@separate
def second_half(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, h: Real, least: Real, mixed: Flag):
    """At the end pose: carry the bodies' momenta over; the remainder is the second half of the gyroscopic load minus
    the first, which had stood for it. No step is shorter than `least`.

    Reads: A.END, A.GOAL, A.GOAL_DRIFT, A.SHARE, A.mode, R.TIED, S.V, S.behaviour, W.CARRIED, W.CHANGE, W.ENDS, W.FEED,
        W.FELT, W.FINAL, W.G, W.MAIN, W.MEAN, W.MIDDLE, W.NEW, W.TRACKED, W.U, W.X1, W.X2
    Writes: W.ENDS, W.G, W.MAIN, W.X1, W.X2
    """
    middle, pose = pose_of(work, W.MIDDLE), pose_of(work, W.FINAL)
    carry_over(tree, state, aim, work, middle, pose, state.rate[S.V], work.rate[W.ENDS], h)
    leftover(tree, pose, work.body, W.CARRIED, work.rate[W.ENDS], aim.body, A.GOAL_DRIFT, work, work.rate[W.G])
    less_feed_forward(tree, aim, state, work, W.FEED + 2, 1.0, work.rate[W.G])
    # loose joints must end with a projection at this very pose; with springs alone, while the step turns them little,
    # the middle's factor suffices: a third-order difference, as with their C, which is always the middle's
    where = middle
    if needs_own_factor(tree, aim, work, h) or tied(touch):
        where = pose
        factor_at(tree, aim, work, pose, mixed, h)
    share_load(tree, aim, work, where, mixed)
    solve(tree, where, factor_of(work, W.MAIN), work.rate[W.FELT], work.rate[W.X1])
    for d in range(len(work.rate[W.G])):
        work.rate[W.X2, d] = work.rate[W.X1, d] + work.rate[W.TRACKED, d]
    brake_whirls(tree, state, work, where, work.rate[W.ENDS], work.rate[W.X2], least)
    for d in range(len(work.rate[W.G])):
        work.rate[W.ENDS, d] += work.rate[W.X2, d]
    _see_ends(tree, state, aim, work)
