"""Torque, stress and deviation of bones as curves that the Graph Editor plots.

Owns the empty that carries them: a child of the rig, in its collection, since the Graph Editor lists only what is in
the scene. Its custom properties are named after bone and unit. Their curves are samples, not keys, so nobody edits them
by mistake. The rig's own action is never changed. Must not simulate.
"""

from __future__ import annotations

import colorsys
import json
from collections.abc import Callable
from typing import NamedTuple

import bpy
import numpy as np

from ... import engine
from ...engine.math import rotations
from .. import controllers
from ..blender import actions, compat, own_collections
from ..read import read_controller, read_rig

# Blender's longest name of a custom property [bytes].
LONGEST = 63


# --- numbers -----------------------------------------------------------------------------


def torque(_rig: bpy.types.Object, _reading: read_rig.Reading, result: engine.Result) -> np.ndarray:
    """(frames, n) [N m] the size of each joint's torque."""
    return np.linalg.norm(result.torques, axis=2)


def stress(rig: bpy.types.Object, reading: read_rig.Reading, result: engine.Result) -> np.ndarray:
    """(frames, n) the torque divided by the joint's largest torque; 0 for a joint whose largest torque is 0."""
    most = limits(rig, reading)
    given = torque(rig, reading, result)
    return np.divide(given, most, out=np.zeros_like(given), where=np.broadcast_to(most, given.shape) > 0.0)


def limits(rig: bpy.types.Object, reading: read_rig.Reading) -> np.ndarray:
    """(n,) or (frames, n) [N m] the largest torque of each joint: that of a strong person if strength is not
    limited."""
    return read_controller.limits_of(rig, reading.model, reading.names, reading.frames)


def deviation(_rig: bpy.types.Object, reading: read_rig.Reading, result: engine.Result) -> np.ndarray:
    """(frames, n) [°] the angle between each body and its source, in the world."""
    source, moved = (_turns(reading.model, motion) for motion in (reading.motion, result.motion))
    return np.degrees(rotations.angle_between(source, moved))


def _turns(model: engine.Model, motion: engine.Motion) -> np.ndarray:
    """(frames, n, 4) rotations of the bodies in the world."""
    turns = np.empty_like(motion.rotations)
    for body, parent in enumerate(model.parents):
        own = rotations.multiply(model.rest_rotations[body], motion.rotations[:, body])
        turns[:, body] = rotations.multiply(turns[:, parent], own) if parent >= 0 else own
    return turns


def channel(name: str) -> Callable:
    """A controller's channel by body. A channel of the whole character is given to its root, and 0 to other bodies."""

    def numbers(_rig: bpy.types.Object, reading: read_rig.Reading, result: engine.Result) -> np.ndarray:
        values = result.channels[name].values
        if values.ndim == 2:
            return values
        out = np.zeros((len(values), len(reading.names)))
        out[:, reading.model.parents < 0] = values[:, None]
        return out

    return numbers


class Kind(NamedTuple):
    """A kind of curve: word and unit, saturation and brightness of its colour (the hue is the bone's), function of its
    values."""

    words: str
    tint: tuple[float, float]
    numbers: Callable


# By the setting that switches it on.
KINDS = {
    "curve_torque": Kind("torque (N m)", (0.6, 1.0), torque),
    "curve_stress": Kind("stress", (0.25, 1.0), stress),
    "curve_deviation": Kind("deviation (°)", (0.45, 0.85), deviation),
} | {each.setting: Kind(each.words, each.tint, channel(each.channel)) for each in controllers.CURVES}
# The words that identify these curves by name.
WORDS = " ".join(kind.words.split()[0] for kind in KINDS.values())


def kinds_of(rig: bpy.types.Object) -> list[str]:
    """The kinds that the rig's controller has: the general ones and those of its own channels."""
    own = {each.setting for each in controllers.entry(rig.heft.controller).curves}
    return [kind for kind in KINDS if kind in own or all(kind != each.setting for each in controllers.CURVES)]


# --- the empty ---------------------------------------------------------------------------


def holder_of(rig: bpy.types.Object) -> bpy.types.Object | None:
    """The rig's empty with curves, if it has one."""
    return next((child for child in rig.children if _is_holder(child) and child.heft_collider.rig == rig), None)


