"""Pull Pose in Pose Mode's toolbar and menu.

Owns the tool and the menu entry, and their removal.
"""

from __future__ import annotations

from typing import ClassVar

import bpy

from .panels.pull_pose import draw_menu


class HEFT_TOOL_pull(bpy.types.WorkSpaceTool):
    """A click on a bone pulls it."""

    bl_space_type = "VIEW_3D"
    bl_context_mode = "POSE"
    bl_idname = "heft.pull_tool"
    bl_label = "Pull Pose"
    bl_description = "Drag a bone and the body follows; feet on the ground and pinned bones stay"
    # one of Blender's: icons of tools are files in a special format
    bl_icon = "ops.pose.relax"
    bl_widget = None
    bl_keymap: ClassVar = (
        ("heft.pull_pose", {"type": "LEFTMOUSE", "value": "PRESS"}, {"properties": [("once", True)]}),
    )


def register() -> None:
    """Register the tool, if there are windows."""
    bpy.types.VIEW3D_MT_pose.append(draw_menu)
    if not bpy.app.background:
        bpy.utils.register_tool(HEFT_TOOL_pull, after={"builtin.transform"}, separator=True)


def unregister() -> None:
    if not bpy.app.background:
        bpy.utils.unregister_tool(HEFT_TOOL_pull)
    bpy.types.VIEW3D_MT_pose.remove(draw_menu)
