"""Sustained contact within a step: rows of contacts, ties and limits at velocity level (METHODS §1c, §1d, B).

Owns the rows' part in every stage of the solve, at the middle pose: the condition v ≥ −gap/h, contacts that joints
brace against, and the shift of positions that corrects depth without adding speed. Must not know how contacts are
found.
"""

from __future__ import annotations

import math

from ..compile.decorators import inlined, kernel, separate
from ..compile.kernel_types import Column, Flag, Real
from ..dynamics.articulated import momentum_of, solve
from ..dynamics.kinematics import velocities
from ..tables import aim as A, contacts as CT, rows as R, state as S, work as W
from ..tables.classes import Aim, Pose, State, Touch, Tree, Work
from ..tables.work import factor_of
from .island_solver import eliminate_ties, is_foothold, keep_ties, solve_island, tie_rows
from .joint_space import (
    answer,
    fill_matrix,
    find_islands,
    forget_paths,
    give,
    lay_paths,
    load_bodies,
    load_joints,
    loosen_locked,
    row_rate,
    solved_end,
    take,
)
from .ragdoll import solves_roughly
from .ragdoll_candidates import solve_candidates
from .ragdoll_sweeps import MOST_SWEEPS

# Depth that exists before the step is corrected with this time constant [s].
RECOVER = 0.03
# The same for ragdolls [s]: it is shorter because their fingers often end up under their bodies.
RECOVER_LIMP = 0.015
NO_FRICTION = -1.0
# Tolerance of the depth correction of ragdolls, as a share of the slop.
CRUMB = 0.01
# A smaller gap counts as none, as a share of the slop.
HAIR = 0.01
# The largest change of a driven joint's rate by the contacts of a step [rad/s], and its largest shift [rad].
RATE_MOST, SHIFT_MOST = 40.0, 0.1
# In a step with ties, the largest turn of any joint by its change of rate, and by its shift [rad]. Ties that cannot all
# hold would otherwise accelerate nearly fixed joints without bound.
TIES_TURN, TIES_SHIFT = 3.0, 0.3


@separate
def lean(tree: Tree, work: Work, touch: Touch | None, pose: Pose):
    """Prepare the rows for the factor of this step's solve: find islands, clear paths, totals and forces.

    Reads: R.BLOCKS, R.island, R.root, R.tally, W.MAIN
    Writes: CT.force, R.FILLED, R.POOL, R.POOL_FROM, R.POOL_TO, R.TOTAL, R.island, R.order, R.tally
    """
    if touch is None:
        return
    factor = factor_of(work, W.MAIN)
    for i in range(len(tree.parent)):
        for k in range(6):
            touch.force[i, k] = 0.0
    for b in range(touch.rows.count[R.BLOCKS]):
        for r in range(3):
            touch.rows.block[b, R.TOTAL + r] = 0.0
    find_islands(tree, factor, touch.rows)
    forget_paths(touch.rows)
    touch.rows.count[R.FILLED] = 0


@separate
def brace(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, pose: Pose, h: Real, mixed: Flag):
    """Contacts that joints brace against do not load these joints (METHODS §1c). Removes from FELT the loads of braced
    contacts, except for the share that heaviness makes the joints feel. BRACING is the change of FELT; without `mixed`
    it is 0.

    Solved with the compliant joints held (the tracking factor): loose joints and free roots respond.

    Reads: A.GOAL_DRIFT, A.SHARE, A.mode, CT.LEAST, CT.SLOP, P.MOMENT, P.ROTATION, P.TURNS, P.WORLD_INERTIA, P.axes,
        R.ALLOWED, R.BEND, R.BLOCKS, R.BODY_A, R.BODY_B, R.BRACED, R.ERROR_NOW, R.FORCE, R.FREE_RATE, R.IMPULSE, R.ON_A,
        R.ON_B, R.OWN, R.PARTING, R.SHIFT, R.TURNED, R.TURNING, R.WHAT, R.carry, R.island, R.mass, R.matrix, R.order,
        R.pick, R.picked, R.pool, R.pool_dof, R.root, R.spread, R.tally, R.upper, S.V, W.ANSWER, W.BRACING, W.CHANGE,
        W.FELT, W.LOAD, W.LOADED_RATE, W.MOTION, W.TOTAL_RATE, W.TRACKED, W.TRACKING, W.U
    Writes: R.FORCE, R.FREE_RATE, R.IMPULSE, R.POOL, R.POOL_FROM, R.POOL_TO, R.ROWS, R.SHIFT, R.carry, R.island,
        R.matrix, R.order, R.pick, R.picked, R.pool, R.pool_dof, R.spread, R.tally, R.upper, W.ANSWER, W.BRACING,
        W.FELT, W.LOAD, W.LOADED_RATE, W.MOTION, W.TOTAL_RATE, W.TRACKING
    """
    if touch is None:
        return
    rows, rate = touch.rows, work.rate
    for d in range(len(rate[W.BRACING])):
        rate[W.BRACING, d] = 0.0
    if not mixed:
        return
    braced = False
    for b in range(rows.count[R.BLOCKS]):
        rows.link[b, R.ROWS] = rows.link[b, R.BRACED]
        braced = braced or rows.link[b, R.BRACED] != 0
        for r in range(3):
            rows.block[b, R.SHIFT + r] = 0.0
    if braced:
        _solve_braced(tree, state, aim, work, touch, pose, h)
    for b in range(rows.count[R.BLOCKS]):
        rows.link[b, R.ROWS] = 1


