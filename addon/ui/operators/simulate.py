"""Operators: add, remove, simulate, show, flip and small helpers.

Owns reports and undo steps. Heft's errors become reports; all other exceptions are bugs and are raised.
"""

import time
from typing import ClassVar

import bpy
from bpy.props import EnumProperty, FloatProperty, StringProperty

from ....engine import HeftError
from ... import declare, events
from ...blender import compat
from ...blender.setting_paths import KEYABLE_PREFIX
from ...read import mend_frames, shot
from ...result import missed_keys, result_armature
from ...settings import SHOWN, has_physics
from ...settings.bone import HeftBone
from ...settings.keyable_bone import KEYABLE_ITEMS
from ...simulate import compile_engine, frame_rate, recordings, session
from .base import BoneOperator, PhysicsOperator, ResultOperator, active_rig, chosen_rigs, redraw

NOTHING_TO_SEE = (
    "Nothing disturbs this motion, so the result is the source: raise Heaviness, make a bone Limp, "
    "or let something hit it."
)
# The length of one modal tick, before the window is updated [s].
TICK = 0.05


class HEFT_OT_add(bpy.types.Operator):
    """Give the selected armatures physics: their bones become bodies, those that only help others ride along, and
    size and mass are guessed"""

    bl_idname = "heft.add"
    bl_label = "Add Physics"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        try:
            session.check(next(iter(chosen_rigs(context)), None))
        except HeftError as error:
            cls.poll_message_set(str(error).rstrip("."))
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        done = False
        # the active one last, so that its report remains visible
        for rig in reversed(chosen_rigs(context)):
            try:
                self._add(context, session.check(rig))
                done = True
            except HeftError as error:
                self.report({"ERROR"}, str(error))
        return {"FINISHED"} if done else {"CANCELLED"}

    @staticmethod
    def _look_at_recording(scene, rig, had: bool) -> None:
        """Report flaws of the recording, the first time also a possibly wrong frame rate."""
        try:
            reading = recordings.recording(rig, scene)
        except HeftError as error:
            rig.heft.flaws = str(error)
            return
        rig.heft.flaws = "\n".join(mend_frames.sentences(reading)) if reading is not None else ""
        if not had:
            frame_rate.look(rig, scene, reading)

    def _add(self, context, rig) -> None:
        had = has_physics(rig)
        with events.paused():
            session.add(rig, context.scene)
            self._look_at_recording(context.scene, rig, had)
        bodies = sum(bone.heft.behaviour != "IGNORED" for bone in rig.pose.bones)
        tall = session.height_in_meters(rig, context.scene)
        self.report(
            {"INFO"},
            f"{bodies} of {len(rig.pose.bones)} bones are bodies; the rig is taken as {tall:.3g} m and "
            f"{rig.heft.total_mass:.3g} kg",
        )


class HEFT_OT_remove(PhysicsOperator, bpy.types.Operator):
    """Take physics and its result off the armature; the file is left as it was found"""

    bl_idname = "heft.remove"
    bl_label = "Remove Physics"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def run(self, context, rig) -> set[str]:
        with events.paused():
            session.remove(rig)
        return {"FINISHED"}


