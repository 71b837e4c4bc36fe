"""Recovery: a struck body is back on its motion after so many seconds (METHODS §2).

Owns who answers a blow where a recovery time is set, and the appointments a blow makes.
Must not know how a blow is found or solved.

A blow that is felt makes, for the joints on its way to the root, an appointment with the
source motion; the rest of the body is stiff meanwhile, so that it keeps to its own. The
error that the closed form takes away by then is that against the source as it moves, so
nothing of the source's own movement is lost under way.
"""

from __future__ import annotations

import math

from ...compile.decorators import kernel, separate
from ...compile.kernel_types import Flag, Index, Real, Row
from ...tables import control as C, state as S
from ...tables.classes import Control, State, Tree
from .blow_state import is_light

FELT = 0.2  # [rad/s] a blow that changes no joint's rates by more makes no appointment


@kernel
def recovers(control, state, i, frame):
    """Whether the body is driven and has a time to recover in."""
    row = min(frame, len(control.behaviour) - 1)
    driven = state.behaviour[i] == C.SIMULATED or state.behaviour[i] == C.ASSIST
    return driven and control.setting[row, i, C.RECOVERY] > 0.0


@kernel
def stays_stiff(control, state, root, i, frame):
    """Whether a joint that a blow does not pass keeps to its motion: where it recovers, and the root is not guided.
    Under a guided root head and arms lag behind what was struck, and come back by their settle time."""
    return recovers(control, state, i, frame) and state.behaviour[root] != C.ASSIST


@separate
def make_deadlines(
    tree: Tree, control: Control, state: State, frame: Index, time: Real, dt: Real, change: Row, strikes: Flag
):
    """A blow at a time [frames] changes the rates by `change` (nv,): the joints it moves are due on the source
    motion. A deadline that stands is moved only by a harder blow that `strikes`, not by a struck character's own feet
    as they come down; a key stands anyhow.

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
    """How much a joint's turning changes [rad/s]."""
    square = 0.0
    for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
        square += change[d] * change[d]
    return math.sqrt(square)
