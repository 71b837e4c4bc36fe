"""Buttons of the operators that drag bones, drawn by several panels; and the fields for a push's position.

Owns their layout. Must not change data.
"""

from __future__ import annotations

import bpy

from ...result import result_armature


def draw_pull(layout: bpy.types.UILayout) -> None:
    """Above Add Physics or the controller, because it needs neither."""
    layout.operator("heft.pull_pose", icon="VIEW_PAN")


def draw_nudge(layout: bpy.types.UILayout, rig: bpy.types.Object) -> None:
    """Next to the result; disabled with the reason while the source is shown."""
    row = layout.row()
    row.enabled = result_armature.is_visible(rig)
    row.operator("heft.nudge", text="Nudge" if row.enabled else "Nudge (show the Result first)", icon="FORCE_FORCE")


def draw_pin(layout: bpy.types.UILayout, bone: bpy.types.PoseBone) -> None:
    """The Pin setting of the active bone."""
    layout.prop(bone.heft, "pin")


def draw_place(column: bpy.types.UILayout, push) -> None:
    """The position of a push on its bone."""
    column.prop(push, "use_place")
    row = column.row()
    row.active = push.use_place
    row.prop(push, "place", slider=True)


def draw_menu(self, _context) -> None:
    """An entry in the Pose menu."""
    self.layout.separator()
    self.layout.operator("heft.pull_pose", icon="VIEW_PAN")
