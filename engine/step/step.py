"""One step of the dynamics, its stages in order (METHODS §1).

Owns the step. Each stage is one call, implemented in its own file. Must not know about frames, keys or Blender.
"""

from __future__ import annotations

from ..compile.decorators import inlined, kernel, separate
from ..compile.kernel_types import Real, Vector
from ..contact.before_step import keep_warm, touching
from ..contact.range_edge import keep_in_range
from ..contact.settling import settle_moves, settle_rates
from ..contact.step_size import brake_ends, too_far
from ..contact.sustained import forget_forces, stay
from ..controllers.follow.reference import end_step
from ..controllers.hooks import bound_drives
from ..controllers.shared.root_assist import feed_forward
from ..controllers.shared.strength import DRIVE_ROUNDS, any_limit, stay_turned
from ..dynamics.articulated import generalized
from ..dynamics.joints import advance, difference, joint_rates, store_rates
from ..dynamics.kinematics import forward, momenta, velocities
from ..math.vectors import (
    add,
    axpy,
    copy,
    cross,
    load3,
    load4,
    quat_conj,
    quat_mul,
    quat_tidy,
    scale,
    store3,
    store4,
    store6,
    sub,
)
from ..model.model import BALL, FREE
from ..tables import aim as A, pose as P, state as S, tree as T, work as W
from ..tables.classes import Aim, State, Touch, Tree, Work
from ..tables.work import pose_of
from .close_ties import close_ties, still_ties
from .compliant_solve import first_half, second_half
from .contact_points import carry_rows
from .energy_guard import keep_energy, note_work
from .free_roots import any_free, balance_roots, place_roots, turn_roots
from .shared_momentum import balance_together

# A deflection this small and slow, of a joint without load, is over [rad, m; per second].
DEFLECTION_OVER = 1e-13


@inlined
def step(tree, state, aim, control, work, touch, frame, h, least, gravity, noted):
    """Advance `state` by h seconds toward `aim`; if `noted`, the TORQUE row of work.rate holds the drives' torques.

    Returns False if the step must be retried with smaller h: a limp joint turned too far, a tie did not close, or
    energy grew. Never False once h ≤ `least`.

    Reads: A.END, A.GOAL_DRIFT, A.SECANT, A.mode, C.STRENGTH, CT.FEATURE, CT.SHAPE_A, CT.SHAPE_B, R.BLOCKS, R.BODY_A,
        R.BODY_B, R.IMPULSE, R.SHIFT, R.SIDE, R.SOURCE, R.STAYS, R.TOTAL, R.TURNING, R.WHAT, R.WINDY, R.ragdoll, R.root,
        S.QUIET, S.V, S.behaviour, W.ENDS, W.FASTEST, W.FINAL, W.MAIN, W.MEAN, W.MIDDLE, W.MOTION, W.NEW, W.NEW_ANCHOR,
        W.SHIFTED, W.X2
    Writes: A.ACROSS, CT.force, CT.old, CT.old_meet, R.OLD, R.SHIFT, R.STAYS, R.TIED, S.QUIET, W.ENDS, W.FINAL, W.MEAN,
        W.MOMENTUM, W.MOTION, W.SHIFTED, W.STOPS, W.X2
    """
    final = pose_of(work, W.FINAL)
    free = any_free(tree, aim)
    weak = any_limit(tree, state, control, frame)
    shorter = h > 1.001 * least  # True if the step may still be divided
    loaded = weak or anything_loaded(tree, aim) or (free and touching(touch))
    if loaded or free or noted or touching(touch):  # otherwise nothing reads it
        middle_pose(tree, state, aim, work, h)
    carry_rows(tree, state, aim, work, touch, h, gravity)
    mixed = False
    if loaded:
        mixed = _solve_loads(tree, state, aim, control, work, touch, frame, h, gravity, weak)
        if shorter and too_far(tree, state, work, h):
            return False
        brake_ends(tree, state, work, least)
        settle_moves(tree, state, work, touch, h)
        stay_turned(tree, aim)
        note_work(tree, state, aim, work, touch)
    else:
        copy(aim.rate[A.END], work.rate[W.ENDS])
        copy(aim.rate[A.SECANT], work.rate[W.MEAN])
        forget_forces(work, touch)
    move(tree, state, aim, work, touch, h)
    if free:
        turn_roots(tree, state, aim, work, touch, h)
    forward(tree, work.body, W.NEW, W.NEW_ANCHOR, final)
    if free:
        place_roots(tree, state, aim, work, touch, h, gravity)
    if not close_ties(tree, state, aim, work, touch, h, gravity) and shorter:
        return False
    if loaded:
        second_half(tree, state, aim, work, touch, h, least, mixed)
    _end_velocities(tree, state, aim, work, touch, h, gravity, final, free)
    if loaded and not keep_energy(tree, state, aim, work, touch, h, gravity) and (shorter or stay(touch)):
        return False
    if loaded:
        settle_rates(tree, state, aim, work, touch, h)
    if noted:
        drive_torques(tree, state, work, touch, h, gravity)
    keep_warm(touch, h)
    finish(tree, state, aim, work)
    end_step(tree, state, aim)
    return True


