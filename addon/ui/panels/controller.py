"""The panel of the controller, with only its own sliders.

Owns its layout. Must not change data.
"""

from typing import ClassVar

import bpy

from ... import controllers
from ..operators.base import active_rig
from ..operators.let_go import chosen
from .base import PhysicsPanel, draw_help
from .copy_buttons import draw_copy_to_armatures
from .presets import HEFT_MT_presets


class HEFT_PT_controller(PhysicsPanel, bpy.types.Panel):
    """The controller and its sliders."""

    bl_label = "Controller"

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        draw_help(self.layout, controllers.entry(active_rig(context).heft.controller).page)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = True
        heft = active_rig(context).heft
        layout.menu(HEFT_MT_presets.bl_idname, text="Presets", icon="PRESET")
        layout.prop(heft, "controller")
        entry = controllers.entry(heft.controller)
        for name in entry.rows:
            layout.prop(heft, name, slider=name in entry.sliders)
        if heft.use_strength and "use_strength" in entry.rows:
            layout.prop(heft, "strength")
            layout.prop(heft, "tone")
        layout.prop(heft, "root")
        if heft.root == "ASSISTED":
            layout.prop(heft, "assist")
        draw_let_go(layout, active_rig(context), context)
        draw_copy_to_armatures(layout, context)


def draw_let_go(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """The switch that is keyed, and the buttons that key it on the current frame."""
    layout.prop(rig.heft, "let_go")
    row = layout.row(align=True)
    bones = len(chosen(context, rig))
    text = "Let Go" if not bones else f"Let {bones} Bone{'s' if bones > 1 else ''} Go"
    row.operator("heft.let_go", text=text, icon="FORCE_DRAG").back = False
    row.operator("heft.let_go", text="Take Back", icon="LOOP_BACK").back = True


class HEFT_PT_advanced(PhysicsPanel, bpy.types.Panel):
    """What is seldom touched of a controller."""

    bl_label = "Advanced"
    bl_parent_id = "HEFT_PT_controller"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and bool(_entry(context).advanced)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        heft = active_rig(context).heft
        for name in _entry(context).advanced:
            if hasattr(heft, name):
                layout.prop(heft, name)
            else:
                layout.label(text=name, icon="INFO")


def _entry(context: bpy.types.Context) -> controllers.ControllerEntry:
    return controllers.entry(active_rig(context).heft.controller)


CLASSES = (HEFT_PT_controller, HEFT_PT_advanced)
