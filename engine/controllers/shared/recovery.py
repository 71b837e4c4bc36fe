"""Recovery: a struck body is back on its motion after a set time (METHODS §2).

Owns which bodies respond to a blow if a recovery time is set, and the deadlines of a blow. Must not know how a blow is
found or solved.

A blow gives the joints on its way to the root a deadline on the source motion; the rest of the body is stiff meanwhile,
so that it keeps to its own motion. The closed form removes the error against the source as it moves, so the source's
own movement is kept.
"""

from __future__ import annotations

import math

from ...compile.decorators import kernel, separate
from ...compile.kernel_types import Flag, Index, Real, Row
from ...tables import control as C, state as S
from ...tables.classes import Control, State, Tree
from .blow_state import is_light

FELT = 0.2  # [rad/s] a blow that changes no joint's rates by more sets no deadline


@kernel
def recovers(control, state, i, frame):
    """True if the body is driven and has a recovery time."""
    row = min(frame, len(control.behaviour) - 1)
    driven = state.behaviour[i] == C.SIMULATED or state.behaviour[i] == C.ASSIST
    return driven and control.setting[row, i, C.RECOVERY] > 0.0


@kernel
def stays_stiff(control, state, root, i, frame):
    """True if a joint off the blow's way keeps to its motion: if it recovers, and the root is not guided. Under a
    guided root head and arms lag behind, and come back by their settle time."""
    return recovers(control, state, i, frame) and state.behaviour[root] != C.ASSIST


@separate
def make_deadlines(
    tree: Tree, control: Control, state: State, frame: Index, time: Real, dt: Real, change: Row, strikes: Flag
):
    """A blow at a time [frames] changes the rates by `change` (nv,): set deadlines of the joints it moves. An existing
    deadline is moved only by a stronger blow that `strikes`, not by a struck character's own feet as they land; a key
    is never moved.

    Reads: C.RECOVERY, S.DUE, S.DUE_BLOW, S.DUE_KEY, S.STRUCK, S.behaviour, change
    Writes: S.DUE, S.DUE_BLOW
    """
    row = min(frame, len(control.behaviour) - 1)
    for root in tree.roots:
        hardest = 0.0
        for i in range(root, tree.last[root] + 1):
            if recovers(control, state, i, frame):
                hardest = max(hardest, _turned(tree, i, change))
        if hardest <= FELT:
            continue
        for i in range(root, tree.last[root] + 1):
            moves = recovers(control, state, i, frame) and _turned(tree, i, change) > 0.0
            if state.behaviour[root] == C.ASSIST and is_light(tree, root, i):
                continue  # hands, fingers and toes come back by their settle time
            harder = strikes or state.body[root, S.STRUCK] == 0.0
            free = state.body[i, S.DUE] == math.inf or (harder and hardest > state.body[i, S.DUE_BLOW])
            if moves and free and state.body[i, S.DUE_KEY] < 0.0:
                state.body[i, S.DUE] = time + control.setting[row, i, C.RECOVERY] / dt
                state.body[i, S.DUE_BLOW] = hardest


@kernel
def _turned(tree, i, change):
    """The change of a joint's angular rate [rad/s]."""
    square = 0.0
    for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
        square += change[d] * change[d]
    return math.sqrt(square)