@inlined
def _solve_loads(tree, state, aim, control, work, touch, frame, h, gravity, weak):
    """What loads do to joints, as far as drives can give what they need. Returns whether loads are shared beside
    loose joints.
    """
    feed_forward(tree, state, aim, work, h, gravity)
    mixed = False
    for turn in range(DRIVE_ROUNDS):
        mixed = first_half(tree, state, aim, work, touch, h, gravity)
        if turn + 1 == DRIVE_ROUNDS:
            break  # the last solution stays, with the modes it was solved for
        if not bound_drives(tree, state, aim, control, work, touch, frame, h, gravity, turn, weak):
            break
    return mixed


@inlined
def _end_velocities(tree, state, aim, work, touch, h, gravity, final, free):
    """Velocities and momenta at the step's end; `free`: some root is, and takes its tree's momentum.

    Reads: A.GOAL_DRIFT, P.COM, P.MOMENT, P.ROTATION, P.WORLD_INERTIA, W.ENDS, W.MOTION, final
    Writes: W.MOMENTUM, W.MOTION
    """
    velocities(tree, final, work.rate[W.ENDS], aim.body, A.GOAL_DRIFT, work.body, W.MOTION)
    if free:
        balance_roots(tree, state, aim, work, touch, h, gravity)
    else:
        momenta(tree, final, work.body, W.MOTION, work.body, W.MOMENTUM)
    still_ties(tree, aim, work, touch, h)
    if free:
        balance_together(tree, state, aim, work, touch, h)


@kernel
def anything_loaded(tree, aim):
    """True if a joint other than a free root is loose or compliant.

    A free root whose joints are all prescribed needs no factor: its momentum determines its motion.
    """
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == A.COMPLIANT or (aim.mode[i] == A.LOOSE and tree.kind[i] != FREE):
            return True
    return False


@separate
def middle_pose(tree: Tree, state: State, aim: Aim, work: Work, h: Real):
    """Kinematics half a step ahead, as far as it is known.

    Reads: A.DRIFT_SECANT, A.SECANT, A.mode, S.ANCHOR, S.COORDS, S.V, W.MIDDLE, W.NEW, W.NEW_ANCHOR
    Writes: W.MIDDLE, W.NEW, W.NEW_ANCHOR
    """
    half = 0.5 * h
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        c = load4(state.body, i, S.COORDS)
        drift = load3(aim.body, i, A.DRIFT_SECANT)
        if aim.mode[i] == A.PRESCRIBED:
            c = advance(kind, c, joint_rates(kind, aim.rate, A.SECANT, d), half)
            if kind == FREE:
                drift = load3(aim.rate, A.SECANT, d + 3)
        else:
            c = advance(kind, c, joint_rates(kind, state.rate, S.V, d), half)
            if kind == FREE:
                drift = load3(state.rate, S.V, d + 3)
        store4(work.body, i, W.NEW, c)
        store3(work.body, i, W.NEW_ANCHOR, axpy(half, drift, load3(state.body, i, S.ANCHOR)))
    forward(tree, work.body, W.NEW, W.NEW_ANCHOR, pose_of(work, W.MIDDLE))


