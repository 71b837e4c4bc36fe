"""Assisted roots: guided along their motion with limited force (METHODS §1d).

Owns the feed-forward of the undisturbed motion and the limit on the guiding force.
Must not know how joints are solved.

The root's undisturbed motion takes some wrench from nowhere (that is what mocap
without ground contact is). It is given without limit, computed on r with the same
discrete formulas as the real step, so an undisturbed root follows to rounding. Only
the pull back after a disturbance is limited.
"""

from __future__ import annotations

import math

from .aim import advance, difference, store_rates
from .articulated import generalized
from .deflection import first_half, leftover
from .jit import kernel
from .kinematics import forward, locked_inertia, momenta, tree_momentum, velocities
from .spatial import add, load3, load4, scale, store3, store4, sub
from .state import ANIMATED, ASSIST, COMPLIANT, LIMP

STANDARD_GRAVITY = 9.81  # [m/s²] a weight is a weight, also where the scene has no gravity


@kernel
def _guided(tree, state, aim, root):
    return state.behaviour[root] == ASSIST and aim.mode[root] == COMPLIANT


@kernel
def _any_guided(tree, state, aim):
    for root in tree.roots:
        if _guided(tree, state, aim, root):
            return True
    return False


@kernel
def feed_forward(tree, state, aim, work, h, gravity):
    """work.ff: the generalized impulses that the undisturbed motion takes, part by part as in `deflection`."""
    for i in range(len(aim.limited)):
        aim.limited[i] = False
    if not _any_guided(tree, state, aim):
        return
    start, end, pose = work.rate, work.place, work.reference
    _reference_pose(tree, state, aim, work, start, end, 0.0, h)
    velocities(tree, pose, start, state.drift, work.motion)
    momenta(tree, pose, work.motion, work.spin2, work.linear2)
    _reference_pose(tree, state, aim, work, start, end, 0.5, h)
    leftover(tree, pose, work.spin2, work.linear2, start, state.drift, work)
    generalized(tree, pose, work.load, work.ff[0])
    for i in range(1, len(tree.parent)):
        store3(work.spin, i, (0.0, 0.0, 0.0))
        store3(work.linear, i, scale(h * tree.mass[i], gravity))
        store3(work.drift, i, sub(load3(aim.drift, i), load3(state.drift, i)))
    for d in range(len(start)):
        work.g[d] = end[d] - start[d]
    leftover(tree, pose, work.spin, work.linear, work.g, work.drift, work)
    generalized(tree, pose, work.load, work.ff[1])
    _carried_over(tree, state, aim, work, start, end)
    _reference_pose(tree, state, aim, work, start, end, 1.0, h)
    leftover(tree, pose, work.spin2, work.linear2, end, aim.drift, work)
    generalized(tree, pose, work.load, work.ff[2])


@kernel
def _carried_over(tree, state, aim, work, start, end):
    """work.spin2, linear2: momenta at the middle after the step plus what was taken up before it."""
    pose = work.reference
    velocities(tree, pose, start, state.drift, work.motion)
    momenta(tree, pose, work.motion, work.spin, work.linear)
    for i in range(1, len(tree.parent)):
        store3(work.spin2, i, sub(load3(work.spin, i), load3(work.spin2, i)))
        store3(work.linear2, i, sub(load3(work.linear, i), load3(work.linear2, i)))
    velocities(tree, pose, end, aim.drift, work.motion)
    momenta(tree, pose, work.motion, work.spin, work.linear)
    for i in range(1, len(tree.parent)):
        for k in range(3):
            work.spin2[i, k] += work.spin[i, k]
            work.linear2[i, k] += work.linear[i, k]


@kernel
def _reference_pose(tree, state, aim, work, start, end, s, h):
    """work.reference: the undisturbed character a share s into the step; its rates at both ends."""
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        behaviour = state.behaviour[i]
        if behaviour == LIMP:
            first, last = load4(aim.value0, i), load4(aim.value1, i)
            store_rates(kind, start, d, load3(aim.rate0, i))
            store_rates(kind, end, d, load3(aim.rate1, i))
        else:
            first, last = load4(state.reference, i), load4(aim.coords, i)
            if behaviour == ANIMATED:
                first = load4(state.coords, i)
            for j in range(d, tree.dof[i + 1]):
                start[j], end[j] = aim.start[j], aim.end[j]
        if s == 0.0:
            store4(work.coords, i, first)
        elif s == 1.0:
            store4(work.coords, i, last)
        else:
            store4(work.coords, i, advance(kind, first, difference(kind, first, last), s))
        store3(work.anchors, i, add(load3(state.anchors, i), scale(s * h, load3(aim.drift_secant, i))))
    forward(tree, work.coords, work.anchors, work.reference)


@kernel
def hold_back(tree, state, aim, plan, work, h, gravity):
    """Where the pull on a root exceeds its limit, give just the limit and solve once more.

    The force's limit is `assist` body weights; the couple's is that force at the
    tree's radius of gyration.
    """
    again = False
    for root in tree.roots:
        if not _guided(tree, state, aim, root):
            continue
        mass, center, _, _ = tree_momentum(tree, work.middle, root, work.spin, work.linear)
        inertia = locked_inertia(tree, work.middle, root, mass, center)
        radius = math.sqrt((inertia[0] + inertia[1] + inertia[2]) / (2.0 * mass))
        limit = plan.assist[root] * mass * STANDARD_GRAVITY * h
        d = tree.dof[root]
        couple = math.sqrt(work.pull[d] ** 2 + work.pull[d + 1] ** 2 + work.pull[d + 2] ** 2)
        force = math.sqrt(work.pull[d + 3] ** 2 + work.pull[d + 4] ** 2 + work.pull[d + 5] ** 2)
        if couple > limit * radius or force > limit:
            again = True
            aim.limited[root] = True
            for k in range(3):
                aim.held[d + k] = work.pull[d + k] * min(1.0, limit * radius / max(couple, 1e-300))
                aim.held[d + 3 + k] = work.pull[d + 3 + k] * min(1.0, limit / max(force, 1e-300))
    if again:
        first_half(tree, state, aim, work, h, gravity)
