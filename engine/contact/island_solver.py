"""Solve an island of contact rows: ties by elimination, contacts and limits by projected Gauss-Seidel.

Owns complementarity and the friction cone. Must not know about bodies or time.

Rows w = b + A p: for a tie w = 0; for a contact w₀ ≥ 0, p₀ ≥ 0, only one of them above zero, and friction p₁, p₂ at
most grip·p₀, against the sliding. Ties are eliminated first, which leaves the contacts their Schur complement. Those
are swept block by block (projected Gauss–Seidel), which finds out what presses, slides and parts. In between the active
set known so far is solved exactly (`polish`), without which heavy bodies on light ones take thousands of sweeps. The
active set of the stage before is mostly still right: then it takes one polish, and one sweep without changes.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Index, Real
from ..tables import rows as R
from ..tables.classes import Rows
from .exact_solve import change_rates, polish

SWEEPS = 60
# Sweeps end when no row's rate changes by more than this share of the largest.
CLOSE = 1e-7
# Redundant contacts share evenly if the sweep after their polish changes no more than this share.
EVEN = 1e-4
# If the first sweep changes less than this share, nothing has changed since the step before.
SAME = 1e-12
# After convergence the polish is repeated at most this often; and a polish adds or drops rows at most this often.
POLISHES, PIVOTS = 3, 4
# At first there is a polish for every so many rows of a sweep, so that it takes no longer than the sweeps. Later, when
# friction is held, it comes at this interval, and not right at the end.
ROWS_A_SWEEP = 64
POLISH, POLISH_EVERY = 3, 8
# Friction follows every change of the pressure at first. If that cycles (levers that press harder the more they rub),
# it is held for a while, from the best solution found, so that each round is a convex problem.
LOOSE, HOLD = 12, 8
# Ties are practically hard: the softness of redundant ones, as a share of a row's diagonal. More would yield under
# loads, and would treat a light body that holds something heavy as no hold at all.
SOFT = 1e-10
# A row whose diagonal is reduced by ties to this share is fixed by them: the rest is rounding, nothing can move it.
FAST = 1e-8
# The largest impulse of a contact, relative to the momentum of all bodies at the largest rate of the island's contacts
# before any of them presses. Feasible problems need less. Infeasible ones (keys that force bodies through one another)
# would grow without bound.
MOST_IMPULSE = 10.0


@kernel
def tie_rows(rows, first, last):
    """The number of rows of an island's ties, which come first."""
    ties = 0
    while first + ties < last and rows.link[rows.order[first + ties], R.WHAT] == R.TIE:
        ties += 1
    return 3 * ties


@separate
def eliminate_ties(rows: Rows, first: Index, last: Index, least: Real):
    """Gauss elimination of the island's tie rows, in place, three at a time: the matrix of a net is too large to be
    loaded for every row. Rows with a diagonal below `least` move nothing. Returns the number of tie rows.

    Reads: R.STEP, R.WHAT, R.matrix, R.order
    Writes: R.STEP, R.matrix
    """
    matrix, whole = rows.matrix, rows.row[R.STEP]
    ties, size = tie_rows(rows, first, last), 3 * (last - first)
    if ties == 0:
        return ties
    for k in range(size):
        whole[k] = matrix[k, k]
    for k in range(0, ties, 3):
        for r in range(k, k + 3):
            for s in range(k, r):
                f = matrix[s, r] / matrix[s, s] if matrix[s, s] > 0.0 else 0.0
                for j in range(r, size):
                    matrix[r, j] -= f * matrix[s, j]
            # nor does a redundant row
            soft = SOFT * whole[r]
            matrix[r, r] = matrix[r, r] + soft if whole[r] > least and matrix[r, r] > soft else 0.0
        p0, p1, p2 = matrix[k, k], matrix[k + 1, k + 1], matrix[k + 2, k + 2]
        for i in range(k + 3, size):
            f0 = matrix[k, i] / p0 if p0 > 0.0 else 0.0
            f1 = matrix[k + 1, i] / p1 if p1 > 0.0 else 0.0
            f2 = matrix[k + 2, i] / p2 if p2 > 0.0 else 0.0
            for j in range(i, size):
                matrix[i, j] -= f0 * matrix[k, j] + f1 * matrix[k + 1, j] + f2 * matrix[k + 2, j]
    for i in range(ties, size):
        if matrix[i, i] < FAST * whole[i]:
            matrix[i, i] = 0.0
        for j in range(i + 1, size):
            matrix[j, i] = matrix[i, j]
    return ties


