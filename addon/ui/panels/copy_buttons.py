"""Buttons that copy settings, drawn by several panels.

Owns their layout. Must not change data.
"""

import bpy

from ..operators.copy_settings import other_armatures


def draw_copy_to_armatures(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Shown if other armatures are selected too."""
    others = other_armatures(context)
    if others:
        whom = f"'{others[0].name}'" if len(others) == 1 else f"{len(others)} Armatures"
        layout.operator("heft.copy_to_armatures", text=f"Copy Settings to {whom}", icon="COPYDOWN")


def draw_mirror(layout: bpy.types.UILayout, selected: int) -> None:
    """The selected bones to the other side, or all of one side."""
    column = layout.column(align=True)
    if selected:
        text = "Mirror to the Other Side" if selected == 1 else f"Mirror {selected} Selected Bones"
        column.operator("heft.mirror_settings", text=text, icon="MOD_MIRROR").which = "SELECTED"
    else:
        column.label(text="Mirror the settings", icon="MOD_MIRROR")
    row = column.row(align=True)
    for which, text in (("LEFT", "All Left to Right"), ("RIGHT", "All Right to Left")):
        row.operator("heft.mirror_settings", text=text).which = which
