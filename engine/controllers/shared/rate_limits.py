"""Limit the speed of characters that met another: joints relative to their motion, bones in the world.

Owns the share of a joint's rates that is kept if it, or its bone, would be too fast. Must not know which characters
met, nor how rates arise.

Many contacts on a hand or a foot are solved to an accuracy relative to the trunk's load, which is much for a finger.
Speeds also add up along an arm. So a joint loses speed by friction against its own motion. The momentum that the tree
would lose is given to its free root, which moves and turns rigidly with the rest. A guided or led root absorbs it by
its guidance, and a guided root is limited like a bone. If that would add energy, which is possible while limp links
spin on, joints are braked one by one instead (`step_size`), which never adds any.
"""

from __future__ import annotations

import math

from ...compile.decorators import kernel
from ...dynamics.kinematics import locked_inertia, momenta, tree_energy, tree_momentum, velocities
from ...math.vectors import (
    add,
    axpy,
    cross,
    dot,
    load3,
    load4,
    quat_conj,
    quat_mul,
    right_jacobian,
    scale,
    store3,
    sub,
    symmetric_solve,
    unrotate,
)
from ...model.model import BALL, FREE
from ...tables import aim as A, control as C, pose as P, sample as SA, state as S, work as W
from ...tables.work import factor_of, pose_of
from ..on_time.arrivals import expected

# The fastest rotation of a bone in the world [rad/s] by contacts, and on its way back, unless its parent and its own
# motion turn it faster.
BONE_RATE, BACK_RATE = 16.0, 10.0


@kernel
def note_rates(tree, state, aim, work, i):
    """Set OWN_RATE of joint i, the rate of its motion at the joint's present pose, and BONE_TURN of its bone, parents
    first."""
    rate = load3(aim.body, i, A.FROM + SA.RATE)
    if tree.kind[i] >= BALL:
        off = quat_mul(quat_conj(load4(aim.body, i, A.FROM + SA.VALUE)), load4(state.body, i, S.COORDS))
        rate = unrotate(off, rate)
    store3(work.body, i, W.OWN_RATE, rate)
    turn = load3(work.body, tree.parent[i], W.BONE_TURN) if tree.parent[i] > 0 else (0.0, 0.0, 0.0)
    pose = pose_of(work, W.NOW)
    for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
        turn = axpy(state.rate[S.V, d], load3(pose.axes, d, 0), turn)
    store3(work.body, i, W.BONE_TURN, turn)


@kernel
def _in_world(tree, pose, i, rates):
    """A joint's rates as the rotation of its bone relative to its parent, world axes."""
    first, out = tree.dof[i], (0.0, 0.0, 0.0)
    for k in range(min(3, tree.dof[i + 1] - first)):
        out = axpy(rates[k], load3(pose.axes, first + k, 0), out)
    return out


@kernel
def die_away(tree, state, aim, work, i, h):
    """A joint's error and its rate after a step of h seconds, in closed form. A joint that is off its motion since its
    character met another comes back no faster than joints and bones may turn there, unless it has a deadline."""
    u, g, du, dg = load4(aim.body, i, A.RESPONSE)
    e, de = load3(state.body, i, S.ERROR), load3(state.body, i, S.ERROR + 3)
    e1, de1 = axpy(u, e, scale(g, de)), axpy(du, e, scale(dg, de))
    fastest = work.body[i, W.FASTEST]
    if fastest == math.inf or tree.parent[i] == 0 or expected(state, i):
        return e1, de1
    pose = pose_of(work, W.NOW)
    own = _in_world(tree, pose, i, load3(work.body, i, W.OWN_RATE))
    before = add(load3(work.body, tree.parent[i], W.BONE_TURN), own)
    mean = scale(1.0 / h, sub(e1, e))
    de1 = scale(_share_of_error(tree, pose, before, i, e1, de1, fastest), de1)
    return axpy(h * _share_of_error(tree, pose, before, i, e1, mean, fastest), mean, e), de1


@kernel
def _share_of_error(tree, pose, before, i, e, rate, fastest):
    """The share of an error's rate that joint i keeps."""
    if tree.kind[i] >= BALL:
        rate = right_jacobian(e, rate)
    return _share_kept(before, _in_world(tree, pose, i, rate), fastest, BACK_RATE)


@kernel
def hold_rates(tree, state, work, pose, factor, base, change):
    """Limit joints to FASTEST off their motion, and bones to BONE_RATE, at rates base + change, by reducing `change`.
    The factor is that of `pose`. Returns True if any was limited."""
    any_held = False
    for root in tree.roots:
        if work.body[root, W.FASTEST] < math.inf:
            any_held = _hold_tree(tree, state, work, pose, factor, base, change, root) or any_held
    return any_held


