"""Digests of what a result was made from, part by part: settings, source, structure of the model.

Owns the texts that enter the fingerprint; `inputs` combines them. The declarations say which settings are included.
Must not run simulations.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator

import bpy
import numpy as np

from .. import declare, settings
from ..blender import actions, own_marks, sample_poses
from ..rig import joint_limits
from ..settings import saved
from ..settings.bone import HeftBone
from ..settings.character import HeftArmature
from ..settings.collider import HeftCollider
from . import collision_shapes, curve_digests, read_controller, shot

OBJECT_CHANNELS = (
    "location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale",
    "delta_location", "delta_rotation_quaternion", "delta_rotation_euler", "delta_scale",
)  # fmt: skip
CURVE_SETTINGS = ("dimensions", "twist_mode", "use_radius", "use_path", "use_path_follow", "path_duration", "eval_time")
POINT = (("co", 4), ("tilt", 1), ("radius", 1))
BEZIER_POINT = (("co", 3), ("handle_left", 3), ("handle_right", 3), ("tilt", 1), ("radius", 1))
# How the path of a custom property ends, and that of one of its components.
CUSTOM, INDEX = ('"]', "']"), re.compile(r"\[\d+\]$")
# The settings that the result depends on, in the order of the declarations.
RIG_SETTINGS = declare.names(HeftArmature, is_simulated=True, is_list=False)
LISTS = {each.name: each.points_to for each in declare.of(HeftArmature, is_simulated=True, is_list=True)}
BONE_SETTINGS = declare.names(HeftBone, is_simulated=True)
COLLIDER_SETTINGS = declare.names(HeftCollider, is_simulated=True)
# Settings of hundreds of bones are read at every step of a slider, so each bone's are read in one call.
_bone_values = declare.reader(BONE_SETTINGS)


def settings_text(rig: bpy.types.Object) -> bytes:
    """The settings of a rig and its bones that affect the simulation, as fingerprint text."""
    keyed = read_controller.keyed_settings(rig)
    parts = [json.dumps(_values(rig.heft, "heft", RIG_SETTINGS, keyed))]
    for name, kind in LISTS.items():
        fields = declare.names(kind, is_simulated=True)
        for i, item in enumerate(getattr(rig.heft, name)):
            parts.append(json.dumps(_values(item, f"heft.{name}[{i}]", fields, keyed)))
    natural = rig.heft.natural_limits
    for bone in rig.pose.bones:
        look = bone.heft
        if keyed:
            values = _values(look, f"{bone.path_from_id()}.heft", BONE_SETTINGS, keyed)
        else:
            values = _bone_values(look)
        parts.append(repr(values))
        if _limited(look, natural):
            parts.append(repr(joint_limits.of_rig(bone)))
    return "".join(parts).encode()


def _limited(look: bpy.types.PropertyGroup, natural: bool) -> bool:
    """True if the rig's own limits apply to a bone with these settings. natural: whether they apply by default."""
    if look.behaviour == "IGNORED":
        return False
    return look.limits_from == "RIG" if look.use_limits else natural


def loads_text(loads: Iterable[shot.Load]) -> bytes:
    """What bones carry, as fingerprint text."""
    return b"".join(load.matrix.tobytes() + f"{(load.bone, *_shape_text(load.ob))}".encode() for load in loads)


def object_text(ob: bpy.types.Object) -> bytes:
    """An object's properties without its motion, as fingerprint text."""
    return f"{_shape_text(ob)}".encode()


def _shape_text(ob: bpy.types.Object) -> tuple:
    look = settings.collider_of(ob)
    return collision_shapes.fingerprint(ob), [getattr(look, name) for name in COLLIDER_SETTINGS]


def structure(rig: bpy.types.Object, loads: bytes, skins: bytes) -> str:
    """A digest of the inputs of a rig's model, besides its rest pose: masses, shapes, limits. loads and skins: as
    texts."""
    digest = hashlib.blake2b(digest_size=16)
    for values in _rig_structure(rig.heft):
        digest.update(repr(values).encode())
    natural = rig.heft.natural_limits
    for bone in rig.pose.bones:
        look = bone.heft
        for values in _bone_structure(look):
            digest.update(repr(values).encode())
        if _limited(look, natural):
            digest.update(repr(joint_limits.of_rig(bone)).encode())
    digest.update(loads)
    digest.update(skins)
    return digest.hexdigest()


