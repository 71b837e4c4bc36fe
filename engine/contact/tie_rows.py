"""Constraint rows of ties and joint limits; external impulses; wind.

Owns how ties, limits and pushes enter the solve. Must not know how rows are solved.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Index, Real, Table
from ..controllers.follow.reference import take_blow
from ..controllers.hooks import answer_blow
from ..controllers.shared.blow_state import is_deflected
from ..controllers.shared.recovery import stays_stiff
from ..dynamics.articulated import composite_inertia, factorise, generalized, solve
from ..dynamics.kinematics import momenta, velocities
from ..dynamics.swing_oval import oval_room, room_beside
from ..math.vectors import (
    add,
    cross,
    dot,
    load3,
    load4,
    quat_conj,
    quat_log,
    quat_mul,
    rotate,
    scale,
    store3,
    store4,
    store6,
    sub,
    unrotate,
)
from ..model.model import BALL, FREE
from ..tables import aim as A, control as C, holds as H, pose as P, rows as R, state as S, tree as T, work as W
from ..tables.classes import Aim, Control, Holds, Rows, State, Touch, Tree, Work
from ..tables.work import factor_of, pose_of
from .impacts import STIFFENINGS, stiffen
from .ragdoll import RAGDOLL

AIR = 1.2  # [kg/m³]
# A limit gets a row within this distance of it, besides what the step's rate covers [rad].
WATCH = 0.02
# Distance along the edge of an oval to the neighbouring tangents [rad].
BESIDE = 0.08
# Below this sine a swing has no direction.
STRAIGHT = 1e-9
# A joint this near to its motion is on it [rad, rad/s].
ON_MOTION = 1e-9


@kernel
def add_block(rows, b, what, source, i, j, braced):
    """An empty block between two bodies; returns the number of blocks."""
    rows.link[b, R.BODY_A], rows.link[b, R.BODY_B] = i, j
    rows.link[b, R.WHAT], rows.link[b, R.SOURCE], rows.link[b, R.ROWS] = what, source, 1
    rows.link[b, R.BRACED], rows.link[b, R.TURNING], rows.link[b, R.SIDE] = braced, 0, 0
    for k in range(36):
        rows.block[b, R.ON_A + k] = 0.0
    for k in range(9):
        rows.block[b, R.OWN + k] = 0.0
    for k in range(3):
        rows.block[b, R.ERROR_NOW + k] = rows.block[b, R.IMPULSE + k] = 0.0
        rows.block[b, R.SHIFT + k] = rows.block[b, R.TOTAL + k] = 0.0
        rows.block[b, R.ALLOWED + k] = rows.block[b, R.BEND + k] = 0.0
    rows.block[b, R.GRIP] = rows.block[b, R.REBOUND] = rows.block[b, R.BEARS] = 0.0
    rows.block[b, R.GIVEN_UP] = rows.block[b, R.STUCK] = 0.0
    return b + 1


@kernel
def put_force(block, b, column, body, arm, direction):
    """A unit force as a wrench about the root anchor; 0 for the world."""
    if body > 0:
        store6(block, b, column, cross(arm, direction), direction)


@kernel
def across(n):
    """Two unit vectors that complete the unit vector n to a right-handed frame."""
    one = (0.0, -n[2], n[1])
    if abs(n[0]) > 0.7:
        one = (n[2], 0.0, -n[0])
    one = scale(1.0 / math.sqrt(dot(one, one)), one)
    return one, cross(n, one)


@kernel
def unit(r):
    """A world axis."""
    if r == 0:
        return 1.0, 0.0, 0.0
    if r == 1:
        return 0.0, 1.0, 0.0
    return 0.0, 0.0, 1.0


@separate
def add_ties(holds: Holds, rows: Rows, where: Table, frame: Index, count: Index):
    """Blocks of the ties that are on in this frame.

    Reads: H.ACTS_AT, H.FINDS_LENGTH, H.FINDS_POINT, H.HOLDS, H.TIE_A, H.TIE_B, H.TIE_BRACED, H.TIE_KIND, H.TIE_LENGTH,
        H.TIE_POINT_A, H.TIE_POINT_B, H.TIE_TURN, H.tie_on, R.BODY_A, R.BODY_B, R.SOURCE, R.TURNING, R.root, where
    Writes: H.HOLDS, H.TIE_LENGTH, H.TIE_POINT_B, H.TIE_TURN, R.ALLOWED, R.BEARS, R.BEND, R.BODY_A, R.BODY_B, R.BRACED,
        R.ERROR_NOW, R.GIVEN_UP, R.GRIP, R.IMPULSE, R.ON_A, R.ON_B, R.OWN, R.REBOUND, R.ROWS, R.SHIFT, R.SIDE, R.SOURCE,
        R.STUCK, R.TOTAL, R.TURNING, R.WHAT
    """
    for t in range(len(holds.tie)):
        if not holds.tie_on[min(frame, len(holds.tie_on) - 1), t]:
            holds.tie_link[t, H.HOLDS] = 0
            continue
        i, j = holds.tie_link[t, H.TIE_A], holds.tie_link[t, H.TIE_B]
        if holds.tie_link[t, H.HOLDS] == 0:
            _take_hold(holds, where, t, i, j)
        kinds = 2 if holds.tie_link[t, H.TIE_KIND] == H.WELD else 1
        for k in range(kinds):
            b = count
            count = add_block(rows, b, R.TIE, t, i, j, holds.tie_link[t, H.TIE_BRACED])
            rows.link[b, R.TURNING] = k
            aim_tie(holds, rows, where, b)
            store3(rows.block, b, R.ERROR_NOW, tie_error(holds, rows, where, b))
    return count


@kernel
def aim_tie(holds, rows, where, b):
    """The wrenches of a tie's block, with its bodies at `where`."""
    i, j, t = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B], rows.link[b, R.SOURCE]
    if rows.link[b, R.TURNING] != 0:
        for r in range(3):
            if i > 0:
                store3(rows.block, b, R.ON_A + 6 * r, unit(r))
            if j > 0:
                store3(rows.block, b, R.ON_B + 6 * r, scale(-1.0, unit(r)))
        return
    spot = _spot(where, i, load3(holds.tie, t, H.TIE_POINT_A))
    other = _spot(where, j, load3(holds.tie, t, H.TIE_POINT_B))
    off = sub(spot, other)
    if holds.tie_link[t, H.TIE_KIND] != H.DISTANCE:
        if holds.tie_link[t, H.ACTS_AT] == H.POINT_OF_A:
            other = spot
        elif holds.tie_link[t, H.ACTS_AT] == H.POINT_OF_B:
            spot = other
    arm_a, arm_b = sub(spot, load3(where, rows.root[i], 0)), sub(other, load3(where, rows.root[j], 0))
    if holds.tie_link[t, H.TIE_KIND] == H.DISTANCE:
        length = math.sqrt(dot(off, off))
        along = scale(1.0 / length, off) if length > 1e-9 else (0.0, 0.0, 1.0)
        put_force(rows.block, b, R.ON_A, i, arm_a, along)
        put_force(rows.block, b, R.ON_B, j, arm_b, scale(-1.0, along))
        return
    for r in range(3):
        put_force(rows.block, b, R.ON_A + 6 * r, i, arm_a, unit(r))
        put_force(rows.block, b, R.ON_B + 6 * r, j, arm_b, scale(-1.0, unit(r)))


