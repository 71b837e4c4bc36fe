"""Settling: damp a ragdoll that lies on something and hardly moves, until it rests.

Owns how long each tree has been calm and how fast calm trees lose their motion. Must not know how contacts are found,
or sleep.

A body of flesh on the ground does not creep, roll and sway on for seconds as rigid bodies do: skin sticks, flesh
deforms. So a ragdoll that lies on something, and in which nothing was faster than CALM for SETTLE_AFTER seconds, loses
speed at a rate that grows with the time it is calm. Whatever still falls gets faster than CALM while the rate is low,
in less than a tenth of a second, which ends it. What creeps on comes to a stop, as dry friction would have it. A large
body that topples slowly is not calm, as its centre of mass is not above what bears it (`borne`).

Fingers, toes and ends of hair do not keep a body from being calm: bodies with less than CRUMB of the mass.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Real
from ..dynamics.kinematics import momenta, velocities
from ..dynamics.tone import GRAVITY
from ..math.vectors import add, axpy, cross, dot, dot6, load3, load6, scale
from ..model.model import FREE
from ..tables import aim as A, contacts as CT, pose as P, rows as R, state as S, tree as T, work as W
from ..tables.classes import Aim, State, Touch, Tree, Work
from ..tables.work import pose_of
from .ragdoll import RAGDOLL, SCENERY
from .support import is_borne

# Of a body's centre of mass, in parts of √(g · size), and of a joint [rad/s]: a person is calm below 0.45 m/s.
CALM, CALM_TURN = 0.11, 5.0
# Of the tree's mass: a body that has no more, with all that hangs on it.
CRUMB = 0.006
# [s] calm until motion is taken, and from there until the rate is SETTLE_RATE.
SETTLE_AFTER, SETTLE_RAMP = 0.05, 0.05
# A centre of mass so far beside what bears it, as a share of the size, is above it all the same.
BESIDE = 0.02
# Rates below this are none: halved for ever they would become numbers that processors are slow with [rad/s, m/s].
NOTHING = 1e-15
# [1/s] of rates, after which the rate grows with the square of the time.
SETTLE_RATE = 30.0


@kernel
def note_calm(tree, state, work, touch, rate, gravity, dt):
    """QUIET of the roots of ragdolls: the seconds in which the tree was calm and not about to topple; `rate` (nv,): the
    mean rates of the frame that ends."""
    pose, rows = pose_of(work, W.NOW), touch.rows
    most = CALM * math.sqrt(GRAVITY * touch.limit[CT.PLANT] / CT.PLANT_SHARE)
    velocities(tree, pose, rate, state.body, S.DRIFT, work.body, W.MOTION)
    for root in tree.roots:
        calm = rows.ragdoll[root] == RAGDOLL and _is_calm(tree, work, rows, pose, rate, root, most)
        calm = calm and is_balanced(tree, touch, pose, root, gravity)
        state.body[root, S.QUIET] = state.body[root, S.QUIET] + dt if calm else 0.0


@kernel
def _is_calm(tree, work, rows, pose, rate, root, most):
    for i in range(root, tree.last[root] + 1):
        if rows.mass[i] < CRUMB * rows.mass[root]:
            continue
        v = add(load3(work.body, i, W.MOTION + 3), cross(load3(work.body, i, W.MOTION), load3(pose.body, i, P.COM)))
        if dot(v, v) > most * most:
            return False
        turn = 0.0
        for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
            turn += rate[d] * rate[d]
        if tree.kind[i] != FREE and turn > CALM_TURN * CALM_TURN:
            return False
    return True


@kernel
def is_balanced(tree, touch, pose, root, gravity):
    """Whether a tree's centre of mass is above what bears it, to within a share of its size."""
    pull = math.sqrt(dot(gravity, gravity))
    if pull == 0.0:
        return True
    center = (0.0, 0.0, 0.0)
    for i in range(root, tree.last[root] + 1):
        center = axpy(tree.body[i, T.MASS] / touch.rows.mass[root], load3(pose.body, i, P.COM), center)
    return is_borne(touch, root, center, scale(-1.0 / pull, gravity), BESIDE * touch.limit[CT.PLANT] / CT.PLANT_SHARE)


