"""Kernels of posing by dragging: one round of the solve that brings a pulled body to the mouse (S1-VII).

Owns the steps of a round, how far it goes, and whether it is accepted. Must not know the user interface, nor when to
stop.

A pose has no velocity here. A round finds the rotations x of all joints that minimise

    ½ (θ + x)ᵀ K (θ + x) + second-order terms of the mouse's spring and the weights

such that pins stay closed, locks hold and joints stay within their limits. θ leads from the start's pose to the present
one, so the pose depends on the mouse's position and not on its path. K = M + D weights rotations by the masses they
move: M as a free body would, D (the joints' own blocks of M) as joints that do not turn back when their end is pulled.
With weights the start's pose is not kept: θ = 0, and a round sinks by a small distance.

The second-order terms of forces (their geometric stiffness) make an arm that is too short come to rest on the line to
the mouse instead of swinging about it. Only pairs of a joint and its ancestor couple, so the factor is as sparse as the
tree (Featherstone's LᵀL): linear in bodies.
"""

from __future__ import annotations

import math

from ..compile.decorators import entry_point, kernel, separate
from ..compile.kernel_types import Flag, Index, Table
from ..dynamics.joints import advance, joint_rates
from ..dynamics.kinematics import forward
from ..math.vectors import add, axpy, dot, load3, load4, store3, store4
from ..model.model import FREE
from ..tables import pose as P, pull as PU, tree as T
from ..tables.classes import Pose, Pull, Tree
from .metric import assemble, factor_along, feel_weights, gather_forces, look_back, measure, solve_along, weighted
from .rows import (
    add_floor,
    add_joint_limits,
    add_locks,
    add_pins,
    add_pull,
    answer_rows,
    choose_rows,
    room_of,
    root_anchor,
)

# The compliance of the mouse's spring, relative to that of the pulled body.
SOFTNESS = 1e-4
# The largest rotation in a round [rad].
FAR = 0.4
# The initial WARY, its growth and decay factors, and the values that count as 0 and as too large.
WARY_FIRST, WARIER, BOLDER, BOLD, TOO_WARY = 1e-2, 4.0, 0.4, 1e-4, 1e9


@entry_point
def pull_round(tree: Tree, pose: Pose, pull: Pull, bound: Table, closing: Flag):
    """One round. closing: pins and limits only, without pulling. Returns the largest rotation [rad] (translations of
    roots count as rotations, by SIZE)."""
    forward(tree, pull.body, PU.COORDS, PU.ANCHOR, pose)
    held = not weighted(pull)
    if held:
        look_back(tree, pull)
    else:
        measure(tree, pose, pull)
        gather_forces(tree, pose, pull, False)
        feel_weights(tree, pose, pull)
    gather_forces(tree, pose, pull, True)
    # if forces push inward, the pose could fall to either side: without them it cannot
    assemble(tree, pose, pull, held, 0.0 if closing else 1.0)
    if not factor_along(pull):
        assemble(tree, pose, pull, held, 0.0)
        if not factor_along(pull):
            return math.nan
    load, step = pull.rate[PU.LOAD], pull.rate[PU.STEP]
    for d in range(len(load)):
        step[d] = 0.0 if closing or pull.body[pull.owner[d], PU.STILL] != 0.0 else load[d]
    solve_along(pull, step)
    pulled = add_pull(tree, pose, pull, 0, closing)
    count = add_locks(tree, pull, add_pins(tree, pose, pull, pulled))
    count = add_floor(tree, pose, pull, count)
    count = add_joint_limits(tree, pull, bound, count)
    answer_rows(pull, count)
    if pulled > 0 and pull.number[PU.SOFT] < 0.0:
        gives = SOFTNESS * max((pull.matrix[0, 0] + pull.matrix[1, 1] + pull.matrix[2, 2]) / 3.0, 1e-6)
        pull.number[PU.SOFT] = gives
        for r in range(3):
            pull.row[r, PU.GIVES] = gives
    solve_rows(pull, count, PU.STEP)
    largest = largest_turn(tree, pull, PU.STEP)
    if closing:
        take_step(tree, pull)
        return largest
    note_holding(pull, pulled)
    raise_penalty(pull, pulled, count)
    if largest > FAR:
        part_way(tree, pull, pulled, count)
    before = worth(tree, pose, pull, bound)
    keep(tree, pull)
    take_step(tree, pull)
    forward(tree, pull.body, PU.COORDS, PU.ANCHOR, pose)
    if held:
        look_back(tree, pull)
    after = worth(tree, pose, pull, bound)
    if after <= before + 1e-12 * abs(before):
        pull.number[PU.WARY] *= BOLDER
        if pull.number[PU.WARY] < BOLD:
            pull.number[PU.WARY] = 0.0
        return largest
    go_back(tree, pull)
    pull.number[PU.WARY] = max(WARIER * pull.number[PU.WARY], WARY_FIRST)
    return 0.0 if pull.number[PU.WARY] > TOO_WARY else largest


