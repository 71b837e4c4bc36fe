"""Contacts that the source itself has: braced feet may bear what the source needs.

Owns what the source's own contacts are allowed, and the weight that standing feet bear. Must not know how rows are
solved.
"""

from __future__ import annotations

import math

from ..compile.decorators import inlined, kernel, separate
from ..compile.kernel_types import Real, Vector
from ..controllers.shared.blow_state import is_deflected
from ..dynamics.joints import difference, store_rates
from ..dynamics.kinematics import forward, velocities
from ..math.vectors import add, axpy, cross, dot, load3, load4, rotate, scale, store3, store4, sub, unrotate
from ..model.model import FREE
from ..tables import (
    aim as A,
    contacts as CT,
    control as C,
    pose as P,
    rows as R,
    sample as SA,
    state as S,
    tree as T,
    work as W,
)
from ..tables.classes import Aim, State, Touch, Tree, Work
from ..tables.work import pose_of
from .footfall import SOLE, STRUCK_STANDS, limb_of, note_foot
from .joint_space import row_rate
from .tie_rows import across, add_block, put_force

# A foot near the ground that is slower than this stands on it [m/s].
STANDS = 0.4
# A foot that lands earlier than the source by less than this is not stopped: stopping it would throw the body up [s].
LANDS = 0.03
# Distance of a foot's footholds from its contact, relative to the height that counts as planted.
FOOTHOLD = 2.0
# A foot with footholds deviates from its source by less than this [rad].
SOLE_BENDS = 0.35
NONE = 1.0  # [m] the gap of a disabled foothold


@kernel
def add_footholds(tree, state, touch, where, count):
    """Add footholds: blocks beside the contacts of braced feet, while their character is struck. A foot with a single
    contact point would swivel and roll about it. Returns the number of blocks."""
    rows = touch.rows
    contacts, most = count, count + CT.MOST_FOOTHOLDS
    for c in range(contacts):
        i, j = rows.link[c, R.BODY_A], rows.link[c, R.BODY_B]
        foot = max(i, j)
        struck = state.body[rows.root[foot], S.STRUCK] != 0.0 and min(i, j) == 0 and rows.link[c, R.BRACED] != 0
        room = count + CT.FOOTHOLDS <= most
        if not (struck and room and _is_sole(tree, state, rows.root[foot], foot)):
            continue
        normal, point = load3(touch.found.contact, c, CT.NORMAL), load3(touch.found.contact, c, CT.POINT)
        count = _add_ring(touch, where, c, point, count)
        ankle = load3(where, foot, 0)
        up = dot(normal, sub(ankle, point))
        heel = axpy(-up, normal, ankle)
        if count + CT.FOOTHOLDS < most and _is_bare(touch, contacts, c, heel, abs(up)):
            count = _add_hold(touch, where, c, heel, R.HEEL, count)
            count = _add_ring(touch, where, c, heel, count)
    return count


@kernel
def _add_ring(touch, where, c, middle, count):
    """Footholds of contact c around a point. Returns the number of blocks."""
    side, along = across(load3(touch.found.contact, c, CT.NORMAL))
    for k in range(CT.FOOTHOLDS):
        angle = 2.0 * math.pi * k / CT.FOOTHOLDS
        out = add(scale(math.cos(angle), side), scale(math.sin(angle), along))
        count = _add_hold(touch, where, c, axpy(FOOTHOLD * touch.limit[CT.PLANT], out, middle), R.BESIDE, count)
    return count


@kernel
def _add_hold(touch, where, c, point, kind, count):
    """A block of contact c at another point of its foot. Returns the number of blocks."""
    rows = touch.rows
    i, j = rows.link[c, R.BODY_A], rows.link[c, R.BODY_B]
    normal = load3(touch.found.contact, c, CT.NORMAL)
    side, along = across(normal)
    arm = sub(point, load3(where, rows.root[max(i, j)], 0))
    b = count
    count = add_block(rows, b, R.CONTACT, c, i, j, 1)
    rows.link[b, R.TURNING] = kind
    for r in range(3):
        direction = normal if r == 0 else side if r == 1 else along
        if i > 0:
            put_force(rows.block, b, R.ON_A + 6 * r, i, arm, direction)
        else:
            put_force(rows.block, b, R.ON_B + 6 * r, j, arm, scale(-1.0, direction))
    rows.block[b, R.ERROR_NOW] = touch.found.contact[c, CT.GAP]
    rows.block[b, R.GRIP] = touch.found.contact[c, CT.FRICTION]
    return count


