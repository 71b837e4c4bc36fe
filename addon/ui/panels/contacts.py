"""The panels of contact: ground, colliders and the active mesh object as one.

Owns their layout. Must not change data.
"""

from typing import ClassVar

import bpy

from ... import settings
from ...read import shot
from .. import answers
from ..operators.base import active_rig
from .base import HeftPanel, PhysicsPanel, note

# Colliders listed by name; more than these are only counted.
MOST_LISTED = 8


class HEFT_PT_collider(HeftPanel, bpy.types.Panel):
    """How the active mesh object meets the characters whose shot it is in."""

    bl_label = "Collider"
    bl_parent_id = "HEFT_PT_main"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return bool(answers.shots_with(context.object))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        ob = context.object
        rigs, carried = zip(*answers.shots_with(ob), strict=True)
        look = ob.heft_collider
        names = ", ".join(f"'{rig.name}'" for rig in rigs)
        layout.label(text=f"Part of {names}" if any(carried) else f"Meets {names}", icon="ARMATURE_DATA")
        layout.operator("heft.select_armature", text=f"Select '{rigs[0].name}'", icon="RESTRICT_SELECT_OFF")
        layout.prop(look, "shape")
        if not any(carried):
            layout.prop(look, "moves")
            if look.moves == "FREE":
                layout.prop(look, "free_from")
        if look.moves == "FREE" or any(carried):
            layout.prop(look, "mass")
            if look.mass == 0.0:
                layout.label(text="Weighs as much as water", icon="INFO")
        if not any(carried):
            layout.prop(look, "response")
            column = layout.column(align=True)
            column.prop(look, "friction")
            column.prop(look, "bounce")


class HEFT_PT_contact(PhysicsPanel, bpy.types.Panel):
    """The ground, what the character meets, and its own surface."""

    bl_label = "Ground and Colliders"
    page = "CONTACTS"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        rig = active_rig(context)
        heft = rig.heft
        group = answers.shot_of(rig)
        layout.prop(heft, "ground")
        if group.grounded not in (None, rig):
            note(layout, context, f"The shot stands on the ground of '{group.grounded.name}'", "INFO")
        if heft.ground:
            column = layout.column(align=True)
            row = column.row(align=True)
            row.prop(heft, "ground_height")
            row.operator("heft.fit_ground", text="", icon="TRIA_DOWN_BAR")
            column.active = group.grounded == rig
            column.prop(heft, "ground_friction")
            column.prop(heft, "ground_bounce")
        layout.prop(heft, "colliders")
        draw_colliders(layout, rig)
        layout.operator("heft.add_colliders", icon="ADD")
        layout.operator("heft.throw", icon="SPHERE")
        layout.label(text="The character's own surface")
        column = layout.column(align=True)
        column.prop(heft, "friction")
        column.prop(heft, "bounce")
        column = layout.column(align=True)
        column.prop(heft, "touch_self")
        row = column.row()
        row.active = not heft.touch_self
        row.prop(heft, "touch_self_limp")


def draw_colliders(layout: bpy.types.UILayout, rig: bpy.types.Object) -> None:
    """The first of the rig's own colliders, each with what it does and a button that takes it out."""
    group, own = answers.shot_of(rig), shot.colliders(rig)
    listed = [ob for ob in (*group.rigs, *group.objects) if ob in own and ob != rig]
    if not listed:
        return
    column = layout.box().column(align=True)
    for ob in listed[:MOST_LISTED]:
        row = column.row(align=True)
        look = None if ob.type == "ARMATURE" else settings.collider_of(ob)
        word = "simulated too" if look is None else "free" if look.moves == "FREE" else "animated"
        row.label(text=ob.name, icon="ARMATURE_DATA" if look is None else "MESH_DATA")
        row.label(text=word)
        row.operator("heft.remove_collider", text="", icon="X", emboss=False).name = ob.name
    if len(listed) > MOST_LISTED:
        column.label(text=f"and {len(listed) - MOST_LISTED} more")


COLLIDER = (HEFT_PT_collider,)
CLASSES = (HEFT_PT_contact,)
