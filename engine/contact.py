"""Contact: what meets, what leans on what, and how it is pushed apart (METHODS §1d).

Owns the stages of a step that have to do with touching. Must not know targets or
controllers, nor how geometry is measured or rows are solved.

Before a step: contacts are found, what meets fast collides (impacts, with bounce), and
the step is cut short where something fast is about to meet. Within the step, at the
middle pose, what touches leans: rows v ≥ −gap/h are part of every stage of the solve.
Depth is undone by a shift of places that adds no speed.
"""

from __future__ import annotations

import math

from .aim import advance, difference, joint_rates, store_rates, take_blow
from .articulated import factorise, momentum_of
from .collide import BODY_A as ROW_A
from .collide import BODY_B as ROW_B
from .collide import CONTACT_BOUNCE as BOUNCE
from .collide import CONTACT_FRICTION as FRICTION
from .collide import FEATURE, GAP, NORMAL, POINT, SHAPE_A, SHAPE_B, collide, time_of_impact
from .distance import place_shapes
from .holds import add_block, add_limits, add_ties, blow_wind, put_force
from .jit import kernel
from .kinematics import forward, momenta, velocities
from .model import FREE
from .pairs import find_pairs
from .rows import fill_matrix, find_islands, give, lay_paths, load_bodies, load_joints, row_rate, solved_end
from .shapes import BODY, REACH, RESPONSE_KIND
from .spatial import add, axpy, cross, dot, load3, load4, scale, store3, store4, sub
from .state import (
    ANCHOR,
    ANIMATED,
    ANSWER,
    ASSIST,
    CHANGE,
    COMPLIANCE,
    COMPLIANT,
    COMPOSITE,
    COORDS,
    DRIFT,
    FELT,
    FINAL,
    FROM,
    GAINS,
    GOAL_DRIFT,
    LEANED,
    LIMP,
    LOAD,
    LOADED_RATE,
    MAIN,
    MIDDLE,
    MOMENTUM,
    MOMENTUM2,
    MOTION,
    NEW,
    NEW_ANCHOR,
    NOW,
    RATE,
    SHARE,
    SHIFTED,
    SIMULATED,
    SPIN,
    STAGE_RATE,
    STILL,
    STOPS,
    TARGET_ANCHOR,
    TARGET_ANCHOR_RATE,
    TOTAL_RATE,
    TRACKED,
    TRACKING,
    VALUE,
    U,
    V,
    factor_of,
    pose_of,
)
from .sweeps import eliminate_ties, solve_island
from .touch import (
    AHEAD,
    ALLOWED,
    BEARS,
    BLOCKS,
    BODY_A,
    BODY_B,
    BOUNCE_SPEED,
    BRACED,
    CONTACT,
    CONTACTS,
    ERROR_NOW,
    FORCE,
    FREE_RATE,
    GRIP,
    IMPULSE,
    LEAST,
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
    SHIFT,
    SLOP,
    SOURCE,
    SPEED_NOW,
    START_PLACE,
    TIE,
    TOTAL,
    WHAT,
    WINDY,
)
from .tree import MASS, PLACE, ROTATION

# Depth that was there before the step is pushed out with this time constant [s].
RECOVER = 0.03
# Slower than this a foot near the ground stands on it [m/s].
STANDS = 0.4
# A blow lasts about this long: what a bearing foot's friction can give meanwhile [s].
BLOW = 0.02
NO_FRICTION = -1.0
# The most a step's contacts may change a driven joint's rate [rad/s] and shift it [rad].
RATE_MOST, SHIFT_MOST = 40.0, 0.1
# As far as a blow may swing a driven joint [rad], and how often the others are asked again.
SWING = 1.5
STIFFENINGS = 4
# Shortest part of a step, where something fast is about to meet.
LEAST_CUT = 1e-3


@kernel
def touching(touch):
    """Whether any row may be felt in this step."""
    if touch is None:
        return False
    return touch.rows.count[BLOCKS] > 0 or touch.rows.count[WINDY] > 0


