"""The solve of an island: ties exactly, contacts and limits by sweeps.

Owns complementarity and the friction cone. Must not know about bodies or time.

Rows w = b + A p: of a tie w = 0; of a contact w₀ ≥ 0, p₀ ≥ 0, only one of them above
zero, and friction p₁, p₂ at most grip·p₀, against the sliding. Ties are eliminated
first, which leaves the contacts their Schur complement. Those are swept block by block
(projected Gauss–Seidel), which finds out what presses, slides and parts; now and then
the rows that press and stick are solved exactly, without which heavy things on light
ones take thousands of sweeps.
"""

from __future__ import annotations

import math

from .jit import kernel, part
from .touch import BEARS, BESIDE, CONTACT, FORCE, FREE_RATE, GRIP, LEADS, MOST, RADIUS, STEP, TIE, TURNING, WHAT

SWEEPS = 60
# Sweeps end when no row's rate changes by more than this share of the largest.
CLOSE = 1e-7
# Redundant contacts share evenly when the sweep after their polish changes no more than this share.
EVEN = 1e-4
# If the first sweep changes less than this share, nothing is new since the step before.
SAME = 1e-12
# So often what has come to rest is polished once more; and so often a polish leaves rows out or lets them in.
POLISHES, PIVOTS = 3, 4
# Beside the largest impulse: what is none, and what may go at once.
NOISE, NOTHING = 1e-10, 1e-6
# What would give way by this share of what the hardest pressed does, were all soft, is let in.
LETS_IN = 1e-2
# After so many sweeps the rows that press and stick are solved exactly, then every so often.
POLISH, POLISH_EVERY = 3, 8
# Friction follows every change of the pressure at first. Where that goes round in circles (levers that
# press harder the more they rub) it is held for a while, so that each round is a convex problem.
LOOSE, HOLD = 12, 8
# Ties are as good as hard: what redundant ones are soft by, as a share of a row's diagonal. More than that gives way
# under loads, and takes a crumb that holds something heavy for no hold at all.
SOFT = 1e-10
# A row that ties leave no more than this share of its diagonal is held fast by them: rounding, nothing can move it.
FAST = 1e-8
SOFT_POLISH = 1e-8
# The largest impulse of a contact, in parts of what all bodies together have at the largest rate of the island's
# contacts, when none presses yet.
# What can be met needs less. What cannot (keys that force bodies through one another) would grow without end.
MOST_IMPULSE = 10.0


@kernel
def tie_rows(rows, first, last):
    """How many rows the ties of an island have: they stand first."""
    ties = 0
    while first + ties < last and rows.link[rows.order[first + ties], WHAT] == TIE:
        ties += 1
    return 3 * ties


@part
def eliminate_ties(rows, first, last, least):
    """Gauss elimination of the island's tie rows, in place, three at a time: the matrix of a net is too
    large to be fetched for every row. Rows with less than `least` on their diagonal move nothing.
    Returns how many rows they are."""
    matrix, whole = rows.matrix, rows.row[STEP]
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
            # nor does a row that says what others have said already
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
    """Remember the eliminated tie rows of the island that is in the matrix."""
    for k in range(ties):
        for j in range(k, ties):
            rows.tied[at + k, at + j] = rows.matrix[k, j]


@kernel
def solve_ties(rows, at, ties):
    """FORCE from FREE_RATE by the tie rows kept at `at`."""
    end = at + ties
    _take_out(rows.tied, rows.row[FREE_RATE], at, end, end)
    _put_back(rows.tied, rows.row[FREE_RATE], rows.row[FORCE], at, end, end)


@part
def solve_island(rows, first, last, ties, least, lasts):
    """FORCE from FREE_RATE (b): tie rows by substitution, the others by sweeps starting from FORCE.

    `least`: a row with less on its diagonal moves nothing. `lasts`: seconds the impulses are given in;
    below 0 there is no friction.
    Returns the sweeps taken.
    """
    size = 3 * (last - first)
    _take_out(rows.matrix, rows.row[FREE_RATE], 0, ties, size)
    taken = 0
    if ties < size:
        _load_footholds(rows, first, ties, size, lasts, 1.0)
        taken = _sweep(rows, first, last, ties, least, lasts)
        _load_footholds(rows, first, ties, size, lasts, -1.0)
    _put_back(rows.matrix, rows.row[FREE_RATE], rows.row[FORCE], 0, ties, size)
    return taken


