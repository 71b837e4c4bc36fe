"""Bake: write what the rig and its free objects show as new actions, NLA strips or keys on the rig's controls.

Owns the order of the steps and the check that Blender then evaluates what was simulated. Must not know the engine: it
bakes what is visible, mix included.

The source action stays as it is. Its copy keeps every channel that the bake does not replace: other bones, custom
properties, keys outside the range.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...engine.math import rotations
from ..blender import actions, bone_channels, compat, ik_solvers, nla_strips, own_marks, sample_poses
from ..blender.sample_poses import Samples
from ..errors import RigError
from ..read import read_controller
from ..result import result_armature, show_constraints
from ..rig import physical_ends
from . import bake_objects, control_map, fit_controls, probe_controls, restore_values, write_keys
from .check_pose import Deviation, compare

TARGETS = (
    ("ACTION", "Action", "A new action on the rig: the source's copy with the result's keys", 0),
    ("NLA", "NLA Strip", "A new strip on top of the rig's NLA; an active action is pushed down first", 1),
    (
        "CONTROLS",
        "Controls",
        "A new action with keys on the rig's FK controls, and its IK/FK switches keyed for the range",
        2,
    ),
)

# Deviations above these are reported [parts of the rig's height; degrees].
TELL_OFFSET, TELL_ANGLE = 1e-3, 0.1


@dataclass(frozen=True)
class Baked:
    """The new action, the deviation of the evaluated pose from the simulated one, the number of keys, and sentences for
    the user."""

    action: bpy.types.Action
    off: Deviation
    keys: write_keys.Tally
    notes: tuple[str, ...]


def bake(
    rig,
    scene,
    target: str = "ACTION",
    selected_only: bool = False,
    reduce: float = 0.0,
    mute: bool = False,
    span: tuple[int, int] | None = None,
) -> Baked:
    """Bake the shown result. Afterwards the rig shows its source motion, with the new action assigned.

    reduce    the largest error of reduced keys [degrees], 0 for a key on every frame
    mute      mute the constraints that would override the keys
    span      first and last frame; None for all simulated ones
    """
    data = rig.animation_data
    if data is not None and data.use_tweak_mode:
        raise RigError(f"'{rig.name}' is in NLA tweak mode: leave it (Tab in the NLA editor) before baking.")
    bodies = _bodies(rig)
    # A cycle stays a cycle: keys on one period, and Cycles modifiers that repeat it.
    loops = (
        target == "ACTION" and span is None and rig.heft.result_period > 0 and not show_constraints.mix_is_keyed(rig)
    )
    frames = rig.heft.result_start + np.arange(rig.heft.result_period + 1) if loops else _frames(rig, scene, span)
    mapping, found = _mapping(rig, scene, bodies) if target == "CONTROLS" else (None, None)
    bones = _selected(rig, bodies, mapping) if selected_only else [rig.pose.bones[name] for name in bodies]
    if mapping is None and not mute:
        _refuse_overridden(rig, bones)
    wanted = _wanted(rig, scene, frames)
    objects = [] if selected_only else bake_objects.shown(rig, scene, frames)
    source, slot = data.action if data else None, actions.slot_of(rig)
    before = {switch.path: probe_controls.value_of(rig, switch.path) for switch in mapping.switches} if mapping else {}
    tally = write_keys.Tally()
    if mapping is not None:
        chosen = {bone.name for bone in bones} if selected_only else None
        action, notes = _bake_controls(rig, scene, mapping, found, wanted, chosen, reduce, tally), []
    else:
        action, notes = _bake_bones(rig, target, bones, wanted, reduce, mute, tally, loops)
    if target != "NLA":
        restore_values.lend(rig, source, slot, before)
        notes += write_keys.keep_source(source, rig.heft.source_action)
    played = show_constraints.played_frames(rig)
    for flight in objects:
        notes += bake_objects.bake(flight, frames, played, target, reduce, tally)
    notes += bake_objects.notes(scene, objects, frames, mute) if objects else []
    off = compare(rig, scene, bones, wanted, selected_only)
    if mapping is not None:
        notes += _without_control(mapping, off)
    elif off.offset > TELL_OFFSET or off.angle > TELL_ANGLE:
        notes += _still_moving(bones)
    return Baked(action, off, tally, tuple(notes))


def _bake_bones(rig, target: str, bones, wanted: Samples, reduce: float, mute: bool, tally, loops: bool):
    """Key the bodies themselves. Returns the action and sentences for the user."""
    notes = list(_constraint_notes(rig, bones, mute))
    source = rig.animation_data.action if rig.animation_data else None
    action, bag = write_keys.new_action(rig, source if target == "ACTION" else None)
    height, played = physical_ends.height(rig), show_constraints.played_frames(rig)
    for bone in bones:
        keyed = write_keys.Target(bag, bone, wanted.frames, played, height, reduce, tally, loops)
        _bake_bone(keyed, bone, wanted)
    result_armature.show(rig, "SOURCE")
    if target == "NLA":
        nla_strips.push_down(rig)
        nla_strips.add(rig, action, wanted.frames)
    else:
        actions.assign(rig, action, actions.same_slot(action, actions.slot_of(rig)))
    return action, notes


def _mapping(rig, scene, bodies: list[str]):
    with result_armature.exposed(rig, "SOURCE"):
        mapping, found = control_map.of_rig(rig, scene, bodies)
    if not mapping.controls:
        raise RigError(
            f"No control of '{rig.name}' moves a simulated bone: list the controls yourself, or bake an action with "
            "Mute Constraints."
        )
    return mapping, found


def _bake_controls(
    rig, scene, mapping, found, wanted: Samples, chosen: set[str] | None, reduce: float, tally
) -> bpy.types.Action:
    """Key the controls that move the bodies, in a draft action that is evaluated first."""
    result_armature.show(rig, "SOURCE")
    if chosen is not None:
        mapping = control_map.narrowed(rig, scene, mapping, chosen)
    source, slot = rig.animation_data.action if rig.animation_data else None, actions.slot_of(rig)
    played = show_constraints.played_frames(rig)
    draft, bag = write_keys.new_action(rig, source)
    try:
        actions.assign(rig, draft, actions.same_slot(draft, slot))
        fit_controls.key_switches(rig, bag, mapping.switches, wanted.frames, played)
        fit = fit_controls.Fit(rig, scene, bag, mapping, found, wanted, chosen)
        fit.run(played)
    finally:
        actions.assign(rig, source, slot)
        bpy.data.actions.remove(draft)
    action, bag = write_keys.new_action(rig, source)
    fit_controls.key_switches(rig, bag, mapping.switches, wanted.frames, played)
    fit.write(bag, played, reduce, tally)
    actions.assign(rig, action, actions.same_slot(action, slot))
    return action


def _without_control(mapping: control_map.Mapping, off: Deviation) -> list[str]:
    """A sentence on bodies that deviate and that no single control moves."""
    led = {entry.body for entry in mapping.controls}
    left = [
        name
        for name, (offset, angle) in off.bones.items()
        if name not in led and (offset > TELL_OFFSET or angle > TELL_ANGLE)
    ]
    if not left:
        return []
    return [f"No control moves {control_map.listed(left)} alone: they are not where they were simulated."]


def _refuse_overridden(rig: bpy.types.Object, bones: list[bpy.types.PoseBone]) -> None:
    """Raise an error for bones whose keys would not show, because constraints or drivers override them."""
    taken = control_map.overrides(rig, adding=True)
    for bone in bones:
        if bone.name in taken:
            raise RigError(
                f"Bone '{bone.name}' is moved by {taken[bone.name]}, so keys on it would not show: "
                "bake to Controls, or with Mute Constraints."
            )


def is_hidden(rig: bpy.types.Object) -> bool:
    """True if keys on the bodies themselves would not show, because constraints or drivers override them."""
    taken = control_map.overrides(rig, adding=True)
    return any(name in taken for name in result_armature.body_names(rig))


def _bodies(rig: bpy.types.Object) -> list[str]:
    if rig.heft_result is None or not rig.heft.fingerprint:
        raise RigError(f"'{rig.name}' has no result to bake: press Simulate first.")
    names = result_armature.body_names(rig)
    return [bone.name for bone in rig.pose.bones if bone.name in names]


def _selected(rig: bpy.types.Object, bodies: list[str], mapping) -> list[bpy.types.PoseBone]:
    """The bodies that are selected, or whose controls are selected."""
    chosen = {bone.name for bone in rig.pose.bones if compat.is_selected(bone)}
    if mapping is not None:
        chosen |= {entry.body for entry in mapping.controls if entry.control in chosen}
    bones = [rig.pose.bones[name] for name in bodies if name in chosen]
    if not bones:
        raise RigError("No simulated bone is selected: select the bones to bake in Pose Mode.")
    return bones


def _frames(rig: bpy.types.Object, scene: bpy.types.Scene, span: tuple[int, int] | None) -> np.ndarray:
    chosen = read_controller.frame_range(rig, scene) if span is None else np.arange(span[0], span[1] + 1)
    if not len(chosen):
        raise RigError(f"The range {span[0]} to {span[1]} has no frames: let it end after its start.")
    frames = chosen[(chosen >= rig.heft.result_start) & (chosen <= rig.heft.result_end)]
    if not len(frames):
        raise RigError(
            f"The range {chosen[0]} to {chosen[-1]} lies outside the simulated frames "
            f"{rig.heft.result_start} to {rig.heft.result_end}: choose others, or simulate again."
        )
    return frames


def _wanted(rig: bpy.types.Object, scene: bpy.types.Scene, frames: np.ndarray) -> Samples:
    """The poses to bake, as the rig shows them.

    Where a body shows nothing but its result, the pose is read from the result armature, because the constraint goes
    through world space and rounds.
    """
    with result_armature.exposed(rig, "RESULT"):
        shown = sample_poses.finish(sample_poses.sample(rig, scene, frames))
        pure = show_constraints.pure_bones(rig)
    if pure:
        own = sample_poses.finish(sample_poses.sample(rig.heft_result, scene, frames))
        here = [shown.names.index(name) for name in pure]
        there = [own.names.index(name) for name in pure]
        shown.poses[:, here] = own.poses[:, there]
    return shown


def _constraint_notes(rig, bones, mute: bool):
    """Sentences on the rig's own constraints that will still move baked bones. With `mute` they are muted."""
    fighting = [
        (bone, constraint)
        for bone in bones
        for constraint in bone.constraints
        if constraint.name != own_marks.CONSTRAINT and constraint.enabled and constraint.influence > 0.0
    ]
    ours = set(own_marks.muted_solvers(rig)) - {(bone.name, constraint.name) for bone, constraint in fighting}
    fighting += [(rig.pose.bones[bone], rig.pose.bones[bone].constraints[name]) for bone, name in ours]
    for bone, constraint in fighting:
        if mute:
            show_constraints.keep_muted(rig, bone, constraint)
            yield f"Muted '{constraint.name}' on '{bone.name}': the baked keys take its place."
        elif (bone.name, constraint.name) in ours or constraint.type in ik_solvers.SOLVERS:
            yield f"'{constraint.name}' on '{bone.name}' still solves baked bones: bake with Mute Constraints."


def _still_moving(bones) -> list[str]:
    """A sentence on the constraints that override the keys of baked bones."""
    acting = [
        f"'{constraint.name}' on '{bone.name}'"
        for bone in bones
        for constraint in bone.constraints
        if constraint.enabled and constraint.influence > 0.0
    ]
    if not acting:
        return []
    more = f" and {len(acting) - 3} more" if len(acting) > 3 else ""
    return [f"Constraints still move baked bones ({', '.join(acting[:3])}{more}): bake with Mute Constraints."]


def _bake_bone(target: write_keys.Target, bone: bpy.types.PoseBone, wanted: Samples) -> None:
    index = wanted.names.index(bone.name)
    parent = wanted.poses[:, wanted.names.index(bone.parent.name)].astype(np.float64) if bone.parent else None
    matrices = bone_channels.basis(bone, wanted.poses[:, index].astype(np.float64), parent)
    turns, scales = rotations.split(matrices[:, :3, :3])
    tied = bone.bone.use_connect and bone.parent
    write_keys.write(target, rotations.from_matrix(turns), None if tied else matrices[:, :3, 3], scales)
