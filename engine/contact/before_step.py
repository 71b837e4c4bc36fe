"""Contact stages before a step: find contacts, make rows, apply impacts, limit the step for fast bodies (METHODS §1d).

Owns making rows of contacts and shortening the step before a fast contact; the order of the stages before
a step. Must not know targets or controllers, nor how contacts are found or rows are solved.
"""

from __future__ import annotations

import math

import numpy as np

from ..collision.signed_distance import place_shapes
from ..collision.time_of_impact import time_of_impact
from ..compile.decorators import inlined, kernel, separate
from ..compile.kernel_types import Flag, Index, Real, Vector
from ..controllers.follow.reference import take_blow
from ..controllers.hooks import answer_blow
from ..controllers.shared.blow_state import is_light
from ..dynamics.joints import advance, joint_rates
from ..dynamics.kinematics import forward, momenta, place_bodies, velocities
from ..geometry import shape_table as SH
from ..math.vectors import axpy, dot, load3, load4, scale, store3, store4, sub
from ..model.model import FREE
from ..tables import aim as A, contacts as CT, control as C, record as RE, rows as R, state as S, work as W
from ..tables.classes import Aim, Control, State, Touch, Tree, Work
from ..tables.work import pose_of
from .find_contacts import find_contacts, swerve_between
from .held_inertia import note_carried
from .impacts import GIVING, STOP_NEAR, collide_now, stops_hard
from .joint_space import row_rate
from .ragdoll import find_ragdolls, is_met_anywhere, limit_rates, moves_ragdolls
from .return_to_motion import let_return
from .standing_feet import add_footholds, allow_source, yield_to_pull
from .step_size import even_part
from .tie_rows import across, add_block, add_limits, add_ties, blow_wind, put_force
from .unmet_contacts import give_up

# Shortest part of a step before a fast contact.
LEAST_CUT = 1e-3


@kernel
def touching(touch):
    """True if any row can be active in this step."""
    if touch is None:
        return False
    return touch.rows.count[R.BLOCKS] > 0 or touch.rows.count[R.WINDY] > 0


