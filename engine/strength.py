"""Strength: the most a joint's drive can give (METHODS §1d).

Owns which joints give in. Must not know how loads arise or contacts are solved.

The step looks for the minimum of ½‖v − v*‖² + h Σ τ_max |v − v̂|: a joint either does
what is asked, by an impulse within h τ_max, or slips, its drive giving all it has
against the slip. Which joints slip is found by trying: block by block, one at a time
when a choice comes back.
"""

from __future__ import annotations

import math

from .articulated import generalized, momentum_of
from .jit import kernel, part
from .model import FREE
from .state import (
    ABLE,
    CHANGE,
    END,
    ENDS,
    HEAVINESS,
    HELD,
    LIMITED,
    LOAD,
    LOADED_RATE,
    LOOSE,
    MIDDLE,
    PRESCRIBED,
    SHARE,
    SIMULATED,
    STOPS,
    STRENGTH,
    TOTAL_RATE,
    WHOLE,
    V,
    pose_of,
)

BLOCKS = 8  # rounds in which every joint may change its mind
ROUNDS = 40  # rounds in all, the later ones joint by joint
SETTLED = 1e-9  # a spent drive's impulse changes by less than this share of its strength


@kernel
def add_spent(tree, aim, g):
    """A spent drive is a load like any other."""
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == LOOSE and aim.body[i, LIMITED] != 0.0:
            for d in range(tree.dof[i], tree.dof[i + 1]):
                g[d] += aim.rate[HELD, d]


@kernel
def any_limit(tree, state, plan, frame):
    """Whether a driven joint has a limit to its strength."""
    row = min(frame, len(plan.behaviour) - 1)
    for i in range(1, len(tree.parent)):
        if state.behaviour[i] == SIMULATED and not math.isinf(plan.setting[row, i, STRENGTH]):
            return True
    return False


@part
def give_in(tree, state, aim, plan, work, touch, frame, h, turn):
    """See which joints' strength suffices for what was just solved. Returns whether to solve once more."""
    _needed(tree, state, aim, work, touch)
    need, rate = work.rate[LOADED_RATE], work.rate
    row = min(frame, len(plan.behaviour) - 1)
    again = False
    worst, who = 0.0, 0
    for i in range(1, len(tree.parent)):
        most = h * plan.setting[row, i, STRENGTH]
        if state.behaviour[i] != SIMULATED or math.isinf(most) or tree.kind[i] == FREE:
            continue
        first, end = tree.dof[i], tree.dof[i + 1]
        if aim.body[i, LIMITED] == 0.0:
            size = 0.0
            for d in range(first, end):
                size += need[d] * need[d]
            size = math.sqrt(size)
            if size > most * (1.0 + SETTLED):
                if turn < BLOCKS:
                    _spend(tree, aim, need, i, most / size)
                    again = True
                elif size - most > worst:
                    worst, who = size - most, i
        else:
            slip = against = 0.0
            for d in range(first, end):
                off = rate[ENDS, d] - aim.rate[END, d]
                slip += off * off
                against += off * aim.rate[HELD, d]
            slip = math.sqrt(slip)
            if against > 0.0:
                # pushed past what was asked: strong enough after all
                if turn < BLOCKS:
                    _recover(tree, aim, i, plan.setting[row, i, HEAVINESS])
                    again = True
                elif against / max(most, 1e-300) > worst:
                    worst, who = against / max(most, 1e-300), -i
            elif slip > 0.0:
                again = _turn_against(aim, rate, first, end, most, slip) > SETTLED * most or again
    if who > 0:
        size = 0.0
        for d in range(tree.dof[who], tree.dof[who + 1]):
            size += need[d] * need[d]
        _spend(tree, aim, need, who, h * plan.setting[row, who, STRENGTH] / math.sqrt(size))
        again = True
    elif who < 0:
        _recover(tree, aim, -who, plan.setting[row, -who, HEAVINESS])
        again = True
    return again and turn < ROUNDS


@kernel
def _turn_against(aim, rate, first, end, most, slip):
    """Turn a spent drive half way to where it opposes the slip: the whole way goes round in circles where
    one axis of a ball is much lighter than another. Returns the largest change."""
    length = 0.0
    for d in range(first, end):
        aimed = aim.rate[HELD, d] - most * (rate[ENDS, d] - aim.rate[END, d]) / slip
        length += aimed * aimed
    change = 0.0
    if length > 0.0:
        for d in range(first, end):
            aimed = aim.rate[HELD, d] - most * (rate[ENDS, d] - aim.rate[END, d]) / slip
            new = most * aimed / math.sqrt(length)
            change = max(change, abs(new - aim.rate[HELD, d]))
            aim.rate[HELD, d] = new
    return change


@kernel
def _spend(tree, aim, need, i, share):
    """The joint slips under all its drive has."""
    aim.mode[i] = LOOSE
    aim.body[i, LIMITED] = 1.0
    for d in range(tree.dof[i], tree.dof[i + 1]):
        aim.rate[HELD, d] = share * need[d]
        aim.rate[SHARE, d] = 1.0


@kernel
def _recover(tree, aim, i, heaviness):
    """The joint does what it is asked again."""
    aim.mode[i] = int(aim.body[i, ABLE])
    aim.body[i, LIMITED] = 0.0
    for d in range(tree.dof[i], tree.dof[i + 1]):
        aim.rate[HELD, d] = 0.0
        aim.rate[SHARE, d] = heaviness


@kernel
def _needed(tree, state, aim, work, touch):
    """LOADED_RATE: the impulse every joint's drive gives in what was just solved.

    The load of the whole step (WHOLE) was counted with every joint following; what they do
    besides takes M·x; contacts bear their part.
    """
    pose = pose_of(work, MIDDLE)
    beside = work.rate[TOTAL_RATE]
    for d in range(len(beside)):
        beside[d] = work.rate[ENDS, d] - state.rate[V, d] - work.rate[CHANGE, d]
    for i in range(1, len(tree.parent)):
        if aim.mode[i] == PRESCRIBED:
            for d in range(tree.dof[i], tree.dof[i + 1]):
                beside[d] = 0.0
    need = work.rate[LOADED_RATE]
    momentum_of(tree, pose, work.body, beside, need)
    for d in range(len(need)):
        need[d] -= work.rate[WHOLE, d]
    if touch is not None:
        for i in range(len(tree.parent)):
            for k in range(6):
                work.body[i, LOAD + k] = touch.force[i, k]
        generalized(tree, pose, work.body, LOAD, beside)
        for d in range(len(need)):
            need[d] -= beside[d] + work.rate[STOPS, d]