@inlined
def _solve_braced(tree, state, aim, work, touch, pose, h):
    """BRACING and FELT from the braced contacts, those whose ROWS is not 0.

    Reads: A.GOAL_DRIFT, A.SHARE, A.mode, CT.LEAST, CT.SLOP, P.MOMENT, P.ROTATION, P.TURNS, P.WORLD_INERTIA, P.axes,
        R.ALLOWED, R.BEND, R.BLOCKS, R.BODY_A, R.BODY_B, R.ERROR_NOW, R.FORCE, R.FREE_RATE, R.IMPULSE, R.ON_A, R.ON_B,
        R.OWN, R.PARTING, R.SHIFT, R.TURNED, R.TURNING, R.WHAT, R.carry, R.island, R.mass, R.matrix, R.order, R.pick,
        R.picked, R.pool, R.pool_dof, R.root, R.spread, R.tally, R.upper, S.V, W.ANSWER, W.BRACING, W.CHANGE, W.FELT,
        W.LOAD, W.LOADED_RATE, W.MOTION, W.TOTAL_RATE, W.TRACKED, W.TRACKING, W.U
    Writes: R.FORCE, R.FREE_RATE, R.IMPULSE, R.POOL, R.POOL_FROM, R.POOL_TO, R.SHIFT, R.carry, R.island, R.matrix,
        R.order, R.pick, R.picked, R.pool, R.pool_dof, R.spread, R.tally, R.upper, W.ANSWER, W.BRACING, W.FELT, W.LOAD,
        W.LOADED_RATE, W.MOTION, W.TOTAL_RATE, W.TRACKING
    """
    rows, rate = touch.rows, work.rate
    factor = factor_of(work, W.TRACKING)
    find_islands(tree, factor, rows)
    forget_paths(rows)
    total = rate[W.TOTAL_RATE]
    for d in range(len(total)):
        total[d] = state.rate[S.V, d] - rate[W.U, d] + rate[W.CHANGE, d] + rate[W.TRACKED, d]
    for i in range(1, len(tree.parent)):
        if factor.active[i]:
            for d in range(tree.dof[i], tree.dof[i + 1]):
                total[d] += rate[W.U, d]
    velocities(tree, pose, total, aim.body, A.GOAL_DRIFT, work.body, W.MOTION)
    first = 0
    for head in tree.roots:
        end = rows.tally[head]
        if end > first:
            last = solved_end(rows, first, end)
            lay_paths(tree, pose, factor, rows, first, end)
            fill_matrix(factor, rows, first, last)
            ties = eliminate_ties(rows, first, last, touch.limit[CT.LEAST])
            loosen_locked(tree, factor, rows, first, last, ties, touch.limit[CT.LEAST])
            _ask(tree, touch, work, first, last, total, 1.0, 1.0, h)
            solve_island(rows, first, last, ties, touch.limit[CT.LEAST], h)
            take(rows, first, last, R.SHIFT, 1.0)
            first = end
    give(tree, pose, factor, rows, work, R.SHIFT, rate[W.ANSWER])
    # the load on the joints: the contacts' impulse minus the change of momentum of the loose parts
    load = rate[W.LOADED_RATE]
    momentum_of(tree, pose, work.body, rate[W.ANSWER], total)
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == A.COMPLIANT:
            for d in range(tree.dof[i], tree.dof[i + 1]):
                rate[W.BRACING, d] = -(1.0 - aim.rate[A.SHARE, d]) * (load[d] - total[d])
                rate[W.FELT, d] += rate[W.BRACING, d]