@separate
def meet(
    tree: Tree,
    control: Control,
    state: State,
    aim: Aim,
    work: Work,
    touch: Touch | None,
    frame: Index,
    time: Real,
    h: Real,
    least: Real,
    gravity: Vector,
    dt: Real,
    cut: Flag,
):
    """At a time [frames]: find contacts, apply impacts, mark leaning joints. Returns the seconds to step: h, or less if
    an impact makes joints spin (at least `least`), or, with `cut`, if a fast contact comes before.

    Reads: A.FROM, A.LEANED, A.mode, C.TONE_DAMPING, C.TONE_PULL, CT.BODY_A, CT.BODY_B, CT.BOUNCE, CT.BOUNCE_SPEED,
        CT.FEATURE, CT.FRICTION, CT.GAP, CT.NORMAL, CT.PLANT, CT.POINT, CT.SHAPE_A, CT.SHAPE_B, CT.SLOP, CT.START_PLACE,
        CT.contact, CT.meet, CT.moves, CT.old, CT.old_meet, CT.pairs, CT.reach, H.HOLDS, H.TIE_A, H.TIE_B, H.TIE_KIND,
        H.area, H.tie_on, H.wind, H.wind_on, R.BEARS, R.BLOCKS, R.BODY_A, R.BODY_B, R.BRACED, R.CONTACTS, R.ERROR_NOW,
        R.GIVEN_UP, R.OLD, R.ON_A, R.ON_B, R.OWN, R.PAIRS, R.REBOUND, R.ROWS, R.SIDE, R.SOURCE, R.SPEED_NOW, R.TURNING,
        R.WHAT, R.WINDY, R.block, R.link, R.ragdoll, R.root, R.tally, S.ANCHOR, S.COORDS, S.DEFLECTION, S.DRIFT, S.DUE,
        S.DUE_KEY, S.QUICKENS, S.REFERENCE, S.REFERENCE_ANCHOR, S.REFERENCE_V, S.RETURNS, S.STRUCK, S.V, S.behaviour,
        W.ANSWER, W.FASTEST, W.FINAL, W.MOTION, W.NEW, W.NEW_ANCHOR, W.NOW, W.SWERVE, W.WELDED
    Writes: A.LEANED, CT.AHEAD, CT.START_PLACE, CT.contact, CT.drag, CT.meet, CT.pairs, CT.reach, R.ALLOWED, R.BEARS,
        R.BEND, R.BLOCKS, R.BODY_A, R.BODY_B, R.BRACED, R.CONTACTS, R.ERROR_NOW, R.GIVEN_UP, R.GRIP, R.IMPULSE, R.ON_A,
        R.ON_B, R.OWN, R.PAIRS, R.REBOUND, R.ROWS, R.SHIFT, R.SIDE, R.SOURCE, R.SPEED_NOW, R.STUCK, R.TOTAL, R.TURNING,
        R.WHAT, R.WINDY, R.block, R.link, R.ragdoll, R.tally, S.ERROR, S.REFERENCE_V, S.SPIN, S.STRUCK, W.FASTEST,
        W.FINAL, W.MOTION, W.NEW, W.NEW_ANCHOR, W.SWERVE, W.WELDED
    """
    if touch is None:
        return h
    now = pose_of(work, W.NOW)
    place_bodies(tree, now, state.body, S.ANCHOR, touch.found.where[CT.START_PLACE])
    place_shapes(touch.shapes, touch.found.where[CT.START_PLACE], touch.found.placed)
    velocities(tree, now, state.rate[S.V], state.body, S.DRIFT, work.body, W.MOTION)
    find_ragdolls(tree, control, state, touch.rows, frame)
    find_contacts(tree, state, work, touch, h, gravity)
    _make_blocks(tree, state, work, touch, frame, h)
    allow_source(tree, state, aim, work, touch, h, gravity)
    give_up(tree, state, aim, work, touch, h)
    let_return(tree, control, state, aim, work, touch, frame, time, dt)
    limit_rates(tree, control, work, touch.rows, frame)
    struck = collide_now(tree, control, state, aim, work, touch, frame, least)
    if struck != 0:
        answer_blow(tree, control, state, frame, time, dt, work.rate[W.ANSWER], struck == GIVING)
        _take_up_blow(tree, state, aim, work, touch, now, h)
        let_return(tree, control, state, aim, work, touch, frame, time, dt)
        h = even_part(tree, state, aim, work, h, h, least)
    h = _first_meeting(tree, state, work, touch, h, gravity, cut)
    blow_wind(tree, now, work, touch, frame, h)
    _note_leaning(tree, state, aim, touch)
    yield_to_pull(tree, state, aim, touch)
    note_carried(tree, state, work, touch)
    _start_warm(touch, h)
    return h


@kernel
def _make_blocks(tree, state, work, touch, frame, h):
    """Make a block for each contact: along the normal and two tangents. Then those of ties and limits."""
    count = touch.rows.count[R.CONTACTS]
    where = touch.found.where[CT.START_PLACE]
    for c in range(count):
        i, j = touch.found.meet[c, CT.BODY_A], touch.found.meet[c, CT.BODY_B]
        one, other = touch.found.meet[c, CT.SHAPE_A], touch.found.meet[c, CT.SHAPE_B]
        braced = max(touch.shapes.link[one, SH.RESPONSE_KIND], touch.shapes.link[other, SH.RESPONSE_KIND])
        add_block(touch.rows, c, R.CONTACT, c, i, j, braced)
        normal, point = load3(touch.found.contact, c, CT.NORMAL), load3(touch.found.contact, c, CT.POINT)
        side, along = across(normal)
        arm_a, arm_b = sub(point, load3(where, touch.rows.root[i], 0)), sub(point, load3(where, touch.rows.root[j], 0))
        for r in range(3):
            direction = normal
            if r == 1:
                direction = side
            elif r == 2:
                direction = along
            put_force(touch.rows.block, c, R.ON_A + 6 * r, i, arm_a, direction)
            put_force(touch.rows.block, c, R.ON_B + 6 * r, j, arm_b, scale(-1.0, direction))
        touch.rows.block[c, R.ERROR_NOW] = touch.found.contact[c, CT.GAP]
        touch.rows.block[c, R.GRIP], touch.rows.block[c, R.REBOUND] = (
            touch.found.contact[c, CT.FRICTION],
            touch.found.contact[c, CT.BOUNCE],
        )
    count = add_footholds(tree, state, touch, where, count)
    count = add_ties(touch.holds, touch.rows, where, frame, count)
    touch.rows.count[R.BLOCKS] = add_limits(tree, state, touch.holds.bound, touch.rows, h, count)
    note_speeds(tree, state, work, touch.rows)