@kernel
def raise_penalty(pull, pulled, count):
    """Raise the penalty above the force of any pin or limit, so that opening one never pays."""
    for r in range(pulled, count):
        pull.number[PU.PENALTY] = max(pull.number[PU.PENALTY], 1.5 * abs(pull.row[r, PU.FORCE]))


@separate
def worth(tree: Tree, pose: Pose, pull: Pull, bound: Table):
    """The objective of the rounds: the way from the start, or height; the mouse's spring; open pins and limits."""
    total = 0.0
    if weighted(pull):
        fall = (pull.number[PU.FALL], pull.number[PU.FALL + 1], pull.number[PU.FALL + 2])
        for i in range(1, len(tree.parent)):
            place_ = add(root_anchor(tree, pull, i), load3(pose.body, i, P.COM))
            total -= tree.body[i, T.MASS] * dot(fall, place_)
    else:
        theta = pull.rate[PU.THETA]
        for d in range(len(theta)):
            total += 0.5 * pull.metric[d, d] * theta[d] * theta[d]
            e = pull.above[d]
            while e >= 0:
                total += pull.metric[d, e] * theta[d] * theta[e]
                e = pull.above[e]
    count = add_pull(tree, pose, pull, 0, False)
    for r in range(count):
        total += 0.5 * pull.row[r, PU.WANTED] * pull.row[r, PU.WANTED] / max(pull.row[r, PU.GIVES], 1e-12)
    count = add_locks(tree, pull, add_pins(tree, pose, pull, 0))
    for r in range(count):
        total += pull.number[PU.PENALTY] * abs(pull.row[r, PU.WANTED])
    count = add_joint_limits(tree, pull, bound, add_floor(tree, pose, pull, 0))
    for r in range(count):
        total += pull.number[PU.PENALTY] * max(pull.row[r, PU.WANTED], 0.0)
    return total


@kernel
def keep(tree, pull):
    for i in range(1, len(tree.parent)):
        store4(pull.body, i, PU.KEPT, load4(pull.body, i, PU.COORDS))
        store3(pull.body, i, PU.KEPT + 4, load3(pull.body, i, PU.ANCHOR))


@kernel
def go_back(tree, pull):
    for i in range(1, len(tree.parent)):
        store4(pull.body, i, PU.COORDS, load4(pull.body, i, PU.KEPT))
        store3(pull.body, i, PU.ANCHOR, load3(pull.body, i, PU.KEPT + 4))


@kernel
def solve_rows(pull, count, into):
    """Add the effect of the rows' forces to a row of rates."""
    choose_rows(pull, count)
    for r in range(count):
        if pull.row[r, PU.FORCE] != 0.0:
            for d in range(len(pull.above)):
                pull.rate[into, d] += pull.answer[r, d] * pull.row[r, PU.FORCE]


