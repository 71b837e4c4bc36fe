"""Differences of Blender's versions: one function for each, the newest name first."""

from __future__ import annotations

import bpy


def is_selected(bone: bpy.types.PoseBone) -> bool:
    """Blender 5.0 moved the selection from the bone to the pose bone."""
    return bone.select if hasattr(bone, "select") else bone.bone.select
