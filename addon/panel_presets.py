"""The pop-overs that list presets.

Own their layout, which is Blender's own for presets. Must not change data.
"""

import bpy
from bl_ui.utils import PresetPanel


class HEFT_PT_presets(PresetPanel, bpy.types.Panel):
    """Of a character: how it moves."""

    bl_label = "Presets"
    preset_subdir = "heft/character"
    preset_operator = "heft.load_preset"
    preset_add_operator = "heft.add_preset"


class HEFT_PT_bone_presets(PresetPanel, bpy.types.Panel):
    """Of the selected bones."""

    bl_label = "Bone Presets"
    preset_subdir = "heft/bone"
    preset_operator = "heft.load_bone_preset"
    preset_add_operator = "heft.add_bone_preset"


CLASSES = (HEFT_PT_presets, HEFT_PT_bone_presets)