@separate
def part_way(tree: Tree, pull: Pull, pulled: Index, count: Index):
    """STEP becomes the closing of pins and limits plus the part of the rest that is not too large.

    Both satisfy the rows, so every combination does: a far pull does not open what must stay closed.
    """
    close, step = pull.rate[PU.CLOSE], pull.rate[PU.STEP]
    for d in range(len(close)):
        close[d] = 0.0
    for r in range(count):
        pull.row[r, PU.WANTED] = 0.0 if r < pulled else pull.row[r, PU.FIRST]
    solve_rows(pull, count, PU.CLOSE)
    for d in range(len(close)):
        step[d] -= close[d]
    rest = largest_turn(tree, pull, PU.STEP)
    share = min(1.0, FAR / max(rest, 1e-12))
    for d in range(len(close)):
        step[d] = close[d] + share * step[d]


@kernel
def note_holding(pull, pulled):
    """Store the forces of pull and pins for the next round's second-order terms."""
    for k in range(pulled):
        pull.number[PU.PULL_FORCE + k] = pull.row[k, PU.FORCE]
    at = pulled
    for b in range(len(pull.pin)):
        if at + 6 > len(pull.row):
            break
        for k in range(3):
            pull.pin[b, PU.PIN_FORCE + k] = pull.row[at + k, PU.FORCE]
        at += 6 if pull.pin[b, PU.PIN_TURNS] != 0.0 else 3


@kernel
def largest_turn(tree, pull, which):
    """The largest entry of a row of rates; translations of roots by SIZE."""
    largest = 0.0
    for i in range(1, len(tree.parent)):
        for d in range(tree.dof[i], tree.dof[i + 1]):
            size = abs(pull.rate[which, d])
            if d - tree.dof[i] >= 3:
                size *= FAR / pull.number[PU.SIZE]
            largest = max(largest, size)
    return largest


@separate
def take_step(tree: Tree, pull: Pull):
    """Move by STEP, limited to the largest rotation."""
    share = min(1.0, FAR / max(largest_turn(tree, pull, PU.STEP), 1e-12))
    for i in range(1, len(tree.parent)):
        if pull.body[i, PU.STILL] != 0.0:
            continue
        kind, d = tree.kind[i], tree.dof[i]
        w = joint_rates(kind, pull.rate, PU.STEP, d)
        store4(pull.body, i, PU.COORDS, advance(kind, load4(pull.body, i, PU.COORDS), w, share))
        if kind == FREE:
            store3(
                pull.body,
                i,
                PU.ANCHOR,
                axpy(share, load3(pull.rate, PU.STEP, d + 3), load3(pull.body, i, PU.ANCHOR)),
            )


@entry_point
def openness(tree: Tree, pose: Pose, pull: Pull, bound: Table):
    """The largest error of pins and locks [m, rad] and of joints beyond their limits [rad]."""
    forward(tree, pull.body, PU.COORDS, PU.ANCHOR, pose)
    largest = 0.0
    count = add_locks(tree, pull, add_pins(tree, pose, pull, 0))
    for r in range(count):
        largest = max(largest, abs(pull.row[r, PU.WANTED]))
    count = add_floor(tree, pose, pull, add_joint_limits(tree, pull, bound, 0))
    for r in range(count):
        largest = max(largest, pull.row[r, PU.WANTED])
    return largest


@entry_point
def place(tree: Tree, pose: Pose, pull: Pull):
    """The pose of the present coordinates."""
    forward(tree, pull.body, PU.COORDS, PU.ANCHOR, pose)


@entry_point
def begin(tree: Tree, pose: Pose, pull: Pull):
    """Make the present pose the start of a drag."""
    forward(tree, pull.body, PU.COORDS, PU.ANCHOR, pose)
    for i in range(1, len(tree.parent)):
        store4(pull.body, i, PU.START, load4(pull.body, i, PU.COORDS))
        store3(pull.body, i, PU.START_ANCHOR, load3(pull.body, i, PU.ANCHOR))
    measure(tree, pose, pull)


@entry_point
def note_slack(tree: Tree, pull: Pull, bound: Table):
    """SLACK: how far the joints are beyond their limits now."""
    for i in range(1, len(tree.parent)):
        room = room_of(tree, pull, bound, i)
        for k in range(4):
            pull.body[i, PU.SLACK + k] = min(room[k], 0.0)