@kernel
def keep_ties(rows, at, ties):
    """Keep the eliminated tie rows of the island that is in the matrix."""
    for k in range(ties):
        for j in range(k, ties):
            rows.tied[at + k, at + j] = rows.matrix[k, j]


@kernel
def solve_ties(rows, at, ties):
    """FORCE from FREE_RATE by the tie rows kept at `at`."""
    end = at + ties
    _take_out(rows.tied, rows.row[R.FREE_RATE], at, end, end)
    _put_back(rows.tied, rows.row[R.FREE_RATE], rows.row[R.FORCE], at, end, end)


@separate
def solve_island(rows: Rows, first: Index, last: Index, ties: Index, least: Real, lasts: Real):
    """FORCE from FREE_RATE (b): tie rows by substitution, the others by sweeps starting from FORCE.

    least    a row with a smaller diagonal moves nothing
    lasts    the time of the impulses [s]; without friction below 0

    Returns the number of sweeps.

    Reads: R.ADDED, R.ALONG_X, R.ALONG_Y, R.BEARS, R.FACTORED, R.FORCE, R.FREE_RATE, R.GRIP, R.KEPT_FORCE,
        R.KEPT_RADIUS, R.KEPT_RATE, R.MOST, R.RADIUS, R.STEP, R.TURNING, R.WHAT, R.mass, R.matrix, R.order, R.pick,
        R.picked, R.upper
    Writes: R.ADDED, R.ALONG_X, R.ALONG_Y, R.FACTORED, R.FORCE, R.FREE_RATE, R.KEPT_FORCE, R.KEPT_RADIUS, R.KEPT_RATE,
        R.MOST, R.RADIUS, R.STEP, R.pick, R.picked, R.upper
    """
    size = 3 * (last - first)
    _take_out(rows.matrix, rows.row[R.FREE_RATE], 0, ties, size)
    taken = 0
    if ties < size:
        _load_footholds(rows, first, ties, size, lasts, 1.0)
        taken = _sweep(rows, first, last, ties, least, lasts)
        _load_footholds(rows, first, ties, size, lasts, -1.0)
    _put_back(rows.matrix, rows.row[R.FREE_RATE], rows.row[R.FORCE], 0, ties, size)
    return taken


@kernel
def _take_out(matrix, b, first, ties, end):
    """Forward substitution through the eliminated rows `first` to `ties`: updates the rows behind them."""
    for k in range(first, ties):
        if matrix[k, k] > 0.0:
            f = b[k] / matrix[k, k]
            for i in range(k + 1, end):
                b[i] -= f * matrix[k, i]


@kernel
def _put_back(matrix, b, p, first, ties, end):
    """Back substitution: the eliminated rows' impulses, from those of the rows behind them."""
    for k in range(ties - 1, first - 1, -1):
        p[k] = 0.0
        if matrix[k, k] > 0.0:
            total = b[k]
            for j in range(k + 1, end):
                total += matrix[k, j] * p[j]
            p[k] = -total / matrix[k, k]


@kernel
def _sweep(rows, first, last, ties, least, lasts):
    """Sweeps. b becomes w and is updated with every change of p. Converged when a sweep changes nothing and the one
    right after a polish changed next to nothing."""
    size = 3 * (last - first)
    scale = 0.0
    for r in range(ties, size):
        scale = max(scale, abs(rows.row[R.FREE_RATE, r]))
    set_most(rows, first, ties, size, lasts)
    warm = _start(rows, first, ties, size, lasts)
    polishes, every = 0, 1 + (size - ties) // ROWS_A_SWEEP
    even, still, best = False, False, math.inf
    # the active set of the last stage is most likely still right
    new = warm and every == 1 and _off(rows, first, ties, size, least, lasts) > SAME * scale
    pivots, follows = PIVOTS if new else 0, lasts >= 0.0
    for sweep in range(SWEEPS):
        polished = False
        if pivots > 0:
            ended = polish(rows, first, ties, size, least, EVEN * scale, pivots, follows)
            polished = ended or still
        loose = sweep < LOOSE
        follows = loose and lasts >= 0.0
        moved = 0.0
        if loose or still or sweep % HOLD == 0:
            moved = _set_radii(rows, first, ties, size, lasts, 1.0 if loose else 0.5)
        largest = _sweep_once(rows, first, ties, size, least, loose, lasts)
        even = (even or polished) and largest <= EVEN * scale
        still = largest <= CLOSE * scale
        done = still and (even or polishes == POLISHES) and (loose or moved <= EVEN * scale)
        if done or (sweep == 0 and largest <= SAME * scale):
            return sweep + 1
        if loose and largest < best:
            best = largest
            _keep(rows, ties, size)
        if sweep == LOOSE - 1 and not largest <= best:
            _take_back(rows, ties, size)
        pivots = 0
        if still and not even and polishes < POLISHES:
            pivots = PIVOTS
            polishes += 1
        elif loose and sweep % every == every - 1:
            pivots = PIVOTS
        elif not loose and sweep % POLISH_EVERY == POLISH and sweep < SWEEPS - POLISH:
            pivots = 1
    return SWEEPS


