"""Throw a Ball: one click, and the character is hit.

Owns options and reports. The ball and its simulation are one step: Esc during the simulation removes the ball, and so
does one undo.
"""

import math
from typing import ClassVar

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty, StringProperty
from mathutils import Vector

from ....engine import HeftError
from ... import events
from ...simulate import session
from ...tools import reaction_settings, throw_ball, throw_path
from .base import active_rig
from .simulate import Simulating

# Toward the viewer, in the view's own axes.
TO_VIEWER = Vector((0.0, 0.0, 1.0))


class HEFT_OT_throw(Simulating, bpy.types.Operator):
    """Throw a ball at the character and simulate: it hits the active bone, or the chest, on the current frame or as
    soon as it can, and comes from where you look"""

    bl_idname = "heft.throw"
    bl_label = "Throw a Ball"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    speed: FloatProperty(
        name="Speed (m/s)", description="How fast it comes, in metres a second", default=10.0, min=0.1, soft_max=40.0
    )
    mass: FloatProperty(
        name="Mass", description="What the ball weighs", default=5.0, min=0.001, soft_max=50.0, unit="MASS"
    )
    radius: FloatProperty(
        name="Radius (m)", description="Half as wide as the ball, in metres", default=0.12, min=0.001, soft_max=1.0
    )
    distance: FloatProperty(
        name="Distance (m)", description="From how far it comes, in metres", default=4.0, min=0.1, soft_max=20.0
    )
    angle: FloatProperty(
        name="From",
        description="Around the character: 0° from its front, 90° from its left, 180° from behind",
        subtype="ANGLE",
        soft_min=-math.pi,
        soft_max=math.pi,
    )
    frame: IntProperty(name="Frame", description="When it hits; later if it cannot be there so soon")
    bone: StringProperty(name="Bone", description="The bone that it hits; empty for the chest")
    ground: BoolProperty(
        name="Ground to Fall On",
        description="Put a ground under a character with feet, if its shot has none: else the ball falls for ever",
        default=True,
    )

    _thrown: throw_ball.Thrown | None = None
    lets_go_on = False  # an undo would delete the ball

    def invoke(self, context, event) -> set[str]:
        rig = active_rig(context)
        if not self.properties.is_property_set("frame"):
            self.frame = context.scene.frame_current
        bone = context.active_pose_bone
        if not self.properties.is_property_set("bone") and context.mode == "POSE" and bone in rig.pose.bones.values():
            self.bone = bone.name
        try:
            if not self.properties.is_property_set("angle"):
                self._look_along(context, session.check(rig))
            if bpy.app.background or context.window is None:
                return self.execute(context)
            self._throw(context, rig)
        except HeftError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        answer = super().invoke(context, event)
        if "CANCELLED" in answer:
            self._take_back()
        return answer

    def run(self, context, rig) -> set[str]:
        if not self.properties.is_property_set("frame"):
            self.frame = context.scene.frame_current
        self._throw(context, rig)
        try:
            return super().run(context, rig)
        except HeftError:
            self._take_back()
            raise

    def cancel(self, context) -> None:
        super().cancel(context)
        self._take_back()

    def draw(self, context) -> None:
        layout = self.layout
        layout.use_property_split = True
        for name in ("speed", "mass", "radius", "distance", "angle", "frame"):
            layout.prop(self, name)
        layout.prop(self, "ground")
        rig = active_rig(context)
        if rig is not None:
            layout.prop_search(self, "bone", rig.data, "bones")

    def _look_along(self, context, rig) -> None:
        """Set the direction: the ball comes from the side of the character that the view shows."""
        view = context.region_data if context.space_data and context.space_data.type == "VIEW_3D" else None
        if view is None:
            return
        stance = throw_ball.Stance(rig, context.scene, context.scene.frame_current)
        back = stance.reading.placement.vector_to_world(view.view_rotation @ TO_VIEWER)
        self.angle = throw_path.angle_of(stance.front(), back) or 0.0

    def _throw(self, context, rig) -> None:
        order = throw_ball.Order(
            self.angle, self.bone, self.frame, self.speed, self.distance, self.radius, self.mass, self.ground
        )
        with events.paused():
            self._thrown = throw_ball.throw(rig, context.scene, order)

    def _take_back(self) -> None:
        if self._thrown is not None:
            with events.paused():
                throw_ball.take_back(self._thrown)
            self._thrown = None

    def _tell(self, rig) -> None:
        self._tell_warnings(rig)
        thrown = self._thrown
        name, frame = thrown.ob.name, throw_ball.landed(thrown)
        if frame is None:
            self.report({"WARNING"}, f"'{name}' touches nothing on its way: its flight was changed, or it came to rest")
        elif frame < thrown.frame - 1:
            self.report({"WARNING"}, f"'{name}' is stopped on frame {frame}, before it reaches '{thrown.bone}'")
        elif rig.heft.undisturbed:
            self.report(
                {"WARNING"},
                f"'{name}' hits '{thrown.bone}' on frame {thrown.frame}, which does not give: it is Animated, or the "
                "Root is. Set it to Simulated, or the Root to Assisted",
            )
        else:
            words = reaction_settings.told(rig, thrown.brought, thrown.grounded)
            self.report({"INFO"}, f"'{name}' hits '{thrown.bone}' on frame {thrown.frame}: play the shot{words}")


CLASSES = (HEFT_OT_throw,)
