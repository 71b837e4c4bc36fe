"""The Blender half of Heft: everything that imports `bpy`.

Owns registration: explicit tuples, in order, with errors left loud.
"""

from __future__ import annotations

import bpy

from . import (
    cli,
    handlers,
    keymap,
    operators,
    operators_controls,
    operators_copying,
    operators_lists,
    operators_motion,
    operators_on_time,
    operators_roles,
    operators_throw,
    overlay,
    panel,
    panel_controls,
    properties,
    warmup,
)

CLASSES = (
    *properties.CLASSES,
    *operators.CLASSES,
    *operators_copying.CLASSES,
    *operators_lists.CLASSES,
    *operators_motion.CLASSES,
    *operators_on_time.CLASSES,
    *operators_roles.CLASSES,
    *operators_throw.CLASSES,
    *operators_controls.CLASSES,
    *panel.CLASSES,
    *panel_controls.CLASSES,
)


def register() -> None:
    """Called by Blender when the extension is enabled."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    properties.register()
    handlers.register()
    keymap.register()
    overlay.register()
    cli.register()
    warmup.start()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    cli.unregister()
    overlay.unregister()
    keymap.unregister()
    handlers.unregister()
    properties.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
