"""What the tests ask inside Blender: keys as checksums, and all that an animator would miss.

Sent to the inspector as it stands, before the first question.
"""

import pickle
import sys
import zlib
from pathlib import Path

import bpy
import numpy as np

import state  # tests/addon/state.py


def curves(action):
    """The curves of an action, whichever way this Blender keeps them."""
    if action is None:
        return []
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
    return [curve for bag in bags for curve in bag.fcurves]


def keys(action) -> int:
    """A checksum of all keys; 0 without any."""
    total = 0
    for curve in curves(action):
        places = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", places)
        total = zlib.crc32(places, total)
    return total


def rig():
    """The armature with physics, or the only one there is."""
    rigs = [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE"]
    return next((ob for ob in rigs if ob.is_property_set("heft")), rigs[0])


def result() -> int:
    """A checksum of the result's keys."""
    held = rig().heft_result
    return keys(held.animation_data.action) if held and held.animation_data else 0


def source() -> dict:
    """The checksums of all actions but Heft's own."""
    return {action.name: keys(action) for action in bpy.data.actions if not action.name.endswith("result")}


def shape() -> list:
    """What a drag changes."""
    return [rig().heft.enabled, round(rig().heft.settle_time, 6), rig().heft.live, result()]


def shown() -> str:
    """Which motion the rig has: its bones follow the result or they do not."""
    held = any(constraint.name.startswith("Heft") for bone in rig().pose.bones for constraint in bone.constraints)
    return f"{rig().heft.shown} {'on' if held else 'off'}"


def busy() -> bool:
    """Is one of Heft's commands at work in the window?"""
    window = bpy.context.window_manager.windows[0]
    return any(operator.bl_idname.startswith("HEFT_OT_") for operator in window.modal_operators)


def running() -> bool:
    """Is Heft still compiling?"""
    return _module("simulate.compile_engine").is_running()


def idle() -> bool:
    """Has Heft nothing left to do?"""
    return not busy() and not _module("simulate.jobs").any_left()


def _module(name: str):
    return sys.modules[f"bl_ext.user_default.heft.addon.{name}"]


def remember(path: str) -> None:
    """Keep all of the file that an animator would miss."""
    Path(path).write_bytes(pickle.dumps(state.snapshot(rig(), pose=False)))


def changes(path: str) -> list:
    """What of it is different now."""
    return state.difference(pickle.loads(Path(path).read_bytes()), state.snapshot(rig(), pose=False))


def poses(path: str, first: int, last: int) -> None:
    """Keep where every bone, and the ball if there is one, is on these frames, in the world: (frames, places, 3)."""
    scene, out = bpy.context.scene, []
    kept = scene.frame_current
    for frame in range(first, last + 1):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        held = rig().evaluated_get(graph)
        places = [held.matrix_world @ bone.tail for bone in held.pose.bones]
        if "Ball" in scene.objects:
            places.append(scene.objects["Ball"].evaluated_get(graph).matrix_world.translation.copy())
        out.append(places)
    scene.frame_set(kept)
    np.save(path, np.array(out))