@kernel
def tie_error(holds, rows, where, b):
    """The errors of a tie's rows, with its bodies at `where` [m, rad]."""
    i, j, t = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B], rows.link[b, R.SOURCE]
    if rows.link[b, R.TURNING] != 0:
        should = quat_mul(load4(where, j, 3), load4(holds.tie, t, H.TIE_TURN))
        return quat_log(quat_mul(load4(where, i, 3), quat_conj(should)))
    off = sub(_spot(where, i, load3(holds.tie, t, H.TIE_POINT_A)), _spot(where, j, load3(holds.tie, t, H.TIE_POINT_B)))
    if holds.tie_link[t, H.TIE_KIND] == H.DISTANCE:
        return math.sqrt(dot(off, off)) - holds.tie[t, H.TIE_LENGTH], 0.0, 0.0
    return off


@kernel
def _spot(where, i, point):
    return add(load3(where, i, 0), rotate(load4(where, i, 3), point))


@kernel
def _take_hold(holds, where, t, i, j):
    """Store the bodies' relative pose when a tie is switched on."""
    holds.tie_link[t, H.HOLDS] = 1
    spot = _spot(where, i, load3(holds.tie, t, H.TIE_POINT_A))
    if holds.tie_link[t, H.FINDS_POINT] != 0:
        store3(holds.tie, t, H.TIE_POINT_B, unrotate(load4(where, j, 3), sub(spot, load3(where, j, 0))))
    store4(holds.tie, t, H.TIE_TURN, quat_mul(quat_conj(load4(where, j, 3)), load4(where, i, 3)))
    if holds.tie_link[t, H.FINDS_LENGTH] != 0:
        off = sub(spot, _spot(where, j, load3(holds.tie, t, H.TIE_POINT_B)))
        holds.tie[t, H.TIE_LENGTH] = math.sqrt(dot(off, off))


