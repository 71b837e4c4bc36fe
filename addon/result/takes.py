"""Takes: results kept with their settings, shown again without simulating.

Owns `ob.heft.takes` and the actions in them. A take covers a whole shot: characters simulated together keep and show
theirs together, with the same `uid`. A take's actions are never written to; showing a take copies them to the result. A
result that is in no take is kept as one before another is shown. Must not simulate.
"""

from __future__ import annotations

import hashlib
import json

import bpy

from .. import declare, events
from ..blender import actions
from ..errors import RigError
from ..read import fingerprint, shot
from ..settings import saved
from ..settings.character import HeftArmature
from . import free_objects, result_armature, stamps, take_settings, takes_side_by_side

# What is kept of a result besides its keys: single values, and lists with the names of their entries' values.
STATE = declare.names(HeftArmature, of_result=True, is_list=False)
STATE_LISTS = {
    each.name: declare.names(each.points_to) for each in declare.of(HeftArmature, of_result=True, is_list=True)
}


def find(rig: bpy.types.Object, uid: str):
    """The take with that uid, or None."""
    return next((take for take in rig.heft.takes if take.uid == uid), None) if uid else None


def shown(rig: bpy.types.Object):
    """The take that was shown last, or None. The settings may have changed since."""
    return find(rig, rig.heft.take)


def active(rig: bpy.types.Object):
    """The take of the list's active row, or None. Its result may be missing."""
    row = rig.heft.take_index
    return rig.heft.takes[row] if 0 <= row < len(rig.heft.takes) else None


def is_changed(rig: bpy.types.Object) -> bool:
    """True if the rig was simulated since the take was shown, or none is shown. Fast enough for draw callbacks."""
    take = shown(rig)
    return take is None or _marks(take) != (rig.heft.fingerprint, rig.heft.written)


def _marks(take) -> tuple[str, str]:
    state = json.loads(take.state)
    return state["fingerprint"], state["written"]


# --- keeping ---------------------------------------------------------------------------


def keep(rig: bpy.types.Object, group: shot.Shot, name: str = "", auto: bool = False):
    """Keep the shot's present settings and result as a take; returns the rig's own."""
    _check_result(rig)
    rigs = [each for each in group.rigs if each.heft_result is not None]
    uid, name = _new_uid(rig), name or _new_name(group)
    for each in rigs:
        take = each.heft.takes.add()
        take.uid, take.name, take.auto = uid, name, auto
        _fill(each, take, take_settings.packed(each, group))
        _mark_shown(each, uid)
    return find(rig, uid)


def keep_present(rig: bpy.types.Object, group: shot.Shot) -> None:
    """Before another take is shown: keep the present result if it is in no take. An automatic take is updated
    instead."""
    if rig.heft_result is None or same(rig, group) is not None:
        return
    take = shown(rig)
    if take is not None and take.auto:
        update(rig, group, take.uid)
    else:
        keep(rig, group, auto=True)


def keep_by_hand(rig: bpy.types.Object, group: shot.Shot):
    """Keep a result that the user edited as a take, with the settings it was made with, before it is overwritten."""
    take = rig.heft.takes.add()
    take.uid, take.name = _new_uid(rig), _new_name(group, "By Hand")
    _fill(rig, take, rig.heft.made_with or take_settings.packed(rig, group))
    return take


def keep_for_good(group: shot.Shot, uid: str, name: str = "") -> None:
    """Turn an automatic take into a permanent one."""
    for each in group.rigs:
        take = find(each, uid)
        if take is not None:
            take.auto = False
            take.name = name or take.name


def update(rig: bpy.types.Object, group: shot.Shot, uid: str) -> None:
    """Replace a take's settings and result by the present ones."""
    _check_result(rig)
    for each in group.rigs:
        take = find(each, uid)
        if take is not None and each.heft_result is not None:
            _drop_actions(take)
            _fill(each, take, take_settings.packed(each, group))
            _mark_shown(each, uid)
            takes_side_by_side.apply(each)


def same(rig: bpy.types.Object, group: shot.Shot):
    """The take with exactly the present settings and result, or None."""
    now, keys = take_settings.packed(rig, group), fingerprint.keys_fingerprint(rig.heft_result)
    return next(
        (take for take in rig.heft.takes if take.settings == now and _marks(take) == (rig.heft.fingerprint, keys)), None
    )


def _check_result(rig: bpy.types.Object) -> None:
    result = rig.heft_result
    if result is None or result.animation_data is None or result.animation_data.action is None:
        raise RigError(f"'{rig.name}' has no result to keep: press Simulate first.")


def _fill(rig: bpy.types.Object, take, settings: str) -> None:
    take.settings = settings
    state = {name: getattr(rig.heft, name) for name in STATE}
    state["written"] = fingerprint.keys_fingerprint(rig.heft_result)
    if not result_armature.is_whole(rig):
        state["fingerprint"] = ""  # stale or incomplete keys: shown again, they are still out of date
    for each, names in STATE_LISTS.items():
        state[each] = [{name: getattr(entry, name) for name in names} for entry in getattr(rig.heft, each)]
    take.state = json.dumps(state)
    take.source_action = rig.heft.source_action
    take.action = _copy_of(rig.heft_result, f"{rig.name} {take.name}")
    take.objects.clear()
    for ob in free_objects.results_of(rig):
        part = take.objects.add()
        part.ob, part.action = ob, _copy_of(ob.heft_result, f"{ob.name} {take.name}")


def _copy_of(holder: bpy.types.Object, name: str) -> bpy.types.Action | None:
    action = holder.animation_data.action if holder.animation_data else None
    if action is None:
        return None
    copied = action.copy()
    copied.name = name
    return copied


