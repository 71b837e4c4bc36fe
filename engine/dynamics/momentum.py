"""Carry spatial momenta through a step, from pose to pose (METHODS §1b).

Owns the transport of momenta and spins between poses, and the remainder on the joints. Must not know which joints are
loose, nor how loads are handled.

The gyroscopic terms (Coriolis) come in two halves, from the momenta: once at the middle pose, once at the end pose.
That is the midpoint rule: energy is conserved to second order, and loose joints end with a projection, which is stable.
"""

from __future__ import annotations

import math

from ..compile.decorators import inlined, separate
from ..compile.kernel_types import Column, Real, Row, Table
from ..math.vectors import (
    add,
    axpy,
    cross,
    dot,
    load3,
    load4,
    load6,
    rotate,
    scale,
    store3,
    store6,
    sub,
    symmetric_apply,
    unrotate,
)
from ..tables import aim as A, pose as P, state as S, tree as T, work as W
from ..tables.classes import Aim, Pose, State, Tree, Work
from ..tables.work import pose_of
from .articulated import generalized
from .kinematics import apply_inertia, momenta, velocities

# Share of a spin's energy that may leak in half a step before the spin is turned with its body.
LEAK = 0.01


@separate
def leftover(
    tree: Tree, pose: Pose, table: Table, spin: Column, rates: Row, drifts: Table, drift: Column, work: Work, g: Row
):
    """g: the generalized part of momenta (from column `spin` of `table`) minus those of moving at `rates`."""
    velocities(tree, pose, rates, drifts, drift, work.body, W.MOTION)
    for i in range(1, len(tree.parent)):
        w, u = load3(work.body, i, W.MOTION), load3(work.body, i, W.MOTION + 3)
        angular, p = apply_inertia(tree, pose, i, w, u)
        q = load3(table, i, spin + 3)
        about = add(load3(table, i, spin), cross(load3(pose.body, i, P.COM), q))
        store6(work.body, i, W.LOAD, sub(about, angular), sub(q, p))
    generalized(tree, pose, work.body, W.LOAD, g)


@separate
def turn_spins(
    tree: Tree,
    here: Pose,
    there: Pose,
    table: Table,
    spin: Column,
    own: Column,
    motion: Column,
    half: Real,
    out: Table,
    column: Column,
):
    """Carry spins from one pose to another with the bodies, and let them precess for `half` seconds.

    A spin without torque is constant in the world, and for short steps that is second order. But the spin of a thin
    body, kept constant while joints turn the body, leaks into its light axis, where it means a high speed. If more than
    a little of its energy would change that way, the spin turns with its body instead, the gyroscopic couple is added,
    and its energy is restored: such a step cannot accelerate a loose tree. Column `spin` of `table` is carried;
    `motion` holds velocities and `own` the spins that belong to them, `here`.
    """
    for i in range(1, len(tree.parent)):
        q = load4(here.body, i, P.ROTATION)
        inverse = load6(tree.body, i, T.INVERSE)
        s = unrotate(q, load3(table, i, spin))
        couple = unrotate(q, cross(load3(table, i, motion), load3(table, i, own)))
        turned = axpy(-half, couple, s)
        fixed = unrotate(load4(there.body, i, P.ROTATION), load3(table, i, spin))
        energy = dot(s, symmetric_apply(inverse, s))
        gained = dot(turned, symmetric_apply(inverse, turned))
        if gained > 0.0:
            turned = scale(math.sqrt(energy / gained), turned)
        if energy > 0.0:
            # second order while little leaks, stable if much would
            leak = (dot(fixed, symmetric_apply(inverse, fixed)) / energy - 1.0) / LEAK
            turned = axpy(1.0 / (1.0 + leak * leak), sub(fixed, turned), turned)
        store3(out, i, column, rotate(load4(there.body, i, P.ROTATION), turned))


@inlined
def bring_momenta(tree, state, work, middle, h):
    """CARRIED: the bodies' momenta, transported from the step's start to its middle."""
    now = pose_of(work, W.NOW)
    velocities(tree, now, state.rate[S.V], state.body, S.DRIFT, work.body, W.MOTION)
    for i in range(1, len(tree.parent)):
        store6(work.body, i, W.MOMENTUM, load3(state.body, i, S.SPIN), load3(state.body, i, S.LINEAR))
        store3(work.body, i, W.CARRIED + 3, load3(state.body, i, S.LINEAR))
    turn_spins(tree, now, middle, work.body, W.MOMENTUM, W.MOMENTUM, W.MOTION, 0.5 * h, work.body, W.CARRIED)


@separate
def carry_over(
    tree: Tree, state: State, aim: Aim, work: Work, middle: Pose, final: Pose, start: Row, ends: Row, h: Real
):
    """CARRIED, the start's momenta at the middle, becomes the step's at its end.

    The joints' impulses that project the momenta at the middle act for the whole step, so they count twice (the
    midpoint rule): momenta of `ends` plus those of `start` minus CARRIED, transported from the middle to the final
    pose.
    """
    velocities(tree, middle, start, state.body, S.DRIFT, work.body, W.MOTION)
    momenta(tree, middle, work.body, W.MOTION, work.body, W.MOMENTUM)
    velocities(tree, middle, ends, aim.body, A.GOAL_DRIFT, work.body, W.MOTION)
    momenta(tree, middle, work.body, W.MOTION, work.body, W.MOMENTUM2)
    for i in range(1, len(tree.parent)):
        for k in range(6):
            both = work.body[i, W.MOMENTUM + k] + work.body[i, W.MOMENTUM2 + k]
            work.body[i, W.MOMENTUM + k] = both - work.body[i, W.CARRIED + k]
            work.body[i, W.CARRIED + k] = work.body[i, W.MOMENTUM + k]
    turn_spins(tree, middle, final, work.body, W.MOMENTUM, W.MOMENTUM2, W.MOTION, 0.5 * h, work.body, W.CARRIED)
