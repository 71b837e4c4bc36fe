"""Operators of On Time: go to a missed key, save a pose, turn a pose script into keys.

Owns reports and undo steps.
"""

from typing import ClassVar

import bpy
from bpy.props import IntProperty, StringProperty

from ... import events
from ...result import missed_keys
from ...tools import pose_scripts
from .base import PhysicsOperator, active_rig


class HEFT_OT_go_to_miss(PhysicsOperator, bpy.types.Operator):
    """Go to the frame of this missed key and select its bone"""

    bl_idname = "heft.go_to_miss"
    bl_label = "Go to Missed Key"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    index: IntProperty(name="Index", description="Which of the missed keys; the worst is 0", default=0, min=0)

    def run(self, context, rig) -> set[str]:
        missed_keys.go_to(rig, context.scene, self.index)
        return {"FINISHED"}


class HEFT_OT_save_pose(PhysicsOperator, bpy.types.Operator):
    """Keep the rig's own pose of the moment, keyed or set by hand, under a name, as a pose asset of this file"""

    bl_idname = "heft.save_pose"
    bl_label = "Save Pose"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    name: StringProperty(name="Name", description="How the pose is called", default="Pose")

    def invoke(self, context, event) -> set[str]:
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context, rig) -> set[str]:
        action = pose_scripts.save(rig, self.name)
        self.report({"INFO"}, f"The pose '{action.name}' is in the library of this file")
        return {"FINISHED"}


class HEFT_OT_script_to_keys(PhysicsOperator, bpy.types.Operator):
    """Turn the pose script into keys of a new action, from the current frame and pose on; the rig's action of now
    stays in the file"""

    bl_idname = "heft.script_to_keys"
    bl_label = "Turn into Keys"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if not len(active_rig(context).heft.script):
            cls.poll_message_set("The script has no poses: add some to the list")
            return False
        return True

    def run(self, context, rig) -> set[str]:
        script = [(entry.pose, entry.seconds) for entry in rig.heft.script]
        action = pose_scripts.make_keys(rig, context.scene, script)
        end = action.curve_frame_range[1]
        self.report({"INFO"}, f"'{action.name}' is the rig's action now, up to frame {end:.5g}")
        if end > context.scene.frame_end:
            self.report({"WARNING"}, f"The script ends after the scene, at frame {end:.5g}: extend the scene")
        events.setting_changed(rig)
        return {"FINISHED"}


CLASSES = (HEFT_OT_go_to_miss, HEFT_OT_save_pose, HEFT_OT_script_to_keys)
