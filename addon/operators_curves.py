"""The commands of curves: which bones, and where they are seen.

Owns what is reported and what is undone.
"""

from typing import ClassVar

import bpy

from . import curves, live, session
from .operator_parts import PhysicsOperator, active_rig


class HEFT_OT_pick_curve_bones(PhysicsOperator, bpy.types.Operator):
    """Give the curves to the bones that are selected now"""

    bl_idname = "heft.pick_curve_bones"
    bl_label = "Of Selected Bones"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def run(self, context, rig) -> set[str]:
        with live.paused():
            rig.heft.curve_bones, rig.heft.use_curves = "SELECTED", True
            curves.choose_bones(rig)
        session.write_curves(rig)
        if curves.holder_of(rig) is None:
            self.report({"WARNING"}, "There is no simulation to plot: press Simulate")
        return {"FINISHED"}


class HEFT_OT_show_curves(PhysicsOperator, bpy.types.Operator):
    """Select the empty with the curves beside the rig, so that the Graph Editor lists them, and frame them there"""

    bl_idname = "heft.show_curves"
    bl_label = "Show in Graph Editor"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if curves.holder_of(active_rig(context)) is None:
            cls.poll_message_set("Switch Curves on and simulate first")
            return False
        return True

    def run(self, context, rig) -> set[str]:
        if not curves.select(rig, context.view_layer):
            holder = curves.holder_of(rig)
            self.report({"ERROR"}, f"'{holder.name}' is hidden: show it and its collection in the Outliner.")
            return {"CANCELLED"}
        editors = _graph_editors(context)
        for area, region in editors:
            with context.temp_override(area=area, region=region):
                bpy.ops.graph.view_all()
        if not editors:
            self.report({"INFO"}, f"Selected '{curves.holder_of(rig).name}': open a Graph Editor to see its curves")
        return {"FINISHED"}


def _graph_editors(context: bpy.types.Context) -> list[tuple]:
    """The open Graph Editors with their main regions."""
    areas = context.screen.areas if context.screen is not None else ()
    return [
        (area, region)
        for area in areas
        if area.type == "GRAPH_EDITOR"
        for region in area.regions
        if region.type == "WINDOW"
    ]


CLASSES = (HEFT_OT_pick_curve_bones, HEFT_OT_show_curves)
