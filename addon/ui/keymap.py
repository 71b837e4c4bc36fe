"""The keys that flip what is shown, in Object and Pose Mode: Shift Alt H source and result, Shift Alt J two takes.

Owns the add-on's keys. They can be changed in Preferences > Keymap like any other.
"""

from __future__ import annotations

import bpy

from ..memory import Value
from .operators.simulate import HEFT_OT_flip
from .operators.takes import HEFT_OT_flip_take

MODES = ("Object Mode", "Pose")
KEYS = ((HEFT_OT_flip, "H"), (HEFT_OT_flip_take, "J"))
_items: Value[list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]]] = Value("keys", list)


def register() -> None:
    """Bind the keys, except in background mode, which has no keymap."""
    config = bpy.context.window_manager.keyconfigs.addon
    for mode in MODES if config is not None else ():
        keys = config.keymaps.new(name=mode, space_type="EMPTY")
        for command, key in KEYS:
            _items.value.append((keys, keys.keymap_items.new(command.bl_idname, key, "PRESS", shift=True, alt=True)))


def unregister() -> None:
    """Remove the bindings."""
    for keys, item in _items.value:
        keys.keymap_items.remove(item)
    _items.value.clear()
