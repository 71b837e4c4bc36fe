"""The result armature: create, write, show and remove it.

Owns the result armature (a copy of the rest data that inherits no scale, child of the rig, in no collection, with the
result action) and the choice between source and result. Must not know where the motion came from.

The rig's action, slot, NLA and pose channels are never changed.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import bpy
import numpy as np

from ...engine import Motion
from .. import settings
from ..blender import actions
from ..errors import RigError
from ..read import read_rig, result_channels, shot
from . import free_objects, show_constraints, stamps

# A channel that varies by less than this is constant [parts of the rig's height, of a scale].
LOCATION_NOISE = 2e-6
SCALE_NOISE = 1e-5
# Keys written in one slice: a few milliseconds.
AT_ONCE = 20_000


# --- the result armature -------------------------------------------------------


def ensure_result(rig: bpy.types.Object) -> bpy.types.Object:
    """The rig's own result armature: created, copied (after the rig was duplicated, or from its library) or updated."""
    result = rig.heft_result
    if result is not None and (result.parent != rig or _is_of_library(result)):
        result = _own_copy(rig, result)
    if result is None:
        result = _new_result(rig)
    elif not _same_rest(rig.data, result.data):
        old = result.data
        result.data = _rest_copy(rig)
        bpy.data.armatures.remove(old)
        _set_modes(result)
    return result


def _new_result(rig: bpy.types.Object) -> bpy.types.Object:
    result = bpy.data.objects.new(f"{rig.name} result", _rest_copy(rig))
    result.data = result.data  # assigning data builds the pose, which a new object lacks
    result.parent = rig
    rig.heft_result = result
    actions.assign(result, actions.new_action(f"{rig.name} result", result))
    _set_modes(result)
    return result


def _is_of_library(result: bpy.types.Object) -> bool:
    """True if the result belongs to a linked rig. Its action is not saved in this file, and every other override of
    that rig shows it."""
    action = result.animation_data.action if result.animation_data else None
    return result.override_library is not None or any(
        block is not None and block.library is not None for block in (result, result.data, action)
    )


def _own_copy(rig: bpy.types.Object, other: bpy.types.Object) -> bpy.types.Object:
    result = other.copy()
    if result.override_library is not None:
        result.make_local(clear_liboverride=True)
    result.data = other.data.copy()
    result.parent = rig
    rig.heft_result = result
    if other.animation_data and other.animation_data.action:
        copied = other.animation_data.action.copy()
        actions.assign(result, copied, actions.same_slot(copied, actions.slot_of(other)))
    for constraint in show_constraints.constraints_of(rig):
        constraint.target = result
    return result


def _rest_copy(rig: bpy.types.Object) -> bpy.types.Armature:
    data = rig.data.copy()
    data.name = f"{rig.name} result"
    data.animation_data_clear()
    data.pose_position = "POSE"
    for bone in data.bones:
        bone.inherit_scale = "NONE"
        bone.use_inherit_rotation = True
        bone.use_local_location = True
        bone.bbone_segments = 1
    return data


def _set_modes(result: bpy.types.Object) -> None:
    if result.pose is None or len(result.pose.bones) != len(result.data.bones):
        raise RigError(f"The result armature of '{result.parent.name}' has no pose: remove physics and add it again.")
    for bone in result.pose.bones:
        bone.rotation_mode = "QUATERNION"


def _same_rest(a: bpy.types.Armature, b: bpy.types.Armature) -> bool:
    if [bone.name for bone in a.bones] != [bone.name for bone in b.bones]:
        return False
    return bool(np.array_equal(_rests(a), _rests(b))) and _ties(a) == _ties(b)


def _rests(data: bpy.types.Armature) -> np.ndarray:
    values = np.empty(len(data.bones) * 16, dtype=np.float32)
    data.bones.foreach_get("matrix_local", values)
    return values


def _ties(data: bpy.types.Armature) -> list[tuple[str, bool]]:
    return [(bone.parent.name if bone.parent else "", bone.use_connect) for bone in data.bones]


# --- writing -------------------------------------------------------------------


