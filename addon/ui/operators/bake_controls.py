"""Operators of Bake to Controls: find the controls, clear, save and load their list.

Owns reports and undo steps.
"""

from pathlib import Path
from typing import ClassVar

import bpy
from bpy.props import StringProperty

from ... import events
from ...bake import control_map
from ...bake.control_map import Control, Mapping, Switch
from ...errors import RigError
from ...result import result_armature
from .base import PhysicsOperator, active_rig


class HEFT_OT_find_controls(PhysicsOperator, bpy.types.Operator):
    """Try out which control turns which body, and list them for Bake to Controls; the rig is put back as it was"""

    bl_idname = "heft.find_controls"
    bl_label = "Find Controls"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def run(self, context, rig) -> set[str]:
        names = result_armature.body_names(rig)
        bodies = [
            bone.name for bone in rig.pose.bones if (bone.name in names if names else bone.heft.behaviour != "IGNORED")
        ]
        with events.paused(), result_armature.exposed(rig, "SOURCE"):
            mapping, _ = control_map.guess(rig, context.scene, bodies)
        control_map.store(rig, mapping)
        led = {entry.body for entry in mapping.controls}
        count = len({entry.control for entry in mapping.controls})
        self.report(
            {"INFO"}, f"{count} controls for {len(led)} of {len(bodies)} bodies, {len(mapping.switches)} switches"
        )
        return {"FINISHED"}


class HEFT_OT_clear_controls(PhysicsOperator, bpy.types.Operator):
    """Empty the list: Bake to Controls finds the controls by itself again"""

    bl_idname = "heft.clear_controls"
    bl_label = "Clear Controls"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def run(self, context, rig) -> set[str]:
        control_map.store(rig, Mapping((), ()))
        return {"FINISHED"}


class _FileOperator(PhysicsOperator):
    """Base of operators that open the file browser."""

    filepath: StringProperty(
        name="File", description="The file of controls", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def invoke(self, context, event) -> set[str]:
        if not self.filepath:
            self.filepath = f"{bpy.path.clean_name(active_rig(context).name)}_controls.json"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}


class HEFT_OT_save_controls(_FileOperator, bpy.types.Operator):
    """Save the list of controls and switches to a file, for other rigs of the same make"""

    bl_idname = "heft.save_controls"
    bl_label = "Save Controls"

    def run(self, context, rig) -> set[str]:
        if not len(rig.heft.controls):
            raise RigError("The list of controls is empty: press Find Controls, or add some.")
        path = Path(bpy.path.ensure_ext(bpy.path.abspath(self.filepath), ".json"))
        try:
            path.write_text(control_map.to_text(control_map.listed_on(rig)), encoding="utf-8")
        except OSError as error:
            raise RigError(f"'{path}' cannot be written ({error.strerror}): choose another file.") from None
        self.report({"INFO"}, f"Saved {len(rig.heft.controls)} entries to '{path.name}'")
        return {"FINISHED"}


class HEFT_OT_load_controls(_FileOperator, bpy.types.Operator):
    """Load a list of controls and switches; entries of bones or properties that this rig lacks are left out"""

    bl_idname = "heft.load_controls"
    bl_label = "Load Controls"
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def run(self, context, rig) -> set[str]:
        path = Path(bpy.path.abspath(self.filepath))
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RigError(f"'{path}' cannot be read ({error}): choose a file that Save Controls wrote.") from None
        mapping = control_map.from_text(text, path.name)
        fitting = _fitting(rig, mapping)
        if not fitting.controls:
            raise RigError(f"None of the controls in '{path.name}' is on '{rig.name}': it was saved for another make.")
        control_map.store(rig, fitting)
        left = len(mapping.controls) + len(mapping.switches) - len(fitting.controls) - len(fitting.switches)
        if left:
            self.report({"WARNING"}, f"{left} entries name bones or properties that '{rig.name}' lacks: left out")
        self.report({"INFO"}, f"Loaded {len(fitting.controls)} entries from '{path.name}'")
        return {"FINISHED"}


def _fitting(rig: bpy.types.Object, mapping: Mapping) -> Mapping:
    """The entries of a mapping whose bones and properties the rig has."""

    def has(entry: Control) -> bool:
        return entry.control in rig.pose.bones and entry.body in rig.pose.bones

    def resolves(switch: Switch) -> bool:
        try:
            return isinstance(rig.path_resolve(switch.path), (int, float))
        except ValueError:
            return False

    return Mapping(tuple(filter(has, mapping.controls)), tuple(filter(resolves, mapping.switches)))


CLASSES = (HEFT_OT_find_controls, HEFT_OT_clear_controls, HEFT_OT_save_controls, HEFT_OT_load_controls)
