"""Hooks of controllers within the step: one kernel for each hook, one line for each controller in it.

Owns the order in which controllers are called. Each line calls a kernel of a controller's own file, which tests whether
a body is under that controller. The hooks in Python (`prepare`, `columns`, `measure`, `run`) are methods of
`base.Controller`.
"""

from __future__ import annotations

from ..compile.decorators import inlined, kernel
from .on_time.torque_law import apply_law
from .shared.recovery import make_deadlines
from .shared.root_assist import feed_forward, hold_back
from .shared.strength import give_in


@inlined
def aim_reference(tree, state, aim, control, work, touch, frame, h):
    """Called after Follow's closed form has set GOAL, END and SECANT of every driven joint. A controller may write
    other values."""
    apply_law(tree, state, aim, control, work, frame, h)


@inlined
def bound_drives(tree, state, aim, control, work, touch, frame, h, gravity, turn, weak):
    """Limit drives: called after the loads on all joints are solved. Returns True if a mode or a fixed impulse has
    changed, so that the solve must be repeated. weak: True if some strength is limited."""
    if weak and give_in(tree, state, aim, control, work, touch, frame, h, turn):
        feed_forward(tree, state, aim, work, h, gravity)
        return True
    return hold_back(tree, state, aim, control, work, h)


@kernel
def answer_blow(tree, control, state, frame, time, dt, change, strikes):
    """Called after a blow at a time [frames] that changes the rates by `change` (nv,); strikes: it came from outside,
    not from a struck character's own feet."""
    make_deadlines(tree, control, state, frame, time, dt, change, strikes)


@inlined
def begin_shot(tree, target, control, state, aim, work, touch):
    """Called before the first step of a shot: initialise a controller's own state."""


@inlined
def note_frame(tree, target, control, state, aim, work, touch, record, frame):
    """Called at every frame that is recorded: fill the channels of results in `record.channel`."""