@kernel
def meet(tree, state, aim, work, touch, frame, h, gravity, cut):
    """Find contacts, let what meets collide, see what leans. Returns the seconds to step: h, or less
    where something fast meets before (if `cut`)."""
    if touch is None:
        return h
    now = pose_of(work, NOW)
    place_bodies(tree, now, state.body, ANCHOR, touch.found.where[START_PLACE])
    place_shapes(touch.shapes, touch.found.where[START_PLACE], touch.found.placed)
    velocities(tree, now, state.rate[V], state.body, DRIFT, work.body, MOTION)
    _find_contacts(tree, state, work, touch, h, gravity)
    _make_blocks(tree, state, work, touch, frame, h)
    _allow_source(tree, state, aim, work, touch, h, gravity)
    if _collide(tree, state, aim, work, touch):
        take_blow(tree, state, aim, work.rate[ANSWER])
        velocities(tree, now, state.rate[V], state.body, DRIFT, work.body, MOTION)
        momenta(tree, now, work.body, MOTION, state.body, SPIN)
        _note_speeds(tree, state, work, touch.rows)
    h = _first_meeting(tree, state, work, touch, h, gravity, cut)
    blow_wind(tree, now, work, touch, frame, h)
    _note_leaning(tree, state, aim, touch)
    _start_warm(touch, h)
    return h


@kernel
def place_bodies(tree, pose, table, anchors, where):
    """World places and rotations of all bodies; root anchors in column `anchors` of `table`."""
    for root in tree.roots:
        origin = load3(table, root, anchors)
        for i in range(root, tree.last[root] + 1):
            store3(where, i, 0, add(origin, load3(pose.body, i, PLACE)))
            store4(where, i, 3, load4(pose.body, i, ROTATION))


@kernel
def _find_contacts(tree, state, work, touch, h, gravity):
    """Contacts of all pairs that may touch within h seconds, from their speeds."""
    shapes = touch.shapes
    fall = 0.5 * h * h * math.sqrt(dot(gravity, gravity))
    slop = touch.limit[SLOP]
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
            touch.found.reach[s] += touch.limit[PLANT]
        if i > 0 and state.behaviour[i] != ANIMATED:
            touch.found.reach[s] += 2.0 * fall
    touch.rows.count[PAIRS] = find_pairs(
        shapes, touch.found.placed, touch.found.reach, touch.found.moves, touch.found.box, touch.found.pairs
    )
    count = 0
    for k in range(touch.rows.count[PAIRS]):
        a, b = touch.found.pairs[k, 0], touch.found.pairs[k, 1]
        margin = touch.found.reach[a] + touch.found.reach[b]
        count = collide(shapes, touch.found.placed, a, b, margin, touch.found.contact, touch.found.meet, count)
    touch.rows.count[CONTACTS] = count


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
    count = add_ties(touch.holds, touch.rows, where, frame, count)
    touch.rows.count[BLOCKS] = add_limits(tree, state, touch.holds.bound, touch.rows, h, count)
    _note_speeds(tree, state, work, touch.rows)


