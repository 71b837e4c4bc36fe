"""First settings of physics on a rig: bodies, size, mass.

Owns reading the inputs from Blender, and that no setting of the user is overwritten. Must not know how the guesses are
made.
"""

from __future__ import annotations

import bpy
import numpy as np

from ...engine.anatomy import body_choice, body_parents, bone_ends, capsule_masses, size_guess
from ...engine.math import rotations
from ..blender import actions
from . import bone_roles, physical_ends, skin

# A rig with a bone of one of these roles is a living body; others are things, and get less tone.
LIMBS = {"THIGH", "SHANK", "UPPER_ARM", "LOWER_ARM", "HAND", "FINGER", "SPINE", "HEAD"}
TONE_OF_THINGS = 0.25


def choose_bodies(rig: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Set the behaviour of every bone whose behaviour the user has not set, with the present detail."""
    chosen = body_choice.behaviours(bones_of(rig, scene), rig.heft.detail)
    for bone, behaviour in zip(rig.pose.bones, chosen, strict=True):
        if behaviour != "SIMULATED" and not (bone.is_property_set("heft") and bone.heft.is_property_set("behaviour")):
            bone.heft.behaviour = behaviour


def bones_of(rig: bpy.types.Object, scene: bpy.types.Scene) -> body_choice.Bones:
    """The rig's bones in the pose's order, as input of the choice of bodies."""
    bones = list(rig.pose.bones)
    place = {bone.name: i for i, bone in enumerate(bones)}
    parts, skinned = bone_roles.roles_of(rig), skin.points(rig, scene)
    keyed = {curve.data_path for curve in actions.active_curves(rig)}
    starts = [bone.path_from_id() for bone in bones]
    heads, tails = physical_ends.drawn_posed(rig)
    moved = {path.partition("]")[0] + "]" for path in keyed if path.startswith("pose.bones[")}
    return body_choice.Bones(
        names=[bone.name for bone in bones],
        parents=[place[bone.parent.name] if bone.parent else -1 for bone in bones],
        heads=heads,
        tails=tails,
        deform=[bone.bone.use_deform for bone in bones],
        skinned=[bone.name in skinned for bone in bones],
        keyed=[start in moved for start in starts],
        connected=[bone.bone.use_connect for bone in bones],
        parts=[parts[bone.name] for bone in bones],
    )


def guess_size(rig: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Set the metres in a unit, if the rig's size is impossible for a body and the user has not set them."""
    if not rig.heft.is_property_set("meters_per_unit"):
        meters = meters_per_unit(rig, scene)
        if meters != 1.0:
            rig.heft.meters_per_unit = meters


def meters_per_unit(rig: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """The likely number of metres in one unit of the scene for this rig."""
    unit = units_in_rig(rig) * scene.unit_settings.scale_length
    tall = standing_height(rig, scene)
    if tall > 0.0:
        return size_guess.meters_for_person(tall * unit)
    roles = {part.role for part in bone_roles.roles_of(rig).values()}
    if not {"THIGH", "SHANK"} <= roles:
        return 1.0
    return size_guess.meters_for_animal(physical_ends.height(rig) * unit)


def guess_mass(rig: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Set the total mass, if the rig is no grown person and the user has not set it."""
    if not rig.heft.is_property_set("total_mass"):
        mass = total_mass(rig, scene)
        if mass > 0.0:
            rig.heft.total_mass = float(f"{mass:.2g}")


def total_mass(rig: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """The likely mass of a child, a giant or an animal [kg]; 0 for a grown person, and for rigs without legs, whose
    material is unknown."""
    unit = units_in_rig(rig) * scene.unit_settings.scale_length * rig.heft.meters_per_unit
    tall = standing_height(rig, scene) * unit
    if tall > 0.0:
        return size_guess.mass_of_person(tall)
    roles = {part.role for part in bone_roles.roles_of(rig).values()}
    if not {"THIGH", "SHANK"} <= roles:
        return 0.0
    filled = float(skin.read(rig, scene).holds.volumes.sum())
    return size_guess.mass_of_animal(filled * unit**3, _bulk(rig, scene) * unit**3)


def guess_tone(rig: bpy.types.Object) -> None:
    """Set the tone, if the rig has no limbs and the user has not set it: chains and ropes have no tissue."""
    if not rig.heft.is_property_set("tone"):
        roles = {part.role for part in bone_roles.roles_of(rig).values()}
        if not roles & LIMBS:
            rig.heft.tone = TONE_OF_THINGS


def _bulk(rig: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """The volume of the bodies' bones as capsules [armature units³]."""
    names, ends = physical_ends.find(rig, scene)
    rests = np.array([bone.matrix_local for bone in rig.data.bones]).reshape(-1, 4, 4)
    guess = capsule_masses.measure(rests, ends, 1.0, np.zeros(len(names)))
    behaviour = {bone.name: bone.heft.behaviour for bone in rig.pose.bones}
    return float(capsule_masses.bulk(guess)[[behaviour[name] != "IGNORED" for name in names]].sum())


def standing_height(rig: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Height of a person from soles to crown, with skin, even if the rest pose is folded [armature units]; 0 for other
    rigs."""
    spots = [*skin.points(rig, scene).values()]
    rest, posed = _bones(rig)
    return size_guess.of_person(rest, posed, np.concatenate(spots) if spots else None)


def bone_height(rig: bpy.types.Object) -> float:
    """As `standing_height`, by the bones alone: fast enough for draw callbacks."""
    return size_guess.of_person(*_bones(rig))


def _bones(rig: bpy.types.Object) -> tuple[size_guess.Bones, size_guess.Bones]:
    """The bones that deform, at rest and as posed now. A bone at the same place as an ancestor counts as its child."""
    names, parents, heads, tails = physical_ends.tree_of(rig)
    ends = bone_ends.find(parents, heads, tails).ends
    chosen = [bone.use_deform for bone in rig.data.bones]
    chosen = chosen if any(chosen) else [True] * len(names)
    kept = [i for i, is_kept in enumerate(chosen) if is_kept]
    place = {bone: k for k, bone in enumerate(kept)}
    above = body_parents.holders(parents, heads, tails, chosen)
    parts = bone_roles.roles_of(rig)
    shown = [rig.pose.bones.get(names[i]) for i in kept]
    own = [parts[names[i]] for i in kept]
    hangs = [place.get(above[i], -1) for i in kept]
    rest = size_guess.Bones(own, hangs, heads[kept], ends[kept])
    if None in shown:  # just created in Edit Mode
        return rest, rest
    backs = rotations.inverse(np.array([bone.bone.matrix_local for bone in shown], dtype=np.float64).reshape(-1, 4, 4))
    moves = np.array([bone.matrix for bone in shown], dtype=np.float64).reshape(-1, 4, 4) @ backs
    spots = [np.einsum("nij,nj->ni", moves[:, :3, :3], where[kept]) + moves[:, :3, 3] for where in (heads, ends)]
    return rest, size_guess.Bones(own, hangs, *spots)


def units_in_rig(rig: bpy.types.Object) -> float:
    """Units of the scene in one unit of the armature."""
    return abs(rig.matrix_world.to_3x3().determinant()) ** (1.0 / 3.0)
