"""The panels of bones: what the selected ones do, what others touch of them, how far their joints turn.

Owns their layout. Must not change data.
"""

from typing import ClassVar

import bpy

from . import limits, panel_roles
from .panel_copying import draw_mirror
from .panel_parts import PhysicsPanel


class HEFT_PT_bones(PhysicsPanel, bpy.types.Panel):
    """The active bone's part; a button copies it to the selected ones."""

    bl_label = "Bones"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        if context.mode != "POSE":
            layout.label(text="Set bones in Pose Mode", icon="INFO")
            draw_mirror(layout, 0)
            return
        bone = context.active_pose_bone
        selected = len(context.selected_pose_bones or ())
        if bone is None:
            layout.label(text="Click a bone", icon="BONE_DATA")
            draw_mirror(layout, selected)
            return
        layout.label(text=bone.name, icon="BONE_DATA")
        selected = len(context.selected_pose_bones or ())
        panel_roles.draw_role(layout, bone, selected)
        layout.prop(bone.heft, "behaviour")
        column = layout.column()
        column.active = bone.heft.behaviour == "SIMULATED"
        heft = bone.id_data.heft
        if heft.controller != "LIMP":
            column.prop(bone.heft, "settle_scale")
            column.prop(bone.heft, "heaviness_scale")
            if heft.use_strength:
                column.prop(bone.heft, "strength_scale")
        layout.prop(bone.heft, "mass")
        layout.prop(bone.heft, "mix", slider=True)
        if selected > 1:
            layout.operator("heft.copy_to_selected", text=f"Copy to {selected} Selected Bones", icon="COPYDOWN")
        draw_mirror(layout, selected)


class HEFT_PT_bone_contact(PhysicsPanel, bpy.types.Panel):
    """The active bone's shape and the limits of its joint."""

    bl_label = "Shape and Limits"
    bl_parent_id = "HEFT_PT_bones"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and context.mode == "POSE" and context.active_pose_bone is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        bone = context.active_pose_bone
        look = bone.heft
        layout.prop(look, "shape")
        layout.prop(look, "overlap_group")
        if bone.parent is None:
            layout.label(text="A root has no joint to limit", icon="INFO")
            return
        layout.prop(look, "use_limits")
        if not look.use_limits:
            return
        layout.prop(look, "limits_from")
        if look.limits_from == "NONE":
            return
        column = layout.column(align=True)
        column.enabled = look.limits_from == "OWN" or limits.of_rig(bone) is None
        hinge = sum(bone.lock_rotation) == 2
        if not hinge:
            column.prop(look, "limit_swing")
        column.prop(look, "limit_low", text="Turn From" if hinge else "Twist From")
        column.prop(look, "limit_high", text="To")


CLASSES = (HEFT_PT_bones, HEFT_PT_bone_contact)
