"""Angular momentum of free trees that push one another is conserved together (METHODS §1b).

Owns the common momentum of a group of trees; each tree's own momentum is in `free_roots`. Must not know how pushes are
found.

A push acts on both trees at one point, so it conserves their common momentum. The depth correction does not: it moves
positions while momenta stay, and Σ r × p changes with r. The difference is given back by rotating the group rigidly,
which no contact inside it feels, and which costs the least energy.
"""

from __future__ import annotations

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Real
from ..dynamics.kinematics import locked_inertia, tree_momentum
from ..math.vectors import add, axpy, cross, dot, load3, scale, sub, symmetric_solve
from ..tables import rows as R, state as S, work as W
from ..tables.classes import Aim, State, Touch, Tree, Work
from ..tables.work import pose_of
from .free_roots import add_rigid, is_free


@separate
def balance_together(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, h: Real):
    """Give each group of free trees at its end exactly the angular momentum it carries.

    Reads: A.mode, CT.drag, R.BLOCKS, R.BODY_A, R.BODY_B, R.SHIFT, R.TOTAL, R.WHAT, R.WINDY, R.root, S.ANCHOR, S.SPIN,
        W.ENDS, W.FINAL, W.GROUP, W.MOMENTUM, W.MOTION, W.NEW_ANCHOR, W.NOW, W.WAY
    Writes: W.ENDS, W.GROUP, W.MOMENTUM, W.MOTION
    """
    if touch is None:
        return
    rows = touch.rows
    for root in tree.roots:
        work.body[root, W.GROUP] = root if is_free(tree, aim, root) else 0
    for b in range(rows.count[R.BLOCKS]):
        if rows.link[b, R.WHAT] != R.LIMIT and pushes(rows.block, b):
            # if something else pushes as well, there is nothing to conserve
            join(tree, work, rows.root[rows.link[b, R.BODY_A]], rows.root[rows.link[b, R.BODY_B]])
    for head in tree.roots:
        if is_head(work, head) and _size(tree, work, head) > 1:
            _turn_group(tree, state, work, touch, head, h)


@kernel
def is_head(work, root):
    """True if the root is the first of a group."""
    return work.body[root, W.GROUP] == root


@kernel
def join(tree, work, a, b):
    """Join the groups of two roots; 0 for roots without a group."""
    one, other = work.body[a, W.GROUP] if a > 0 else 0.0, work.body[b, W.GROUP] if b > 0 else 0.0
    for root in tree.roots:
        if work.body[root, W.GROUP] > 0.0 and work.body[root, W.GROUP] == max(one, other):
            work.body[root, W.GROUP] = min(one, other)


@kernel
def _size(tree, work, head):
    trees = 0
    for root in tree.roots:
        if work.body[root, W.GROUP] == head:
            trees += 1
    return trees


@kernel
def pushes(block, b):
    """True if a block had any effect in this step, on rates or positions."""
    for r in range(3):
        if block[b, R.TOTAL + r] != 0.0 or block[b, R.SHIFT + r] != 0.0:
            return True
    return False


@kernel
def _turn_group(tree, state, work, touch, head, h):
    """Add the rigid rotation about the group's centre of mass that restores its angular momentum."""
    final = pose_of(work, W.FINAL)
    mass, before, linear, carried = group_momentum(tree, work, head, pose_of(work, W.NOW), state.body, S.ANCHOR, S.SPIN)
    _, center, _, found = group_momentum(tree, work, head, final, work.body, W.NEW_ANCHOR, W.MOMENTUM)
    wind = (0.0, 0.0, 0.0)
    if touch.rows.count[R.WINDY] > 0:
        for root in tree.roots:
            if work.body[root, W.GROUP] == head:
                start = add(load3(state.body, root, S.ANCHOR), load3(work.body, root, W.WAY))
                wind = add(wind, _wind(tree, touch.drag, root, sub(start, axpy(0.5 * h / mass, linear, before))))
    missing = sub(add(carried, wind), found)
    turn_rigid(
        tree, work, head, center, (0.0, 0.0, 0.0), symmetric_solve(group_inertia(tree, work, head, center), missing)
    )


@kernel
def turn_rigid(tree, work, head, center, drift, turn):
    """Add a rigid motion about `center` to a group."""
    final = pose_of(work, W.FINAL)
    for root in tree.roots:
        if work.body[root, W.GROUP] == head:
            arm = sub(load3(work.body, root, W.NEW_ANCHOR), center)
            add_rigid(tree, work, final, root, turn, add(drift, cross(turn, arm)))


@kernel
def group_momentum(tree, work, head, pose, table, anchors, spin):
    """Mass, centre of mass in the world, linear momentum, and angular momentum about that centre, of a group."""
    mass = 0.0
    moment = total = angular = (0.0, 0.0, 0.0)
    for root in tree.roots:
        if work.body[root, W.GROUP] == head:
            m, center, linear, own = tree_momentum(tree, pose, root, table, spin)
            center = add(center, load3(table, root, anchors))
            mass += m
            moment = axpy(m, center, moment)
            total = add(total, linear)
            angular = add(angular, add(own, cross(center, linear)))
    center = scale(1.0 / mass, moment)
    return mass, center, total, sub(angular, cross(center, total))


@kernel
def group_inertia(tree, work, head, center):
    """Inertia of a group frozen in its end pose, about its centre of mass (xx, yy, zz, xy, xz, yz)."""
    final = pose_of(work, W.FINAL)
    diagonal = rest = (0.0, 0.0, 0.0)
    for root in tree.roots:
        if work.body[root, W.GROUP] == head:
            mass, own, _, _ = tree_momentum(tree, final, root, work.body, W.MOMENTUM)
            arm = sub(add(load3(work.body, root, W.NEW_ANCHOR), own), center)
            diagonal, rest = _add_point(diagonal, rest, locked_inertia(tree, final, root, mass, own), mass, arm)
    return diagonal[0], diagonal[1], diagonal[2], rest[0], rest[1], rest[2]


@kernel
def _add_point(diagonal, rest, own, mass, arm):
    """An inertia plus that of a tree at distance `arm`."""
    square = mass * dot(arm, arm)
    x, y, z = arm
    diagonal = add(
        diagonal, (own[0] + square - mass * x * x, own[1] + square - mass * y * y, own[2] + square - mass * z * z)
    )
    return diagonal, add(rest, (own[3] - mass * x * y, own[4] - mass * x * z, own[5] - mass * y * z))


@kernel
def _wind(tree, drag, root, arm):
    """The wind's angular impulse on a tree whose root anchor is at `arm`."""
    push = couple = (0.0, 0.0, 0.0)
    for i in range(root, tree.last[root] + 1):
        couple = add(couple, load3(drag, i, 0))
        push = add(push, load3(drag, i, 3))
    return add(couple, cross(arm, push))
