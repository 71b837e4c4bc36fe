"""Sleep: skip the frames of a shot in which all limp bodies rest, until something wakes it.

Owns when bodies fall asleep and what wakes them. Must not know what a step does.

A shot sleeps as a whole. Bodies that cannot touch one another are separate shots (`groups`), so resting ones sleep
while others move. It falls asleep at the end of a frame if for SLEEP_AFTER seconds every limp body was, in the mean of
each frame, slower than SLOW, every limp tree lay on something and was balanced, and everything else stood still. It
wakes on the frame on which a behaviour changes, something animated moves, a tie is switched, wind blows, or a push
changes a rate.
"""

from __future__ import annotations

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Index, Real, Vector
from ..contact.settling import is_balanced, note_calm
from ..dynamics.joints import difference
from ..dynamics.kinematics import velocities
from ..math.vectors import add, cross, dot, load3, load4, store3, store4
from ..model.model import FREE
from ..tables import control as C, motion as M, pose as P, rows as R, state as S, work as W
from ..tables.classes import Control, State, Target, Touch, Tree, Work
from ..tables.work import pose_of

# [m/s] of a body's centre of mass, and [rad/s] of a joint: slower bodies rest. A single body that slides soon becomes
# faster than SLOW_ROOT, however little it accelerates.
SLOW, SLOW_TURN, SLOW_ROOT = 0.015, 0.3, 0.002
SLEEP_AFTER = 0.25  # [s]
# [m/s] and [m] tolerance for the motion of a limp bone's anchor in its parent: the source was sampled in single
# precision.
STEADY, STEADY_WAY = 1e-3, 1e-5


@kernel
def note_begin(tree, state, work):
    """FRAME_COORDS and FRAME_ANCHOR: the pose at the start of the frame."""
    for i in range(1, len(tree.parent)):
        store4(work.body, i, W.FRAME_COORDS, load4(state.body, i, S.COORDS))
        store3(work.body, i, W.FRAME_ANCHOR, load3(state.body, i, S.ANCHOR))


@kernel
def _mean_rates(tree, state, work, dt):
    """X1: the joints' mean rates over the frame. A joint that rattles on its limit has a mean of about 0."""
    rate = work.rate[W.X1]
    for i in range(1, len(tree.parent)):
        first, end = tree.dof[i], tree.dof[i + 1]
        turn = difference(tree.kind[i], load4(work.body, i, W.FRAME_COORDS), load4(state.body, i, S.COORDS))
        for d in range(first, min(first + 3, end)):
            rate[d] = turn[d - first] / dt
        if tree.kind[i] == FREE:
            for k in range(3):
                rate[first + 3 + k] = (state.body[i, S.ANCHOR + k] - work.body[i, W.FRAME_ANCHOR + k]) / dt


@separate
def note_quiet(
    tree: Tree, target: Target, state: State, work: Work, touch: Touch | None, frame: Index, gravity: Vector, dt: Real
):
    """At the end of a frame: QUIET of the world, the seconds for which nothing has moved. Bodies that fall asleep are
    stopped.

    Reads: CT.PLANT, CT.POINT, CT.SLOP, CT.START_PLACE, R.BLOCKS, R.BODY_A, R.BODY_B, R.ERROR_NOW, R.ON_A, R.ON_B,
        R.SOURCE, R.TOTAL, R.WHAT, R.mass, R.ragdoll, R.root, R.tally, S.ANCHOR, S.COORDS, S.DRIFT, S.QUIET, S.RETURNS,
        S.behaviour, W.FRAME_ANCHOR, W.FRAME_COORDS, W.MOTION, W.NOW, W.X1
    Writes: R.tally, S.QUIET, S.SPIN, S.V, W.MOTION, W.X1
    """
    _mean_rates(tree, state, work, dt)
    if touch is not None:
        note_calm(tree, state, work, touch, work.rate[W.X1], gravity, dt)
    still = _lies_on_something(tree, state, touch) and _lies_still(tree, state, work)
    still = still and _is_borne(tree, state, work, touch, gravity)
    if not (still and _source_stands(tree, target, state, frame)):
        state.body[0, S.QUIET] = 0.0
        return
    state.body[0, S.QUIET] += dt
    if state.body[0, S.QUIET] >= SLEEP_AFTER:
        for d in range(len(state.rate[S.V])):
            state.rate[S.V, d] = 0.0
        for i in range(1, len(tree.parent)):
            for k in range(6):
                state.body[i, S.SPIN + k] = 0.0


@kernel
def _lies_on_something(tree, state, touch):
    """True if contacts support every limp tree: a body that hangs or flies slowly is not at rest."""
    if touch is None:
        return False
    rows = touch.rows
    for i in range(len(tree.parent)):
        rows.tally[i] = 0
    for b in range(rows.count[R.BLOCKS]):
        if rows.link[b, R.WHAT] == R.CONTACT and rows.block[b, R.TOTAL] > 0.0:
            rows.tally[rows.root[rows.link[b, R.BODY_A]]] = rows.tally[rows.root[rows.link[b, R.BODY_B]]] = 1
    for root in tree.roots:
        if rows.tally[root] == 0:
            for i in range(root, tree.last[root] + 1):
                if state.behaviour[i] == C.LIMP and tree.dof[i + 1] > tree.dof[i]:
                    return False
    return True


