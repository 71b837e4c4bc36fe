"""Matrix-free Gauss-Seidel sweeps for ragdolls, through the articulated factor.

Owns the projected Gauss–Seidel solve of islands that need no exact solution (`ragdoll.solves_roughly`). Must not know
bodies or time.

The matrix of an island is G = Zᵀ D⁻¹ Z (`joint_space`). A body with fingers that lies on the ground has more than a
hundred rows, each with a few dozen entries in Z. So G is not formed. The vector y = D⁻¹ Z p is kept: a row's rate is
b + Zᵀy, and a change of its impulse changes y only on its path. The cost of a sweep is proportional to the number of
entries of Z.

Sweeps alone converge slowly where light bodies carry heavy ones, such as toes under a leg. So each sweep is used as the
gradient step of a nonlinear conjugate gradient method (Silcowitz, Niebe and Erleben 2010).

Of a hundred blocks of a body that lands about ten press. The others are fingers near one another and joints near their
limits. Blocks that do not press and separate are skipped in most sweeps.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Index, Real
from ..tables import rows as R
from ..tables.classes import Rows
from .island_solver import besides, set_most

MOST_SWEEPS = 20
# Sweeps end when no row's rate changes by more than this share of the largest.
ROUGH = 1e-3
# After this many sweeps friction follows a change of the pressure only by half, so that the two cannot cycle.
LOOSE = 8
# One sweep in this many is over all blocks, the others only over those that press or were about to close.
ALL_EVERY = 6
# Rows of Rows.spread: y, y before the sweep, and D⁻¹ Z of the direction STEP.
ANSWER, BEFORE, ALONG = 0, 1, 2
# Offset in MOST from a block's first row: not 0 if the block does not press and separates.
PARTED = 1
# Offset in MOST too: the largest change of the block's rates in its last sweep. A block that changed by less than CALM
# times the tolerance is skipped until the next sweep over all blocks.
CHANGED, CALM = 2, 0.5


@separate
def solve_ragdolls(rows: Rows, first: Index, last: Index, least: Real, lasts: Real, close: Real, sweeps: Index):
    """FORCE from FREE_RATE of the island order[first:last], by sweeps that start from FORCE (warm start). FREE_RATE
    becomes the residual rates.

    least    a row with a smaller diagonal moves nothing
    lasts    the time of the impulses [s]; without friction below 0
    close    lower bound of the tolerance: sweeps end when no row's rate changes by more
    sweeps   the largest number of sweeps

    Returns the number of sweeps. Row ANSWER of `spread` holds D⁻¹ Z FORCE.

    Reads: R.BEARS, R.FORCE, R.FREE_RATE, R.GRIP, R.MORE, R.MOST, R.PIVOT, R.POOL_FROM, R.POOL_TO, R.RADIUS, R.STEP,
        R.TURNING, R.WHAT, R.mass, R.order, R.own, R.pool, R.pool_dof, R.spread
    Writes: R.FORCE, R.FREE_RATE, R.MORE, R.MOST, R.RADIUS, R.STEP, R.own, R.spread
    """
    forget_answer(rows)
    begin, end = _lay_blocks(rows, first, last)
    size = 3 * (last - first)
    scale = 0.0
    for r in range(size):
        scale = max(scale, abs(rows.row[R.FREE_RATE, r]))
        rows.row[R.STEP, r] = 0.0
    set_most(rows, first, 0, size, lasts)
    for r in range(0, size, 3):
        b = rows.order[first + r // 3]
        rows.row[R.RADIUS, r] = _grip(rows, b, r, lasts)
        p = rows.row[R.FORCE]
        _add_answer(rows, b, p[r], p[r + 1], p[r + 2], ANSWER)
    close = max(close, ROUGH * scale)
    taken = sweeps
    before = 0.0
    every = False
    for sweep in range(sweeps):
        follow = 1.0 if sweep < LOOSE else 0.5
        everyone = every or sweep % ALL_EVERY == 0
        largest = 0.0
        for r in range(size):
            rows.row[R.MORE, r] = rows.row[R.FORCE, r]
        for d in range(begin, end):
            rows.spread[BEFORE, d] = rows.spread[ANSWER, d]
        for x in range(first, last):
            r = 3 * (x - first)
            if everyone or (rows.row[R.MOST, r + PARTED] == 0.0 and rows.row[R.MOST, r + CHANGED] > CALM * close):
                change = _sweep_block(rows, rows.order[x], r, least, lasts, follow)
                rows.row[R.MOST, r + CHANGED] = change
                largest = max(largest, change)
        if everyone and largest <= close:
            taken = sweep + 1
            break
        # the pressing blocks have converged: check all blocks
        every = largest <= close
        if sweep + 1 < sweeps:
            before = _go_on(rows, first, last, begin, end, before)
    for x in range(first, last):
        w = _rates(rows, rows.order[x], 3 * (x - first), lasts >= 0.0)
        for k in range(3):
            rows.row[R.FREE_RATE, 3 * (x - first) + k] = w[k]
    return taken


@kernel
def forget_answer(rows):
    """Clear the scratch of sweeps."""
    for k in range(len(rows.spread)):
        for d in range(rows.spread.shape[1]):
            rows.spread[k, d] = 0.0


@kernel
def _go_on(rows, first, last, begin, end, before):
    """Extrapolate a sweep, which changed MORE to FORCE, along the conjugate direction STEP. `before`: the squared norm
    of the previous sweep, weighted with the blocks' diagonals. Returns that of this one.

    The island has the degrees of freedom [begin:end]. One pass over them updates y, instead of one over each path.
    """
    p, start, along, own = rows.row[R.FORCE], rows.row[R.MORE], rows.row[R.STEP], rows.own
    square = 0.0
    for r in range(3 * (last - first)):
        square += own[r, r % 3] * (p[r] - start[r]) ** 2
    share = square / before if before > 0.0 and square < before else 0.0
    for d in range(begin, end):
        more = share * rows.spread[ALONG, d]
        rows.spread[ALONG, d] = more + rows.spread[ANSWER, d] - rows.spread[BEFORE, d]
        rows.spread[ANSWER, d] += more
    for x in range(first, last):
        b, r = rows.order[x], 3 * (x - first)
        for k in range(r, r + 3):
            swept = p[k] - start[k]
            p[k] += share * along[k]
            along[k] = share * along[k] + swept
        if rows.row[R.MOST, r + PARTED] != 0.0:
            # a block that separates has no impulse: remove it from the direction too
            _add_answer(rows, b, -p[r], -p[r + 1], -p[r + 2], ANSWER)
            _add_answer(rows, b, -along[r], -along[r + 1], -along[r + 2], ALONG)
            for k in range(r, r + 3):
                p[k] = along[k] = 0.0
            continue
        held = min(max(p[r], 0.0), rows.row[R.MOST, r])
        _add_answer(rows, b, held - p[r], 0.0, 0.0, ANSWER)
        p[r] = held
    return square


@kernel
def _lay_blocks(rows, first, last):
    """Compute each block's diagonal 3×3 part of G. Returns the range of the island's degrees of freedom."""
    pool, own = rows.pool, rows.own
    begin, end = rows.spread.shape[1], 0
    for x in range(first, last):
        b, r = rows.order[x], 3 * (x - first)
        g00 = g01 = g02 = g11 = g12 = g22 = 0.0
        for e in range(np.uint64(rows.link[b, R.POOL_FROM]), np.uint64(rows.link[b, R.POOL_TO])):
            d = np.int64(rows.pool_dof[e])
            begin, end = min(begin, d), max(end, d + 1)
            p0, p1, p2, pivot = pool[e, 0], pool[e, 1], pool[e, 2], pool[e, R.PIVOT]
            g00 += pivot * p0 * p0
            g01 += pivot * p0 * p1
            g02 += pivot * p0 * p2
            g11 += pivot * p1 * p1
            g12 += pivot * p1 * p2
            g22 += pivot * p2 * p2
        own[r, 0], own[r, 1], own[r, 2] = g00, g01, g02
        own[r + 1, 0], own[r + 1, 1], own[r + 1, 2] = g01, g11, g12
        own[r + 2, 0], own[r + 2, 1], own[r + 2, 2] = g02, g12, g22
    return begin, end


@kernel
def _grip(rows, b, r, lasts):
    """The largest friction impulse of a block."""
    if lasts < 0.0 or rows.link[b, R.WHAT] != R.CONTACT:
        return 0.0
    return rows.block[b, R.GRIP] * (rows.row[R.FORCE, r] + besides(rows, b, lasts))


@kernel
def _add_answer(rows, b, p0, p1, p2, column):
    """Add D⁻¹ Z p of one block to row `column` of `spread`."""
    pool = rows.pool
    if p1 == 0.0 and p2 == 0.0:
        if p0 != 0.0:
            for e in range(np.uint64(rows.link[b, R.POOL_FROM]), np.uint64(rows.link[b, R.POOL_TO])):
                rows.spread[column, rows.pool_dof[e]] += pool[e, R.PIVOT] * (pool[e, 0] * p0)
        return
    for e in range(np.uint64(rows.link[b, R.POOL_FROM]), np.uint64(rows.link[b, R.POOL_TO])):
        gain = pool[e, 0] * p0 + pool[e, 1] * p1 + pool[e, 2] * p2
        rows.spread[column, rows.pool_dof[e]] += pool[e, R.PIVOT] * gain


@kernel
def _rates(rows, b, r, rubs):
    """The rates of a block's rows with the present impulses; without friction (`rubs` False) only the first is
    computed."""
    pool, w = rows.pool, rows.row[R.FREE_RATE]
    w0, w1, w2 = w[r], w[r + 1], w[r + 2]
    path = range(np.uint64(rows.link[b, R.POOL_FROM]), np.uint64(rows.link[b, R.POOL_TO]))
    if not rubs or rows.link[b, R.WHAT] == R.LIMIT:
        for e in path:
            w0 += pool[e, 0] * rows.spread[ANSWER, rows.pool_dof[e]]
        return w0, w1, w2
    for e in path:
        y = rows.spread[ANSWER, rows.pool_dof[e]]
        w0 += pool[e, 0] * y
        w1 += pool[e, 1] * y
        w2 += pool[e, 2] * y
    return w0, w1, w2


@kernel
def _sweep_block(rows, b, r, least, lasts, follow):
    """Solve one block, with all others fixed. `follow`: the share of a change of its pressure that its friction limit
    follows. Returns the largest change of a row's rate."""
    own, p = rows.own, rows.row[R.FORCE]
    diagonal = own[r, 0]
    rows.row[R.MOST, r + PARTED] = 1.0
    if diagonal <= least:
        return 0.0
    w0, w1, w2 = _rates(rows, b, r, lasts >= 0.0)
    new = min(max(0.0, p[r] - w0 / diagonal), rows.row[R.MOST, r])
    change = new - p[r]
    if new > 0.0 or change != 0.0 or rows.row[R.RADIUS, r] > 0.0:
        rows.row[R.MOST, r + PARTED] = 0.0
    p[r] = new
    largest = abs(change) * diagonal
    x = y = 0.0
    if lasts >= 0.0 and rows.link[b, R.WHAT] == R.CONTACT:
        rows.row[R.RADIUS, r] += follow * (_grip(rows, b, r, lasts) - rows.row[R.RADIUS, r])
        x, y = _rub(own, p, r, w1 + change * own[r, 1], w2 + change * own[r, 2], rows.row[R.RADIUS, r], least)
        largest = max(largest, abs(x) * own[r + 1, 1], abs(y) * own[r + 2, 2])
        p[r + 1] += x
        p[r + 2] += y
    _add_answer(rows, b, change, x, y, ANSWER)
    return largest


@kernel
def _rub(own, p, r, w1, w2, most, least):
    """The change of a contact's friction: both directions together, projected onto the cone."""
    a, c, d = own[r + 1, 1], own[r + 1, 2], own[r + 2, 2]
    if a <= least or d <= least:
        return 0.0, 0.0
    determinant = a * d - c * c
    if determinant > 1e-12 * a * d:
        x = p[r + 1] - (d * w1 - c * w2) / determinant
        y = p[r + 2] - (a * w2 - c * w1) / determinant
    else:
        x, y = p[r + 1] - w1 / a, p[r + 2] - w2 / d
    length = math.sqrt(x * x + y * y)
    if length > most:
        # sliding: step along the gradient, then project onto the cone
        step = 1.0 / max(a, d)
        x, y = p[r + 1] - step * w1, p[r + 2] - step * w2
        length = math.sqrt(x * x + y * y)
        if length > most:
            x, y = x * most / length, y * most / length
    return x - p[r + 1], y - p[r + 2]