@inlined
def _take_up_blow(tree, state, aim, work, touch, now, h):
    """References, motions, limits and rows after a blow has changed the rates.

    Reads: A.FROM, P.COM, P.MOMENT, P.ROTATION, P.WORLD_INERTIA, R.BLOCKS, R.BODY_A, R.BODY_B, R.ON_A, R.ON_B, R.OWN,
        R.WHAT, R.ragdoll, R.root, S.DRIFT, S.DUE, S.DUE_KEY, S.REFERENCE, S.REFERENCE_ANCHOR, S.REFERENCE_V, S.RETURNS,
        S.V, S.behaviour, W.ANSWER, W.MOTION, now
    Writes: R.BLOCKS, R.SPEED_NOW, S.ERROR, S.REFERENCE_V, S.SPIN, S.STRUCK, W.MOTION
    """
    take_blow(tree, state, aim, work.rate[W.ANSWER])
    velocities(tree, now, state.rate[S.V], state.body, S.DRIFT, work.body, W.MOTION)
    momenta(tree, now, work.body, W.MOTION, state.body, S.SPIN)
    _limit_again(tree, state, touch, h)
    note_speeds(tree, state, work, touch.rows)


@kernel
def _limit_again(tree, state, touch, h):
    """Repeat the limits' blocks, which come last: an impact changes joint rates, so further limits may be reached."""
    count = touch.rows.count[R.BLOCKS]
    while count > 0 and touch.rows.link[count - 1, R.WHAT] == R.LIMIT:
        count -= 1
    touch.rows.count[R.BLOCKS] = add_limits(tree, state, touch.holds.bound, touch.rows, h, count)


@kernel
def note_speeds(tree, state, work, rows):
    for b in range(rows.count[R.BLOCKS]):
        for r in range(3):
            rows.block[b, R.SPEED_NOW + r] = row_rate(
                tree.dof, rows.block, rows.link, b, r, work.body, W.MOTION, state.rate[S.V]
            )


