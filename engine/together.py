"""Free trees that push one another keep their angular momentum between them (METHODS §1b).

Owns what a group of trees has in common; each tree's own momentum is `roots`'. Must not
know how pushes are found.

A push acts on both trees at one point, so it keeps what they have together. The shift out
of depth does not: it moves places under momenta that stay, and Σ r × p goes with r. What
is gained or lost is given back by turning the group as one body, which no contact within
it feels, and which costs the least energy.
"""

from __future__ import annotations

from .jit import kernel, part
from .kinematics import locked_inertia, tree_momentum
from .roots import add_rigid, is_free
from .rows import island_of
from .spatial import add, axpy, cross, dot, load3, scale, sub, symmetric_solve
from .state import ANCHOR, FINAL, MOMENTUM, NEW_ANCHOR, NOW, SPIN, WAY, pose_of
from .touch import BLOCKS, BODY_A, BODY_B, LIMIT, SHIFT, TOTAL, WHAT, WINDY


@part
def balance_together(tree, state, aim, work, touch, h):
    """Give each group of free trees at its end exactly the angular momentum it carries."""
    if touch is None:
        return
    _find_groups(tree, aim, touch.rows)
    for head in tree.roots:
        if touch.rows.tally[head] > 1:
            _turn_group(tree, state, work, touch, head, h)


@kernel
def _find_groups(tree, aim, rows):
    """island: the trees that pushed one another in this step, 0 where something else pushed as well;
    tally[head]: how many they are."""
    island, tally = rows.island, rows.tally
    for i in range(len(island)):
        island[i] = tally[i] = 0
    for root in tree.roots:
        if is_free(tree, aim, root):
            island[root] = root
    for b in range(rows.count[BLOCKS]):
        if rows.link[b, WHAT] != LIMIT and _pushes(rows.block, b):
            i = island_of(island, rows.root[rows.link[b, BODY_A]])
            j = island_of(island, rows.root[rows.link[b, BODY_B]])
            island[max(i, j)] = min(i, j)
    for root in tree.roots:
        tally[island_of(island, root)] += 1
    tally[0] = 0


@kernel
def _pushes(block, b):
    for r in range(3):
        if block[b, TOTAL + r] != 0.0 or block[b, SHIFT + r] != 0.0:
            return True
    return False


@kernel
def _turn_group(tree, state, work, touch, head, h):
    """Add the rigid turn about the group's centre of mass that brings its angular momentum to what it was."""
    final, none = pose_of(work, FINAL), (0.0, 0.0, 0.0)
    mass, before, linear, carried = _group(tree, touch.rows, head, pose_of(work, NOW), state.body, ANCHOR, SPIN)
    _, center, _, found = _group(tree, touch.rows, head, final, work.body, NEW_ANCHOR, MOMENTUM)
    inertia = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    wind = none
    for root in tree.roots:
        if island_of(touch.rows.island, root) == head:
            m, own, _, _ = tree_momentum(tree, final, root, work.body, MOMENTUM)
            arm = sub(add(load3(work.body, root, NEW_ANCHOR), own), center)
            inertia = _add_point(inertia, locked_inertia(tree, final, root, m, own), m, arm)
            if touch.rows.count[WINDY] > 0:
                start = add(load3(state.body, root, ANCHOR), load3(work.body, root, WAY))
                wind = add(wind, _wind(tree, touch.drag, root, sub(start, axpy(0.5 * h / mass, linear, before))))
    i, k = inertia
    missing = sub(add(carried, wind), found)
    turn = symmetric_solve((i[0], i[1], i[2], k[0], k[1], k[2]), missing)
    for root in tree.roots:
        if island_of(touch.rows.island, root) == head:
            arm = sub(load3(work.body, root, NEW_ANCHOR), center)
            add_rigid(tree, work, final, root, turn, cross(turn, arm))


@kernel
def _group(tree, rows, head, pose, table, anchors, spin):
    """Mass, centre of mass in the world, linear momentum, and angular momentum about that centre, of a group."""
    mass = 0.0
    moment = total = angular = (0.0, 0.0, 0.0)
    for root in tree.roots:
        if island_of(rows.island, root) == head:
            m, center, linear, own = tree_momentum(tree, pose, root, table, spin)
            center = add(center, load3(table, root, anchors))
            mass += m
            moment = axpy(m, center, moment)
            total = add(total, linear)
            angular = add(angular, add(own, cross(center, linear)))
    center = scale(1.0 / mass, moment)
    return mass, center, total, sub(angular, cross(center, total))


@kernel
def _add_point(inertia, own, mass, arm):
    """An inertia (diagonal, rest) with a tree's added that is `arm` away."""
    diagonal, rest = inertia
    square = mass * dot(arm, arm)
    x, y, z = arm
    diagonal = add(
        diagonal, (own[0] + square - mass * x * x, own[1] + square - mass * y * y, own[2] + square - mass * z * z)
    )
    return diagonal, add(rest, (own[3] - mass * x * y, own[4] - mass * x * z, own[5] - mass * y * z))


@kernel
def _wind(tree, drag, root, arm):
    """What the wind gives a tree whose root anchor is `arm` away, as an angular impulse."""
    push = couple = (0.0, 0.0, 0.0)
    for i in range(root, tree.last[root] + 1):
        couple = add(couple, load3(drag, i, 0))
        push = add(push, load3(drag, i, 3))
    return add(couple, cross(arm, push))