def structure_reader(kind: type) -> Callable[[bpy.types.PropertyGroup], list[tuple]]:
    """A function that reads the settings of a group that the model depends on: those that always count, then those of
    each switch that is on."""
    parts: dict[str, list[declare.Setting]] = {"": []}
    for setting in declare.of(kind):
        if setting.structure:
            parts.setdefault(setting.structure_if, []).append(setting)
    readers = [
        (switch, declare.reader(tuple(each.name for each in chosen)), _meanings(chosen))
        for switch, chosen in parts.items()
    ]

    def read(group: bpy.types.PropertyGroup) -> list[tuple]:
        out = []
        for switch, values, meanings in readers:
            if switch and not getattr(group, switch):
                continue
            found = values(group)
            for i, meaning in meanings:
                found = (*found[:i], meaning(found[i]), *found[i + 1 :])
            out.append(found)
        return out

    return read


def _meanings(chosen: list[declare.Setting]) -> list[tuple[int, Callable]]:
    """Indices of values that count only through a function of the value, with these functions."""
    return [(i, each.structure) for i, each in enumerate(chosen) if callable(each.structure)]


_rig_structure, _bone_structure = structure_reader(HeftArmature), structure_reader(HeftBone)


def _values(group, base: str, names: tuple[str, ...], keyed: dict) -> list:
    """Values that affect the simulation. A keyed one changes with the frame, so its curve counts instead."""
    return ["keyed" if f"{base}.{name}" in keyed else saved.plain(getattr(group, name)) for name in names]


def source_fingerprint(rig: bpy.types.Object, scene: bpy.types.Scene, frames: np.ndarray | None = None) -> str:
    """A digest of what the rig's source motion depends on; fast, because properties are read in bulk."""
    frames = read_controller.frame_range(rig, scene) if frames is None else frames
    return _source_digest(sample_poses.upstream(rig), scene, frames)


def objects_fingerprint(objects, scene: bpy.types.Scene, frames: np.ndarray) -> str:
    """A digest of what the objects' own motion depends on."""
    blocks = dict.fromkeys(block for ob in objects for block in sample_poses.upstream(ob))
    order = [ob.name_full for ob in objects]
    return repr(order) + (_source_digest(blocks, scene, frames) if order else "")


def _source_digest(blocks, scene: bpy.types.Scene, frames: np.ndarray) -> str:
    digest = hashlib.blake2b(digest_size=16)
    render, unit = scene.render, scene.unit_settings.scale_length
    digest.update(repr((frames[0], frames[-1], render.fps, render.fps_base, unit)).encode())
    digest.update(repr((render.frame_map_old, render.frame_map_new)).encode())
    for block in blocks:
        digest.update(block.name_full.encode())
        _digest_animation(digest, block)
        if isinstance(block, bpy.types.Object):
            _digest_object(digest, block)
        if isinstance(block, bpy.types.Armature):
            digest.update(block.pose_position.encode())
            digest.update(_bulk(block.bones, "matrix_local", 16))
            ties = [(bone.inherit_scale, bone.use_inherit_rotation, bone.use_local_location) for bone in block.bones]
            digest.update(repr((ties, [(bone.use_connect, bone.parent) for bone in block.bones])).encode())
        if isinstance(block, bpy.types.Curve):
            _digest_splines(digest, block)
        if isinstance(block, bpy.types.Action):
            _digest_action(digest, block)
    _digest_switches(digest, blocks)
    return digest.hexdigest()


