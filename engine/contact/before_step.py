"""Contact stages before a step: find contacts, make rows, apply impacts, limit the step for fast bodies (METHODS §1d).

Owns finding contacts, making rows of them and cutting the step where something fast is
about to meet; the order of what happens before a step. Must not know targets or
controllers, nor how geometry is measured or rows are solved.
"""

from __future__ import annotations

import math

import numpy as np

from ..collision.broad_phase import find_pairs
from ..collision.contact_table import BODY_A as ROW_A
from ..collision.contact_table import BODY_B as ROW_B
from ..collision.contact_table import CONTACT_BOUNCE as BOUNCE
from ..collision.contact_table import CONTACT_FRICTION as FRICTION
from ..collision.contact_table import FEATURE, GAP, NORMAL, POINT, SHAPE_A, SHAPE_B
from ..collision.narrow_phase import collide
from ..collision.signed_distance import place_shapes
from ..collision.time_of_impact import time_of_impact
from ..compile.decorators import kernel, part
from ..controllers.follow.reference import advance, joint_rates, take_blow
from ..controllers.hooks import answer_blow
from ..controllers.shared.blow_state import is_light
from ..dynamics.kinematics import forward, momenta, place_bodies, velocities
from ..geometry.shape_table import BODY, FAMILY, LIMP_FAMILY, REACH, RESPONSE_KIND
from ..math.vectors import add, axpy, cross, dot, load3, load4, scale, store3, store4, sub
from ..model.model import FREE
from ..tables.state_table import (
    ANCHOR,
    ANIMATED,
    ANSWER,
    ASSIST,
    COORDS,
    DRIFT,
    FINAL,
    LEANED,
    LIMP,
    MOTION,
    NEW,
    NEW_ANCHOR,
    NOW,
    SPIN,
    STRUCK,
    SWERVE,
    V,
    pose_of,
)
from .footfall import STRUCK_STANDS
from .held_inertia import note_carried
from .impacts import GIVING, STOP_NEAR, collide_now, stops_hard
from .joint_space import row_rate
from .ragdoll import RAGDOLL, find_ragdolls, is_met_anywhere, limit_rates, moves_ragdolls
from .return_to_motion import let_return
from .standing_feet import add_footholds, allow_source, yield_to_pull
from .step_size import even_part
from .tables import (
    AHEAD,
    BEARS,
    BLOCKS,
    BODY_A,
    BODY_B,
    BOUNCE_SPEED,
    BRACED,
    CONTACT,
    CONTACTS,
    ERROR_NOW,
    GIVEN_UP,
    GRIP,
    IMPULSE,
    LEADS,
    LIMIT,
    MARK_A,
    MARK_B,
    MARK_FORCE,
    MARK_NORMAL,
    MARK_POINT,
    OLD,
    ON_A,
    ON_B,
    PAIRS,
    PLANT,
    REBOUND,
    ROWS,
    SIDE,
    SLOP,
    SOURCE,
    SPEED_NOW,
    START_PLACE,
    STAYS,
    TOTAL,
    TURNING,
    WHAT,
    WINDY,
)
from .tie_rows import across, add_block, add_limits, add_ties, blow_wind, put_force
from .unmet_contacts import give_up

# Which pairs of shapes.
EVERY, BETWEEN, WITHIN = 0, 1, 2
# The share of SWERVE by which bodies of one ragdoll come nearer to one another than their rates say.
SWERVE_WITHIN = 0.25
# So often contacts are sought within half the margin where there is no room for all.
MARGINS = 6
# Shortest part of a step, where something fast is about to meet.
LEAST_CUT = 1e-3


@kernel
def touching(touch):
    """Whether any row may be felt in this step."""
    if touch is None:
        return False
    return touch.rows.count[BLOCKS] > 0 or touch.rows.count[WINDY] > 0