@kernel
def _allow_source(tree, state, aim, work, touch, h, gravity):
    """Braced contacts of a character whose root is held: what its source motion does there, it may.

    Recorded feet sink into the floor, slide and land hard; held roots carry the weight. So such
    a contact resists only what goes beyond the source: its gap counts from the depth the source
    has there, its rates from the source's, and its friction knows the weight it bears.
    """
    rows = touch.rows
    found = False
    for i in range(len(tree.parent)):
        rows.tally[i] = 0
    for b in range(rows.count[BLOCKS]):
        if rows.link[b, WHAT] == CONTACT and rows.link[b, BRACED] != 0:
            i, j = rows.link[b, BODY_A], rows.link[b, BODY_B]
            if _held(tree, state, i) and _held(tree, state, j):
                rows.tally[rows.root[max(i, j)]] += 1
                found = True
    if not found:
        return
    pose = pose_of(work, NOW)
    total, off = work.rate[TOTAL_RATE], work.rate[LOADED_RATE]
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        for k in range(d, tree.dof[i + 1]):
            total[k], off[k] = state.rate[V, k], 0.0
        if state.behaviour[i] == SIMULATED or state.behaviour[i] == ASSIST:
            store_rates(kind, work.rate, TOTAL_RATE, d, load3(aim.body, i, FROM + RATE))
            away = difference(kind, load4(aim.body, i, FROM + VALUE), load4(state.body, i, COORDS))
            store_rates(kind, work.rate, LOADED_RATE, d, away)
            if kind == FREE:
                store3(work.rate, TOTAL_RATE, d + 3, load3(aim.body, i, FROM + TARGET_ANCHOR_RATE))
                away = sub(load3(state.body, i, ANCHOR), load3(aim.body, i, FROM + TARGET_ANCHOR))
                store3(work.rate, LOADED_RATE, d + 3, away)
    # rates of the source, and how far the body is from it, as motions
    velocities(tree, pose, total, state.body, DRIFT, work.body, MOMENTUM)
    velocities(tree, pose, off, work.body, STILL, work.body, MOMENTUM2)
    for b in range(rows.count[BLOCKS]):
        if rows.link[b, WHAT] != CONTACT or rows.link[b, BRACED] == 0:
            continue
        i, j = rows.link[b, BODY_A], rows.link[b, BODY_B]
        if not (_held(tree, state, i) and _held(tree, state, j)):
            continue
        gap = rows.block[b, ERROR_NOW]
        meant = gap - row_rate(tree.dof, rows.block, rows.link, b, 0, work.body, MOMENTUM2, off)
        rate = row_rate(tree.dof, rows.block, rows.link, b, 0, work.body, MOMENTUM, total)
        presses = meant <= touch.limit[SLOP] or meant + h * rate < 0.0
        speed = rate * rate
        for r in range(1, 3):
            rows.block[b, ALLOWED + r] = row_rate(tree.dof, rows.block, rows.link, b, r, work.body, MOMENTUM, total)
            speed += rows.block[b, ALLOWED + r] ** 2
        if presses:
            rows.block[b, ALLOWED] = min(rate, 0.0)
        if presses or (meant < touch.limit[PLANT] and speed < STANDS * STANDS):
            root = rows.root[max(i, j)]
            mass = 0.0
            for k in range(root, tree.last[root] + 1):
                mass += tree.body[k, MASS]
            rows.block[b, BEARS] = mass * math.sqrt(dot(gravity, gravity)) / rows.tally[root]
        rows.block[b, ERROR_NOW] = gap - min(meant, 0.0)


@kernel
def _held(tree, state, i):
    """Whether the body is the world, or follows its keys all the way from its root."""
    while i > 0:
        if state.behaviour[i] == LIMP:
            return False
        i = tree.parent[i]
    return True


@kernel
def across(n):
    """Two unit vectors that make a right-handed frame with the unit vector n."""
    one = (0.0, -n[2], n[1])
    if abs(n[0]) > 0.7:
        one = (n[2], 0.0, -n[0])
    one = scale(1.0 / math.sqrt(dot(one, one)), one)
    return one, cross(n, one)


@kernel
def _note_speeds(tree, state, work, rows):
    for b in range(rows.count[BLOCKS]):
        for r in range(3):
            rows.block[b, SPEED_NOW + r] = row_rate(
                tree.dof, rows.block, rows.link, b, r, work.body, MOTION, state.rate[V]
            )


