"""Copy settings to the other side of a character, and to other characters.

Owns which settings are copied and which are not. Must not simulate or report.
"""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from .. import declare, settings
from ..blender import compat
from ..errors import RigError
from ..settings.bone import HeftBone
from ..settings.character import HeftArmature
from ..simulate import session


def copy_bone(source: bpy.types.PoseBone, target: bpy.types.PoseBone, names: Iterable[str]) -> None:
    """Copy these settings from one bone to another."""
    for name in names:
        value = getattr(source.heft, name)
        if getattr(target.heft, name) != value:
            setattr(target.heft, name, value)


# --- left and right ------------------------------------------------------------------


def is_left(name: str) -> bool:
    """True if a bone's name says that it is on the left, by Blender's rules for flipping names."""
    other = bpy.utils.flip_name(name)
    return next((a in "lL" for a, b in zip(name, other, strict=False) if a != b), False)


def sided(rig: bpy.types.Object, left: bool) -> list[bpy.types.PoseBone]:
    """All bones of one side."""
    return [
        bone for bone in rig.pose.bones if bpy.utils.flip_name(bone.name) != bone.name and is_left(bone.name) == left
    ]


def selected(rig: bpy.types.Object, active: bpy.types.PoseBone | None) -> list[bpy.types.PoseBone]:
    """The selected bones; if both of a pair are selected, the one on the active bone's side."""
    bones = [bone for bone in rig.pose.bones if compat.is_selected(bone)]
    names = {bone.name for bone in bones}
    left = active is None or bpy.utils.flip_name(active.name) == active.name or is_left(active.name)
    return [bone for bone in bones if bpy.utils.flip_name(bone.name) not in names or is_left(bone.name) == left]


def mirror(rig: bpy.types.Object, bones: Iterable[bpy.types.PoseBone]) -> int:
    """Copy the bones' settings to the bones on the other side; returns the number of bones."""
    pairs = []
    for bone in bones:
        other = rig.pose.bones.get(bpy.utils.flip_name(bone.name))
        if other is not None and other != bone:
            pairs.append((bone, other))
    if not pairs:
        raise RigError(
            f"None of these bones of '{rig.name}' has one on the other side: name them as Blender flips names, "
            "'arm.L' and 'arm.R'."
        )
    for bone, other in pairs:
        copy_bone(bone, other, declare.names(HeftBone, copied=True, mirrored=True))
        if _turns_over(bone):
            other.heft.limit_low, other.heft.limit_high = -bone.heft.limit_high, -bone.heft.limit_low
    return len(pairs)


def _turns_over(bone: bpy.types.PoseBone) -> bool:
    """True if a mirrored bone twists, or turns about its hinge, in the opposite sense: about all of its axes but X."""
    locked = list(bone.lock_rotation)
    return sum(locked) != 2 or locked.index(False) != 0


# --- from character to character --------------------------------------------------------


def character_names(kind: type, body: bool) -> tuple[str, ...]:
    """The settings of a group that are copied to another character. body: include its size and masses."""
    return tuple(each.name for each in declare.of(kind, copied=True) if body or not each.body)


def copy_character(
    source: bpy.types.Object,
    targets: Iterable[bpy.types.Object],
    scene: bpy.types.Scene,
    bones: bool = True,
    body: bool = False,
) -> dict[bpy.types.Object, int]:
    """Copy a character's settings to other armatures, and add physics where they have none. Returns the number of bones
    of each that were found by name. body: include masses and size."""
    targets = [session.check(target) for target in targets]
    names, bone_names = character_names(HeftArmature, body), character_names(HeftBone, body)
    found = {}
    for target in targets:
        if not settings.has_physics(target):
            session.add(target, scene)
        for name in names:
            setattr(target.heft, name, getattr(source.heft, name))
        pairs = _pairs(source, target) if bones else []
        for bone, other in pairs:
            copy_bone(bone, other, bone_names)
        found[target] = len(pairs)
    return found


def _pairs(source: bpy.types.Object, target: bpy.types.Object) -> list[tuple[bpy.types.PoseBone, bpy.types.PoseBone]]:
    """Pairs of bones with the same name; namespaces ('mixamorig:Hips') are ignored if they differ."""
    plain = {_plain(bone.name): bone for bone in source.pose.bones}
    pairs = []
    for other in target.pose.bones:
        bone = source.pose.bones.get(other.name) or plain.get(_plain(other.name))
        if bone is not None:
            pairs.append((bone, other))
    return pairs


def _plain(name: str) -> str:
    return name.rpartition(":")[2]
