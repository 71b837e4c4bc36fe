"""The key that flips source and result: Shift Alt H in the 3D view, in Object and Pose Mode.

Owns the add-on's key. It can be changed in Preferences > Keymap like any other.
"""

from __future__ import annotations

import bpy

from .operators import HEFT_OT_flip

MODES = ("Object Mode", "Pose")
_items: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


def register() -> None:
    """Bind the key, where there are keys: not in background mode."""
    config = bpy.context.window_manager.keyconfigs.addon
    for mode in MODES if config is not None else ():
        keys = config.keymaps.new(name=mode, space_type="EMPTY")
        _items.append((keys, keys.keymap_items.new(HEFT_OT_flip.bl_idname, "H", "PRESS", shift=True, alt=True)))


def unregister() -> None:
    """Take it off again."""
    for keys, item in _items:
        keys.keymap_items.remove(item)
    _items.clear()