@kernel
def _ask(tree, touch, work, first, last, total, gamma, share, h):
    """FREE_RATE and the initial FORCE of an island's rows, at `share` of the step (0 its start, 1 its end).

    A tie that holds has no rates at its present pose. Measured at the middle pose they run from BEND to −BEND.
    """
    rows = touch.rows
    for k in range(first, last):
        b = rows.order[k]
        r = 3 * (k - first)
        for n in range(3):
            rows.row[R.FREE_RATE, r + n] = row_rate(tree.dof, rows.block, rows.link, b, n, work.body, W.MOTION, total)
            rows.row[R.FORCE, r + n] = gamma * rows.block[b, R.IMPULSE + n]
            bent = (2.0 * share - 1.0) * rows.block[b, R.BEND + n]
            rows.row[R.FREE_RATE, r + n] += bent - rows.block[b, R.ALLOWED + n]
        rows.row[R.FREE_RATE, r] += share * rows.block[b, R.TURNED]
        rows.row[R.FREE_RATE, r] -= _wanted(touch, b, h)


@separate
def press(
    tree: Tree,
    state: State,
    aim: Aim,
    work: Work,
    touch: Touch | None,
    pose: Pose,
    x_row: Column,
    gamma: Real,
    share: Real,
    weight: Real,
    h: Real,
    last_stage: Flag,
):
    """Add to row `x_row` the response of contacts, ties and limits to a stage that ends with rates STAGE_RATE + γx.

    The stage ends at `share` of the step; its impulses count with `weight`. After the last stage positions are shifted
    to correct depth and ties' errors.

    Reads: A.GOAL_DRIFT, A.mode, CT.LEAST, CT.SLOP, CT.drag, P.ROTATION, P.TURNS, P.axes, R.ALLOWED, R.BEND, R.BLOCKS,
        R.BODY_A, R.BODY_B, R.ERROR_NOW, R.FILLED, R.FORCE, R.FREE_RATE, R.IMPULSE, R.ON_A, R.ON_B, R.OWN, R.PARTING,
        R.POOL_FROM, R.POOL_TO, R.SHIFT, R.SPEED_NOW, R.STAYS, R.STUCK, R.TOTAL, R.TURNED, R.TURNING, R.WHAT, R.carry,
        R.mass, R.matrix, R.order, R.pick, R.picked, R.pool, R.pool_dof, R.ragdoll, R.root, R.row, R.spread, R.tally,
        R.upper, S.V, W.ANSWER, W.BRACING, W.CHANGE, W.FELT, W.G, W.LOAD, W.LOADED_RATE, W.MAIN, W.MOTION, W.SHIFTED,
        W.STAGE_RATE, W.STOPS, W.TOTAL_RATE, W.TRACKED, W.U, W.rate
    Writes: CT.force, R.FILLED, R.FORCE, R.FREE_RATE, R.IMPULSE, R.SHIFT, R.TIED, R.TOTAL, R.carry, R.matrix, R.order,
        R.pick, R.picked, R.pool, R.pool_dof, R.row, R.spread, R.tied, R.upper, W.ANSWER, W.BRACING, W.FELT, W.G,
        W.LOAD, W.LOADED_RATE, W.MAIN, W.MOTION, W.SHIFTED, W.STOPS, W.TOTAL_RATE, W.rate
    """
    if touch is None:
        return
    rate, rows = work.rate, touch.rows
    total = rate[W.TOTAL_RATE]
    for d in range(len(total)):
        follow = state.rate[S.V, d] - rate[W.U, d] + share * (rate[W.CHANGE, d] + rate[W.TRACKED, d])
        total[d] = follow + rate[W.STAGE_RATE, d] + gamma * rate[x_row, d]
    velocities(tree, pose, total, aim.body, A.GOAL_DRIFT, work.body, W.MOTION)
    factor = factor_of(work, W.MAIN)
    first = tied = 0
    for head in tree.roots:
        end = rows.tally[head]
        if end > first:
            if solves_roughly(rows, first, end):
                _press_ragdolls(tree, work, touch, pose, first, end, gamma, share, h, last_stage)
            else:
                tied += _press_island(tree, work, touch, pose, first, end, tied, gamma, share, h, last_stage)
            first = end
    answer(tree, pose, factor, rows, R.IMPULSE, rate[W.ANSWER])
    loose = TIES_TURN / (gamma * h) if tied > 0 else math.inf
    _hold_pushes(tree, aim, work, rows, pose, x_row, RATE_MOST / gamma, loose)
    for d in range(len(total)):
        rate[x_row, d] += rate[W.ANSWER, d]
    for b in range(rows.count[R.BLOCKS]):
        for r in range(3):
            rows.block[b, R.TOTAL + r] += weight * rows.block[b, R.IMPULSE + r]
    if last_stage:
        _end_stages(tree, aim, work, touch, pose, tied)


