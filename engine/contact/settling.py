"""Settling: damp a ragdoll that lies on something and hardly moves, until it rests.

Owns how long each tree has been calm and how fast calm trees lose their motion. Must not know how contacts are found,
or sleep.

A soft body on the ground does not creep, roll and sway for seconds as rigid bodies do: skin sticks, flesh deforms. So a
ragdoll that lies on something, and in which nothing was faster than CALM for SETTLE_AFTER seconds, loses speed at a
rate that grows with the time of calm. A body that still falls becomes faster than CALM in less than a tenth of a
second, while the rate is low, which ends the damping. A body that creeps comes to a stop, as with dry friction. A large
body that topples slowly is not calm, because its centre of mass is not above its support (`support`).

Fingers, toes and hair ends may move in a calm body: bodies with less than CRUMB of the mass do not count.
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

# Limits for a body's centre of mass [parts of √(g · size)], and for a joint [rad/s]: a person is calm below 0.45 m/s.
CALM, CALM_TURN = 0.11, 5.0
# Relative to the tree's mass: a body is ignored if it and its descendants have less.
CRUMB = 0.006
# [s] time of calm before damping starts, and time from there until the rate is SETTLE_RATE.
SETTLE_AFTER, SETTLE_RAMP = 0.05, 0.05
# A centre of mass outside its support by at most this share of the size counts as above it.
BESIDE = 0.02
# Lower rates become 0: halved for ever they would become denormal numbers, which are slow [rad/s, m/s].
NOTHING = 1e-15
# [1/s] damping rate, beyond which it grows with the square of the time.
SETTLE_RATE = 30.0


@kernel
def note_calm(tree, state, work, touch, rate, gravity, dt):
    """QUIET of the roots of ragdolls: the seconds for which the tree was calm and balanced. rate (nv,): the mean rates
    of the frame that ends."""
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
    """True if a tree's centre of mass is above its support, within a share of its size."""
    pull = math.sqrt(dot(gravity, gravity))
    if pull == 0.0:
        return True
    center = (0.0, 0.0, 0.0)
    for i in range(root, tree.last[root] + 1):
        center = axpy(tree.body[i, T.MASS] / touch.rows.mass[root], load3(pose.body, i, P.COM), center)
    return is_borne(touch, root, center, scale(-1.0 / pull, gravity), BESIDE * touch.limit[CT.PLANT] / CT.PLANT_SHARE)


@kernel
def _settle_rate(calm):
    """The damping rate of a tree [1/s] after this time of calm [s]."""
    ramp = (calm - SETTLE_AFTER) / SETTLE_RAMP
    return SETTLE_RATE * ramp * ramp


@kernel
def note_disturbed(state, work, rows, column):
    """Limit QUIET of trees that a contact pushes, with impulses in `column`: a body that moves, or was calm for less
    time, disturbs the one it touches. MOTION holds the bodies' velocities."""
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
    """The time for which the tree of body i was calm [s]; infinite for trees that do not move by themselves."""
    if rows.ragdoll[rows.root[i]] != SCENERY:
        return state.body[rows.root[i], S.QUIET]
    v = load6(work.body, i, W.MOTION)
    return math.inf if i == 0 or dot6(v, v) == 0.0 else 0.0


@kernel
def settle_moves(tree, state, work, touch, h):
    """Reduce the turns of settling ragdolls' joints in this step, and their depth corrections: what they gain within
    the step would not be damped at its end."""
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
    """Damp settling ragdolls at the end of the step.

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
    """True if something outside supports a tree."""
    for b in range(rows.count[R.BLOCKS]):
        if rows.link[b, R.WHAT] == R.CONTACT and rows.block[b, R.TOTAL] > 0.0:
            one, other = rows.root[rows.link[b, R.BODY_A]], rows.root[rows.link[b, R.BODY_B]]
            if one != other and root in (one, other):
                return True
    return False
