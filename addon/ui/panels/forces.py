"""The panel of pushes, ties and wind.

Owns its layout. Must not change data.
"""

from typing import ClassVar

import bpy

from ..operators.base import active_rig
from .base import PhysicsPanel, details, draw_list
from .pull_pose import draw_place


class HEFT_UL_pushes(bpy.types.UIList):
    """The pushes: bone, strength, frame."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.row(align=True)
        row.label(text=item.bone or "no bone", icon="FORCE_FORCE")
        row.label(text=f"{item.impulse:.4g} N s")
        row.label(text=f"frame {item.frame}")


class HEFT_UL_ties(bpy.types.UIList):
    """The ties: bone, kind, what holds it, on."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.row(align=True)
        row.label(text=item.bone or "no bone", icon="LINKED" if item.on else "UNLINKED")
        row.label(text=item.target.name if item.target else "World")
        row.prop(item, "on", text="")


class HEFT_PT_forces(PhysicsPanel, bpy.types.Panel):
    """Blows from nowhere, and what holds bones besides their joints."""

    bl_label = "Pushes, Ties and Wind"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        rig = active_rig(context)
        layout.label(text="Pushes")
        push = draw_list(layout, rig, "pushes", "push_index", "HEFT_UL_pushes")
        if push is not None:
            column = details(layout)
            column.prop_search(push, "bone", rig.data, "bones")
            for name in ("direction", "impulse", "frame"):
                column.prop(push, name)
            draw_place(column, push)
        layout.label(text="Ties")
        tie = draw_list(layout, rig, "ties", "tie_index", "HEFT_UL_ties")
        if tie is not None:
            column = details(layout)
            column.use_property_decorate = True
            column.prop(tie, "on")
            column.prop_search(tie, "bone", rig.data, "bones")
            for name in ("end", "kind", "target"):
                column.prop(tie, name)
            if tie.target is not None and tie.target.type == "ARMATURE":
                column.prop_search(tie, "target_bone", tie.target.data, "bones")
            column.prop(tie, "response")
        column = layout.column()
        column.use_property_split = True
        column.prop(rig.heft, "wind")
        if any(rig.heft.wind):
            column.prop(rig.heft, "wind_strength")


CLASSES = (HEFT_UL_pushes, HEFT_UL_ties, HEFT_PT_forces)
