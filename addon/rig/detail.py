"""Detail: fingers and toes, or hands and feet too, as bodies of their own or riding on their carriers.

Owns the choice for a shot, and that a change affects only bones whose behaviour the user did not set. Must not know how
a bone rides (`riding_bones`).
"""

from __future__ import annotations

import bpy
import numpy as np

from ...engine.anatomy import body_choice, body_parents
from ...engine.math import rotations
from .. import events
from ..blender import actions, sample_poses, setting_paths
from . import bone_roles, first_guess

# Fingers and toes that turn by less than this relative to hand or foot do not move [rad].
STILL = 0.035
# The largest number of frames that are sampled.
LOOKS = 24


def choose(rig: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """FULL for a shot in which fingers or toes move, else HANDS_AND_FEET. A rig without limbs that carry hands and feet
    is FULL: a hand alone is what the shot is about."""
    bones = first_guess.bones_of(rig, scene)
    behaviours = body_choice.behaviours(bones)
    small = body_choice.riders(bones, behaviours, "HANDS_AND_FEET")
    if not small or not {part.role for part in bones.parts} & {"LOWER_ARM", "SHANK"}:
        return "FULL"
    carried = body_choice.behaviours(bones, "HANDS_AND_FEET")
    above = body_parents.holders(bones.parents, bones.heads, bones.tails, [word == "SIMULATED" for word in carried])
    return "FULL" if _any_moves(rig, scene, {bone: above[bone] for bone in small}) else "HANDS_AND_FEET"


def _any_moves(rig: bpy.types.Object, scene: bpy.types.Scene, carriers: dict[int, int]) -> bool:
    """True if a bone turns relative to its carrier anywhere in the shot."""
    frames = _frames(rig, scene)
    if len(frames) < 2:
        return False
    samples = sample_poses.finish(sample_poses.sample(rig, scene, frames))
    own, other = (
        rotations.from_matrix(rotations.split(samples.poses[:, list(chosen), :3, :3].astype(np.float64))[0])
        for chosen in (carriers.keys(), carriers.values())
    )
    turns = rotations.multiply(rotations.conjugate(other), own)
    cosines = np.abs(np.einsum("fbi,bi->fb", turns, turns[0]))
    return bool((2.0 * np.arccos(np.clip(cosines, 0.0, 1.0))).max() > STILL)


def _frames(rig: bpy.types.Object, scene: bpy.types.Scene) -> np.ndarray:
    """Some frames of the shot, or of the rig's action if it has one; none if nothing can move the rig."""
    data = rig.animation_data
    if data is None or not (data.action or len(data.nla_tracks) or sample_poses.drivers(rig)):
        return np.zeros(0)
    first, last = scene.frame_start, scene.frame_end
    spans = [curve.range() for curve in actions.active_curves(rig) if not setting_paths.is_setting(curve.data_path)]
    if spans:
        first, last = min(a for a, _ in spans), max(b for _, b in spans)
    return np.unique(np.round(np.linspace(first, last, LOOKS)))


def apply(rig: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Change bones from the behaviours of the previous detail to those of the present one."""
    heft = rig.heft
    if not heft.enabled or heft.detail == heft.detail_before:
        return
    bones = first_guess.bones_of(rig, scene)
    before, after = (body_choice.behaviours(bones, detail) for detail in (heft.detail_before or "FULL", heft.detail))
    with events.paused():
        for bone, old, new in zip(rig.pose.bones, before, after, strict=True):
            is_own = old == "SIMULATED" and bone.heft.is_property_set("behaviour")
            if old == new or bone.heft.behaviour != old or is_own:
                continue
            if new == "SIMULATED":
                bone.heft.property_unset("behaviour")
            else:
                bone.heft.behaviour = new
    heft.detail_before = heft.detail


def is_of_use(rig: bpy.types.Object) -> bool:
    """True if the rig has hands, feet, fingers or toes."""
    return any(part.role in body_choice.RIDING["LIMBS"] for part in bone_roles.roles_of(rig).values())
