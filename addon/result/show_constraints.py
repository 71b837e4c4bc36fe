"""Constraints that show the result on the rig, their influence, and the IK that is muted meanwhile.

Owns everything of Heft on the rig itself, and its removal. Must not know when the result is shown, nor where it came
from.

The influence is a plain number where possible. A driver computes it while the mix is keyed, or while the result covers
fewer frames than the scene: outside them the source shows. The same rule mutes IK, so that a source solved by IK is
unchanged there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import bpy

from ..blender import actions, setting_paths
from ..blender.ik_solvers import SOLVERS, is_driven, solved_by
from ..blender.own_marks import CONSTRAINT, muted_solvers


def constraints_of(rig: bpy.types.Object) -> Iterator[bpy.types.Constraint]:
    """Heft's own constraints on the rig."""
    for bone in rig.pose.bones:
        found = bone.constraints.get(CONSTRAINT)
        if found is not None:
            yield found


def apply(rig: bpy.types.Object, names: set[str]) -> None:
    """Show the result on these bones, with the mix as set; all others show their source.

    A bone that shows nothing of its result has no constraint at all: with even a muted one Blender takes the bone
    through world space, which rounds.
    """
    condition = driven_condition(rig) if names else None
    keyed = condition is not None and mix_is_keyed(rig)
    for bone in rig.pose.bones:
        influence = rig.heft.mix * bone.heft.mix if bone.name in names else 0.0
        if influence <= 0.0 and not (keyed and bone.name in names):
            _detach(rig, bone)
            continue
        constraint = _attach(bone, rig.heft_result)
        if condition is not None:
            terms = ["rig", "bone", f"({condition})"] if condition else ["rig", "bone"]
            _drive(rig, _influence_path(bone), " * ".join(terms), bone)
            continue
        _undrive(rig, _influence_path(bone))
        if constraint.influence != influence:
            constraint.influence = influence
    _mute_solvers(rig, next(constraints_of(rig), None) is not None, condition)
    _drop_empty_animation(rig)


def is_applied(rig: bpy.types.Object, visible: bool) -> bool:
    """True if constraints and drivers match the settings."""
    condition = driven_condition(rig) if visible else None
    wanted = visible and (rig.heft.mix > 0.0 or (condition is not None and mix_is_keyed(rig)))
    there = next(constraints_of(rig), None)
    if wanted != (there is not None):
        return False
    return not wanted or _condition_there(rig) == condition


# --- the constraint ----------------------------------------------------------------


def _attach(bone: bpy.types.PoseBone, result: bpy.types.Object) -> bpy.types.Constraint:
    """Add a Copy Transforms constraint to the bone, at the end of the stack."""
    found = attach(bone, result)
    if found.subtarget != bone.name:
        found.subtarget = bone.name
        found.target_space = found.owner_space = "POSE"
    return found


def attach(holder, result: bpy.types.Object) -> bpy.types.Constraint:
    """Add Heft's Copy Transforms to a bone or an object, at the end of the stack. The user's active constraint stays
    active."""
    found = holder.constraints.get(CONSTRAINT)
    if found is None:
        active = holder.constraints.active
        found = holder.constraints.new("COPY_TRANSFORMS")
        found.name = CONSTRAINT
        found.show_expanded = False
        if active is not None:
            holder.constraints.active = active
    if found.target != result:
        found.target = result
    last = len(holder.constraints) - 1
    if holder.constraints[last] != found:
        holder.constraints.move(holder.constraints.find(CONSTRAINT), last)
    return found


def _detach(rig: bpy.types.Object, bone: bpy.types.PoseBone) -> None:
    """Remove Heft's constraint with its driver."""
    if bone.constraints.get(CONSTRAINT) is not None:
        _undrive(rig, _influence_path(bone))
        detach(bone)


def detach(holder) -> None:
    """Remove Heft's constraint from a bone or an object. The user's active constraint stays active."""
    found = holder.constraints[CONSTRAINT]
    active = holder.constraints.active
    name = active.name if active is not None and active != found else None
    holder.constraints.remove(found)
    if name is not None:
        holder.constraints.active = holder.constraints[name]


# --- mix, range and drivers ----------------------------------------------------------


def mix_is_keyed(rig: bpy.types.Object) -> bool:
    """True if the rig's action animates a mix."""
    bag = actions.active_bag(rig)
    if bag is None:
        return False
    if bag.fcurves.find("heft.mix") is not None:
        return True
    return any(setting_paths.is_mix(curve.data_path) for curve in bag.fcurves)


def played_frames(rig: bpy.types.Object) -> tuple[int, int]:
    """The first and the last frame that the scenes with the rig play."""
    starts, ends = [rig.heft.result_start], [rig.heft.result_end]
    for scene in rig.users_scene:
        starts.append(scene.frame_start)
        ends.append(scene.frame_end)
        if scene.use_preview_range:
            starts.append(scene.frame_preview_start)
            ends.append(scene.frame_preview_end)
    return min(starts), max(ends)


