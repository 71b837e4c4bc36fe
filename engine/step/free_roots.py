"""Free roots: the momentum of a free tree is conserved (METHODS §1a, §1b).

Owns a free tree's rotation, the motion of its centre of mass and its momentum after the step: linear and angular
momentum exactly, the centre of mass on its ballistic curve. Must not know what the joints inside do, only their mean
rates.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Real, Vector
from ..contact.joint_space import load_bodies
from ..dynamics.kinematics import apply_inertia, locked_inertia, momenta, tree_momentum, velocities
from ..math.vectors import (
    add,
    axpy,
    cross,
    dot,
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
from ..model.model import FREE
from ..tables import aim as A, pose as P, rows as R, state as S, tree as T, work as W
from ..tables.classes import Aim, State, Touch, Tree, Work
from ..tables.work import pose_of

# Fixed-point iterations of the implicit midpoint rule for the root's rotation; the largest rotation at a time [rad],
# and the largest number of parts: a light body that is struck spins a hundred times a frame.
ROUNDS = 6
FAR, MAX_PARTS = 0.25, 128


@kernel
def is_free(tree, aim, root):
    return tree.kind[root] == FREE and aim.mode[root] == A.LOOSE


@kernel
def any_free(tree, aim):
    for root in tree.roots:
        if is_free(tree, aim, root):
            return True
    return False


@separate
def turn_roots(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, h: Real):
    """Turn each free root such that the tree's angular momentum is conserved at its joints' mean rates.

    The depth correction has no momentum: the joints' part of it does not turn the root, which has its own.

    Reads: A.DRIFT_SECANT, A.mode, S.SPIN, W.MEAN, W.MIDDLE, W.MOMENTUM, W.MOTION, W.NOW, W.SHIFTED, W.X1
    Writes: W.MEAN, W.MOMENTUM, W.MOTION, W.NEW, W.X1
    """
    now, pose = pose_of(work, W.NOW), pose_of(work, W.MIDDLE)
    inside = work.rate[W.X1]
    for d in range(len(inside)):
        inside[d] = work.rate[W.MEAN, d]
        if touch is not None:
            inside[d] -= work.rate[W.SHIFTED, d] / h
    for root in tree.roots:
        if is_free(tree, aim, root):
            for d in range(tree.dof[root], tree.dof[root + 1]):
                inside[d] = work.rate[W.MEAN, d] = 0.0
    velocities(tree, pose, inside, aim.body, A.DRIFT_SECANT, work.body, W.MOTION)
    momenta(tree, pose, work.body, W.MOTION, work.body, W.MOMENTUM)
    for root in tree.roots:
        if not is_free(tree, aim, root):
            continue
        _, _, _, carried = tree_momentum(tree, now, root, state.body, S.SPIN)
        mass, center, _, inner = tree_momentum(tree, pose, root, work.body, W.MOMENTUM)
        inertia = locked_inertia(tree, pose, root, mass, center)
        # a push acts throughout the step: half of it has acted at the middle
        carried = axpy(0.5, pushed(tree, touch, root, center)[1], carried)
        start, guess = load4(now.body, root, P.ROTATION), load4(pose.body, root, P.ROTATION)
        turn = quat_mul(start, quat_conj(guess))
        w = rotate(turn, symmetric_solve(inertia, sub(unrotate(turn, carried), inner)))
        parts = 1 + int(min(MAX_PARTS - 1.0, h * math.sqrt(dot(w, w)) / FAR))
        q = guess
        for _ in range(parts):
            for _ in range(ROUNDS):
                # the tree turns rigidly with its root: rotate L instead of the tree
                turn = quat_mul(q, quat_conj(guess))
                w = rotate(turn, symmetric_solve(inertia, sub(unrotate(turn, carried), inner)))
                q = quat_mul(quat_exp(scale(0.5 * h / parts, w)), start)
            start = q = quat_mul(quat_exp(scale(h / parts, w)), start)
        if touch is not None:
            q = quat_mul(q, quat_exp(load3(work.rate, W.SHIFTED, tree.dof[root])))
        store4(work.body, root, W.NEW, quat_unit(quat_mul(quat_conj(load4(tree.body, root, T.REST)), q)))


@kernel
def half_way(tree, state, aim, work, h, gravity):
    """Anchors at the middle pose: each free tree's centre of mass half way along its path without pushes."""
    for root in tree.roots:
        if is_free(tree, aim, root):
            mass, before, linear, _ = tree_momentum(tree, pose_of(work, W.NOW), root, state.body, S.SPIN)
            _, after, _, _ = tree_momentum(tree, pose_of(work, W.MIDDLE), root, state.body, S.SPIN)
            way = axpy(0.5 * h / mass, linear, scale(0.25 * h * h, gravity))
            store3(work.body, root, W.NEW_ANCHOR, add(add(load3(state.body, root, S.ANCHOR), sub(before, after)), way))


