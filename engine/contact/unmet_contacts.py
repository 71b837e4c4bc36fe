"""Contacts that no force can meet, because keys force two bodies through one another: give up a share of them.

Owns which trees are led by keys, and what a contact between two of them demands. Must not know how rows are solved or
contacts are found.

Two characters whose roots are Animated, or one and a wall, approach each other however far their joints yield. So such
a contact demands no more than its joints can do: the speed at which bodies separate while no joint turns faster than
YIELD_RATE, or into its limit. The rest of the keys' closing speed is allowed. If bodies that are led into one another
still get deep, the contact is given up gradually, and completely before they have passed the middle of one another,
where the separating direction flips.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Real
from ..controllers.shared.blow_state import is_light
from ..controllers.shared.rate_limits import note_rates
from ..dynamics.kinematics import velocities
from ..geometry import shape_table as SH
from ..math.vectors import axpy, dot, dot6, load3, load4, load6, scale
from ..model.model import BALL, FREE
from ..tables import (
    aim as A,
    contacts as CT,
    control as C,
    holds as H,
    pose as P,
    rows as R,
    sample as SA,
    state as S,
    work as W,
)
from ..tables.classes import Aim, State, Touch, Tree, Work
from ..tables.work import pose_of
from .joint_space import row_rate
from .tie_rows import room_of_ball

# The fastest rate off its motion that a contact between led bodies may demand of a joint [rad/s].
YIELD_RATE = 6.0
# No joint is asked to reach its limit in less than this time [s].
LIMIT_TIME = 0.05
# A contact whose line passes all joints at less than this distance demands less [parts of the character's size]: its
# impulses would be disproportionate.
SHORT_LEVER = 0.1
# A contact is given up from this depth on, and completely at the second [parts of both bodies' thickness].
GIVES_FROM, GIVES_ALL = 0.1, 0.3
# The fastest rate of a driven joint off its motion, from when its character touches another, or is forced into
# anything, until it is back [rad/s]: light hands and feet would spin. While the character stands there, the limit falls
# to practically rest, with this time constant [s].
MOST_RATE, REST_RATE, CALM_TIME = 8.0, 0.2, 0.25
# A character that separates from another for no longer than this still rests there: joints that tremble touch and
# separate alternately [s].
TREMBLES = 0.1
# Led bodies slower than this stand [m/s].
STILL_SPEED = 0.05
# States of a tree: it touches what is led, rests against another character, meets one, stands in what it is forced
# into, or moves through it.
TOUCHES, RESTS, MEETS, STANDS, GOES = 1, 2, 3, 4, 5
# A motion whose joints turn slower stands still [rad/s].
STILL_RATE = 0.05
# A tree is back when all its bodies are this near to their motion [rad, m].
BACK = 0.01
# Initial PRESSED of a tree that was just led into something, and initial MET of one that just met another [s].
JUST_NOW = 1e-9


@separate
def give_up(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, h: Real):
    """For contacts between led trees set the closing speed ALLOWED, GIVEN_UP and STUCK; for joints FASTEST. The step
    takes h seconds.

    Reads: A.FROM, CT.PLANT, CT.SHAPE_A, CT.SHAPE_B, H.HIGH, H.LIMIT_FRAME, H.LOW, H.SWING, H.SWING_Z, H.TWIST_HIGH,
        H.TWIST_LOW, R.ALLOWED, R.BLOCKS, R.BODY_A, R.BODY_B, R.BRACED, R.ERROR_NOW, R.GRIP, R.ON_A, R.ON_B, R.OWN,
        R.REBOUND, R.SOURCE, R.SPEED_NOW, R.WHAT, R.led, R.root, R.tally, S.APART, S.COORDS, S.DEFLECTION, S.DRIFT,
        S.DUE_KEY, S.ERROR, S.MET, S.PRESSED, S.REFERENCE_V, S.V, S.behaviour, W.BONE_TURN, W.FASTEST, W.MOMENTUM,
        W.NOW, W.TOTAL_RATE
    Writes: R.ALLOWED, R.GIVEN_UP, R.GRIP, R.REBOUND, R.STUCK, R.led, R.tally, S.APART, S.MET, S.PRESSED, W.BONE_TURN,
        W.FASTEST, W.MOMENTUM, W.OWN_RATE, W.TOTAL_RATE
    """
    rows = touch.rows
    _find_led(tree, state, rows)
    for i in range(1, len(tree.parent)):
        work.body[i, W.FASTEST] = math.inf
    found = False
    for b in range(rows.count[R.BLOCKS]):
        found = found or _is_forced(rows, b) or _meets(tree, rows, b)
    if found:
        pose, total = pose_of(work, W.NOW), work.rate[W.TOTAL_RATE]
        for i in range(1, len(tree.parent)):
            for d in range(tree.dof[i], tree.dof[i + 1]):
                total[d] = state.rate[S.V, d] if state.behaviour[i] == C.ANIMATED else 0.0
        velocities(tree, pose, total, state.body, S.DRIFT, work.body, W.MOMENTUM)
        for b in range(rows.count[R.BLOCKS]):
            if _is_forced(rows, b):
                _ask_less(tree, state, work, touch, pose, total, b)
            if _meets(tree, rows, b):
                one, other = rows.root[rows.link[b, R.BODY_A]], rows.root[rows.link[b, R.BODY_B]]
                how = RESTS if _stands(tree, aim, one) and _stands(tree, aim, other) else MEETS
                rows.tally[one], rows.tally[other] = max(rows.tally[one], how), max(rows.tally[other], how)
    _calm_down(tree, state, aim, work, rows, h)
    for b in range(rows.count[R.BLOCKS]):
        if rows.link[b, R.WHAT] == R.CONTACT:
            _hold_light(tree, state, aim, work, rows.root[rows.link[b, R.BODY_A]], rows.link[b, R.BODY_A])
            _hold_light(tree, state, aim, work, rows.root[rows.link[b, R.BODY_B]], rows.link[b, R.BODY_B])


@kernel
def _hold_light(tree, state, aim, work, root, i):
    """Set FASTEST of the hands, fingers and toes of a driven character that nothing holds, if body i, one of them,
    comes to touch something: the character may fall on it with all its weight, and the motion of a very light body
    between two heavy ones has no effect on them."""
    if i == root or state.behaviour[root] != C.LIMP or state.behaviour[i] != C.SIMULATED:
        return
    if work.body[root, W.FASTEST] < math.inf or not is_light(tree, root, i):
        return
    work.body[root, W.FASTEST] = MOST_RATE
    for k in range(root, tree.last[root] + 1):
        note_rates(tree, state, aim, work, k)
        if state.behaviour[k] == C.SIMULATED and is_light(tree, root, k):
            own = load3(aim.body, k, A.FROM + SA.RATE)
            work.body[k, W.FASTEST] = MOST_RATE + math.sqrt(dot(own, own))


@kernel
def _ask_less(tree, state, work, touch, pose, total, b):
    """Limit a contact's demand to what its joints can do; `total` (nv,): the rates of the keys alone. Stores the state
    of its trees in `tally`."""
    rows = touch.rows
    i, j, c = rows.link[b, R.BODY_A], rows.link[b, R.BODY_B], rows.link[b, R.SOURCE]
    lever = _lever(tree, state, pose, touch, b, i, j, R.ON_A) + _lever(tree, state, pose, touch, b, j, i, R.ON_B)
    near = min(1.0, lever * CT.PLANT_SHARE / (SHORT_LEVER * touch.limit[CT.PLANT]))
    led = row_rate(tree.dof, rows.block, rows.link, b, 0, work.body, W.MOMENTUM, total)
    asked = led + YIELD_RATE * near * lever
    rows.block[b, R.GRIP] *= near
    rows.block[b, R.ALLOWED] = min(rows.block[b, R.ALLOWED], asked)
    touches = rows.block[b, R.ERROR_NOW] <= 0.0 and rows.link[b, R.BRACED] == 0
    share = 0.0
    if (touches and led < -STILL_SPEED) or is_led_into(state, rows, i, j):
        share = share_given_up(
            touch, touch.found.meet[c, CT.SHAPE_A], touch.found.meet[c, CT.SHAPE_B], rows.block[b, R.ERROR_NOW]
        )
    rows.block[b, R.GIVEN_UP] = share
    rows.block[b, R.GRIP] *= 1.0 - share
    rows.block[b, R.REBOUND] *= 1.0 - share
    rows.block[b, R.ALLOWED] += share * min(0.0, rows.block[b, R.SPEED_NOW] - rows.block[b, R.ALLOWED])
    how = TOUCHES if touches else 0
    if touches and (share > 0.0 or asked < 0.0):
        how = GOES if abs(led) > STILL_SPEED else STANDS
    for root in (rows.root[i], rows.root[j]):
        # a single animated object is not affected
        if root > 0 and (tree.last[root] > root or state.behaviour[root] != C.ANIMATED):
            rows.tally[root] = max(rows.tally[root], how)
            if touches and led < -STILL_SPEED and state.body[root, S.PRESSED] == 0.0:
                state.body[root, S.PRESSED] = JUST_NOW


@kernel
def is_led_into(state, rows, i, j):
    """True if keys have led the tree of one of two bodies into something it touches."""
    return state.body[rows.root[i], S.PRESSED] > 0.0 or state.body[rows.root[j], S.PRESSED] > 0.0


@kernel
def _calm_down(tree, state, aim, work, rows, h):
    """FASTEST of the joints of trees that met others and are not back yet: MOST_RATE, and decreasing once they stand in
    what they are forced into. Depth is not corrected there."""
    for root in tree.roots:
        how = rows.tally[root]
        if how == 0:
            state.body[root, S.PRESSED] = 0.0
        elif how == GOES:
            state.body[root, S.PRESSED] = JUST_NOW
        elif how == STANDS:
            state.body[root, S.PRESSED] += h
        _note_meeting(tree, state, aim, root, how, h)
        if state.body[root, S.MET] == 0.0:
            continue
        calm = state.body[root, S.PRESSED] if how > MEETS else state.body[root, S.MET] - JUST_NOW
        most = REST_RATE + (MOST_RATE - REST_RATE) * math.exp(-calm / CALM_TIME)
        for i in range(root, tree.last[root] + 1):
            note_rates(tree, state, aim, work, i)
            own = load3(aim.body, i, A.FROM + SA.RATE)
            work.body[i, W.FASTEST] = most + math.sqrt(dot(own, own))
            if how <= MEETS and state.body[i, S.DUE_KEY] >= 0.0:
                # a joint on its way to a key is as fast as that takes
                for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
                    work.body[i, W.FASTEST] += abs(state.rate[S.REFERENCE_V, d])
    for b in range(rows.count[R.BLOCKS]):
        if _is_forced(rows, b):
            one, other = rows.root[rows.link[b, R.BODY_A]], rows.root[rows.link[b, R.BODY_B]]
            rows.block[b, R.STUCK] = 1.0 if max(rows.tally[one], rows.tally[other]) > MEETS else 0.0


@kernel
def _note_meeting(tree, state, aim, root, how, h):
    """MET of a tree: the time for which it has rested against others, until it is back on its motion."""
    state.body[root, S.APART] = 0.0 if how >= RESTS else state.body[root, S.APART] + h
    if how == RESTS and state.body[root, S.MET] > 0.0:
        state.body[root, S.MET] += h
    elif how >= RESTS:
        state.body[root, S.MET] = JUST_NOW
    elif state.body[root, S.MET] > 0.0:
        if _is_back(tree, state, root):
            state.body[root, S.MET] = 0.0
        elif not _stands(tree, aim, root):
            state.body[root, S.MET] = JUST_NOW
        elif state.body[root, S.APART] < TREMBLES:
            state.body[root, S.MET] += h


@kernel
def _stands(tree, aim, root):
    """True if the motion of a tree stands still."""
    drift = load3(aim.body, root, A.FROM + SA.ANCHOR_RATE)
    if dot(drift, drift) > STILL_SPEED * STILL_SPEED:
        return False
    for i in range(root, tree.last[root] + 1):
        rate = load3(aim.body, i, A.FROM + SA.RATE)
        if dot(rate, rate) > STILL_RATE * STILL_RATE:
            return False
    return True


@kernel
def _is_back(tree, state, root):
    """True if all bodies of a tree are back on their motion; never for a tree that is free to fall."""
    if state.behaviour[root] == C.LIMP:
        return False
    for i in range(root, tree.last[root] + 1):
        for k in range(3):
            turned = abs(state.body[i, S.ERROR + k]) + abs(state.body[i, S.DEFLECTION + k])
            shifted = abs(state.body[i, S.ERROR + 6 + k]) + abs(state.body[i, S.DEFLECTION + 3 + k])
            if max(turned, shifted) > BACK:
                return False
    return True


@kernel
def _is_forced(rows, b):
    """True if the block is a contact between led trees."""
    return rows.link[b, R.WHAT] == R.CONTACT and are_led(rows, rows.link[b, R.BODY_A], rows.link[b, R.BODY_B])


@kernel
def _meets(tree, rows, b):
    """True if two characters touch, or one itself."""
    if rows.link[b, R.WHAT] != R.CONTACT or rows.link[b, R.BRACED] != 0:
        return False
    for root in (rows.root[rows.link[b, R.BODY_A]], rows.root[rows.link[b, R.BODY_B]]):
        if root == 0 or tree.last[root] == root:
            return False
    return True


@kernel
def _find_led(tree, state, rows):
    """Find trees whose root is animated or fixed in the world; clears `tally`."""
    led = rows.led
    led[0] = 1
    for i in range(len(tree.parent)):
        rows.tally[i] = 0
    for root in tree.roots:
        led[root] = 1 if tree.kind[root] != FREE or state.behaviour[root] == C.ANIMATED else 0


@kernel
def are_led(rows, i, j):
    """True if keys or the world prescribe both bodies' trees."""
    return rows.led[rows.root[i]] != 0 and rows.led[rows.root[j]] != 0


