"""Overlay: joint limits of the selected bones in Pose Mode, or of all bones."""

from __future__ import annotations

import bpy
import numpy as np

from ....engine.math import rotations
from . import shapes
from .overlay_input import Sight
from .primitives import LIMITS, Piece, Places, Wires, with_alpha


def pieces(sight: Sight) -> list[Piece]:
    """Cones and arcs at the joints."""
    built = shapes.built(sight.rig)
    pose = shapes.posed(sight, built.names) if built is not None else None
    if pose is None or not len(built.limits.segments):
        return []
    world, poses, order = pose
    if "rests" not in sight.scratch:
        sight.scratch["rests"] = _rests(sight.rig)
    rests, above = sight.scratch["rests"]
    parents = above[order]
    for body in built.joints:
        parents[body] = order[built.parents[body]]
    steps = np.where((parents >= 0)[:, None, None], rotations.inverse(rests[parents]) @ rests[order], rests[order])
    frames = np.where((parents >= 0)[:, None, None], poses[parents] @ steps, steps)
    frames[:, :3, 3] = shapes.frames_of(built, poses, order)[:, :3, 3]
    now = (world @ frames)[None, :, :3].astype(np.float32)
    chosen = selected(sight.rig)
    if chosen:
        # Bones that are not selected are scaled to zero.
        now[0, [i for i, name in enumerate(built.names) if name not in chosen], :, :3] = 0.0
    alpha = 0.9 if chosen else 0.6
    return [Wires(built.limits, Places(lambda: now), 0, with_alpha(LIMITS, alpha), width=1.5, hidden=0.35)]


def selected(rig: bpy.types.Object) -> set[str]:
    """The selected bones of a rig in Pose Mode; none elsewhere."""
    if rig.mode != "POSE":
        return set()
    return {bone.name for bone in bpy.context.selected_pose_bones or () if bone.id_data == rig}


def _rests(rig: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    """(bones, 4, 4) rest matrices and (bones,) parents, -1 for none, in the pose's order."""
    bones = rig.data.bones
    flat = np.empty(len(bones) * 16, dtype=np.float32)
    bones.foreach_get("matrix_local", flat)
    place = {name: i for i, name in enumerate(bones.keys())}
    parents = np.array([place[bone.parent.name] if bone.parent else -1 for bone in bones])
    rests = flat.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)
    order = [place[bone.name] for bone in rig.pose.bones]
    back = np.full(len(bones) + 1, -1)
    back[order] = np.arange(len(order))
    return rests[order], back[parents[order]]
