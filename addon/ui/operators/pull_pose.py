"""Pull Pose: drag a bone with the mouse and the body follows; the outcome is an ordinary pose.

Owns events, status bar texts, undo and auto keying. The pull itself is computed in `tools.pull_pose`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import ClassVar

import bpy
import numpy as np
from bpy.props import BoolProperty

from ....engine import HeftError
from ... import events
from ...result import result_armature
from ...settings import has_physics
from ...simulate import compile_engine, live, session
from ...tools import pick_bone, pull_pose, view_marks
from .base import RigOperator, active_rig

TEXT = "Pull Pose: drag a bone | P pin or free | G gravity: {gravity} | Shift slower | Enter done | Esc {esc}"
PULLING = "Pulling '{bone}' | G gravity: {gravity} | wheel nearer, farther | Shift slower | Esc takes it back"
# The part of the mouse's motion that the pulled point follows while Shift is held.
SLOW = 0.1
# A step of the mouse wheel moves the pulled point by this share of its distance from the camera.
WHEEL = 0.03
TICK = 1.0 / 60.0
# Events that navigate the view in any operator.
NAVIGATION = {
    "MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE", "TRACKPADPAN", "TRACKPADZOOM", "NDOF_MOTION", "NUMPAD_0",
    "NUMPAD_1", "NUMPAD_2", "NUMPAD_3", "NUMPAD_4", "NUMPAD_5", "NUMPAD_6", "NUMPAD_7", "NUMPAD_8", "NUMPAD_9",
    "NUMPAD_PERIOD", "NUMPAD_PLUS", "NUMPAD_MINUS",
}  # fmt: skip


class MouseOperator(RigOperator):
    """Base of modal operators that drag bones in a 3D View, once or repeatedly."""

    def begin(self, context) -> None:
        """Add the modal handler. Blender frees an operator that ends at once but not its handler, so everything that
        may fail comes before this."""
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        self._marks = view_marks.Marks(self.lines, context.scene)
        events.hold()
        self._closed = False
        context.window_manager.modal_handler_add(self)
        context.window.cursor_modal_set("SCROLL_XY")
        self._seen = self._sight(context)

    @property
    def rig(self) -> bpy.types.Object | None:
        """The rig, looked up each time: undo replaces the object."""
        return bpy.data.objects.get((self._rig_name, None))

    def close(self, context) -> None:
        """Remove all handlers, once, whatever goes wrong."""
        if self._closed:
            return
        self._closed = True
        with ExitStack() as last:  # called from the last to the first
            last.callback(live.follow_soon)  # edits made meanwhile were not checked
            last.callback(events.release)
            last.callback(context.window_manager.event_timer_remove, self._timer)
            last.callback(self._marks.remove)
            last.callback(self._be_silent, context)
            last.callback(self.put_back)

    def put_back(self) -> None:
        """Undo what `prepare` did."""

    def _be_silent(self, context) -> None:
        """Clear the status bar. Window and area may no longer exist."""
        if context.window is not None:
            context.window.cursor_modal_restore()
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        self._head(context, None)

    def _head(self, context, text: str | None) -> None:
        """Set the view's header text, if the area still exists."""
        screen = context.window.screen if context.window is not None else None
        if screen is not None and any(area == self._area for area in screen.areas):
            self._area.header_text_set(text)
            self._area.tag_redraw()

    def say(self, context, text: str) -> None:
        self._head(context, text)
        context.workspace.status_text_set(text)

    def invoke(self, context, event) -> set[str]:
        self._area, self._drag, self._closed, self._rig_name = context.area, None, True, ""
        if self._area is None or self._area.type != "VIEW_3D":
            self.report({"ERROR"}, "Pull in a 3D View: there is none under the mouse.")
            return {"CANCELLED"}
        if not compile_engine.is_posing_ready():
            self.report(
                {"WARNING"}, "Heft is still preparing its engine (once after an update): try again in a moment."
            )
            return {"CANCELLED"}
        begun = False
        try:
            self._rig_name = session.check(active_rig(context)).name
            self.prepare(context, self.rig)
            self._view = pick_bone.View.under(context.window.screen, event)
            if not self.once:
                self.tell(context)
            if not self.once or (self._view is not None and self.take(context, event)):
                self.begin(context)
                begun = True
        except HeftError as error:
            self.report({"ERROR"}, str(error))
        finally:
            if not begun:
                self.put_back()
        return {"RUNNING_MODAL"} if begun else {"CANCELLED"}

    def modal(self, context, event) -> set[str]:
        if self._closed:  # ended by an error
            return {"CANCELLED"}
        try:
            return self._modal(context, event)
        except HeftError as error:
            self.report({"ERROR"}, str(error))
        except BaseException:
            self.cancel(context)
            raise
        self.cancel(context)
        return {"CANCELLED"}

    def _modal(self, context, event) -> set[str]:
        if self.rig is None:
            self.close(context)
            return {"CANCELLED"}
        if self._drag is not None:
            return self._dragging(context, event)
        if event.type == "TIMER":
            self._look_again(context)
            return {"PASS_THROUGH"}
        # Areas and regions may change while nothing is dragged.
        view = pick_bone.View.under(context.window.screen, event)
        if view is None:
            return {"PASS_THROUGH"}
        self._view = view
        if view.area != self._area:
            self._head(context, None)
            self._area = view.area
            self.tell(context)
        # grabbing again at once comes as a double click
        if event.value not in {"PRESS", "DOUBLE_CLICK"} or event.type in NAVIGATION or event.ctrl or event.oskey:
            return {"PASS_THROUGH"}
        if event.type in {"ESC", "RIGHTMOUSE", "RET", "NUMPAD_ENTER", "SPACE"}:
            self.close(context)
            return {"FINISHED"}
        if event.type == "LEFTMOUSE":
            self._tried(self.take, context, event)
        elif not self._tried(self.other_key, context, event):
            return {"PASS_THROUGH"}
        return {"RUNNING_MODAL"}

    def _look_again(self, context) -> None:
        """Look at the pose again after a frame change, but not during playback."""
        if self._seen != self._sight(context) and not context.window.screen.is_animation_playing:
            self._seen = self._sight(context)
            self.tell(context)

    def _sight(self, context) -> tuple:
        """Values that change with the frame, or when undo replaces the objects."""
        return context.scene.frame_current, self.rig.as_pointer()

    def _dragging(self, context, event) -> set[str]:
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            self.take_back(context)
            return self._after(context, {"CANCELLED"})
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self.let_go(context)
            return self._after(context, {"FINISHED"})
        self.go_on(context, event)
        return {"RUNNING_MODAL"}

    def _after(self, context, done: set[str]) -> set[str]:
        self._drag = None
        if self.once:
            self.close(context)
            return done
        self.tell(context)
        return {"RUNNING_MODAL"}

    def _tried(self, act: Callable, context, event) -> bool:
        """Returns True if something was done or refused with a message."""
        try:
            return act(context, event)
        except HeftError as error:
            self.report({"ERROR"}, str(error))
            return True

    def cancel(self, context) -> None:
        """Blender also calls this when it closes the window or loads another file."""
        try:
            if self._drag is not None and self.rig is not None:
                self.take_back(context)
        except HeftError as error:
            self.report({"ERROR"}, str(error))
        finally:
            self._drag = None
            self.close(context)