def _digest_animation(digest, block: bpy.types.ID) -> None:
    data = block.animation_data
    if data is None:
        return
    for curve in _drivers(block):
        _digest_driver(digest, curve)
    if data.action is not None:
        how = (data.action_influence, data.action_blend_type, data.action_extrapolation, data.use_nla)
        digest.update(repr(how).encode())
        digest.update(curve_digests.of_bag(data.action, actions.active_bag(block)))
    for track in data.nla_tracks:
        digest.update(repr((track.mute, track.is_solo)).encode())
        for strip in _strips(track.strips):
            # Its influence is computed for each frame, from its blending or its curves.
            digest.update(repr((strip.frame_start, strip.frame_end, strip.scale, strip.mute)).encode())
            digest.update(repr((strip.action_frame_start, strip.action_frame_end, strip.repeat)).encode())
            digest.update(repr((strip.blend_type, strip.blend_in, strip.blend_out, strip.extrapolation)).encode())
            digest.update(repr((strip.use_reverse, strip.use_animated_influence, strip.use_animated_time)).encode())
            digest.update(f"{getattr(strip, 'action_slot_handle', '')}".encode())
            for curve in strip.fcurves:
                digest.update(curve_digests.of_curve(curve))
            if strip.action is not None:
                _digest_action(digest, strip.action)


def _strips(strips) -> Iterator[bpy.types.NlaStrip]:
    """These NLA strips, and those inside meta strips."""
    for strip in strips:
        yield strip
        yield from _strips(strip.strips)


def _drivers(block: bpy.types.ID) -> list[bpy.types.FCurve]:
    """The user's drivers, without those that mute IK while a result is shown."""
    ours = own_marks.muting_paths(block) if _is_rig(block) else ()
    return [curve for curve in sample_poses.drivers(block) if curve.data_path not in ours]


def _is_rig(block: bpy.types.ID) -> bool:
    return isinstance(block, bpy.types.Object) and settings.has_physics(block)


def _digest_action(digest, action: bpy.types.Action) -> None:
    for bag in actions.bags(action):
        digest.update(curve_digests.of_bag(action, bag))


def source_actions(group: shot.Shot) -> list[bpy.types.Action]:
    """The actions that the sources of a shot depend on."""
    things = (*group.rigs, *group.things)
    found: dict[bpy.types.Action, None] = {}
    for block in dict.fromkeys(block for thing in things for block in sample_poses.upstream(thing)):
        if isinstance(block, bpy.types.Action):
            found[block] = None
        data = block.animation_data if hasattr(block, "animation_data") else None
        if data is not None:
            strips = [strip.action for track in data.nla_tracks for strip in _strips(track.strips)]
            found.update(dict.fromkeys(each for each in (data.action, *strips) if each is not None))
    return list(found)


def _digest_driver(digest, curve: bpy.types.FCurve) -> None:
    driver = curve.driver
    digest.update(f"{curve.data_path}{curve.array_index}{curve.mute}{driver.type}{driver.expression}".encode())
    for variable in driver.variables:
        targets = [(t.id, t.data_path, t.bone_target, t.transform_type, t.transform_space) for t in variable.targets]
        digest.update(repr((variable.name, variable.type, targets)).encode())
    digest.update(curve_digests.of_curve(curve))


def _digest_switches(digest, blocks) -> None:
    """Add the custom properties that drivers read, such as a switch between IK and FK: nothing else covers these."""
    read: dict[tuple[bpy.types.ID, str], None] = {}
    for block in blocks:
        for curve in _drivers(block):
            for variable in curve.driver.variables:
                read.update(dict.fromkeys((target.id, target.data_path) for target in variable.targets))
    moved: dict[bpy.types.ID, set[str]] = {}
    for block, path in read:
        whole = INDEX.sub("", path)
        if block is None or not whole.endswith(CUSTOM):
            continue
        if block not in moved:
            moved[block] = _animated_paths(block)
        if whole not in moved[block]:
            digest.update(f"{path}{_number(block, path)}".encode())


def _number(block: bpy.types.ID, path: str) -> float | None:
    """The value at a path, if it is a number or boolean."""
    try:
        value = block.path_resolve(path)
    except ValueError:
        return None
    return value if isinstance(value, (bool, int, float)) else None