@separate
def move(tree: Tree, state: State, aim: Aim, work: Work, touch: Touch | None, h: Real):
    """New coordinates and anchors; free roots turn later.

    Reads: A.GOAL, A.GOAL_ANCHOR, A.mode, H.LIMIT_FRAME, H.SWING, H.SWING_Z, H.TWIST_HIGH, H.TWIST_LOW, R.ragdoll,
        R.root, S.ANCHOR, S.COORDS, S.REFERENCE, S.behaviour, W.DELTA, W.MEAN, W.NEW
    Writes: W.MEAN, W.NEW, W.NEW_ANCHOR
    """
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        mode = aim.mode[i]
        store3(work.body, i, W.NEW_ANCHOR, load3(aim.body, i, A.GOAL_ANCHOR))
        if mode == A.PRESCRIBED:
            store4(work.body, i, W.NEW, load4(aim.body, i, A.GOAL))
        elif mode == A.COMPLIANT:
            _move_compliant(tree, state, aim, work, touch, i, h)
        else:
            w = joint_rates(kind, work.rate, W.MEAN, d)
            store4(work.body, i, W.NEW, advance(kind, load4(state.body, i, S.COORDS), w, h))
            keep_in_range(tree, state, work, touch, i)
            if kind == FREE:
                for k in range(3):
                    work.body[i, W.NEW_ANCHOR + k] = state.body[i, S.ANCHOR + k] + h * work.rate[W.MEAN, d + 3 + k]


@inlined
def _move_compliant(tree, state, aim, work, touch, i, h):
    """q₁ = r₁ ⊕ δ₁; MEAN becomes the joint's own mean rate.

    Reads: A.GOAL, A.GOAL_ANCHOR, H.LIMIT_FRAME, H.SWING, H.SWING_Z, H.TWIST_HIGH, H.TWIST_LOW, R.ragdoll, R.root,
        S.ANCHOR, S.COORDS, S.REFERENCE, S.behaviour, W.DELTA, W.MEAN, W.NEW
    Writes: W.MEAN, W.NEW, W.NEW_ANCHOR
    """
    kind, d = tree.kind[i], tree.dof[i]
    old, reference = load4(state.body, i, S.COORDS), load4(state.body, i, S.REFERENCE)
    goal = load4(aim.body, i, A.GOAL)
    u = joint_rates(kind, work.rate, W.MEAN, d)
    if kind >= BALL:
        deflection = quat_mul(quat_conj(reference), old)
        new = quat_tidy(quat_mul(goal, advance(kind, deflection, u, h)))
    else:
        new = advance(kind, (goal[0] + old[0] - reference[0], goal[1] + old[1] - reference[1], 0.0, 0.0), u, h)
    store4(work.body, i, W.NEW, new)
    if keep_in_range(tree, state, work, touch, i):
        new = load4(work.body, i, W.NEW)
    store_rates(kind, work.rate, W.MEAN, d, scale(1.0 / h, difference(kind, old, new)))
    if kind == FREE:
        for k in range(3):
            shift = work.rate[W.DELTA, d + 3 + k] + h * work.rate[W.MEAN, d + 3 + k]
            place = aim.body[i, A.GOAL_ANCHOR + k] + shift
            work.body[i, W.NEW_ANCHOR + k] = place
            work.rate[W.MEAN, d + 3 + k] = (place - state.body[i, S.ANCHOR + k]) / h