def write(rig: bpy.types.Object, reading: read_rig.Reading, motion: Motion, only_moved: bool = False) -> None:
    """Write a simulated motion to the result armature's action; see `write_steps`."""
    for _ in write_steps(rig, poses_of(reading, motion), {}, only_moved):
        pass


@dataclass(frozen=True, eq=False)
class Poses:
    """A motion as keys of the result armature: quats (k, 4, frames) and locations (k, 3, frames), float32. Scales are
    those of the reading."""

    reading: read_rig.Reading
    quats: np.ndarray
    locations: np.ndarray


def poses_of(reading: read_rig.Reading, motion: Motion) -> Poses:
    """The values of the result armature's channels for a motion. Does not touch bpy."""
    return Poses(reading, *(_as_keys(reading, each) for each in result_channels.of_motion(reading, motion)))


def write_steps(
    rig: bpy.types.Object, poses: Poses, sums: dict[tuple[str, int], int], only_moved: bool = False
) -> Generator[float, None, None]:
    """Write poses to the result armature's action, some curves at a time; yields the share that is done.

    only_moved    location and scale of the last reading are written already, so only rotations and the locations of
                  roots and other loose bones are written
    sums          checksums of the curves as last written, updated here; curves that match are skipped

    Whole curves are written, bone by bone: Blender fills a curve in one call or key by key, which takes a hundred times
    longer. The rig shows the new keys only after the last step, when the action is tagged, so old and new motion are
    never mixed. No reference to Blender's data is kept over a yield.
    """
    reading, keyed = poses.reading, poses.reading.keyed
    fresh = not only_moved
    scales = _as_keys(reading, keyed.scales) if fresh else None
    result = ensure_result(rig)
    data = result.animation_data
    if data is None or data.action is None:
        actions.assign(result, actions.new_action(f"{rig.name} result", result))
    stamps.begin(result)
    every = np.arange(len(keyed.names))
    bag, table = _curves(rig)
    if fresh:
        sums.clear()
        _drop_misplaced(bag, table, reading)
    turning = every if fresh else every[keyed.loose | (every < len(reading.names))]
    moving = every if fresh else np.flatnonzero(keyed.loose)
    noise = LOCATION_NOISE * reading.height
    channels = [
        Channels(reading, turning, "rotation_quaternion", poses.quats, actions.SAME, None),
        Channels(reading, moving, "location", poses.locations, noise, 0.0),
    ]
    if fresh:
        channels.append(Channels(reading, every, "scale", scales, SCALE_NOISE, 1.0))
    total, done, at_once = max(sum(len(each.chosen) for each in channels), 1), 0, 0
    for each in channels:
        for bone in each.chosen:
            at_once += each.write(bag, table, bone, fresh, sums)
            done += 1
            if at_once > AT_ONCE:
                at_once = 0
                yield done / total
                bag, table = _curves(rig)
    result = rig.heft_result
    if fresh:
        for key, curve in table.items():
            if key not in sums:
                bag.fcurves.remove(curve)
        rest_unkeyed(result)
    result.animation_data.action.update_tag()
    result.update_tag(refresh={"OBJECT", "DATA", "TIME"})


def _curves(rig: bpy.types.Object):
    """The bag of the result's curves, and the curves by path and index."""
    result = rig.heft_result
    action = result.animation_data.action if result is not None and result.animation_data is not None else None
    if action is None:
        raise RigError(f"The result of '{rig.name}' was taken away while it was written: simulate again.")
    bag = actions.ensure_bag(action, actions.slot_of(result))
    return bag, actions.curve_table(bag)


def _as_keys(reading: read_rig.Reading, values: np.ndarray) -> np.ndarray:
    """The values (frames, k, w) in the layout of keys, (k, w, frames) float32. Raises an error if one is not finite or
    too large for a key."""
    with np.errstate(over="ignore"):
        keys = np.ascontiguousarray(values.transpose(1, 2, 0), dtype=np.float32)
    good = np.isfinite(keys)
    if not good.all():
        frame, k = np.argwhere(~good.all(axis=1).T)[0]
        raise RigError(
            f"The result of bone '{reading.keyed.names[k]}' is not finite at frame {reading.frames[frame]}, "
            "so nothing was written: raise Steps per Second, or look for a key or a scale there that is far too large."
        )
    return keys


