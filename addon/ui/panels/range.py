"""What comes before the frames that are shown, drawn by the panel of time.

Owns its layout. Must not change data.
"""

import bpy

from .. import answers
from .base import note


def draw_lead_in(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """What is looped, or what comes before the range."""
    layout.prop(rig.heft, "loop")
    cycle, problem = answers.cycle(rig, context.scene)
    if problem:
        note(layout, context, problem)
    elif cycle is None:
        layout.prop(rig.heft, "pre_roll")
    else:
        layout.label(text=f"Repeats after {cycle.period} frames, from {cycle.start} on", icon="FILE_REFRESH")