@part
def meet(tree, plan, state, aim, work, touch, frame, time, h, least, gravity, dt, cut):
    """At a time [frames]: find contacts, let what meets collide, see what leans. Returns the seconds to step:
    h, or less where a blow sets joints whirling (but `least`), or something fast meets before (if `cut`)."""
    if touch is None:
        return h
    now = pose_of(work, NOW)
    place_bodies(tree, now, state.body, ANCHOR, touch.found.where[START_PLACE])
    place_shapes(touch.shapes, touch.found.where[START_PLACE], touch.found.placed)
    velocities(tree, now, state.rate[V], state.body, DRIFT, work.body, MOTION)
    find_ragdolls(tree, plan, state, touch.rows, frame)
    _find_contacts(tree, state, work, touch, h, gravity)
    _make_blocks(tree, state, work, touch, frame, h)
    allow_source(tree, state, aim, work, touch, h, gravity)
    give_up(tree, state, aim, work, touch, h)
    let_return(tree, plan, state, aim, work, touch, frame, time, dt)
    limit_rates(tree, plan, work, touch.rows, frame)
    struck = collide_now(tree, plan, state, aim, work, touch, frame, least)
    if struck != 0:
        answer_blow(tree, plan, state, frame, time, dt, work.rate[ANSWER], struck == GIVING)
        take_blow(tree, state, aim, work.rate[ANSWER])
        velocities(tree, now, state.rate[V], state.body, DRIFT, work.body, MOTION)
        momenta(tree, now, work.body, MOTION, state.body, SPIN)
        _limit_again(tree, state, touch, h)
        note_speeds(tree, state, work, touch.rows)
        let_return(tree, plan, state, aim, work, touch, frame, time, dt)
        h = even_part(tree, state, aim, work, h, h, least)
    h = _first_meeting(tree, state, work, touch, h, gravity, cut)
    blow_wind(tree, now, work, touch, frame, h)
    _note_leaning(tree, state, aim, touch)
    yield_to_pull(tree, state, aim, touch)
    note_carried(tree, state, work, touch)
    _start_warm(touch, h)
    return h


@kernel
def _find_contacts(tree, state, work, touch, h, gravity):
    """Contacts of all pairs that may touch within h seconds, from their speeds."""
    shapes = touch.shapes
    fall = 0.5 * h * h * math.sqrt(dot(gravity, gravity))
    slop = touch.limit[SLOP]
    struck = False
    for root in tree.roots:
        work.body[root, SWERVE] = 0.0
        struck = struck or state.body[root, STRUCK] != 0.0
    for s in range(len(touch.found.reach)):
        i = shapes.link[s, BODY]
        w = load3(work.body, i, MOTION)
        # velocity of the body's frame: the spatial velocity is that of the root anchor's point
        root = touch.rows.root[i]
        arm = sub(load3(touch.found.where[START_PLACE], i, 0), load3(touch.found.where[START_PLACE], root, 0))
        v = add(load3(work.body, i, MOTION + 3), cross(w, arm))
        speed = math.sqrt(dot(v, v)) + shapes.shape[s, REACH] * math.sqrt(dot(w, w)) if i > 0 else 0.0
        touch.found.reach[s] = h * speed + slop
        if shapes.link[s, RESPONSE_KIND] != 0:
            # what the blow has lifted a little stands all the same, if it does in the source
            touch.found.reach[s] += touch.limit[PLANT] * (1.0 + STRUCK_STANDS if struck else 1.0)
        if i > 0 and state.behaviour[i] != ANIMATED:
            touch.found.reach[s] += 2.0 * fall
        work.body[root, SWERVE] = max(work.body[root, SWERVE], speed)
    for s in range(len(touch.found.reach)):
        root = touch.rows.root[shapes.link[s, BODY]]
        if touch.rows.ragdoll[root] == RAGDOLL:
            touch.found.reach[s] += h * work.body[root, SWERVE]
    touch.rows.count[PAIRS] = find_pairs(
        shapes, touch.found.placed, touch.found.reach, touch.found.moves, touch.found.box, touch.found.pairs
    )
    # where there may be no room for all contacts, what bodies have with themselves comes last
    apart = 4 * touch.rows.count[PAIRS] > len(touch.found.contact)
    for root in tree.roots:
        apart = apart or touch.rows.ragdoll[root] == RAGDOLL
    count = _nearest_contacts(state, work, touch, h, 0, BETWEEN if apart else EVERY)
    if apart:
        _note_flights(tree, work, touch, count)
        count = _nearest_contacts(state, work, touch, h, count, WITHIN)
    touch.rows.count[CONTACTS] = count


@kernel
def _nearest_contacts(state, work, touch, h, first, which):
    """Append the contacts of pairs of shapes (see `_collide_pairs`). Where there is no room for all of them the pairs
    are asked again, with a smaller margin each time: what is near comes before what is far. The new count."""
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
    """SWERVE of ragdolls that meet nothing but themselves, by the contacts so far: none."""
    for root in tree.roots:
        touch.rows.tally[root] = 0
    for c in range(count):
        for side in range(2):
            touch.rows.tally[touch.rows.root[touch.found.meet[c, ROW_A if side == 0 else ROW_B]]] = 1
    for root in tree.roots:
        if touch.rows.ragdoll[root] == RAGDOLL and touch.rows.tally[root] == 0:
            work.body[root, SWERVE] = 0.0


