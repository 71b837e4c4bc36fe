"""The menus that list presets. They are menus because a menu closes after a choice and a pop-over does not.

Own their layout. Must not change data.
"""

from __future__ import annotations

from pathlib import Path

import bpy

from ..operators.presets import FOLDER


class PresetMenu:
    """Ours and the user's own presets, and how one is saved or removed."""

    # The folder below Blender's folders for presets, the operator that applies one, and the one that saves one.
    preset_subdir = ""
    preset_operator = ""
    save_operator = ""
    remove_menu = ""

    def draw(self, _context: bpy.types.Context) -> None:
        self.path_menu(bpy.utils.preset_paths(self.preset_subdir), self.preset_operator, filter_ext=_is_script)
        layout = self.layout
        layout.separator()
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator(self.save_operator, text="Save as Preset…", icon="ADD")
        if own_presets(self.preset_subdir):
            layout.menu(self.remove_menu, icon="REMOVE")


class RemoveMenu:
    """Base: the user's own presets; a click removes one."""

    bl_label = "Remove Preset"
    preset_subdir = ""
    save_operator = ""

    def draw(self, _context: bpy.types.Context) -> None:
        self.layout.operator_context = "EXEC_DEFAULT"
        for path in own_presets(self.preset_subdir):
            name = bpy.path.display_name(path.stem, title_case=False)
            button = self.layout.operator(self.save_operator, text=name)
            button.remove_name, button.name = True, name


def own_presets(subdir: str) -> list[Path]:
    """The files of the user's own presets, by name."""
    folders = [Path(folder) for folder in bpy.utils.preset_paths(subdir)]
    own = [folder for folder in folders if FOLDER not in folder.parents]
    return sorted(path for folder in own if folder.is_dir() for path in folder.glob("*.py"))


def _is_script(extension: str) -> bool:
    return extension.lower() == ".py"


class HEFT_MT_presets(PresetMenu, bpy.types.Menu):
    """Of a character: how it moves. The search finds them by name."""

    bl_label = "Presets"
    bl_idname = "HEFT_MT_presets"
    preset_subdir = "heft/character"
    preset_operator = "heft.load_preset"
    save_operator = "heft.add_preset"
    remove_menu = "HEFT_MT_remove_preset"


class HEFT_MT_remove_preset(RemoveMenu, bpy.types.Menu):
    """Of a character."""

    bl_idname = "HEFT_MT_remove_preset"
    preset_subdir = "heft/character"
    save_operator = "heft.add_preset"


class HEFT_MT_bone_presets(PresetMenu, bpy.types.Menu):
    """Of the selected bones."""

    bl_label = "Bone Presets"
    bl_idname = "HEFT_MT_bone_presets"
    preset_subdir = "heft/bone"
    preset_operator = "heft.load_bone_preset"
    save_operator = "heft.add_bone_preset"
    remove_menu = "HEFT_MT_remove_bone_preset"


class HEFT_MT_remove_bone_preset(RemoveMenu, bpy.types.Menu):
    """Of bones."""

    bl_idname = "HEFT_MT_remove_bone_preset"
    preset_subdir = "heft/bone"
    save_operator = "heft.add_bone_preset"


CLASSES = (HEFT_MT_presets, HEFT_MT_remove_preset, HEFT_MT_bone_presets, HEFT_MT_remove_bone_preset)
