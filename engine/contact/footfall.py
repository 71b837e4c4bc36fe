"""Feet of a struck character: they land where the source sets them down.

Owns the pull on feet that do not stand, and which bodies are feet. Must not know how rows are solved.

A blow shifts the hips of a guided character, and with them the legs. Feet that moved along would land beside their
steps, and would have to slide, or stand there, while the hips come back. So a foot in the air is drawn to its position
in the source: its velocity becomes the source's, less a part of its offset. The pull is limited, as the guidance of the
root is: a foot yields to the blow, and is not torn towards a position that it cannot reach.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel, separate
from ..controllers.shared.root_assist import STANDARD_GRAVITY
from ..dynamics.joints import store_rates
from ..dynamics.kinematics import forward, velocities
from ..math.vectors import (
    add,
    axpy,
    cross,
    dot,
    load3,
    load4,
    quat_conj,
    quat_log,
    quat_mul,
    scale,
    store3,
    store4,
    sub,
)
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
from .tie_rows import add_block, put_force, unit

# A foot's offset falls to a third while it moves this far in the source [m]: a foot that hardly moves is about to land
# or to lift, and would visibly slide.
RETURN = 0.1
# High above the ground it also falls to a third in this time [s].
ALOFT = 0.1
# The largest pull on a foot, relative to the root's guidance.
LEG_PULL = 0.3
# Lever arm of the torque on a foot, relative to the height that counts as planted.
LEVER = 2.0
# Factor of that height for feet of a struck character: recorded floors are not level, and feet above them would slip.
STRUCK_STANDS = 2.5
# A leg is stretched to this part of its length, or as far as it is in the source: less would keep feet off the ground,
# more would pull the hips.
STRETCH = 1.0
# A foot counts with at least this part of the body's mass.
SOLE = 0.006


@kernel
def note_foot(tree, state, root, i):
    """Mark body i, which stands in the source, as a foot or part of one."""
    mass = 0.0
    for k in range(root, tree.last[root] + 1):
        mass += tree.body[k, T.MASS]
    while i > root and tree.body[i, T.MASS] <= SOLE * mass:
        i = tree.parent[i]
    if i > root:
        state.body[i, S.STOOD] = 1.0


@separate
def lead_feet(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None):
    """Add blocks on the feet of struck characters that do not stand: their velocities at the end of the step.

    Reads: A.FROM, A.GOAL_DRIFT, A.PULL_LIMIT, A.TO, CT.BODY_A, CT.BODY_B, CT.GAP, CT.PLANT, R.BEARS, R.BLOCKS,
        R.BODY_A, R.BODY_B, R.CONTACTS, R.GRIP, R.WHAT, R.mass, R.tally, S.ANCHOR, S.COORDS, S.STOOD, S.STRUCK,
        S.behaviour, W.MOMENTUM, W.NEW, W.NEW_ANCHOR, W.NOW, W.TOTAL_RATE, W.UNDISTURBED, W.UNDISTURBED_BEFORE
    Writes: R.ALLOWED, R.BEARS, R.BEND, R.BLOCKS, R.BODY_A, R.BODY_B, R.BRACED, R.ERROR_NOW, R.GIVEN_UP, R.GRIP,
        R.IMPULSE, R.ON_A, R.OWN, R.REBOUND, R.ROWS, R.SHIFT, R.SIDE, R.SOURCE, R.SPEED_NOW, R.STUCK, R.TOTAL,
        R.TURNING, R.WHAT, R.tally, W.MOMENTUM, W.NEW, W.NEW_ANCHOR, W.TOTAL_RATE, W.UNDISTURBED, W.UNDISTURBED_BEFORE
    """
    if touch is None:
        return
    rows = touch.rows
    struck = False
    for root in tree.roots:
        struck = struck or (state.body[root, S.STRUCK] != 0.0 and state.behaviour[root] == C.ASSIST)
    if not struck:
        return
    _mark_standing(tree, rows)
    before, after = pose_of(work, W.UNDISTURBED_BEFORE), pose_of(work, W.UNDISTURBED)
    _source_pose(tree, state, aim, work, A.FROM, before)
    _source_pose(tree, state, aim, work, A.TO, after)
    _source_rates(tree, state, aim, work, after)
    for root in tree.roots:
        if state.body[root, S.STRUCK] == 0.0 or state.behaviour[root] != C.ASSIST:
            continue
        most = LEG_PULL * aim.body[root, A.PULL_LIMIT] * rows.mass[root] * STANDARD_GRAVITY
        for i in range(root + 1, tree.last[root] + 1):
            room = rows.count[R.BLOCKS] + 2 <= len(rows.block)
            if state.body[i, S.STOOD] != 0.0 and rows.tally[i] == 0 and room:
                _draw_foot(tree, state, aim, work, touch, root, i, most)


@kernel
def _mark_standing(tree, rows):
    """tally: not 0 for bodies that bear weight and their ancestors; not on ice, where nothing holds a foot."""
    for i in range(len(tree.parent)):
        rows.tally[i] = 0
    for b in range(rows.count[R.BLOCKS]):
        if rows.link[b, R.WHAT] == R.CONTACT and rows.block[b, R.BEARS] > 0.0 and rows.block[b, R.GRIP] > 0.0:
            i = max(rows.link[b, R.BODY_A], rows.link[b, R.BODY_B])
            while i > 0 and rows.tally[i] == 0:
                rows.tally[i] = 1
                i = tree.parent[i]


@kernel
def _source_pose(tree, state, aim, work, sample, pose):
    """The pose of the source at a sample, relative to the root's anchor there; bodies without a drive keep their
    pose."""
    for i in range(1, len(tree.parent)):
        driven = state.behaviour[i] == C.SIMULATED or state.behaviour[i] == C.ASSIST
        store4(work.body, i, W.NEW, load4(aim.body, i, sample + SA.VALUE) if driven else load4(state.body, i, S.COORDS))
        place = load3(aim.body, i, sample + SA.ANCHOR) if driven else load3(state.body, i, S.ANCHOR)
        store3(work.body, i, W.NEW_ANCHOR, place)
    forward(tree, work.body, W.NEW, W.NEW_ANCHOR, pose)


@kernel
def _source_rates(tree, state, aim, work, pose):
    """MOMENTUM: velocities of the source's bodies at the end of the step."""
    rates = work.rate[W.TOTAL_RATE]
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        for k in range(d, tree.dof[i + 1]):
            rates[k] = 0.0
        if state.behaviour[i] == C.SIMULATED or state.behaviour[i] == C.ASSIST:
            store_rates(kind, work.rate, W.TOTAL_RATE, d, load3(aim.body, i, A.TO + SA.RATE))
            if kind == FREE:
                store3(work.rate, W.TOTAL_RATE, d + 3, load3(aim.body, i, A.TO + SA.ANCHOR_RATE))
    velocities(tree, pose, rates, aim.body, A.GOAL_DRIFT, work.body, W.MOMENTUM)


