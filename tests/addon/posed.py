"""What tests of Pull Pose look at: where a bone is, what its channels hold, a region of the screen."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np


def graph():
    bpy.context.view_layer.update()
    return bpy.context.evaluated_depsgraph_get()


def world(rig, bone: str, end: str = "head") -> np.ndarray:
    """Where Blender itself has a bone's end, by its own evaluation."""
    shown = rig.evaluated_get(graph())
    return np.array(shown.matrix_world @ getattr(shown.pose.bones[bone], end))


def channels(rig) -> dict:
    return {bone.name: [*bone.location, *bone.rotation_quaternion, *bone.rotation_euler, *bone.rotation_axis_angle,
                        *bone.scale] for bone in rig.pose.bones}  # fmt: skip


def region(kind: str, x: int, y: int, width: int, height: int):
    return SimpleNamespace(type=kind, x=x, y=y, width=width, height=height, data=f"{kind} {x} {y}")
