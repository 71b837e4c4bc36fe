"""The panels of bones: the list of all bones, and the active one's behaviour, shape and limits.

Owns their layout. Must not change data.
"""

from typing import ClassVar

import bpy

from ... import controllers, declare
from ...rig import detail, joint_limits
from ...settings import edit_selected
from ...settings.bone import HeftBone
from .. import answers
from ..operators.base import active_rig
from . import roles
from .base import PhysicsPanel
from .copy_buttons import draw_mirror
from .presets import HEFT_MT_bone_presets
from .pull_pose import draw_pin

ROWS = 5
# Settings whose edits here change all selected bones.
EDITED = declare.names(HeftBone, is_number=True)


def active_bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    """The bone whose settings are shown: the armature's active one, in Object Mode too."""
    rig = active_rig(context)
    bone = rig.data.bones.active
    return None if bone is None else rig.pose.bones.get(bone.name)


class HEFT_UL_bones(bpy.types.UIList):
    """Every bone: behaviour, name, role."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.row(align=True)
        row.use_property_split = row.use_property_decorate = False
        row.prop(item, "heft_behaviour", text="", icon_only=True, emboss=False)
        split = row.split(factor=0.55)
        split.label(text=item.name)
        part = answers.parts(item.id_data).get(item.name)
        right = split.row()
        right.active = False
        right.label(text="" if part is None or part.role == "OTHER" else roles.LABELS[part.role])


class HEFT_PT_bones(PhysicsPanel, bpy.types.Panel):
    """All bones, and what the active one does."""

    bl_label = "Bones"
    page = "BONES"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        rig, bone = active_rig(context), active_bone(context)
        if detail.is_of_use(rig):
            row = layout.row(align=True)
            row.use_property_split = False
            row.prop(rig.heft, "detail", expand=True)
        layout.template_list("HEFT_UL_bones", "", rig.pose, "bones", rig.heft, "bone_index", rows=ROWS)
        selected = len(context.selected_pose_bones or ()) if context.mode == "POSE" else 0
        if bone is None:
            layout.label(text="Pick a bone in the list", icon="BONE_DATA")
            draw_mirror(layout, selected)
            return
        edit_selected.look(bone, EDITED)
        several = selected > 1
        layout.label(text=f"Edits reach {selected} selected bones" if several else bone.name, icon="BONE_DATA")
        if context.mode == "POSE":
            layout.menu(HEFT_MT_bone_presets.bl_idname, text="Bone Presets", icon="PRESET")
        layout.prop(bone, "heft_behaviour")
        column = layout.column()
        column.active = bone.heft.behaviour == "SIMULATED"
        heft = bone.id_data.heft
        entry = controllers.entry(heft.controller)
        for name in (*entry.bone_rows, *(("strength_scale",) if heft.use_strength and entry.drives else ())):
            column.prop(bone, f"heft_{name}", text=f"{HeftBone.declared[name].keywords['name']} ×")
        if bone.heft.behaviour == "LIMP" or not entry.drives or heft.use_strength:
            layout.prop(bone, "heft_tone_scale", text="Tone ×")
        layout.prop(bone.heft, "mass")
        layout.prop(bone, "heft_mix", slider=True)
        draw_pin(layout, bone)
        roles.draw_role(layout, bone, selected)
        if several:
            text = f"Key on {selected} Selected Bones"
            layout.operator_menu_enum("heft.key_selected", "setting", text=text, icon="KEY_HLT")
            layout.operator("heft.copy_to_selected", text=f"Copy All to {selected} Selected Bones", icon="COPYDOWN")
        draw_mirror(layout, selected)


class HEFT_PT_bone_contact(PhysicsPanel, bpy.types.Panel):
    """The active bone's shape and the limits of its joint."""

    bl_label = "Shape and Limits"
    bl_parent_id = "HEFT_PT_bones"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and active_bone(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        bone = active_bone(context)
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
        column.enabled = look.limits_from == "OWN" or joint_limits.of_rig(bone) is None
        hinge = sum(bone.lock_rotation) == 2
        if not hinge:
            column.prop(look, "limit_swing")
        column.prop(look, "limit_low", text="Turn From" if hinge else "Twist From")
        column.prop(look, "limit_high", text="To")


CLASSES = (HEFT_UL_bones, HEFT_PT_bones, HEFT_PT_bone_contact)
