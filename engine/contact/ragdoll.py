"""Ragdolls: trees whose joints are all limp and have tone, and the limits of their joints' rates.

Owns which trees are ragdolls, the largest rates of their joints, and which islands are solved approximately. Must not
know how rows are solved.

Soft tissue dissipates energy that rigid bodies keep. A finger that strikes the ground at 3 m/s would turn at 150 rad/s
if it were a rigid rod on a ball joint. Tissue prevents that: a joint of a ragdoll turns hardly faster than in free
fall. So a step of the usual length is short enough for every joint, and need not end at a contact without bounce.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile.decorators import kernel
from ..dynamics.articulated import mass_block
from ..dynamics.tone import DAMPING, PULL
from ..tables import control as C, factor as F, rows as R, state as S, work as W
from ..tables.classes import Control, Tree

# Values of `ragdoll` of a tree's root, 0 for all others. Scenery stands still or follows its keys, whatever touches it.
RAGDOLL, SCENERY = 1, 2
# The largest rate of a joint with tone 1 [rad/s]; it is at least this multiple of 1/t, t the time of its pendulum. A
# limb that falls from upright passes its lowest point at 2/t. For tips of fingers and
# claws that is faster than frames can show, so there is an upper bound.
FAST, FAST_FALLS, FAST_MOST = 30.0, 2.0, 38.0
# Tolerance: after an impact a joint may exceed its largest rate by this share.
NEAR = 0.05
# One iteration reduces an impact's change of a joint's rate at most to this share.
LEAST_SHARE = 0.02


def any_ragdoll(tree: Tree, control: Control) -> bool:
    """True if any tree is a ragdoll in any frame."""
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
    """Set `ragdoll` of the trees' roots."""
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
    """Set FASTEST of the joints of ragdolls."""
    row = min(frame, len(control.behaviour) - 1)
    for root in tree.roots:
        if rows.ragdoll[root] == RAGDOLL:
            for i in range(root + 1, tree.last[root] + 1):
                if tree.dof[i + 1] > tree.dof[i]:
                    damping, pull = control.setting[row, i, C.TONE_DAMPING], control.setting[row, i, C.TONE_PULL]
                    work.body[i, W.FASTEST] = fastest_turn(damping, pull)


@kernel
def _all_toned(tree, control, state, root, row):
    """True if every joint of the tree is limp and has tone."""
    for i in range(root + 1, tree.last[root] + 1):
        if tree.dof[i + 1] > tree.dof[i]:
            toned = control.setting[row, i, C.TONE_DAMPING] > 0.0 and control.setting[row, i, C.TONE_PULL] > 0.0
            if state.behaviour[i] != C.LIMP or not toned:
                return False
    return True


@kernel
def fastest_turn(damping, pull):
    """The largest rate of a joint [rad/s], from the gains of its tone (`tone`). With less tone it is larger."""
    time = damping / pull * (PULL / (2.0 * DAMPING))
    tone = damping * time / (2.0 * DAMPING)
    return min(max(FAST, FAST_FALLS / time), FAST_MOST) / min(tone, 1.0)


@kernel
def moves_ragdolls(rows, b):
    """True if a block acts on ragdolls, and on nothing else that it could move."""
    return are_ragdolls(rows, rows.link[b, R.BODY_A], rows.link[b, R.BODY_B])


@kernel
def are_ragdolls(rows, i, j):
    """True if at least one of two bodies belongs to a ragdoll, and the other to a ragdoll or to scenery."""
    one, other = rows.ragdoll[rows.root[i]], rows.ragdoll[rows.root[j]]
    return one != 0 and other != 0 and (one == RAGDOLL or other == RAGDOLL)


@kernel
def solves_roughly(rows, first, last):
    """True if an island, the blocks order[first:last], may be solved approximately: it moves only ragdolls and has no
    ties."""
    for x in range(first, last):
        b = rows.order[x]
        if rows.link[b, R.WHAT] == R.TIE or not moves_ragdolls(rows, b):
            return False
    return True


@kernel
def is_met_anywhere(rows, b):
    """True if a block may close anywhere within a step, which then need not end there: a limit of a ragdoll, or its
    contact without bounce."""
    what = rows.link[b, R.WHAT]
    return (what == R.LIMIT or (what == R.CONTACT and rows.block[b, R.REBOUND] == 0.0)) and moves_ragdolls(rows, b)


@kernel
def resist_blow(tree, state, work, rows, pose, factor):
    """Add inertia to joints of ragdolls that an impact, ANSWER, would leave faster than FASTEST, enough to keep them
    below it. Returns True if any joint was changed.

    This only removes energy: the added inertia holds no more energy before the impact than after it.
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
