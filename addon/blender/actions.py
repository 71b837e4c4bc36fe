"""Actions, old and new: F-curves found, made and filled in bulk.

Owns the difference between legacy actions (Blender 4.2 and 4.3: `action.fcurves`)
and slotted ones (4.4 and later: layers, strips, channelbags). Must not know bones,
physics or what the numbers mean.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator

import bpy
import numpy as np

HAS_SLOTS = bpy.app.version >= (4, 4, 0)
CONSTANT, LINEAR, BEZIER = 0, 1, 2
FREE_HANDLE, AUTOMATIC_HANDLES = 0, (1, 4)
# A channel whose values differ by less than this is constant: rounding of float32 poses, 0.0001 degrees.
SAME = 1e-6
# The ends of a cycle may differ by this part of its value range.
ROUND = 0.01

# The properties of a key, with width and number type; `co` first.
KEY_PARTS = (
    ("co", 2, np.float32),
    ("handle_left", 2, np.float32),
    ("handle_right", 2, np.float32),
    ("interpolation", 1, np.int32),
    ("easing", 1, np.int32),
    ("handle_left_type", 1, np.int32),
    ("handle_right_type", 1, np.int32),
    ("type", 1, np.int32),
    ("amplitude", 1, np.float32),
    ("back", 1, np.float32),
    ("period", 1, np.float32),
)


def slot_of(id_block: bpy.types.ID):
    """The slot of the block's active action, None on legacy Blenders or without one."""
    data = id_block.animation_data
    return getattr(data, "action_slot", None) if data else None


def bag_of(action: bpy.types.Action, slot=None):
    """The container of F-curves and groups: the slot's channelbag, or the legacy action. None if there is none."""
    if action is None:
        return None
    if not HAS_SLOTS:
        return action
    if slot is None:
        return None
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            if bag is not None:
                return bag
    return None


def bags(action: bpy.types.Action, slot=None) -> list:
    """The containers of the action's curves: that of the slot, or all without a slot."""
    if not HAS_SLOTS:
        return [action]
    if slot is not None:
        found = bag_of(action, slot)
        return [found] if found is not None else []
    return [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]


def active_bag(id_block: bpy.types.ID):
    """The bag that animates the block through its active action, or None."""
    data = id_block.animation_data
    if data is None or data.action is None:
        return None
    return bag_of(data.action, slot_of(id_block))


def active_curves(id_block: bpy.types.ID) -> Iterable[bpy.types.FCurve]:
    """The F-curves of the block's active action; empty without one."""
    bag = active_bag(id_block)
    return bag.fcurves if bag is not None else ()


def new_action(name: str, id_block: bpy.types.ID) -> bpy.types.Action:
    """An empty action made for the block's type, with (from 4.4) one slot."""
    action = bpy.data.actions.new(name)
    if HAS_SLOTS:
        action.slots.new(id_block.id_type, id_block.name)
    else:
        action.id_root = id_block.id_type
    return action


def ensure_bag(action: bpy.types.Action, slot=None):
    """The slot's bag (of the first slot if none is given). Layer and strip are created where missing."""
    if not HAS_SLOTS:
        return action
    slot = slot or action.slots[0]
    found = bag_of(action, slot)
    if found is not None:
        return found
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True)


def assign(id_block: bpy.types.ID, action: bpy.types.Action | None, slot=None) -> None:
    """Make the action (and its slot) the block's active one."""
    data = id_block.animation_data or id_block.animation_data_create()
    data.action = action
    if HAS_SLOTS and action is not None:
        data.action_slot = slot or action.slots[0]


def same_slot(action: bpy.types.Action, slot):
    """The slot of a copied action that corresponds to the original's slot."""
    if not HAS_SLOTS or slot is None:
        return None
    return next((other for other in action.slots if other.identifier == slot.identifier), None)


def curve_table(bag) -> dict[tuple[str, int], bpy.types.FCurve]:
    """The bag's curves by data path and index."""
    if bag is None:
        return {}
    return {(curve.data_path, curve.array_index): curve for curve in bag.fcurves}


def ensure_curve(bag, table: dict, path: str, index: int, group: str = "") -> bpy.types.FCurve:
    """The curve of that path and index, created where missing, in the named group."""
    curve = table.get((path, index))
    if curve is None:
        curve = bag.fcurves.new(path, index=index)
        if group:
            curve.group = bag.groups.get(group) or bag.groups.new(group)
        table[path, index] = curve
    return curve


def write_keys(curve: bpy.types.FCurve, frames: np.ndarray, values: np.ndarray) -> None:
    """Make the curve hold exactly these values on these frames. A constant gets one key.

    frames (n,) float32, values (n,) float32.
    """
    if values.max() - values.min() <= SAME:
        frames, values = frames[:1], values[:1]
    if move_keys(curve, np.stack([frames, values], axis=1)):
        curve.update()


