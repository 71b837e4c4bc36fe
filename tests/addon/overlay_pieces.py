"""Overlays as tests look at them: the pieces they would draw, and where those are."""

from __future__ import annotations

import bpy
import numpy as np

import rigs
from heft.addon import memory
from heft.addon.ui.overlays import OVERLAYS, callbacks, overlay_input
from heft.addon.ui.overlays.primitives import Wires


def seen(rig, frame: int = 1) -> overlay_input.Sight:
    """What overlays look at, after what they need was worked out."""
    scene = bpy.context.scene
    scene.frame_set(frame)
    memory.notify(memory.EDIT_SOURCE)
    callbacks.catch_up(rig, scene)
    return overlay_input.of(rig, scene, bpy.context.evaluated_depsgraph_get())


def drawn(rig, *names: str, frame: int = 1) -> list:
    """The pieces of some overlays."""
    for overlay in OVERLAYS:
        setattr(rig.heft, overlay.switch, overlay.switch in names)
    looked = seen(rig, frame)
    return callbacks.pieces(rig, looked.scene, looked.graph)


def placed(piece) -> np.ndarray:
    """(k, 3) where the vertices of wires or of a solid are in Blender's world."""
    matrices = piece.places.make()[piece.row].astype(float)
    if isinstance(piece, Wires):
        points, bodies = piece.strings.segments.reshape(-1, 3), np.repeat(piece.strings.bodies, 2)
    else:
        points, bodies = piece.mesh.vertices, piece.mesh.bodies
    return np.einsum("kij,kj->ki", matrices[bodies][:, :, :3], points) + matrices[bodies][:, :, 3]


def only(pieces: list, kind) -> list:
    return [piece for piece in pieces if isinstance(piece, kind)]


def select(rig, name: str) -> None:
    """One bone alone, in Pose Mode."""
    for bone in rig.pose.bones:
        holder = bone if hasattr(bone, "select") else bone.bone
        holder.select = bone.name == name


def walker(empty, **settings):
    """A post that is keyed to lean, simulated on the ground."""
    empty.frame_end = 30
    rig = rigs.post(3)
    rigs.wave(rig, end=30, step=6)
    bpy.ops.heft.add()
    for name, value in {"ground": True, "total_mass": 6.0, **settings}.items():
        setattr(rig.heft, name, value)
    bpy.ops.heft.simulate()
    return rig
