"""The list of takes: which one is shown, how the others differ from it, and their buttons.

Owns the layout. Must not change data.
"""

from typing import ClassVar

import bpy

from ...result import take_settings, takes
from ..operators.base import active_rig
from .base import PhysicsPanel, note

# From this width on [pixels at normal size] a row has room for the differences; else they are below the list.
WIDE = 420.0
# The number of takes described below it.
MOST_DESCRIBED = 4


def _is_wide(context: bpy.types.Context) -> bool:
    return context.region.width / context.preferences.system.ui_scale >= WIDE


class HEFT_UL_takes(bpy.types.UIList):
    """The takes: name, and what they have that the shown one has not."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        rig = item.id_data
        shown = takes.shown(rig)
        row = layout.row(align=True)
        is_shown = shown is not None and item.uid == shown.uid
        wide = _is_wide(context)
        split = row.split(factor=0.3 if wide else 0.7)
        kind = "RADIOBUT_ON" if is_shown else "RADIOBUT_OFF"
        split.prop(item, "name", text="", emboss=False, icon="RECOVER_LAST" if item.auto and not is_shown else kind)
        split.label(text=_words(rig, item, shown, is_shown) if wide or is_shown else "")
        row.prop(item, "beside", text="", emboss=False, icon="GHOST_ENABLED" if item.beside else "GHOST_DISABLED")


def _words(rig: bpy.types.Object, take, shown, is_shown: bool) -> str:
    """How a take differs from the shown one; for the shown one, how the present result differs from it."""
    if take.action is None:
        return "its result is gone"
    now = rig.heft.made_with
    if is_shown:
        return "changed" if takes.is_changed(rig) else "shown"
    return take_settings.phrase(take.settings, shown.settings if shown is not None else now) or "same settings"


def _describe(layout: bpy.types.UILayout, context: bpy.types.Context, rig: bpy.types.Object, shown) -> None:
    """How the other takes differ from the shown one."""
    others = [take for take in rig.heft.takes if shown is None or take.uid != shown.uid]
    lines = [f"{take.name}: {_words(rig, take, shown, False)}" for take in others[:MOST_DESCRIBED]]
    if lines:
        note(layout, context, "\n".join(lines), "BLANK1")


class HEFT_PT_takes(PhysicsPanel, bpy.types.Panel):
    """Keep, choose, flip, update, delete."""

    bl_label = "Takes"
    bl_parent_id = "HEFT_PT_result"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and active_rig(context).heft_result is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        heft = active_rig(context).heft
        if len(heft.takes):
            row = layout.row()
            row.template_list("HEFT_UL_takes", "", heft, "takes", heft, "take_index", rows=3)
            column = row.column(align=True)
            column.operator("heft.keep_take", text="", icon="ADD")
            column.operator("heft.delete_take", text="", icon="REMOVE")
            column.separator()
            column.operator("heft.flip_take", text="", icon="UV_SYNC_SELECT")
            shown = takes.shown(heft.id_data)
            if shown is not None and takes.is_changed(heft.id_data):
                words = take_settings.phrase(heft.made_with, shown.settings) or "simulated again"
                note(layout, context, f"Now {words}", "INFO")
                row = layout.row(align=True)
                row.operator("heft.update_take", text="Update", icon="FILE_TICK")
                row.operator("heft.choose_take", text="Go Back", icon="LOOP_BACK")
            if not _is_wide(context):
                _describe(layout, context, heft.id_data, shown)
            if any(take.beside for take in heft.takes):
                layout.prop(heft, "beside_distance")
        else:
            layout.operator("heft.keep_take", icon="ADD")


CLASSES = (HEFT_UL_takes, HEFT_PT_takes)
