"""Contacts of a body that returns to its motion after it was limp: they give way before the deadline.

Owns how contacts and limits of such a body are given up towards the deadline, and to which contacts its joints yield.
Must not know how rows are solved or contacts are found.

The return is an arrival (`controllers/on_time/arrivals.py`) from wherever the body is at the step's start, so whatever
a contact or limit does to a joint becomes part of its error. Only lasting contacts can delay it. Objects that the body
is braced against hold it off as yielding ones do, but at most as far as the source is. If the source is free there, an
obstacle that cannot yield lets the body through before the deadline.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Index, Real
from ..controllers.on_time.arrivals import expected
from ..dynamics.joints import store_rates
from ..dynamics.kinematics import forward, place_bodies, velocities
from ..geometry import shape_table as SH
from ..math.vectors import add, axpy, dot, load3, load4, quat_conj, quat_mul, rotate, store3, store4, sub
from ..model.model import FREE
from ..tables import aim as A, contacts as CT, control as C, rows as R, sample as SA, state as S, work as W
from ..tables.classes import Aim, Control, State, Touch, Tree, Work
from ..tables.work import pose_of
from .joint_space import row_rate

# The fastest rate that contacts may give a returning joint, besides what its motion and its deadline ask for [rad/s].
OFF_RATE = 8.0
# The rate that a deadline asks for is about this times the error over the remaining time.
IN_TIME = 3.0
# Contacts and limits are given up from this part of the remaining time on, and completely at the end.
GIVES_FROM, GIVES_ALL = 0.3, 0.1
# Exponent of the given-up share for an obstacle that supports the returning body.
LATE = 4


@separate
def let_return(
    tree: Tree,
    control: Control,
    state: State,
    aim: Aim,
    work: Work,
    touch: Touch | None,
    frame: Index,
    time: Real,
    dt: Real,
):
    """At a time [frames]: set GIVEN_UP of the contacts and limits of returning bodies, and FASTEST of their joints. To
    what they are braced against, joints yield; its gap counts from the source's depth there.

    Reads: A.FROM, C.RECOVERY, CT.AHEAD, CT.NORMAL, CT.POINT, CT.SHAPE_A, CT.SHAPE_B, CT.START_PLACE, R.ALLOWED,
        R.BLOCKS, R.BODY_A, R.BODY_B, R.BRACED, R.ERROR_NOW, R.GRIP, R.ON_A, R.ON_B, R.OWN, R.REBOUND, R.SOURCE,
        R.SPEED_NOW, R.WHAT, S.ANCHOR, S.COORDS, S.DRIFT, S.DUE, S.ERROR, S.RETURNS, S.V, S.behaviour, W.FASTEST,
        W.MOMENTUM, W.NEW, W.NEW_ANCHOR, W.NOW, W.TOTAL_RATE, W.UNDISTURBED
    Writes: CT.AHEAD, R.ALLOWED, R.BRACED, R.ERROR_NOW, R.GIVEN_UP, R.GRIP, R.REBOUND, R.STUCK, W.FASTEST, W.MOMENTUM,
        W.NEW, W.NEW_ANCHOR, W.TOTAL_RATE, W.UNDISTURBED
    """
    if not _ask_in_time(tree, state, aim, work, time, dt):
        return
    rows, total = touch.rows, work.rate[W.TOTAL_RATE]
    velocities(tree, pose_of(work, W.NOW), total, state.body, S.DRIFT, work.body, W.MOMENTUM)
    _place_source(tree, state, aim, work, touch)
    for b in range(rows.count[R.BLOCKS]):
        i, j = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B]
        share = max(
            _share_given_up(control, state, i, frame, time, dt), _share_given_up(control, state, j, frame, time, dt)
        )
        if rows.link[b, R.WHAT] == R.LIMIT:
            _give_up(rows, b, share, 0.0)
        elif _meets_return(state, rows, b):
            meant = _source_gap(touch, b)
            if rows.link[b, R.BRACED] != 0:
                rows.block[b, R.ERROR_NOW] -= min(meant, 0.0)
                rows.link[b, R.BRACED] = 0
                _give_up(rows, b, share, 0.0)
            elif meant > 0.0 or meant < -_thickness(touch, b):
                # it may block the way to the end: the body that it supports gets through in the end
                asked = row_rate(tree.dof, rows.block, rows.link, b, 0, work.body, W.MOMENTUM, total)
                _give_up(rows, b, share, share**LATE * asked)


@kernel
def _give_up(rows, b, share, asked):
    """Reduce a block's demand by this share: it pushes nothing out, and allows closing at the present or asked rate."""
    if share > 0.0:
        rows.block[b, R.GIVEN_UP], rows.block[b, R.STUCK] = share, 1.0
        rows.block[b, R.GRIP] *= 1.0 - share
        rows.block[b, R.REBOUND] *= 1.0 - share
        closes = min(rows.block[b, R.SPEED_NOW], asked)
        rows.block[b, R.ALLOWED] += share * min(0.0, closes - rows.block[b, R.ALLOWED])


