"""Set bones' roles; bodies and size are then guessed again.

Owns reports and undo steps.
"""

from typing import ClassVar

import bpy
from bpy.props import EnumProperty

from ... import events
from ...blender import compat
from ...settings.bone import ROLE_ITEMS
from .base import PhysicsOperator, active_rig


class HEFT_OT_set_role(PhysicsOperator, bpy.types.Operator):
    """Say what all selected bones are in the body, where it was not found right"""

    bl_idname = "heft.set_role"
    bl_label = "Set Role"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    role: EnumProperty(name="Role", description="What the selected bones are in the body", items=ROLE_ITEMS)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if not any(map(compat.is_selected, active_rig(context).pose.bones)):
            cls.poll_message_set("No bone is selected: select some in Pose Mode")
            return False
        return True

    def run(self, context, rig) -> set[str]:
        chosen = [bone for bone in rig.pose.bones if compat.is_selected(bone)]
        with events.paused():
            for bone in chosen:
                bone.heft.role = self.role
        events.setting_changed(rig)
        return {"FINISHED"}


CLASSES = (HEFT_OT_set_role,)
