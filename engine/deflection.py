"""Loads on the joints: what loose and compliant ones do in a step (METHODS §1b, §1c).

Owns the solve for everything that is not prescribed. Must not know targets or keys:
it sees rates to follow (`Aim`) and loads.

A compliant joint's pose is r ⊕ δ. r never sees a load; δ obeys
M δ̈ + D(k_v δ̇ + k_p δ) = share · (load that following r leaves), integrated by a
two-stage SDIRK (γ = 1 − 1/√2) whose stages share one factor of M + C,
C = D(γh k_v + γ²h² k_p). A loose joint is the same with D = 0 and share 1.

The bodies' turning (Coriolis) comes in two halves, from their momenta: once at the
middle pose, once at the end pose, with what the joints take up counted twice in
between. That is the midpoint rule: to second order no energy is lost or gained, and
each half is a projection, which cannot blow up.
"""

from __future__ import annotations

import math

from .aim import coordinate_rates, difference
from .articulated import composite_form, composite_inertia, factorise, generalized, solve
from .jit import kernel
from .kinematics import apply_inertia, momenta, velocities
from .model import BALL, FREE
from .spatial import add, cross, dot, load3, load4, quat_exp, quat_mul, scale, store3, sub, unrotate
from .state import ASSIST, COMPLIANT, LOOSE, PRESCRIBED

GAMMA = 1.0 - math.sqrt(0.5)


@kernel
def measure_deflection(tree, state, aim, work, h):
    """Fill u, δ and the rates to follow: their change over the step and their secant excess."""
    for i in range(1, len(tree.parent)):
        first, end = tree.dof[i], tree.dof[i + 1]
        loose = aim.mode[i] == LOOSE
        for d in range(first, end):
            work.u[d] = state.v[d] if loose else 0.0
            work.delta[d] = 0.0
            work.push[d] = aim.push[d]
            work.change[d] = 0.0 if loose else aim.end[d] - aim.start[d]
            work.excess[d] = 0.0 if loose else aim.secant[d] - 0.5 * (aim.end[d] + aim.start[d])
        if aim.mode[i] == COMPLIANT:
            _measure_compliant(tree, state, aim, work, i, h)


@kernel
def _measure_compliant(tree, state, aim, work, i, h):
    kind, d = tree.kind[i], tree.dof[i]
    delta = difference(kind, load4(state.reference, i), load4(state.coords, i))
    w = coordinate_rates(kind, state.v, d)
    start = coordinate_rates(kind, aim.start, d)
    end = coordinate_rates(kind, aim.end, d)
    excess = coordinate_rates(kind, work.excess, d)
    push = coordinate_rates(kind, aim.push, d)
    if kind >= BALL:
        # r's rates seen from the deflected body, whose frame is exp(δ) away
        delta = _same_branch(delta, load3(state.deflection, i))
        turn = quat_exp(delta)
        start = unrotate(turn, start)
        excess = unrotate(turn, excess)
        push = unrotate(turn, push)
        ahead = quat_mul(turn, quat_exp(scale(h, sub(w, start))))
        end = unrotate(ahead, end)
    u = sub(w, start)
    change = sub(end, start)
    for k in range(min(3, tree.dof[i + 1] - d)):
        work.u[d + k] = u[k]
        work.delta[d + k] = delta[k]
        work.change[d + k] = change[k]
        work.excess[d + k] = excess[k]
        work.push[d + k] = push[k]
    if kind == FREE:
        for k in range(3):
            work.u[d + 3 + k] = state.v[d + 3 + k] - aim.start[d + 3 + k]
            work.delta[d + 3 + k] = state.anchors[i, k] - state.reference_anchor[i, k]


@kernel
def _same_branch(delta, before):
    """The rotation vector nearest to the previous one, of the two that mean the same."""
    angle = math.sqrt(dot(delta, delta))
    if angle < 1.0:
        return delta
    other = scale(1.0 - 2.0 * math.pi / angle, delta)
    near, far = sub(delta, before), sub(other, before)
    return other if dot(far, far) < dot(near, near) else delta