@separate
def place_roots(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, h: Real, gravity: Vector):
    """Place the centre of mass of each free tree by its momentum, gravity and the depth correction.

    Reads: A.mode, R.BLOCKS, R.BODY_A, R.BODY_B, R.ON_A, R.ON_B, R.SHIFT, S.ANCHOR, S.SPIN, W.FINAL, W.LOAD, W.NOW
    Writes: W.LOAD, W.NEW_ANCHOR
    """
    if touch is not None:
        load_bodies(tree, touch.rows, work, R.SHIFT)
    for root in tree.roots:
        if is_free(tree, aim, root):
            mass, before, linear, _ = tree_momentum(tree, pose_of(work, W.NOW), root, state.body, S.SPIN)
            _, after, _, _ = tree_momentum(tree, pose_of(work, W.FINAL), root, state.body, S.SPIN)
            linear = axpy(0.5, pushed(tree, touch, root, before)[0], linear)
            shift = axpy(h / mass, linear, scale(0.5 * h * h, gravity))
            if touch is not None:
                shift = axpy(1.0 / mass, _shifted(tree, work, root), shift)
            store3(
                work.body, root, W.NEW_ANCHOR, add(add(load3(state.body, root, S.ANCHOR), sub(before, after)), shift)
            )


@kernel
def _shifted(tree, work, root):
    """A tree's displacement by the depth correction, times its mass; LOAD holds the bodies' parts."""
    total = (0.0, 0.0, 0.0)
    for i in range(root, tree.last[root] + 1):
        total = add(total, load3(work.body, i, W.LOAD + 3))
    return total


@separate
def balance_roots(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, h: Real, gravity: Vector):
    """Give each free tree at its end pose exactly the momentum it carries, by a rigid correction.

    Reads: A.mode, CT.force, S.SPIN, W.ENDS, W.FINAL, W.MIDDLE, W.MOMENTUM, W.MOTION, W.NOW
    Writes: W.ENDS, W.MOMENTUM, W.MOTION
    """
    pose = pose_of(work, W.FINAL)
    momenta(tree, pose, work.body, W.MOTION, work.body, W.MOMENTUM)
    for root in tree.roots:
        if is_free(tree, aim, root):
            mass, _, p0, l0 = tree_momentum(tree, pose_of(work, W.NOW), root, state.body, S.SPIN)
            _, center, _, _ = tree_momentum(tree, pose_of(work, W.MIDDLE), root, work.body, W.MOMENTUM)
            push, couple = pushed(tree, touch, root, center)
            p1, l1 = add(axpy(h * mass, gravity, p0), push), add(l0, couple)
            give_momentum(tree, work, pose, root, p1, l1)


@kernel
def pushed(tree, touch, root, center):
    """The impulse of contacts and ties on a tree in this step: linear, and angular about `center`."""
    push = couple = (0.0, 0.0, 0.0)
    if touch is not None:
        for i in range(root, tree.last[root] + 1):
            couple = add(couple, load3(touch.force, i, 0))
            push = add(push, load3(touch.force, i, 3))
    return push, sub(couple, cross(center, push))


@kernel
def give_momentum(tree, work, pose, root, linear, angular):
    """Add the rigid motion that gives the tree these momenta, to its rates, velocities and momenta."""
    mass, center, p1, l1 = tree_momentum(tree, pose, root, work.body, W.MOMENTUM)
    dw = symmetric_solve(locked_inertia(tree, pose, root, mass, center), sub(angular, l1))
    dv = scale(1.0 / mass, sub(linear, p1))
    # velocity of the point at the root anchor, to which spatial vectors refer
    add_rigid(tree, work, pose, root, dw, add(dv, cross(center, dw)))


@kernel
def add_rigid(tree, work, pose, root, dw, du):
    """Add a rigid motion to a tree's rates, velocities and momenta; `du` is the root anchor's velocity."""
    turn = unrotate(load4(pose.body, root, P.ROTATION), dw)
    d = tree.dof[root]
    for k in range(3):
        work.rate[W.ENDS, d + k] += turn[k]
        work.rate[W.ENDS, d + 3 + k] += du[k]
    for i in range(root, tree.last[root] + 1):
        for k in range(3):
            work.body[i, W.MOTION + k] += dw[k]
            work.body[i, W.MOTION + 3 + k] += du[k]
        angular_gain, linear_gain = apply_inertia(tree, pose, i, dw, du)
        spin_gain = sub(angular_gain, cross(load3(pose.body, i, P.COM), linear_gain))
        store3(work.body, i, W.MOMENTUM, add(load3(work.body, i, W.MOMENTUM), spin_gain))
        store3(work.body, i, W.MOMENTUM + 3, add(load3(work.body, i, W.MOMENTUM + 3), linear_gain))