def _bone_path(name: str) -> str:
    return f'pose.bones["{bpy.utils.escape_identifier(name)}"]'


def _drop_misplaced(bag, table: dict, reading: read_rig.Reading) -> None:
    """Delete curves in the wrong group: those of a riding bone that became a body, or the reverse."""
    groups = {_bone_path(name): group for name, group in zip(reading.keyed.names, reading.keyed.groups, strict=True)}
    for key, curve in list(table.items()):
        group = groups.get(key[0].rpartition(".")[0])
        if curve.group is None or (group is not None and curve.group.name != group):
            bag.fcurves.remove(curve)
            del table[key]


class Channels:
    """One vector channel of many bones.

    A component that stays within the noise gets one key. A channel that never leaves its default gets no curve; an
    existing one is kept unless `fresh`.
    """

    def __init__(
        self, reading: read_rig.Reading, chosen, suffix: str, values: np.ndarray, noise: float, default
    ) -> None:
        self.reading, self.chosen, self.suffix, self.values = reading, chosen, suffix, values
        self.calm = values.max(axis=2) - values.min(axis=2) <= noise
        self.idle = np.zeros(len(values), dtype=bool)
        if default is not None:
            self.idle = ((np.abs(values[..., 0] - default) <= noise) & self.calm).all(axis=1)
        self.when = reading.frames.astype(np.float32)

    def write(self, bag, table: dict, bone: int, fresh: bool, sums: dict) -> int:
        """Write a bone's curves whose keys differ; returns the number of keys written."""
        keyed, written = self.reading.keyed, 0
        path = f"{_bone_path(keyed.names[bone])}.{self.suffix}"
        if self.idle[bone] and (fresh or (path, 0) not in table):
            return 0
        for i in range(self.values.shape[1]):
            count = 1 if self.calm[bone, i] else len(self.when)
            co = np.empty((count, 2), dtype=np.float32)
            co[:, 0], co[:, 1] = self.when[:count], self.values[bone, i, :count]
            found = zlib.crc32(co)
            if sums.get((path, i)) == found and (path, i) in table:
                continue
            curve = actions.ensure_curve(bag, table, path, i, keyed.groups[bone])
            if actions.move_keys(curve, co):
                curve.lock = True
            sums[path, i] = found
            written += count
        return written


def rest_unkeyed(result: bpy.types.Object) -> None:
    """Reset channels without a curve to their defaults: a deleted curve must not leave its last value behind."""
    count = len(result.pose.bones)
    for name, rest in (("location", (0, 0, 0)), ("rotation_quaternion", (1, 0, 0, 0)), ("scale", (1, 1, 1))):
        result.pose.bones.foreach_set(name, np.tile(np.array(rest, dtype=np.float32), count))


# --- source and result -----------------------------------------------------------


def body_names(rig: bpy.types.Object) -> set[str]:
    """The bones that have keys on the result and that the rig shows."""
    bag = actions.active_bag(rig.heft_result) if rig.heft_result is not None else None
    if bag is None:
        return set()
    return {group.name for group in bag.groups if len(group.channels) and group.name in rig.pose.bones}


def show(rig: bpy.types.Object, which: str) -> None:
    """Show the source or the result on the rig."""
    rig.heft.shown = which
    apply(rig)


def is_visible(rig: bpy.types.Object) -> bool:
    """True if the rig should show its result."""
    return rig.heft.shown == "RESULT" and rig.heft_result is not None and not standing_back(rig)


def apply(rig: bpy.types.Object) -> None:
    """Update constraints, mix and muted IK to match the settings."""
    visible = is_visible(rig)
    show_constraints.apply(rig, body_names(rig) if visible else set())
    free_objects.apply(rig, visible)


def is_applied(rig: bpy.types.Object) -> bool:
    """True if constraints of the rig and its free objects match the settings."""
    visible = is_visible(rig)
    return show_constraints.is_applied(rig, visible) and free_objects.is_applied(rig, visible)


