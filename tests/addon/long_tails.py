"""Armatures whose bones are drawn absurdly long or short, as importers leave them."""

from __future__ import annotations

import bpy
from mathutils import Matrix


def scale_tails(rig: bpy.types.Object, times: float, leaves_only: bool = False) -> None:
    """Draw bones that many times as long. Heads, axes and whatever hangs on a bone stay where they are; connected
    bones are disconnected, also at 1."""
    before = {bone.name: bone.length for bone in rig.data.bones}
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in rig.data.edit_bones:
        bone.use_connect = False
    for bone in rig.data.edit_bones:
        if not leaves_only or not bone.children:
            bone.length *= times
    bpy.ops.object.mode_set(mode="OBJECT")
    for child in rig.children:
        bone = rig.data.bones.get(child.parent_bone) if child.parent_type == "BONE" else None
        if bone is not None and not bone.use_relative_parent:
            # Objects hang on a bone's tail.
            shift = Matrix.Translation((0.0, before[bone.name] - bone.length, 0.0))
            child.matrix_parent_inverse = shift @ child.matrix_parent_inverse
    bpy.context.view_layer.update()
