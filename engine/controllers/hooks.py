"""What controllers do within the step: one kernel a hook, one line a controller in each.

Owns the order in which controllers have their say. Each line names a kernel of a controller's own file, which looks by
itself whether a body is under that controller. The hooks in Python (`prepare`, `columns`, `measure`, `run`) are methods
of `base.Controller`.
"""

from __future__ import annotations

from ..compile.decorators import inlined, kernel
from .on_time.torque_law import apply_law
from .shared.recovery import make_deadlines
from .shared.root_assist import feed_forward, hold_back
from .shared.strength import give_in


@inlined
def aim_reference(tree, state, aim, control, work, touch, frame, h):
    """What the reference does next: after Follow's closed form has set GOAL, END and SECANT of every driven joint, a
    controller may write others."""
    apply_law(tree, state, aim, control, work, frame, h)


@inlined
def bound_drives(tree, state, aim, control, work, touch, frame, h, gravity, turn, weak):
    """What drives can give: called after the loads on all joints are solved. Returns whether a mode or a fixed impulse
    has changed, so that the solve must be repeated. weak: some strength is limited."""
    if weak and give_in(tree, state, aim, control, work, touch, frame, h, turn):
        feed_forward(tree, state, aim, work, h, gravity)
        return True
    return hold_back(tree, state, aim, control, work, h)


@kernel
def answer_blow(tree, control, state, frame, time, dt, change, strikes):
    """After a blow at a time [frames] that changes the rates by `change` (nv,); strikes: it came from outside, not from
    a struck character's own feet."""
    make_deadlines(tree, control, state, frame, time, dt, change, strikes)


@inlined
def begin_shot(tree, target, control, state, aim, work, touch):
    """Before the first step of a shot: states of a controller's own."""


@inlined
def note_frame(tree, target, control, state, aim, work, touch, record, frame):
    """At every frame that is written down: the channels of results that kernels fill, in `record.channel`."""
