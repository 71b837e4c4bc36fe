"""The compiled entry point: simulates several frames in one call.

Owns the loop over frames and steps and what is recorded at each frame. Must not know what a stage does.
"""

from __future__ import annotations

import numpy as np

from ..compile.decorators import entry_point, inlined, kernel
from ..compile.kernel_types import Index, Real, Vector
from ..contact.before_step import mark_contacts, meet
from ..contact.footfall import lead_feet
from ..contact.step_size import MOST_PARTS, any_limp, even_part, forget_quickening, note_quickening, remember, return_to
from ..contact.tie_rows import strike
from ..contact.unmet_contacts import mark_forced
from ..controllers.follow.reference import aim_step, begin_frame, keep_appointments
from ..controllers.hooks import aim_reference, begin_shot, note_frame
from ..controllers.on_time.arrivals import until_due
from ..controllers.settings import CHANNELS
from ..controllers.shared.strength import any_limit
from ..dynamics.kinematics import forward, joint_rotation, momenta, velocities
from ..math.vectors import load3, load4
from ..tables import record as RE, state as S, tree as T, work as W
from ..tables.classes import Aim, Control, Record, State, Target, Touch, Tree, Work
from ..tables.work import pose_of
from .free_roots import any_free
from .sleeping import note_begin, note_quiet, sleeps, write_asleep
from .step import anything_loaded, step

MAX_CUTS = 24  # parts of a step before fast contacts


def new_record(tree: Tree, frames: int, touching: bool) -> Record:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    marks = np.full((frames, RE.MARKS if touching else 0, RE.MARK_COLUMNS), -1.0)
    forced, channels = np.full((frames, n1), -1), np.zeros((frames, n1, CHANNELS.count))
    return Record(np.zeros((frames, n1, RE.COLUMNS)), np.zeros((frames, 2, nv)), marks, forced, channels)


@entry_point
def run_frames(
    tree: Tree,
    target: Target,
    control: Control,
    state: State,
    aim: Aim,
    work: Work,
    touch: Touch | None,
    record: Record,
    first: Index,
    last: Index,
    substeps: Index,
    dt: Real,
    gravity: Vector,
):
    """Simulate from frame `first` to frame `last`. Returns the first frame with a bad number, or −1.

    `state` is that of frame `first` (filled here if first is 0); dt is one frame [s]. `touch` is None if nothing can
    touch. If every joint is prescribed the closed form holds over any time, so only the steps at the frame's edges,
    whose torques are recorded, are computed separately. Arrivals on frame `last` are handled when the next frame
    begins, so that slices change no byte; at the very end, or if asked for no frames, they are handled here.
    """
    total = len(record.rate)
    for frame in range(first, last):
        may_fail = _enter(tree, target, control, state, aim, work, touch, record, frame, dt)
        if sleeps(tree, target, control, state, touch, frame):
            write_asleep(record, frame)
            _write(tree, state, record, frame + 1)
            continue
        note_begin(tree, state, work)
        k = 0
        while k < substeps:
            width = 1
            if touch is None and 0 < k < substeps - 1 and not (anything_loaded(tree, aim) or any_free(tree, aim)):
                width = substeps - 1 - k
            h = _take_steps(
                tree, target, control, state, aim, work, touch, record, frame, k, width, substeps, dt, gravity, may_fail
            )
            if not h > 0.0:
                _write(tree, state, record, frame + 1)
                return frame + 1
            k += width
            if k == substeps:
                mark_contacts(touch, record.touch, frame + 1, h)
                mark_forced(state, touch, record.forced, frame + 1)
        note_quiet(tree, target, state, work, touch, frame, gravity, dt)
        note_frame(tree, target, control, state, aim, work, touch, record, frame + 1)
        if not _write(tree, state, record, frame + 1):
            return frame + 1
    if last + 1 == total or first == last:
        keep_appointments(tree, target, control, state, aim, last - 1, 1.0, dt)
    return -1


@inlined
def _enter(tree, target, control, state, aim, work, touch, record, frame, dt):
    """Everything at a frame before its first step. Returns True if a step from here may be rejected: with springs alone
    and no contacts every step is accepted.

    Reads: C.STRENGTH, RE.TURN, S.ANCHOR, S.COORDS, S.DRIFT, S.V, S.behaviour, W.MOTION, W.NOW
    Writes: RE.SECOND, RE.SPOT, RE.TURN, RE.rate, S.SPIN, W.MOTION, W.NOW
    """
    begin_frame(tree, target, control, state, aim, frame, dt)
    if frame == 0:
        _begin_shot(tree, state, work)
        begin_shot(tree, target, control, state, aim, work, touch)
        _write(tree, state, record, frame)
    keep_appointments(tree, target, control, state, aim, frame, 0.0, dt)  # before a push sets new ones
    strike(tree, control, state, aim, work, touch, frame, dt)
    return touch is not None or any_limp(state) or any_limit(tree, state, control, frame)