@kernel
def _hold_tree(tree, state, work, pose, factor, base, change, root):
    """The same for one tree, from its root outward."""
    held = False
    less = work.rate[W.G]
    for d in range(len(less)):
        less[d] = 0.0
    for i in range(root, tree.last[root] + 1):
        first, end = tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])
        before = load3(work.body, tree.parent[i], W.BONE_TURN) if i > root else (0.0, 0.0, 0.0)
        before = add(before, _in_world(tree, pose, i, load3(work.body, i, W.OWN_RATE)))
        off = (0.0, 0.0, 0.0)
        for d in range(first, end):
            more = base[d] + change[d] - work.body[i, W.OWN_RATE + d - first]
            off = axpy(more, load3(pose.axes, d, 0), off)
        if factor.active[i] and (state.behaviour[i] == C.SIMULATED or state.behaviour[i] == C.ASSIST):
            fastest = work.body[i, W.FASTEST]
            bone = BONE_RATE if fastest < math.inf else math.inf
            share = _share_kept(before, off, fastest if i > root else BONE_RATE, bone)
            if share < 1.0:
                held = True
                off = scale(share, off)
                for d in range(first, end):
                    less[d] = (share - 1.0) * (base[d] + change[d] - work.body[i, W.OWN_RATE + d - first])
                    change[d] += less[d]
        store3(work.body, i, W.BONE_TURN, add(before, off))
    if held and factor.active[root] and tree.kind[root] == FREE:
        if state.behaviour[root] == C.LIMP:
            _give_back(tree, work, pose, change, root)
        if _hangs_limp(tree, state, root):
            after = _energy(tree, work, pose, base, change, root)
            _add(tree, -1.0, less, change, root)
            held = after <= _energy(tree, work, pose, base, change, root)
            if held:
                _add(tree, 1.0, less, change, root)
    return held


@kernel
def _hangs_limp(tree, state, root):
    """True if a link of a tree is limp: nothing holds its rate."""
    for i in range(root + 1, tree.last[root] + 1):
        if state.behaviour[i] == C.LIMP:
            return True
    return False


@kernel
def _add(tree, times, less, change, root):
    """Add `times` · `less` to the changes of a tree's rates."""
    for d in range(tree.dof[root], tree.dof[tree.last[root] + 1]):
        change[d] += times * less[d]


@kernel
def _energy(tree, work, pose, base, change, root):
    """Kinetic energy of a tree at rates base + change [J]."""
    rate = work.rate[W.X1]
    for d in range(len(rate)):
        rate[d] = base[d] + change[d]
    velocities(tree, pose, rate, work.body, W.STILL, work.body, W.MOTION)
    momenta(tree, pose, work.body, W.MOTION, work.body, W.MOMENTUM)
    return tree_energy(tree, pose, root, work.body, W.MOMENTUM)


@kernel
def most_held(tree, state, work, i):
    """The fastest rate of a joint of a ragdoll, or of a character that met another, including its motion's own rate."""
    if state.behaviour[i] == C.LIMP:
        return work.body[i, W.FASTEST]
    if work.body[i, W.FASTEST] == math.inf or tree.parent[i] == 0 or state.behaviour[i] != C.SIMULATED:
        return math.inf
    own = load3(work.body, i, W.OWN_RATE)
    return work.body[i, W.FASTEST] + math.sqrt(dot(own, own))


@kernel
def _share_kept(before, off, fastest, bone):
    """The share of the rates `off` that a joint keeps, such that they stay below `fastest`, and those of its bone,
    which turns by `before` without them, below `bone` or its present rate."""
    square, along, anyhow = dot(off, off), dot(before, off), dot(before, before)
    if square == 0.0:
        return 1.0
    share = min(1.0, fastest / math.sqrt(square))
    room = max(bone * bone - anyhow, 0.0)
    # |before + share · off| = bone
    if 2.0 * share * along + share * share * square > room:
        share = max(0.0, (math.sqrt(along * along + square * room) - along) / square)
    return share


@kernel
def hold_ways(tree, state, work):
    """Limit the turns of joints of a character that met another within the step: contacts also shift positions out of
    depth, which no rate shows."""
    factor = factor_of(work, W.MAIN)
    for i in range(1, len(tree.parent)):
        if work.body[i, W.FASTEST] == math.inf or tree.parent[i] == 0:
            continue
        if factor.active[i] and state.behaviour[i] == C.SIMULATED:
            first, end = tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])
            square, most = 0.0, work.body[i, W.FASTEST]
            for d in range(first, end):
                square += work.rate[W.MEAN, d] ** 2
            if square > most * most:
                for d in range(first, end):
                    work.rate[W.MEAN, d] *= most / math.sqrt(square)


@kernel
def _give_back(tree, work, pose, change, root):
    """Move a tree rigidly, so that it keeps the momentum that slowing its joints by `G` would remove."""
    velocities(tree, pose, work.rate[W.G], work.body, W.STILL, work.body, W.MOTION)
    momenta(tree, pose, work.body, W.MOTION, work.body, W.MOMENTUM)
    mass, center, linear, angular = tree_momentum(tree, pose, root, work.body, W.MOMENTUM)
    turn = scale(-1.0, symmetric_solve(locked_inertia(tree, pose, root, mass, center), angular))
    # velocity of the point at the root anchor, to which spatial vectors refer
    go = add(scale(-1.0 / mass, linear), cross(center, turn))
    turn = unrotate(load4(pose.body, root, P.ROTATION), turn)
    d = tree.dof[root]
    for k in range(3):
        work.rate[W.G, d + k], work.rate[W.G, d + 3 + k] = turn[k], go[k]
        change[d + k] += turn[k]
        change[d + 3 + k] += go[k]
