"""What physics starts with on a rig: which bones are bodies, how big the rig is and how heavy.

Owns what is asked of Blender for that, and that nothing the user has set is overwritten. Must not know how any of them
is guessed.
"""

from __future__ import annotations

import bpy
import numpy as np

from . import actions, bodies, choosing, rig_roles, skin, stature
from .parts import Part

# A rig with a bone of one of these roles is a living body; what has none is a thing, and swings longer.
LIMBS = {"THIGH", "SHANK", "UPPER_ARM", "LOWER_ARM", "HAND", "FINGER", "SPINE", "HEAD"}
TONE_OF_THINGS = 0.25


def choose_bodies(rig: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Give every bone its behaviour, where the user has given it none."""
    chosen = choosing.behaviours(bones_of(rig, scene))
    for bone, behaviour in zip(rig.pose.bones, chosen, strict=True):
        if behaviour != "SIMULATED" and not (bone.is_property_set("heft") and bone.heft.is_property_set("behaviour")):
            bone.heft.behaviour = behaviour


def bones_of(rig: bpy.types.Object, scene: bpy.types.Scene) -> choosing.Bones:
    """The rig's bones in the pose's order, as bodies are chosen from them."""
    bones = list(rig.pose.bones)
    place = {bone.name: i for i, bone in enumerate(bones)}
    parts, skinned = rig_roles.roles_of(rig), skin.points(rig, scene)
    keyed = {curve.data_path for curve in actions.active_curves(rig)}
    starts = [bone.path_from_id() for bone in bones]
    moved = {path.partition("]")[0] + "]" for path in keyed if path.startswith("pose.bones[")}
    return choosing.Bones(
        names=[bone.name for bone in bones],
        parents=[place[bone.parent.name] if bone.parent else -1 for bone in bones],
        heads=np.array([bone.bone.head_local for bone in bones]).reshape(-1, 3),
        tails=np.array([bone.bone.tail_local for bone in bones]).reshape(-1, 3),
        deform=[bone.bone.use_deform for bone in bones],
        skinned=[bone.name in skinned for bone in bones],
        keyed=[start in moved for start in starts],
        connected=[bone.bone.use_connect for bone in bones],
        parts=[parts[bone.name] for bone in bones],
    )


def guess_size(rig: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Set the metres in a unit, if the rig is a body of impossible size and the user has not set them."""
    if not rig.heft.is_property_set("meters_per_unit"):
        meters = meters_per_unit(rig, scene)
        if meters != 1.0:
            rig.heft.meters_per_unit = meters


def meters_per_unit(rig: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """How many metres one unit of the scene is likely to mean for this rig."""
    unit = units_in_rig(rig) * scene.unit_settings.scale_length
    tall = standing_height(rig, scene)
    if tall > 0.0:
        return stature.meters_for_person(tall * unit)
    roles = {part.role for part in rig_roles.roles_of(rig).values()}
    if not {"THIGH", "SHANK"} <= roles:
        return 1.0
    ends = np.array([[bone.head_local, bone.tail_local] for bone in rig.data.bones]).reshape(-1, 3)
    return stature.meters_for_animal(float(np.ptp(ends, axis=0).max()) * unit)


def guess_mass(rig: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Set the total mass, if the rig is no grown person and the user has not set it."""
    if not rig.heft.is_property_set("total_mass"):
        mass = total_mass(rig, scene)
        if mass > 0.0:
            rig.heft.total_mass = float(f"{mass:.2g}")


def total_mass(rig: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """How heavy a child, a giant or an animal is likely to be [kg]; 0 for a grown person, and for what has no legs:
    nobody knows what a chain is made of."""
    unit = units_in_rig(rig) * scene.unit_settings.scale_length * rig.heft.meters_per_unit
    tall = standing_height(rig, scene) * unit
    if tall > 0.0:
        return stature.mass_of_person(tall)
    roles = {part.role for part in rig_roles.roles_of(rig).values()}
    if not {"THIGH", "SHANK"} <= roles:
        return 0.0
    filled = float(skin.read(rig, scene).holds.volumes.sum())
    return stature.mass_of_animal(filled * unit**3, _bulk(rig) * unit**3)


def guess_tone(rig: bpy.types.Object) -> None:
    """Set the tone, if the rig is no body with limbs and the user has not set it: chains and ropes have no tissue."""
    if not rig.heft.is_property_set("tone"):
        roles = {part.role for part in rig_roles.roles_of(rig).values()}
        if not roles & LIMBS:
            rig.heft.tone = TONE_OF_THINGS


def _bulk(rig: bpy.types.Object) -> float:
    """What the bones that are bodies fill as capsules [armature units³]."""
    bones = list(rig.pose.bones)
    place = {bone.name: i for i, bone in enumerate(bones)}
    parents = [place[bone.parent.name] if bone.parent else -1 for bone in bones]
    rests = np.array([bone.bone.matrix_local for bone in bones]).reshape(-1, 4, 4)
    lengths = np.array([bone.bone.length for bone in bones])
    guess = bodies.measure(parents, rests, lengths, 1.0, np.zeros(len(bones)))
    return float(bodies.bulk(guess)[[bone.heft.behaviour != "IGNORED" for bone in bones]].sum())


def standing_height(rig: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """From the soles to the crown of a rig that stands as people do, skin and all [armature units]; 0 for any other."""
    spots = [*skin.points(rig, scene).values()]
    return stature.of_person(*_standing(rig), np.concatenate(spots) if spots else None)


def bone_height(rig: bpy.types.Object) -> float:
    """As `standing_height`, by the bones alone: quick enough for every drawing of the panel."""
    return stature.of_person(*_standing(rig))


def _standing(rig: bpy.types.Object) -> tuple[list[Part], np.ndarray, np.ndarray]:
    """The parts of the bones that deform, with their heads and tails."""
    bones = [bone for bone in rig.data.bones if bone.use_deform] or [*rig.data.bones]
    parts = rig_roles.roles_of(rig)
    heads, tails = (np.array([getattr(bone, f"{end}_local") for bone in bones]) for end in ("head", "tail"))
    return [parts[bone.name] for bone in bones], heads.reshape(-1, 3), tails.reshape(-1, 3)


def units_in_rig(rig: bpy.types.Object) -> float:
    """Units of the scene in one of the armature."""
    return abs(rig.matrix_world.to_3x3().determinant()) ** (1.0 / 3.0)
