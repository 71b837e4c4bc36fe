"""Exact solution of an island by pivoting, for the active set that the sweeps have found.

Owns the active set (which rows press, stick and slide) and the steps from one such set to the next. Must not know about
bodies, ties or time.

Sweeps find out what presses, sticks and slides, but converge slowly. With the active set known the rest is a linear
system. All three rows of a sticking contact have rate 0. A sliding contact has friction of grip times its pressure: its
normal row has rate 0 including that friction, and across the sliding its friction turns until it opposes it. A step
ends where a contact would have to pull, or to rub more than it can; the contact is then taken out, or slides. (If
contacts can only part or slide together, other orders of pivoting would cycle.)
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel
from ..tables import rows as R

# Softness added to each row, relative to the mean diagonal: of all solutions redundant contacts then take the least. At
# most this relative to the row's own diagonal, because where trunks and finger tips touch it would be large for the
# trunk.
SOFT, SOFT_MOST = 1e-8, 2e-8
# Relative to the largest impulse: what counts as zero, and what may be dropped at once.
NOISE, NOTHING = 1e-10, 1e-6
# A row is let in if, with softness everywhere, it would give way by this share of the row with the highest pressure.
LETS_IN = 1e-2
# Friction this near to its maximum slides.
SLIDES = 0.999999
# A sliding contact whose rate is less than this share of its rate without friction is about to jam.
JAMS = 1e-3
# Softness and turning friction leave a residual: up to this many further steps use the same factors, until it is below
# this share of what counts as near.
TURNS, GOOD = 3, 1e-4


@kernel
def polish(rows, first, ties, size, least, near, pivots, follows):
    """Solve exactly for the rows that press (and stick, and slide); the others stay as they are.

    Returns the least of all solutions: a little softness draws impulses to zero where that changes no rate, and lets
    rows in that should bear a share. follows: friction follows the pressure; otherwise it is held at RADIUS, and
    sliding contacts stay as they are. Returns True if it converged within `pivots`.
    """
    for _ in range(pivots):
        most = 0.0
        for r in range(ties, size, 3):
            most = max(most, rows.row[R.FORCE, r])
        still = _pick_rows(rows, ties, size, least, NOISE * most, follows)
        n = still if not follows else _pick_sliding(rows, ties, size, still)
        if n == 0:
            return True
        soft = _mean_softness(rows, n)
        if not _factor(rows, first, still, n, soft):
            follows = False
            continue
        ended = False
        for turn in range(1 + TURNS):
            left = _ask_step(rows, still, n, soft if turn == 0 else 0.0)
            if turn > 1 and left <= GOOD * near:
                break
            _solve_step(rows.upper, rows.row[R.STEP], still, n)
            whole = _take_step(rows, first, ties, size, still, n, most, follows)
            if turn == 0:
                ended = whole and not _let_in(rows, ties, size, least, near, soft, most)
                if not ended:
                    break
        if ended:
            return True
    return False


@kernel
def change_rates(matrix, w, r, one, two, three, ties, size):
    """A change of the impulses of the block at row r changes every w: three rows of the symmetric matrix."""
    for k in range(ties, size):
        w[k] += one * matrix[r, k] + two * matrix[r + 1, k] + three * matrix[r + 2, k]


@kernel
def _presses(rows, r, least, none):
    return none < rows.row[R.FORCE, r] < rows.row[R.MOST, r] and rows.matrix[r, r] > least


@kernel
def _pick_rows(rows, ties, size, least, none, follows):
    """The rows that shall have rate 0: the normal row of every block that presses with more than `none`, and all three
    where it sticks. ALONG_X, ALONG_Y of a sliding contact: the direction of its friction. Returns the number of
    rows."""
    matrix, p, pick = rows.matrix, rows.row[R.FORCE], rows.pick
    n = 0
    for r in range(ties, size, 3):
        rows.row[R.ALONG_X, r] = rows.row[R.ALONG_Y, r] = 0.0
        if not _presses(rows, r, least, none):
            continue
        most = rows.row[R.RADIUS, r]
        rubs = math.sqrt(p[r + 1] * p[r + 1] + p[r + 2] * p[r + 2])
        moves = matrix[r + 1, r + 1] > least and matrix[r + 2, r + 2] > least
        if follows and moves and rubs > none and rubs >= SLIDES * most:
            rows.row[R.ALONG_X, r], rows.row[R.ALONG_Y, r] = p[r + 1] / rubs, p[r + 2] / rubs
            continue
        pick[n] = r
        n += 1
        if moves and rubs < SLIDES * most:
            pick[n], pick[n + 1] = r + 1, r + 2
            n += 2
    return n


@kernel
def _pick_sliding(rows, ties, size, n):
    """Then two for every sliding contact: its pressure, and its friction across the sliding."""
    for r in range(ties, size, 3):
        if rows.row[R.ALONG_X, r] != 0.0 or rows.row[R.ALONG_Y, r] != 0.0:
            rows.pick[n], rows.pick[n + 1] = r, r + 1
            n += 2
    return n


@kernel
def _gripped(rows, first, r):
    """The growth of a block's friction with its pressure."""
    b = rows.order[first + r // 3]
    return rows.block[b, R.GRIP] if rows.link[b, R.WHAT] == R.CONTACT else 0.0


@kernel
def _answer_at(rows, first, still, q, j):
    """The change of row q's rate with the impulse picked as number j."""
    matrix, c = rows.matrix, rows.pick[j]
    if j < still:
        return matrix[q, c]
    if (j - still) % 2 == 0:
        along = rows.row[R.ALONG_X, c] * matrix[q, c + 1] + rows.row[R.ALONG_Y, c] * matrix[q, c + 2]
        return matrix[q, c] + _gripped(rows, first, c) * along
    return rows.row[R.ALONG_X, c - 1] * matrix[q, c + 1] - rows.row[R.ALONG_Y, c - 1] * matrix[q, c]


@kernel
def _mean_softness(rows, n):
    total = 0.0
    for i in range(n):
        total += rows.matrix[rows.pick[i], rows.pick[i]]
    return SOFT * total / n


@kernel
def _softness(matrix, r, soft):
    """The softness added to row r, if the mean row gets `soft`."""
    return min(soft, SOFT_MOST * matrix[r, r])


@kernel
def _factor(rows, first, still, n, soft):
    """Gauss elimination of the picked rows with their softness, unless it is done already. Returns False if it is
    impossible: contacts that press the harder the more they rub."""
    matrix, upper, pick = rows.matrix, rows.upper, rows.pick
    same = rows.count[R.FACTORED] == n and n == still
    for i in range(n):
        same = same and rows.picked[i] == pick[i]
        rows.picked[i] = pick[i]
    if same:
        return True
    rows.count[R.FACTORED] = n if n == still else 0
    for i in range(still):
        for j in range(i, still):
            upper[i, j] = matrix[pick[i], pick[j]]
        for j in range(still, n):
            upper[i, j] = _answer_at(rows, first, still, pick[i], j)
    for i in range(still, n, 2):
        r = pick[i]
        x, y = rows.row[R.ALONG_X, r], rows.row[R.ALONG_Y, r]
        for j in range(n):
            upper[i, j] = _answer_at(rows, first, still, r, j)
            one, other = _answer_at(rows, first, still, r + 1, j), _answer_at(rows, first, still, r + 2, j)
            upper[i + 1, j] = x * other - y * one
        upper[i + 1, i + 1] += _turns_with(rows, r)
    for i in range(n):
        upper[i, i] += _softness(matrix, pick[i], soft)
    return _eliminate(matrix, upper, pick, still, n, soft)


@kernel
def _turns_with(rows, r):
    """The change of the sliding velocity across with friction across, which opposes the sliding."""
    p, w = rows.row[R.FORCE], rows.row[R.FREE_RATE]
    rubs = math.sqrt(p[r + 1] * p[r + 1] + p[r + 2] * p[r + 2])
    return max(0.0, -(rows.row[R.ALONG_X, r] * w[r + 1] + rows.row[R.ALONG_Y, r] * w[r + 2])) / rubs


@kernel
def _eliminate(matrix, upper, pick, still, n, soft):
    """Gauss elimination in place, three rows at a time. The first `still` rows are symmetric and only their upper part
    is read; the multipliers of the others are stored in their lower part. Returns False if a row jams."""
    k = 0
    while k + 3 <= still:
        for s in range(k, k + 3):
            _set_pivot(matrix, upper, pick, s, soft)
            for r in range(s + 1, k + 3):
                f = upper[s, r] / upper[s, s]
                for j in range(r, n):
                    upper[r, j] -= f * upper[s, j]
        p0, p1, p2 = 1.0 / upper[k, k], 1.0 / upper[k + 1, k + 1], 1.0 / upper[k + 2, k + 2]
        for i in range(k + 3, still):
            f0, f1, f2 = upper[k, i] * p0, upper[k + 1, i] * p1, upper[k + 2, i] * p2
            for j in range(i, n):
                upper[i, j] -= f0 * upper[k, j] + f1 * upper[k + 1, j] + f2 * upper[k + 2, j]
        for i in range(still, n):
            f0 = upper[i, k] * p0
            f1 = (upper[i, k + 1] - f0 * upper[k, k + 1]) * p1
            f2 = (upper[i, k + 2] - f0 * upper[k, k + 2] - f1 * upper[k + 1, k + 2]) * p2
            upper[i, k], upper[i, k + 1], upper[i, k + 2] = f0, f1, f2
            for j in range(k + 3, n):
                upper[i, j] -= f0 * upper[k, j] + f1 * upper[k + 1, j] + f2 * upper[k + 2, j]
        k += 3
    for s in range(k, n):
        if s >= still and upper[s, s] < JAMS * matrix[pick[s], pick[s]]:
            return False
        _set_pivot(matrix, upper, pick, s, soft)
        for i in range(s + 1, n):
            f = (upper[s, i] if i < still else upper[i, s]) / upper[s, s]
            if i >= still:
                upper[i, s] = f
            for j in range(i if i < still else s + 1, n):
                upper[i, j] -= f * upper[s, j]
    return True


@kernel
def _set_pivot(matrix, upper, pick, k, soft):
    """No pivot is smaller than its row's softness, even if the row is redundant."""
    upper[k, k] = max(upper[k, k], 0.5 * _softness(matrix, pick[k], soft))


@kernel
def _ask_step(rows, still, n, soft):
    """Set STEP to the wanted change of the picked rows' rates: to zero rate, and with `soft` towards the least
    impulses. Returns the largest."""
    p, w, pick, step = rows.row[R.FORCE], rows.row[R.FREE_RATE], rows.pick, rows.row[R.STEP]
    largest = 0.0
    for i in range(n):
        r = pick[i]
        if i < still or (i - still) % 2 == 0:
            step[i] = -w[r] - _softness(rows.matrix, r, soft) * p[r]
        else:
            step[i] = rows.row[R.ALONG_Y, r - 1] * w[r] - rows.row[R.ALONG_X, r - 1] * w[r + 1]
        largest = max(largest, abs(step[i]))
    return largest


@kernel
def _solve_step(upper, x, still, n):
    """Solve for STEP by substitution."""
    for k in range(n):
        f = x[k] / upper[k, k]
        for i in range(k + 1, still):
            x[i] -= f * upper[k, i]
        for i in range(max(k + 1, still), n):
            x[i] -= x[k] * upper[i, k]
    for k in range(n - 1, -1, -1):
        # four independent sums, for instruction parallelism
        one, two, three, four = x[k], 0.0, 0.0, 0.0
        j = k + 1
        while j + 4 <= n:
            one -= upper[k, j] * x[j]
            two -= upper[k, j + 1] * x[j + 1]
            three -= upper[k, j + 2] * x[j + 2]
            four -= upper[k, j + 3] * x[j + 3]
            j += 4
        while j < n:
            one -= upper[k, j] * x[j]
            j += 1
        x[k] = (one + two + three + four) / upper[k, k]


@kernel
def _take_step(rows, first, ties, size, still, n, most, follows):
    """Go along STEP as far as possible. Returns True if to its end.

    Rows with little pressure that would have to pull stop at once, so that they do not block the rest.
    """
    p, pick, step, more = rows.row[R.FORCE], rows.pick, rows.row[R.STEP], rows.row[R.ADDED]
    for r in range(ties, size):
        more[r] = 0.0
    stops = False
    for i in range(n):
        r = pick[i]
        if (r - ties) % 3 == 0 and p[r] <= NOTHING * most and p[r] + step[i] < 0.0:
            stops = True
            for k in range(3):
                more[r + k] = -p[r + k]
    share = 0.0
    if not stops:
        share = _share_inside(rows, first, ties, still, n, follows)
        for i in range(still):
            more[pick[i]] = share * step[i]
        for i in range(still, n, 2):
            _slide(rows, first, pick[i], share * step[i], share * step[i + 1])
    for r in range(ties, size, 3):
        if more[r] != 0.0 or more[r + 1] != 0.0 or more[r + 2] != 0.0:
            for k in range(3):
                p[r + k] += more[r + k]
            change_rates(rows.matrix, rows.row[R.FREE_RATE], r, more[r], more[r + 1], more[r + 2], ties, size)
            if follows:
                rows.row[R.RADIUS, r] = max(0.0, rows.row[R.RADIUS, r] + _gripped(rows, first, r) * more[r])
    return share == 1.0


@kernel
def _slide(rows, first, r, more, across):
    """Set ADDED of a sliding contact: more pressure, more friction, and friction turned by `across`."""
    p, x, y = rows.row[R.FORCE], rows.row[R.ALONG_X, r], rows.row[R.ALONG_Y, r]
    radius, along = rows.row[R.RADIUS, r], _gripped(rows, first, r) * more
    one, other = (radius + along) * x - across * y, (radius + along) * y + across * x
    rubs = math.sqrt(one * one + other * other)
    if rubs > 0.0:
        one, other = one / rubs, other / rubs
        rows.row[R.ALONG_X, r], rows.row[R.ALONG_Y, r] = one, other
    rubs = max(0.0, radius + along)
    rows.row[R.ADDED, r] = more
    rows.row[R.ADDED, r + 1], rows.row[R.ADDED, r + 2] = rubs * one - p[r + 1], rubs * other - p[r + 2]


@kernel
def _share_inside(rows, first, ties, still, n, follows):
    """The share of the step for which all rows keep pressing and friction stays within its maximum."""
    p, step, pick = rows.row[R.FORCE], rows.row[R.STEP], rows.pick
    share = 1.0
    for i in range(n):
        r = pick[i]
        if (r - ties) % 3 != 0:
            continue
        if p[r] + share * step[i] < 0.0:
            share = -p[r] / step[i]
        if p[r] + share * step[i] > rows.row[R.MOST, r]:
            share = max(0.0, (rows.row[R.MOST, r] - p[r]) / step[i])
        if i + 1 < still and pick[i + 1] == r + 1:
            # |(x, y) + t(u, v)| = radius + t·more
            x, y, u, v = p[r + 1], p[r + 2], step[i + 1], step[i + 2]
            radius, more = rows.row[R.RADIUS, r], _gripped(rows, first, r) * step[i] if follows else 0.0
            two, one, none = u * u + v * v - more * more, x * u + y * v - radius * more, x * x + y * y - radius**2
            if none + share * (2.0 * one + share * two) > 0.0:
                outwards = one + math.sqrt(max(0.0, one * one - two * none))
                share = min(share, max(0.0, -none / outwards)) if outwards > 0.0 else 0.0
    return share


@kernel
def _let_in(rows, ties, size, least, near, soft, most):
    """Let rows in that bear nothing but touch and would give way if all were soft: they press a little from here on.
    Returns True if there are any."""
    matrix, p, w = rows.matrix, rows.row[R.FORCE], rows.row[R.FREE_RATE]
    found = False
    for r in range(ties, size, 3):
        gives_way = -near < w[r] < -LETS_IN * _softness(matrix, r, soft) * most
        if gives_way and p[r] <= NOISE * most and matrix[r, r] > least:
            found = True
            p[r] += NOTHING * most
            change_rates(matrix, w, r, NOTHING * most, 0.0, 0.0, ties, size)
    return found