@inlined
def _end_stages(tree, aim, work, touch, pose, tied):
    """After the last stage: shift positions to correct depth, store the forces of the whole step. `tied`: the number of
    tie rows.

    Reads: A.mode, CT.drag, P.TURNS, R.BLOCKS, R.BODY_A, R.BODY_B, R.ON_A, R.ON_B, R.OWN, R.POOL_FROM, R.POOL_TO,
        R.SHIFT, R.TOTAL, R.WHAT, R.pool, R.pool_dof, W.LOAD, W.LOADED_RATE, W.MAIN, W.SHIFTED, W.STOPS
    Writes: CT.force, R.SHIFT, R.TIED, W.LOAD, W.LOADED_RATE, W.MAIN, W.SHIFTED, W.STOPS
    """
    rate, rows = work.rate, touch.rows
    loose = TIES_SHIFT if tied > 0 else math.inf
    _shift(tree, aim, work, pose, factor_of(work, W.MAIN), rows, rate[W.SHIFTED], loose)
    note_forces(tree, work, touch)
    rows.count[R.TIED] = tied
    for d in range(len(rate[W.STOPS])):
        rate[W.STOPS, d] = 0.0
    load_joints(tree, rows, R.TOTAL, rate[W.STOPS])


@inlined
def _press_island(tree, work, touch, pose, first, end, tied, gamma, share, h, last_stage):
    """IMPULSE of an island's blocks, and after the last stage SHIFT. `tied`: the number of tie rows of earlier islands.
    Returns the number of this one's.

    Reads: CT.LEAST, CT.SLOP, P.TURNS, R.ALLOWED, R.BEND, R.BODY_A, R.BODY_B, R.ERROR_NOW, R.FILLED, R.FORCE,
        R.FREE_RATE, R.IMPULSE, R.ON_A, R.ON_B, R.OWN, R.PARTING, R.SPEED_NOW, R.STAYS, R.STUCK, R.TURNED, R.TURNING,
        R.WHAT, R.carry, R.mass, R.matrix, R.order, R.pick, R.picked, R.pool, R.upper, W.MAIN, W.MOTION, W.TOTAL_RATE
    Writes: R.FILLED, R.FORCE, R.FREE_RATE, R.IMPULSE, R.SHIFT, R.carry, R.matrix, R.pick, R.picked, R.pool, R.pool_dof,
        R.tied, R.upper
    """
    rows, factor, total = touch.rows, factor_of(work, W.MAIN), work.rate[W.TOTAL_RATE]
    last = solved_end(rows, first, end)
    lay_paths(tree, pose, factor, rows, first, end)
    ties = _fill(tree, factor, rows, first, last, tied, touch.limit[CT.LEAST])
    _ask(tree, touch, work, first, last, total, gamma, share, h)
    solve_island(rows, first, last, ties, touch.limit[CT.LEAST], gamma * h)
    take(rows, first, last, R.IMPULSE, 1.0 / gamma)
    if last_stage:
        _ask_shift(touch, first, last, h, RECOVER)
        solve_island(rows, first, last, ties, touch.limit[CT.LEAST], NO_FRICTION)
        take(rows, first, last, R.SHIFT, 1.0 if rows.count[R.STAYS] == 0 else 0.0)
    return ties