@kernel
def _draw_foot(tree, state, aim, work, touch, root, i, most):
    """Two blocks on a foot: on its centre, and on its rotation, each with up to `most` [N]."""
    now, before, after = pose_of(work, W.NOW), pose_of(work, W.UNDISTURBED_BEFORE), pose_of(work, W.UNDISTURBED)
    shift = sub(load3(state.body, root, S.ANCHOR), load3(aim.body, root, A.FROM + SA.ANCHOR))
    off = sub(add(load3(now.body, i, P.COM), shift), load3(before.body, i, P.COM))
    off = sub(off, _out_of_reach(tree, work, i, shift))
    turned = quat_mul(load4(now.body, i, P.ROTATION), quat_conj(load4(before.body, i, P.ROTATION)))
    turn = load3(work.body, i, W.MOMENTUM)
    speed = add(load3(work.body, i, W.MOMENTUM + 3), cross(turn, load3(after.body, i, P.COM)))
    back = math.sqrt(dot(speed, speed)) / RETURN + _height(tree, touch, i) / ALOFT
    speed, turn = axpy(-back, off, speed), axpy(-back, quat_log(turned), turn)
    rows, lever = touch.rows, LEVER * touch.limit[CT.PLANT]
    for kind in range(2):
        b = rows.count[R.BLOCKS]
        rows.count[R.BLOCKS] = add_block(rows, b, R.CONTACT, 0, i, 0, 0)
        rows.link[b, R.TURNING] = R.LEADS
        rows.block[b, R.BEARS], rows.block[b, R.GRIP] = most, 1.0
        for r in range(3):
            direction = unit(2 - r)
            if kind == 0:
                put_force(rows.block, b, R.ON_A + 6 * r, i, load3(now.body, i, P.COM), direction)
                wanted = dot(direction, speed)
            else:
                store3(rows.block, b, R.ON_A + 6 * r, scale(lever, direction))
                wanted = lever * dot(direction, turn)
            rows.block[b, R.ALLOWED + r] = rows.block[b, R.SPEED_NOW + r] = wanted


@kernel
def _height(tree, touch, i):
    """Height of a foot above the world, relative to what counts as standing; 1 for anything higher."""
    gap = high = STRUCK_STANDS * touch.limit[CT.PLANT]
    for c in range(touch.rows.count[R.CONTACTS]):
        one, other = touch.found.meet[c, CT.BODY_A], touch.found.meet[c, CT.BODY_B]
        if min(one, other) == 0 and i <= max(one, other) <= tree.last[i]:
            gap = min(gap, touch.found.contact[c, CT.GAP])
    return max(gap, 0.0) / high


@kernel
def _out_of_reach(tree, work, i, shift):
    """The part of a foot's offset that it cannot reach because of its leg's length: towards the present hip. shift: the
    root's offset."""
    now, before = pose_of(work, W.NOW), pose_of(work, W.UNDISTURBED_BEFORE)
    hip, k, length = limb_of(tree, i), i, 0.0
    while k > hip:
        part = sub(load3(now.body, k, P.PLACE), load3(now.body, tree.parent[k], P.PLACE))
        length += math.sqrt(dot(part, part))
        k = tree.parent[k]
    meant = sub(load3(before.body, i, P.PLACE), load3(before.body, hip, P.PLACE))
    way = sub(load3(before.body, i, P.PLACE), add(load3(now.body, hip, P.PLACE), shift))
    far, reach = math.sqrt(dot(way, way)), max(STRETCH * length, math.sqrt(dot(meant, meant)))
    return scale(min(0.0, reach / max(far, reach) - 1.0), way)


@kernel
def limb_of(tree, i):
    """The first joint of the limb that ends in body i: the one nearest to the root that has siblings."""
    hip = i
    while tree.parent[i] > 0:
        p = tree.parent[i]
        if i > p + 1 or tree.last[i] < tree.last[p]:
            hip = i
        i = p
    return hip
