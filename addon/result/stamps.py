"""Two ID properties on a result action: fingerprint of its inputs, checksum of its keys. They undo together with the
keys.

Owns these properties. Must not know how a fingerprint is made.

Undo restores blocks one by one and keeps those that it considers unchanged: keys that were written after an undo step
may survive the settings that they were simulated with. Properties on the action itself always match its keys, whatever
happened to the rig's settings.
"""

from __future__ import annotations

import bpy

MADE_FROM, KEYS = "heft_made_from", "heft_keys"
# Value of the stamp while keys are being written.
UNFINISHED = "unfinished"


def _action(result: bpy.types.Object | None) -> bpy.types.Action | None:
    data = result.animation_data if result is not None else None
    return data.action if data is not None else None


def begin(result: bpy.types.Object) -> None:
    """Mark that keys are being written: until `end` they match no fingerprint."""
    action = _action(result)
    action[MADE_FROM] = UNFINISHED


def end(result: bpy.types.Object, made_from: str, keys: str) -> None:
    """Stamp the action after all keys are written. keys: their checksum."""
    action = _action(result)
    action[MADE_FROM], action[KEYS] = made_from, keys


def made_from(result: bpy.types.Object | None) -> str | None:
    """The fingerprint of the inputs of the keys; None if there is no stamp (an older file)."""
    action = _action(result)
    return action.get(MADE_FROM) if action is not None else None


def keys(result: bpy.types.Object) -> str | None:
    """The checksum of the keys as written; None while they are being written, or without a stamp."""
    action = _action(result)
    if action is None or action.get(MADE_FROM) == UNFINISHED:
        return None
    return action.get(KEYS)


def forget(action: bpy.types.Action) -> None:
    """Remove the stamp from an action that is no longer a result."""
    for name in (MADE_FROM, KEYS):
        if name in action:
            del action[name]
