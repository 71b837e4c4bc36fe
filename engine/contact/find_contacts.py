"""Contacts of all shapes that may touch within a step.

Owns how near shapes must be, by their speeds, and which contacts are left out before rows are made of them. Must not
know rows, nor how geometry is measured.
"""

from __future__ import annotations

import math

from ..collision.broad_phase import find_pairs
from ..collision.narrow_phase import collide
from ..compile.decorators import kernel
from ..geometry import shape_table as SH
from ..math.vectors import add, cross, dot, load3, sub
from ..tables import contacts as CT, control as C, rows as R, state as S, work as W
from .footfall import STRUCK_STANDS
from .ragdoll import RAGDOLL, are_ragdolls

# Which pairs of shapes are collided.
EVERY, BETWEEN, WITHIN = 0, 1, 2
# The share of SWERVE that is added to the approach speed of two bodies of one ragdoll.
SWERVE_WITHIN = 0.25
# Contacts are left out only if they stay apart even with this many times SWERVE: an impact may still change speeds.
AFTER_BLOW = 2.0
# If there is no room for all contacts, the search is repeated this many times, each with half the margin.
MARGINS = 6


@kernel
def find_contacts(tree, state, work, touch, h, gravity):
    """Find the contacts of all pairs that may touch within h seconds at their speeds."""
    shapes = touch.shapes
    fall = 0.5 * h * h * math.sqrt(dot(gravity, gravity))
    slop = touch.limit[CT.SLOP]
    struck = False
    for root in tree.roots:
        work.body[root, W.SWERVE] = 0.0
        struck = struck or state.body[root, S.STRUCK] != 0.0
    for s in range(len(touch.found.reach)):
        i = shapes.link[s, SH.BODY]
        w = load3(work.body, i, W.MOTION)
        # velocity of the body's frame: a spatial velocity refers to the point at the root's anchor
        root = touch.rows.root[i]
        arm = sub(load3(touch.found.where[CT.START_PLACE], i, 0), load3(touch.found.where[CT.START_PLACE], root, 0))
        v = add(load3(work.body, i, W.MOTION + 3), cross(w, arm))
        speed = math.sqrt(dot(v, v)) + shapes.shape[s, SH.REACH] * math.sqrt(dot(w, w)) if i > 0 else 0.0
        touch.found.reach[s] = h * speed + slop
        if shapes.link[s, SH.RESPONSE_KIND] != 0:
            # a foot that an impact lifted slightly still stands if it does in the source
            touch.found.reach[s] += touch.limit[CT.PLANT] * (1.0 + STRUCK_STANDS if struck else 1.0)
        if i > 0 and state.behaviour[i] != C.ANIMATED:
            touch.found.reach[s] += 2.0 * fall
        work.body[root, W.SWERVE] = max(work.body[root, W.SWERVE], speed)
    for s in range(len(touch.found.reach)):
        root = touch.rows.root[shapes.link[s, SH.BODY]]
        if touch.rows.ragdoll[root] == RAGDOLL:
            touch.found.reach[s] += h * work.body[root, W.SWERVE]
    touch.rows.count[R.PAIRS] = find_pairs(
        shapes, touch.found.placed, touch.found.reach, touch.found.moves, touch.found.box, touch.found.pairs
    )
    # if there may be no room for all contacts, those within one tree come last
    apart = 4 * touch.rows.count[R.PAIRS] > len(touch.found.contact)
    for root in tree.roots:
        apart = apart or touch.rows.ragdoll[root] == RAGDOLL
    count = _nearest_contacts(state, work, touch, h, 0, BETWEEN if apart else EVERY)
    if apart:
        _note_flights(tree, work, touch, count)
        count = _nearest_contacts(state, work, touch, h, count, WITHIN)
    touch.rows.count[R.CONTACTS] = count


@kernel
def _nearest_contacts(state, work, touch, h, first, which):
    """Append the contacts of pairs of shapes (see `_collide_pairs`). If there is no room for all of them, repeat with a
    smaller margin, so that near contacts come before far ones. Returns the new count."""
    share = 1.0
    count = _collide_pairs(state, work, touch, h, first, which, share)
    for _ in range(MARGINS):
        if count < len(touch.found.contact):
            break
        share *= 0.5
        count = _collide_pairs(state, work, touch, h, first, which, share)
    return count


@kernel
def _note_flights(tree, work, touch, count):
    """Set SWERVE of ragdolls whose only contacts so far are with themselves to 0."""
    for root in tree.roots:
        touch.rows.tally[root] = 0
    for c in range(count):
        for side in range(2):
            touch.rows.tally[touch.rows.root[touch.found.meet[c, CT.BODY_A if side == 0 else CT.BODY_B]]] = 1
    for root in tree.roots:
        if touch.rows.ragdoll[root] == RAGDOLL and touch.rows.tally[root] == 0:
            work.body[root, W.SWERVE] = 0.0