def _new_name(group: shot.Shot, word: str = "Take") -> str:
    taken = {take.name for each in group.rigs for take in each.heft.takes}
    return next(name for k in range(1, len(taken) + 2) if (name := f"{word} {k}") not in taken)


def _new_uid(rig: bpy.types.Object) -> str:
    """A unique identifier; the same steps give the same one."""
    taken = {take.uid for ob in bpy.data.objects if ob.is_property_set("heft") for take in ob.heft.takes}
    for k in range(len(taken) + 1):
        text = f"{rig.name_full} {rig.heft.fingerprint} {rig.heft.written} {k}"
        uid = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        if uid not in taken:
            return uid
    raise AssertionError("more names than takes")


# --- showing ---------------------------------------------------------------------------


def choose(rig: bpy.types.Object, group: shot.Shot, uid: str) -> list[bpy.types.Object]:
    """Show a take with its settings, on all rigs of its shot. Returns these rigs."""
    take = find(rig, uid)
    if take is None:
        raise RigError(f"'{rig.name}' has no such take.")
    rigs = [each for each in group.rigs if find(each, uid) is not None]
    gone = next((each for each in rigs if find(each, uid).action is None), None)
    if gone is not None:
        whose = "" if gone == rig else f" on '{gone.name}'"
        raise RigError(f"The result of '{take.name}'{whose} is gone, its action was deleted: delete the take.")
    with events.paused():
        for each in rigs:
            take_settings.restore(each, find(each, uid).settings)
        for each in rigs:
            _show(each, find(each, uid))
            _mark_shown(each, uid)
    return rigs


def _show(rig: bpy.types.Object, take) -> None:
    heft, state = rig.heft, json.loads(take.state)
    for name in STATE:
        setattr(heft, name, state[name])
    heft.baked, heft.source_action, heft.made_with = "", take.source_action, take.settings
    for name in STATE_LISTS:
        entries = getattr(heft, name)
        entries.clear()
        for values in state[name]:
            saved.restore(entries.add(), values)
    result = result_armature.ensure_result(rig)
    _put(result, take.action, f"{rig.name} result")
    stamps.end(result, heft.fingerprint, heft.written)
    result_armature.rest_unkeyed(result)
    kept = {part.ob: part.action for part in take.objects if part.ob is not None and part.action is not None}
    for ob in free_objects.results_of(rig):
        if ob not in kept:
            free_objects.remove(ob)
    for ob, action in kept.items():
        _put(free_objects.ensure_result(rig, ob), action, f"{ob.name} result")
    result_armature.show(rig, "RESULT")


def _put(holder: bpy.types.Object, action: bpy.types.Action, name: str) -> None:
    """Assign a copy of the action in place of the holder's own."""
    old = holder.animation_data.action if holder.animation_data else None
    copied = action.copy()
    actions.assign(holder, copied)
    if old is not None and old.users == 0:
        bpy.data.actions.remove(old)
    copied.name = name
    holder.update_tag(refresh={"OBJECT", "TIME"})


def _mark_shown(rig: bpy.types.Object, uid: str) -> None:
    heft = rig.heft
    if heft.take != uid:
        heft.take_before, heft.take = heft.take, uid
    _mark_row(rig)


def _mark_row(rig: bpy.types.Object) -> None:
    """Make the row of the shown take the active one."""
    row = next((i for i, take in enumerate(rig.heft.takes) if take.uid == rig.heft.take), -1)
    if rig.heft.take_index != row:
        rig.heft.take_index = row


def picked(rig: bpy.types.Object) -> str | None:
    """The uid of the clicked row, if it is not the shown take."""
    take = active(rig)
    return take.uid if take is not None and take.uid != rig.heft.take else None


def other(rig: bpy.types.Object) -> str:
    """The uid of the take to flip to: the one shown before, or the shown one if the result has changed since."""
    here, before = shown(rig), find(rig, rig.heft.take_before)
    if before is not None:
        return before.uid
    if here is not None and is_changed(rig):
        return here.uid
    rest = [take.uid for take in rig.heft.takes if take != here]
    if not rest:
        raise RigError(f"'{rig.name}' has no two takes to flip between: keep some.")
    return rest[-1]


# --- taking away -------------------------------------------------------------------------


def delete(rig: bpy.types.Object, uid: str) -> None:
    """Delete a take from all rigs of its shot; the shown result stays."""
    for each in shot.of(rig).rigs:
        row = next((i for i, take in enumerate(each.heft.takes) if take.uid == uid), -1)
        if row >= 0:
            _delete_row(each, row)


def delete_all(rig: bpy.types.Object) -> None:
    """Delete all takes of one rig."""
    while len(rig.heft.takes):
        _delete_row(rig, len(rig.heft.takes) - 1)


def _delete_row(rig: bpy.types.Object, row: int) -> None:
    take, heft = rig.heft.takes[row], rig.heft
    uid = take.uid
    _drop_actions(take)
    heft.takes.remove(row)
    takes_side_by_side.apply(rig)
    if heft.take == uid:
        heft.take = ""
    if heft.take_before == uid:
        heft.take_before = ""
    _mark_row(rig)


def _drop_actions(take) -> None:
    """Delete a take's actions, unless they have other users (a duplicated rig, or the user assigned one)."""
    takes_side_by_side.remove(take.id_data, take.uid)
    gone = [take.action, *(part.action for part in take.objects)]
    take.action = None
    take.objects.clear()
    for action in gone:
        if action is not None and action.users == 0:
            bpy.data.actions.remove(action)
