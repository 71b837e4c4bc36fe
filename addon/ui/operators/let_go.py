"""Let Go: limp from this frame on, and Take Back: they key a switch.

Owns which switch is keyed, and the report. The engine simulates the limp body.
"""

from typing import ClassVar

import bpy
from bpy.props import BoolProperty

from ... import events
from ...errors import RigError
from ...read import read_controller
from ...tools import throw_ball
from .base import PhysicsOperator, active_rig

SWITCH = "let_go"
BONE_SWITCH = "heft_behaviour"


class HEFT_OT_let_go(PhysicsOperator, bpy.types.Operator):
    """Let go on the current frame: from here on the body is limp, with the speed it has, and falls. In Pose Mode with
    bones selected, these alone. Keys the switch, so that it can be moved, removed or switched back"""

    bl_idname = "heft.let_go"
    bl_label = "Let Go"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    back: BoolProperty(
        name="Take Back",
        description="End it on this frame instead: the body returns to its motion within the Recovery Time",
        options={"SKIP_SAVE"},
    )
    ground: BoolProperty(
        name="Ground to Fall On",
        description="Put a ground under a body with feet that is let go, if its shot has none",
        default=True,
    )

    @classmethod
    def description(cls, _context, properties) -> str:
        if properties.back:
            return "From the current frame on the body returns to its motion, within the Recovery Time"
        return cls.__doc__.replace("\n    ", " ")

    def run(self, context, rig) -> set[str]:
        frame = context.scene.frame_current
        frames = read_controller.frame_range(rig, context.scene)
        if not frames[0] <= frame <= frames[-1]:
            raise RigError(f"Frame {frame} is not in the range that is simulated, {frames[0]} to {frames[-1]}.")
        bones = chosen(context, rig)
        with events.paused():
            if bones:
                for bone in bones:
                    _key_bone(bone, frame, "SIMULATED" if self.back else "LIMP")
                words = f"{_named(bones)} {'are' if len(bones) > 1 else 'is'}"
            else:
                _key_body(rig, frame, not self.back)
                words = f"'{rig.name}' is"
        grounded = not bones and not self.back and self.ground and throw_ball.lay_ground(rig, context.scene)
        self._tell(rig, words, frame, grounded)
        events.setting_changed(rig)
        return {"FINISHED"}

    def draw(self, context) -> None:
        layout = self.layout
        layout.prop(self, "back")
        row = layout.row()
        row.active = not self.back
        row.prop(self, "ground")

    def _tell(self, rig: bpy.types.Object, words: str, frame: int, grounded: bool) -> None:
        if self.back:
            seconds = rig.heft.recovery_time or read_controller.RETURN_TIME
            self.report({"INFO"}, f"{words} back on the motion {seconds:.2g} s after frame {frame}: press Simulate")
        else:
            more = ", with a ground to fall on" if grounded else ""
            self.report({"INFO"}, f"{words} limp from frame {frame} on{more}: press Simulate")


def chosen(context: bpy.types.Context, rig: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The selected bones with bodies in Pose Mode; empty if the whole body is meant."""
    if context.mode != "POSE" or active_rig(context) is not rig:
        return []
    return [bone for bone in context.selected_pose_bones or () if bone.id_data == rig and _is_body(bone)]


def _is_body(bone: bpy.types.PoseBone) -> bool:
    return bone.heft.behaviour != "IGNORED"


def _named(bones: list[bpy.types.PoseBone]) -> str:
    names = [f"'{bone.name}'" for bone in bones]
    return " and ".join(names) if len(names) <= 2 else f"{names[0]}, {names[1]} and {len(names) - 2} more"


def _key_body(rig: bpy.types.Object, frame: int, gone: bool) -> None:
    """Key the switch: its old value on the frame before, the new one from this frame on."""
    curve = read_controller.keyed_settings(rig).get(f"heft.{SWITCH}")
    if curve is None:
        rig.heft.let_go = not gone
        rig.keyframe_insert(f"heft.{SWITCH}", frame=frame - 1)
    rig.heft.let_go = gone
    rig.keyframe_insert(f"heft.{SWITCH}", frame=frame)


def _key_bone(bone: bpy.types.PoseBone, frame: int, behaviour: str) -> None:
    rig = bone.id_data
    if f"{bone.path_from_id()}.heft.behaviour" not in read_controller.keyed_settings(rig):
        bone.keyframe_insert(BONE_SWITCH, frame=frame - 1)
    bone.heft.behaviour = behaviour
    bone.keyframe_insert(BONE_SWITCH, frame=frame)


CLASSES = (HEFT_OT_let_go,)
