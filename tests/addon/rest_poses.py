"""One person in many rest poses: the same lengths, the same motion, another pose at rest.

Owns the random rest poses (standing, folded, all limbs along one axis, lying, upside down, in any unit) and armatures
that are made of them. A rest pose changes nothing of what is seen: the keys are made anew for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

import rigs

KINDS = ("T", "A", "folded", "crumpled", "one axis", "lying", "upside down", "far helper")
UNITS = {"m": 1.0, "dm": 10.0, "cm": 100.0, "mm": 1000.0, "inch": 1.0 / 0.0254}


@dataclass(frozen=True, eq=False)
class Person:
    """A recorded person: names, parents (-1 for none), rests and tails (n, 4, 4), (n, 3) at rest and
    poses (frames, n, 4, 4), all in armature space [m]."""

    names: list[str]
    parents: list[int]
    rests: np.ndarray
    tails: np.ndarray
    poses: np.ndarray


def read(rig: bpy.types.Object, frames, meters: float) -> Person:
    """The person that an armature is, on some frames; meters: of one of its units."""
    bones = list(rig.pose.bones)
    place = {bone.name: i for i, bone in enumerate(bones)}
    rests = np.array([bone.bone.matrix_local for bone in bones], dtype=np.float64)
    tails = np.array([bone.bone.tail_local for bone in bones], dtype=np.float64) * meters
    poses = rigs.poses(rig, frames)
    rests[:, :3, 3] *= meters
    poses[..., :3, 3] *= meters
    parents = [place[bone.parent.name] if bone.parent else -1 for bone in bones]
    return Person([bone.name for bone in bones], parents, rests, tails, poses)


def draw(person: Person, kind: str, rng: np.random.Generator) -> np.ndarray:
    """(n, 3, 3) how far each bone is turned from its rest pose, in armature space."""
    n = len(person.names)
    turns = np.tile(np.eye(3), (n, 1, 1))
    heads = person.rests[:, :3, 3]
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    for i, parent in enumerate(person.parents):
        own = np.eye(3)
        if kind == "A" and person.names[i].endswith(("LeftArm", "RightArm")):
            own = _about((0.0, 1.0, 0.0), 0.7 if "Left" in person.names[i] else -0.7)
        elif kind == "folded":
            own = _about(rng.normal(size=3), rng.uniform(-2.6, 2.6)) if rng.random() < 0.5 else np.eye(3)
        elif kind == "crumpled":
            own = _about(rng.normal(size=3), rng.uniform(-np.pi, np.pi))
        turns[i] = own if parent < 0 else turns[parent] @ own
        kids = [k for k, above in enumerate(person.parents) if above == i]
        if kind == "one axis":
            way = np.mean([heads[k] - heads[i] for k in kids], axis=0) if kids else person.tails[i] - heads[i]
            turns[i] = _between(way, axis)
    whole = np.eye(3)
    if kind in ("lying", "upside down"):
        whole = _about((1.0, 0.0, 0.0), -0.5 * np.pi if kind == "lying" else np.pi)
        whole = _about((0.0, 0.0, 1.0), rng.uniform(-np.pi, np.pi)) @ whole
    return whole @ turns


def _about(axis, angle: float) -> np.ndarray:
    return np.array(Matrix.Rotation(angle, 3, np.asarray(axis, dtype=float) / np.linalg.norm(axis)))


def _between(way: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(3, 3) the turn that takes one way to another."""
    long = float(np.linalg.norm(way))
    if long < 1e-9:
        return np.eye(3)
    cross, dot = np.cross(way / long, other), float(way @ other / long)
    if np.linalg.norm(cross) < 1e-9:
        return np.eye(3) if dot > 0.0 else _about(np.eye(3)[int(np.argmin(np.abs(other)))], np.pi)
    return _about(cross, float(np.arctan2(np.linalg.norm(cross), dot)))


def at_rest(person: Person, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, 4, 4) rest matrices and (n, 3) tails in a rest pose [m]."""
    rests, tails = person.rests.copy(), person.tails.copy()
    for i, parent in enumerate(person.parents):
        if parent >= 0:
            offset = person.rests[i, :3, 3] - person.rests[parent, :3, 3]
            rests[i, :3, 3] = rests[parent, :3, 3] + turns[parent] @ offset
        rests[i, :3, :3] = turns[i] @ person.rests[i, :3, :3]
        tails[i] = rests[i, :3, 3] + turns[i] @ (person.tails[i] - person.rests[i, :3, 3])
    return rests, tails


def build(person: Person, turns: np.ndarray, unit: float, helper: np.ndarray | None = None) -> bpy.types.Object:
    """An armature in the open file, active, with the person in this rest pose and the same motion; unit: armature
    units in a metre; helper (3,): where a root bone far away stands [m]."""
    rests, tails = at_rest(person, turns)
    data = bpy.data.armatures.new("Person")
    rig = bpy.data.objects.new("Person", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    if helper is not None:
        above = data.edit_bones.new("reference")
        above.head, above.tail = unit * helper, unit * np.add(helper, (0.0, 0.0, 0.1))
    for i, name in enumerate(person.names):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = unit * rests[i, :3, 3], unit * tails[i]
        bone.align_roll(rests[i, :3, 2])
        bone.parent = data.edit_bones[person.names[person.parents[i]]] if person.parents[i] >= 0 else above
    bpy.ops.object.mode_set(mode="OBJECT")
    _key(rig, person, unit)
    return rig


def _key(rig: bpy.types.Object, person: Person, unit: float) -> None:
    """The person's motion as keys: every bone where it was, turned as it was."""
    bones = [rig.pose.bones[name] for name in person.names]
    rests = np.array([bone.bone.matrix_local for bone in bones], dtype=np.float64)
    poses = person.poses.copy()
    poses[..., :3, 3] *= unit
    # The same axes as before up to rounding: how far each was rolled by the edit.
    for frame, pose in enumerate(poses, 1):
        for i, (bone, parent) in enumerate(zip(bones, person.parents, strict=True)):
            local = np.linalg.inv(rests[i]) @ pose[i]
            if parent >= 0:
                local = np.linalg.inv(rests[i]) @ rests[parent] @ np.linalg.inv(pose[parent]) @ pose[i]
            bone.matrix_basis = Matrix(local)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
            if parent < 0:
                bone.keyframe_insert("location", frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, len(poses)
    scene.frame_set(1)
