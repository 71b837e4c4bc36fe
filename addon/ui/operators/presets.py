"""Presets: named settings of a character or of its selected bones.

Owns how one is applied: all preset settings are reset, then those of the preset are set, as one undo step and one
simulation. The presets are Blender's own format: small scripts, ours in `presets/` and the user's in Blender's folder
for them. They hold the differences from Plain, the defaults. Must not know layout.
"""

import ast
from pathlib import Path
from typing import ClassVar

import bpy
from bl_operators.presets import AddPresetBase
from bpy.props import StringProperty

from ... import declare, events
from ...blender import compat
from ...read import read_controller
from ...settings import saved
from ...settings.bone import HeftBone
from ...settings.character import HeftArmature
from ...simulate import session
from .base import BoneOperator, PhysicsOperator, active_rig

FOLDER = Path(__file__).parents[2]
# How a character moves, not what it is (size, mass, limits) or meets (ground, colliders).
CHARACTER, BONE = declare.names(HeftArmature, preset=True), declare.names(HeftBone, preset=True)


class PresetOperator:
    """Base: applies a preset's script with events paused, and simulates once."""

    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    filepath: StringProperty(
        name="Preset", description="The preset's file", subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN"}
    )

    @classmethod
    def description(cls, _context, properties) -> str:
        return told(properties.filepath) or cls.__doc__

    def run(self, context, rig) -> set[str]:
        if not Path(self.filepath).is_file():
            self.report({"ERROR"}, f"There is no preset '{self.filepath}'.")
            return {"CANCELLED"}
        # a preset refers to the active object, which may be the character's mesh
        with events.paused(), context.temp_override(object=rig, active_object=rig):
            self.reset(context, rig)
            bpy.utils.execfile(self.filepath)
            self.spread(context, rig)
        events.setting_changed(rig)
        self.report({"INFO"}, f"{bpy.path.display_name(self.filepath, title_case=False)}: {told(self.filepath)}")
        return {"FINISHED"}

    def reset(self, context, rig) -> None:
        """Reset all preset settings to their defaults, before the script sets some."""
        raise NotImplementedError

    def spread(self, context, rig) -> None:
        """Copy to other bones: nothing to do here."""


class HEFT_OT_load_preset(PresetOperator, PhysicsOperator, bpy.types.Operator):
    """Give the character the settings that were saved under this name"""

    bl_idname = "heft.load_preset"
    bl_label = "Load Preset"

    def reset(self, context, rig) -> None:
        _reset(rig.heft, CHARACTER)

    def spread(self, context, rig) -> None:
        """A body that may fall gets a ground, unless the animator has chosen otherwise."""
        if read_controller.has_free_root(rig):
            session.prepare_fall(rig, context.scene)


class HEFT_OT_load_bone_preset(PresetOperator, BoneOperator, bpy.types.Operator):
    """Give the selected bones the settings that were saved under this name"""

    bl_idname = "heft.load_bone_preset"
    bl_label = "Load Bone Preset"

    def reset(self, context, rig) -> None:
        _reset(context.active_pose_bone.heft, BONE)

    def spread(self, context, rig) -> None:
        """Copy the active bone's settings to all selected bones."""
        active = context.active_pose_bone
        for bone in rig.pose.bones:
            if bone != active and compat.is_selected(bone):
                for name in BONE:
                    setattr(bone.heft, name, getattr(active.heft, name))


class HEFT_OT_add_preset(AddPresetBase, PhysicsOperator, bpy.types.Operator):
    """Save the character's controller and sliders under a name, or remove a preset of your own"""

    bl_idname = "heft.add_preset"
    bl_label = "Add Physics Preset"
    preset_menu = "HEFT_MT_presets"
    preset_subdir = "heft/character"
    preset_defines: ClassVar[list[str]] = ["heft = bpy.context.object.heft"]

    @property
    def preset_values(self) -> list[str]:
        """The lines of the script, as Blender's preset operator asks for them."""
        return [f"heft.{name}" for name in _changed(bpy.context.object.heft, CHARACTER)]

    def execute(self, context: bpy.types.Context) -> set[str]:
        rig = active_rig(context)
        with context.temp_override(object=rig, active_object=rig):
            return super().execute(context)


class HEFT_OT_add_bone_preset(AddPresetBase, BoneOperator, bpy.types.Operator):
    """Save the active bone's behaviour and multipliers under a name, or remove a preset of your own"""

    bl_idname = "heft.add_bone_preset"
    bl_label = "Add Bone Preset"
    preset_menu = "HEFT_MT_bone_presets"
    preset_subdir = "heft/bone"
    preset_defines: ClassVar[list[str]] = ["bone = bpy.context.active_pose_bone.heft"]

    @property
    def preset_values(self) -> list[str]:
        """The lines of the script, as Blender's preset operator asks for them."""
        return [f"bone.{name}" for name in _changed(bpy.context.active_pose_bone.heft, BONE)]


def _reset(group: bpy.types.PropertyGroup, names: tuple[str, ...]) -> None:
    """Set these settings to their defaults. They count as set by the user, so no guess replaces them."""
    defaults = saved.defaults(type(group))
    for name in names:
        setattr(group, name, defaults[name])


def _changed(group: bpy.types.PropertyGroup, names: tuple[str, ...]) -> list[str]:
    """The names of settings that differ from their defaults."""
    defaults = saved.defaults(type(group))
    return [name for name in names if getattr(group, name) != defaults[name]]


def told(path: str) -> str:
    """The preset's docstring, or else the values that it sets."""
    try:
        script = ast.parse(Path(path).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ""
    return ast.get_docstring(script) or ", ".join(_values(script))


def _values(script: ast.Module) -> list[str]:
    """ "settle time 0.2" of every line that sets one."""
    sets = (line for line in script.body if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant))
    named = ((line.targets[0].attr.replace("_", " "), line.value.value) for line in sets if _is_setting(line))
    return [f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}" for name, value in named]


def _is_setting(line: ast.Assign) -> bool:
    return isinstance(line.targets[0], ast.Attribute)


def register() -> None:
    """Register our folder of presets."""
    bpy.utils.register_preset_path(str(FOLDER))


def unregister() -> None:
    """Unregister it."""
    bpy.utils.unregister_preset_path(str(FOLDER))


CLASSES = (
    HEFT_OT_load_preset,
    HEFT_OT_load_bone_preset,
    HEFT_OT_add_preset,
    HEFT_OT_add_bone_preset,
)