@kernel
def _lever(tree, state, pose, touch, b, i, other, column):
    """The separating speed of a contact's bodies when one joint between body i and its root turns at 1 rad/s, for the
    most effective of these joints [m]. Joints that carry both bodies have no effect; wrenches on i in `column`."""
    most = 0.0
    force = load6(touch.rows.block, b, column)
    while i > 0 and not i <= other <= tree.last[i]:
        if state.behaviour[i] != C.ANIMATED:
            first = tree.dof[i]
            x = y = z = 0.0
            if tree.dof[i + 1] > first:
                x = dot6(load6(pose.axes, first, P.TURNS), force)
            if tree.dof[i + 1] > first + 1:
                y = dot6(load6(pose.axes, first + 1, P.TURNS), force)
            if tree.dof[i + 1] > first + 2:
                z = dot6(load6(pose.axes, first + 2, P.TURNS), force)
            most = max(most, _within_limits(tree, state, touch.holds.bound, i, (x, y, z)))
        i = tree.parent[i]
    return most


@kernel
def _within_limits(tree, state, bound, i, turn):
    """The length of joint i's rates `turn` without components that would reach a limit within LIMIT_TIME."""
    if tree.kind[i] == BALL:
        swing, along, low, high, about = room_of_ball(bound, i, load4(state.body, i, S.COORDS))
        turn = _less_into(turn, along, swing)
        turn = _less_into(turn, about, low)
        turn = _less_into(turn, scale(-1.0, about), high)
    else:
        for k in range(min(2, tree.dof[i + 1] - tree.dof[i])):
            axis = (1.0, 0.0, 0.0) if k == 0 else (0.0, 1.0, 0.0)
            angle = state.body[i, S.COORDS + k]
            turn = _less_into(turn, axis, angle - bound[i, H.LOW + 2 * k])
            turn = _less_into(turn, scale(-1.0, axis), bound[i, H.HIGH + 2 * k] - angle)
    return math.sqrt(dot(turn, turn))