@kernel
def _take_out(matrix, b, first, ties, end):
    """Forwards through the eliminated rows `first` to `ties`: what the rows behind them still have to do."""
    for k in range(first, ties):
        if matrix[k, k] > 0.0:
            f = b[k] / matrix[k, k]
            for i in range(k + 1, end):
                b[i] -= f * matrix[k, i]


@kernel
def _put_back(matrix, b, p, first, ties, end):
    """Backwards: the eliminated rows' forces, from those of the rows behind them."""
    for k in range(ties - 1, first - 1, -1):
        p[k] = 0.0
        if matrix[k, k] > 0.0:
            total = b[k]
            for j in range(k + 1, end):
                total += matrix[k, j] * p[j]
            p[k] = -total / matrix[k, k]


@kernel
def _sweep(rows, first, last, ties, least, lasts):
    """Sweeps. b becomes w, kept up to date with every change of p. Done when a sweep finds nothing to change
    and the one right after a polish found next to nothing."""
    matrix, w, p = rows.matrix, rows.row[FREE_RATE], rows.row[FORCE]
    size = 3 * (last - first)
    scale = 0.0
    for r in range(ties, size):
        scale = max(scale, abs(w[r]))
    set_most(rows, first, ties, size, lasts)
    for r in range(ties, size):
        if p[r] != 0.0:
            _change(matrix, w, r, p[r], ties, size)
    polished = even = still = False
    polishes = 0
    for sweep in range(SWEEPS):
        loose = sweep < LOOSE
        moved = 0.0
        if loose or still or sweep % HOLD == 0:
            moved = _set_radii(rows, first, ties, size, lasts, 1.0 if loose else 0.5)
        largest = _sweep_once(rows, first, ties, size, least, loose, lasts)
        even = (even or polished) and largest <= EVEN * scale
        still = largest <= CLOSE * scale
        done = still and (even or polishes == POLISHES) and (loose or moved <= EVEN * scale)
        if done or (sweep == 0 and largest <= SAME * scale):
            return sweep + 1
        polished = still and not even and polishes < POLISHES
        if polished:
            _polish(rows, ties, size, least, EVEN * scale, PIVOTS)
            polishes += 1
        elif sweep % POLISH_EVERY == POLISH and sweep < SWEEPS - POLISH:
            _polish(rows, ties, size, least, EVEN * scale, 1)
    return SWEEPS