class Simulating(PhysicsOperator):
    """Base of operators that simulate the shot: modal with progress in a window, at once from a script."""

    # The user may go on while the engine is being compiled, undo included.
    lets_go_on = True

    def run(self, context, rig) -> set[str]:
        with events.paused():
            session.simulate(rig, context.scene)
        self._tell(rig)
        return {"FINISHED"}

    def _tell(self, rig) -> None:
        self._tell_warnings(rig)
        if rig.heft.undisturbed:
            self.report({"INFO"}, NOTHING_TO_SEE)

    def _tell_warnings(self, rig) -> None:
        for warning in (*mend_frames.warnings(rig), *rig.heft.message.splitlines(), missed_keys.sentence(rig)):
            if warning:
                self.report({"WARNING"}, warning)

    def invoke(self, context, event) -> set[str]:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        try:
            rig = session.check(active_rig(context))
        except HeftError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if any(each.bl_idname == "HEFT_OT_simulate" for each in context.window.modal_operators):
            self.report({"INFO"}, "Simulate is pressed already: it starts once the engine is compiled")
            return {"CANCELLED"}
        events.hold()
        # By name: while it waits for the compiler, undo may replace all objects.
        self._rig, self._steps, self._label = rig.name, None, ""
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.01, window=context.window)
        manager.modal_handler_add(self)
        context.workspace.status_text_set("Heft: simulating, Esc cancels")
        return {"RUNNING_MODAL"}

    def modal(self, context, event) -> set[str]:
        if event.type == "ESC":
            self.cancel(context)
            self.report({"INFO"}, "Simulation cancelled; nothing was changed")
            return {"CANCELLED"}
        waiting = self._steps is None and self.lets_go_on
        if event.type != "TIMER":
            return {"PASS_THROUGH"} if waiting else {"RUNNING_MODAL"}
        try:
            with events.paused():
                result = self._work(context)
        except HeftError as error:
            self.cancel(context)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except BaseException:
            self.cancel(context)
            raise
        if result is None:
            return {"PASS_THROUGH"} if waiting else {"RUNNING_MODAL"}
        self._close(context)
        self._tell(bpy.data.objects[self._rig, None])
        return {"FINISHED"}

    def _work(self, context):
        """Work for one tick; returns the result once it is finished."""
        if compile_engine.is_running():
            context.workspace.status_text_set("Heft: compiling its engine (once after an update), Esc cancels")
            return None
        if self._steps is None:
            self._begin(context)
        end = time.perf_counter() + TICK
        while time.perf_counter() < end:
            try:
                step = next(self._steps)
            except StopIteration as stop:
                return stop.value
            if step.label != self._label:  # the next stage may take seconds: show it first
                self._label = step.label
                break
        context.window_manager.progress_update(100.0 * step.done)
        context.workspace.status_text_set(f"Heft: {step.label} {100.0 * step.done:.0f} %, Esc cancels")
        return None

    def _begin(self, context) -> None:
        """The engine is compiled: start."""
        rig = bpy.data.objects.get((self._rig, None))
        if rig is None:
            raise HeftError(f"'{self._rig}' is gone: it was removed while the engine was compiled.")
        self._steps = session.simulate_steps(rig, context.scene)
        context.window_manager.progress_begin(0.0, 100.0)

    def cancel(self, context) -> None:
        """Blender also calls this when it closes the window or loads another file."""
        if self._steps is not None:
            self._steps.close()
        self._close(context)

    def _close(self, context) -> None:
        events.release()
        manager = context.window_manager
        manager.event_timer_remove(self._timer)
        if self._steps is not None:
            manager.progress_end()
        context.workspace.status_text_set(None)
        redraw(context)


class HEFT_OT_simulate(Simulating, bpy.types.Operator):
    """Simulate the shot and show the result on the rig; the source's keys stay as they are. Characters that have
    one another among their colliders are simulated together, from whichever of them it is pressed"""

    bl_idname = "heft.simulate"
    bl_label = "Simulate"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}


class HEFT_OT_show(ResultOperator, bpy.types.Operator):
    """Show the source's or the result's motion on the rig"""

    bl_idname = "heft.show"
    bl_label = "Show"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    which: EnumProperty(name="Which", description="Which motion the rig shows", items=SHOWN, default="RESULT")

    def run(self, context, rig) -> set[str]:
        result_armature.show(rig, self.which)
        if self.which == "RESULT" and result_armature.standing_back(rig):
            self.report({"WARNING"}, "Another action than the simulated one is on the rig: simulate again")
        return {"FINISHED"}


class HEFT_OT_flip(ResultOperator, bpy.types.Operator):
    """Flip between the source's and the result's motion"""

    bl_idname = "heft.flip"
    bl_label = "Flip Source and Result"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def run(self, context, rig) -> set[str]:
        which = "SOURCE" if rig.heft.shown == "RESULT" else "RESULT"
        done = bpy.ops.heft.show(which=which)
        if done == {"FINISHED"}:
            self.report({"INFO"}, f"Shown: {which.lower()}")
            redraw(context)
        return done


class HEFT_OT_copy_to_selected(BoneOperator, bpy.types.Operator):
    """Copy the active bone's physics settings to all selected bones"""

    bl_idname = "heft.copy_to_selected"
    bl_label = "Copy to Selected Bones"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def run(self, context, rig) -> set[str]:
        active = context.active_pose_bone
        with events.paused():
            for bone in rig.pose.bones:
                if bone != active and compat.is_selected(bone):
                    for name in declare.names(HeftBone, copied=True, identity=False):
                        setattr(bone.heft, name, getattr(active.heft, name))
        events.setting_changed(rig)
        events.mix_changed(rig)
        return {"FINISHED"}


