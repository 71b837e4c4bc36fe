"""The panel of Bake to Controls: which control follows which body, and the rig's switches.

Owns its layout. Must not change data.
"""

from typing import ClassVar

import bpy

from ...bake import control_map
from ..operators.base import active_rig
from .base import PhysicsPanel, details, draw_list, note

ICONS = {"ROTATION": "CON_ROTLIKE", "ALL": "CON_TRANSLIKE", "REST": "EMPTY_AXIS"}


class HEFT_UL_controls(bpy.types.UIList):
    """Control and body."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.split(factor=0.5, align=True)
        row.label(text=item.control or "no control", icon=ICONS[item.part])
        row.label(text=item.body or "no body")

    def filter_items(self, context, data, name):
        """Filter by the names of both."""
        items = getattr(data, name)
        wanted = self.filter_name.lower()
        shown = self.bitflag_filter_item
        flags = [shown if wanted in f"{item.control} {item.body}".lower() else 0 for item in items]
        return flags if wanted else [], []


class HEFT_UL_switches(bpy.types.UIList):
    """Property and value."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.split(factor=0.8, align=True)
        row.label(text=control_map.short_path(item.path) or "no property", icon="OPTIONS")
        row.label(text=f"{item.value:.3g}")


class HEFT_PT_controls(PhysicsPanel, bpy.types.Panel):
    """What Bake to Controls goes by."""

    bl_label = "Controls to Bake To"
    bl_parent_id = "HEFT_PT_result"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        rig = active_rig(context)
        if not len(rig.heft.controls):
            note(layout, context, "Found by themselves when baked. List them to change some.", "INFO")
        row = layout.row(align=True)
        row.operator("heft.find_controls", icon="VIEWZOOM")
        row.operator("heft.save_controls", text="", icon="FILE_TICK")
        row.operator("heft.load_controls", text="", icon="FILE_FOLDER")
        row.operator("heft.clear_controls", text="", icon="TRASH")
        entry = draw_list(layout, rig, "controls", "control_index", "HEFT_UL_controls", moves=True)
        if entry is not None:
            column = details(layout)
            column.prop_search(entry, "control", rig.data, "bones")
            column.prop_search(entry, "body", rig.data, "bones")
            column.prop(entry, "part")
        layout.label(text="Switches, keyed for the range")
        switch = draw_list(layout, rig, "switches", "switch_index", "HEFT_UL_switches")
        if switch is not None:
            column = details(layout)
            column.prop(switch, "path")
            column.prop(switch, "value")


CLASSES = (HEFT_UL_controls, HEFT_UL_switches, HEFT_PT_controls)