@separate
def add_limits(tree: Tree, state: State, bound: Table, rows: Rows, h: Real, count: Index):
    """Blocks of joints at or near their limits, one for each side.

    Reads: H.HIGH, H.LIMIT_FRAME, H.LOW, H.NATURAL, H.SWING, H.SWING_Z, H.TWIST_HIGH, H.TWIST_LOW, R.ragdoll, R.root,
        S.COORDS, S.DEFLECTION, S.ERROR, S.REFERENCE_V, S.V, S.behaviour
    Writes: R.ALLOWED, R.BEARS, R.BEND, R.BODY_A, R.BODY_B, R.BRACED, R.ERROR_NOW, R.GIVEN_UP, R.GRIP, R.IMPULSE,
        R.ON_A, R.OWN, R.REBOUND, R.ROWS, R.SHIFT, R.SIDE, R.SOURCE, R.STUCK, R.TOTAL, R.TURNING, R.WHAT
    """
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        if kind == FREE or state.behaviour[i] == C.ANIMATED:
            continue
        if bound[i, H.NATURAL] != 0.0 and state.behaviour[i] == C.SIMULATED and not _is_off(tree, state, i):
            continue
        if kind == BALL:
            count = _limit_ball(state, bound, rows, i, d, h, count)
        else:
            for k in range(tree.dof[i + 1] - d):
                angle, rate = state.body[i, S.COORDS + k], state.rate[S.V, d + k]
                low, high = bound[i, H.LOW + 2 * k], bound[i, H.HIGH + 2 * k]
                if angle - low < WATCH + h * abs(rate):
                    rows.block[count, R.ERROR_NOW] = 0.0
                    b = count
                    count = add_block(rows, b, R.LIMIT, i, i, 0, 0)
                    rows.block[b, R.OWN + k], rows.block[b, R.ERROR_NOW] = 1.0, angle - low
                    rows.link[b, R.SIDE] = 2 * k
                if high - angle < WATCH + h * abs(rate):
                    b = count
                    count = add_block(rows, b, R.LIMIT, i, i, 0, 0)
                    rows.block[b, R.OWN + k], rows.block[b, R.ERROR_NOW] = -1.0, high - angle
                    rows.link[b, R.SIDE] = 2 * k + 1
    return count


@kernel
def _is_off(tree, state, i):
    """True if a driven joint is off its motion: pushed off its reference, or returning with it."""
    for k in range(6):
        if abs(state.body[i, S.ERROR + k]) > ON_MOTION:
            return True
    return is_deflected(tree, state, i)


@kernel
def _limit_ball(state, bound, rows, i, d, h, count):
    """Swing is the angle of the Y axis from its direction in the limits' frame, twist the rotation about it."""
    w = load3(state.rate, S.V, d)
    reach = WATCH + h * math.sqrt(dot(w, w))
    c = load4(state.body, i, S.COORDS)
    gap, along, low, high, turn = room_of_ball(bound, i, c)
    if gap < reach:
        count = _limit_row(rows, i, 0, along, gap, count)
        if rows.ragdoll[rows.root[i]] == RAGDOLL and not math.isinf(bound[i, H.SWING_Z]):
            count = _limit_beside(bound, rows, i, c, reach, count)
    if low < reach:
        count = _limit_row(rows, i, 1, turn, low, count)
    if high < reach:
        count = _limit_row(rows, i, 2, scale(-1.0, turn), high, count)
    return count


@kernel
def _limit_beside(bound, rows, i, c, reach, count):
    """Add rows for the neighbouring tangents of a swing near the edge of its oval: where the edge bends sharply, a
    finger that is pressed would slide along one tangent and out."""
    body, q, _, inward, angle, sine = _swing(bound, i, c)
    if sine <= STRAIGHT:
        return count
    for side in range(2):
        way = BESIDE if side == 0 else -BESIDE
        gap, along = room_beside(q, inward, angle, sine, bound[i, H.SWING], bound[i, H.SWING_Z], way)
        if gap < reach:
            count = _limit_row(rows, i, 3 + side, rotate(body, along), gap, count)
    return count


