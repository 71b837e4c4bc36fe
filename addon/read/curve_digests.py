"""Digests of F-curves, cached until their action is edited.

Owns the cache, and the incremental reading of long actions. Must not know what depends on the curves.

Blender needs a tenth of a microsecond to return a key, so a minute of motion capture would delay every redraw. In a
window Blender reports which action was edited. Scripts without a window need not report it, so nothing is cached there.
Short actions are read every time, except while a slider is dragged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from ..blender import actions, setting_paths
from ..memory import EDIT_KEYS, LOAD, UNDO, Memo, Value

# Actions with fewer keys than this are read at once, every time.
FEW = 20_000
# Properties of keys with easing, bounce or elastic interpolation.
EASED = ("easing", "amplitude", "back", "period")

# By action and slot.
_kept: Memo[tuple[int, str], bytes] = Memo("digests of curves", "action", (LOAD, UNDO, EDIT_KEYS))
_long: Memo[int, bool] = Memo("long actions", "action", (LOAD, UNDO, EDIT_KEYS))
# Counter of open blocks within which cached digests are trusted.
_trusting = Value("trust in digests", int)


@contextmanager
def trusting() -> Iterator[None]:
    """Context manager for a slider drag in a window: cached digests of short actions are trusted too, unless an edit
    was reported. A change by a script that was not reported is found by the stamp on the result."""
    _trusting.value += 1
    try:
        yield
    finally:
        _trusting.value -= 1


def is_long(action: bpy.types.Action) -> bool:
    """True if reading the action takes so long that its digest is cached."""
    if bpy.app.background:
        return False

    def count() -> bool:
        return sum(len(curve.keyframe_points) for bag in actions.bags(action) for curve in bag.fcurves) >= FEW

    return _long.remember(action.session_uid, count)


def of_bag(action: bpy.types.Action, bag) -> bytes:
    """A digest of a bag's curves, without those of the mix."""
    if bag is None:
        return b""
    if bpy.app.background:
        return _whole(bag, map(of_curve, bag.fcurves))
    key = _key(action, bag)
    if key not in _kept or not (_trusting.value or is_long(action)):
        _kept[key] = _whole(bag, map(of_curve, bag.fcurves))
    return _kept[key]


def is_ready(found: Iterable[bpy.types.Action]) -> bool:
    """True if the digests of all long actions among these are cached."""
    return all(_key(action, bag) in _kept for action in found if is_long(action) for bag in actions.bags(action))


def prepare(found: Iterable[bpy.types.Action]) -> Generator[None, None, None]:
    """Read the long actions among these, a few curves at a time. Actions edited meanwhile are read again."""
    for name in [action.name_full for action in found if is_long(action)]:
        parts: dict[tuple[int, str], list[bytes]] = {}
        done = 0
        while True:
            # Curves may be deleted between two steps, so no reference to them is kept.
            action = next((each for each in bpy.data.actions if each.name_full == name), None)
            if action is None or not is_long(action):
                break
            curves = [(_key(action, bag), curve) for bag in actions.bags(action) for curve in bag.fcurves]
            if done >= len(curves):
                found = {_key(action, bag): bag for bag in actions.bags(action)}
                _kept.update({key: _whole(bag, parts.get(key, ())) for key, bag in found.items()})
                break
            read = 0
            for key, curve in curves[done:]:
                parts.setdefault(key, []).append(of_curve(curve))
                done += 1
                read += len(curve.keyframe_points)
                if read > FEW:
                    break
            yield


def _key(action: bpy.types.Action, bag) -> tuple[int, str]:
    slot = getattr(bag, "slot_handle", None)
    return action.session_uid, str(slot)


def _whole(bag, curves: Iterable[bytes]) -> bytes:
    """The digest of a bag from the digests of its curves."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr([group.name for group in bag.groups if group.mute]).encode())
    for part in curves:
        digest.update(part)
    return digest.digest()


def of_curve(curve: bpy.types.FCurve) -> bytes:
    """The digest of one curve; empty for a curve of the mix, which is shown and not simulated."""
    if setting_paths.is_mix(curve.data_path):
        return b""
    digest = hashlib.blake2b(digest_size=16)
    points = curve.keyframe_points
    count = len(points)
    digest.update(f"{curve.data_path}{curve.array_index}{curve.mute}{curve.extrapolation}{count}".encode())
    co = np.empty(count * 2, dtype=np.float32)
    points.foreach_get("co", co)
    digest.update(co.tobytes())
    kinds = np.empty(count, dtype=np.int32)
    points.foreach_get("interpolation", kinds)
    digest.update(kinds.tobytes())
    kind = kinds.max(initial=actions.CONSTANT)
    if kind >= actions.BEZIER:
        for part in ("handle_left", "handle_right"):
            points.foreach_get(part, co)
            digest.update(co.tobytes())
    if kind > actions.BEZIER:
        for part in EASED:
            points.foreach_get(part, co[:count])
            digest.update(co[:count].tobytes())
    for modifier in curve.modifiers:
        digest.update(repr(plain_values(modifier)).encode())
    return digest.digest()


# Properties of constraints and modifiers that Blender computes or that do not affect the pose.
VOLATILE = {"enabled", "error_location", "error_rotation", "is_valid", "active", "show_expanded"}


def plain_values(thing: bpy.types.bpy_struct, without: Collection[str] = ()) -> list:
    """The numbers, switches, enumerations and names of a small struct, with the names of the blocks it points to."""
    values = []
    for prop in thing.bl_rna.properties:
        if prop.identifier in without:
            continue
        value = getattr(thing, prop.identifier, None)
        if prop.type == "POINTER":
            values.append(value.name_full if isinstance(value, bpy.types.ID) else None)
        elif prop.type != "COLLECTION" and prop.identifier not in VOLATILE:
            values.append(value[:] if getattr(prop, "is_array", False) else value)
    return values
