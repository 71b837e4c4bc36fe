"""Impacts: what touches and closes fast changes its speed at once (METHODS §1d, A).

Owns bounce and which joints answer a blow. Must not know how contacts are found, or what
happens within a step.
"""

from __future__ import annotations

import math

from .aim import joint_rates, measure_error
from .articulated import composite_form, composite_inertia, factorise
from .jit import kernel, part
from .pd import peak_time, response
from .rows import fill_matrix, find_islands, give, lay_paths, solved_end, take
from .spatial import add, axpy, dot, load3, load4, scale, sub
from .state import (
    ANSWER,
    ASSIST,
    COMPLIANCE,
    COMPOSITE,
    COORDS,
    FROM,
    GAINS,
    LIMP,
    MAIN,
    NOW,
    RATE,
    SIMULATED,
    VALUE,
    V,
    factor_of,
    pose_of,
)
from .sweeps import eliminate_ties, solve_island
from .touch import (
    ALLOWED,
    BEARS,
    BLOCKS,
    BODY_A,
    BODY_B,
    BOUNCE_SPEED,
    BRACED,
    CONTACT,
    ERROR_NOW,
    FORCE,
    FREE_RATE,
    IMPULSE,
    LEAST,
    REBOUND,
    ROWS,
    SLOP,
    SPEED_NOW,
    TIE,
    WHAT,
)
from .tree import LOWER

# A blow lasts about this long: what a bearing foot's friction can give meanwhile [s].
BLOW = 0.02
# As far as a blow may swing a driven joint off its target [rad], to this share of it; how often the joints
# are asked again, and by how much at most one resists more at a time.
SWING, NEAR = 1.0, 0.05
STIFFENINGS = 6
LEAST_SHARE = 0.02
# What a joint carries of an impact.
BRACING, GIVING = 1, 2


@part
def collide_now(tree, state, aim, work, touch):
    """Impacts (METHODS §1d, A): what touches and closes fast. Driven joints are passive, but those that only
    carry what is braced against hold; animated ones stay as they are. Returns whether anything changed."""
    any_fast, gives_way = _find_blows(tree, touch)
    if not any_fast:
        return False
    pose, factor = pose_of(work, NOW), factor_of(work, MAIN)
    for i in range(1, len(tree.parent)):
        behaviour = state.behaviour[i]
        passive = gives_way and touch.rows.tally[i] != BRACING
        factor.active[i] = behaviour == LIMP or behaviour == ASSIST or (behaviour == SIMULATED and passive)
        work.body[i, COMPLIANCE] = 0.0
    composite_inertia(tree, pose, work.body, COMPOSITE)
    for _ in range(STIFFENINGS):
        _share_blow(tree, work, touch, pose, factor)
        if not _stiffen(tree, state, aim, work, pose, factor):
            break
    for d in range(len(work.rate[ANSWER])):
        state.rate[V, d] += work.rate[ANSWER, d]
    for b in range(touch.rows.count[BLOCKS]):
        for r in range(3):
            touch.rows.block[b, IMPULSE + r] = 0.0
    return True


@kernel
def _find_blows(tree, touch):
    """Which rows have a part in an impact. Returns whether there is any, and whether joints give way to it;
    tally becomes what each joint carries of it."""
    rows, slop, fast = touch.rows, touch.limit[SLOP], -touch.limit[BOUNCE_SPEED]
    any_fast = gives_way = False
    for i in range(len(tree.parent)):
        rows.tally[i] = 0
    for b in range(rows.count[BLOCKS]):
        near = rows.block[b, ERROR_NOW] <= slop
        rows.link[b, ROWS] = 1 if near or rows.link[b, WHAT] == TIE or rows.block[b, BEARS] > 0.0 else 0
        closes = rows.block[b, SPEED_NOW] - rows.block[b, ALLOWED] < fast
        if near and closes and rows.link[b, WHAT] == CONTACT:
            any_fast = True
            gives_way = gives_way or rows.link[b, BRACED] == 0
            carries = GIVING if rows.link[b, BRACED] == 0 else BRACING
            for side in range(2):
                i = rows.link[b, BODY_A] if side == 0 else rows.link[b, BODY_B]
                while i > 0:
                    rows.tally[i] = max(rows.tally[i], carries)
                    i = tree.parent[i]
    return any_fast, gives_way


