"""Panels for On Time: missed keys, and pose scripts.

Owns their layout. Must not change data.
"""

from typing import ClassVar

import bpy

from ..operators.base import active_rig
from .base import PhysicsPanel, details, draw_list

# Rows of the list of missed keys; it scrolls.
MISSES_SEEN = 5


class HEFT_UL_misses(bpy.types.UIList):
    """Missed keys: a click goes to one."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.row(align=True)
        for text, part in ((item.bone, 0.5), (f"{item.frame:.5g}", 0.5), (f"{item.degrees:.1f}°", 1.0)):
            row = row.split(factor=part, align=True) if part < 1.0 else row
            row.operator("heft.go_to_miss", text=text, emboss=False).index = index


class HEFT_UL_script(bpy.types.UIList):
    """A pose script: pose and seconds."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.split(factor=0.7, align=True)
        row.label(text=item.pose or "no pose", icon="ARMATURE_DATA")
        row.label(text=f"{item.seconds:.4g} s")


class HEFT_PT_script(PhysicsPanel, bpy.types.Panel):
    """Poses and seconds, turned into keys."""

    bl_label = "Pose Script"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        rig = active_rig(context)
        entry = draw_list(layout, rig, "script", "script_index", "HEFT_UL_script", moves=True)
        if entry is not None:
            column = details(layout)
            column.prop(entry, "pose")
            column.prop(entry, "seconds")
        layout.operator("heft.save_pose", icon="ADD")
        row = layout.row()
        row.scale_y = 1.2
        row.operator("heft.script_to_keys", icon="KEYFRAME_HLT")
        if len(rig.heft.script):
            total = sum(entry.seconds for entry in rig.heft.script)
            layout.label(text=f"{total:.4g} s, from frame {context.scene.frame_current} on", icon="TIME")


def draw_misses(layout: bpy.types.UILayout, rig: bpy.types.Object) -> None:
    """The keys that could not be met, the worst first."""
    count = len(rig.heft.misses)
    if count:
        text = "One missed key" if count == 1 else f"{count} missed keys"
        layout.label(text=f"{text}: bone, frame, degrees", icon="ERROR")
        layout.template_list(
            "HEFT_UL_misses", "", rig.heft, "misses", rig.heft, "miss_index", rows=min(count, MISSES_SEEN)
        )


CLASSES = (HEFT_UL_misses, HEFT_UL_script, HEFT_PT_script)
