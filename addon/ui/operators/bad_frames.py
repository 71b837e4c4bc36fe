"""Operators on a source: how bad frames are read, which frames are simulated, at which rate, and whether they loop.

Owns their undo steps. The source's keys are never changed.
"""

from typing import ClassVar

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ... import events
from ...read import read_controller, shot
from ...settings.range import BAD_FRAMES
from ...simulate import frame_rate, recordings
from .base import PhysicsOperator


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
        with events.paused():
            first, last = recordings.leave_out_ends(rig, context.scene)
        self.report({"INFO"}, f"The range is now {first} to {last}")
        events.setting_changed(rig)
        return {"FINISHED"}


class HEFT_OT_take_action(PhysicsOperator, bpy.types.Operator):
    """Simulate all frames of the action, and let the scene play them"""

    bl_idname = "heft.take_action"
    bl_label = "Take All of the Action"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    scene_end: BoolProperty(
        name="Let the Scene Play Them",
        description="Set the scene's last frame to the action's; its first too, if the action begins sooner",
        default=True,
    )

    def run(self, context, rig) -> set[str]:
        with events.paused():
            rig.heft.range = "ACTION"
            frames = read_controller.frame_range(rig, context.scene)
        first, last = int(frames[0]), int(frames[-1])
        if self.scene_end:
            context.scene.frame_start = min(context.scene.frame_start, max(first, 0))
            context.scene.frame_end = max(context.scene.frame_end, last)
        self.report({"INFO"}, f"Frames {first} to {last} are simulated")
        events.setting_changed(rig)
        return {"FINISHED"}


class HEFT_OT_loop(PhysicsOperator, bpy.types.Operator):
    """Simulate the range as one cycle, so that its last frame is its first again"""

    bl_idname = "heft.loop"
    bl_label = "Loop"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def run(self, context, rig) -> set[str]:
        leader = shot.leader(rig)
        with events.paused():
            span, frames = read_controller.action_range(leader), read_controller.frame_range(leader, context.scene)
            if span is not None and span[1] < frames[-1]:
                leader.heft.range = "ACTION"  # later frames hold its last pose
            leader.heft.loop = "RANGE"
        events.setting_changed(leader)
        if not leader.heft.live:
            self.report({"INFO"}, "The range is one cycle now: press Simulate")
        return {"FINISHED"}


class HEFT_OT_set_frame_rate(PhysicsOperator, bpy.types.Operator):
    """Play the scene at the rate at which the recording was taken, so that it moves as fast as it did; its keys stay on
    their frames"""

    bl_idname = "heft.set_frame_rate"
    bl_label = "Set Frame Rate"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    rate: IntProperty(name="Frames per Second", description="Samples a second of the recording", default=120, min=1)

    def run(self, context, rig) -> set[str]:
        render = context.scene.render
        if self.rate != frame_rate.of_scene(context.scene):
            render.fps, render.fps_base = self.rate, 1.0
        rig.heft.slow_at = 0
        events.setting_changed(rig)
        self.report({"INFO"}, f"The scene plays {self.rate} frames a second")
        return {"FINISHED"}


CLASSES = (HEFT_OT_fix_motion, HEFT_OT_leave_out, HEFT_OT_take_action, HEFT_OT_loop, HEFT_OT_set_frame_rate)
