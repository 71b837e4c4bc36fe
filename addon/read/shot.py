"""Find the members of a shot: characters, collider objects, and what bones carry.

Owns the search through the colliders collections and the rigs' children. Must not know shapes, motion or the engine. A
`Shot` is built once an event, in one pass over the file, and is passed on to functions.

Characters are in one shot if one has the other among its colliders, or if both have a third one or a free object in
common. They are simulated together, whichever of them is simulated. The first of them is the leader: its gravity, wind,
range and steps apply to all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import bpy
import numpy as np

from .. import declare, settings
from ..blender.own_marks import CONSTRAINT
from ..rig import skin
from ..settings import saved
from ..settings.character import HeftArmature

# The settings of a whole shot, which its leader's values decide, and the words for them.
OF_SHOT = {each.name: each.keywords["name"].lower() for each in declare.of(HeftArmature, of_shot=True)}
# Prefixes of properties that move an object besides its parent, by keys or drivers.
TRANSFORMS = ("location", "rotation_", "scale", "delta_")


@dataclass(frozen=True, eq=False)
class Shot:
    """All objects that are simulated together.

    rigs       the armatures, the leader first
    objects    what they collide with: meshes, without skins (they move with their armature) and without loads of bones
    loads      by rig, what its bones carry
    anchors    targets of ties that are neither characters nor colliders of the shot
    """

    rigs: tuple[bpy.types.Object, ...]
    objects: tuple[bpy.types.Object, ...]
    loads: dict[bpy.types.Object, tuple[Load, ...]]
    anchors: tuple[bpy.types.Object, ...]

    @property
    def leader(self) -> bpy.types.Object:
        """The rig whose gravity, wind, range and steps apply to all."""
        return self.rigs[0]

    @property
    def grounded(self) -> bpy.types.Object | None:
        """The rig whose ground they all use: the leader, or else the first that has one."""
        return next((rig for rig in self.rigs if rig.heft.ground), None)

    @property
    def things(self) -> tuple[bpy.types.Object, ...]:
        """The objects whose motion is needed: colliders, then targets of ties."""
        return (*self.objects, *self.anchors)

    @property
    def carried(self) -> list[bpy.types.Object]:
        """The objects that bones carry."""
        return [load.ob for rig in self.rigs for load in self.loads[rig]]

    def has(self, ob: bpy.types.Object) -> bool:
        """True if an object is part of the shot, by itself or carried."""
        return ob in self.rigs or ob in self.objects or ob in self.carried


@dataclass(frozen=True, eq=False)
class Load:
    """A mesh object that is carried by a bone. matrix (4, 4): from its points to the bone's frame."""

    bone: str
    ob: bpy.types.Object
    matrix: np.ndarray


def scan() -> list[Shot]:
    """All shots of the file."""
    rigs, children = _look()
    return [_build(group, children) for group in casts(rigs)]


def of(rig: bpy.types.Object) -> Shot:
    """The rig's shot; a rig without physics is its only member."""
    rigs, children = _look()
    return _build(next((group for group in casts(rigs) if rig in group), (rig,)), children)


Children = dict[bpy.types.Object, list[bpy.types.Object]]


def _look() -> tuple[list[bpy.types.Object], Children]:
    """The characters of the file, and the children of every object, in one pass over all objects. Blender's
    `Object.children` would search all objects each time."""
    rigs: list[bpy.types.Object] = []
    children: Children = {}
    for ob in bpy.data.objects:
        if ob.parent is not None:
            children.setdefault(ob.parent, []).append(ob)
        if settings.has_physics(ob) and ob.users:
            rigs.append(ob)
    return rigs, children


def _build(together: tuple[bpy.types.Object, ...], children: Children) -> Shot:
    carried = {each: tuple(loads(each, children)) for each in together}
    aboard = {load.ob for found in carried.values() for load in found}
    held = (ob for each in together for ob in colliders(each))
    meshes = (ob for ob in held if ob.type == "MESH" and ob not in aboard and not skin.skinned_by(ob))
    objects = tuple(dict.fromkeys(meshes))
    known = {*together, *objects}
    targets = (tie.target for each in together for tie in each.heft.ties if tie.target is not None)
    anchors = tuple(dict.fromkeys(target for target in targets if target not in known))
    return Shot(together, objects, carried, anchors)


def characters() -> list[bpy.types.Object]:
    """All armatures with physics, without deleted ones: Blender keeps those without users until the file is saved."""
    return _look()[0]