@kernel
def _is_bare(touch, contacts, c, heel, height):
    """True if a foot, whose first contact is c, is level and touches nothing at its `heel`, this far below its ankle.
    Shapes of feet slope from the ankle to the toes and do not include the heel of a sole: a foot that bears its
    character would roll and swivel about its toes."""
    rows = touch.rows
    foot, near = max(rows.link[c, R.BODY_A], rows.link[c, R.BODY_B]), max(FOOTHOLD * touch.limit[CT.PLANT], height)
    for k in range(contacts):
        if max(rows.link[k, R.BODY_A], rows.link[k, R.BODY_B]) == foot and rows.link[k, R.BRACED] != 0:
            away = sub(load3(touch.found.contact, k, CT.POINT), heel)
            if k < c or dot(away, away) < near * near:
                return False
    return True


@kernel
def _is_sole(tree, state, root, i):
    """True if a body is heavy enough for a sole, no toe, and near its source: footholds would flip others."""
    mass = 0.0
    for k in range(root, tree.last[root] + 1):
        mass += tree.body[k, T.MASS]
    bend = load3(state.body, i, S.DEFLECTION)
    return tree.body[i, T.MASS] > SOLE * mass and dot(bend, bend) < SOLE_BENDS * SOLE_BENDS


@kernel
def _source_pose(tree, state, aim, work):
    """The pose for the source's rates: the present one, but for a struck character that of the source. A foot stands
    because rates cancel: the rates of a tilted body would let it slide."""
    struck = False
    for root in tree.roots:
        struck = struck or state.body[root, S.STRUCK] != 0.0
    if not struck:
        return pose_of(work, W.NOW)
    for i in range(1, len(tree.parent)):
        driven = state.behaviour[i] == C.SIMULATED or state.behaviour[i] == C.ASSIST
        store4(work.body, i, W.NEW, load4(aim.body, i, A.FROM + SA.VALUE) if driven else load4(state.body, i, S.COORDS))
        place = load3(state.body, i, S.ANCHOR)
        if driven and tree.kind[i] == FREE:
            place = load3(aim.body, i, A.FROM + SA.ANCHOR)
        store3(work.body, i, W.NEW_ANCHOR, place)
    source = pose_of(work, W.UNDISTURBED)
    forward(tree, work.body, W.NEW, W.NEW_ANCHOR, source)
    return source


