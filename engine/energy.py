"""Energy: a tree that nothing drives gains none but from what pushes it.

Owns the balance of energy over a step of a limp tree, and what is done where the step's
rounding of curves (large turns, light bodies that carry heavy ones) breaks it. Must not
know how the step came about.
"""

from __future__ import annotations

import math

from .jit import kernel, part
from .kinematics import locked_inertia, momenta, tree_energy, tree_momentum, velocities
from .model import FREE
from .roots import give_momentum
from .rows import row_rate
from .spatial import (
    add,
    dot,
    dot6,
    load3,
    load6,
    sub,
    symmetric_solve,
)
from .state import (
    ANCHOR,
    DRIFT_SECANT,
    ENDS,
    FINAL,
    GIVEN,
    GOAL_DRIFT,
    LIMITED,
    LOOSE,
    MIDDLE,
    MOMENTUM,
    MOTION,
    NEW_ANCHOR,
    NOW,
    SPIN,
    STILL,
    STOPS,
    X1,
    V,
    pose_of,
)
from .touch import BLOCKS, BODY_A, BODY_B, TIE, TOTAL, WHAT
from .tree import COM, MASS

# What counts as rounding, of the energy there is.
ROUNDING = 1e-12


@kernel
def is_limp(tree, aim, root):
    """Whether nothing in the tree is driven or moved by keys."""
    for i in range(root, tree.last[root] + 1):
        # a spent drive still gives what it has
        if tree.dof[i + 1] > tree.dof[i] and (aim.mode[i] != LOOSE or aim.body[i, LIMITED] != 0.0):
            return False
        if tree.kind[i] != FREE:
            drift = load3(aim.body, i, DRIFT_SECANT)
            if dot(drift, drift) > 0.0:
                return False
    return True


@part
def note_work(tree, state, aim, work, touch):
    """GIVEN of each limp tree: what contacts, ties, limits and wind do on it in the step, from the mean rates
    at the middle pose.

    What does not move can only take energy: where a contact seems to give some to the two it is between,
    and where a tie gives or takes any, that does not count.
    """
    for root in tree.roots:
        work.body[root, GIVEN] = 0.0
    if touch is None:
        return
    rate, rows = work.rate, touch.rows
    for d in range(len(rate[X1])):
        rate[X1, d] = 0.5 * (state.rate[V, d] + rate[ENDS, d])
    velocities(tree, pose_of(work, MIDDLE), rate[X1], work.body, STILL, work.body, MOTION)
    for root in tree.roots:
        for i in range(root, tree.last[root] + 1):
            work.body[root, GIVEN] += dot6(load6(touch.force, i, 0), load6(work.body, i, MOTION))
        for d in range(tree.dof[root], tree.dof[tree.last[root] + 1]):
            work.body[root, GIVEN] += rate[STOPS, d] * rate[X1, d]
    for b in range(rows.count[BLOCKS]):
        given = 0.0
        for r in range(3):
            if rows.block[b, TOTAL + r] != 0.0:
                mean = row_rate(tree.dof, rows.block, rows.link, b, r, work.body, MOTION, rate[X1])
                given += rows.block[b, TOTAL + r] * mean
        if given > 0.0 or rows.link[b, WHAT] == TIE:
            root = rows.root[rows.link[b, BODY_A]]
            if root == 0 or not is_limp(tree, aim, root):
                root = rows.root[rows.link[b, BODY_B]]
            work.body[root, GIVEN] -= given


@part
def keep_energy(tree, state, aim, work, gravity):
    """Where a limp tree would end with more energy than it had and was given, its joints are slowed until it
    has not; the momentum of a free tree stays."""
    now, pose = pose_of(work, NOW), pose_of(work, FINAL)
    for root in tree.roots:
        if tree.dof[tree.last[root] + 1] == tree.dof[root] or not is_limp(tree, aim, root):
            continue
        free = tree.kind[root] == FREE
        if free and tree.last[root] == root:
            continue
        allowed = 2.0 * (tree_energy(tree, now, root, state.body, SPIN) + work.body[root, GIVEN])
        lift = sub(load3(work.body, root, NEW_ANCHOR), load3(state.body, root, ANCHOR))
        for i in range(root, tree.last[root] + 1):
            way = add(lift, sub(load3(pose.body, i, COM), load3(now.body, i, COM)))
            allowed += 2.0 * tree.body[i, MASS] * dot(gravity, way)
        after = 2.0 * tree_energy(tree, pose, root, work.body, MOMENTUM)
        mass, center, linear, angular = tree_momentum(tree, pose, root, work.body, MOMENTUM)
        least = 0.0
        if free:
            # the tree turning as one piece has the least energy that its momentum leaves it
            turn = symmetric_solve(locked_inertia(tree, pose, root, mass, center), angular)
            least = dot(linear, linear) / mass + dot(angular, turn)
        if after <= allowed + ROUNDING * after or after <= least:
            continue
        slow = math.sqrt(max(0.0, allowed - least) / (after - least))
        for d in range(tree.dof[root + 1] if free else tree.dof[root], tree.dof[tree.last[root] + 1]):
            work.rate[ENDS, d] *= slow
        velocities(tree, pose, work.rate[ENDS], aim.body, GOAL_DRIFT, work.body, MOTION)
        momenta(tree, pose, work.body, MOTION, work.body, MOMENTUM)
        if free:
            give_momentum(tree, work, pose, root, linear, angular)