@separate
def drive_torques(tree: Tree, state: State, work: Work, touch: Touch | None, h: Real, gravity: Vector):
    """TORQUE: the drives' torques, the mean over the step (Newton–Euler on momenta).

    Reads: CT.force, S.LINEAR, S.SPIN, W.LOAD, W.MIDDLE, W.MOMENTUM, W.STOPS, W.TORQUE
    Writes: W.LOAD, W.TORQUE
    """
    pose = pose_of(work, W.MIDDLE)
    n1 = len(tree.parent)
    for i in range(1, n1):
        gain = sub(load3(work.body, i, W.MOMENTUM + 3), load3(state.body, i, S.LINEAR))
        force = sub(gain, scale(h * tree.body[i, T.MASS], gravity))
        spin = sub(load3(work.body, i, W.MOMENTUM), load3(state.body, i, S.SPIN))
        store6(work.body, i, W.LOAD, add(spin, cross(load3(pose.body, i, P.COM), force)), force)
    if touch is not None:
        for i in range(1, n1):
            for k in range(6):
                work.body[i, W.LOAD + k] -= touch.force[i, k]
    torque = work.rate[W.TORQUE]
    generalized(tree, pose, work.body, W.LOAD, torque)
    for d in range(len(torque)):
        if touch is not None:
            torque[d] -= work.rate[W.STOPS, d]
        torque[d] /= h


@separate
def finish(tree: Tree, state: State, aim: Aim, work: Work):
    """Copy the end of the step to the state.

    Reads: A.END, A.GOAL, A.GOAL_ANCHOR, A.GOAL_DRIFT, A.mode, S.ANCHOR, S.COORDS, S.V, W.ENDS, W.FINAL, W.MOMENTUM,
        W.NEW, W.NEW_ANCHOR, W.NOW
    Writes: S.ANCHOR, S.COORDS, S.DEFLECTION, S.DRIFT, S.SPIN, S.V, W.FINAL, W.NOW
    """
    copy(work.rate[W.ENDS], state.rate[S.V])
    for i in range(1, len(tree.parent)):
        store4(state.body, i, S.COORDS, load4(work.body, i, W.NEW))
        store3(state.body, i, S.ANCHOR, load3(work.body, i, W.NEW_ANCHOR))
        store3(state.body, i, S.DRIFT, load3(aim.body, i, A.GOAL_DRIFT))
        store6(state.body, i, S.SPIN, load3(work.body, i, W.MOMENTUM), load3(work.body, i, W.MOMENTUM + 3))
        if aim.mode[i] == A.COMPLIANT:
            _note_deflection(tree, state, aim, i)
        else:
            for k in range(6):
                state.body[i, S.DEFLECTION + k] = 0.0
    work.slot[W.NOW], work.slot[W.FINAL] = work.slot[W.FINAL], work.slot[W.NOW]


@inlined
def _note_deflection(tree, state, aim, i):
    """Reads: A.END, A.GOAL, A.GOAL_ANCHOR, S.ANCHOR, S.COORDS, S.V
    Writes: S.DEFLECTION, S.V
    """
    kind, d = tree.kind[i], tree.dof[i]
    delta = difference(kind, load4(aim.body, i, A.GOAL), load4(state.body, i, S.COORDS))
    shift = (0.0, 0.0, 0.0)
    if kind == FREE:
        shift = sub(load3(state.body, i, S.ANCHOR), load3(aim.body, i, A.GOAL_ANCHOR))
    largest = 0.0
    for k in range(3):
        largest = max(largest, abs(delta[k]), abs(shift[k]))
    for j in range(d, tree.dof[i + 1]):
        largest = max(largest, abs(state.rate[S.V, j] - aim.rate[A.END, j]))
    if largest < DEFLECTION_OVER:
        delta = shift = (0.0, 0.0, 0.0)
        for j in range(d, tree.dof[i + 1]):
            state.rate[S.V, j] = aim.rate[A.END, j]
    store6(state.body, i, S.DEFLECTION, delta, shift)
