"""Nudge: drag a bone of the shown result on a frame; the push stays in the list.

Owns events, status bar texts and undo. The strength of a drag is computed in `tools.nudge`.
"""

from __future__ import annotations

from typing import ClassVar

import bpy
import numpy as np
from bpy.props import BoolProperty
from mathutils import Vector

from ... import events
from ...rig import first_guess, physical_ends
from ...simulate import session
from ...tools import nudge, pick_bone, reaction_settings, throw_ball, view_marks
from .base import PhysicsOperator
from .pull_pose import MouseOperator

TEXT = "Nudge: drag a bone, it is thrown that way on frame {frame} | Shift finer | Enter done | Esc leaves the tool"
AIMING = "Nudge '{bone}' on frame {frame}: {impulse:.3g} N s | Shift finer | Esc takes it back"
SLOW = 0.1
# Shorter drags are clicks [pixels].
CLICK = 4.0


class HEFT_OT_nudge(MouseOperator, PhysicsOperator, bpy.types.Operator):
    """Throw a limb of the shown result: drag a bone on the current frame, the longer the harder. The push appears in
    the list of pushes, where it can be edited, and the shot is simulated again"""

    bl_idname = "heft.nudge"
    bl_label = "Nudge"
    bl_options: ClassVar[set[str]] = {"REGISTER"}

    once: BoolProperty(
        name="Once", description="Throw the bone under the mouse, and no other after it", options={"SKIP_SAVE"}
    )

    def execute(self, context) -> set[str]:
        self.report({"ERROR"}, "Nudge works with the mouse in a 3D View; a push can also be added to the list.")
        return {"CANCELLED"}

    def prepare(self, context, rig) -> None:
        nudge.check(rig, context.scene)

    def tell(self, context) -> None:
        self.say(context, TEXT.format(frame=context.scene.frame_current))

    def take(self, context, event) -> bool:
        rig, scene = self.rig, context.scene
        nudge.check(rig, scene)
        self._reading = nudge.reading_of(rig, scene)
        mouse = self._view.mouse(event)
        graph = context.evaluated_depsgraph_get()
        picked = pick_bone.pick(rig, graph, self._view, mouse, set(self._reading.spots))
        if picked is None:
            return False
        self._before = rig.heft.push_index
        with events.paused():
            self._brought, self._grounded = reaction_settings.prepare(rig), throw_ball.lay_ground(rig, scene)
        self._drag = nudge.add(rig, picked.bone, picked.share, scene.frame_current)
        self._picked, self._start, self._mouse = picked, mouse, mouse
        self._tip = picked.point.copy()
        self._impulse, self._changed, self._simulated = 0.0, False, False
        self._say_aim(context)
        return True

    def _say_aim(self, context) -> None:
        frame = context.scene.frame_current
        self.say(context, AIMING.format(bone=self._picked.bone, frame=frame, impulse=self._impulse))

    def go_on(self, context, event) -> None:
        rig = self.rig
        if event.type in {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE"}:
            mouse = self._view.mouse(event)
            now, before = (self._view.in_plane(spot, self._picked.point) for spot in (mouse, self._mouse))
            self._tip = self._tip + (now - before) * (SLOW if event.shift else 1.0)
            self._mouse = mouse
            way = self._tip - self._picked.point
            length = float(np.linalg.norm(way)) / first_guess.units_in_rig(rig)
            self._impulse = nudge.newton_seconds(self._reading, self._picked.bone, length)
            nudge.aim(rig, self._drag, way, self._impulse)
            self._changed = True
            self._say_aim(context)
        elif event.type == "TIMER" and self._changed and rig.heft.live:
            self._simulate(rig)

    def _simulate(self, rig) -> None:
        """Simulate now, not as a job: the result shown must match the arrow."""
        with events.paused():
            session.simulate(rig, bpy.context.scene, fresh=False)
        self._changed, self._simulated = False, True
        self._area.tag_redraw()

    def let_go(self, context) -> None:
        rig = self.rig
        if np.linalg.norm(np.subtract(self._mouse, self._start)) < CLICK:
            self.take_back(context)
            return
        if self._changed:
            self._simulate(rig)
        bpy.ops.ed.undo_push(message="Nudge")
        push = rig.heft.pushes[self._drag]
        words = reaction_settings.told(rig, self._brought, self._grounded)
        self.report(
            {"INFO"}, f"Push {self._drag + 1} on '{push.bone}': {push.impulse:.3g} N s on frame {push.frame}{words}"
        )

    def take_back(self, context) -> None:
        rig = self.rig
        index, self._drag = self._drag, None  # once, also if the rest fails
        nudge.remove(rig, index, self._before)
        with events.paused():
            reaction_settings.take_back(rig, self._brought)
            if self._grounded:
                throw_ball.lift_ground(rig)
        if self._simulated:
            self._simulate(rig)

    def lines(self) -> list[view_marks.Line]:
        """The arrow that is being drawn, and the other pushes on this frame."""
        rig, found = self.rig, []
        if rig is None:
            return found
        scene = bpy.context.scene
        shown = session.last_shown(rig)
        graph = bpy.context.evaluated_depsgraph_get()
        evaluated = rig.evaluated_get(graph)
        ways = physical_ends.vectors(rig, scene) if len(rig.heft.pushes) else {}
        for i, push in enumerate(rig.heft.pushes):
            bone = evaluated.pose.bones.get(push.bone)
            if i == self._drag or push.frame != scene.frame_current or bone is None or shown is None:
                continue
            if push.bone not in shown.reading.spots:
                continue
            share = push.place if push.use_place else 0.5
            way = Vector(ways[push.bone])
            start = np.array(evaluated.matrix_world @ bone.matrix @ (share * way))
            unit = nudge.newton_seconds(shown.reading, push.bone, 1.0)
            length = push.impulse / max(unit, 1e-12) * first_guess.units_in_rig(rig)
            way = np.array(push.direction)
            way = way / max(float(np.linalg.norm(way)), 1e-12) * length
            found.append(view_marks.Line("old push", start, start + way))
        if self._drag is not None:
            found.append(view_marks.Line("push", self._picked.point, self._tip))
        return found


CLASSES = (HEFT_OT_nudge,)
