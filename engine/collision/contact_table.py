"""The table of contacts: writing rows, and reducing the rows of a pair to four.

Owns the choice of the contacts that are kept. Must not know shapes.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile.decorators import kernel
from ..math.vectors import axpy, cross, dot, load3, store3, sub
from ..tables import contacts as CT

KEPT = 4  # contacts of a pair
WINDOW = 96  # rows that a pair may use before it is reduced to KEPT
PREFER = 1.02  # hysteresis: a later candidate must be this much better, so that features do not alternate
RISE = 4.0  # weight of the height above the deepest contact: contacts far above it do not touch soon
# Numbers of features: offsets for corners of one, corners of two, crossings of edges, and the nearest points.
OF_ONE = np.int64(0)
OF_TWO = np.int64(1 << 10)
CROSSING = np.int64(1 << 20)
WITNESS = np.int64(1 << 30)
LOW_END, HIGH_END = np.int64(1), np.int64(2)  # ends of the overlap of two parallel capsules


@kernel
def offer(contact, meet, first, last, margin, x, n, d, radius, other, feature):
    """Write a contact after row `last` if it is within the margin; if there is no room, replace the pair's shallowest.

    x: the point of one without its rounding; d: its distance along n from two without its rounding. Returns the new
    last row.
    """
    gap = d - radius - other
    if gap > margin:
        return last
    row = last
    if last >= min(first + WINDOW, len(contact)):
        row = first
        for k in range(first + 1, last):
            if contact[k, CT.GAP] > contact[row, CT.GAP]:
                row = k
        if contact[row, CT.GAP] <= gap:
            return last
    store3(contact, row, CT.POINT, axpy(0.5 * (other - radius - d), n, x))
    store3(contact, row, CT.NORMAL, n)
    contact[row, CT.GAP] = gap
    meet[row, CT.FEATURE] = feature
    return max(last, row + 1)


@kernel
def _swap(contact, meet, i, j):
    for k in range(CT.GAP + 1):
        contact[i, k], contact[j, k] = contact[j, k], contact[i, k]
    meet[i, CT.FEATURE], meet[j, CT.FEATURE] = meet[j, CT.FEATURE], meet[i, CT.FEATURE]


@kernel
def keep(contact, meet, first, last):
    """Reduce the rows of a pair to at most KEPT: the deepest, then those that span the largest area perpendicular to
    the normal. Height above the deepest counts against a contact. Duplicates are dropped. Returns the new last row."""
    if last - first < 2:
        return last
    at = first
    for row in range(first + 1, last):
        if contact[row, CT.GAP] < contact[at, CT.GAP]:
            at = row
    _swap(contact, meet, first, at)
    p, n, lowest = load3(contact, first, CT.POINT), load3(contact, first, CT.NORMAL), contact[first, CT.GAP]
    u = v = (0.0, 0.0, 0.0)  # to the second and third
    kept = first + 1
    for k in range(1, KEPT):
        best, at = 0.0, -1
        for row in range(kept, last):
            arm = sub(load3(contact, row, CT.POINT), p)
            arm = axpy(-dot(arm, n), n, arm)
            rise = RISE * (contact[row, CT.GAP] - lowest)
            if k == 1:
                score = math.sqrt(dot(arm, arm)) - rise - 1e-6
            else:
                span = math.sqrt(dot(u, u))
                score = abs(dot(cross(u, arm), n)) - span * (rise + 1e-3 * span)
                if k == 3:
                    # the area it adds to the triangle: its distance beyond one of the sides
                    turn = dot(cross(u, v), n)
                    sign = 1.0 if turn > 0.0 else -1.0
                    beyond = -sign * dot(cross(u, arm), n)
                    beyond = max(beyond, sign * dot(cross(v, arm), n))
                    beyond = max(beyond, -sign * dot(cross(sub(v, u), sub(arm, u)), n))
                    score = beyond - span * (rise + 1e-3 * span)
            if score > PREFER * best:
                best, at = score, row
        if at < 0:
            break
        _swap(contact, meet, kept, at)
        arm = sub(load3(contact, kept, CT.POINT), p)
        if k == 1:
            u = arm
        else:
            v = arm
        kept += 1
    return kept
