"""What the commands share: whom they act on, when they can, and why not.

Owns the armature that is meant and the words on a button that cannot be pressed. Must not know any single command.
"""

import bpy

from ..engine import HeftError
from . import session
from .properties import has_physics


def active_rig(context: bpy.types.Context) -> bpy.types.Object | None:
    """The armature the panel and the commands act on."""
    ob = context.object
    return ob if ob is not None and ob.type == "ARMATURE" else None


def redraw(context: bpy.types.Context) -> None:
    """What is shown was changed by a key: panels in other regions say so too."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            area.tag_redraw()


class RigOperator:
    """Needs an armature that can be edited; reports Heft's errors, and only them."""

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
    """For commands that need physics on the armature."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if not has_physics(active_rig(context)):
            cls.poll_message_set("Press Add Physics first")
            return False
        return True


class ResultOperator(PhysicsOperator):
    """For commands that need a result."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if active_rig(context).heft_result is None:
            cls.poll_message_set("There is no result yet: press Simulate first")
            return False
        return True


class BoneOperator(PhysicsOperator):
    """For commands on the active bone and those selected with it."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if context.active_pose_bone is None:
            cls.poll_message_set("No bone is active: click one in Pose Mode")
            return False
        return True
