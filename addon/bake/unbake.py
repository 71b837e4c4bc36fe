"""Undo a bake: reassign the actions that the rig and its free objects had before.

Owns the record of these, kept as text on the rig with the names of objects and actions. Must not know how anything is
baked.
"""

from __future__ import annotations

import json

import bpy

from ..blender import actions
from ..errors import RigError
from ..result import free_objects, result_armature
from . import restore_values


def sources(rig: bpy.types.Object) -> list[list[str]]:
    """[object, action, slot] of the rig and of its free objects, by name; "" for no action."""
    found = []
    for ob in (rig, *free_objects.results_of(rig)):
        action = ob.animation_data.action if ob.animation_data else None
        slot = actions.slot_of(ob)
        found.append([ob.name_full, action.name_full if action else "", slot.identifier if slot else ""])
    return found


def remember(rig: bpy.types.Object, before: list[list[str]]) -> None:
    """Record what was assigned before the bake. A bake of a baked rig keeps the first record."""
    if not can_go_back(rig):
        rig.heft.unbaked = json.dumps(before)


def can_go_back(rig: bpy.types.Object) -> bool:
    """True if the rig plays another action than before its bake, and that action still exists."""
    if not rig.heft.unbaked:
        return False
    found = {entry[0]: entry[1] for entry in json.loads(rig.heft.unbaked)}
    name = found.get(rig.name_full)
    if name is None:
        return False
    data = rig.animation_data
    now = data.action.name_full if data is not None and data.action is not None else ""
    return now != name and (not name or _action(name) is not None)


def go_back(rig: bpy.types.Object) -> list[str]:
    """Assign the actions from before the bake to the rig and its free objects; the baked ones stay in the file. Returns
    sentences for the user."""
    if not can_go_back(rig):
        raise RigError(f"'{rig.name}' plays its source: there is nothing to go back from.")
    notes = []
    for name, wanted, slot in json.loads(rig.heft.unbaked):
        ob = next((ob for ob in bpy.data.objects if ob.name_full == name), None)
        action = _action(wanted)
        if ob is None or (wanted and action is None):
            notes.append(f"'{name}' or its action '{wanted}' is gone and stays as it is.")
            continue
        notes += _assign(ob, action, slot)
    rig.heft.unbaked, rig.heft.baked = "", ""
    restore_values.give_back(rig)
    result_armature.show(rig, "SOURCE")
    return notes


def _assign(ob: bpy.types.Object, action: bpy.types.Action | None, slot: str) -> list[str]:
    baked = ob.animation_data.action if ob.animation_data else None
    if baked == action:
        return []
    chosen = next((each for each in action.slots if each.identifier == slot), None) if slot and action else None
    notes = []
    if baked is not None and not baked.use_fake_user:
        baked.use_fake_user = True
        notes.append(f"The baked action '{baked.name}' is kept with a fake user.")
    actions.assign(ob, action, chosen)
    return notes


def _action(name: str) -> bpy.types.Action | None:
    return next((action for action in bpy.data.actions if action.name_full == name), None)
