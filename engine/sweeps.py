"""The solve of an island: ties exactly, contacts and limits by sweeps.

Owns complementarity and the friction cone. Must not know about bodies or time.

Rows w = b + A p: of a tie w = 0; of a contact w₀ ≥ 0, p₀ ≥ 0, only one of them above
zero, and friction p₁, p₂ at most grip·p₀, against the sliding. Ties are eliminated
first, which leaves the contacts their Schur complement. Those are swept block by block
(projected Gauss–Seidel); the sweeps' steps are bent into conjugate directions, without
which heavy things on light ones take thousands.
"""

from __future__ import annotations

import math

from .jit import kernel
from .touch import AHEAD_OF, BEARS, BEFORE, CONTACT, FORCE, FREE_RATE, GRIP, TIE, WHAT

SWEEPS = 60
# Sweeps end when no row's rate changes by more than this share of the largest.
CLOSE = 1e-9
# Redundant ties share their impulses evenly: a hint of softness, as a share of the mean diagonal.
SOFT = 1e-10


@kernel
def eliminate_ties(rows, first, last):
    """Gauss elimination of the island's tie rows, in place. Returns how many rows they are."""
    matrix = rows.matrix
    ties = 0
    while first + ties < last and rows.link[rows.order[first + ties], WHAT] == TIE:
        ties += 1
    rows, size = 3 * ties, 3 * (last - first)
    if rows == 0:
        return 0
    mean = 0.0
    for k in range(rows):
        mean += matrix[k, k]
    soft = SOFT * mean / rows
    for k in range(rows):
        pivot = matrix[k, k] + soft
        if pivot <= 2.0 * soft:
            matrix[k, k] = 0.0
            continue
        matrix[k, k] = pivot
        for i in range(k + 1, size):
            f = matrix[k, i] / pivot
            if f != 0.0:
                for j in range(i, size):
                    matrix[i, j] -= f * matrix[k, j]
    for i in range(rows, size):
        for j in range(i + 1, size):
            matrix[j, i] = matrix[i, j]
    return rows


@kernel
def solve_island(rows, first, last, ties, least, lasts):
    """FORCE from FREE_RATE (b): tie rows by substitution, the others by sweeps starting from FORCE.

    `least`: a row with less on its diagonal moves nothing. `lasts`: seconds the impulses are given in;
    below 0 there is no friction.
    Returns the sweeps taken.
    """
    matrix, b, p = rows.matrix, rows.row[FREE_RATE], rows.row[FORCE]
    size = 3 * (last - first)
    for k in range(ties):
        if matrix[k, k] > least:
            f = b[k] / matrix[k, k]
            for i in range(k + 1, size):
                b[i] -= f * matrix[k, i]
    taken = 0
    if ties < size:
        taken = _sweep(rows, first, last, ties, least, lasts)
    for k in range(ties - 1, -1, -1):
        p[k] = 0.0
        if matrix[k, k] > least:
            total = b[k]
            for j in range(k + 1, size):
                total += matrix[k, j] * p[j]
            p[k] = -total / matrix[k, k]
    return taken


@kernel
def _sweep(rows, first, last, ties, least, lasts):
    """Nonsmooth conjugate sweeps. b becomes w, kept up to date with every change of p."""
    matrix, w, p = rows.matrix, rows.row[FREE_RATE], rows.row[FORCE]
    before, ahead = rows.row[BEFORE], rows.row[AHEAD_OF]
    size = 3 * (last - first)
    scale = 0.0
    for r in range(ties, size):
        scale = max(scale, abs(w[r]))
        ahead[r] = 0.0
    for r in range(ties, size):
        if p[r] != 0.0:
            _change(matrix, w, r, p[r], ties, size)
    old = 0.0
    for sweep in range(SWEEPS):
        for r in range(ties, size):
            before[r] = p[r]
        largest = _sweep_once(rows, first, ties, size, least, lasts)
        if largest <= CLOSE * scale or scale == 0.0:
            return sweep + 1
        step = 0.0
        for r in range(ties, size):
            step += (p[r] - before[r]) ** 2
        if sweep > 0 and sweep < SWEEPS - 1:
            beta = step / old if old > 0.0 else 2.0
            if beta > 1.0:
                for r in range(ties, size):
                    ahead[r] = 0.0
            else:
                for r in range(ties, size):
                    extra = beta * ahead[r]
                    if extra != 0.0:
                        p[r] += extra
                        _change(matrix, w, r, extra, ties, size)
                    ahead[r] = extra + (p[r] - extra - before[r])
        else:
            for r in range(ties, size):
                ahead[r] = p[r] - before[r]
        old = step
    return SWEEPS


@kernel
def _sweep_once(rows, first, ties, size, least, lasts):
    """One pass over the blocks. Returns the largest change of a row's rate."""
    matrix, w, p = rows.matrix, rows.row[FREE_RATE], rows.row[FORCE]
    largest = 0.0
    for r in range(ties, size, 3):
        diagonal = matrix[r, r]
        if diagonal <= least:
            continue
        b = rows.order[first + r // 3]
        new = max(0.0, p[r] - w[r] / diagonal)
        change = new - p[r]
        if change != 0.0:
            p[r] = new
            _change(matrix, w, r, change, ties, size)
            largest = max(largest, abs(change) * diagonal)
        if lasts >= 0.0 and rows.link[b, WHAT] == CONTACT:
            most = rows.block[b, GRIP] * (new + lasts * rows.block[b, BEARS])
            largest = max(largest, _rub(matrix, w, p, r, most, ties, size, least))
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