@inlined
def _press_ragdolls(tree, work, touch, pose, first, last, gamma, share, h, last_stage):
    """IMPULSE of the blocks of an island of ragdolls, and after the last stage SHIFT.

    Reads: CT.LEAST, CT.SLOP, P.ROTATION, P.TURNS, P.axes, R.ALLOWED, R.BEND, R.BODY_A, R.BODY_B, R.ERROR_NOW, R.FORCE,
        R.FREE_RATE, R.IMPULSE, R.ON_A, R.ON_B, R.OWN, R.PARTING, R.SPEED_NOW, R.STAYS, R.STUCK, R.TURNED, R.TURNING,
        R.WHAT, R.order, R.row, R.spread, W.MAIN, W.MOTION, W.TOTAL_RATE
    Writes: R.FORCE, R.FREE_RATE, R.IMPULSE, R.SHIFT, R.order, R.row, R.spread, W.MAIN
    """
    rows, factor, total = touch.rows, factor_of(work, W.MAIN), work.rate[W.TOTAL_RATE]
    least = touch.limit[CT.LEAST]
    _ask(tree, touch, work, first, last, total, gamma, share, h)
    solve_candidates(tree, pose, factor, rows, work, first, last, least, gamma * h, 0.0, MOST_SWEEPS)
    take(rows, first, last, R.IMPULSE, 1.0 / gamma)
    if last_stage:
        _ask_shift(touch, first, last, h, RECOVER_LIMP)
        solve_candidates(
            tree, pose, factor, rows, work, first, last, least, NO_FRICTION, CRUMB * touch.limit[CT.SLOP], MOST_SWEEPS
        )
        take(rows, first, last, R.SHIFT, 1.0 if rows.count[R.STAYS] == 0 else 0.0)


@kernel
def _fill(tree, factor, rows, first, last, at, least):
    """Fill the island's matrix and eliminate its ties, unless the matrix of the previous stage is still there (cached).
    Returns the number of tie rows."""
    if rows.count[R.FILLED] == first + 1:
        return tie_rows(rows, first, last)
    fill_matrix(factor, rows, first, last)
    ties = eliminate_ties(rows, first, last, least)
    keep_ties(rows, at, ties)
    loosen_locked(tree, factor, rows, first, last, ties, least)
    rows.count[R.FILLED] = first + 1
    return ties


@kernel
def tied(touch):
    """True if ties were solved in this step."""
    if touch is None:
        return False
    return touch.rows.count[R.TIED] > 0


@kernel
def note_forces(tree, work, touch):
    """Store the impulses of rows and wind on the bodies in the whole step."""
    load_bodies(tree, touch.rows, work, R.TOTAL)
    for i in range(len(tree.parent)):
        for k in range(6):
            touch.force[i, k] = work.body[i, W.LOAD + k] + touch.drag[i, k]


@kernel
def _hold_pushes(tree, aim, work, rows, pose, x_row, driven, loose):
    """Saturation: scale ANSWER and the contacts' impulses so that no joint exceeds its largest rate, as `_hold_within`.

    Row `x_row` already contains the joints' bracing against the contacts, and the two nearly cancel. So the limit
    applies to their sum, and both are scaled by the same factor.
    """
    rate = work.rate
    braces = rate[W.LOADED_RATE]
    for d in range(len(braces)):
        braces[d] = 0.0
    if _share_within(tree, aim, rate[W.ANSWER], braces, driven, loose) == 1.0:
        return
    solve(tree, pose, factor_of(work, W.MAIN), rate[W.BRACING], braces)
    times = _share_within(tree, aim, rate[W.ANSWER], braces, driven, loose)
    _scale_pushes(rows, rate[W.ANSWER], R.IMPULSE, times)
    for d in range(len(braces)):
        rate[x_row, d] += (times - 1.0) * braces[d]
        rate[W.FELT, d] += (times - 1.0) * rate[W.BRACING, d]
        rate[W.G, d] += (times - 1.0) * rate[W.BRACING, d]
        rate[W.BRACING, d] *= times


@kernel
def _hold_within(tree, aim, work, rows, x, column, driven, loose):
    """Saturation: scale x and the values in `column` until no driven joint exceeds `driven`, and no other one `loose`.
    Otherwise joints would turn too fast to free a body whose root is keyed through a wall."""
    none = work.rate[W.LOADED_RATE]
    for d in range(len(none)):
        none[d] = 0.0
    _scale_pushes(rows, x, column, _share_within(tree, aim, x, none, driven, loose))