@kernel
def _stiffen(tree, state, aim, work, pose, factor):
    """A blow may swing a driven joint by SWING at most: one that would go farther (a finger whose hand is
    stopped) resists with as much more inertia as that takes. Returns whether any does."""
    again = False
    for i in range(1, len(tree.parent)):
        if factor.active[i] and state.behaviour[i] == SIMULATED:
            share = _share_within(tree, state, aim, work, i)
            if share < 1.0 - NEAR:
                own = whole = 0.0
                first = tree.dof[i]
                for d in range(first, tree.dof[i + 1]):
                    own += factor.joint[d, LOWER + d - first]
                    whole += composite_form(work.body, COMPOSITE, i, pose.axes, d, d)
                work.body[i, COMPLIANCE] += own / whole * (1.0 / max(share, LEAST_SHARE) - 1.0)
                again = True
    return again


@kernel
def _share_within(tree, state, aim, work, i):
    """The share of a blow's change of a joint's rates that swings it no farther than SWING, or than it is
    swinging anyway."""
    kind, d = tree.kind[i], tree.dof[i]
    omega = math.sqrt(aim.body[i, GAINS])
    zeta = 0.5 * aim.body[i, GAINS + 1] / omega
    u, g, _, _ = response(omega, zeta, peak_time(omega, zeta))
    value, rate = load4(aim.body, i, FROM + VALUE), load3(aim.body, i, FROM + RATE)
    c, w = load4(state.body, i, COORDS), joint_rates(kind, state.rate, V, d)
    e, before = measure_error(kind, c, w, value, rate)
    _, after = measure_error(kind, c, add(w, joint_rates(kind, work.rate, ANSWER, d)), value, rate)
    # the error when a swing from the target is at its widest: |out + share · more| = most
    out, more = axpy(u, e, scale(g, before)), scale(g, sub(after, before))
    most = max(SWING * SWING, dot(out, out))
    one, two = dot(out, more), dot(more, more)
    if dot(out, out) + 2.0 * one + two <= most:
        return 1.0
    return (math.sqrt(max(0.0, one * one + two * (most - dot(out, out)))) - one) / two


@kernel
def _share_blow(tree, work, touch, pose, factor):
    """ANSWER: the change of rates that an impact makes, with these joints free to answer."""
    rows, fast = touch.rows, -touch.limit[BOUNCE_SPEED]
    for b in range(rows.count[BLOCKS]):
        for r in range(3):
            rows.block[b, IMPULSE + r] = 0.0
    factorise(tree, pose, work.body, COMPOSITE, COMPLIANCE, factor)
    lay_paths(tree, pose, factor, rows)
    find_islands(tree, factor, rows)
    first = 0
    for head in tree.roots:
        end = rows.tally[head]
        if end <= first:
            continue
        last = solved_end(rows, first, end)
        fill_matrix(factor, rows, first, last)
        for x in range(first, last):
            b = rows.order[x]
            r = 3 * (x - first)
            for k in range(3):
                rows.row[FREE_RATE, r + k] = rows.block[b, SPEED_NOW + k] - rows.block[b, ALLOWED + k]
                rows.row[FORCE, r + k] = 0.0
            if rows.block[b, BEARS] > 0.0 and rows.block[b, ERROR_NOW] > touch.limit[SLOP]:
                # stands without touching: it may come down, but not slide
                rows.row[FREE_RATE, r] = max(0.0, rows.row[FREE_RATE, r]) + rows.block[b, ERROR_NOW] / BLOW
            speed = rows.row[FREE_RATE, r]
            if speed < fast and rows.link[b, WHAT] == CONTACT:
                rows.row[FREE_RATE, r] += rows.block[b, REBOUND] * speed
        ties = eliminate_ties(rows, first, last)
        solve_island(rows, first, last, ties, touch.limit[LEAST], BLOW)
        take(rows, first, last, IMPULSE, 1.0)
        first = end
    give(tree, pose, factor, rows, work, IMPULSE, work.rate[ANSWER])
