"""Operators that copy settings: to the other side, to other characters.

Owns reports and undo steps.
"""

from typing import ClassVar

import bpy
from bpy.props import BoolProperty, EnumProperty

from ... import events
from ...read import shot
from ...tools import copy_settings
from .base import PhysicsOperator, active_rig

SIDES = (
    (
        "SELECTED",
        "Selected Bones",
        "The selected bones give theirs; of a pair that is, the one on the active's side",
        0,
    ),
    ("LEFT", "Left to Right", "All bones on the left give theirs", 1),
    ("RIGHT", "Right to Left", "All bones on the right give theirs", 2),
)


def other_armatures(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected armatures besides the active one."""
    rig = active_rig(context)
    return [ob for ob in context.selected_objects if ob.type == "ARMATURE" and ob != rig]


class HEFT_OT_mirror_settings(PhysicsOperator, bpy.types.Operator):
    """Give bones the physics settings of those on the other side, found by name; what twists one way there twists the
    other way here"""

    bl_idname = "heft.mirror_settings"
    bl_label = "Mirror Bone Settings"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    which: EnumProperty(name="From", description="Whose settings are mirrored", items=SIDES, default="SELECTED")

    def run(self, context, rig) -> set[str]:
        if self.which == "SELECTED":
            bones = copy_settings.selected(rig, context.active_pose_bone)
            if not bones:
                self.report({"ERROR"}, "No bone is selected: select some in Pose Mode.")
                return {"CANCELLED"}
        else:
            bones = copy_settings.sided(rig, self.which == "LEFT")
        with events.paused():
            count = copy_settings.mirror(rig, bones)
        events.setting_changed(rig)
        events.mix_changed(rig)
        self.report({"INFO"}, f"{count} bones have the settings of the other side")
        return {"FINISHED"}


class HEFT_OT_copy_to_armatures(PhysicsOperator, bpy.types.Operator):
    """Give the other selected armatures this character's settings, and its bones' where they have bones of the same
    name; those without physics get it. Colliders, pushes, ties and keys of settings stay each one's own"""

    bl_idname = "heft.copy_to_armatures"
    bl_label = "Copy to Selected Armatures"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    bones: BoolProperty(name="Bones", description="The settings of bones of the same name, too", default=True)
    body: BoolProperty(
        name="Masses and Size", description="Masses and Metres per Unit, too: for another of the same build"
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if not other_armatures(context):
            cls.poll_message_set("Select other armatures together with this one")
            return False
        return True

    def run(self, context, rig) -> set[str]:
        others = other_armatures(context)
        with events.paused():
            found = copy_settings.copy_character(rig, others, context.scene, self.bones, self.body)
        for leader in shot.leaders(others):
            events.setting_changed(leader)
        for other, count in found.items():
            events.mix_changed(other)
            if self.bones and count < len(other.pose.bones):
                missing = len(other.pose.bones) - count
                self.report({"WARNING"}, f"'{other.name}' has {missing} bones that '{rig.name}' has not")
        who = f"'{others[0].name}' has" if len(others) == 1 else f"{len(others)} armatures have"
        self.report({"INFO"}, f"{who} the settings of '{rig.name}'")
        return {"FINISHED"}


CLASSES = (HEFT_OT_mirror_settings, HEFT_OT_copy_to_armatures)