@kernel
def _swing(bound, i, c):
    """A ball joint's swing: its reference frame, the rotation, its Y axis, the rates that reduce it, its angle and that
    angle's sine."""
    body = load4(bound, i, H.LIMIT_FRAME + 4)
    q = quat_mul(quat_conj(load4(bound, i, H.LIMIT_FRAME)), quat_mul(c, body))
    axis = (0.0, 1.0, 0.0)
    rest = unrotate(q, axis)
    out = cross(rest, axis)
    sine = math.sqrt(dot(out, out))
    inward = scale(-1.0 / sine, out) if sine > STRAIGHT else (0.0, 0.0, 0.0)
    return body, q, rest, inward, math.atan2(sine, rest[1]), sine


@kernel
def room_of_ball(bound, i, c):
    """Distances of a ball joint at c from its limits [rad], infinite without limits.

    For the swing, with the rates that widen it; for the twist from its low and its high end, with the rates that widen
    the first and narrow the second.
    """
    swing, low, high = bound[i, H.SWING], bound[i, H.TWIST_LOW], bound[i, H.TWIST_HIGH]
    gap = below = above = math.inf
    along = turn = (0.0, 0.0, 0.0)
    if math.isinf(swing) and math.isinf(low) and math.isinf(high):
        return gap, along, below, above, turn
    body, q, rest, inward, angle, sine = _swing(bound, i, c)
    if sine > STRAIGHT and not math.isinf(swing):
        gap, along = swing - angle, inward
        if not math.isinf(bound[i, H.SWING_Z]):
            gap, along = oval_room(q, inward, angle, sine, swing, bound[i, H.SWING_Z])
        along = rotate(body, along)
    if angle < 3.0:
        twist = 2.0 * math.atan2(q[2], q[0])
        if twist > math.pi:
            twist -= 2.0 * math.pi
        elif twist < -math.pi:
            twist += 2.0 * math.pi
        turn = rotate(body, scale(1.0 / (1.0 + rest[1]), add((0.0, 1.0, 0.0), rest)))
        below, above = twist - low, high - twist
    return gap, along, below, above, turn


@kernel
def _limit_row(rows, i, side, coefficients, gap, count):
    b = count
    count = add_block(rows, b, R.LIMIT, i, i, 0, 0)
    rows.link[b, R.SIDE] = side
    store3(rows.block, b, R.OWN, coefficients)
    rows.block[b, R.ERROR_NOW] = gap
    return count


@kernel
def blow_wind(tree, pose, work, touch, frame, h):
    """The wind's impulse on each body over the step, at its centre of mass; velocities in MOTION.

    Drag ½ρA|w − v|(w − v), at most what accelerates the body to the wind's speed.
    """
    holds = touch.holds
    row = min(frame, len(holds.wind_on) - 1)
    touch.rows.count[R.WINDY] = 0
    for k in range(len(holds.wind)):
        if holds.wind_on[row, k] > 0.0:
            touch.rows.count[R.WINDY] = 1
    for i in range(1, len(tree.parent)):
        total = (0.0, 0.0, 0.0)
        center = load3(pose.body, i, P.COM)
        if touch.rows.count[R.WINDY] > 0:
            v = add(load3(work.body, i, W.MOTION + 3), cross(load3(work.body, i, W.MOTION), center))
            for k in range(len(holds.wind)):
                past = sub(load3(holds.wind, k, 0), v)
                grip = h * holds.wind_on[row, k] * 0.5 * AIR * holds.area[i] * math.sqrt(dot(past, past))
                total = add(total, scale(grip * tree.body[i, T.MASS] / (tree.body[i, T.MASS] + grip), past))
        store6(touch.drag, i, 0, cross(center, total), total)


@kernel
def feel_wind(tree, aim, work, touch, pose):
    """Bodies that are not prescribed feel the wind's load in full."""
    if touch is None:
        return
    if touch.rows.count[R.WINDY] > 0:
        for i in range(len(tree.parent)):
            for k in range(6):
                work.body[i, W.LOAD + k] = touch.drag[i, k]
        generalized(tree, pose, work.body, W.LOAD, work.rate[W.LOADED_RATE])
        for i in range(1, len(tree.parent)):
            if aim.mode[i] != A.PRESCRIBED:
                for d in range(tree.dof[i], tree.dof[i + 1]):
                    work.rate[W.FELT, d] += work.rate[W.LOADED_RATE, d]


