"""The buttons that take bones with the mouse, drawn by the panels they belong to; and where a push acts.

Owns their layout. Must not change data.
"""

from __future__ import annotations

import bpy

from ...result import result_armature


def draw_pull(layout: bpy.types.UILayout) -> None:
    """Below Add Physics and above the controller: it needs neither."""
    layout.operator("heft.pull_pose", icon="VIEW_PAN")


def draw_nudge(layout: bpy.types.UILayout, rig: bpy.types.Object) -> None:
    """Beside the result; greyed out with the reason while the source is shown."""
    row = layout.row()
    row.enabled = result_armature.is_visible(rig)
    row.operator("heft.nudge", text="Nudge" if row.enabled else "Nudge (show the Result first)", icon="FORCE_FORCE")


def draw_pin(layout: bpy.types.UILayout, bone: bpy.types.PoseBone) -> None:
    """Whether the active bone stays while others are pulled."""
    layout.prop(bone.heft, "pin")


def draw_place(column: bpy.types.UILayout, push) -> None:
    """Where on its bone a push acts."""
    column.prop(push, "use_place")
    row = column.row()
    row.active = push.use_place
    row.prop(push, "place", slider=True)


def draw_menu(self, _context) -> None:
    """An entry in the Pose menu."""
    self.layout.separator()
    self.layout.operator("heft.pull_pose", icon="VIEW_PAN")
