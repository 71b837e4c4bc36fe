"""Close ties at the end of a step, in position and in velocity.

Owns the corrections of ties besides the step's own solve, whose rows are linear while bodies turn. Must not know other
impulses, nor how rows are made or solved.

This is the RATTLE scheme. Impulses in the middle of the step are added until the ties are closed at its end (a tie's
impulse moves positions by half a step), then impulses at the end until the ties have no velocity there. Both act on the
two bodies at one point and time, so momentum is conserved. Both use the matrix of the step's solve, which is half a
step away: accurate enough to converge in a few rounds.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Real, Vector
from ..contact.island_solver import solve_ties, tie_rows
from ..contact.joint_space import give, row_rate
from ..contact.sustained import note_forces
from ..contact.tie_rows import aim_tie, tie_error
from ..dynamics.joints import advance, joint_rates
from ..dynamics.kinematics import forward, momenta, place_bodies, velocities
from ..math.vectors import load4, store4
from ..model.model import FREE
from ..tables import aim as A, contacts as CT, rows as R, work as W
from ..tables.classes import Aim, State, Touch, Tree, Work
from ..tables.work import factor_of, pose_of
from .free_roots import any_free, is_free, place_roots, turn_roots

ROUNDS = 8
# Ties with smaller errors are closed [m, rad], with smaller rates at rest [m/s, rad/s].
CLOSED, STILL_ENOUGH = 1e-10, 1e-9
# Ties with larger errors or rates at the start of a step were not closed by the step before [m, rad; in a step].
OPEN = 1e-6
# A round that leaves more than this share has failed: the ties cannot all be closed.
VAIN = 0.5
# A round may turn no joint by more than this [rad].
FAR = 0.3


@separate
def close_ties(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, h: Real, gravity: Vector):
    """Add impulses in the middle until ties are closed at the end pose; where they cannot be, none.

    Ties that were open when the step began are closed by moving positions only, without a force. Returns True if the
    ties that were closed still are.

    Reads: A.mode, CT.AHEAD, CT.drag, H.TIE_KIND, H.TIE_LENGTH, H.TIE_POINT_A, H.TIE_POINT_B, H.TIE_TURN, R.BLOCKS,
        R.BODY_A, R.BODY_B, R.CLOSING, R.ERROR_NOW, R.FORCE, R.FREE_RATE, R.ON_A, R.ON_B, R.OWN, R.SOURCE, R.SPEED_NOW,
        R.STAYS, R.TIED, R.TOTAL, R.TURNING, R.WHAT, R.order, R.tally, R.tied, W.ANSWER, W.ENDS, W.FINAL, W.LOAD,
        W.LOADED_RATE, W.MAIN, W.MEAN, W.MIDDLE, W.NEW, W.NEW_ANCHOR
    Writes: CT.AHEAD, CT.force, R.CLOSING, R.FORCE, R.FREE_RATE, R.TOTAL, W.ANSWER, W.ENDS, W.FINAL, W.LOAD,
        W.LOADED_RATE, W.MAIN, W.MEAN, W.NEW, W.NEW_ANCHOR
    """
    if touch is None:
        return True
    if touch.rows.count[R.TIED] == 0:
        return True
    push = _whole(touch, h)
    if not push and touch.rows.count[R.STAYS] != 0:
        return True
    before = math.inf
    for _ in range(ROUNDS):
        off = _errors(tree, work, touch)
        if off > VAIN * before:
            _move_on(tree, state, aim, work, touch, push, -1.0, h, gravity)
            return not push or before <= OPEN
        if off <= CLOSED:
            return True
        before = off
        _solve(tree, touch)
        give(tree, pose_of(work, W.MIDDLE), factor_of(work, W.MAIN), touch.rows, work, R.CLOSING, work.rate[W.ANSWER])
        if _largest_turn(tree, work) > FAR:
            return not push
        _move_on(tree, state, aim, work, touch, push, 1.0, h, gravity)
    return not push or before <= OPEN


@kernel
def _whole(touch, h):
    """True if ties were closed and at rest when the step began."""
    block, largest = touch.rows.block, 0.0
    for b in range(touch.rows.count[R.BLOCKS]):
        if touch.rows.link[b, R.WHAT] == R.TIE:
            for r in range(3):
                largest = max(largest, abs(block[b, R.ERROR_NOW + r]), h * abs(block[b, R.SPEED_NOW + r]))
    return largest < OPEN


@kernel
def _errors(tree, work, touch):
    """FREE_RATE: the errors of the ties at the end pose. Returns the largest."""
    rows, where = touch.rows, touch.found.where[CT.AHEAD]
    place_bodies(tree, pose_of(work, W.FINAL), work.body, W.NEW_ANCHOR, where)
    largest = 0.0
    at = 0
    for x in range(rows.count[R.BLOCKS]):
        b = rows.order[x]
        if at < rows.count[R.TIED] and rows.link[b, R.WHAT] == R.TIE:
            error = tie_error(touch.holds, rows, where, b)
            for r in range(3):
                rows.row[R.FREE_RATE, at + r] = error[r]
                largest = max(largest, abs(error[r]))
            at += 3
    return largest


@kernel
def _solve(tree, touch):
    """CLOSING of the ties' blocks: impulses that cancel FREE_RATE, island by island; 0 for other blocks."""
    rows = touch.rows
    for b in range(rows.count[R.BLOCKS]):
        for r in range(3):
            rows.block[b, R.CLOSING + r] = 0.0
    first = at = 0
    for head in tree.roots:
        end = rows.tally[head]
        if end > first:
            ties = tie_rows(rows, first, end)
            solve_ties(rows, at, ties)
            for k in range(ties):
                rows.block[rows.order[first + k // 3], R.CLOSING + k % 3] = rows.row[R.FORCE, at + k]
            at += ties
            first = end


@kernel
def _largest_turn(tree, work):
    largest = 0.0
    for i in range(1, len(tree.parent)):
        for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
            largest = max(largest, abs(work.rate[W.ANSWER, d]))
    return largest


@kernel
def _move_on(tree, state, aim, work, touch, push, sign, h, gravity):
    """Move positions by ±ANSWER. With `push` these are impulses, added to rates, momenta and forces as if solved at
    once."""
    final = pose_of(work, W.FINAL)
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        if aim.mode[i] == A.PRESCRIBED:
            continue
        if push:
            for k in range(d, tree.dof[i + 1]):
                work.rate[W.ENDS, k] += sign * 2.0 / h * work.rate[W.ANSWER, k]
                work.rate[W.MEAN, k] += sign / h * work.rate[W.ANSWER, k]
        if not (push and is_free(tree, aim, i)):
            w = joint_rates(kind, work.rate, W.ANSWER, d)
            store4(work.body, i, W.NEW, advance(kind, load4(work.body, i, W.NEW), w, sign))
            if kind == FREE:
                for k in range(3):
                    work.body[i, W.NEW_ANCHOR + k] += sign * work.rate[W.ANSWER, d + 3 + k]
    free = push and any_free(tree, aim)
    if push:
        _add_up(tree, work, touch, sign * 2.0 / h)
    if free:
        turn_roots(tree, state, aim, work, touch, h)
    forward(tree, work.body, W.NEW, W.NEW_ANCHOR, final)
    if free:
        place_roots(tree, state, aim, work, touch, h, gravity)


@kernel
def _add_up(tree, work, touch, times):
    for b in range(touch.rows.count[R.BLOCKS]):
        for r in range(3):
            touch.rows.block[b, R.TOTAL + r] += times * touch.rows.block[b, R.CLOSING + r]
    note_forces(tree, work, touch)


@separate
def still_ties(tree: Tree, aim: Aim, work: Work, touch: Touch | None, h: Real):
    """Add impulses at the end pose until ties have no rates there; where that is impossible, none.

    Reads: A.GOAL_DRIFT, CT.AHEAD, CT.drag, H.ACTS_AT, H.TIE_KIND, H.TIE_POINT_A, H.TIE_POINT_B, R.BLOCKS, R.BODY_A,
        R.BODY_B, R.CLOSING, R.FORCE, R.FREE_RATE, R.ON_A, R.ON_B, R.OWN, R.SOURCE, R.TIED, R.TOTAL, R.TURNING, R.WHAT,
        R.order, R.root, R.tally, R.tied, W.ANSWER, W.ENDS, W.FINAL, W.LOAD, W.LOADED_RATE, W.MAIN, W.MOTION,
        W.NEW_ANCHOR
    Writes: CT.AHEAD, CT.force, R.CLOSING, R.FORCE, R.FREE_RATE, R.ON_A, R.ON_B, R.TOTAL, W.ANSWER, W.ENDS, W.LOAD,
        W.LOADED_RATE, W.MAIN, W.MOMENTUM, W.MOTION
    """
    if touch is None:
        return
    rows = touch.rows
    if rows.count[R.TIED] == 0:
        return
    pose, rate = pose_of(work, W.FINAL), work.rate
    place_bodies(tree, pose, work.body, W.NEW_ANCHOR, touch.found.where[CT.AHEAD])
    for b in range(rows.count[R.BLOCKS]):
        if rows.link[b, R.WHAT] == R.TIE:
            aim_tie(touch.holds, rows, touch.found.where[CT.AHEAD], b)
    before = math.inf
    for _ in range(ROUNDS):
        speed = _speeds(tree, work, touch)
        sign = -1.0 if speed > VAIN * before else 1.0
        if sign > 0.0:
            if speed <= STILL_ENOUGH:
                return
            _solve(tree, touch)
            give(tree, pose, factor_of(work, W.MAIN), rows, work, R.CLOSING, rate[W.ANSWER])
            if h * _largest_turn(tree, work) > FAR:
                return
        before = speed
        for d in range(len(rate[W.ANSWER])):
            rate[W.ENDS, d] += sign * rate[W.ANSWER, d]
        velocities(tree, pose, rate[W.ENDS], aim.body, A.GOAL_DRIFT, work.body, W.MOTION)
        momenta(tree, pose, work.body, W.MOTION, work.body, W.MOMENTUM)
        _add_up(tree, work, touch, sign)
        if sign < 0.0:
            return


@kernel
def _speeds(tree, work, touch):
    """FREE_RATE: the ties' rates at the end pose. Returns the largest."""
    rows = touch.rows
    largest = 0.0
    at = 0
    for x in range(rows.count[R.BLOCKS]):
        b = rows.order[x]
        if at < rows.count[R.TIED] and rows.link[b, R.WHAT] == R.TIE:
            for r in range(3):
                speed = row_rate(tree.dof, rows.block, rows.link, b, r, work.body, W.MOTION, work.rate[W.ENDS])
                rows.row[R.FREE_RATE, at + r] = speed
                largest = max(largest, abs(speed))
            at += 3
    return largest