def is_cut(rig: bpy.types.Object) -> bool:
    """True if a scene plays frames that were not simulated."""
    return played_frames(rig) != (rig.heft.result_start, rig.heft.result_end)


def driven_condition(rig: bpy.types.Object) -> str | None:
    """The frames on which the result shows, as a driver's expression; "" for all frames, None if no driver is
    needed."""
    if is_cut(rig):
        return f"{rig.heft.result_start} <= frame <= {rig.heft.result_end}"
    return "" if mix_is_keyed(rig) else None


def _condition_there(rig: bpy.types.Object) -> str | None:
    """The expression of the drivers that the rig has now, None without drivers."""
    ending = f'.constraints["{CONSTRAINT}"].influence'
    for curve in rig.animation_data.drivers if rig.animation_data else ():
        if curve.data_path.endswith(ending):
            return curve.driver.expression.partition("(")[2].rstrip(")")
    return None


def pure_bones(rig: bpy.types.Object) -> list[str]:
    """Bones that show only their result on every simulated frame: their mix is 1."""
    if mix_is_keyed(rig):
        return []
    return [
        bone.name
        for bone in rig.pose.bones
        if bone.constraints.get(CONSTRAINT) is not None and rig.heft.mix * bone.heft.mix == 1.0
    ]


def _influence_path(bone: bpy.types.PoseBone) -> str:
    return f'{bone.path_from_id()}.constraints["{CONSTRAINT}"].influence'


def _drive(rig: bpy.types.Object, path: str, expression: str, bone: bpy.types.PoseBone | None = None) -> None:
    """Add a driver with the rig's mix as the variable `rig` and, for a bone, its mix as `bone`."""
    if rig.animation_data is None:
        rig.heft.bare = True
    found = rig.animation_data.drivers.find(path) if rig.animation_data else None
    driver = (found or rig.driver_add(path)).driver
    if driver.expression == expression:
        return
    driver.expression = expression
    if len(driver.variables):
        return
    sources = {"rig": "heft.mix"}
    if bone is not None:
        sources["bone"] = f"{bone.path_from_id()}.heft.mix"
    for name, source in sources.items():
        variable = driver.variables.new()
        variable.name = name
        variable.targets[0].id = rig
        variable.targets[0].data_path = source


def _undrive(rig: bpy.types.Object, path: str) -> None:
    if is_driven(rig, path):
        rig.driver_remove(path)


def _drop_empty_animation(rig: bpy.types.Object) -> None:
    """Delete the rig's animation data if it holds nothing, because it had none before Heft's drivers."""
    data = rig.animation_data
    if not rig.heft.bare or (data is not None and len(data.drivers)):
        return
    rig.heft.bare = False
    if data is not None and data.action is None and not len(data.nla_tracks):
        rig.animation_data_clear()


# --- IK that would solve a body ------------------------------------------------------


def _mute_solvers(rig: bpy.types.Object, mute: bool, condition: str | None) -> None:
    """Mute IK that would solve a body's bone, or unmute what Heft muted."""
    muted = muted_solvers(rig)
    if mute:
        for bone in rig.pose.bones:
            for constraint in bone.constraints:
                pair = (bone.name, constraint.name)
                if constraint.type not in SOLVERS or constraint.mute or pair in muted:
                    continue
                if _solves_body(bone, constraint) and not is_driven(rig, f"{constraint.path_from_id()}.mute"):
                    muted.append(pair)
    for bone_name, name in muted:
        bone = rig.pose.bones.get(bone_name)
        constraint = bone.constraints.get(name) if bone else None
        if constraint is None:
            continue
        path = f"{constraint.path_from_id()}.mute"
        if mute and condition is not None:
            _drive(rig, path, f"rig > 0 and {condition}" if condition else "rig > 0")
            continue
        _undrive(rig, path)
        if constraint.mute != mute:
            constraint.mute = mute
    _record_muted(rig, muted if mute else [])


def keep_muted(rig: bpy.types.Object, bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> None:
    """Mute a constraint permanently: Heft will not unmute it."""
    _undrive(rig, f"{constraint.path_from_id()}.mute")
    constraint.mute = True
    _record_muted(rig, [pair for pair in muted_solvers(rig) if pair != (bone.name, constraint.name)])


def _record_muted(rig: bpy.types.Object, muted: list[tuple[str, str]]) -> None:
    text = json.dumps(muted) if muted else ""
    if rig.heft.muted != text:
        rig.heft.muted = text


def _solves_body(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> bool:
    return any(each.constraints.get(CONSTRAINT) is not None for each in solved_by(bone, constraint))
