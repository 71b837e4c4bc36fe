"""Static stability of a tree at rest: is its centre of mass above its contacts?

Owns the test of static balance. Must not know how it is used.

At rest the moments of contacts and weight about any line add up to 0, and contacts only press. So the centre of mass,
projected along gravity, is within the hull of the supporting points. A tree whose centre of mass is outside that hull
topples, however slowly. A body that leans on a wall or is held by a tie may rest anywhere.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel
from ..math.vectors import axpy, dot, load3, sub
from ..tables import contacts as CT, rows as R

# A contact is a wall if the cosine between its normal and gravity is below this.
STEEP = 0.7
ROUNDS = 24
# Kinds of support by a block.
NOT_AT_ALL, BELOW, BESIDE = 0, 1, 2


@kernel
def is_borne(touch, root, center, up, margin):
    """True if the centre of mass, relative to the anchor of the tree's root, is at most `margin` outside the support
    below the tree. up: a unit vector. True if nothing supports it."""
    place = load3(touch.found.where[CT.START_PLACE], root, 0)
    near = (0.0, 0.0, 0.0)
    found = False
    for b in range(touch.rows.count[R.BLOCKS]):
        how = _bears(touch, b, root, up)
        if how == BESIDE:
            return True
        if how == BELOW and not found:
            near, found = _aside(touch, b, place, center, up), True
    if not found:
        return True
    # from a point of the hull to the one nearest to the centre
    for _ in range(ROUNDS):
        length = math.sqrt(dot(near, near))
        if length <= margin:
            return True
        least, best = length, near
        for b in range(touch.rows.count[R.BLOCKS]):
            if _bears(touch, b, root, up) == BELOW:
                point = _aside(touch, b, place, center, up)
                along = dot(point, near) / length
                if along < least:
                    least, best = along, point
        if least > margin:
            return False
        way = sub(best, near)
        near = axpy(min(1.0, -dot(near, way) / dot(way, way)), way, near)
    return True


@kernel
def _bears(touch, b, root, up):
    """How a block supports a tree from outside: a contact that presses or touches, or a tie."""
    rows = touch.rows
    one, other = rows.root[rows.link[b, R.BODY_A]], rows.root[rows.link[b, R.BODY_B]]
    if one == other or root not in (one, other):
        return NOT_AT_ALL
    if rows.link[b, R.WHAT] == R.TIE:
        return BESIDE
    if rows.link[b, R.WHAT] != R.CONTACT:
        return NOT_AT_ALL
    if rows.block[b, R.TOTAL] <= 0.0 and rows.block[b, R.ERROR_NOW] > touch.limit[CT.SLOP]:
        return NOT_AT_ALL
    normal = load3(rows.block, b, R.ON_A + 3) if one == root else load3(rows.block, b, R.ON_B + 3)
    return BELOW if dot(normal, up) > STEEP else BESIDE


@kernel
def _aside(touch, b, place, center, up):
    """A contact's offset from the centre of mass, projected along gravity."""
    point = sub(sub(load3(touch.found.contact, touch.rows.link[b, R.SOURCE], CT.POINT), place), center)
    return axpy(-dot(point, up), up, point)
