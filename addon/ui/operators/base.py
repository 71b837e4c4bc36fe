"""Base classes of the operators: the armature they act on, and their poll messages.

Owns the choice of that armature. Must not know any single operator.
"""

import bpy

from ....engine import HeftError
from ...read import shot
from ...rig import skin
from ...settings import has_physics
from ...simulate import session


def active_rig(context: bpy.types.Context) -> bpy.types.Object | None:
    """The armature that the panel and the operators act on: the active one, or that of the active mesh."""
    return rig_of(context.object)


def rig_of(ob: bpy.types.Object | None) -> bpy.types.Object | None:
    """The armature that an object stands for: itself, or the one that deforms it. An object that a bone only carries,
    or that a character collides with, stands for none."""
    if ob is None or ob.type == "ARMATURE":
        return ob
    if ob.type != "MESH":
        return None
    skins = skin.skinned_by(ob)
    if skins:
        return skins[0]
    above = ob.parent
    if above is None or above.type != "ARMATURE" or ob.parent_type != "OBJECT":
        return None
    return None if has_physics(above) and ob in shot.colliders(above) else above


def chosen_rigs(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The armatures of all selected objects, the active one first."""
    found = [active_rig(context), *map(rig_of, context.selected_objects or ())]
    return list(dict.fromkeys(rig for rig in found if rig is not None))


def redraw(context: bpy.types.Context) -> None:
    """Redraw panels in all regions, after a shortcut changed what is shown."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            area.tag_redraw()


class RigOperator:
    """Base: needs an editable armature. Reports Heft's errors and no other exceptions."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        try:
            session.check(active_rig(context))
        except HeftError as error:
            cls.poll_message_set(str(error).rstrip("."))
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            return self.run(context, session.check(active_rig(context)))
        except HeftError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}


class PhysicsOperator(RigOperator):
    """Base of operators that need physics on the armature."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if not has_physics(active_rig(context)):
            cls.poll_message_set("Press Add Physics first")
            return False
        return True


class ResultOperator(PhysicsOperator):
    """Base of operators that need a result."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if active_rig(context).heft_result is None:
            cls.poll_message_set("There is no result yet: press Simulate first")
            return False
        return True


class BoneOperator(PhysicsOperator):
    """Base of operators on the active bone and those selected with it."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if context.active_pose_bone is None:
            cls.poll_message_set("No bone is active: click one in Pose Mode")
            return False
        return True