@kernel
def _start(rows, first, ties, size, lasts):
    """Compute the rates with the initial impulses, and the friction they allow. Returns True if there are any."""
    p, warm = rows.row[R.FORCE], False
    for r in range(ties, size, 3):
        rows.row[R.RADIUS, r] = 0.0
        if p[r] != 0.0 or p[r + 1] != 0.0 or p[r + 2] != 0.0:
            warm = True
            change_rates(rows.matrix, rows.row[R.FREE_RATE], r, p[r], p[r + 1], p[r + 2], ties, size)
    _set_radii(rows, first, ties, size, lasts, 1.0)
    return warm


@kernel
def _keep(rows, ties, size):
    """Store the sweeps' state."""
    for r in range(ties, size):
        rows.row[R.KEPT_FORCE, r], rows.row[R.KEPT_RATE, r] = rows.row[R.FORCE, r], rows.row[R.FREE_RATE, r]
        rows.row[R.KEPT_RADIUS, r] = rows.row[R.RADIUS, r]


@kernel
def _take_back(rows, ties, size):
    """Restore the stored state."""
    for r in range(ties, size):
        rows.row[R.FORCE, r], rows.row[R.FREE_RATE, r] = rows.row[R.KEPT_FORCE, r], rows.row[R.KEPT_RATE, r]
        rows.row[R.RADIUS, r] = rows.row[R.KEPT_RADIUS, r]


