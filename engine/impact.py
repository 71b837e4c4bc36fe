"""Impacts: what touches and closes fast changes its speed at once (METHODS §1d, A).

Owns bounce and which joints answer a blow. Must not know how contacts are found, or what
happens within a step.
"""

from __future__ import annotations

import math

from .articulated import factorise
from .jit import kernel, part
from .rows import fill_matrix, find_islands, give, lay_paths, solved_end, take
from .state import ANSWER, ASSIST, COMPLIANCE, COMPOSITE, GAINS, LIMP, MAIN, NOW, SIMULATED, V, factor_of, pose_of
from .sweeps import eliminate_ties, solve_island
from .touch import (
    ALLOWED,
    BEARS,
    BLOCKS,
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

# A blow lasts about this long: what a bearing foot's friction can give meanwhile [s].
BLOW = 0.02
# As far as a blow may swing a driven joint [rad], and how often the others are asked again.
SWING = 1.5
STIFFENINGS = 4


@part
def collide_now(tree, state, aim, work, touch):
    """Impacts (METHODS §1d, A): what touches and closes fast. Driven joints are passive unless all that
    meets is braced against; animated ones stay as they are. Returns whether anything changed."""
    slop, fast = touch.limit[SLOP], -touch.limit[BOUNCE_SPEED]
    any_fast = gives_way = False
    for b in range(touch.rows.count[BLOCKS]):
        near = touch.rows.link[b, WHAT] == TIE or touch.rows.block[b, ERROR_NOW] <= slop
        near = near or touch.rows.block[b, BEARS] > 0.0
        touch.rows.link[b, ROWS] = 1 if near else 0
        if (
            touch.rows.block[b, ERROR_NOW] <= slop
            and touch.rows.link[b, WHAT] == CONTACT
            and touch.rows.block[b, SPEED_NOW] - touch.rows.block[b, ALLOWED] < fast
        ):
            any_fast = True
            gives_way = gives_way or touch.rows.link[b, BRACED] == 0
    if not any_fast:
        return False
    pose, factor = pose_of(work, NOW), factor_of(work, MAIN)
    for i in range(1, len(tree.parent)):
        behaviour = state.behaviour[i]
        factor.active[i] = behaviour == LIMP or behaviour == ASSIST or (behaviour == SIMULATED and gives_way)
        work.body[i, COMPLIANCE] = 0.0
    for _ in range(STIFFENINGS):
        _share_blow(tree, work, touch, pose, factor)
        if not _stiffen(tree, state, aim, work, factor):
            break
    for d in range(len(work.rate[ANSWER])):
        state.rate[V, d] += work.rate[ANSWER, d]
    for b in range(touch.rows.count[BLOCKS]):
        for r in range(3):
            touch.rows.block[b, IMPULSE + r] = 0.0
    return True


@kernel
def _stiffen(tree, state, aim, work, factor):
    """A blow may set a driven joint swinging by SWING at most; one that would go farther (a finger whose
    hand is stopped) holds instead. Returns whether any does."""
    again = False
    for i in range(1, len(tree.parent)):
        if factor.active[i] and state.behaviour[i] == SIMULATED:
            speed = 0.0
            for d in range(tree.dof[i], tree.dof[i + 1]):
                speed += work.rate[ANSWER, d] ** 2
            # the swing after a blow peaks at speed / (e ω): METHODS §1c
            if speed > SWING * SWING * math.e * math.e * aim.body[i, GAINS]:
                factor.active[i] = False
                again = True
    return again


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
        ties = eliminate_ties(rows, first, last, touch.limit[LEAST])
        solve_island(rows, first, last, ties, touch.limit[LEAST], BLOW)
        take(rows, first, last, IMPULSE, 1.0)
        first = end
    give(tree, pose, factor, rows, work, IMPULSE, work.rate[ANSWER])