@kernel
def prepare_factor(tree, aim, work, pose, h, with_springs):
    """Factor M + C (or M alone) at `pose`. Returns whether any joint is compliant, and whether loads are
    shared beside loose joints, which takes the tracking factor as well."""
    compliant = mixed = loose = False
    for i in range(1, len(tree.parent)):
        mode = aim.mode[i]
        work.factor.active[i] = mode != PRESCRIBED
        work.tracking.active[i] = mode == LOOSE
        work.compliance[i] = 0.0
        if mode == LOOSE:
            loose = True
        if mode == COMPLIANT:
            compliant = True
            mixed = mixed or aim.share[tree.dof[i]] < 1.0
            if with_springs and not aim.limited[i]:
                work.compliance[i] = GAMMA * h * (aim.gains[i, 1] + GAMMA * h * aim.gains[i, 0])
    if compliant and with_springs:
        composite_inertia(tree, pose, work.composite)
        _blocks(tree, aim, work, pose)
    factorise(tree, pose, work.composite, work.compliance, work.factor)
    mixed = mixed and loose
    if mixed:
        factorise(tree, pose, work.composite, work.compliance, work.tracking)
    return compliant, mixed


@kernel
def _blocks(tree, aim, work, pose):
    """Keep the compliant joints' blocks D of M."""
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == COMPLIANT:
            first, end = tree.dof[i], tree.dof[i + 1]
            for d in range(first, end):
                for e in range(first, end):
                    work.block[d, e - first] = composite_form(work.composite, i, pose.axes[d], pose.axes[e])


@kernel
def leftover(tree, pose, spin, linear, rates, drift, work):
    """work.load: momenta (given about the bodies' centres) less those of moving at `rates`."""
    velocities(tree, pose, rates, drift, work.motion)
    for i in range(1, len(tree.parent)):
        x = work.motion[i]
        angular, p = apply_inertia(tree, pose, i, (x[0], x[1], x[2]), (x[3], x[4], x[5]))
        q = load3(linear, i)
        a = sub(add(load3(spin, i), cross(load3(pose.center, i), q)), angular)
        b = sub(q, p)
        work.load[i, 0], work.load[i, 1], work.load[i, 2] = a
        work.load[i, 3], work.load[i, 4], work.load[i, 5] = b


@kernel
def share_load(tree, aim, work, pose, mixed):
    """From the load work.g: work.felt, what each degree of freedom feels of it, and work.tracked.

    Where some feel only part and others are loose, the loose ones first answer as if
    the compliant ones held (work.tracked); what that leaves on the compliant joints is
    the load to share, −τ₀ of METHODS §1c.
    """
    if not mixed:
        for d in range(len(work.g)):
            work.felt[d] = aim.share[d] * work.g[d]
            work.tracked[d] = 0.0
        return
    solve(tree, pose, work.tracking, work.g, work.tracked)
    for i in range(1, len(tree.parent)):
        store3(work.spin, i, (0.0, 0.0, 0.0))
        store3(work.linear, i, (0.0, 0.0, 0.0))
    leftover(tree, pose, work.spin, work.linear, work.tracked, work.still, work)
    generalized(tree, pose, work.load, work.felt)
    for i in range(1, len(tree.parent)):
        for d in range(tree.dof[i], tree.dof[i + 1]):
            work.felt[d] = 0.0 if aim.mode[i] == LOOSE else aim.share[d] * (work.g[d] + work.felt[d])


