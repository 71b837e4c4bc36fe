"""Operators of curves: choose bones, and list the curves in the Graph Editor.

Owns reports and undo steps.
"""

from typing import ClassVar

import bpy

from ... import events
from ...result import plot_curves
from ...simulate import session
from .base import PhysicsOperator, active_rig


class HEFT_OT_pick_curve_bones(PhysicsOperator, bpy.types.Operator):
    """Give the curves to the bones that are selected now"""

    bl_idname = "heft.pick_curve_bones"
    bl_label = "Of Selected Bones"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def run(self, context, rig) -> set[str]:
        with events.paused():
            rig.heft.curve_bones, rig.heft.use_curves = "SELECTED", True
            plot_curves.choose_bones(rig)
        session.write_curves(rig)
        if plot_curves.holder_of(rig) is None:
            self.report({"WARNING"}, "There is no simulation to plot: press Simulate")
        return {"FINISHED"}


class HEFT_OT_show_curves(PhysicsOperator, bpy.types.Operator):
    """Let the open Graph Editors list these curves alone, whatever is selected; once more, and they list the keys of
    what is selected again"""

    bl_idname = "heft.show_curves"
    bl_label = "Show in Graph Editor"
    bl_options: ClassVar[set[str]] = {"REGISTER"}  # changes the window, not the file: nothing to undo

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if plot_curves.holder_of(active_rig(context)) is None:
            cls.poll_message_set("Switch Curves on and simulate first")
            return False
        return True

    def run(self, context, rig) -> set[str]:
        editors = graph_editors(context)
        if not editors:
            self.report({"ERROR"}, "No Graph Editor is open: turn another editor into one.")
            return {"CANCELLED"}
        back = are_listed(context)
        for area in editors:
            listed = area.spaces.active.dopesheet
            # In Pose Mode the Graph Editor shows only channels of bones while Only Show Selected is on.
            listed.show_only_selected, listed.use_multi_word_filter = back, not back
            listed.filter_text = "" if back else plot_curves.WORDS
            region = next(region for region in area.regions if region.type == "WINDOW")
            with context.temp_override(area=area, region=region):
                bpy.ops.graph.view_all()
        return {"FINISHED"}


def graph_editors(context: bpy.types.Context) -> list[bpy.types.Area]:
    """The open Graph Editors."""
    areas = context.screen.areas if context.screen is not None else ()
    return [area for area in areas if area.type == "GRAPH_EDITOR" and area.spaces.active.mode == "FCURVES"]


def are_listed(context: bpy.types.Context) -> bool:
    """True if the Graph Editors list only these curves."""
    return any(area.spaces.active.dopesheet.filter_text == plot_curves.WORDS for area in graph_editors(context))


CLASSES = (HEFT_OT_pick_curve_bones, HEFT_OT_show_curves)