@kernel
def _reach_within(work, touch, a, b, h):
    """How near two shapes of a ragdoll may come to touch within h seconds [m]: by how one moves seen from the other."""
    shapes, where = touch.shapes, touch.found.where[START_PLACE]
    i, j = shapes.link[a, BODY], shapes.link[b, BODY]
    root = touch.rows.root[i]
    turn = sub(load3(work.body, j, MOTION), load3(work.body, i, MOTION))
    slide = sub(load3(work.body, j, MOTION + 3), load3(work.body, i, MOTION + 3))
    arm = sub(load3(where, j, 0), load3(where, root, 0))
    # both velocities are of the point at the root's anchor: at the second body's place they differ by this
    slide = add(slide, cross(turn, arm))
    speed = math.sqrt(dot(slide, slide)) + shapes.shape[b, REACH] * math.sqrt(dot(turn, turn))
    return 2.0 * touch.limit[SLOP] + h * (speed + 2.0 * SWERVE_WITHIN * work.body[root, SWERVE])


@kernel
def _collide_pairs(state, work, touch, h, count, which, share):
    """Append the contacts of pairs of shapes: of EVERY one, of those BETWEEN trees, or WITHIN one. The new count.
    `share`: of the margin within which they may touch."""
    shapes, found, rows = touch.shapes, touch.found, touch.rows
    for k in range(rows.count[PAIRS]):
        a, b = found.pairs[k, 0], found.pairs[k, 1]
        i, j = shapes.link[a, BODY], shapes.link[b, BODY]
        if which != EVERY and (rows.root[i] == rows.root[j]) != (which == WITHIN):
            continue
        if _touches_when_limp(shapes, a, b) and not (_falls(state, rows, i) or _falls(state, rows, j)):
            continue
        margin = found.reach[a] + found.reach[b]
        if which == WITHIN and rows.ragdoll[rows.root[i]] == RAGDOLL:
            margin = min(margin, _reach_within(work, touch, a, b, h))
        count = collide(shapes, found.placed, a, b, share * margin, found.contact, found.meet, count)
    return count


@kernel
def _touches_when_limp(shapes, a, b):
    """Whether two shapes of one character touch only where they are limp."""
    return shapes.link[a, FAMILY] <= LIMP_FAMILY and shapes.link[a, FAMILY] == shapes.link[b, FAMILY]


@kernel
def _falls(state, rows, i):
    """Whether a body is limp, and the root of its tree as well."""
    return state.behaviour[i] == LIMP and state.behaviour[rows.root[i]] == LIMP


@kernel
def _make_blocks(tree, state, work, touch, frame, h):
    """A block a contact: along the normal, and along two directions across it. Then ties and limits."""
    count = touch.rows.count[CONTACTS]
    where = touch.found.where[START_PLACE]
    for c in range(count):
        i, j = touch.found.meet[c, ROW_A], touch.found.meet[c, ROW_B]
        one, other = touch.found.meet[c, SHAPE_A], touch.found.meet[c, SHAPE_B]
        braced = max(touch.shapes.link[one, RESPONSE_KIND], touch.shapes.link[other, RESPONSE_KIND])
        add_block(touch.rows, c, CONTACT, c, i, j, braced)
        normal, point = load3(touch.found.contact, c, NORMAL), load3(touch.found.contact, c, POINT)
        side, along = across(normal)
        arm_a, arm_b = sub(point, load3(where, touch.rows.root[i], 0)), sub(point, load3(where, touch.rows.root[j], 0))
        for r in range(3):
            direction = normal
            if r == 1:
                direction = side
            elif r == 2:
                direction = along
            put_force(touch.rows.block, c, ON_A + 6 * r, i, arm_a, direction)
            put_force(touch.rows.block, c, ON_B + 6 * r, j, arm_b, scale(-1.0, direction))
        touch.rows.block[c, ERROR_NOW] = touch.found.contact[c, GAP]
        touch.rows.block[c, GRIP], touch.rows.block[c, REBOUND] = (
            touch.found.contact[c, FRICTION],
            touch.found.contact[c, BOUNCE],
        )
    count = add_footholds(tree, state, touch, where, count)
    count = add_ties(touch.holds, touch.rows, where, frame, count)
    touch.rows.count[BLOCKS] = add_limits(tree, state, touch.holds.bound, touch.rows, h, count)
    note_speeds(tree, state, work, touch.rows)


