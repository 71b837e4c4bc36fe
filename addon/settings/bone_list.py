"""The active bone as the index of a list: its index among the rig's bones.

Owns how a click in the list selects. Nothing is stored.
"""

import bpy
from bpy.props import IntProperty

from ..declare import settings_group, unsaved


def _get(heft: bpy.types.PropertyGroup) -> int:
    rig = heft.id_data
    active = rig.data.bones.active if rig.type == "ARMATURE" else None
    return -1 if active is None else rig.pose.bones.find(active.name)


def _set(heft: bpy.types.PropertyGroup, index: int) -> None:
    rig = heft.id_data
    if not 0 <= index < len(rig.pose.bones):
        return
    chosen = rig.pose.bones[index]
    rig.data.bones.active = chosen.bone
    for bone in rig.pose.bones:
        # Blender 5.0 moved the selection from the bone to the pose bone.
        (bone if hasattr(bone, "select") else bone.bone).select = bone == chosen


@settings_group(manual="bones.html")
class BoneList:
    """Part of `Object.heft`."""

    bone_index: unsaved(
        IntProperty,
        name="Active Bone",
        description="The bone whose settings are shown; a click makes it the active and only selected one",
        get=_get,
        set=_set,
        options={"SKIP_SAVE"},
        hidden=False,
    )
