"""The sidebar tab: physics, controller, selected bones, result.

Owns the layout and the warnings shown above the buttons. Must not change data.
"""

import textwrap
from typing import ClassVar

import bpy

from ..engine import HeftError
from . import handlers, session, showing, warmup
from .operators import NOTHING_TO_SEE, active_rig
from .properties import has_physics

# Outside these heights [m] a rig is hardly meant in metres.
SHORTEST, TALLEST = 0.05, 12.0
# A box's width beside its text, and that of a letter, in pixels at normal size.
BESIDE_TEXT, LETTER = 80.0, 6.2


class _HeftPanel:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Heft"


class _PhysicsPanel(_HeftPanel):
    bl_parent_id = "HEFT_PT_main"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_physics(active_rig(context))


class HEFT_PT_main(_HeftPanel, bpy.types.Panel):
    """Add Physics, or the controller and its sliders."""

    bl_label = "Heft"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = True
        rig = active_rig(context)
        if rig is None:
            layout.label(text="Select an armature", icon="INFO")
            return
        if not has_physics(rig):
            layout.operator("heft.add", icon="PHYSICS")
            return
        heft = rig.heft
        layout.prop(heft, "controller")
        if heft.controller == "FOLLOW":
            layout.prop(heft, "settle_time")
            layout.prop(heft, "damping_ratio")
            layout.prop(heft, "heaviness")
        layout.prop(heft, "root")
        if heft.root == "ASSISTED":
            layout.prop(heft, "assist")


class HEFT_PT_result(_PhysicsPanel, bpy.types.Panel):
    """Warnings, Simulate, Live, source and result, mix, Bake, Remove."""

    bl_label = "Result"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        rig = active_rig(context)
        heft = rig.heft
        draw_warnings(layout, rig, context)
        row = layout.row(align=True)
        row.scale_y = 1.4
        row.operator("heft.simulate", icon="PLAY")
        row.prop(heft, "live", toggle=True, icon="FILE_REFRESH")
        if rig.heft_result is not None:
            draw_status(layout, rig, context)
            row = layout.row(align=True)
            for which, text in (("SOURCE", "Source"), ("RESULT", "Result")):
                row.operator("heft.show", text=text, depress=heft.shown == which).which = which
            column = layout.column()
            column.use_property_split = True
            column.prop(heft, "mix", slider=True)
            layout.operator("heft.bake", icon="KEY_HLT")
        layout.operator("heft.remove", icon="X")


class HEFT_PT_bones(_PhysicsPanel, bpy.types.Panel):
    """The active bone's part; a button copies it to the selected ones."""

    bl_label = "Selected Bones"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        if context.mode != "POSE":
            layout.label(text="Set bones in Pose Mode", icon="INFO")
            return
        bone = context.active_pose_bone
        if bone is None:
            layout.label(text="Click a bone", icon="BONE_DATA")
            return
        layout.label(text=bone.name, icon="BONE_DATA")
        layout.prop(bone.heft, "behaviour")
        column = layout.column()
        column.active = bone.heft.behaviour == "SIMULATED"
        column.prop(bone.heft, "settle_scale")
        column.prop(bone.heft, "heaviness_scale")
        layout.prop(bone.heft, "mass")
        layout.prop(bone.heft, "mix", slider=True)
        selected = len(context.selected_pose_bones or ())
        if selected > 1:
            layout.operator("heft.copy_to_selected", text=f"Copy to {selected} Selected Bones", icon="COPYDOWN")


class HEFT_PT_world(_PhysicsPanel, bpy.types.Panel):
    """Size, mass, gravity, range and steps."""

    bl_label = "Body and Time"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        heft = active_rig(context).heft
        for name in ("total_mass", "meters_per_unit", "gravity", "range"):
            layout.prop(heft, name)
        if heft.range == "CUSTOM":
            layout.prop(heft, "frame_start")
            layout.prop(heft, "frame_end")
        layout.prop(heft, "steps_per_second")


def draw_warnings(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """What the animator should know before pressing Simulate, with the fix beside it."""
    tall = session.height_in_meters(rig, context.scene)
    if not SHORTEST <= tall <= TALLEST:
        box = _note(layout, context, f"The rig is {tall:.3g} m tall for physics.")
        box.operator("heft.set_size")
    for text in (warmup.problem(), rig.heft.message):
        if text:
            _note(layout, context, text)


def draw_status(layout: bpy.types.UILayout, rig: bpy.types.Object, context: bpy.types.Context) -> None:
    """What became of the result; below the buttons, which shall not jump while a slider is dragged."""
    if showing.standing_back(rig):
        text = "The rig has another action than the simulated one: Simulate takes the new one."
        _note(layout, context, text, "INFO")
        return
    try:
        current = handlers.is_current(rig, context.scene)
    except HeftError as error:
        _note(layout, context, str(error))
        return
    if not current:
        _note(layout, context, "The result is out of date: press Simulate.", "FILE_REFRESH")
    elif rig.heft.undisturbed:
        _note(layout, context, NOTHING_TO_SEE, "INFO")


def _note(layout: bpy.types.UILayout, context: bpy.types.Context, text: str, icon: str = "ERROR") -> bpy.types.UILayout:
    """A box with the text broken into lines that fit the sidebar."""
    box = layout.box().column(align=True)
    width = context.region.width / context.preferences.system.ui_scale
    letters = max(int((width - BESIDE_TEXT) / LETTER), 20)
    for i, line in enumerate(line for part in text.splitlines() for line in textwrap.wrap(part, letters)):
        box.label(text=line, icon=icon if i == 0 else "BLANK1")
    return box


CLASSES = (HEFT_PT_main, HEFT_PT_result, HEFT_PT_bones, HEFT_PT_world)
