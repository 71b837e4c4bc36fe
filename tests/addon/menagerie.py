"""Every real rig there is to try: recordings, skinned models and Rigify's eight animals, moving.

Owns how each is brought into an empty file and moved, and how far its result is from its source.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from pathlib import Path

import addon_utils
import bpy
import numpy as np

import rigs

# How far a result may be from its source: parts of the rig's height, and degrees.
OFFSET, ANGLE = 1e-4, 0.05
METARIGS = ("basic_human", "human", "basic_quadruped", "cat", "horse", "wolf", "bird", "shark")
RIGIFY_FRAMES = 40
# Rigify's controls that walk, and those that only turn; what is not named here is left at rest.
WALKING = re.compile(r"(hand|foot|paw|claw|wing|thigh|front_foot|front_toe)\w*_ik\.(?P<side>[LR])$")
TURNING = re.compile(
    r"(chest|hips|head|neck|jaw|torso|tail.*|spine_master|.*_fk(\.\d+)?(\.[LR])?|f_\w+|thumb.*|wing\w*|fin\w*|ear\w*)"
)
# What Blender makes of a control; keys on it would be lost.
MADE = ("DEF-", "ORG-", "MCH-", "VIS_", "WGT-")


def names() -> list[str]:
    """Every rig's name: `mocap/walk`, `rigs/robot`, `rigify/cat`. What is not on this machine is not named."""
    files = sorted((rigs.DATA / "mocap").glob("*.bvh")) + sorted((rigs.DATA / "rigs").glob("*.glb"))
    return [f"{path.parent.name}/{path.stem}" for path in files] + [f"rigify/{kind}" for kind in METARIGS]


def open_rig(name: str, folder: Path) -> None:
    """A file with the rig in it; `folder` is for files on the way."""
    kind, _, stem = name.partition("/")
    if kind == "mocap":
        open_recording(rigs.DATA / "mocap" / f"{stem}.bvh")
    elif kind == "rigs":
        rigs.open_skin(rigs.DATA / "rigs" / f"{stem}.glb", folder)
    else:
        generate(stem)


def open_recording(path: Path) -> bpy.types.Object:
    """A recording on the armature that Blender's importer makes for it, at its own frame rate and length."""
    rigs.new_file()
    bpy.ops.import_anim.bvh(filepath=str(path), update_scene_fps=True, update_scene_duration=True)
    rig, scene = bpy.context.object, bpy.context.scene
    scene.frame_start, scene.frame_end = (int(frame) for frame in rig.animation_data.action.frame_range)
    return rig


def generate(kind: str, frames: int = RIGIFY_FRAMES) -> bpy.types.Object:
    """A generated Rigify rig that walks and waves on its controls."""
    rigs.new_file()
    if addon_utils.enable("rigify", default_set=True) is None:
        raise RuntimeError("Rigify cannot be enabled in this Blender")
    getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
    metarig = bpy.context.object
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    bpy.data.objects.remove(metarig)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    for frame in range(1, frames + 1, 6):
        _key_controls(rig, frame)
    return rig


def _key_controls(rig: bpy.types.Object, frame: int) -> None:
    """One moment of a walk: feet and hands on circles, the trunk sways, all that turns does so by its own beat."""
    tall = rigs.height(rig)
    for i, bone in enumerate(rig.pose.bones):
        if bone.name.startswith(MADE):
            continue
        step = WALKING.search(bone.name)
        phase = 0.35 * frame + (math.pi if step and step["side"] == "R" else 0.0)
        if bone.name == "torso":
            bone.location = (0.0, -0.01 * tall * frame / 6.0, -0.02 * tall * (1.5 + math.sin(2.0 * phase)))
            bone.keyframe_insert("location", frame=frame)
        elif step:
            bone.location = (0.0, 0.08 * tall * math.cos(phase), 0.05 * tall * (1.0 + math.sin(phase)))
            bone.keyframe_insert("location", frame=frame)
        if not step and TURNING.fullmatch(bone.name):
            _turn(bone, 0.25 * math.sin(phase + i), frame, i % 3)


def _turn(bone: bpy.types.PoseBone, angle: float, frame: int, axis: int) -> None:
    path = "rotation_quaternion"
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = (math.cos(angle / 2), *(math.sin(angle / 2) * (k == axis) for k in range(3)))
    elif bone.rotation_mode == "AXIS_ANGLE":
        path = "rotation_axis_angle"
        bone.rotation_axis_angle = (angle, *(float(k == axis) for k in range(3)))
    else:
        path = "rotation_euler"
        bone.rotation_euler = [angle * (k == axis) for k in range(3)]
    bone.keyframe_insert(path, frame=frame)


def shots() -> Iterator[tuple[bpy.types.Object, str]]:
    """Each armature of the open file with each of its actions in turn, made active, the scene as long as the action."""
    from heft.addon.blender import actions

    scene = bpy.context.scene
    for rig in [ob for ob in scene.objects if ob.type == "ARMATURE" and len(ob.data.bones)]:
        bpy.context.view_layer.objects.active = rig
        for action in _actions_of(rig):
            if action is not None:
                slot = _slot_for(action, rig)
                actions.assign(rig, action, slot)
                first, last = action.frame_range
                scene.frame_start, scene.frame_end = math.floor(first), max(math.ceil(last), math.floor(first) + 1)
            yield rig, action.name if action is not None else ""


def _actions_of(rig: bpy.types.Object) -> list[bpy.types.Action | None]:
    data = rig.animation_data
    if data is None:
        return [None]
    found = [data.action] + [strip.action for track in data.nla_tracks for strip in track.strips]
    for track in data.nla_tracks:
        track.mute = True
    return list(dict.fromkeys(action for action in found if action is not None)) or [None]


def _slot_for(action: bpy.types.Action, rig: bpy.types.Object):
    """The action's slot that animates the rig, where actions have slots."""
    if not hasattr(action, "slots"):
        return None
    return next((slot for slot in action.slots if slot.target_id_type in {rig.id_type, "UNSPECIFIED"}), None)


def identity(rig: bpy.types.Object, ignoring: bool) -> tuple[float, float, str]:
    """Largest offset (parts of the height) and angle [degrees] of any bone on any frame, as Blender evaluates source
    and result, and where; `ignoring`: with a third of the bodies, drawn by lot, ignored."""
    frames = rigs.scene_frames()
    source = rigs.poses(rig, frames)
    bpy.ops.heft.add()
    rig.heft.heaviness = 0.0
    if ignoring:
        bodies = [bone for bone in rig.pose.bones if bone.heft.behaviour != "IGNORED"]
        for bone in random.Random(1).sample(bodies, len(bodies) // 3):
            bone.heft.behaviour = "IGNORED"
    assert bpy.ops.heft.simulate() == {"FINISHED"}
    shown = rigs.poses(rig, frames)
    offsets = np.linalg.norm(source[..., :3, 3] - shown[..., :3, 3], axis=-1) / rigs.height(rig)
    angles = np.degrees(rigs.angles(source[..., :3, :3], shown[..., :3, :3]))
    frame, bone = np.unravel_index(int(np.argmax(offsets / OFFSET + angles / ANGLE)), offsets.shape)
    return float(offsets.max()), float(angles.max()), f"'{rig.pose.bones[bone].name}' at {frames[frame]}"
