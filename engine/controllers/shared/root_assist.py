"""Assisted roots: guided along their motion with limited force (METHODS §1d).

Owns the feed-forward of the undisturbed motion and the limit on the guiding force. Must not know how joints are solved.

The root's undisturbed motion needs some external wrench (as mocap without ground contact does). It is given without
limit, computed with the same discrete formulas as the real step, so an undisturbed root follows to rounding. Only the
pull back after a disturbance is limited.

Undisturbed means: root and joints on their r, except joints that slipped on their keys. The r of such a joint plans a
way back that its strength may not suffice for, from farther off each time; feeding that wrench forward would throw the
root off. What the joint does on its way back pushes the root like anything else.
"""

from __future__ import annotations

import math

from ...compile.decorators import kernel, separate
from ...compile.kernel_types import Real, Vector
from ...dynamics.joints import advance, difference, store_rates
from ...dynamics.kinematics import forward, locked_inertia, momenta, tree_momentum, velocities
from ...dynamics.momentum import carry_over, leftover, turn_spins
from ...math.vectors import add, load3, load4, scale, store3, store4, store6, sub
from ...tables import aim as A, control as C, sample as SA, state as S, tree as T, work as W
from ...tables.classes import Aim, Control, State, Tree, Work
from ...tables.work import pose_of

STANDARD_GRAVITY = 9.81  # [m/s²] body weights refer to it, also if the scene has no gravity


@kernel
def _guided(tree, state, aim, root):
    return state.behaviour[root] == C.ASSIST and aim.mode[root] == A.COMPLIANT


@separate
def feed_forward(tree: Tree, state: State, aim: Aim, work: Work, h: Real, gravity: Vector):
    """FEED: the generalized impulses of the undisturbed motion, part by part as in `compliant_solve`.

    Reads: A.DRIFT_SECANT, A.END, A.FROM, A.GOAL, A.GOAL_DRIFT, A.START, A.TO, A.mode, S.ANCHOR, S.COORDS, S.DRIFT,
        S.REFERENCE, S.SLIPPED, S.behaviour, W.CARRIED, W.G, W.MOMENTUM, W.MOTION, W.NEW, W.NEW_ANCHOR, W.OTHER_DRIFT,
        W.STAGE_PLACE, W.STAGE_RATE, W.UNDISTURBED, W.UNDISTURBED_BEFORE
    Writes: W.CARRIED, W.FEED, W.G, W.MOMENTUM, W.MOTION, W.NEW, W.NEW_ANCHOR, W.OTHER_DRIFT, W.STAGE_PLACE,
        W.STAGE_RATE, W.UNDISTURBED, W.UNDISTURBED_BEFORE
    """
    guided = False
    for root in tree.roots:
        guided = guided or _guided(tree, state, aim, root)
    if not guided:
        return
    start, end = work.rate[W.STAGE_RATE], work.rate[W.STAGE_PLACE]
    pose, before = pose_of(work, W.UNDISTURBED), pose_of(work, W.UNDISTURBED_BEFORE)
    _undisturbed_pose(tree, state, aim, work, 0.0, h, before)
    velocities(tree, before, start, state.body, S.DRIFT, work.body, W.MOTION)
    momenta(tree, before, work.body, W.MOTION, work.body, W.MOMENTUM)
    _undisturbed_pose(tree, state, aim, work, 0.5, h, pose)
    for i in range(1, len(tree.parent)):
        store3(work.body, i, W.CARRIED + 3, load3(work.body, i, W.MOMENTUM + 3))
    turn_spins(tree, before, pose, work.body, W.MOMENTUM, W.MOMENTUM, W.MOTION, 0.5 * h, work.body, W.CARRIED)
    leftover(tree, pose, work.body, W.CARRIED, start, state.body, S.DRIFT, work, work.rate[W.FEED])
    for i in range(1, len(tree.parent)):
        store6(work.body, i, W.MOMENTUM, (0.0, 0.0, 0.0), scale(h * tree.body[i, T.MASS], gravity))
        store3(work.body, i, W.OTHER_DRIFT, sub(load3(aim.body, i, A.GOAL_DRIFT), load3(state.body, i, S.DRIFT)))
    for d in range(len(start)):
        work.rate[W.G, d] = end[d] - start[d]
    leftover(tree, pose, work.body, W.MOMENTUM, work.rate[W.G], work.body, W.OTHER_DRIFT, work, work.rate[W.FEED + 1])
    _undisturbed_pose(tree, state, aim, work, 1.0, h, before)
    carry_over(tree, state, aim, work, pose, before, start, end, h)
    leftover(tree, before, work.body, W.CARRIED, end, aim.body, A.GOAL_DRIFT, work, work.rate[W.FEED + 2])


