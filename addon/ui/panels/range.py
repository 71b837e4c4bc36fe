"""Loop and pre-roll, drawn by the set-up panel.

Owns its layout. Must not change data.
"""

import bpy

from .. import answers
from .base import note


def draw_lead_in(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """The loop that is simulated, or the pre-roll before the range."""
    layout.prop(rig.heft, "loop")
    cycle, problem = answers.cycle(rig, context.scene)
    if problem:
        note(layout, context, problem)
    elif cycle is None:
        layout.prop(rig.heft, "pre_roll")
    else:
        layout.label(text=f"Repeats after {cycle.period} frames, from {cycle.start} on", icon="FILE_REFRESH")