@kernel
def _settle_rate(calm):
    """How fast a tree loses its motion [1/s] that was calm for so long [s]."""
    ramp = (calm - SETTLE_AFTER) / SETTLE_RAMP
    return SETTLE_RATE * ramp * ramp


@kernel
def note_disturbed(state, work, rows, column):
    """QUIET of trees that a contact pushes, with impulses in `column`: what moves, or was calm for less long, disturbs
    what lies. MOTION holds the bodies' velocities."""
    for b in range(rows.count[R.BLOCKS]):
        i, j = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B]
        one, other = rows.root[i], rows.root[j]
        if rows.link[b, R.WHAT] == R.CONTACT and rows.block[b, column] > 0.0 and one != other:
            calm = min(_calm_of(state, work, rows, i), _calm_of(state, work, rows, j))
            state.body[one, S.QUIET] = min(state.body[one, S.QUIET], calm) if one > 0 else state.body[one, S.QUIET]
            state.body[other, S.QUIET] = (
                min(state.body[other, S.QUIET], calm) if other > 0 else state.body[other, S.QUIET]
            )


@kernel
def _calm_of(state, work, rows, i):
    """How long the tree of body i was calm [s]; without end for what stands still by itself."""
    if rows.ragdoll[rows.root[i]] != SCENERY:
        return state.body[rows.root[i], S.QUIET]
    v = load6(work.body, i, W.MOTION)
    return math.inf if i == 0 or dot6(v, v) == 0.0 else 0.0


@kernel
def settle_moves(tree, state, work, touch, h):
    """Joints of ragdolls that settle turn less in this step, and are shifted less out of depth: what they gain within
    the step they would not lose by its end."""
    if touch is None:
        return
    rows = touch.rows
    note_disturbed(state, work, rows, R.TOTAL)
    for root in tree.roots:
        slow = _slowed(state, rows, root, h)
        if slow < 1.0:
            for d in range(tree.dof[root], tree.dof[tree.last[root] + 1]):
                work.rate[W.MEAN, d] *= slow
                work.rate[W.SHIFTED, d] *= slow
            for b in range(rows.count[R.BLOCKS]):
                if rows.root[rows.link[b, R.BODY_A]] == root or rows.root[rows.link[b, R.BODY_B]] == root:
                    for r in range(3):
                        rows.block[b, R.SHIFT + r] *= slow


@separate
def settle_rates(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, h: Real):
    """Ragdolls that settle end the step slower.

    Reads: A.GOAL_DRIFT, R.BLOCKS, R.BODY_A, R.BODY_B, R.TOTAL, R.WHAT, R.ragdoll, R.root, S.QUIET, W.ENDS, W.FINAL,
        W.MOTION
    Writes: W.ENDS, W.MOMENTUM, W.MOTION
    """
    if touch is None:
        return
    settles = False
    for root in tree.roots:
        slow = _slowed(state, touch.rows, root, h)
        if slow < 1.0:
            settles = True
            for d in range(tree.dof[root], tree.dof[tree.last[root] + 1]):
                work.rate[W.ENDS, d] *= slow if abs(work.rate[W.ENDS, d]) > NOTHING else 0.0
    if settles:
        velocities(tree, pose_of(work, W.FINAL), work.rate[W.ENDS], aim.body, A.GOAL_DRIFT, work.body, W.MOTION)
        momenta(tree, pose_of(work, W.FINAL), work.body, W.MOTION, work.body, W.MOMENTUM)


@kernel
def _slowed(state, rows, root, h):
    """The share of its rates that a tree keeps over h seconds."""
    calm = state.body[root, S.QUIET]
    if rows.ragdoll[root] != RAGDOLL or calm <= SETTLE_AFTER or not _leans(rows, root):
        return 1.0
    return math.exp(-h * _settle_rate(calm))


@kernel
def _leans(rows, root):
    """Whether something outside bears a tree."""
    for b in range(rows.count[R.BLOCKS]):
        if rows.link[b, R.WHAT] == R.CONTACT and rows.block[b, R.TOTAL] > 0.0:
            one, other = rows.root[rows.link[b, R.BODY_A]], rows.root[rows.link[b, R.BODY_B]]
            if one != other and root in (one, other):
                return True
    return False