@kernel
def _undisturbed_pose(tree, state, aim, work, s, h, pose):
    """The pose of the undisturbed character a share s into the step, and its rates at both ends (in the two stage
    rows)."""
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        behaviour = state.behaviour[i]
        if behaviour == C.LIMP or state.body[i, S.SLIPPED] != 0.0:
            first, last = load4(aim.body, i, A.FROM + SA.VALUE), load4(aim.body, i, A.TO + SA.VALUE)
            store_rates(kind, work.rate, W.STAGE_RATE, d, load3(aim.body, i, A.FROM + SA.RATE))
            store_rates(kind, work.rate, W.STAGE_PLACE, d, load3(aim.body, i, A.TO + SA.RATE))
        else:
            first, last = load4(state.body, i, S.REFERENCE), load4(aim.body, i, A.GOAL)
            if behaviour == C.ANIMATED:
                first = load4(state.body, i, S.COORDS)
            for j in range(d, tree.dof[i + 1]):
                work.rate[W.STAGE_RATE, j], work.rate[W.STAGE_PLACE, j] = aim.rate[A.START, j], aim.rate[A.END, j]
        c = first
        if s == 1.0:
            c = last
        elif s > 0.0:
            c = advance(kind, first, difference(kind, first, last), s)
        store4(work.body, i, W.NEW, c)
        drift = scale(s * h, load3(aim.body, i, A.DRIFT_SECANT))
        store3(work.body, i, W.NEW_ANCHOR, add(load3(state.body, i, S.ANCHOR), drift))
    forward(tree, work.body, W.NEW, W.NEW_ANCHOR, pose)


@separate
def hold_back(tree: Tree, state: State, aim: Aim, control: Control, work: Work, h: Real):
    """If the pull on a root exceeds its limit, apply just the limit. Returns True if the solve must be repeated.

    The force's limit is `assist` body weights; the couple's is that force at the tree's radius of gyration.

    Reads: A.LIMITED, A.PULL_LIMIT, A.mode, S.behaviour, W.MIDDLE, W.MOMENTUM, W.PULL
    Writes: A.HELD, A.LIMITED
    """
    again = False
    pose = pose_of(work, W.MIDDLE)
    for root in tree.roots:
        if not _guided(tree, state, aim, root) or aim.body[root, A.LIMITED] != 0.0:
            continue
        mass, center, _, _ = tree_momentum(tree, pose, root, work.body, W.MOMENTUM)
        inertia = locked_inertia(tree, pose, root, mass, center)
        radius = math.sqrt((inertia[0] + inertia[1] + inertia[2]) / (2.0 * mass))
        limit = aim.body[root, A.PULL_LIMIT] * mass * STANDARD_GRAVITY * h
        d = tree.dof[root]
        couple = _length(work.rate[W.PULL], d)
        force = _length(work.rate[W.PULL], d + 3)
        if couple > limit * radius or force > limit:
            again = True
            aim.body[root, A.LIMITED] = 1.0
            for k in range(3):
                aim.rate[A.HELD, d + k] = work.rate[W.PULL, d + k] * min(1.0, limit * radius / max(couple, 1e-300))
                aim.rate[A.HELD, d + 3 + k] = work.rate[W.PULL, d + 3 + k] * min(1.0, limit / max(force, 1e-300))
    return again


@kernel
def _length(v, d):
    return math.sqrt(v[d] * v[d] + v[d + 1] * v[d + 1] + v[d + 2] * v[d + 2])


@kernel
def stiffen_turns(tree, aim, root, block):
    """S D S with S above 1 for a root's rotation: the spring is stiffer for rotation than for translation."""
    first = tree.dof[root]
    for r in range(6):
        for c in range(6):
            turns = (aim.body[root, A.STIFFER] if r < 3 else 1.0) * (aim.body[root, A.STIFFER] if c < 3 else 1.0)
            block[first + r, c] *= turns