@separate
def allow_source(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, h: Real, gravity: Vector):
    """Braced contacts of a character with a guided or animated root: allow what its source motion does there.

    Recorded feet sink into the floor, slide and land hard, and the root carries the weight. So such a contact resists
    only what exceeds the source: its gap counts from the source's depth, its rates from the source's, and its friction
    includes the weight it bears.

    Reads: A.FROM, CT.PLANT, CT.SLOP, R.BEARS, R.BLOCKS, R.BODY_A, R.BODY_B, R.BRACED, R.ERROR_NOW, R.ON_A, R.ON_B,
        R.OWN, R.TURNING, R.WHAT, R.block, R.root, R.tally, S.ANCHOR, S.COORDS, S.DRIFT, S.RETURNS, S.STRUCK, S.V,
        S.behaviour, W.LOADED_RATE, W.MOMENTUM, W.MOMENTUM2, W.NEW, W.NEW_ANCHOR, W.NOW, W.STILL, W.TOTAL_RATE,
        W.UNDISTURBED
    Writes: R.ALLOWED, R.BEARS, R.ERROR_NOW, R.tally, S.STOOD, W.LOADED_RATE, W.MOMENTUM, W.MOMENTUM2, W.NEW,
        W.NEW_ANCHOR, W.TOTAL_RATE, W.UNDISTURBED
    """
    rows = touch.rows
    if not _count_held(tree, state, rows):
        return
    total, off = work.rate[W.TOTAL_RATE], work.rate[W.LOADED_RATE]
    source = _source_motions(tree, state, aim, work, total, off)
    for b in range(rows.count[R.BLOCKS]):
        if rows.link[b, R.WHAT] != R.CONTACT or rows.link[b, R.BRACED] == 0:
            continue
        i, j = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B]
        if not (_held(tree, state, i) and _held(tree, state, j)):
            continue
        gap = rows.block[b, R.ERROR_NOW]
        away, rate, side, along = _beside_source(tree, state, aim, work, rows, b, source, total, off)
        meant = gap - away
        presses = meant <= touch.limit[CT.SLOP] or meant + h * rate < 0.0
        speed = rate * rate + side * side + along * along
        rows.block[b, R.ALLOWED + 1], rows.block[b, R.ALLOWED + 2] = side, along
        if presses or meant + LANDS * rate < 0.0:
            rows.block[b, R.ALLOWED] = min(rate, 0.0)
        root = rows.root[max(i, j)]
        near = touch.limit[CT.PLANT] * (STRUCK_STANDS if state.body[root, S.STRUCK] != 0.0 else 1.0)
        if presses or (meant < near and speed < STANDS * STANDS):
            mass = 0.0
            for k in range(root, tree.last[root] + 1):
                mass += tree.body[k, T.MASS]
            rows.block[b, R.BEARS] = mass * math.sqrt(dot(gravity, gravity)) / rows.tally[root]
            note_foot(tree, state, root, max(i, j))
        rows.block[b, R.ERROR_NOW] = gap - min(meant, 0.0)
        if rows.link[b, R.TURNING] != 0:
            # a foothold keeps the foot as it is in the source, or is disabled
            rows.block[b, R.ERROR_NOW] = gap - meant if rows.block[b, R.BEARS] > 0.0 else NONE
            rows.block[b, R.ALLOWED] = rate


@inlined
def _count_held(tree, state, rows):
    """Whether any braced contact is of bodies that are held; `tally` of a root: how many of its are.

    Reads: R.BLOCKS, R.BODY_A, R.BODY_B, R.BRACED, R.WHAT, R.root, R.tally, S.RETURNS, S.behaviour
    Writes: R.tally
    """
    found = False
    for i in range(len(tree.parent)):
        rows.tally[i] = 0
    for b in range(rows.count[R.BLOCKS]):
        if rows.link[b, R.WHAT] == R.CONTACT and rows.link[b, R.BRACED] != 0:
            i, j = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B]
            if _held(tree, state, i) and _held(tree, state, j):
                rows.tally[rows.root[max(i, j)]] += 1
                found = True
    return found


@inlined
def _source_motions(tree, state, aim, work, total, off):
    """Rates of the source (`total`), and how far the body is from it (`off`), as motions. Returns the source's pose.

    Reads: A.FROM, S.ANCHOR, S.COORDS, S.DRIFT, S.STRUCK, S.V, S.behaviour, W.MOMENTUM, W.MOMENTUM2, W.NEW,
        W.NEW_ANCHOR, W.NOW, W.STILL, W.UNDISTURBED, off, total
    Writes: W.LOADED_RATE, W.MOMENTUM, W.MOMENTUM2, W.NEW, W.NEW_ANCHOR, W.TOTAL_RATE, W.UNDISTURBED, off, total
    """
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        for k in range(d, tree.dof[i + 1]):
            total[k], off[k] = state.rate[S.V, k], 0.0
        if state.behaviour[i] == C.SIMULATED or state.behaviour[i] == C.ASSIST:
            store_rates(kind, work.rate, W.TOTAL_RATE, d, load3(aim.body, i, A.FROM + SA.RATE))
            away = difference(kind, load4(aim.body, i, A.FROM + SA.VALUE), load4(state.body, i, S.COORDS))
            store_rates(kind, work.rate, W.LOADED_RATE, d, away)
            if kind == FREE:
                store3(work.rate, W.TOTAL_RATE, d + 3, load3(aim.body, i, A.FROM + SA.ANCHOR_RATE))
                away = sub(load3(state.body, i, S.ANCHOR), load3(aim.body, i, A.FROM + SA.ANCHOR))
                store3(work.rate, W.LOADED_RATE, d + 3, away)
    source = _source_pose(tree, state, aim, work)
    velocities(tree, source, total, state.body, S.DRIFT, work.body, W.MOMENTUM)
    velocities(tree, pose_of(work, W.NOW), off, work.body, W.STILL, work.body, W.MOMENTUM2)
    return source