@kernel
def _less_into(turn, away, room):
    """Rates without the component into a limit `room` radians away; `away`: the rates that lead away from it."""
    into = dot(turn, away)
    if into >= 0.0 or math.isinf(room):
        return turn
    share = 1.0 - min(max(room / (YIELD_RATE * LIMIT_TIME), 0.0), 1.0)
    return axpy(-share * into / max(dot(away, away), 1e-12), away, turn)


@kernel
def share_given_up(touch, a, b, gap):
    """The share of a contact between two led shapes that is given up at this gap [m], 0 to 1."""
    thick = touch.shapes.shape[a, SH.THICK] + touch.shapes.shape[b, SH.THICK]
    share = (-gap / thick - GIVES_FROM) / (GIVES_ALL - GIVES_FROM)
    share = min(max(share, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


@kernel
def mark_forced(state, touch, forced, frame):
    """Record which led bodies are so deep in one another that their contact is given up."""
    if touch is None:
        return
    rows = touch.rows
    for c in range(rows.count[R.CONTACTS]):
        a, b = touch.found.meet[c, CT.SHAPE_A], touch.found.meet[c, CT.SHAPE_B]
        i, j = touch.shapes.link[a, SH.BODY], touch.shapes.link[b, SH.BODY]
        braced = max(touch.shapes.link[a, SH.RESPONSE_KIND], touch.shapes.link[b, SH.RESPONSE_KIND]) != 0
        share = share_given_up(touch, a, b, touch.found.contact[c, CT.GAP])
        led = are_led(rows, i, j) and is_led_into(state, rows, i, j)
        if rows.root[i] != rows.root[j] and led and not braced and share > 0.0:
            forced[frame, i], forced[frame, j] = j, i
