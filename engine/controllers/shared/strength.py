"""Strength: the largest torque of a joint's drive (METHODS §1d).

Owns which drives are saturated. Must not know how loads arise or contacts are solved.

The step minimises ½‖v − v*‖² + h Σ τ_max |v − v̂|: a joint either does what is asked, by an impulse within h τ_max, or
slips, with its drive saturated against the slip. The set of slipping joints is found by trial: block by block, then one
at a time if a set repeats.

The drive of a joint with several axes turns with its slip s: −m ŝ, m = h τ_max, which changes with s by −(m/|s|)(I −
ŝŝᵀ). That block goes into the factor, so every round is a step of Newton's method on the minimum.
"""

from __future__ import annotations

import math

from ...compile.decorators import kernel, separate
from ...compile.kernel_types import Index, Real
from ...dynamics.articulated import composite_form, composite_inertia, generalized, momentum_of
from ...model.model import FREE
from ...tables import aim as A, control as C, state as S, work as W
from ...tables.classes import Aim, Control, State, Touch, Tree, Work
from ...tables.work import pose_of

BLOCKS = 8  # rounds in which every joint may change its state
DRIVE_ROUNDS = 60  # rounds in total, the later ones joint by joint
LEAST_SLIP = 1e-12  # a slower slip has no direction [rad/s]
SETTLED = 1e-9  # converged: a saturated drive's impulse changes by less than this share of its strength


@kernel
def slips_aside(aim, i):
    """True if the joint's drive is saturated and turns with its slip."""
    return aim.mode[i] == A.LOOSE and aim.body[i, A.LIMITED] != 0.0 and aim.body[i, A.ACROSS] > 0.0


@kernel
def across_slip(tree, aim, i, block, keep):
    """Multiply the joint's rows of `block` by `keep` and add the projection across the slip: I − ŝŝᵀ."""
    first, end = tree.dof[i], tree.dof[i + 1]
    square = 0.0
    for d in range(first, end):
        square += aim.rate[A.HELD, d] * aim.rate[A.HELD, d]
    for d in range(first, end):
        for e in range(first, end):
            own = keep * block[d, e - first] if keep > 0.0 else 0.0
            across = (1.0 if d == e else 0.0) - aim.rate[A.HELD, d] * aim.rate[A.HELD, e] / square
            block[d, e - first] = own + across


@kernel
def add_spent(tree, state, aim, g):
    """Add saturated drives to the loads. If one turns with the slip, the factor contains the response to the change of
    the rates, so the initial rates enter here."""
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == A.LOOSE and aim.body[i, A.LIMITED] != 0.0:
            first, end = tree.dof[i], tree.dof[i + 1]
            for d in range(first, end):
                g[d] += aim.rate[A.HELD, d]
            if slips_aside(aim, i):
                along = square = 0.0
                for e in range(first, end):
                    along += aim.rate[A.HELD, e] * (state.rate[S.V, e] - aim.rate[A.END, e])
                    square += aim.rate[A.HELD, e] * aim.rate[A.HELD, e]
                for d in range(first, end):
                    off = state.rate[S.V, d] - aim.rate[A.END, d]
                    g[d] -= aim.body[i, A.ACROSS] * (off - aim.rate[A.HELD, d] * along / square)


@kernel
def stay_turned(tree, aim):
    """Fix the directions of saturated drives for the rest of the step."""
    for i in range(1, len(tree.parent)):
        aim.body[i, A.ACROSS] = 0.0


@kernel
def any_limit(tree: Tree, state: State, control: Control, frame: Index):
    """True if the strength of a driven joint is limited."""
    row = min(frame, len(control.behaviour) - 1)
    for i in range(1, len(tree.parent)):
        if state.behaviour[i] == C.SIMULATED and not math.isinf(control.setting[row, i, C.STRENGTH]):
            return True
    return False


@separate
def give_in(
    tree: Tree,
    state: State,
    aim: Aim,
    control: Control,
    work: Work,
    touch: Touch | None,
    frame: Index,
    h: Real,
    turn: Index,
):
    """Check which joints' strength suffices for the last solve. Returns True if it must be repeated.

    Reads: A.ABLE, A.ACROSS, A.END, A.HELD, A.LIMITED, A.mode, C.HEAVINESS, C.STRENGTH, CT.force, S.V, S.behaviour,
        W.CHANGE, W.COMPOSITE, W.ENDS, W.LOAD, W.LOADED_RATE, W.MIDDLE, W.STOPS, W.TOTAL_RATE, W.WHOLE
    Writes: A.ACROSS, A.HELD, A.LIMITED, A.SHARE, A.mode, S.SLIPPED, W.COMPOSITE, W.LOAD, W.LOADED_RATE, W.TOTAL_RATE
    """
    _needed(tree, state, aim, work, touch)
    if turn == 0:
        composite_inertia(tree, pose_of(work, W.MIDDLE), work.body, W.COMPOSITE)
    row = min(frame, len(control.behaviour) - 1)
    again = False
    worst, who = 0.0, 0
    for i in range(1, len(tree.parent)):
        most = h * control.setting[row, i, C.STRENGTH]
        if state.behaviour[i] != C.SIMULATED or math.isinf(most) or tree.kind[i] == FREE:
            continue
        if aim.body[i, A.LIMITED] == 0.0:
            size = _needs(tree, work, i)
            if size > most * (1.0 + SETTLED):
                if turn < BLOCKS:
                    _spend(tree, state, aim, work, i, most, size)
                    again = True
                elif size - most > worst:
                    worst, who = size - most, i
            continue
        slip, past = _slips(tree, aim, work, i, most)
        if past > 0.0:
            # pushed past what was asked: strong enough after all
            if turn < BLOCKS:
                _recover(tree, aim, i, control.setting[row, i, C.HEAVINESS])
                again = True
            elif past > worst and aim.body[i, A.ABLE] == A.PRESCRIBED:
                # (a compliant joint may be past it while it swings back: it would alternate for ever)
                worst, who = past, -i
        elif slip > LEAST_SLIP:
            again = _slip_on(tree, aim, work.rate, i, most, slip) > SETTLED * most or again
    if who > 0:
        _spend(tree, state, aim, work, who, h * control.setting[row, who, C.STRENGTH], _needs(tree, work, who))
    elif who < 0:
        _recover(tree, aim, -who, control.setting[row, -who, C.HEAVINESS])
    return again or who != 0