def _is_holder(ob: bpy.types.Object) -> bool:
    """True for an empty created by Heft that is not a free object's result."""
    return ob.type == "EMPTY" and ob.is_property_set("heft_collider") and ob.heft_collider.owner == ob.parent


def _ensure_holder(rig: bpy.types.Object) -> bpy.types.Object:
    holder = holder_of(rig)
    if holder is None:
        holder = bpy.data.objects.new(f"{rig.name} curves", None)
        holder.heft_collider.owner = holder.heft_collider.rig = rig
        holder.parent = rig
        holder.empty_display_size = 1e-4
        holder.hide_render = True
        holder.lock_location = holder.lock_rotation = holder.lock_scale = (True, True, True)
        own_collections.beside(rig).objects.link(holder)
    data = holder.animation_data
    if data is None or data.action is None or data.action.users > 1:
        actions.assign(holder, actions.new_action(f"{rig.name} curves", holder))
    return holder


def remove(rig: bpy.types.Object) -> None:
    """Delete the curves and their empty."""
    holder = holder_of(rig)
    if holder is None:
        return
    action = holder.animation_data.action if holder.animation_data else None
    bpy.data.objects.remove(holder)
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)


# --- writing -------------------------------------------------------------------------------


def choose_bones(rig: bpy.types.Object) -> None:
    """Choose the selected bones for the curves."""
    rig.heft.curve_names = json.dumps([bone.name for bone in rig.pose.bones if compat.is_selected(bone)])


def chosen(rig: bpy.types.Object, names: tuple[str, ...]) -> list[int]:
    """The bodies that get curves; all if none of the chosen bones is a body."""
    if rig.heft.curve_bones == "SELECTED":
        wanted = set(json.loads(rig.heft.curve_names or "[]"))
        found = [i for i, name in enumerate(names) if name in wanted]
        if found:
            return found
    return list(range(len(names)))


def write(rig: bpy.types.Object, reading: read_rig.Reading, result: engine.Result) -> None:
    """Write the curves that are switched on; delete all others."""
    kinds = [kind for kind in kinds_of(rig) if getattr(rig.heft, kind)]
    if not rig.heft.use_curves or not kinds:
        remove(rig)
        return
    holder = _ensure_holder(rig)
    bag = actions.ensure_bag(holder.animation_data.action, actions.slot_of(holder))
    table = actions.curve_table(bag)
    wanted: dict[str, str] = {}
    values = {kind: KINDS[kind].numbers(rig, reading, result).astype(np.float32) for kind in kinds}
    bodies = chosen(rig, reading.names)
    for k, body in enumerate(bodies):
        for kind in kinds:
            name = _property_name(reading.names[body], KINDS[kind].words)
            path = f'["{bpy.utils.escape_identifier(name)}"]'
            if name not in holder:
                holder[name] = 0.0
            curve = _sampled(bag, table, path, reading.names[body], reading.frames, values[kind][:, body])
            curve.color_mode, curve.color = "CUSTOM", colorsys.hsv_to_rgb(k / len(bodies), *KINDS[kind].tint)
            wanted[path] = name
    for (path, _), curve in table.items():
        if path not in wanted:
            bag.fcurves.remove(curve)
    for group in [group for group in bag.groups if not len(group.channels)]:
        bag.groups.remove(group)
    for name in set(holder.keys()).difference(wanted.values()):
        if name.endswith(tuple(kind.words for kind in KINDS.values())):
            del holder[name]
    holder.animation_data.action.update_tag()
    holder.update_tag(refresh={"TIME"})


def _sampled(bag, table: dict, path: str, group: str, frames: np.ndarray, values: np.ndarray) -> bpy.types.FCurve:
    """The curve at that path with these samples, one for each frame. frames (n,) without gaps, values (n,) float32."""
    curve = table.pop((path, 0), None)
    if curve is not None:
        bag.fcurves.remove(curve)  # samples can be neither added nor removed
    curve = actions.ensure_curve(bag, table, path, 0, group)
    actions.move_keys(curve, np.stack([frames.astype(np.float32), values], axis=1))
    curve.convert_to_samples(int(frames[0]), int(frames[-1]) + 1)
    return curve


def _property_name(bone: str, words: str) -> str:
    """Bone, word and unit, cut to Blender's longest name."""
    room = LONGEST - len(words.encode()) - 1
    return f"{bone.encode()[:room].decode(errors='ignore')} {words}"