class HEFT_OT_key_selected(BoneOperator, bpy.types.Operator):
    """Key a setting of all selected bones on this frame, each with the value it has. Over the field itself, I keys the
    active bone alone"""

    bl_idname = "heft.key_selected"
    bl_label = "Key on Selected Bones"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    setting: EnumProperty(name="Setting", description="What is keyed", items=KEYABLE_ITEMS)

    def run(self, context, rig) -> set[str]:
        frame, count = context.scene.frame_current, 0
        for bone in context.selected_pose_bones:
            if has_physics(bone.id_data):
                bone.keyframe_insert(KEYABLE_PREFIX + self.setting, frame=frame, group=bone.name)
                count += 1
        self.report({"INFO"}, f"{count} bone{'s' if count != 1 else ''} keyed on frame {frame}")
        events.setting_changed(rig)
        return {"FINISHED"}


class HEFT_OT_set_size(PhysicsOperator, bpy.types.Operator):
    """Set Metres per Unit so that the rig is as tall as a person"""

    bl_idname = "heft.set_size"
    bl_label = "Make It Human-Sized"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    height: FloatProperty(
        name="Height",
        description="From the soles to the crown in metres; of a rig that is no person, its longest side",
        default=1.75,
        min=0.001,
    )

    def run(self, context, rig) -> set[str]:
        rig.heft.meters_per_unit *= self.height / session.height_in_meters(rig, context.scene)
        return {"FINISHED"}


class HEFT_OT_set_mass(PhysicsOperator, bpy.types.Operator):
    """Set the character's total mass"""

    bl_idname = "heft.set_mass"
    bl_label = "Set Total Mass"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    mass: FloatProperty(name="Mass", description="Of the whole character", default=70.0, min=0.001, unit="MASS")

    def run(self, context, rig) -> set[str]:
        rig.heft.total_mass = self.mass
        return {"FINISHED"}


class HEFT_OT_add_colliders(PhysicsOperator, bpy.types.Operator):
    """Let the character meet the selected objects: they are put into its colliders collection, made if there is none.
    Selected armatures with physics are simulated together with this one"""

    bl_idname = "heft.add_colliders"
    bl_label = "Add Selected as Colliders"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if not cls._chosen(context):
            cls.poll_message_set("Select mesh objects, or armatures with physics, together with this armature")
            return False
        return True

    @staticmethod
    def _chosen(context) -> list[bpy.types.Object]:
        rig = active_rig(context)
        return [ob for ob in context.selected_objects if ob.type == "MESH" or (ob != rig and has_physics(ob))]

    def run(self, context, rig) -> set[str]:
        chosen = self._chosen(context)
        with events.paused():
            added, skins = session.add_colliders(rig, context.scene, chosen)
        if skins:
            self.report({"WARNING"}, f"'{skins[0].name}' is a skin: its armature is what is simulated")
        self.report({"INFO"}, f"{len(added)} added to '{rig.heft.colliders.name}'")
        events.setting_changed(rig)
        return {"FINISHED"}


class HEFT_OT_remove_collider(PhysicsOperator, bpy.types.Operator):
    """Take the object out of the character's colliders"""

    bl_idname = "heft.remove_collider"
    bl_label = "Remove from Colliders"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    name: StringProperty(name="Object", description="The object's name")

    def run(self, context, rig) -> set[str]:
        ob = next((ob for ob in shot.colliders(rig) if ob.name == self.name), None)
        if ob is None:
            self.report({"ERROR"}, f"'{self.name}' is not among the colliders of '{rig.name}'.")
            return {"CANCELLED"}
        with events.paused():
            session.remove_collider(rig, ob)
        events.setting_changed(rig)
        return {"FINISHED"}


class HEFT_OT_fit_ground(PhysicsOperator, bpy.types.Operator):
    """Put the ground where the character's lowest point is in the whole shot: nothing of it reaches below"""

    bl_idname = "heft.fit_ground"
    bl_label = "Fit Ground"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def run(self, context, rig) -> set[str]:
        with events.paused():
            height = session.lowest_point(rig, context.scene)
            rig.heft.ground = True
        rig.heft.ground_height = height
        return {"FINISHED"}


CLASSES = (
    HEFT_OT_add,
    HEFT_OT_remove,
    HEFT_OT_simulate,
    HEFT_OT_show,
    HEFT_OT_flip,
    HEFT_OT_copy_to_selected,
    HEFT_OT_key_selected,
    HEFT_OT_set_size,
    HEFT_OT_set_mass,
    HEFT_OT_add_colliders,
    HEFT_OT_remove_collider,
    HEFT_OT_fit_ground,
)