@kernel
def _is_borne(tree, state, work, touch, gravity):
    """True if every limp tree is balanced, however slow it is."""
    if touch is None:
        return False
    for root in tree.roots:
        loose = state.behaviour[root] == C.LIMP and tree.kind[root] == FREE
        if loose and not is_balanced(tree, touch, pose_of(work, W.NOW), root, gravity):
            return False
    return True


@kernel
def _lies_still(tree, state, work):
    """True if there are limp bodies, all of them slow, and nothing is driven."""
    limp = False
    rate = work.rate[W.X1]
    for i in range(1, len(tree.parent)):
        if state.behaviour[i] == C.LIMP:
            limp = True
            turn = 0.0
            for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
                turn += rate[d] * rate[d]
            if turn > SLOW_TURN * SLOW_TURN:
                return False
        elif state.body[i, S.RETURNS] != 0.0 or (state.behaviour[i] != C.ANIMATED and tree.dof[i + 1] > tree.dof[i]):
            return False
    if not limp:
        return False
    pose = pose_of(work, W.NOW)
    velocities(tree, pose, rate, state.body, S.DRIFT, work.body, W.MOTION)
    for i in range(1, len(tree.parent)):
        v = add(load3(work.body, i, W.MOTION + 3), cross(load3(work.body, i, W.MOTION), load3(pose.body, i, P.COM)))
        most = SLOW_ROOT if tree.kind[i] == FREE and tree.last[i] == i else SLOW
        if dot(v, v) > most * most:
            return False
    return True


@kernel
def _source_stands(tree, target, state, frame):
    """True if the keys' motion stands still from this frame to the next: animated bodies, and all bones' anchors."""
    end = min(frame + 1, len(target.curve) - 1)
    for i in range(1, len(tree.parent)):
        animated = state.behaviour[i] == C.ANIMATED
        if animated and target.hold[frame, i]:
            return False
        for f in range(frame, end + 1):
            if animated:
                for k in range(M.SLOPE, M.ANCHOR_AT):
                    if target.curve[f, i, k] != 0.0 and not (f == end and k >= M.SLOPE + 3):
                        return False
            still = 0.0 if animated else 1.0
            if animated or tree.kind[i] != FREE:
                for k in range(3):
                    if abs(target.curve[f, i, M.ANCHOR_SLOPE + k]) > still * STEADY:
                        return False
                    way = target.curve[f, i, M.ANCHOR_AT + k] - target.curve[end, i, M.ANCHOR_AT + k]
                    if abs(way) > still * STEADY_WAY:
                        return False
    return True


@separate
def sleeps(tree: Tree, target: Target, control: Control, state: State, touch: Touch | None, frame: Index):
    """True if the shot is asleep during the frame that begins. Otherwise it is awake from here on.

    Reads: C.behaviour, H.tie_on, H.wind_on, S.QUIET, S.V, S.behaviour
    Writes: S.QUIET
    """
    if state.body[0, S.QUIET] < SLEEP_AFTER:
        return False
    if _source_stands(tree, target, state, frame) and not _is_woken(tree, control, state, touch, frame):
        return True
    for i in range(len(tree.parent)):
        state.body[i, S.QUIET] = 0.0
    return False


@kernel
def _is_woken(tree, control, state, touch, frame):
    """True if something other than the keys moves a sleeping body: a rate, a behaviour, a tie or the wind."""
    for d in range(len(state.rate[S.V])):
        if state.rate[S.V, d] != 0.0:
            return True
    before, row = min(frame - 1, len(control.behaviour) - 1), min(frame, len(control.behaviour) - 1)
    for i in range(1, len(tree.parent)):
        if control.behaviour[row, i] != control.behaviour[before, i]:
            return True
    if touch is None:
        return False
    holds = touch.holds
    for t in range(len(holds.tie)):
        if holds.tie_on[min(frame, len(holds.tie_on) - 1), t] != holds.tie_on[min(frame - 1, len(holds.tie_on) - 1), t]:
            return True
    for k in range(len(holds.wind)):
        if holds.wind_on[min(frame, len(holds.wind_on) - 1), k] > 0.0:
            return True
    return False


@kernel
def write_asleep(record, frame):
    """Torques and contacts for the sleeping frame that starts at `frame`: those of the frame itself.

    A frame's torque is the mean of the steps before and after it: so far it holds one half.
    """
    last = frame + 2 == len(record.rate)
    for d in range(record.rate.shape[2]):
        half = record.rate[frame, 1, d]
        record.rate[frame, 1, d] = 2.0 * half
        record.rate[frame + 1, 1, d] = 2.0 * half if last else half
    for c in range(record.touch.shape[1]):
        for k in range(record.touch.shape[2]):
            record.touch[frame + 1, c, k] = record.touch[frame, c, k]