@kernel
def set_most(rows, first, ties, size, lasts):
    """The largest impulse of each row, from the rates without any; limits have none."""
    fastest = 0.0
    for r in range(ties, size, 3):
        rows.row[MOST, r] = math.inf
        if rows.link[rows.order[first + r // 3], WHAT] == CONTACT:
            for k in range(3):
                fastest = max(fastest, abs(rows.row[FREE_RATE, r + k]))
    for r in range(ties, size, 3):
        if rows.link[rows.order[first + r // 3], WHAT] == CONTACT:
            rows.row[MOST, r] = MOST_IMPULSE * fastest * rows.mass[0]
            if rows.link[rows.order[first + r // 3], TURNING] == LEADS:
                # as much up as down
                rows.row[MOST, r] = 2.0 * max(lasts, 0.0) * rows.block[rows.order[first + r // 3], BEARS]


@kernel
def besides(rows, b, lasts):
    """The impulse that a contact bears besides what is solved; a foothold's is part of the solve."""
    return 0.0 if is_foothold(rows, b) else lasts * rows.block[b, BEARS]


@kernel
def is_foothold(rows, b):
    """Whether a contact may pull, too, with what it bears: a foothold, or what leads a foot."""
    return rows.link[b, TURNING] == BESIDE or rows.link[b, TURNING] == LEADS


@kernel
def _load_footholds(rows, first, ties, size, lasts, sign):
    """Take the weight that footholds bear into the solve (sign 1), and out of it again (sign −1).

    A foothold's impulse counts from the weight that it bears in the source: it may give less than that, down to
    nothing, which pulls the foot to the ground. With all of it the solve is that of any contact, which only presses.
    """
    if lasts < 0.0:
        return
    for r in range(ties, size, 3):
        b = rows.order[first + r // 3]
        if rows.link[b, WHAT] == CONTACT and is_foothold(rows, b) and rows.block[b, BEARS] > 0.0:
            weight = lasts * rows.block[b, BEARS]
            rows.row[FORCE, r] += sign * weight
            if sign > 0.0:
                _change(rows.matrix, rows.row[FREE_RATE], r, -weight, ties, size)


@kernel
def _set_radii(rows, first, ties, size, lasts, share):
    """How much friction each contact can give, from how hard it presses now. Returns by how much that can
    change a row's rate."""
    radius, p = rows.row[RADIUS], rows.row[FORCE]
    largest = 0.0
    for r in range(ties, size, 3):
        b = rows.order[first + r // 3]
        most = 0.0
        if lasts >= 0.0 and rows.link[b, WHAT] == CONTACT:
            most = rows.block[b, GRIP] * (p[r] + besides(rows, b, lasts))
        largest = max(largest, abs(most - radius[r]) * rows.matrix[r + 1, r + 1])
        radius[r] += share * (most - radius[r])
    return largest


@kernel
def _polish(rows, ties, size, least, near, pivots):
    """Solve exactly for the rows that press (and, inside the cone, stick), the others left as they are.

    Of all impulses that do so the least: a hint of softness draws them to zero wherever that
    changes no rate, and lets in what should bear its share. Rows that the solve takes to the
    end of what they can give are left out next.
    """
    w, pick, step = rows.row[FREE_RATE], rows.pick, rows.row[STEP]
    for _ in range(pivots):
        most = 0.0
        for r in range(ties, size, 3):
            most = max(most, rows.row[FORCE, r])
        n = _pick_rows(rows, ties, size, least, NOISE * most)
        if n == 0:
            return
        soft = _least_step(rows, n)
        if _take_step(rows, ties, size, n, most) and not _let_in(rows, ties, size, least, near, soft, most):
            # what the softness left over
            for i in range(n):
                step[i] = -w[pick[i]]
            _solve_picked(rows.upper, step, n)
            _take_step(rows, ties, size, n, most)
            return


@kernel
def _pick_rows(rows, ties, size, least, none):
    """The rows to polish: what presses with more than `none`. Returns how many."""
    matrix, p, pick = rows.matrix, rows.row[FORCE], rows.pick
    n = 0
    for r in range(ties, size, 3):
        if none < p[r] < rows.row[MOST, r] and matrix[r, r] > least:
            pick[n] = r
            n += 1
            most = rows.row[RADIUS, r]
            inside = p[r + 1] * p[r + 1] + p[r + 2] * p[r + 2] < 0.999999 * most * most
            if inside and matrix[r + 1, r + 1] > least and matrix[r + 2, r + 2] > least:
                pick[n], pick[n + 1] = r + 1, r + 2
                n += 2
    return n


@kernel
def _least_step(rows, n):
    """STEP to the least impulses that stop the picked rows. Returns how soft they were taken to be."""
    matrix, p, w, pick, step = rows.matrix, rows.row[FORCE], rows.row[FREE_RATE], rows.pick, rows.row[STEP]
    soft = 0.0
    for i in range(n):
        soft += SOFT_POLISH * matrix[pick[i], pick[i]] / n
    for i in range(n):
        step[i] = -w[pick[i]] - soft * p[pick[i]]
    _factor_picked(matrix, rows.upper, pick, n, soft)
    _solve_picked(rows.upper, step, n)
    return soft


@kernel
def _take_step(rows, ties, size, n, most):
    """Go along STEP as far as possible. Returns whether to its end.

    Rows that hardly press and would have to pull stop at once; without them the way is free for the rest.
    """
    p, w, pick, step = rows.row[FORCE], rows.row[FREE_RATE], rows.pick, rows.row[STEP]
    stops = False
    for i in range(n):
        r = pick[i]
        if (r - ties) % 3 == 0 and p[r] <= NOTHING * most and p[r] + step[i] < 0.0:
            stops = True
            for k in range(3):
                change = -p[r + k]
                p[r + k] = 0.0
                _change(rows.matrix, w, r + k, change, ties, size)
    if stops:
        return False
    share = _share_inside(rows, ties, n)
    for i in range(n):
        p[pick[i]] += share * step[i]
        _change(rows.matrix, w, pick[i], share * step[i], ties, size)
    return share == 1.0


@kernel
def _let_in(rows, ties, size, least, near, soft, most):
    """What bears nothing, but touches and would give way if all were soft, presses a little from here on.
    Returns whether anything does."""
    matrix, p, w = rows.matrix, rows.row[FORCE], rows.row[FREE_RATE]
    found = False
    for r in range(ties, size, 3):
        if p[r] <= NOISE * most and matrix[r, r] > least and -near < w[r] < -LETS_IN * soft * most:
            found = True
            p[r] += NOTHING * most
            _change(matrix, w, r, NOTHING * most, ties, size)
    return found


@kernel
def _factor_picked(matrix, upper, pick, n, soft):
    """Gauss elimination of the picked rows, `soft` added to the diagonal."""
    for i in range(n):
        for j in range(i, n):
            upper[i, j] = matrix[pick[i], pick[j]]
        upper[i, i] += soft
    for k in range(n):
        if upper[k, k] < 0.5 * soft:
            upper[k, k] = 0.5 * soft
        for i in range(k + 1, n):
            f = upper[k, i] / upper[k, k]
            if f != 0.0:
                for j in range(i, n):
                    upper[i, j] -= f * upper[k, j]


@kernel
def _solve_picked(upper, x, n):
    for k in range(n):
        f = x[k] / upper[k, k]
        for i in range(k + 1, n):
            x[i] -= f * upper[k, i]
    for k in range(n - 1, -1, -1):
        f = x[k]
        for j in range(k + 1, n):
            f -= upper[k, j] * x[j]
        x[k] = f / upper[k, k]


@kernel
def _share_inside(rows, ties, n):
    """How much of the polish's step stays pressing and within the friction there is."""
    p, step, pick = rows.row[FORCE], rows.row[STEP], rows.pick
    share = 1.0
    for i in range(n):
        r = pick[i]
        if (r - ties) % 3 == 0:
            if p[r] + share * step[i] < 0.0:
                share = -p[r] / step[i]
            if p[r] + share * step[i] > rows.row[MOST, r]:
                share = max(0.0, (rows.row[MOST, r] - p[r]) / step[i])
            if i + 1 < n and pick[i + 1] == r + 1:
                x, y, u, v = p[r + 1], p[r + 2], step[i + 1], step[i + 2]
                # |(x, y) + t(u, v)| = radius
                two, one, none = u * u + v * v, x * u + y * v, x * x + y * y - rows.row[RADIUS, r] ** 2
                if none + share * (2.0 * one + share * two) > 0.0:
                    share = min(share, max(0.0, -none / (one + math.sqrt(max(0.0, one * one - two * none)))))
    return share


@kernel
def _sweep_once(rows, first, ties, size, least, loose, lasts):
    """One pass over the blocks. Returns the largest change of a row's rate."""
    matrix, w, p = rows.matrix, rows.row[FREE_RATE], rows.row[FORCE]
    largest = 0.0
    for r in range(ties, size, 3):
        diagonal = matrix[r, r]
        if diagonal <= least:
            continue
        b = rows.order[first + r // 3]
        new = min(max(0.0, p[r] - w[r] / diagonal), rows.row[MOST, r])
        change = new - p[r]
        if change != 0.0:
            p[r] = new
            _change(matrix, w, r, change, ties, size)
            largest = max(largest, abs(change) * diagonal)
        if lasts >= 0.0 and rows.link[b, WHAT] == CONTACT:
            if loose:
                rows.row[RADIUS, r] = rows.block[b, GRIP] * (new + besides(rows, b, lasts))
            largest = max(largest, _rub(matrix, w, p, r, rows.row[RADIUS, r], ties, size, least))
    return largest


@kernel
def _rub(matrix, w, p, r, most, ties, size, least):
    """Friction of the contact at row r: both directions together, held to the cone."""
    a, c, d = matrix[r + 1, r + 1], matrix[r + 1, r + 2], matrix[r + 2, r + 2]
    determinant = a * d - c * c
    if a <= least or d <= least:
        return 0.0
    if determinant > 1e-12 * a * d:
        x = p[r + 1] - (d * w[r + 1] - c * w[r + 2]) / determinant
        y = p[r + 2] - (a * w[r + 2] - c * w[r + 1]) / determinant
    else:
        x, y = p[r + 1] - w[r + 1] / a, p[r + 2] - w[r + 2] / d
    length = math.sqrt(x * x + y * y)
    if length > most:
        # sliding: step along the gradient, then onto the cone
        step = 1.0 / max(a, d)
        x, y = p[r + 1] - step * w[r + 1], p[r + 2] - step * w[r + 2]
        length = math.sqrt(x * x + y * y)
        if length > most:
            x, y = x * most / length, y * most / length
    largest = 0.0
    change = x - p[r + 1]
    if change != 0.0:
        p[r + 1] = x
        _change(matrix, w, r + 1, change, ties, size)
        largest = abs(change) * a
    change = y - p[r + 2]
    if change != 0.0:
        p[r + 2] = y
        _change(matrix, w, r + 2, change, ties, size)
        largest = max(largest, abs(change) * d)
    return largest


@kernel
def _change(matrix, w, r, change, ties, size):
    """A change of p[r] changes every w: a row of the symmetric matrix."""
    for k in range(ties, size):
        w[k] += change * matrix[r, k]