@kernel
def _needs(tree, work, i):
    """The size of the impulse that the joint would need."""
    size = 0.0
    for d in range(tree.dof[i], tree.dof[i + 1]):
        size += work.rate[W.LOADED_RATE, d] * work.rate[W.LOADED_RATE, d]
    return math.sqrt(size)


@kernel
def _slips(tree, aim, work, i, most):
    """The slip rate of a joint with saturated drive, and how far the drive pushes it past what was asked."""
    slip = past = 0.0
    for d in range(tree.dof[i], tree.dof[i + 1]):
        off = work.rate[W.ENDS, d] - aim.rate[A.END, d]
        slip += off * off
        past += off * aim.rate[A.HELD, d]
    return math.sqrt(slip), past / max(most, 1e-300)


@kernel
def _slip_on(tree, aim, rate, i, most, slip):
    """Set the slip of a joint to `slip`: its drive now opposes that. Returns the change of the drive's impulse."""
    first, end = tree.dof[i], tree.dof[i + 1]
    if end - first < 2 or most == 0.0:
        return 0.0
    along = 0.0
    for d in range(first, end):
        along += (rate[W.ENDS, d] - aim.rate[A.END, d]) * aim.rate[A.HELD, d] / (most * most)
    off = 0.0
    for d in range(first, end):
        way = (rate[W.ENDS, d] - aim.rate[A.END, d]) / slip
        gave = aim.rate[A.HELD, d] * (1.0 + aim.body[i, A.ACROSS] * along) - aim.body[i, A.ACROSS] * slip * way
        off = max(off, abs(gave + most * way))
        aim.rate[A.HELD, d] = -most * way
    aim.body[i, A.ACROSS] = most / slip
    return off


@kernel
def _spend(tree, state, aim, work, i, most, size):
    """Saturate the joint's drive, which would need an impulse of `size`."""
    first, end = tree.dof[i], tree.dof[i + 1]
    aim.mode[i] = A.LOOSE
    aim.body[i, A.LIMITED] = state.body[i, S.SLIPPED] = 1.0
    aim.body[i, A.ACROSS] = 0.0
    for d in range(first, end):
        aim.rate[A.HELD, d] = most / size * work.rate[W.LOADED_RATE, d]
        aim.rate[A.SHARE, d] = 1.0
    if end - first > 1:
        # its slip is unknown yet: assume the missing impulse moves everything it carries
        inertia = 0.0
        for d in range(first, end):
            inertia += composite_form(work.body, W.COMPOSITE, i, pose_of(work, W.MIDDLE).axes, d, d) / (end - first)
        aim.body[i, A.ACROSS] = most * inertia / (size - most)


@kernel
def _recover(tree, aim, i, heaviness):
    """The joint does what is asked again."""
    aim.mode[i] = int(aim.body[i, A.ABLE])
    aim.body[i, A.LIMITED] = 0.0
    for d in range(tree.dof[i], tree.dof[i + 1]):
        aim.rate[A.HELD, d] = 0.0
        aim.rate[A.SHARE, d] = heaviness


@kernel
def _needed(tree, state, aim, work, touch):
    """LOADED_RATE: the impulse of every joint's drive in the last solve.

    The load of the whole step (WHOLE) was computed with every joint following; deviations take M·x; contacts bear their
    part.
    """
    pose = pose_of(work, W.MIDDLE)
    beside = work.rate[W.TOTAL_RATE]
    for d in range(len(beside)):
        beside[d] = work.rate[W.ENDS, d] - state.rate[S.V, d] - work.rate[W.CHANGE, d]
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == A.PRESCRIBED:
            for d in range(tree.dof[i], tree.dof[i + 1]):
                beside[d] = 0.0
    need = work.rate[W.LOADED_RATE]
    momentum_of(tree, pose, work.body, beside, need)
    for d in range(len(need)):
        need[d] -= work.rate[W.WHOLE, d]
    if touch is not None:
        for i in range(len(tree.parent)):
            for k in range(6):
                work.body[i, W.LOAD + k] = touch.force[i, k]
        generalized(tree, pose, work.body, W.LOAD, beside)
        for d in range(len(need)):
            need[d] -= beside[d] + work.rate[W.STOPS, d]