@kernel
def _first_meeting(tree, state, work, touch, h, gravity, cut):
    """Future contacts: drop those that will miss; shorten the step for a fast contact, or for a joint that reaches its
    limit."""
    slop, fast = touch.limit[CT.SLOP], -touch.limit[CT.BOUNCE_SPEED]
    fall = 0.5 * h * h * math.sqrt(dot(gravity, gravity))
    foreseen = False
    a = b = -1
    t = least = 2.0
    for c in range(touch.rows.count[R.BLOCKS]):
        touch.rows.link[c, R.ROWS] = 0 if touch.rows.block[c, R.GIVEN_UP] >= 1.0 else 1
        gap, speed = touch.rows.block[c, R.ERROR_NOW], touch.rows.block[c, R.SPEED_NOW]
        anywhere = is_met_anywhere(touch.rows, c)
        if cut and not anywhere and gap > STOP_NEAR and gap + h * speed < 0.0 and stops_hard(state, touch.rows, c):
            least = min(least, (gap - 0.5 * STOP_NEAR) / (-h * speed))
        if touch.rows.link[c, R.WHAT] != R.CONTACT or touch.found.contact[touch.rows.link[c, R.SOURCE], CT.GAP] <= slop:
            continue
        if touch.rows.block[c, R.BEARS] > 0.0:
            continue
        if anywhere:
            one, other = touch.rows.root[touch.rows.link[c, R.BODY_A]], touch.rows.root[touch.rows.link[c, R.BODY_B]]
            touch.rows.link[c, R.ROWS] = 1 if gap + h * (speed - swerve_between(work, one, other)) < slop else 0
            continue
        # along a straight path the gap of convex shapes is at least gap + speed·t
        if gap + h * speed - fall - 0.1 * h * abs(speed) > slop:
            touch.rows.link[c, R.ROWS] = 0
            continue
        k = touch.rows.link[c, R.SOURCE]
        if touch.found.meet[k, CT.SHAPE_A] != a or touch.found.meet[k, CT.SHAPE_B] != b:
            a, b = touch.found.meet[k, CT.SHAPE_A], touch.found.meet[k, CT.SHAPE_B]
            if not foreseen:
                _foresee(tree, state, work, touch, h, gravity)
                foreseen = True
            t = time_of_impact(
                touch.shapes,
                touch.found.where[CT.START_PLACE],
                touch.found.where[CT.AHEAD],
                touch.found.moving,
                a,
                b,
                0.5 * slop,
            )
        if t > 1.0:
            touch.rows.link[c, R.ROWS] = 0
        elif speed < fast and cut:
            least = min(least, t)
            touch.rows.link[c, R.ROWS] = 0
    return h * max(least, LEAST_CUT) if least < 1.0 else h


@kernel
def _foresee(tree, state, work, touch, h, gravity):
    """Predict the bodies' poses after h seconds at their present rates."""
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        store4(
            work.body, i, W.NEW, advance(kind, load4(state.body, i, S.COORDS), joint_rates(kind, state.rate, S.V, d), h)
        )
        place = axpy(h, load3(state.body, i, S.DRIFT), load3(state.body, i, S.ANCHOR))
        if kind == FREE:
            place = axpy(h, load3(state.rate, S.V, d + 3), place)
            if state.behaviour[i] != C.ANIMATED:
                place = axpy(0.5 * h * h, gravity, place)
        store3(work.body, i, W.NEW_ANCHOR, place)
    pose = pose_of(work, W.FINAL)
    forward(tree, work.body, W.NEW, W.NEW_ANCHOR, pose)
    place_bodies(tree, pose, work.body, W.NEW_ANCHOR, touch.found.where[CT.AHEAD])


@kernel
def _note_leaning(tree, state, aim, touch):
    """Mark the joints between a contact that is not braced against and the root: they will yield. In a guided
    character, contacts of a finger at the end of its range move the finger alone, because a hand that yielded to them
    would be thrown about by the arm."""
    for i in range(1, len(tree.parent)):
        aim.body[i, A.LEANED] = float(touch.rows.count[R.WINDY])
    for b in range(touch.rows.count[R.BLOCKS]):
        if touch.rows.link[b, R.ROWS] > 0 and touch.rows.link[b, R.BRACED] == 0:
            for side in range(2):
                i = touch.rows.link[b, R.BODY_A] if side == 0 else touch.rows.link[b, R.BODY_B]
                root = touch.rows.root[i]
                guided = touch.rows.link[b, R.WHAT] == R.LIMIT and state.behaviour[root] == C.ASSIST
                alone = guided and is_light(tree, root, i)
                while i > 0 and aim.body[i, A.LEANED] == 0.0:
                    aim.body[i, A.LEANED] = 1.0
                    i = 0 if alone else tree.parent[i]
    # blocks that cannot be felt are left out from here on
    kept = 0
    for b in range(touch.rows.count[R.BLOCKS]):
        if touch.rows.link[b, R.ROWS] > 0:
            if kept < b:
                for k in range(touch.rows.block.shape[1]):
                    touch.rows.block[kept, k] = touch.rows.block[b, k]
                for k in range(touch.rows.link.shape[1]):
                    touch.rows.link[kept, k] = touch.rows.link[b, k]
            kept += 1
    touch.rows.count[R.BLOCKS] = kept


