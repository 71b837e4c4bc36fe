"""Ragdolls: trees whose joints are all limp with tone, and the bounds of their joints' speeds.

Owns which trees are ragdolls, how fast their joints may turn and which of their rows are solved roughly. Must not know
how rows are solved.

A living body dissipates what a rigid one cannot. A finger that strikes the ground at 3 m/s would turn at 150 rad/s, if
it were a rigid rod on a ball joint. Tissue does not let it: a joint of a ragdoll turns hardly faster than it falls by
itself. So a step of usual length can follow every joint, and no contact
without bounce has to cut it.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile.decorators import kernel
from ..dynamics.articulated import mass_block
from ..dynamics.tone import DAMPING, PULL
from ..tables import control as C, factor as F, rows as R, state as S, work as W
from ..tables.classes import Control, Tree

# `ragdoll` of a tree's root, 0 for all others: scenery stands still or goes as keyed, whatever touches it.
RAGDOLL, SCENERY = 1, 2
# The fastest a joint with tone 1 turns [rad/s], but at least by this part of 1/t, t the time of its pendulum. A limb
# that falls from upright passes its lowest point at 2/t.
FAST, FAST_FALLS = 30.0, 2.0
# A joint that a blow leaves less than this share too fast is fast enough slowed.
NEAR = 0.05
# The least share of a blow's change of rate that a joint is given at a time.
LEAST_SHARE = 0.02


def any_ragdoll(tree: Tree, control: Control) -> bool:
    """Whether any tree is a ragdoll in any frame."""
    limp = control.behaviour == C.LIMP
    toned = (control.setting[..., C.TONE_DAMPING] > 0.0) & (control.setting[..., C.TONE_PULL] > 0.0)
    for root in tree.roots:
        inside = np.arange(root + 1, tree.last[root] + 1)
        jointed = inside[tree.dof[inside + 1] > tree.dof[inside]]
        rows = max(len(limp), len(toned))
        joints = np.broadcast_to(limp[:, jointed], (rows, len(jointed))) & toned[:, jointed]
        if len(inside) and (joints.all(axis=1) & limp[:, root]).any():
            return True
    return False


@kernel
def find_ragdolls(tree, control, state, rows, frame):
    """`ragdoll` of the trees' roots."""
    row = min(frame, len(control.behaviour) - 1)
    for i in range(len(tree.parent)):
        rows.ragdoll[i] = 0
    rows.ragdoll[0] = SCENERY
    for root in tree.roots:
        if tree.last[root] == root:
            rows.ragdoll[root] = SCENERY if state.behaviour[root] == C.ANIMATED else 0
        elif state.behaviour[root] == C.LIMP and _all_toned(tree, control, state, root, row):
            rows.ragdoll[root] = RAGDOLL


@kernel
def limit_rates(tree, control, work, rows, frame):
    """FASTEST of the joints of ragdolls."""
    row = min(frame, len(control.behaviour) - 1)
    for root in tree.roots:
        if rows.ragdoll[root] == RAGDOLL:
            for i in range(root + 1, tree.last[root] + 1):
                if tree.dof[i + 1] > tree.dof[i]:
                    damping, pull = control.setting[row, i, C.TONE_DAMPING], control.setting[row, i, C.TONE_PULL]
                    work.body[i, W.FASTEST] = fastest_turn(damping, pull)


@kernel
def _all_toned(tree, control, state, root, row):
    """Whether every joint of the tree is limp and has tone."""
    for i in range(root + 1, tree.last[root] + 1):
        if tree.dof[i + 1] > tree.dof[i]:
            toned = control.setting[row, i, C.TONE_DAMPING] > 0.0 and control.setting[row, i, C.TONE_PULL] > 0.0
            if state.behaviour[i] != C.LIMP or not toned:
                return False
    return True


@kernel
def fastest_turn(damping, pull):
    """The fastest a joint turns [rad/s], from the gains of its tone (`tone`): less tone lets it turn faster."""
    time = damping / pull * (PULL / (2.0 * DAMPING))
    tone = damping * time / (2.0 * DAMPING)
    return max(FAST, FAST_FALLS / time) / min(tone, 1.0)


@kernel
def moves_ragdolls(rows, b):
    """Whether a block acts on ragdolls, and on nothing else that it could move."""
    return are_ragdolls(rows, rows.link[b, R.BODY_A], rows.link[b, R.BODY_B])


@kernel
def are_ragdolls(rows, i, j):
    """Whether of two bodies at least one is a ragdoll's, and the other too or scenery."""
    one, other = rows.ragdoll[rows.root[i]], rows.ragdoll[rows.root[j]]
    return one != 0 and other != 0 and (one == RAGDOLL or other == RAGDOLL)


@kernel
def solves_roughly(rows, first, last):
    """Whether an island, the blocks order[first:last], may be solved roughly: it moves ragdolls only, without ties."""
    for x in range(first, last):
        b = rows.order[x]
        if rows.link[b, R.WHAT] == R.TIE or not moves_ragdolls(rows, b):
            return False
    return True


@kernel
def is_met_anywhere(rows, b):
    """Whether a block may be met anywhere within a step: a limit of a ragdoll, or its contact without bounce."""
    what = rows.link[b, R.WHAT]
    return (what == R.LIMIT or (what == R.CONTACT and rows.block[b, R.REBOUND] == 0.0)) and moves_ragdolls(rows, b)


@kernel
def resist_blow(tree, state, work, rows, pose, factor):
    """Joints of ragdolls that a blow, ANSWER, would leave faster than FASTEST resist it with as much more inertia as
    that takes. Returns whether any does.

    It takes energy only: a joint never has more of it in that inertia than after the blow.
    """
    again = False
    for i in range(1, len(tree.parent)):
        if not factor.active[i] or rows.ragdoll[rows.root[i]] != RAGDOLL or rows.root[i] == i:
            continue
        first, last = tree.dof[i], tree.dof[i + 1]
        most = work.body[i, W.FASTEST]
        two = one = none = 0.0
        for d in range(first, last):
            two += work.rate[W.ANSWER, d] ** 2
            one += work.rate[W.ANSWER, d] * state.rate[S.V, d]
            none += state.rate[S.V, d] ** 2
        if two + 2.0 * one + none <= most * most * (1.0 + NEAR) ** 2:
            continue
        # |v + share · Δv| = most
        share = (math.sqrt(max(0.0, one * one + two * (most * most - none))) - one) / two
        own = whole = 0.0
        mass_block(tree, pose, work.body, W.COMPOSITE, i, work.block)
        for d in range(first, last):
            own += factor.joint[d, F.LOWER + d - first]
            whole += work.block[d, d - first]
        work.body[i, W.COMPLIANCE] += own / whole * (1.0 / max(share, LEAST_SHARE) - 1.0)
        again = True
    return again