@kernel
def first_half(tree, state, aim, work, h, gravity):
    """At the middle pose: work.ends, the rates joints end with, and work.mean, their mean rates.

    Returns whether loads are shared beside loose joints.
    """
    pose = work.middle
    nv = len(work.g)
    measure_deflection(tree, state, aim, work, h)
    compliant, mixed = prepare_factor(tree, aim, work, pose, h, True)
    # the bodies' turning, half
    leftover(tree, pose, state.spin, state.linear, state.v, state.drift, work)
    generalized(tree, pose, work.load, work.turn)
    less_feed_forward(tree, aim, state, work, 0, work.turn)
    work.g[:] = work.turn
    share_load(tree, aim, work, pose, mixed)
    solve(tree, pose, work.factor, work.felt, work.y)
    for d in range(nv):
        work.y[d] += work.tracked[d]
    # that, gravity, and what changing the rates to follow takes
    _outer_load(tree, state, aim, work, h, gravity)
    less_feed_forward(tree, aim, state, work, 1, work.g)
    for d in range(nv):
        work.g[d] += work.turn[d]
    share_load(tree, aim, work, pose, mixed)
    if compliant:
        _multiply_blocks(tree, aim, work, work.push)
    _stages(tree, aim, work, h, compliant)
    for d in range(nv):
        work.ends[d] += work.tracked[d]
        work.mean[d] += 0.5 * (work.tracked[d] + work.y[d])
    _answer_secants(tree, aim, work, mixed, compliant)
    for i in range(1, len(tree.parent)):
        for d in range(tree.dof[i], tree.dof[i + 1]):
            if aim.mode[i] == PRESCRIBED:
                work.ends[d] = aim.end[d]
                work.mean[d] = aim.secant[d]
            else:
                work.ends[d] += state.v[d] + work.change[d]
    return mixed


@kernel
def _outer_load(tree, state, aim, work, h, gravity):
    """work.g: gravity's impulse less what changing the rates to follow takes."""
    for i in range(1, len(tree.parent)):
        store3(work.spin, i, (0.0, 0.0, 0.0))
        store3(work.linear, i, scale(h * tree.mass[i], gravity))
        store3(work.drift, i, sub(load3(aim.drift, i), load3(state.drift, i)))
    leftover(tree, work.middle, work.spin, work.linear, work.change, work.drift, work)
    generalized(tree, work.middle, work.load, work.g)


@kernel
def less_feed_forward(tree, aim, state, work, part, g):
    """An assisted root is not asked for what its undisturbed motion takes (METHODS §1d)."""
    for root in tree.roots:
        if state.behaviour[root] == ASSIST and aim.mode[root] == COMPLIANT:
            for d in range(tree.dof[root], tree.dof[root + 1]):
                g[d] -= work.ff[part, d]


@kernel
def _multiply_blocks(tree, aim, work, vector):
    """work.felt += share · D · vector on the compliant joints."""
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == COMPLIANT:
            first, end = tree.dof[i], tree.dof[i + 1]
            for d in range(first, end):
                for e in range(first, end):
                    work.felt[d] += aim.share[d] * work.block[d, e - first] * vector[e]


@kernel
def _stages(tree, aim, work, h, compliant):
    """SDIRK2 from (u, δ) under the load work.felt: work.ends the change of u, work.mean the mean of u."""
    nv = len(work.g)
    if not compliant:
        solve(tree, work.middle, work.factor, work.felt, work.ends)
        for d in range(nv):
            work.mean[d] = work.u[d] + 0.5 * work.ends[d]
        return
    for d in range(nv):
        work.rate[d] = work.u[d]
        work.place[d] = work.delta[d] + GAMMA * h * work.u[d]
    _spring(tree, aim, work, h)
    solve(tree, work.middle, work.factor, work.g, work.x1)
    _note_pull(tree, aim, work, work.x1, 0.0, 1.0 - GAMMA)
    for d in range(nv):
        work.rate[d] = work.u[d] + (1.0 - GAMMA) * work.x1[d]
        step = (1.0 - GAMMA) * h * (work.u[d] + GAMMA * work.x1[d])
        work.place[d] = work.delta[d] + step + GAMMA * h * work.rate[d]
    _spring(tree, aim, work, h)
    solve(tree, work.middle, work.factor, work.g, work.x2)
    _note_pull(tree, aim, work, work.x2, 1.0, GAMMA)
    for d in range(nv):
        work.ends[d] = (1.0 - GAMMA) * work.x1[d] + GAMMA * work.x2[d]
        first = work.u[d] + GAMMA * work.x1[d]
        second = work.rate[d] + GAMMA * work.x2[d]
        work.mean[d] = (1.0 - GAMMA) * first + GAMMA * second