@kernel
def _reach_within(work, touch, a, b, h):
    """The distance below which two shapes of a ragdoll may touch within h seconds [m], by their relative velocity."""
    shapes, where = touch.shapes, touch.found.where[CT.START_PLACE]
    i, j = shapes.link[a, SH.BODY], shapes.link[b, SH.BODY]
    root = touch.rows.root[i]
    turn = sub(load3(work.body, j, W.MOTION), load3(work.body, i, W.MOTION))
    slide = sub(load3(work.body, j, W.MOTION + 3), load3(work.body, i, W.MOTION + 3))
    arm = sub(load3(where, j, 0), load3(where, root, 0))
    # both velocities refer to the point at the root's anchor: at the second body's position they differ by this
    slide = add(slide, cross(turn, arm))
    speed = math.sqrt(dot(slide, slide)) + shapes.shape[b, SH.REACH] * math.sqrt(dot(turn, turn))
    return 2.0 * touch.limit[CT.SLOP] + h * (speed + 2.0 * SWERVE_WITHIN * work.body[root, W.SWERVE])


@kernel
def _collide_pairs(state, work, touch, h, count, which, share):
    """Append the contacts of pairs of shapes: of EVERY pair, of those BETWEEN trees, or WITHIN one. Returns the new
    count. share: factor of the margin within which they may touch."""
    shapes, found, rows = touch.shapes, touch.found, touch.rows
    for k in range(rows.count[R.PAIRS]):
        a, b = found.pairs[k, 0], found.pairs[k, 1]
        i, j = shapes.link[a, SH.BODY], shapes.link[b, SH.BODY]
        if which != EVERY and (rows.root[i] == rows.root[j]) != (which == WITHIN):
            continue
        if _touches_when_limp(shapes, a, b) and not (_falls(state, rows, i) or _falls(state, rows, j)):
            continue
        margin = found.reach[a] + found.reach[b]
        if which == WITHIN and rows.ragdoll[rows.root[i]] == RAGDOLL:
            margin = min(margin, _reach_within(work, touch, a, b, h))
        last = collide(shapes, found.placed, a, b, share * margin, found.contact, found.meet, count)
        count = _keep_near(work, touch, h, count, last)
    return count


@kernel
def _keep_near(work, touch, h, first, last):
    """Remove those of the contacts first … last that cannot close within h seconds, before rows are made of them.
    Returns the new count."""
    rows, found = touch.rows, touch.found
    kept = first
    for c in range(first, last):
        if not _is_far(work, rows, found, c, h, touch.limit[CT.SLOP]):
            if kept < c:
                for k in range(found.contact.shape[1]):
                    found.contact[kept, k] = found.contact[c, k]
                for k in range(found.meet.shape[1]):
                    found.meet[kept, k] = found.meet[c, k]
            kept += 1
    return kept


@kernel
def _is_far(work, rows, found, c, h, slop):
    """True for a contact of ragdolls without bounce whose gap stays open for h seconds, an impact included."""
    i, j = found.meet[c, CT.BODY_A], found.meet[c, CT.BODY_B]
    gap, one, other = found.contact[c, CT.GAP], rows.root[i], rows.root[j]
    if gap <= slop or found.contact[c, CT.BOUNCE] != 0.0 or not are_ragdolls(rows, i, j):
        return False
    where, point = found.where[CT.START_PLACE], load3(found.contact, c, CT.POINT)
    speed = sub(_speed_at(work, where, i, one, point), _speed_at(work, where, j, other, point))
    approach = dot(load3(found.contact, c, CT.NORMAL), speed)
    return gap + h * (approach - AFTER_BLOW * swerve_between(work, one, other)) > slop


@kernel
def swerve_between(work, one, other):
    """By how much two bodies of these trees may approach faster than their rates say [m/s]."""
    swerve = max(work.body[one, W.SWERVE], work.body[other, W.SWERVE])
    return SWERVE_WITHIN * swerve if one == other else swerve


@kernel
def _speed_at(work, where, i, root, point):
    """Velocity of a body's point [m/s], from the body's motion about its root's anchor; 0 for the world."""
    arm = sub(point, load3(where, root, 0))
    return add(load3(work.body, i, W.MOTION + 3), cross(load3(work.body, i, W.MOTION), arm))


@kernel
def _touches_when_limp(shapes, a, b):
    """True if two shapes of one character touch only while limp."""
    return shapes.link[a, SH.FAMILY] <= SH.LIMP_FAMILY and shapes.link[a, SH.FAMILY] == shapes.link[b, SH.FAMILY]


@kernel
def _falls(state, rows, i):
    """True if a body is limp and the root of its tree is too."""
    return state.behaviour[i] == C.LIMP and state.behaviour[rows.root[i]] == C.LIMP
