"""Operators of the armature's lists: add, remove, move an entry.

Owns their undo steps and the active entry.
"""

from typing import ClassVar

import bpy
from bpy.props import BoolProperty, EnumProperty

from ... import declare, events
from ...settings.character import HeftArmature
from ...tools import reaction_settings, throw_ball
from .base import PhysicsOperator

# The lists whose entries have a bone and affect the simulation.
SIMULATED = declare.names(HeftArmature, is_list=True, is_simulated=True)


class _ListOperator(PhysicsOperator):
    """Base of operators on one of the armature's lists."""

    which: EnumProperty(
        name="List",
        description="Which of the lists",
        items=(
            ("pushes", "Pushes", "Blows from nowhere"),
            ("ties", "Ties", "What holds bones"),
            ("script", "Pose Script", "Poses and seconds"),
            ("controls", "Controls", "Bones that Bake to Controls keys"),
            ("switches", "Switches", "Properties that Bake to Controls keys"),
        ),
    )

    def place(self, rig) -> str:
        """The setting with the index of the active entry."""
        return HeftArmature.declared[self.which].active

    def tell(self, rig) -> None:
        """Emit that a setting was changed. A script is simulated only after it was turned into keys, controls never."""
        if self.which in SIMULATED:
            events.setting_changed(rig)


class HEFT_OT_list_add(_ListOperator, bpy.types.Operator):
    """Add an entry; where it is of a bone, for the active one, and for the current frame"""

    bl_idname = "heft.list_add"
    bl_label = "Add"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def run(self, context, rig) -> set[str]:
        with events.paused():
            entries = getattr(rig.heft, self.which)
            entry = entries.add()
            active = rig.data.bones.active
            if self.which in SIMULATED:
                entry.bone = active.name if active is not None else rig.data.bones[0].name
            if self.which == "controls" and active is not None:
                entry.control = active.name
            if self.which == "pushes":
                entry.frame = context.scene.frame_current
                words = reaction_settings.told(
                    rig, reaction_settings.prepare(rig), throw_ball.lay_ground(rig, context.scene)
                )
                if words:
                    self.report({"INFO"}, f"Push on '{entry.bone}'{words}")
            setattr(rig.heft, self.place(rig), len(entries) - 1)
        self.tell(rig)
        return {"FINISHED"}


class HEFT_OT_list_move(_ListOperator, bpy.types.Operator):
    """Move the active entry up or down"""

    bl_idname = "heft.list_move"
    bl_label = "Move"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    up: BoolProperty(name="Up", description="Towards the start of the list", default=True)

    def run(self, context, rig) -> set[str]:
        entries, place = getattr(rig.heft, self.which), self.place(rig)
        index = getattr(rig.heft, place)
        target = index + (-1 if self.up else 1)
        if not (0 <= index < len(entries) and 0 <= target < len(entries)):
            return {"CANCELLED"}
        entries.move(index, target)
        setattr(rig.heft, place, target)
        return {"FINISHED"}


class HEFT_OT_list_remove(_ListOperator, bpy.types.Operator):
    """Remove the active entry"""

    bl_idname = "heft.list_remove"
    bl_label = "Remove"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def run(self, context, rig) -> set[str]:
        entries, place = getattr(rig.heft, self.which), self.place(rig)
        index = getattr(rig.heft, place)
        if not 0 <= index < len(entries):
            self.report({"ERROR"}, "Nothing is active in the list.")
            return {"CANCELLED"}
        with events.paused():
            entries.remove(index)
            setattr(rig.heft, place, max(0, min(index, len(entries) - 1)))
        self.tell(rig)
        return {"FINISHED"}


CLASSES = (HEFT_OT_list_add, HEFT_OT_list_move, HEFT_OT_list_remove)