@kernel
def _spring(tree, aim, work, h):
    """work.g = work.felt − h D (k_v rate + k_p place)"""
    work.g[:] = work.felt
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == COMPLIANT:
            kp, kv = aim.gains[i, 0], aim.gains[i, 1]
            first, end = tree.dof[i], tree.dof[i + 1]
            for d in range(first, end):
                if aim.limited[i]:
                    work.g[d] += aim.held[d]
                    continue
                for e in range(first, end):
                    work.g[d] -= h * work.block[d, e - first] * (kv * work.rate[e] + kp * work.place[e])


@kernel
def _note_pull(tree, aim, work, x, keep, weight):
    """work.pull = keep · work.pull + weight · what the springs give in this stage, C·x included."""
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == COMPLIANT:
            first, end = tree.dof[i], tree.dof[i + 1]
            for d in range(first, end):
                spring = work.g[d] - work.felt[d]
                for e in range(first, end):
                    spring -= work.compliance[i] * work.block[d, e - first] * x[e]
                work.pull[d] = keep * work.pull[d] + weight * spring


@kernel
def _answer_secants(tree, aim, work, mixed, compliant):
    """Prescribed joints move by their secant but carry their end rate: loose ones answer the difference
    in place only."""
    for i in range(1, len(tree.parent)):
        store3(work.spin, i, (0.0, 0.0, 0.0))
        store3(work.linear, i, (0.0, 0.0, 0.0))
    leftover(tree, work.middle, work.spin, work.linear, work.excess, work.still, work)
    generalized(tree, work.middle, work.load, work.g)
    share_load(tree, aim, work, work.middle, mixed)
    if compliant:
        _multiply_blocks(tree, aim, work, work.excess)
    solve(tree, work.middle, work.factor, work.felt, work.x1)
    for d in range(len(work.mean)):
        work.mean[d] += work.x1[d] + work.tracked[d]


@kernel
def second_half(tree, state, aim, work, h, mixed):
    """At the end pose: carry the bodies' momenta over and correct work.ends by their turning, half."""
    middle, pose = work.middle, work.end
    nv = len(work.g)
    # momenta at the middle after the step, plus what the joints took up in the first half once more
    for d in range(nv):
        work.rate[d] = state.v[d] + work.y[d]
    velocities(tree, middle, work.rate, state.drift, work.motion)
    momenta(tree, middle, work.motion, work.spin, work.linear)
    velocities(tree, middle, work.ends, aim.drift, work.motion)
    momenta(tree, middle, work.motion, work.spin2, work.linear2)
    for i in range(1, len(tree.parent)):
        store3(work.spin, i, add(load3(work.spin2, i), sub(load3(work.spin, i), load3(state.spin, i))))
        store3(work.linear, i, add(load3(work.linear2, i), sub(load3(work.linear, i), load3(state.linear, i))))
    leftover(tree, pose, work.spin, work.linear, work.ends, aim.drift, work)
    generalized(tree, pose, work.load, work.g)
    less_feed_forward(tree, aim, state, work, 2, work.g)
    # of the first half only what the joints took up counts twice: take back what the drives kept
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == COMPLIANT:
            c = work.compliance[i]
            first, end = tree.dof[i], tree.dof[i + 1]
            for d in range(first, end):
                work.g[d] += (1.0 - aim.share[d]) * work.turn[d]
                for e in range(first, end):
                    work.g[d] += c * work.block[d, e - first] * work.y[e]
    prepare_factor(tree, aim, work, pose, h, False)
    share_load(tree, aim, work, pose, mixed)
    solve(tree, pose, work.factor, work.felt, work.x1)
    for d in range(nv):
        work.ends[d] += work.x1[d] + work.tracked[d]