@kernel
def _collide(tree, state, aim, work, touch):
    """Impacts (METHODS §1d, A): what touches and closes fast. Driven joints are passive unless all that
    meets is braced against; animated ones stay as they are. Returns whether anything changed."""
    slop, fast = touch.limit[SLOP], -touch.limit[BOUNCE_SPEED]
    any_fast = gives_way = False
    for b in range(touch.rows.count[BLOCKS]):
        near = touch.rows.link[b, WHAT] == TIE or touch.rows.block[b, ERROR_NOW] <= slop
        near = near or touch.rows.block[b, BEARS] > 0.0
        touch.rows.link[b, ROWS] = 1 if near else 0
        if (
            touch.rows.block[b, ERROR_NOW] <= slop
            and touch.rows.link[b, WHAT] == CONTACT
            and touch.rows.block[b, SPEED_NOW] - touch.rows.block[b, ALLOWED] < fast
        ):
            any_fast = True
            gives_way = gives_way or touch.rows.link[b, BRACED] == 0
    if not any_fast:
        return False
    pose, factor = pose_of(work, NOW), factor_of(work, MAIN)
    for i in range(1, len(tree.parent)):
        behaviour = state.behaviour[i]
        factor.active[i] = behaviour == LIMP or behaviour == ASSIST or (behaviour == SIMULATED and gives_way)
        work.body[i, COMPLIANCE] = 0.0
    for _ in range(STIFFENINGS):
        _share_blow(tree, work, touch, pose, factor)
        if not _stiffen(tree, state, aim, work, factor):
            break
    for d in range(len(work.rate[ANSWER])):
        state.rate[V, d] += work.rate[ANSWER, d]
    for b in range(touch.rows.count[BLOCKS]):
        for r in range(3):
            touch.rows.block[b, IMPULSE + r] = 0.0
    return True


@kernel
def _stiffen(tree, state, aim, work, factor):
    """A blow may set a driven joint swinging by SWING at most; one that would go farther (a finger whose
    hand is stopped) holds instead. Returns whether any does."""
    again = False
    for i in range(1, len(tree.parent)):
        if factor.active[i] and state.behaviour[i] == SIMULATED:
            speed = 0.0
            for d in range(tree.dof[i], tree.dof[i + 1]):
                speed += work.rate[ANSWER, d] ** 2
            # the swing after a blow peaks at speed / (e ω): METHODS §1c
            if speed > SWING * SWING * math.e * math.e * aim.body[i, GAINS]:
                factor.active[i] = False
                again = True
    return again


@kernel
def _share_blow(tree, work, touch, pose, factor):
    """ANSWER: the change of rates that an impact makes, with these joints free to answer."""
    rows, fast = touch.rows, -touch.limit[BOUNCE_SPEED]
    for b in range(rows.count[BLOCKS]):
        for r in range(3):
            rows.block[b, IMPULSE + r] = 0.0
    factorise(tree, pose, work.body, COMPOSITE, COMPLIANCE, factor)
    lay_paths(tree, pose, factor, rows)
    find_islands(tree, factor, rows)
    first = 0
    for head in tree.roots:
        end = rows.tally[head]
        if end <= first:
            continue
        last = solved_end(rows, first, end)
        fill_matrix(factor, rows, first, last)
        for x in range(first, last):
            b = rows.order[x]
            r = 3 * (x - first)
            for k in range(3):
                rows.row[FREE_RATE, r + k] = rows.block[b, SPEED_NOW + k] - rows.block[b, ALLOWED + k]
                rows.row[FORCE, r + k] = 0.0
            if rows.block[b, BEARS] > 0.0 and rows.block[b, ERROR_NOW] > touch.limit[SLOP]:
                # stands without touching: it may come down, but not slide
                rows.row[FREE_RATE, r] = max(0.0, rows.row[FREE_RATE, r]) + rows.block[b, ERROR_NOW] / BLOW
            speed = rows.row[FREE_RATE, r]
            if speed < fast and rows.link[b, WHAT] == CONTACT:
                rows.row[FREE_RATE, r] += rows.block[b, REBOUND] * speed
        ties = eliminate_ties(rows, first, last)
        solve_island(rows, first, last, ties, touch.limit[LEAST], BLOW)
        _take(rows, first, last, IMPULSE, 1.0)
        first = end
    give(tree, pose, factor, rows, work, IMPULSE, work.rate[ANSWER])


@kernel
def _take(rows, first, last, column, times):
    """The island's forces into its blocks' `column`."""
    for x in range(first, last):
        for k in range(3):
            rows.block[rows.order[x], column + k] = times * rows.row[FORCE, 3 * (x - first) + k]