class HEFT_OT_pull_pose(MouseOperator, bpy.types.Operator):
    """Pose by pulling: drag a bone with the mouse and the body follows as its masses and joints let it. Feet on the
    ground and pinned bones stay. Works on the source's pose, with and without physics"""

    bl_idname = "heft.pull_pose"
    bl_label = "Pull Pose"
    bl_options: ClassVar[set[str]] = {"REGISTER"}

    _was_result = False

    once: BoolProperty(
        name="Once", description="Pull the bone under the mouse, and no other after it", options={"SKIP_SAVE"}
    )
    gravity: BoolProperty(name="Gravity", description="The joints are limp: what is not held hangs")

    def execute(self, context) -> set[str]:
        self.report({"ERROR"}, "Pull Pose works with the mouse in a 3D View.")
        return {"CANCELLED"}

    def prepare(self, context, rig) -> None:
        """Show the source, because its pose is edited."""
        self._pinned: list[np.ndarray] = []
        self._posed = False
        self._was_result = has_physics(rig) and result_armature.is_visible(rig)
        if self._was_result:
            with events.paused():
                result_armature.show(rig, "SOURCE")
            context.view_layer.update()
            self.report({"INFO"}, "The source is shown: poses are made on it")

    def _look(self, context) -> None:
        """Update the pins. Raises an error if the rig cannot be pulled."""
        self._note_pins(pull_pose.Pull(self.rig, context.scene, context.evaluated_depsgraph_get()))

    def _note_pins(self, pull: pull_pose.Pull) -> None:
        self._pinned = [pull.place_of(body) for body in pull.pinned()]

    def put_back(self) -> None:
        """If nothing was changed, everything is restored."""
        rig = self.rig
        if self._was_result and not self._posed and has_physics(rig):
            self._was_result = False
            with events.paused():
                result_armature.show(rig, "RESULT")

    def tell(self, context) -> None:
        self._look(context)
        esc = "leaves the tool"
        self.say(context, TEXT.format(gravity="on" if self.gravity else "off", esc=esc))

    def take(self, context, event) -> bool:
        graph = context.evaluated_depsgraph_get()
        rig, mouse = self.rig, self._view.mouse(event)
        picked = pick_bone.pick(rig, graph, self._view, mouse)
        if picked is None:
            if self.once:
                self.report({"INFO"}, "No bone is under the mouse")
            return False
        pull = pull_pose.Pull(rig, context.scene, graph)
        self._note_pins(pull)
        pull.grab(picked.bone, picked.point)
        pull.set_gravity(self.gravity)
        self._drag = pull
        self._mouse, self._target, self._changed = mouse, picked.point.copy(), True
        self._say_pulling(context)
        return True

    def _say_pulling(self, context) -> None:
        gravity = "on" if self.gravity else "off"
        self.say(context, PULLING.format(bone=self._drag.grabbed, gravity=gravity))

    def go_on(self, context, event) -> None:
        if event.type in {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE"}:
            mouse = self._view.mouse(event)
            # in the view plane through the mouse's point, not the bone's
            now, before = (self._view.in_plane(spot, self._target) for spot in (mouse, self._mouse))
            self._target = self._target + (now - before) * (SLOW if event.shift else 1.0)
            self._mouse, self._changed = mouse, True
        elif event.type in {"WHEELUPMOUSE", "WHEELDOWNMOUSE"}:
            sign = 1.0 if event.type == "WHEELUPMOUSE" else -1.0
            self._target = self._target + sign * WHEEL * self._distance() * self._view.ahead(self._target)
            self._changed = True
        elif event.type == "G" and event.value == "PRESS":
            self._switch_gravity()
            self._drag.set_gravity(self.gravity)
            self._changed = True
            self._say_pulling(context)
        elif event.type == "TIMER" and self._changed:
            # once a timer tick, however often the mouse reports
            self._changed = not self._drag.pull(self._target)
            self._area.tag_redraw()

    def _distance(self) -> float:
        eye = np.array(self._view.data.view_matrix.inverted().translation)
        return (
            float(np.linalg.norm(self._target - eye))
            if self._view.data.is_perspective
            else float(self._view.data.view_distance)
        )

    def _switch_gravity(self) -> None:
        self.gravity = not self.gravity

    def other_key(self, context, event) -> bool:
        if event.type == "G":
            self._switch_gravity()
            self.tell(context)
            return True
        if event.type == "P":
            graph = context.evaluated_depsgraph_get()
            picked = pick_bone.pick(self.rig, graph, self._view, self._view.mouse(event))
            if picked is not None:
                pull = pull_pose.Pull(self.rig, context.scene, graph)
                body = pull.body_of(picked.bone)
                word = "pinned" if pull.switch_pin(picked.bone) else "free"
                self.report({"INFO"}, f"'{body}' is {word}")
                bpy.ops.ed.undo_push(message="Pin Bone")
                self.tell(context)
            return True
        return False

    def let_go(self, context) -> None:
        if self._changed:
            self._drag.pull(self._target)
        self._drag.key()
        if self._drag.moved():
            self._posed = True
            context.view_layer.update()
            bpy.ops.ed.undo_push(message="Pull Pose")

    def take_back(self, context) -> None:
        self._drag.cancel()

    def lines(self) -> list[view_marks.Line]:
        """The pins, and the line from the grabbed point to its target."""
        found = [view_marks.Line("pin", place, place) for place in self._pinned]
        if self._drag is not None:
            found.append(view_marks.Line("pull", self._drag.grabbed_at(), self._target))
        return found


CLASSES = (HEFT_OT_pull_pose,)
