"""The set-up panel: the body's size, mass and limits, and the range of frames.

Owns its layout. Must not change data.
"""

from typing import ClassVar

import bpy

from .. import answers
from ..operators.base import active_rig
from .base import PhysicsPanel, note
from .range import draw_lead_in


class HEFT_PT_setup(PhysicsPanel, bpy.types.Panel):
    """Size, mass, gravity, range and steps."""

    bl_label = "Set Up"
    page = "RESULT"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False  # one value for the whole shot: keys would have no effect
        rig = active_rig(context)
        heft, leader = rig.heft, answers.shot_of(rig).leader
        if leader != rig:
            text = f"Metres, gravity, wind, range, loop and steps of the shot are those of '{leader.name}'"
            note(layout, context, text, "INFO")
        layout.prop(heft, "total_mass")
        layout.prop(heft, "meters_per_unit", text="Metres/Unit")
        row = layout.split(factor=0.4)
        row.label(text="")
        row.label(text=f"The rig is {answers.height_in_meters(rig, context.scene):.3g} m")
        for name in ("natural_limits", "gravity", "bad_frames", "range"):
            layout.prop(heft, name)
        if heft.range == "CUSTOM":
            layout.prop(heft, "frame_start")
            layout.prop(heft, "frame_end")
        draw_lead_in(layout, rig, context)
        layout.prop(heft, "steps_per_second", text="Steps/Second")


CLASSES = (HEFT_PT_setup,)
