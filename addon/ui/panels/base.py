"""Shared by the panels: their tab, lists with buttons, notes that fit the sidebar.

Must not know any single panel.
"""

import textwrap

import bpy

from ...settings import has_physics
from ..operators.base import active_rig

# The width of a box around its text, and of a letter [pixels at normal size].
BESIDE_TEXT, LETTER = 80.0, 6.2


class HeftPanel:
    """Base: a panel in the sidebar's tab."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Heft"
    # The page of the manual that a button in the header opens.
    page = ""

    def draw_header_preset(self, _context: bpy.types.Context) -> None:
        if self.page:
            draw_help(self.layout, self.page)


class PhysicsPanel(HeftPanel):
    """Base: a panel shown if the armature has physics."""

    bl_parent_id = "HEFT_PT_main"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_physics(active_rig(context))


def draw_list(layout: bpy.types.UILayout, rig: bpy.types.Object, name: str, index: str, kind: str, moves=False):
    """Draw a list with its buttons; returns the active entry, if there is one."""
    entries = getattr(rig.heft, name)
    row = layout.row()
    row.template_list(kind, "", rig.heft, name, rig.heft, index, rows=4 if moves else 2)
    column = row.column(align=True)
    column.operator("heft.list_add", text="", icon="ADD").which = name
    column.operator("heft.list_remove", text="", icon="REMOVE").which = name
    if moves:
        column.separator()
        for up, icon in ((True, "TRIA_UP"), (False, "TRIA_DOWN")):
            button = column.operator("heft.list_move", text="", icon=icon)
            button.which, button.up = name, up
    active = getattr(rig.heft, index)
    return entries[active] if 0 <= active < len(entries) else None


def draw_help(layout: bpy.types.UILayout, page: str = "INDEX") -> None:
    """A button in a panel's header that opens the manual there."""
    layout.operator("heft.manual", text="", icon="HELP", emboss=False).page = page


def details(layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """A column for the settings of a list's active entry."""
    column = layout.column()
    column.use_property_split = True
    column.use_property_decorate = False
    return column


def note(layout: bpy.types.UILayout, context: bpy.types.Context, text: str, icon: str = "ERROR") -> bpy.types.UILayout:
    """A box with the text broken into lines that fit the sidebar."""
    box = layout.box().column(align=True)
    width = context.region.width / context.preferences.system.ui_scale
    letters = max(int((width - BESIDE_TEXT) / LETTER), 20)
    for i, line in enumerate(line for part in text.splitlines() for line in textwrap.wrap(part, letters)):
        box.label(text=line, icon=icon if i == 0 else "BLANK1")
    return box
