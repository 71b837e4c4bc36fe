"""Free roots: a tree that nothing holds keeps its momentum (METHODS §1a, §1b).

Owns how a free tree turns, where its centre of mass goes and what its momentum is
after the step: linear and angular momentum exactly, the centre of mass on its
ballistic curve. Must not know what the joints inside do, only their mean rates.
"""

from __future__ import annotations

from .jit import kernel
from .kinematics import locked_inertia, momenta, tree_momentum, velocities
from .model import FREE
from .spatial import (
    add,
    axpy,
    cross,
    load3,
    load4,
    quat_conj,
    quat_exp,
    quat_mul,
    quat_unit,
    rotate,
    scale,
    store3,
    store4,
    sub,
    symmetric_solve,
    unrotate,
)
from .state import LOOSE

# Fixed-point rounds of the implicit midpoint rule on the root's turn.
ROUNDS = 6


@kernel
def _is_free(tree, aim, root):
    return tree.kind[root] == FREE and aim.mode[root] == LOOSE


@kernel
def turn_roots(tree, state, aim, work, h):
    """Turn each free root so that the tree's angular momentum holds at the mean rates of its joints."""
    any_free = False
    for root in tree.roots:
        if _is_free(tree, aim, root):
            any_free = True
            for d in range(tree.dof[root], tree.dof[root + 1]):
                work.mean[d] = 0.0
    if not any_free:
        return
    pose = work.middle
    velocities(tree, pose, work.mean, aim.drift_secant, work.motion)
    momenta(tree, pose, work.motion, work.spin, work.linear)
    for root in tree.roots:
        if not _is_free(tree, aim, root):
            continue
        _, _, _, carried = tree_momentum(tree, work.now, root, state.spin, state.linear)
        mass, center, _, inner = tree_momentum(tree, pose, root, work.spin, work.linear)
        inertia = locked_inertia(tree, pose, root, mass, center)
        start = load4(work.now.rotation, root)
        guess = load4(pose.rotation, root)
        w = (0.0, 0.0, 0.0)
        q = guess
        for _ in range(ROUNDS):
            # the whole tree turns rigidly with its root: rotate L instead of the tree
            turn = quat_mul(q, quat_conj(guess))
            w = rotate(turn, symmetric_solve(inertia, sub(unrotate(turn, carried), inner)))
            q = quat_mul(quat_exp(scale(0.5 * h, w)), start)
        q = quat_mul(quat_exp(scale(h, w)), start)
        rest = load4(tree.rest, root)
        store4(work.coords, root, quat_unit(quat_mul(quat_conj(rest), q)))


@kernel
def place_roots(tree, state, aim, work, h, gravity):
    """Put the centre of mass of each free tree where its momentum and gravity carry it."""
    for root in tree.roots:
        if not _is_free(tree, aim, root):
            continue
        mass, before, linear, _ = tree_momentum(tree, work.now, root, state.spin, state.linear)
        _, after, _, _ = tree_momentum(tree, work.end, root, state.spin, state.linear)
        shift = axpy(h / mass, linear, scale(0.5 * h * h, gravity))
        store3(work.anchors, root, add(add(load3(state.anchors, root), sub(before, after)), shift))


@kernel
def balance_roots(tree, state, aim, work, h, gravity):
    """Give each free tree at its end pose exactly the momentum it carries: a rigid correction."""
    any_free = False
    for root in tree.roots:
        any_free = any_free or _is_free(tree, aim, root)
    if not any_free:
        return
    pose = work.end
    momenta(tree, pose, work.motion, work.spin, work.linear)
    for root in tree.roots:
        if not _is_free(tree, aim, root):
            continue
        _, _, p0, l0 = tree_momentum(tree, work.now, root, state.spin, state.linear)
        mass, center, p1, l1 = tree_momentum(tree, pose, root, work.spin, work.linear)
        dw = symmetric_solve(locked_inertia(tree, pose, root, mass, center), sub(l0, l1))
        dv = axpy(h, gravity, scale(1.0 / mass, sub(p0, p1)))
        # velocity of the point at the root anchor, where the spatial vectors live
        du = add(dv, cross(center, dw))
        turn = unrotate(load4(pose.rotation, root), dw)
        d = tree.dof[root]
        for k in range(3):
            work.ends[d + k] += turn[k]
            work.ends[d + 3 + k] += du[k]
        for i in range(root, tree.last[root] + 1):
            for k in range(3):
                work.motion[i, k] += dw[k]
                work.motion[i, 3 + k] += du[k]