@inlined
def _take_steps(
    tree, target, control, state, aim, work, touch, record, frame, k, width, substeps, dt, gravity, may_fail
):
    """Simulate `width` substeps of a frame, from number k on, in one step or in shorter ones. Returns the seconds of
    the last, or a bad number.

    Reads: A.END, A.GOAL_DRIFT, A.SECANT, A.mode, C.STRENGTH, CT.FEATURE, CT.SHAPE_A, CT.SHAPE_B, R.BLOCKS, R.BODY_A,
        R.BODY_B, R.IMPULSE, R.SHIFT, R.SIDE, R.SOURCE, R.STAYS, R.TOTAL, R.TURNING, R.WHAT, R.WINDY, R.ragdoll, R.root,
        RE.rate, S.DUE, S.QUICKENS, S.QUIET, S.V, S.behaviour, S.body, S.rate, W.ENDS, W.FASTEST, W.FINAL, W.MAIN,
        W.MEAN, W.MIDDLE, W.MOTION, W.NEW, W.NEW_ANCHOR, W.SHIFTED, W.TORQUE, W.X2, W.kept, W.kept_rate
    Writes: A.ACROSS, CT.force, CT.old, CT.old_meet, R.OLD, R.SHIFT, R.STAYS, R.TIED, RE.rate, S.QUICKENS, S.QUIET,
        S.body, S.rate, W.ENDS, W.FINAL, W.MEAN, W.MOMENTUM, W.MOTION, W.SHIFTED, W.STOPS, W.X2, W.kept, W.kept_rate
    """
    share = dt * width / substeps
    least = share / MOST_PARTS
    forget_quickening(state)
    done = 0.0
    cuts = 0
    h = longest = share
    while done < 1.0:
        now = (k + width * done) / substeps
        keep_appointments(tree, target, control, state, aim, frame, now, dt)
        h = even_part(tree, state, aim, work, share * (1.0 - done), longest, least)
        h = until_due(state, frame + now, h, dt)
        h = meet(tree, control, state, aim, work, touch, frame, frame + now, h, least, gravity, dt, cuts < MAX_CUTS)
        if not h > 0.0:
            break
        cuts += 1
        end = done + h / share if h < 0.999999 * share * (1.0 - done) else 1.0
        if may_fail:
            remember(state, work)
        aim_step(tree, target, control, state, aim, work, frame, (k + width * end) / substeps, dt, h)
        aim_reference(tree, state, aim, control, work, touch, frame, h)
        lead_feet(tree, state, aim, work, touch)
        noted = k == 0 or k + width == substeps
        if not step(tree, state, aim, control, work, touch, frame, h, least, gravity, noted):
            return_to(state, work)
            note_quickening(tree, state, aim, work, h)
            longest = 0.5 * h
            continue
        done = end
        if noted:
            _write_torques(work, record, frame, h / share, k == 0, k + width == substeps)
    return h


@kernel
def _write_torques(work, record, frame, weight, first, last):
    """Of a step of the frame's first and last substeps, into the frames that it lies between."""
    if first:
        _write_torque(work, record, frame, weight if frame == 0 else 0.5 * weight)
    if last:
        _write_torque(work, record, frame + 1, weight if frame + 2 == len(record.rate) else 0.5 * weight)


@kernel
def _begin_shot(tree, state, work):
    now = pose_of(work, W.NOW)
    forward(tree, state.body, S.COORDS, S.ANCHOR, now)
    velocities(tree, now, state.rate[S.V], state.body, S.DRIFT, work.body, W.MOTION)
    momenta(tree, now, work.body, W.MOTION, state.body, S.SPIN)


@kernel
def _write(tree, state, record, frame):
    """Record the frame. Returns True if every number is finite."""
    total = 0.0
    for d in range(len(state.rate[S.V])):
        record.rate[frame, 0, d] = state.rate[S.V, d]
        total += state.rate[S.V, d]
    for i in range(1, len(state.body)):
        c = load4(state.body, i, S.COORDS)
        q = joint_rotation(tree.kind[i], load3(tree.body, i, T.AXIS), load3(tree.body, i, T.AXIS2), c)
        side = 0.0
        for k in range(4):
            side += q[k] * record.body[max(frame - 1, 0), i, RE.TURN + k]
        for k in range(4):
            record.body[frame, i, RE.TURN + k] = -q[k] if side < 0.0 else q[k]
            total += q[k]
        for k in range(3):
            record.body[frame, i, RE.SPOT + k] = state.body[i, S.ANCHOR + k]
            total += state.body[i, S.ANCHOR + k]
        record.body[frame, i, RE.SECOND] = c[1]
    return np.isfinite(total)


@kernel
def _write_torque(work, record, frame, weight):
    for d in range(len(work.rate[W.TORQUE])):
        record.rate[frame, 1, d] += weight * work.rate[W.TORQUE, d]