@kernel
def _limit_again(tree, state, touch, h):
    """A blow sets joints turning: limits that were out of reach may be within it. Theirs are the last blocks."""
    count = touch.rows.count[BLOCKS]
    while count > 0 and touch.rows.link[count - 1, WHAT] == LIMIT:
        count -= 1
    touch.rows.count[BLOCKS] = add_limits(tree, state, touch.holds.bound, touch.rows, h, count)


@kernel
def note_speeds(tree, state, work, rows):
    for b in range(rows.count[BLOCKS]):
        for r in range(3):
            rows.block[b, SPEED_NOW + r] = row_rate(
                tree.dof, rows.block, rows.link, b, r, work.body, MOTION, state.rate[V]
            )


@kernel
def _first_meeting(tree, state, work, touch, h, gravity, cut):
    """Contacts to come: drop those that will pass by; cut the step where a fast one meets, or a joint its limit."""
    slop, fast = touch.limit[SLOP], -touch.limit[BOUNCE_SPEED]
    fall = 0.5 * h * h * math.sqrt(dot(gravity, gravity))
    foreseen = False
    a = b = -1
    t = least = 2.0
    for c in range(touch.rows.count[BLOCKS]):
        touch.rows.link[c, ROWS] = 0 if touch.rows.block[c, GIVEN_UP] >= 1.0 else 1
        gap, speed = touch.rows.block[c, ERROR_NOW], touch.rows.block[c, SPEED_NOW]
        anywhere = is_met_anywhere(touch.rows, c)
        if cut and not anywhere and gap > STOP_NEAR and gap + h * speed < 0.0 and stops_hard(state, touch.rows, c):
            least = min(least, (gap - 0.5 * STOP_NEAR) / (-h * speed))
        if touch.rows.link[c, WHAT] != CONTACT or touch.found.contact[touch.rows.link[c, SOURCE], GAP] <= slop:
            continue
        if touch.rows.block[c, BEARS] > 0.0:
            continue
        if anywhere:
            one, other = touch.rows.root[touch.rows.link[c, BODY_A]], touch.rows.root[touch.rows.link[c, BODY_B]]
            swerve = max(work.body[one, SWERVE], work.body[other, SWERVE])
            if one == other:
                swerve *= SWERVE_WITHIN
            touch.rows.link[c, ROWS] = 1 if gap + h * (speed - swerve) < slop else 0
            continue
        # along a straight way the gap of convex shapes is at least gap + speed·t
        if gap + h * speed - fall - 0.1 * h * abs(speed) > slop:
            touch.rows.link[c, ROWS] = 0
            continue
        k = touch.rows.link[c, SOURCE]
        if touch.found.meet[k, SHAPE_A] != a or touch.found.meet[k, SHAPE_B] != b:
            a, b = touch.found.meet[k, SHAPE_A], touch.found.meet[k, SHAPE_B]
            if not foreseen:
                _foresee(tree, state, work, touch, h, gravity)
                foreseen = True
            t = time_of_impact(
                touch.shapes,
                touch.found.where[START_PLACE],
                touch.found.where[AHEAD],
                touch.found.moving,
                a,
                b,
                0.5 * slop,
            )
        if t > 1.0:
            touch.rows.link[c, ROWS] = 0
        elif speed < fast and cut:
            least = min(least, t)
            touch.rows.link[c, ROWS] = 0
    return h * max(least, LEAST_CUT) if least < 1.0 else h


@kernel
def _foresee(tree, state, work, touch, h, gravity):
    """Where bodies would be after h seconds at their present rates."""
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        store4(work.body, i, NEW, advance(kind, load4(state.body, i, COORDS), joint_rates(kind, state.rate, V, d), h))
        place = axpy(h, load3(state.body, i, DRIFT), load3(state.body, i, ANCHOR))
        if kind == FREE:
            place = axpy(h, load3(state.rate, V, d + 3), place)
            if state.behaviour[i] != ANIMATED:
                place = axpy(0.5 * h * h, gravity, place)
        store3(work.body, i, NEW_ANCHOR, place)
    pose = pose_of(work, FINAL)
    forward(tree, work.body, NEW, NEW_ANCHOR, pose)
    place_bodies(tree, pose, work.body, NEW_ANCHOR, touch.found.where[AHEAD])


