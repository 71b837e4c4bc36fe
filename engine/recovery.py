"""Recovery: a struck body is back on its motion after so many seconds (METHODS §2).

Owns who answers a blow where a recovery time is set, and the appointments a blow makes.
Must not know how a blow is found or solved.

A blow that is felt makes, for the joints on its way to the root, an appointment with the
source motion; the rest of the body is stiff meanwhile, so that it keeps to its own.
"""

from __future__ import annotations

import math

from .aim import advance
from .appointments import put_way_in
from .jit import kernel, part
from .spatial import axpy, load3, load4, store3, store4
from .state import (
    DUE,
    DUE_BLOW,
    DUE_DRIFT,
    DUE_KEY,
    DUE_PLACE,
    DUE_RATE,
    DUE_VALUE,
    FROM,
    RATE,
    RECOVERY,
    SIMULATED,
    TARGET_ANCHOR,
    TARGET_ANCHOR_RATE,
    TO,
    VALUE,
)
from .target import evaluate_body

FELT = 0.2  # [rad/s] a blow that changes no joint's rates by more makes no appointment


@kernel
def recovers(plan, state, i, frame):
    """Whether the body has a time to recover in."""
    row = min(frame, len(plan.behaviour) - 1)
    return state.behaviour[i] == SIMULATED and plan.setting[row, i, RECOVERY] > 0.0


@part
def make_deadlines(tree, target, plan, state, aim, frame, time, dt, change):
    """A blow at a time [frames] changes the rates by `change` (nv,): the joints it moves are due on the source
    motion. A deadline that stands is moved only by a harder blow; a key stands anyhow."""
    row = min(frame, len(plan.behaviour) - 1)
    for root in tree.roots:
        hardest = 0.0
        for i in range(root, tree.last[root] + 1):
            if recovers(plan, state, i, frame):
                hardest = max(hardest, _length(tree, i, change))
        if hardest <= FELT:
            continue
        for i in range(root, tree.last[root] + 1):
            if not recovers(plan, state, i, frame) or _length(tree, i, change) == 0.0:
                continue
            waits = state.body[i, DUE] < math.inf
            if state.body[i, DUE_KEY] >= 0.0 or (waits and hardest <= state.body[i, DUE_BLOW]):
                continue
            state.body[i, DUE_BLOW] = hardest
            _meet_source(tree, target, state, aim, i, time + plan.setting[row, i, RECOVERY] / dt, dt)
            put_way_in(tree, state, aim, i, time, dt, FROM)


@kernel
def _length(tree, i, change):
    """How much a joint's rates change [rad/s]."""
    square = 0.0
    for d in range(tree.dof[i], tree.dof[i + 1]):
        square += change[d] * change[d]
    return math.sqrt(square)


@kernel
def _meet_source(tree, target, state, aim, i, when, dt):
    """An appointment with the source motion at a time [frames]; past its end it goes on as it ended."""
    kind, last = tree.kind[i], len(target.curve) - 1
    inside = min(when, float(last))
    frame = min(int(inside), last - 1)
    evaluate_body(target, kind, i, frame, inside - frame, dt, aim.body, TO)
    past = (when - inside) * dt
    rate, drift = load3(aim.body, i, TO + RATE), load3(aim.body, i, TO + TARGET_ANCHOR_RATE)
    state.body[i, DUE] = when
    store4(state.body, i, DUE_VALUE, advance(kind, load4(aim.body, i, TO + VALUE), rate, past))
    store3(state.body, i, DUE_RATE, rate)
    store3(state.body, i, DUE_PLACE, axpy(past, drift, load3(aim.body, i, TO + TARGET_ANCHOR)))
    store3(state.body, i, DUE_DRIFT, drift)
