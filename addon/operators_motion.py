"""The commands on a source that breaks: how its bad frames are read.

Owns what is undone. The source's keys are never touched.
"""

from typing import ClassVar

import bpy
from bpy.props import EnumProperty

from . import live, mending
from .operator_parts import PhysicsOperator
from .properties.character import BAD_FRAMES


class HEFT_OT_fix_motion(PhysicsOperator, bpy.types.Operator):
    """Read the bad frames of the motion in another way; its keys stay as they are"""

    bl_idname = "heft.fix_motion"
    bl_label = "Fix Motion"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    method: EnumProperty(name="Method", description="How the bad frames are read", items=BAD_FRAMES, default="SMOOTH")

    def run(self, context, rig) -> set[str]:
        rig.heft.bad_frames = self.method
        return {"FINISHED"}


class HEFT_OT_leave_out(PhysicsOperator, bpy.types.Operator):
    """Simulate only the frames that are part of the motion: a range without the bad ones at its ends"""

    bl_idname = "heft.leave_out"
    bl_label = "Leave Out Bad Ends"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def run(self, context, rig) -> set[str]:
        with live.paused():
            first, last = mending.leave_out_ends(rig, context.scene)
        self.report({"INFO"}, f"The range is now {first} to {last}")
        live.setting_changed(rig)
        return {"FINISHED"}


CLASSES = (HEFT_OT_fix_motion, HEFT_OT_leave_out)