@kernel
def _beside_source(tree, state, aim, work, rows, b, source, total, off):
    """For a block's rows: the offset of its bodies from the source along the first, and the three rates there. For a
    struck character's contact with the world the offset is exact, else linear: in a strongly bent body feet are
    elsewhere than the linear estimate."""
    i, j = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B]
    root = rows.root[max(i, j)]
    if min(i, j) > 0 or state.body[root, S.STRUCK] == 0.0:
        away = row_rate(tree.dof, rows.block, rows.link, b, 0, work.body, W.MOMENTUM2, off)
        rate = row_rate(tree.dof, rows.block, rows.link, b, 0, work.body, W.MOMENTUM, total)
        side = row_rate(tree.dof, rows.block, rows.link, b, 1, work.body, W.MOMENTUM, total)
        along = row_rate(tree.dof, rows.block, rows.link, b, 2, work.body, W.MOMENTUM, total)
        return away, rate, side, along
    foot, column = max(i, j), R.ON_A if i > 0 else R.ON_B
    arm = (0.0, 0.0, 0.0)
    for r in range(3):
        turns, goes = load3(rows.block, b, column + 6 * r), load3(rows.block, b, column + 6 * r + 3)
        arm = axpy(0.5, cross(goes, turns), arm)
    now = pose_of(work, W.NOW)
    own = unrotate(load4(now.body, foot, P.ROTATION), sub(arm, load3(now.body, foot, P.PLACE)))
    there = add(load3(source.body, foot, P.PLACE), rotate(load4(source.body, foot, P.ROTATION), own))
    shift = sub(load3(state.body, root, S.ANCHOR), load3(aim.body, root, A.FROM + SA.ANCHOR))
    gone = add(sub(arm, there), shift)
    speed = add(load3(work.body, foot, W.MOMENTUM + 3), cross(load3(work.body, foot, W.MOMENTUM), there))
    press, side = load3(rows.block, b, column + 3), load3(rows.block, b, column + 9)
    along = load3(rows.block, b, column + 15)
    return dot(press, gone), dot(press, speed), dot(side, speed), dot(along, speed)


@kernel
def yield_to_pull(tree, state, aim, touch):
    """Let the hips of a guided character yield to the pull back to its motion, if it is off its motion and only its
    feet touch anything, or it was struck.

    Otherwise the standing foot would hold the whole character where it landed, step after step: each foot would land
    with the offset of the other.
    """
    rows = touch.rows
    for i in range(len(tree.parent)):
        rows.tally[i] = 0
    for b in range(rows.count[R.BLOCKS]):
        one, other = rows.root[rows.link[b, R.BODY_A]], rows.root[rows.link[b, R.BODY_B]]
        feet = rows.link[b, R.WHAT] == R.CONTACT and rows.link[b, R.BRACED] != 0
        if one != other and rows.link[b, R.WHAT] != R.LIMIT and not feet:
            rows.tally[one] += 1
            rows.tally[other] += 1
    for b in range(rows.count[R.BLOCKS]):
        if rows.link[b, R.WHAT] == R.CONTACT and rows.link[b, R.BRACED] != 0:
            i = max(rows.link[b, R.BODY_A], rows.link[b, R.BODY_B])
            root = rows.root[i]
            alone = rows.tally[root] == 0 or state.body[root, S.STRUCK] != 0.0
            if alone and state.behaviour[root] == C.ASSIST and is_deflected(tree, state, root):
                rows.link[b, R.BRACED] = 0
                aim.body[limb_of(tree, i), A.LEANED] = 1.0


@kernel
def _held(tree, state, i):
    """True for the world, and for a body that follows its keys along the whole chain from its root."""
    while i > 0:
        if state.behaviour[i] == C.LIMP or state.body[i, S.RETURNS] != 0.0:
            return False
        i = tree.parent[i]
    return True