@separate
def strike(
    tree: Tree, control: Control, state: State, aim: Aim, work: Work, touch: Touch | None, frame: Index, dt: Real
):
    """Apply the pushes of this frame. Driven joints are passive, as in any impact (except `recovery`), and stop at
    their limits.

    Reads: A.FROM, A.GAINS, C.RECOVERY, C.SHAPE, H.PUSH_FRAME, H.PUSH_IMPULSE, H.PUSH_POINT, H.PUSH_ROW, R.root,
        R.tally, S.COORDS, S.DRIFT, S.DUE, S.DUE_KEY, S.REFERENCE, S.REFERENCE_ANCHOR, S.REFERENCE_V, S.RETURNS, S.V,
        S.behaviour, W.ANSWER, W.COMPLIANCE, W.COMPOSITE, W.LOAD, W.LOADED_RATE, W.MAIN, W.MOTION, W.NOW, W.block
    Writes: R.tally, S.ERROR, S.QUIET, S.REFERENCE_V, S.SPIN, S.STRUCK, S.V, W.ANSWER, W.COMPLIANCE, W.COMPOSITE,
        W.LOAD, W.LOADED_RATE, W.MAIN, W.MOTION, W.block
    """
    if touch is None:
        return
    if not _pushes(tree, touch, frame):
        return
    pose, factor = pose_of(work, W.NOW), factor_of(work, W.MAIN)
    for i in range(len(tree.parent)):
        stiff = touch.rows.tally[i] == 0 and stays_stiff(control, state, touch.rows.root[i], i, frame)
        factor.active[i] = i > 0 and state.behaviour[i] != C.ANIMATED and not stiff
        work.body[i, W.COMPLIANCE] = 0.0
        if touch.rows.tally[i] != 0:
            state.body[touch.rows.root[i], S.QUIET] = 0.0
        for k in range(6):
            work.body[i, W.LOAD + k] = 0.0
    for p in range(len(touch.holds.push)):
        if touch.holds.push[p, H.PUSH_FRAME] == frame:
            i = int(touch.holds.push[p, H.PUSH_ROW])
            arm = add(
                load3(pose.body, i, P.PLACE),
                rotate(load4(pose.body, i, P.ROTATION), load3(touch.holds.push, p, H.PUSH_POINT)),
            )
            impulse = load3(touch.holds.push, p, H.PUSH_IMPULSE)
            couple = cross(arm, impulse)
            for k in range(3):
                work.body[i, W.LOAD + k] += couple[k]
                work.body[i, W.LOAD + 3 + k] += impulse[k]
    generalized(tree, pose, work.body, W.LOAD, work.rate[W.LOADED_RATE])
    composite_inertia(tree, pose, work.body, W.COMPOSITE)
    for _ in range(STIFFENINGS):
        factorise(tree, pose, work.body, W.COMPLIANCE, work.block, factor)
        solve(tree, pose, factor, work.rate[W.LOADED_RATE], work.rate[W.ANSWER])
        if not stiffen(tree, control, state, aim, work, touch.rows.root, pose, factor, frame):
            break
    for d in range(len(work.rate[W.ANSWER])):
        state.rate[S.V, d] += work.rate[W.ANSWER, d]
    answer_blow(tree, control, state, frame, float(frame), dt, work.rate[W.ANSWER], True)
    take_blow(tree, state, aim, work.rate[W.ANSWER])
    velocities(tree, pose, state.rate[S.V], state.body, S.DRIFT, work.body, W.MOTION)
    momenta(tree, pose, work.body, W.MOTION, state.body, S.SPIN)


@kernel
def _pushes(tree, touch, frame):
    """tally: not 0 for joints between a push of this frame and the root. Returns True if there is any."""
    found = False
    for i in range(len(tree.parent)):
        touch.rows.tally[i] = 0
    for p in range(len(touch.holds.push)):
        if touch.holds.push[p, H.PUSH_FRAME] == frame:
            found = True
            i = int(touch.holds.push[p, H.PUSH_ROW])
            while i > 0:
                touch.rows.tally[i] = 1
                i = tree.parent[i]
    return found
