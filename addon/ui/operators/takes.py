"""Operators of takes: keep, show, flip between two, update, delete.

Owns reports and undo steps.
"""

from typing import ClassVar

import bpy
from bpy.props import StringProperty

from ... import events
from ...errors import RigError
from ...result import takes
from ...simulate import session
from .base import PhysicsOperator, active_rig, redraw

UNDO: set[str] = {"REGISTER", "UNDO"}


class _TakeOperator(PhysicsOperator):
    """Base of operators on one take: the named one, or that of the active row."""

    name: StringProperty(name="Take", description="Its name; empty is the active one", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if not len(active_rig(context).heft.takes):
            cls.poll_message_set("Keep a take first")
            return False
        return True

    def uid_of(self, rig: bpy.types.Object) -> str:
        take = rig.heft.takes.get(self.name) if self.name else takes.active(rig)
        if take is None:
            raise RigError(f"There is no take '{self.name}'." if self.name else "No take is active: click one.")
        return take.uid


class HEFT_OT_keep_take(PhysicsOperator, bpy.types.Operator):
    """Keep the present settings with their result, to compare them with others and to come back to them"""

    bl_idname = "heft.keep_take"
    bl_label = "Keep Take"
    bl_options: ClassVar[set[str]] = UNDO

    name: StringProperty(name="Name", description="Its name; empty numbers it", options={"SKIP_SAVE"})

    def run(self, context, rig) -> set[str]:
        session.keep_take(rig, self.name)
        self.report({"INFO"}, f"Kept as '{takes.shown(rig).name}'")
        return {"FINISHED"}


class HEFT_OT_choose_take(_TakeOperator, bpy.types.Operator):
    """Show a take: its settings and its result come back together, nothing is simulated. What is shown now is kept"""

    bl_idname = "heft.choose_take"
    bl_label = "Show Take"
    bl_options: ClassVar[set[str]] = UNDO

    def run(self, context, rig) -> set[str]:
        session.choose_take(rig, self.uid_of(rig))
        self.report({"INFO"}, f"Shown: '{takes.shown(rig).name}'")
        return {"FINISHED"}


class HEFT_OT_flip_take(_TakeOperator, bpy.types.Operator):
    """Flip between the two takes that were shown last; what is shown and in no take is kept first"""

    bl_idname = "heft.flip_take"
    bl_label = "Flip Takes"
    bl_options: ClassVar[set[str]] = UNDO

    def run(self, context, rig) -> set[str]:
        session.choose_take(rig, takes.other(rig))
        self.report({"INFO"}, f"Shown: '{takes.shown(rig).name}'")
        redraw(context)
        return {"FINISHED"}


class HEFT_OT_update_take(_TakeOperator, bpy.types.Operator):
    """Put the present settings and result in place of what the take holds"""

    bl_idname = "heft.update_take"
    bl_label = "Update Take"
    bl_options: ClassVar[set[str]] = UNDO

    def run(self, context, rig) -> set[str]:
        session.update_take(rig, self.uid_of(rig))
        self.report({"INFO"}, f"'{takes.shown(rig).name}' holds what is shown")
        return {"FINISHED"}


class HEFT_OT_delete_take(_TakeOperator, bpy.types.Operator):
    """Delete the take; what is shown stays as it is"""

    bl_idname = "heft.delete_take"
    bl_label = "Delete Take"
    bl_options: ClassVar[set[str]] = UNDO

    def run(self, context, rig) -> set[str]:
        with events.paused():
            takes.delete(rig, self.uid_of(rig))
        return {"FINISHED"}


CLASSES = (HEFT_OT_keep_take, HEFT_OT_choose_take, HEFT_OT_flip_take, HEFT_OT_update_take, HEFT_OT_delete_take)