@kernel
def _share_within(tree, aim, x, held, driven, loose):
    """The factor of x with which no driven joint's x + `held` exceeds `driven`, and no other joint's x `loose`."""
    times = 1.0
    for i in range(1, len(tree.parent)):
        is_driven = aim.mode[i] == A.COMPLIANT
        for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
            size = abs(x[d] + held[d]) if is_driven else abs(x[d])
            most = driven if is_driven else loose
            if times * size > most:
                times = most / size
    return times


@kernel
def _scale_pushes(rows, x, column, times):
    """Multiply x and the values in `column` by a factor."""
    if times == 1.0:
        return
    for d in range(len(x)):
        x[d] *= times
    for b in range(rows.count[R.BLOCKS]):
        for r in range(3):
            rows.block[b, column + r] *= times


@kernel
def _wanted(touch, b, h):
    """The lower bound of a block's first row: the rate that closes the gap.

    A tiny gap counts as none: otherwise a box with some corners slightly above the ground and some slightly below could
    not stand on all of them. A limp body that separates as the step starts may return at the same speed: it ends no
    nearer, and an impulse that prevented it would add energy.
    """
    gap, back = touch.rows.block[b, R.ERROR_NOW], -touch.rows.block[b, R.PARTING]
    if touch.rows.link[b, R.WHAT] == R.CONTACT and is_foothold(touch.rows, b) and gap > 0.0:
        return -gap / max(h, RECOVER)  # a foothold: the foot comes down to where the source has it
    if touch.rows.link[b, R.WHAT] == R.TIE or gap <= HAIR * touch.limit[CT.SLOP]:
        return back
    return min(-gap / h, back)


@kernel
def _ask_shift(touch, first, last, h, recover):
    """FREE_RATE for the shift of positions: the depth and the ties' errors that the step would leave. FORCE becomes 0.
    `recover`: time constant of the correction [s]."""
    rows, slop = touch.rows, touch.limit[CT.SLOP]
    keep = math.exp(-h / recover)
    for k in range(first, last):
        b = rows.order[k]
        r = 3 * (k - first)
        for n in range(3):
            end = 0.0
            if rows.link[b, R.WHAT] != R.TIE:
                end = rows.row[R.FREE_RATE, r + n] + (_wanted(touch, b, h) if n == 0 else 0.0)
            start = rows.block[b, R.SPEED_NOW + n] - rows.block[b, R.ALLOWED + n]
            ahead = rows.block[b, R.ERROR_NOW + n] + 0.5 * h * (start + end)
            if rows.link[b, R.WHAT] != R.TIE:
                ahead = ahead - min(-slop, keep * rows.block[b, R.ERROR_NOW]) if n == 0 else 0.0
                if rows.block[b, R.STUCK] != 0.0:
                    ahead = max(ahead, 0.0)
            rows.row[R.FREE_RATE, r + n] = ahead
            rows.row[R.FORCE, r + n] = 0.0


@kernel
def _shift(tree, aim, work, pose, factor, rows, x, loose):
    """x: the shift of the joints by the rows, of no loose joint more than `loose`. Mostly there is none."""
    if _shifts(rows):
        answer(tree, pose, factor, rows, R.SHIFT, x)
        _hold_within(tree, aim, work, rows, x, R.SHIFT, SHIFT_MOST, loose)
        return
    for d in range(len(x)):
        x[d] = 0.0


@kernel
def _shifts(rows):
    """True if any row shifts positions."""
    for b in range(rows.count[R.BLOCKS]):
        for r in range(3):
            if rows.block[b, R.SHIFT + r] != 0.0:
                return True
    return False


@kernel
def stay(touch):
    """Forbid shifts of positions in the retry of a step. Returns True if the rejected step shifted any, so that the
    retry differs."""
    if touch is None:
        return False
    rows = touch.rows
    if rows.count[R.STAYS] != 0:
        return False
    rows.count[R.STAYS] = 1
    return _shifts(rows)


@kernel
def forget_forces(work, touch):
    """Clear the forces, for a step without contacts, ties and limits."""
    if touch is None:
        return
    touch.rows.count[R.TIED] = 0
    for d in range(len(work.rate[W.STOPS])):
        work.rate[W.STOPS, d] = work.rate[W.SHIFTED, d] = 0.0
    for i in range(len(touch.force)):
        for k in range(6):
            touch.force[i, k] = 0.0
