"""Bake, and Back to Source.

Owns options, reports and undo steps. Must not know how keys are made.
"""

from typing import ClassVar

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ... import events
from ...bake import bake_result, control_map, unbake
from ...simulate import session
from .base import PhysicsOperator, ResultOperator, active_rig


class HEFT_OT_bake(ResultOperator, bpy.types.Operator):
    """Bake the shown result into plain new keys; the source action stays in the file"""

    bl_idname = "heft.bake"
    bl_label = "Bake"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    target: EnumProperty(name="Target", description="Where the keys go", items=bake_result.TARGETS, default="ACTION")
    selected_only: BoolProperty(
        name="Selected Bones Only", description="Bake the selected bones, keep the others' keys"
    )
    reduce: FloatProperty(
        name="Reduce Keys (°)",
        description="Leave out keys as long as rotations stay within this many degrees, and locations within this "
        "percentage of the rig's height; 0 keys every frame",
        default=0.0,
        min=0.0,
        soft_max=5.0,
    )
    mute_constraints: BoolProperty(
        name="Mute Constraints",
        description="Mute the constraints that would move baked bones away from their keys",
    )

    use_range: BoolProperty(name="Part of the Range", description="Bake only some of the simulated frames")
    frame_start: IntProperty(name="Start", description="The first frame to bake")
    frame_end: IntProperty(name="End", description="The last frame to bake")

    def invoke(self, context, event) -> set[str]:
        rig = active_rig(context)
        heft = rig.heft
        if not self.properties.is_property_set("target") and not self.mute_constraints and bake_result.is_hidden(rig):
            self.target = "CONTROLS"
        if not self.use_range:
            self.frame_start, self.frame_end = heft.result_start, heft.result_end
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "target")
        if self.target == "CONTROLS":
            layout.label(text=f"Onto {control_map.sentence(active_rig(context))}", icon="ARMATURE_DATA")
        else:
            layout.prop(self, "mute_constraints")
        layout.prop(self, "selected_only")
        layout.prop(self, "reduce")
        layout.prop(self, "use_range")
        column = layout.column(align=True)
        column.active = self.use_range
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")

    def run(self, context, rig) -> set[str]:
        span = (self.frame_start, self.frame_end) if self.use_range else None
        with events.paused():
            baked = session.bake(
                rig, context.scene, self.target, self.selected_only, self.reduce, self.mute_constraints, span
            )
        for note in baked.notes:
            self.report({"WARNING"}, note)
        off = baked.off
        if self.target == "CONTROLS":
            for limb in off.worst(3):
                self.report(
                    {"INFO"}, f"'{limb.name}' and on: {100.0 * limb.offset:.4f} % of the height, {limb.angle:.4f}°"
                )
        if self.reduce > 0.0:
            self.report({"INFO"}, f"{baked.keys.written:,} keys instead of {baked.keys.full:,}")
        self.report(
            {"INFO"},
            f"Baked '{baked.action.name}': at most {100.0 * off.offset:.4f} % of the rig's height and "
            f"{off.angle:.4f}° from the simulation (bone '{off.bone}', frame {off.frame})",
        )
        return {"FINISHED"}


class HEFT_OT_back_to_source(PhysicsOperator, bpy.types.Operator):
    """Give the character, and what was thrown at it, the keys they had before Bake; the baked action stays in the
    file"""

    bl_idname = "heft.back_to_source"
    bl_label = "Back to the Source"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if not unbake.can_go_back(active_rig(context)):
            cls.poll_message_set("Nothing was baked that the character plays instead of its source")
            return False
        return True

    def run(self, context, rig) -> set[str]:
        with events.paused():
            for note in unbake.go_back(rig):
                self.report({"INFO"}, note)
        return {"FINISHED"}


CLASSES = (HEFT_OT_bake, HEFT_OT_back_to_source)
