"""Saves the values of channels that only the baked action animates; restores them when that action is unassigned.

Blender leaves a channel at its last animated value when its action is removed. A rig whose source has no keys on its FK
controls and switches would stay in FK. Owns the saved values. Must not know what was baked.
"""

from __future__ import annotations

import json

import bpy

from ..blender import actions
from . import probe_controls


def lend(rig: bpy.types.Object, source: bpy.types.Action | None, slot, before: dict[str, float]) -> None:
    """Save the values of channels that the rig's action animates and the source does not. before: values known already,
    by data path."""
    known = set(actions.curve_table(actions.bag_of(source, slot)))
    values = []
    for path, index in actions.curve_table(actions.active_bag(rig)).keys() - known:
        value = before[path] if path in before else probe_controls.value_of(rig, path)
        values.append([path, index, value if isinstance(value, (int, float)) else value[index]])
    values += json.loads(rig.heft.lent)[1] if rig.heft.lent else []  # from an earlier bake that was copied
    _keep(rig, values)


def _keep(rig: bpy.types.Object, values: list) -> None:
    action = rig.animation_data.action if rig.animation_data else None
    rig.heft.lent = json.dumps([action.name_full if action else "", sorted(values)]) if values else ""


def give_back(rig: bpy.types.Object) -> None:
    """Restore the values if the baked action is no longer assigned to the rig."""
    if not rig.heft.lent:
        return
    name, values = json.loads(rig.heft.lent)
    data = rig.animation_data
    if data is not None and data.action is not None and data.action.name_full == name:
        return
    taken = actions.curve_table(actions.active_bag(rig))
    for path, index, value in values:
        if (path, index) not in taken and _exists(rig, path):
            probe_controls.set_value(rig, path, value, index)
    _keep(rig, [value for value in values if (value[0], value[1]) in taken])
    rig.update_tag()


def _exists(rig: bpy.types.Object, path: str) -> bool:
    """False if the bone or the property was removed meanwhile."""
    try:
        rig.path_resolve(path)
    except ValueError:
        return False
    return True
