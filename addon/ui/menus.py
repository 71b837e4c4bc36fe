"""Heft in Blender's own menus: Object and Pose > Animation > Heft, Add > Armature.

Owns the entries, which also makes F3 find the operators. Must not know how anything is done.
"""

from __future__ import annotations

import bpy

from ..settings import has_physics
from .operators.base import active_rig
from .panels.presets import HEFT_MT_presets


class HEFT_MT_animation(bpy.types.Menu):
    """The commands of an armature, in the order of the work."""

    bl_label = "Heft"
    bl_idname = "HEFT_MT_animation"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        rig = active_rig(context)
        if not has_physics(rig):
            layout.operator("heft.add", icon="PHYSICS")
            return
        layout.operator_context = "INVOKE_DEFAULT"
        layout.menu(HEFT_MT_presets.bl_idname, text="Presets", icon="PRESET")
        for text, panel in (
            ("Stiffness and Weight…", "HEFT_PT_controller"),
            ("Mass, Size and Range…", "HEFT_PT_setup"),
        ):
            layout.operator("wm.call_panel", text=text).name = panel
        layout.separator()
        layout.operator("heft.simulate", icon="PLAY")
        layout.operator("heft.throw", icon="SPHERE")
        layout.operator("heft.nudge", icon="FORCE_FORCE")
        layout.operator("heft.flip", icon="ARROW_LEFTRIGHT")
        layout.operator("heft.bake", text="Bake…", icon="KEY_HLT")
        layout.separator()
        layout.operator("heft.keep_take", icon="ADD")
        layout.operator("heft.flip_take", icon="UV_SYNC_SELECT")
        layout.separator()
        layout.operator("heft.mirror_settings", text="Mirror Bone Settings", icon="MOD_MIRROR").which = "SELECTED"
        layout.operator("heft.copy_to_armatures", icon="COPYDOWN")
        layout.operator("heft.add_colliders")
        layout.separator()
        layout.operator("heft.manual", icon="HELP")
        layout.operator("heft.remove", icon="X")


def draw_animation(self, context: bpy.types.Context) -> None:
    """Append to Object > Animation, which is Pose > Animation too."""
    if active_rig(context) is not None:
        self.layout.separator()
        self.layout.menu(HEFT_MT_animation.bl_idname, icon="PHYSICS")


def draw_add(self, context: bpy.types.Context) -> None:
    """Append to Add > Armature."""
    if context.mode == "OBJECT":
        self.layout.operator("heft.add_sample", text="Walking Character (Heft)", icon="OUTLINER_OB_ARMATURE")


ENTRIES = ((bpy.types.VIEW3D_MT_object_animation, draw_animation), (bpy.types.VIEW3D_MT_armature_add, draw_add))
CLASSES = (HEFT_MT_animation,)


def register() -> None:
    """Add the entries."""
    for menu, entry in ENTRIES:
        menu.append(entry)


def unregister() -> None:
    """Remove the entries."""
    for menu, entry in ENTRIES:
        menu.remove(entry)