def _all_curves(action: bpy.types.Action):
    return [curve for bag in actions.bags(action) for curve in bag.fcurves]


def _animated_paths(block: bpy.types.ID) -> set[str]:
    """Data paths of animated values: their curves count, not their present value."""
    data = block.animation_data if hasattr(block, "animation_data") else None
    if data is None:
        return set()
    paths = {curve.data_path for curve in actions.active_curves(block)}
    paths |= {curve.data_path for curve in _drivers(block)}
    for track in data.nla_tracks:
        for strip in _strips(track.strips):
            paths |= {curve.data_path for curve in (_all_curves(strip.action) if strip.action else ())}
    return paths


def _digest_object(digest, ob: bpy.types.Object) -> None:
    moved = _animated_paths(ob)
    animated: dict[str, set[str]] = {}
    for path in moved:
        base, _, name = path.rpartition(".")
        animated.setdefault(base, set()).add(name)
    for name in OBJECT_CHANNELS:
        if name not in moved:
            digest.update(np.array(getattr(ob, name), dtype=np.float32).tobytes())
    digest.update(f"{ob.rotation_mode}{ob.parent_type}{ob.parent_bone}".encode())
    digest.update(np.array(ob.matrix_parent_inverse, dtype=np.float32).tobytes())
    for constraint in ob.constraints:
        if constraint.name != own_marks.CONSTRAINT:
            digest.update(_constraint_text(constraint, animated, False).encode())
    if ob.pose is None:
        return
    muted = own_marks.muted_solvers(ob) if settings.has_physics(ob) else ()
    for bone in ob.pose.bones:
        digest.update(f"{bone.rotation_mode}{bone.lock_rotation[:]}".encode())
        for constraint in bone.constraints:
            if constraint.name != own_marks.CONSTRAINT:
                digest.update(_constraint_text(constraint, animated, (bone.name, constraint.name) in muted).encode())
    for name, width in sample_poses.CHANNELS:
        values = np.frombuffer(_bulk(ob.pose.bones, name, width), dtype=np.float32).reshape(-1, width)
        free = [i for i, bone in enumerate(ob.pose.bones) if f"{bone.path_from_id()}.{name}" not in moved]
        digest.update(values[free].tobytes())


def _digest_splines(digest, curve: bpy.types.Curve) -> None:
    """Add the splines of a curve that a bone chain follows. Keyed points count by their keys."""
    moved = _animated_paths(curve)
    digest.update(repr([getattr(curve, name) for name in CURVE_SETTINGS if name not in moved]).encode())
    still = not any(path.startswith("splines") for path in moved)
    for spline in curve.splines:
        digest.update(repr((spline.type, spline.use_cyclic_u, spline.order_u, spline.resolution_u)).encode())
        points, channels = (spline.bezier_points, BEZIER_POINT) if spline.type == "BEZIER" else (spline.points, POINT)
        for name, width in channels if still else ():
            digest.update(_bulk(points, name, width))


def _constraint_text(constraint: bpy.types.Constraint, animated: dict[str, set[str]], is_ours: bool) -> str:
    """A constraint's properties as text, without those that are animated (names by path) or that Heft muted."""
    base = constraint.path_from_id()
    moved = animated.get(base, set())
    influence = "" if "influence" in moved else round(constraint.influence, 6)
    mute = False if is_ours or "mute" in moved else constraint.mute
    targets = [
        (curve_digests.plain_values(target, animated.get(f"{base}.targets[{i}]", ())))
        for i, target in enumerate(constraint.targets if constraint.type == "ARMATURE" else ())
    ]
    return f"{curve_digests.plain_values(constraint, moved | {'influence', 'mute'})}{influence}{mute}{targets}"


def _bulk(collection, name: str, width: int) -> bytes:
    values = np.empty(len(collection) * width, dtype=np.float32)
    collection.foreach_get(name, values)
    return values.tobytes()


def keys_fingerprint(result: bpy.types.Object) -> str:
    """A digest of the result's keys, to detect edits by hand."""
    return f"{sum(actions.keys_sum(curve) for curve in actions.active_curves(result)):x}"
