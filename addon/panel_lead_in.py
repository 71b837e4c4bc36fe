"""What comes before the frames that are shown, drawn by the panel of time.

Owns its layout. Must not change data.
"""

import bpy

from ..engine import HeftError
from . import glance, lead_in
from .panel_parts import note


def draw_lead_in(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """What is looped, or what comes before the range."""
    layout.prop(rig.heft, "loop")
    try:
        cycle = lead_in.plan_of(glance.members(rig), context.scene).cycle
    except HeftError as error:
        note(layout, context, str(error))
        return
    if cycle is None:
        layout.prop(rig.heft, "pre_roll")
    else:
        layout.label(text=f"Repeats after {cycle.period} frames, from {cycle.start} on", icon="FILE_REFRESH")