@kernel
def _first_meeting(tree, state, work, touch, h, gravity, cut):
    """Contacts to come: drop those that will pass by; cut the step where a fast one meets."""
    slop, fast = touch.limit[SLOP], -touch.limit[BOUNCE_SPEED]
    fall = 0.5 * h * h * math.sqrt(dot(gravity, gravity))
    foreseen = False
    a = b = -1
    t = least = 2.0
    for c in range(touch.rows.count[BLOCKS]):
        touch.rows.link[c, ROWS] = 1
        gap, speed = touch.rows.block[c, ERROR_NOW], touch.rows.block[c, SPEED_NOW]
        if touch.rows.link[c, WHAT] != CONTACT or touch.found.contact[touch.rows.link[c, SOURCE], GAP] <= slop:
            continue
        if touch.rows.block[c, BEARS] > 0.0:
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
    """Joints between a contact that is not braced against and the root will yield."""
    for i in range(1, len(tree.parent)):
        aim.body[i, LEANED] = float(touch.rows.count[WINDY])
    for b in range(touch.rows.count[BLOCKS]):
        if touch.rows.link[b, ROWS] > 0 and touch.rows.link[b, BRACED] == 0:
            for side in range(2):
                i = touch.rows.link[b, BODY_A] if side == 0 else touch.rows.link[b, BODY_B]
                while i > 0 and aim.body[i, LEANED] == 0.0:
                    aim.body[i, LEANED] = 1.0
                    i = tree.parent[i]
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
    """Contacts that were there a step ago start with the forces they had."""
    old = touch.rows.count[OLD]
    if old == 0:
        return
    for b in range(touch.rows.count[BLOCKS]):
        if touch.rows.link[b, WHAT] == CONTACT:
            c = touch.rows.link[b, SOURCE]
            for k in range(old):
                if (
                    touch.found.old_meet[k, 0] == touch.found.meet[c, SHAPE_A]
                    and touch.found.old_meet[k, 1] == touch.found.meet[c, SHAPE_B]
                    and touch.found.old_meet[k, 2] == touch.found.meet[c, FEATURE]
                ):
                    for r in range(3):
                        touch.rows.block[b, IMPULSE + r] = h * touch.found.old[k, r]
                    break


@kernel
def carry_rows(tree, work, touch):
    """The points that rows act at go with their bodies to the middle of the step."""
    if touch is None:
        return
    now, middle, rows = pose_of(work, NOW), pose_of(work, MIDDLE), touch.rows
    for b in range(rows.count[BLOCKS]):
        for side in range(2):
            i = rows.link[b, BODY_A] if side == 0 else rows.link[b, BODY_B]
            if i > 0:
                way = sub(load3(middle.body, i, PLACE), load3(now.body, i, PLACE))
                for r in range(3):
                    column = (ON_A if side == 0 else ON_B) + 6 * r
                    force = load3(rows.block, b, column + 3)
                    store3(rows.block, b, column, add(load3(rows.block, b, column), cross(way, force)))


@kernel
def lean(tree, work, touch, pose):
    """See the rows through the factor of this step's solve."""
    if touch is None:
        return
    factor = factor_of(work, MAIN)
    for i in range(len(tree.parent)):
        for k in range(6):
            touch.force[i, k] = 0.0
    for b in range(touch.rows.count[BLOCKS]):
        for r in range(3):
            touch.rows.block[b, TOTAL + r] = 0.0
    lay_paths(tree, pose, factor, touch.rows)
    find_islands(tree, factor, touch.rows)