@kernel
def _ask_in_time(tree, state, aim, work, time, dt):
    """TOTAL_RATE: for returning bodies the rates that bring them back in time, for others their present rates; FASTEST.
    Returns True if there are any."""
    total = work.rate[W.TOTAL_RATE]
    found = False
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        for k in range(d, tree.dof[i + 1]):
            total[k] = state.rate[S.V, k]
        if state.body[i, S.RETURNS] != 0.0 and expected(state, i) and state.body[i, S.DUE] > time:
            found = True
            if state.behaviour[i] == C.SIMULATED:
                haste = IN_TIME / ((state.body[i, S.DUE] - time) * dt)
                rate, e = load3(aim.body, i, A.FROM + SA.RATE), load3(state.body, i, S.ERROR)
                store_rates(kind, work.rate, W.TOTAL_RATE, d, axpy(-haste, e, rate))
                asked = math.sqrt(dot(rate, rate)) + haste * math.sqrt(dot(e, e))
                work.body[i, W.FASTEST] = min(work.body[i, W.FASTEST], OFF_RATE + asked)
    return found


@kernel
def _meets_return(state, rows, b):
    """True if the block is a contact of a returning body with something that does not yield by itself."""
    i, j = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B]
    if rows.link[b, R.WHAT] != R.CONTACT or state.behaviour[i] == C.LIMP or state.behaviour[j] == C.LIMP:
        return False
    return state.body[i, S.RETURNS] != 0.0 or state.body[j, S.RETURNS] != 0.0


@kernel
def _thickness(touch, b):
    """The extent of both bodies along the contact's normal [m]: a source deeper than that has passed through."""
    c = touch.rows.link[b, R.SOURCE]
    one, other = touch.found.meet[c, CT.SHAPE_A], touch.found.meet[c, CT.SHAPE_B]
    return 2.0 * (touch.shapes.shape[one, SH.THICK] + touch.shapes.shape[other, SH.THICK])


@kernel
def _source_gap(touch, b):
    """The source's gap at a contact [m]."""
    rows = touch.rows
    c = rows.link[b, R.SOURCE]
    point = load3(touch.found.contact, c, CT.POINT)
    now, source = touch.found.where[CT.START_PLACE], touch.found.where[CT.AHEAD]
    one = _off_source(now, source, rows.link[b, R.BODY_A], point)
    other = _off_source(now, source, rows.link[b, R.BODY_B], point)
    return rows.block[b, R.ERROR_NOW] - dot(load3(touch.found.contact, c, CT.NORMAL), sub(one, other))


@kernel
def _place_source(tree, state, aim, work, touch):
    """The bodies' poses in the source; those that do not follow it keep their pose."""
    for i in range(1, len(tree.parent)):
        driven = state.behaviour[i] == C.SIMULATED or state.behaviour[i] == C.ASSIST
        store4(work.body, i, W.NEW, load4(aim.body, i, A.FROM + SA.VALUE) if driven else load4(state.body, i, S.COORDS))
        place = load3(state.body, i, S.ANCHOR)
        if driven and tree.kind[i] == FREE:
            place = load3(aim.body, i, A.FROM + SA.ANCHOR)
        store3(work.body, i, W.NEW_ANCHOR, place)
    pose = pose_of(work, W.UNDISTURBED)
    forward(tree, work.body, W.NEW, W.NEW_ANCHOR, pose)
    place_bodies(tree, pose, work.body, W.NEW_ANCHOR, touch.found.where[CT.AHEAD])


@kernel
def _off_source(now, source, i, point):
    """The distance of a point of body i from its position in the source; 0 for the world."""
    if i == 0:
        return 0.0, 0.0, 0.0
    turn = quat_mul(load4(source, i, 3), quat_conj(load4(now, i, 3)))
    return sub(point, add(load3(source, i, 0), rotate(turn, sub(point, load3(now, i, 0)))))


@kernel
def _share_given_up(control, state, i, frame, time, dt):
    """The share of a contact that is given up because body i's return has no more time, 0 to 1."""
    row = min(frame, len(control.behaviour) - 1)
    if state.body[i, S.RETURNS] == 0.0 or not control.setting[row, i, C.RECOVERY] > 0.0:
        return 0.0
    left = (state.body[i, S.DUE] - time) * dt / control.setting[row, i, C.RECOVERY]
    share = min(max((GIVES_FROM - left) / (GIVES_FROM - GIVES_ALL), 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)