@kernel
def _note_leaning(tree, state, aim, touch):
    """Joints between a contact that is not braced against and the root will yield. Of a guided character the end of a
    finger's range moves the finger alone: a hand that yielded to it would be thrown about by the arm."""
    for i in range(1, len(tree.parent)):
        aim.body[i, LEANED] = float(touch.rows.count[WINDY])
    for b in range(touch.rows.count[BLOCKS]):
        if touch.rows.link[b, ROWS] > 0 and touch.rows.link[b, BRACED] == 0:
            for side in range(2):
                i = touch.rows.link[b, BODY_A] if side == 0 else touch.rows.link[b, BODY_B]
                root = touch.rows.root[i]
                guided = touch.rows.link[b, WHAT] == LIMIT and state.behaviour[root] == ASSIST
                alone = guided and is_light(tree, root, i)
                while i > 0 and aim.body[i, LEANED] == 0.0:
                    aim.body[i, LEANED] = 1.0
                    i = 0 if alone else tree.parent[i]
    # what cannot be felt is left out from here on
    kept = 0
    for b in range(touch.rows.count[BLOCKS]):
        if touch.rows.link[b, ROWS] > 0:
            if kept < b:
                for k in range(touch.rows.block.shape[1]):
                    touch.rows.block[kept, k] = touch.rows.block[b, k]
                for k in range(touch.rows.link.shape[1]):
                    touch.rows.link[kept, k] = touch.rows.link[b, k]
            kept += 1
    touch.rows.count[BLOCKS] = kept


@kernel
def _start_warm(touch, h):
    """Contacts, and limits of ragdolls, that were there a step ago start with the forces they had."""
    old, before = touch.rows.count[OLD], touch.found.old_meet
    if old == 0:
        return
    for b in range(touch.rows.count[BLOCKS]):
        if _keeps_warm(touch.rows, b):
            one, other, feature = _name(touch, b)
            for k in range(old):
                if before[k, 0] == one and before[k, 1] == other and before[k, 2] == feature:
                    for r in range(3):
                        touch.rows.block[b, IMPULSE + r] = h * touch.found.old[k, r]
                    break


@kernel
def _keeps_warm(rows, b):
    """Whether a block's forces are remembered from step to step."""
    if rows.link[b, WHAT] == LIMIT:
        return moves_ragdolls(rows, b)
    return rows.link[b, WHAT] == CONTACT and rows.link[b, TURNING] == 0


@kernel
def _name(touch, b):
    """What tells a block from all others: a contact's shapes and feature, a limit's joint and side."""
    rows = touch.rows
    if rows.link[b, WHAT] == LIMIT:
        return np.int64(-1), rows.link[b, BODY_A], rows.link[b, SIDE]
    c = rows.link[b, SOURCE]
    return touch.found.meet[c, SHAPE_A], touch.found.meet[c, SHAPE_B], touch.found.meet[c, FEATURE]


@kernel
def mark_contacts(touch, marks, frame, h):
    """Write down what pressed in the step just taken."""
    if touch is None:
        return
    rows = touch.rows
    kept = 0
    for b in range(rows.count[BLOCKS]):
        pressed = rows.link[b, WHAT] == CONTACT and rows.link[b, TURNING] != LEADS and rows.block[b, TOTAL] > 0.0
        if not pressed or kept >= marks.shape[1]:
            continue
        c = rows.link[b, SOURCE]
        i, j = rows.link[b, BODY_A], rows.link[b, BODY_B]
        marks[frame, kept, MARK_A], marks[frame, kept, MARK_B] = i, j
        for k in range(3):
            marks[frame, kept, MARK_POINT + k] = touch.found.contact[c, POINT + k]
            marks[frame, kept, MARK_NORMAL + k] = touch.found.contact[c, NORMAL + k]
            force = 0.0
            for r in range(3):
                along = rows.block[b, ON_A + 6 * r + 3 + k] if i > 0 else -rows.block[b, ON_B + 6 * r + 3 + k]
                force += rows.block[b, TOTAL + r] * along
            marks[frame, kept, MARK_FORCE + k] = force / h
        kept += 1


@kernel
def keep_warm(touch, h):
    """Remember the contacts' forces for the next step, which may shift places again."""
    if touch is None:
        return
    kept = 0
    for b in range(touch.rows.count[BLOCKS]):
        if touch.rows.block[b, IMPULSE] > 0.0 and _keeps_warm(touch.rows, b) and kept < len(touch.found.old):
            for r in range(3):
                touch.found.old[kept, r] = touch.rows.block[b, IMPULSE + r] / h
            one, other, feature = _name(touch, b)
            touch.found.old_meet[kept, 0], touch.found.old_meet[kept, 1] = one, other
            touch.found.old_meet[kept, 2] = feature
            kept += 1
    touch.rows.count[OLD] = kept
    touch.rows.count[STAYS] = 0
