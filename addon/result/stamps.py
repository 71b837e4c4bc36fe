"""Two ID properties on a result action: fingerprint of its inputs, checksum of its keys. They undo together with the
keys.

Owns two ID properties on the action. Must not know what a fingerprint is made of.

Undo brings blocks back one by one, and keeps those that it believes unchanged: keys that were written
after an undo step may outlive the settings that they were simulated with. What stands on the action
itself always goes with its keys, whichever way the rig's settings went.
"""

from __future__ import annotations

import bpy

MADE_FROM, KEYS = "heft_made_from", "heft_keys"
# What stands there while keys are being written.
UNFINISHED = "unfinished"


def _action(result: bpy.types.Object | None) -> bpy.types.Action | None:
    data = result.animation_data if result is not None else None
    return data.action if data is not None else None


def begin(result: bpy.types.Object) -> None:
    """Keys are going to be written: until `end` they belong to nothing."""
    action = _action(result)
    action[MADE_FROM] = UNFINISHED


def end(result: bpy.types.Object, made_from: str, keys: str) -> None:
    """All keys are written; `keys`: their checksum."""
    action = _action(result)
    action[MADE_FROM], action[KEYS] = made_from, keys


def made_from(result: bpy.types.Object | None) -> str | None:
    """The fingerprint of what the keys were simulated from; None where nothing is said (an older file)."""
    action = _action(result)
    return action.get(MADE_FROM) if action is not None else None


def keys(result: bpy.types.Object) -> str | None:
    """The checksum of the keys as they were written; None while they are being written, or where nothing is said."""
    action = _action(result)
    if action is None or action.get(MADE_FROM) == UNFINISHED:
        return None
    return action.get(KEYS)


def forget(action: bpy.types.Action) -> None:
    """Take the marks off an action that is no result any more."""
    for name in (MADE_FROM, KEYS):
        if name in action:
            del action[name]