@kernel
def _start_warm(touch, h):
    """Warm start: contacts, and limits of ragdolls, that existed a step ago start with their previous forces."""
    old, before = touch.rows.count[R.OLD], touch.found.old_meet
    if old == 0:
        return
    for b in range(touch.rows.count[R.BLOCKS]):
        if _keeps_warm(touch.rows, b):
            one, other, feature = _name(touch, b)
            for k in range(old):
                if before[k, 0] == one and before[k, 1] == other and before[k, 2] == feature:
                    for r in range(3):
                        touch.rows.block[b, R.IMPULSE + r] = h * touch.found.old[k, r]
                    break


@kernel
def _keeps_warm(rows, b):
    """True if a block's forces are kept from step to step."""
    if rows.link[b, R.WHAT] == R.LIMIT:
        return moves_ragdolls(rows, b)
    return rows.link[b, R.WHAT] == R.CONTACT and rows.link[b, R.TURNING] == 0


@kernel
def _name(touch, b):
    """The identity of a block: a contact's shapes and feature, or a limit's joint and side."""
    rows = touch.rows
    if rows.link[b, R.WHAT] == R.LIMIT:
        return np.int64(-1), rows.link[b, R.BODY_A], rows.link[b, R.SIDE]
    c = rows.link[b, R.SOURCE]
    return touch.found.meet[c, CT.SHAPE_A], touch.found.meet[c, CT.SHAPE_B], touch.found.meet[c, CT.FEATURE]


@kernel
def mark_contacts(touch, marks, frame, h):
    """Record the contacts that pressed in the step just taken."""
    if touch is None:
        return
    rows = touch.rows
    kept = 0
    for b in range(rows.count[R.BLOCKS]):
        pressed = (
            rows.link[b, R.WHAT] == R.CONTACT and rows.link[b, R.TURNING] != R.LEADS and rows.block[b, R.TOTAL] > 0.0
        )
        if not pressed or kept >= marks.shape[1]:
            continue
        c = rows.link[b, R.SOURCE]
        i, j = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B]
        marks[frame, kept, RE.MARK_A], marks[frame, kept, RE.MARK_B] = i, j
        for k in range(3):
            marks[frame, kept, RE.MARK_POINT + k] = touch.found.contact[c, CT.POINT + k]
            marks[frame, kept, RE.MARK_NORMAL + k] = touch.found.contact[c, CT.NORMAL + k]
            force = 0.0
            for r in range(3):
                along = rows.block[b, R.ON_A + 6 * r + 3 + k] if i > 0 else -rows.block[b, R.ON_B + 6 * r + 3 + k]
                force += rows.block[b, R.TOTAL + r] * along
            marks[frame, kept, RE.MARK_FORCE + k] = force / h
        kept += 1


@kernel
def keep_warm(touch, h):
    """Keep the contacts' forces for the next step, which may correct depth again."""
    if touch is None:
        return
    kept = 0
    for b in range(touch.rows.count[R.BLOCKS]):
        if touch.rows.block[b, R.IMPULSE] > 0.0 and _keeps_warm(touch.rows, b) and kept < len(touch.found.old):
            for r in range(3):
                touch.found.old[kept, r] = touch.rows.block[b, R.IMPULSE + r] / h
            one, other, feature = _name(touch, b)
            touch.found.old_meet[kept, 0], touch.found.old_meet[kept, 1] = one, other
            touch.found.old_meet[kept, 2] = feature
            kept += 1
    touch.rows.count[R.OLD] = kept
    touch.rows.count[R.STAYS] = 0