def move_keys(curve: bpy.types.FCurve, co: np.ndarray) -> bool:
    """Set the curve's keys to co (keys, 2) float32; True if keys had to be added or removed.

    If their number is right, existing keys are only moved, which makes dragging a slider cheap.
    """
    points = curve.keyframe_points
    fresh = len(points) != len(co)
    if fresh:
        points.clear()
        points.add(len(co))
        points.foreach_set("interpolation", np.full(len(co), LINEAR, dtype=np.int32))
    points.foreach_set("co", co.ravel())
    return fresh


def keys_sum(curve: bpy.types.FCurve) -> int:
    """A checksum of the curve's key positions."""
    co = np.empty(len(curve.keyframe_points) * 2, dtype=np.float32)
    curve.keyframe_points.foreach_get("co", co)
    return zlib.crc32(co)


def read_keys(curve: bpy.types.FCurve) -> dict[str, np.ndarray]:
    """All properties of all keys as arrays (keys, width)."""
    count = len(curve.keyframe_points)
    parts = {}
    for name, width, kind in KEY_PARTS:
        buffer = np.empty(count * width, dtype=kind)
        curve.keyframe_points.foreach_get(name, buffer)
        parts[name] = buffer.reshape(count, width)
    return parts


def frames_around(curve: bpy.types.FCurve, first: int, last: int, played: tuple[int, int]) -> tuple[range, range]:
    """Whole frames before and after a span that need keys of their own, because replacing the span would change them.

    These reach up to the neighbouring keys; one frame where there are none but the scene continues; all played frames
    where modifiers change the curve.
    """
    if len(curve.modifiers):
        return range(min(played[0], first), first), range(last + 1, max(played[1], last) + 1)
    when = [point.co[0] for point in curve.keyframe_points]
    left = max((frame for frame in when if frame < first - 1e-3), default=None)
    right = min((frame for frame in when if frame > last + 1e-3), default=None)
    start = first - (played[0] < first) if left is None else math.floor(left) + 1
    end = last + (played[1] > last) if right is None else math.ceil(right) - 1
    return range(min(start, first), first), range(last + 1, max(end, last) + 1)


def values_at(curve: bpy.types.FCurve, frames: Iterable[int], bare: float) -> list[float]:
    """The curve's values on these frames; the channel's own value if the curve has no keys or is muted."""
    if curve.mute or not len(curve.keyframe_points):
        return [bare for _ in frames]
    return [curve.evaluate(frame) for frame in frames]


def step_frames(curve: bpy.types.FCurve) -> Iterator[float]:
    """Frames of keys at which the curve jumps: after a key with constant interpolation, to another value."""
    count = len(curve.keyframe_points)
    if count < 2:
        return
    interpolation = np.empty(count, dtype=np.int32)
    curve.keyframe_points.foreach_get("interpolation", interpolation)
    held = interpolation[:-1] == CONSTANT
    if not held.any():
        return
    co = np.empty(count * 2, dtype=np.float32)
    curve.keyframe_points.foreach_get("co", co)
    co = co.reshape(count, 2)
    jumps = held & (np.abs(np.diff(co[:, 1])) > SAME)
    for frame in co[1:][jumps][:, 0]:
        yield float(frame)


def changes(curve: bpy.types.FCurve) -> bool:
    """True if the curve's keys differ in value."""
    co = np.empty(len(curve.keyframe_points) * 2, dtype=np.float32)
    curve.keyframe_points.foreach_get("co", co)
    return len(co) > 2 and float(np.ptp(co[1::2])) > SAME


def is_endless(modifier: bpy.types.FModifier, before: bool = False) -> bool:
    """True if the modifier repeats the curve for ever, after its last key or before its first."""
    if modifier.type != "CYCLES" or modifier.mute or modifier.use_restricted_range:
        return False
    if modifier.use_influence and modifier.influence < 1.0:
        return False
    mode, count = (
        (modifier.mode_before, modifier.cycles_before)
        if before
        else (
            modifier.mode_after,
            modifier.cycles_after,
        )
    )
    return mode != "NONE" and count == 0


def comes_round(curve: bpy.types.FCurve, first: float, last: float) -> bool:
    """True if the curve has the same value on both frames, within the precision of keying by hand."""
    co = np.empty(len(curve.keyframe_points) * 2, dtype=np.float32)
    curve.keyframe_points.foreach_get("co", co)
    reach = float(np.ptp(co[1::2])) if len(co) else 0.0
    return abs(curve.evaluate(last) - curve.evaluate(first)) <= max(ROUND * reach, SAME)


def key_frames(curve: bpy.types.FCurve, kind: int | None = None) -> list[float]:
    """Frames of the curve's keys, in its own time: those of one keyframe type, or all."""
    count = len(curve.keyframe_points)
    co = np.empty(count * 2, dtype=np.float32)
    curve.keyframe_points.foreach_get("co", co)
    frames = co.reshape(count, 2)[:, 0]
    if kind is not None:
        kinds = np.empty(count, dtype=np.int32)
        curve.keyframe_points.foreach_get("type", kinds)
        frames = frames[kinds == kind]
    return frames.tolist()


def active_action(rig: bpy.types.Object) -> bpy.types.Action | None:
    """The action assigned to the rig, or None."""
    return rig.animation_data.action if rig.animation_data is not None else None