def is_whole(rig: bpy.types.Object) -> bool:
    """True if the keys of the result, and of the free objects, were simulated from the rig's fingerprint."""
    results = (rig.heft_result, *(ob.heft_result for ob in free_objects.results_of(rig)))
    return all(_has_keys(each) and stamps.made_from(each) in (None, rig.heft.fingerprint) for each in results if each)


def _has_keys(result: bpy.types.Object) -> bool:
    """True if the result has an action that was not deleted."""
    return result.animation_data is not None and result.animation_data.action is not None


def record_source(rig: bpy.types.Object) -> None:
    """Record the action and slot that the result was simulated from."""
    data = rig.animation_data
    if data is not None and data.use_tweak_mode:
        # In tweak mode the strip's action is assigned temporarily; the rig's own returns afterwards.
        rig.heft.source_action, rig.heft.source_slot = None, ""
        return
    rig.heft.source_action = data.action if data else None
    rig.heft.source_slot = _slot_name(rig)


def _slot_name(rig: bpy.types.Object) -> str:
    slot = actions.slot_of(rig)
    return str(slot.handle) if slot else ""


def standing_back(rig: bpy.types.Object) -> bool:
    """True if the rig has another action than the simulated one.

    In tweak mode the NLA swaps actions by itself, and overrides may have lost the record: both count as False.
    """
    data = rig.animation_data
    recorded = rig.heft.source_action
    if recorded is None or data is None or data.use_tweak_mode:
        return False
    return data.action != recorded or rig.heft.source_slot != _slot_name(rig)


@contextmanager
def exposed(rig: bpy.types.Object, which: str):
    """Context manager: the rig shows its source (or its result); restored afterwards."""
    before = rig.heft.shown
    changed = rig.heft_result is not None and before != which
    if changed:
        show(rig, which)
    try:
        yield
    finally:
        if changed:
            show(rig, before)


@contextmanager
def sources_shown(rigs: tuple[bpy.types.Object, ...], things: tuple[bpy.types.Object, ...]):
    """Context manager: these rigs and objects show their sources."""
    with ExitStack() as stack:
        for each in rigs:
            stack.enter_context(exposed(each, "SOURCE"))
        stack.enter_context(free_objects.exposed(things))
        yield


def remove(rig: bpy.types.Object) -> None:
    """Remove everything of Heft from the rig and the file."""
    show(rig, "SOURCE")
    for ob in free_objects.results_of(rig):
        free_objects.remove(ob)
    _forget_colliders(rig)
    result = rig.heft_result
    settings.forget(rig, "heft_result")
    if result is not None and result.parent == rig:
        delete_result(result)
    for bone in rig.pose.bones:
        settings.forget(bone, "heft")
    settings.forget(rig, "heft_store")
    settings.forget(rig, "heft")


def _forget_colliders(rig: bpy.types.Object) -> None:
    """Remove Heft's settings from colliders and loads that no other armature with physics uses, and the collection that
    Heft created."""
    group = rig.heft.colliders
    others = [ob for ob in bpy.data.objects if ob != rig and settings.has_physics(ob)]
    shared = {ob for other in others if other.heft.colliders is not None for ob in other.heft.colliders.all_objects}
    shared |= {load.ob for other in others for load in shot.loads(other)}
    held = [*(group.all_objects if group is not None else ()), *(load.ob for load in shot.loads(rig))]
    for ob in held:
        if ob not in shared and ob.library is None:
            settings.forget(ob, "heft_collider")
            if ob.type != "ARMATURE":
                settings.forget(ob, "heft_store")
    if group is not None and rig.heft.own_colliders and not any(other.heft.colliders == group for other in others):
        rig.heft.colliders = None
        bpy.data.collections.remove(group)


def delete_result(result: bpy.types.Object) -> None:
    """Delete a result armature with its data and action."""
    data = result.data
    action = result.animation_data.action if result.animation_data else None
    bpy.data.objects.remove(result)
    bpy.data.armatures.remove(data)
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)
