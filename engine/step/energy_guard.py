"""Energy guard: a tree without drives gains no energy except from pushes.

Owns the energy balance of limp trees over a step, and the correction if the step's linearisation (large turns, light
bodies that carry heavy ones) violates it. Must not know how the step was computed.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Real, Vector
from ..contact.joint_space import row_rate
from ..dynamics.kinematics import momenta, tree_energy, velocities
from ..dynamics.tone import has_tone
from ..math.vectors import add, axpy, dot, dot6, load3, load6, scale, store3, sub, symmetric_solve
from ..model.model import FREE
from ..tables import aim as A, pose as P, rows as R, state as S, tree as T, work as W
from ..tables.classes import Aim, State, Touch, Tree, Work
from ..tables.work import pose_of
from .shared_momentum import group_inertia, group_momentum, is_head, join, pushes, turn_rigid

# Gains below this part of the energy count as rounding.
ROUNDING = 1e-12
# A step that gains more than this share of the reference energy (their motion, a fall by their size) is not taken.
TOO_MUCH = 3e-3
# FIXED: a resting body pushes the group; a moving one does, too; a joint connects it to the world.
LEANS, PUSHED, HUNG = 1.0, 2.0, 3.0


@kernel
def is_limp(tree, aim, root):
    """True if nothing in the tree is driven or moved by keys."""
    for i in range(root, tree.last[root] + 1):
        # a saturated drive still gives its maximum
        if tree.dof[i + 1] > tree.dof[i] and (aim.mode[i] != A.LOOSE or aim.body[i, A.LIMITED] != 0.0):
            return False
        if tree.kind[i] != FREE:
            drift = load3(aim.body, i, A.DRIFT_SECANT)
            if dot(drift, drift) > 0.0:
                return False
    return True


@separate
def note_work(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None):
    """GIVEN of each limp tree: the work of contacts, ties, limits, wind and tone on it in the step, from the mean rates
    at the middle pose.

    A resting body can only take energy. If a contact seems to add energy to its two bodies, and if a tie adds or takes
    any, that is not counted.

    Reads: A.DRIFT_SECANT, A.LIMITED, A.TONE, A.mode, CT.force, R.BLOCKS, R.BODY_A, R.BODY_B, R.ON_A, R.ON_B, R.OWN,
        R.TOTAL, R.WHAT, R.root, S.V, W.ENDS, W.GIVEN, W.MIDDLE, W.MOTION, W.STILL, W.STOPS, W.TONED, W.X1
    Writes: W.GIVEN, W.MOTION, W.X1
    """
    rate = work.rate
    for d in range(len(rate[W.X1])):
        rate[W.X1, d] = 0.5 * (state.rate[S.V, d] + rate[W.ENDS, d])
    for root in tree.roots:
        work.body[root, W.GIVEN] = 0.0
        for i in range(root, tree.last[root] + 1):
            if has_tone(aim, i):
                for d in range(tree.dof[i], tree.dof[i + 1]):
                    work.body[root, W.GIVEN] += rate[W.TONED, d] * rate[W.X1, d]
    if touch is None:
        return
    rows = touch.rows
    velocities(tree, pose_of(work, W.MIDDLE), rate[W.X1], work.body, W.STILL, work.body, W.MOTION)
    for root in tree.roots:
        for i in range(root, tree.last[root] + 1):
            work.body[root, W.GIVEN] += dot6(load6(touch.force, i, 0), load6(work.body, i, W.MOTION))
        for d in range(tree.dof[root], tree.dof[tree.last[root] + 1]):
            work.body[root, W.GIVEN] += rate[W.STOPS, d] * rate[W.X1, d]
    for b in range(rows.count[R.BLOCKS]):
        given = 0.0
        for r in range(3):
            if rows.block[b, R.TOTAL + r] != 0.0:
                mean = row_rate(tree.dof, rows.block, rows.link, b, r, work.body, W.MOTION, rate[W.X1])
                given += rows.block[b, R.TOTAL + r] * mean
        if given > 0.0 or rows.link[b, R.WHAT] == R.TIE:
            root = rows.root[rows.link[b, R.BODY_A]]
            if root == 0 or not is_limp(tree, aim, root):
                root = rows.root[rows.link[b, R.BODY_B]]
            work.body[root, W.GIVEN] -= given


@separate
def keep_energy(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, h: Real, gravity: Vector):
    """Slow limp trees that push one another until they have no more energy than they had and were given: rigidly, so
    that ties and contacts between them are unaffected.

    Returns False if that is impossible: if they have risen, or contracted, beyond their energy.

    Reads: A.DRIFT_SECANT, A.GOAL_DRIFT, A.LIMITED, A.mode, R.BLOCKS, R.BODY_A, R.BODY_B, R.SHIFT, R.TOTAL, R.root,
        S.ANCHOR, S.SPIN, W.ENDS, W.FINAL, W.FIXED, W.GIVEN, W.GROUP, W.MOMENTUM, W.MOTION, W.NEW_ANCHOR, W.NOW
    Writes: W.ENDS, W.FIXED, W.GROUP, W.MOMENTUM, W.MOTION, W.NEW_ANCHOR
    """
    _find_groups(tree, aim, work, touch)
    possible = True
    for head in tree.roots:
        if is_head(work, head):
            possible = _balance(tree, state, aim, work, head, h, gravity) and possible
    return possible


@kernel
def _find_groups(tree, aim, work, touch):
    """GROUP of the limp trees' roots, and FIXED of the groups' first."""
    for root in tree.roots:
        moves = tree.dof[tree.last[root] + 1] > tree.dof[root]
        work.body[root, W.GROUP] = root if moves and is_limp(tree, aim, root) else 0
        work.body[root, W.FIXED] = 0.0
    if touch is not None:
        _join_pushed(tree, work, touch.rows)
    for root in tree.roots:
        if work.body[root, W.GROUP] > 0.0 and tree.kind[root] != FREE:
            work.body[int(work.body[root, W.GROUP]), W.FIXED] = HUNG


@kernel
def _join_pushed(tree, work, rows):
    """Trees that push one another are a group. A resting body fixes those it pushes, unless they are moved too."""
    for b in range(rows.count[R.BLOCKS]):
        i, j = rows.root[rows.link[b, R.BODY_A]], rows.root[rows.link[b, R.BODY_B]]
        if pushes(rows.block, b) and work.body[i, W.GROUP] > 0.0 and work.body[j, W.GROUP] > 0.0:
            join(tree, work, i, j)
    for b in range(rows.count[R.BLOCKS]):
        i, j = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B]
        one, other = int(work.body[rows.root[i], W.GROUP]), int(work.body[rows.root[j], W.GROUP])
        if pushes(rows.block, b) and (one > 0) != (other > 0):
            v = load6(work.body, j if one > 0 else i, W.MOTION)
            head = max(one, other)
            work.body[head, W.FIXED] = max(work.body[head, W.FIXED], LEANS if dot6(v, v) == 0.0 else PUSHED)


@kernel
def _balance(tree, state, aim, work, head, h, gravity):
    """Slow a group until it has no more energy than allowed. Returns False if that is impossible."""
    now, pose = pose_of(work, W.NOW), pose_of(work, W.FINAL)
    allowed = after = stake = mass = fallen = 0.0
    for root in tree.roots:
        if work.body[root, W.GROUP] == head:
            before = tree_energy(tree, now, root, state.body, S.SPIN)
            lift = sub(load3(work.body, root, W.NEW_ANCHOR), load3(state.body, root, S.ANCHOR))
            allowed += before + work.body[root, W.GIVEN]
            stake += before
            for i in range(root, tree.last[root] + 1):
                way = add(lift, sub(load3(pose.body, i, P.COM), load3(now.body, i, P.COM)))
                fallen += tree.body[i, T.MASS] * dot(gravity, way)
                mass += tree.body[i, T.MASS]
                inertia = load3(pose.body, i, P.WORLD_INERTIA)
                size = math.sqrt(0.5 * (inertia[0] + inertia[1] + inertia[2]) / tree.body[i, T.MASS])
                stake += tree.body[i, T.MASS] * math.sqrt(dot(gravity, gravity)) * size
            after += tree_energy(tree, pose, root, work.body, W.MOMENTUM)
    allowed += fallen
    if after <= allowed + ROUNDING * after:
        return True
    least = 0.0
    center = drift = turn = (0.0, 0.0, 0.0)
    held = work.body[head, W.FIXED] == LEANS or work.body[head, W.FIXED] == HUNG
    if not held:
        # moving rigidly they have the least energy for their momentum
        _, center, linear, angular = group_momentum(tree, work, head, pose, work.body, W.NEW_ANCHOR, W.MOMENTUM)
        turn = symmetric_solve(group_inertia(tree, work, head, center), angular)
        drift = scale(1.0 / mass, linear)
        least = 0.5 * (dot(linear, drift) + dot(angular, turn))
    if after > least * (1.0 + ROUNDING):
        slow = math.sqrt(max(0.0, allowed - least) / (after - least))
        for root in tree.roots:
            if work.body[root, W.GROUP] == head:
                for d in range(tree.dof[root], tree.dof[tree.last[root] + 1]):
                    work.rate[W.ENDS, d] *= slow
        velocities(tree, pose, work.rate[W.ENDS], aim.body, A.GOAL_DRIFT, work.body, W.MOTION)
        momenta(tree, pose, work.body, W.MOTION, work.body, W.MOMENTUM)
        if not held:
            turn_rigid(tree, work, head, center, scale(1.0 - slow, drift), scale(1.0 - slow, turn))
    possible = least - allowed <= TOO_MUCH * stake
    if possible and work.body[head, W.FIXED] == LEANS:
        _lower(tree, work, head, mass, min(least - allowed, -fallen), gravity)
    return possible


@kernel
def _lower(tree, work, head, mass, lifted, gravity):
    """Lower a group by the height of `lifted` [J], if that is positive: the depth correction of resting bodies must not
    lift them."""
    square = dot(gravity, gravity)
    if lifted <= 0.0 or square == 0.0:
        return
    for root in tree.roots:
        if work.body[root, W.GROUP] == head:
            place = axpy(lifted / (mass * square), gravity, load3(work.body, root, W.NEW_ANCHOR))
            store3(work.body, root, W.NEW_ANCHOR, place)
