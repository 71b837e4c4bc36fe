"""Missed physical keys: list on the rig, sentence for the report, jump to the frame.

Owns `ob.heft.misses`. Must not know why a key was missed.
"""

from __future__ import annotations

import math

import bpy

from ...engine import Arrivals
from ..errors import RigError


def write(rig: bpy.types.Object, arrivals: Arrivals | None) -> None:
    """Replace the list by the keys that the last simulation missed, the worst first."""
    kept = rig.heft.misses
    kept.clear()
    for bone, frame, degrees in arrivals.missed() if arrivals is not None else ():
        miss = kept.add()
        miss.bone, miss.frame, miss.degrees = bone, frame, degrees
    rig.heft.miss_index = 0


def sentence(rig: bpy.types.Object) -> str:
    """A sentence on the missed keys; empty if there are none."""
    kept = rig.heft.misses
    if not len(kept):
        return ""
    worst = kept[0]
    count = "One key is" if len(kept) == 1 else f"{len(kept)} keys are"
    return (
        f"{count} missed, the worst by '{worst.bone}': {worst.degrees:.1f}° at frame {worst.frame:.4g}. Raise Strength "
        "or give it more time."
    )


def go_to(rig: bpy.types.Object, scene: bpy.types.Scene, index: int) -> None:
    """Show a missed key: go to its frame and select its bone alone in Pose Mode."""
    kept = rig.heft.misses
    if not 0 <= index < len(kept):
        raise RigError(f"There is no missed key number {index + 1}: simulate again.")
    miss = kept[index]
    bone = rig.pose.bones.get(miss.bone)
    if bone is None:
        raise RigError(f"The bone '{miss.bone}' of the missed key is gone: simulate again.")
    rig.heft.miss_index = index
    whole = math.floor(miss.frame)
    scene.frame_set(whole, subframe=miss.frame - whole)
    if rig.mode != "POSE":
        bpy.ops.object.mode_set(mode="POSE")
    for each in rig.pose.bones:
        _select(each, each == bone)
    rig.data.bones.active = bone.bone


def _select(bone: bpy.types.PoseBone, on: bool) -> None:
    """Blender 5.0 moved the selection from the bone to the pose bone."""
    holder = bone if hasattr(bone, "select") else bone.bone
    holder.select = on