@kernel
def set_most(rows, first, ties, size, lasts):
    """The largest impulse of each row, from the rates without any; limits have none."""
    fastest = 0.0
    for r in range(ties, size, 3):
        rows.row[R.MOST, r] = math.inf
        if rows.link[rows.order[first + r // 3], R.WHAT] == R.CONTACT:
            for k in range(3):
                fastest = max(fastest, abs(rows.row[R.FREE_RATE, r + k]))
    for r in range(ties, size, 3):
        if rows.link[rows.order[first + r // 3], R.WHAT] == R.CONTACT:
            rows.row[R.MOST, r] = MOST_IMPULSE * fastest * rows.mass[0]
            if rows.link[rows.order[first + r // 3], R.TURNING] == R.LEADS:
                # as much upwards as downwards
                rows.row[R.MOST, r] = 2.0 * max(lasts, 0.0) * rows.block[rows.order[first + r // 3], R.BEARS]


@kernel
def besides(rows, b, lasts):
    """A contact's impulse outside the solve; a foothold's is part of the solve."""
    return 0.0 if is_foothold(rows, b) else lasts * rows.block[b, R.BEARS]


@kernel
def is_foothold(rows, b):
    """True for a contact that may also pull, up to what it bears: a foothold, or a row that leads a foot."""
    return rows.link[b, R.TURNING] == R.BESIDE or rows.link[b, R.TURNING] == R.LEADS


@kernel
def _load_footholds(rows, first, ties, size, lasts, sign):
    """Add the weight that footholds bear to the solve (sign 1), or remove it (sign −1).

    A foothold's impulse counts from the weight that it bears in the source: it may be less than that, down to 0, which
    pulls the foot to the ground. With all of it included, the contact is an ordinary one that only presses.
    """
    if lasts < 0.0:
        return
    for r in range(ties, size, 3):
        b = rows.order[first + r // 3]
        if rows.link[b, R.WHAT] == R.CONTACT and is_foothold(rows, b) and rows.block[b, R.BEARS] > 0.0:
            weight = lasts * rows.block[b, R.BEARS]
            rows.row[R.FORCE, r] += sign * weight
            if sign > 0.0:
                change_rates(rows.matrix, rows.row[R.FREE_RATE], r, -weight, 0.0, 0.0, ties, size)


@kernel
def _set_radii(rows, first, ties, size, lasts, share):
    """Set the largest friction of each contact from its present pressure. Returns the largest change of a row's rate
    that this can make."""
    radius, p = rows.row[R.RADIUS], rows.row[R.FORCE]
    largest = 0.0
    for r in range(ties, size, 3):
        b = rows.order[first + r // 3]
        most = 0.0
        if lasts >= 0.0 and rows.link[b, R.WHAT] == R.CONTACT:
            most = rows.block[b, R.GRIP] * (p[r] + besides(rows, b, lasts))
        largest = max(largest, abs(most - radius[r]) * rows.matrix[r + 1, r + 1])
        radius[r] += share * (most - radius[r])
    return largest


@kernel
def _sweep_once(rows, first, ties, size, least, loose, lasts):
    """One pass over the blocks. Returns the largest change of a row's rate."""
    matrix, p = rows.matrix, rows.row[R.FORCE]
    largest = 0.0
    for r in range(ties, size, 3):
        change, x, y = _set_right(rows, first, r, least, loose, lasts)
        if change != 0.0 or x != 0.0 or y != 0.0:
            p[r] += change
            p[r + 1] += x
            p[r + 2] += y
            change_rates(matrix, rows.row[R.FREE_RATE], r, change, x, y, ties, size)
            largest = max(largest, _rate_of(matrix, r, change, x, y))
    return largest


@kernel
def _off(rows, first, ties, size, least, lasts):
    """The largest change of a row's rate that a block alone would make."""
    largest = 0.0
    for r in range(ties, size, 3):
        change, x, y = _set_right(rows, first, r, least, False, lasts)
        largest = max(largest, _rate_of(rows.matrix, r, change, x, y))
    return largest


@kernel
def _rate_of(matrix, r, change, x, y):
    return max(abs(change) * matrix[r, r], abs(x) * matrix[r + 1, r + 1], abs(y) * matrix[r + 2, r + 2])


@kernel
def _set_right(rows, first, r, least, loose, lasts):
    """The changes of impulse that solve the block at row r, with all others fixed."""
    matrix, w, p = rows.matrix, rows.row[R.FREE_RATE], rows.row[R.FORCE]
    diagonal = matrix[r, r]
    if diagonal <= least:
        return 0.0, 0.0, 0.0
    b = rows.order[first + r // 3]
    new = min(max(0.0, p[r] - w[r] / diagonal), rows.row[R.MOST, r])
    x, y = 0.0, 0.0
    if lasts >= 0.0 and rows.link[b, R.WHAT] == R.CONTACT:
        if loose:
            rows.row[R.RADIUS, r] = rows.block[b, R.GRIP] * (new + besides(rows, b, lasts))
        x, y = _rub(matrix, w, p, r, new - p[r], rows.row[R.RADIUS, r], least)
    return new - p[r], x, y


@kernel
def _rub(matrix, w, p, r, change, most, least):
    """The change of a contact's friction when its pressure has changed by `change`: both directions together, projected
    onto the cone."""
    a, c, d = matrix[r + 1, r + 1], matrix[r + 1, r + 2], matrix[r + 2, r + 2]
    determinant = a * d - c * c
    if a <= least or d <= least:
        return 0.0, 0.0
    w1, w2 = w[r + 1] + change * matrix[r, r + 1], w[r + 2] + change * matrix[r, r + 2]
    if determinant > 1e-12 * a * d:
        x = p[r + 1] - (d * w1 - c * w2) / determinant
        y = p[r + 2] - (a * w2 - c * w1) / determinant
    else:
        x, y = p[r + 1] - w1 / a, p[r + 2] - w2 / d
    length = math.sqrt(x * x + y * y)
    if length > most:
        # sliding: a gradient step, then projection onto the cone
        step = 1.0 / max(a, d)
        x, y = p[r + 1] - step * w1, p[r + 2] - step * w2
        length = math.sqrt(x * x + y * y)
        if length > most:
            x, y = x * most / length, y * most / length
    return x - p[r + 1], y - p[r + 2]