@kernel
def brace(tree, state, aim, work, touch, pose, h):
    """What is braced against does not load the joints (METHODS §1c): FELT less what braced contacts do to
    them while they hold, except for the share that heaviness makes them feel.

    Solved with the compliant joints holding (the tracking factor); loose ones and free roots answer.
    """
    if touch is None:
        return
    rows, rate = touch.rows, work.rate
    braced = False
    for b in range(rows.count[BLOCKS]):
        rows.link[b, ROWS] = rows.link[b, BRACED]
        braced = braced or rows.link[b, BRACED] != 0
        for r in range(3):
            rows.block[b, SHIFT + r] = 0.0
    if braced:
        factor = factor_of(work, TRACKING)
        lay_paths(tree, pose, factor, rows)
        find_islands(tree, factor, rows)
        total = rate[TOTAL_RATE]
        for d in range(len(total)):
            total[d] = state.rate[V, d] - rate[U, d] + rate[CHANGE, d] + rate[TRACKED, d]
        for i in range(1, len(tree.parent)):
            if factor.active[i]:
                for d in range(tree.dof[i], tree.dof[i + 1]):
                    total[d] += rate[U, d]
        velocities(tree, pose, total, aim.body, GOAL_DRIFT, work.body, MOTION)
        first = 0
        for head in tree.roots:
            end = rows.tally[head]
            if end > first:
                last = solved_end(rows, first, end)
                fill_matrix(factor, rows, first, last)
                ties = eliminate_ties(rows, first, last)
                _ask(tree, touch, work, first, last, total, 1.0, h)
                solve_island(rows, first, last, ties, touch.limit[LEAST], h)
                _take(rows, first, last, SHIFT, 1.0)
                first = end
        give(tree, pose, factor, rows, work, SHIFT, rate[ANSWER])
        # what reaches the joints: the push itself less what the loose parts take up
        load = rate[LOADED_RATE]
        momentum_of(tree, pose, work.body, rate[ANSWER], total)
        for i in range(1, len(tree.parent)):
            if aim.mode[i] == COMPLIANT:
                for d in range(tree.dof[i], tree.dof[i + 1]):
                    rate[FELT, d] -= (1.0 - aim.rate[SHARE, d]) * (load[d] - total[d])
    for b in range(rows.count[BLOCKS]):
        rows.link[b, ROWS] = 1


@kernel
def _ask(tree, touch, work, first, last, total, gamma, h):
    """FREE_RATE and the forces to start from, of an island's rows."""
    rows = touch.rows
    for k in range(first, last):
        b = rows.order[k]
        r = 3 * (k - first)
        for n in range(3):
            rows.row[FREE_RATE, r + n] = row_rate(tree.dof, rows.block, rows.link, b, n, work.body, MOTION, total)
            rows.row[FORCE, r + n] = gamma * rows.block[b, IMPULSE + n]
            rows.row[FREE_RATE, r + n] -= rows.block[b, ALLOWED + n]
        rows.row[FREE_RATE, r] -= _wanted(rows, b, h)


@kernel
def press(tree, state, aim, work, touch, pose, x_row, gamma, share, weight, h, last_stage):
    """Add to row `x_row` what contacts, ties and limits answer to a stage that ends with rates STAGE_RATE + γx.

    `share` of the way through the step the stage ends; its impulses count with `weight`. After
    the last stage depth and ties' errors are shifted away.
    """
    if touch is None:
        return
    rate, rows = work.rate, touch.rows
    total = rate[TOTAL_RATE]
    for d in range(len(total)):
        follow = state.rate[V, d] - rate[U, d] + share * (rate[CHANGE, d] + rate[TRACKED, d])
        total[d] = follow + rate[STAGE_RATE, d] + gamma * rate[x_row, d]
    velocities(tree, pose, total, aim.body, GOAL_DRIFT, work.body, MOTION)
    factor = factor_of(work, MAIN)
    first = 0
    for head in tree.roots:
        end = rows.tally[head]
        if end <= first:
            continue
        last = solved_end(rows, first, end)
        fill_matrix(factor, rows, first, last)
        ties = eliminate_ties(rows, first, last)
        _ask(tree, touch, work, first, last, total, gamma, h)
        solve_island(rows, first, last, ties, touch.limit[LEAST], gamma * h)
        _take(rows, first, last, IMPULSE, 1.0 / gamma)
        if last_stage:
            _shift(rows, touch.limit, first, last, ties, h)
        first = end
    give(tree, pose, factor, rows, work, IMPULSE, rate[ANSWER])
    _hold_within(tree, aim, rows, rate[ANSWER], IMPULSE, RATE_MOST / gamma)
    for d in range(len(total)):
        rate[x_row, d] += rate[ANSWER, d]
    for b in range(rows.count[BLOCKS]):
        for r in range(3):
            rows.block[b, TOTAL + r] += weight * rows.block[b, IMPULSE + r]
    if last_stage:
        give(tree, pose, factor, rows, work, SHIFT, rate[SHIFTED])
        _hold_within(tree, aim, rows, rate[SHIFTED], SHIFT, SHIFT_MOST)
        load_bodies(tree, rows, work, TOTAL)
        for i in range(len(tree.parent)):
            for k in range(6):
                touch.force[i, k] = work.body[i, LOAD + k] + touch.drag[i, k]
        for d in range(len(total)):
            rate[STOPS, d] = 0.0
        load_joints(tree, rows, TOTAL, rate[STOPS])


