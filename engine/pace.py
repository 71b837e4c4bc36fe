"""How far one step may reach where joints are loose.

Owns the length of a step as the joints' turning limits it. Must not know what meets, or
what a step does.

The midpoint rule holds while a joint turns by a fraction of a radian. Limp chains of
short links, at one step a frame, turn by several: by the rates they have, and by those
they gain under way, which the step before tells.
"""

from __future__ import annotations

import math

from .jit import kernel
from .model import FREE
from .state import ENDS, LIMP, LOOSE, PRESCRIBED, QUICKENS, V

TURN_LIMIT = 0.3  # [rad] a loose joint may turn in one step
MAX_PARTS = 16.0  # of a step, however fast joints whirl
# Not known yet how fast a joint's rates change [rad/s²]: begin carefully.
UNKNOWN = 1e12


@kernel
def even_part(tree, state, aim, rest, least):
    """The next of equal parts of `rest` seconds in which no joint turns too far, none shorter than `least`."""
    longest = rest
    for i in range(1, len(tree.parent)):
        limp = state.behaviour[i] == LIMP
        if limp or aim.mode[i] != PRESCRIBED:
            turn = 0.0
            for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
                turn += state.rate[V, d] * state.rate[V, d]
            gain = state.body[i, QUICKENS] if limp else 0.0
            # turn·t + gain·t²/2 = TURN_LIMIT
            fast = math.sqrt(turn) + math.sqrt(turn + 2.0 * gain * TURN_LIMIT)
            if fast * longest > 2.0 * TURN_LIMIT:
                longest = 2.0 * TURN_LIMIT / fast
    if longest >= rest:
        return rest
    return rest / math.ceil(rest / max(longest, min(least, rest)) - 1e-9)


@kernel
def begin_carefully(tree, state, i):
    """A joint that has just become limp."""
    state.body[i, QUICKENS] = UNKNOWN if tree.kind[i] != FREE else 0.0


@kernel
def note_quickening(tree, state, aim, work, h):
    """From the rates a step began with (still in V) and those it ends with."""
    for i in range(1, len(tree.parent)):
        change = 0.0
        if aim.mode[i] == LOOSE and tree.kind[i] != FREE:
            for d in range(tree.dof[i], tree.dof[i + 1]):
                change += (work.rate[ENDS, d] - state.rate[V, d]) ** 2
        state.body[i, QUICKENS] = math.sqrt(change) / h
