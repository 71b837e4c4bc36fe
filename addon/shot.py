"""Who and what is in an armature's shot: characters, collider objects, things that bones carry.

Owns the search through the colliders collection and the rig's children. Must not know
shapes, motion or the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from . import properties
from .constraints import CONSTRAINT

# What moves an object besides its parent, as keys or drivers.
TRANSFORMS = ("location", "rotation_", "scale", "delta_")


@dataclass(frozen=True, eq=False)
class Members:
    """rigs: the armature itself, then the others simulated together with it; objects: its colliders."""

    rigs: tuple[bpy.types.Object, ...]
    objects: tuple[bpy.types.Object, ...]


@dataclass(frozen=True, eq=False)
class Load:
    """A mesh object that is part of a bone; matrix (4, 4) takes its points into the bone's frame."""

    bone: str
    ob: bpy.types.Object
    matrix: np.ndarray


def members(rig: bpy.types.Object) -> Members:
    """Everybody and everything of the rig's colliders collection, its child collections included.

    Left out are skins (they move with their armature) and what a bone of the shot carries.
    """
    held = list(rig.heft.colliders.all_objects) if rig.heft.colliders is not None else []
    rigs = (rig, *(ob for ob in held if ob != rig and properties.has_physics(ob)))
    carried = {load.ob for each in rigs for load in loads(each)}
    meshes = (ob for ob in held if ob.type == "MESH" and ob not in carried and not skinned_by(ob))
    return Members(rigs, tuple(dict.fromkeys(meshes)))


def leaders(rigs: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """The armatures whose shots hold all of these, each in one: those that no other has among its colliders first."""
    others = {rig: [each for each in members(rig).rigs[1:] if each in rigs] for rig in rigs}
    led: set[bpy.types.Object] = set()
    found = []
    met = {each for group in others.values() for each in group}
    for rig in sorted(rigs, key=lambda rig: rig in met):
        if rig not in led:
            found.append(rig)
            led.update((rig, *others[rig]))
    return found


def left_out(rig: bpy.types.Object) -> list[str]:
    """Sentences on what the colliders collection holds and cannot take part."""
    notes = []
    for ob in rig.heft.colliders.all_objects if rig.heft.colliders is not None else ():
        if ob.type == "ARMATURE" and ob != rig and not properties.has_physics(ob):
            notes.append(f"'{ob.name}' is left out of the colliders: it has no physics, add some.")
        elif ob.type in {"CURVE", "CURVES", "SURFACE", "META", "FONT"}:
            notes.append(f"'{ob.name}' is left out of the colliders: convert it to a mesh.")
    return notes


def skinned_by(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """The armatures that deform a mesh object."""
    found = [modifier.object for modifier in ob.modifiers if modifier.type == "ARMATURE" and modifier.object]
    if ob.parent is not None and ob.parent.type == "ARMATURE" and ob.parent_type == "ARMATURE":
        found.append(ob.parent)
    return found


def loads(rig: bpy.types.Object) -> list[Load]:
    """The meshes parented to bones, and theirs in turn, as long as nothing else moves them."""
    found: list[Load] = []
    for child in rig.children:
        bone = rig.data.bones.get(child.parent_bone) if child.parent_type == "BONE" else None
        if bone is None:
            continue
        tail = np.eye(4)
        if bone.use_relative_parent:
            tail = np.linalg.inv(np.array(bone.matrix_local, dtype=np.float64))
        else:
            tail[1, 3] = bone.length
        _collect(found, bone.name, child, tail)
    return found


def _collect(found: list[Load], bone: str, ob: bpy.types.Object, above: np.ndarray) -> None:
    if moves_by_itself(ob) or properties.collider_of(ob).moves == "FREE":
        return
    inverse, basis = (np.array(m, dtype=np.float64) for m in (ob.matrix_parent_inverse, ob.matrix_basis))
    matrix = above @ inverse @ basis
    if ob.type == "MESH" and len(ob.data.vertices) and not skinned_by(ob):
        found.append(Load(bone, ob, matrix))
    for child in ob.children:
        if child.parent_type == "OBJECT":
            _collect(found, bone, child, matrix)


def moves_by_itself(ob: bpy.types.Object) -> bool:
    """Do keys, drivers or constraints of its own move the object?"""
    if any(constraint.name != CONSTRAINT for constraint in ob.constraints):
        return True
    data = ob.animation_data
    if data is None:
        return False
    if data.action is not None or any(track.strips for track in data.nla_tracks):
        return True
    return any(curve.data_path.startswith(TRANSFORMS) for curve in data.drivers)


def anchors(group: Members) -> tuple[bpy.types.Object, ...]:
    """What ties hold on to and is neither a character nor a collider of the shot."""
    known = {*group.rigs, *group.objects}
    targets = (tie.target for rig in group.rigs for tie in rig.heft.ties if tie.target is not None)
    return tuple(dict.fromkeys(target for target in targets if target not in known))