@kernel
def _hold_within(tree, aim, rows, x, column, most):
    """Where driven joints would have to fly to get a body out (its root is led through a wall), they give
    what they can: x and the numbers in `column` scaled until no joint exceeds `most`."""
    largest = 0.0
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == COMPLIANT:
            for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
                largest = max(largest, abs(x[d]))
    if largest > most:
        for d in range(len(x)):
            x[d] *= most / largest
        for b in range(rows.count[BLOCKS]):
            for r in range(3):
                rows.block[b, column + r] *= most / largest


@kernel
def _wanted(rows, b, h):
    """The rate a block's first row must not fall below: what closes the gap."""
    if rows.link[b, WHAT] == TIE:
        return 0.0
    return -max(rows.block[b, ERROR_NOW], 0.0) / h


@kernel
def _shift(rows, limit, first, last, ties, h):
    """Places only: what the step would leave too deep, and what ties would be off."""
    slop = limit[SLOP]
    keep = math.exp(-h / RECOVER)
    for k in range(first, last):
        b = rows.order[k]
        r = 3 * (k - first)
        for n in range(3):
            end = 0.0
            if rows.link[b, WHAT] != TIE:
                end = rows.row[FREE_RATE, r + n] + (_wanted(rows, b, h) if n == 0 else 0.0)
            start = rows.block[b, SPEED_NOW + n] - rows.block[b, ALLOWED + n]
            ahead = rows.block[b, ERROR_NOW + n] + 0.5 * h * (start + end)
            if rows.link[b, WHAT] != TIE:
                ahead = ahead - min(-slop, keep * rows.block[b, ERROR_NOW]) if n == 0 else 0.0
            rows.row[FREE_RATE, r + n] = ahead
            rows.row[FORCE, r + n] = 0.0
    solve_island(rows, first, last, ties, limit[LEAST], NO_FRICTION)
    _take(rows, first, last, SHIFT, 1.0)


@kernel
def forget_forces(work, touch):
    """A step in which nothing can be pushed."""
    if touch is None:
        return
    for d in range(len(work.rate[STOPS])):
        work.rate[STOPS, d] = work.rate[SHIFTED, d] = 0.0
    for i in range(len(touch.force)):
        for k in range(6):
            touch.force[i, k] = 0.0


@kernel
def mark_contacts(touch, marks, frame, h):
    """Write down what pressed in the step just taken."""
    if touch is None:
        return
    rows = touch.rows
    kept = 0
    for b in range(rows.count[BLOCKS]):
        if rows.link[b, WHAT] != CONTACT or rows.block[b, TOTAL] <= 0.0 or kept >= marks.shape[1]:
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
    """Remember the contacts' forces for the next step."""
    if touch is None:
        return
    kept = 0
    for b in range(touch.rows.count[BLOCKS]):
        if touch.rows.link[b, WHAT] == CONTACT and touch.rows.block[b, IMPULSE] > 0.0:
            c = touch.rows.link[b, SOURCE]
            for r in range(3):
                touch.found.old[kept, r] = touch.rows.block[b, IMPULSE + r] / h
            touch.found.old_meet[kept, 0], touch.found.old_meet[kept, 1] = (
                touch.found.meet[c, SHAPE_A],
                touch.found.meet[c, SHAPE_B],
            )
            touch.found.old_meet[kept, 2] = touch.found.meet[c, FEATURE]
            kept += 1
    touch.rows.count[OLD] = kept
