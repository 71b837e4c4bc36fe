"""The first steps: a sample character where there is none, an armature to select, the manual.

Owns where the sample character and the manual lie. Must not know layout.
"""

from pathlib import Path
from typing import ClassVar

import bpy

from . import glance, places
from .properties import has_physics

SAMPLE = Path(__file__).with_name("sample_character.blend")


class HEFT_OT_add_sample(bpy.types.Operator):
    """Add a person who walks for 250 frames, with skin and keys, to try physics on; stands at the 3D cursor"""

    bl_idname = "heft.add_sample"
    bl_label = "Add Sample Character"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.mode != "OBJECT":
            cls.poll_message_set("Leave this mode first: it is added in Object Mode")
            return False
        if context.scene.library is not None:
            cls.poll_message_set("This scene is linked and cannot be edited")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        with bpy.data.libraries.load(str(SAMPLE), link=False) as (there, here):
            here.objects = list(there.objects)
        rig = next(ob for ob in here.objects if ob.type == "ARMATURE")
        for ob in context.selected_objects:
            ob.select_set(False)
        group = context.collection if places.is_open(context.collection) else context.scene.collection
        for ob in here.objects:
            group.objects.link(ob)
        rig.location = context.scene.cursor.location
        rig.select_set(True)
        context.view_layer.objects.active = rig
        self.report({"INFO"}, f"'{rig.name}' is ready: press Add Physics, pick a preset such as Heavy, press Simulate")
        return {"FINISHED"}


class HEFT_OT_select_armature(bpy.types.Operator):
    """Select the armature that physics is, or can be, on"""

    bl_idname = "heft.select_armature"
    bl_label = "Select Armature"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.mode != "OBJECT":
            cls.poll_message_set("Leave this mode first")
            return False
        if nearest_armature(context) is None:
            cls.poll_message_set("No armature can be seen in this scene")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        rig = nearest_armature(context)
        for ob in context.selected_objects:
            ob.select_set(False)
        rig.select_set(True)
        context.view_layer.objects.active = rig
        return {"FINISHED"}


def nearest_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The armature most likely meant: the active mesh's own, one that meets it, one with physics, or the first that
    can be selected."""
    active = context.object
    if active is not None:
        met = [rig for rig, _ in glance.shots_with(active) if _selectable(rig, context)]
        if met:
            return met[0]
        own = active.find_armature() or (active.parent if active.parent and active.parent.type == "ARMATURE" else None)
        if own is not None and _selectable(own, context):
            return own
    found = [ob for ob in context.view_layer.objects if ob.type == "ARMATURE" and _selectable(ob, context)]
    return next((ob for ob in found if has_physics(ob)), found[0] if found else None)


def _selectable(ob: bpy.types.Object, context: bpy.types.Context) -> bool:
    return ob.visible_get(view_layer=context.view_layer) and not ob.hide_select


CLASSES = (HEFT_OT_add_sample, HEFT_OT_select_armature)