def casts(rigs: Iterable[bpy.types.Object] | None = None) -> list[tuple[bpy.types.Object, ...]]:
    """All armatures with physics, grouped by shot; the leader comes first.

    The leader is one that no other has among its colliders; of several, the first by name.
    """
    rigs = sorted(characters() if rigs is None else rigs, key=lambda ob: ob.name_full)
    met = {rig: {ob for ob in colliders(rig) if ob != rig and _joins(ob)} for rig in rigs}
    led = set().union(*met.values())
    groups: list[set[bpy.types.Object]] = []
    for rig in rigs:
        group = {rig, *met[rig]}
        apart = [other for other in groups if not group & other]
        group = group.union(*(other for other in groups if group & other))
        groups = [*apart, group]
    casts = [sorted(group.intersection(rigs), key=lambda ob: (ob in led, ob.name_full)) for group in groups]
    return sorted((tuple(cast) for cast in casts), key=lambda cast: cast[0].name_full)


def _joins(ob: bpy.types.Object) -> bool:
    """True if all characters that have this object among their colliders are in one shot, because it can have only one
    motion."""
    if ob.type == "MESH":
        return ob.is_property_set("heft_collider") and ob.heft_collider.moves == "FREE"
    return settings.has_physics(ob)


def leader(rig: bpy.types.Object) -> bpy.types.Object:
    """The leader of the rig's shot; the rig itself if it is alone."""
    return next((group[0] for group in casts() if rig in group), rig)


def leaders(rigs: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """The leaders of the shots of all these rigs."""
    wanted = set(rigs)
    return [group[0] for group in casts() if wanted.intersection(group)]


def colliders(rig: bpy.types.Object) -> list[bpy.types.Object]:
    """Everything in the rig's own colliders collection, its child collections included."""
    return list(rig.heft.colliders.all_objects) if rig.heft.colliders is not None else []


def left_out(rig: bpy.types.Object) -> list[str]:
    """Sentences on objects in the colliders collection that cannot collide."""
    notes = []
    for ob in colliders(rig):
        if ob.type == "ARMATURE" and ob != rig and not settings.has_physics(ob):
            notes.append(f"'{ob.name}' is left out of the colliders: it has no physics, add some.")
        elif ob.type in {"CURVE", "CURVES", "SURFACE", "META", "FONT"}:
            notes.append(f"'{ob.name}' is left out of the colliders: convert it to a mesh.")
    return notes


def overruled(rig: bpy.types.Object, leader: bpy.types.Object) -> list[str]:
    """A sentence on settings of the rig that are overruled, because its shot's leader has other values."""
    differ = [word for name, word in OF_SHOT.items() if _values(rig, name) != _values(leader, name)]
    if not differ:
        return []
    words = differ[0] if len(differ) == 1 else f"{', '.join(differ[:-1])} and {differ[-1]}"
    verb = "is that" if len(differ) == 1 else "are those"
    return [f"The {words} of the shot {verb} of '{leader.name}', which leads it: '{rig.name}' has another."]


def _values(rig: bpy.types.Object, name: str):
    value = getattr(rig.heft, name)
    if name == "range" and value == "CUSTOM":
        return value, rig.heft.frame_start, rig.heft.frame_end
    return saved.plain(value)


def loads(rig: bpy.types.Object, children: Children | None = None) -> list[Load]:
    """The meshes parented to bones, and their children, unless something else moves them. children: those of every
    object, if known."""
    found: list[Load] = []
    children = _look()[1] if children is None else children
    for child in children.get(rig, ()):
        bone = rig.data.bones.get(child.parent_bone) if child.parent_type == "BONE" else None
        if bone is None:
            continue
        tail = np.eye(4)
        if bone.use_relative_parent:
            tail = np.linalg.inv(np.array(bone.matrix_local, dtype=np.float64))
        else:
            tail[1, 3] = bone.length
        _collect(found, bone.name, child, tail, children)
    return found


def _collect(found: list[Load], bone: str, ob: bpy.types.Object, above: np.ndarray, children: Children) -> None:
    if moves_by_itself(ob) or settings.collider_of(ob).moves == "FREE":
        return
    inverse, basis = (np.array(m, dtype=np.float64) for m in (ob.matrix_parent_inverse, ob.matrix_basis))
    matrix = above @ inverse @ basis
    if ob.type == "MESH" and len(ob.data.vertices) and not skin.skinned_by(ob):
        found.append(Load(bone, ob, matrix))
    for child in children.get(ob, ()):
        if child.parent_type == "OBJECT":
            _collect(found, bone, child, matrix, children)


def moves_by_itself(ob: bpy.types.Object) -> bool:
    """True if keys, drivers or constraints of its own move the object."""
    if any(constraint.name != CONSTRAINT for constraint in ob.constraints):
        return True
    data = ob.animation_data
    if data is None:
        return False
    if data.action is not None or any(track.strips for track in data.nla_tracks):
        return True
    return any(curve.data_path.startswith(TRANSFORMS) for curve in data.drivers)
