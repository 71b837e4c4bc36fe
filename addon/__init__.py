"""The Blender half of Heft: everything that imports `bpy`.

Owns registration: explicit tuples, in order, with errors left loud.
"""

from __future__ import annotations

import bpy

from . import (
    caption,
    cli,
    handlers,
    keymap,
    operators,
    operators_controls,
    operators_copying,
    operators_curves,
    operators_lists,
    operators_motion,
    operators_on_time,
    operators_roles,
    operators_takes,
    overlay,
    panel,
    panel_controls,
    panel_curves,
    panel_takes,
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
    *operators_controls.CLASSES,
    *operators_takes.CLASSES,
    *operators_curves.CLASSES,
    *panel.CLASSES,
    *panel_controls.CLASSES,
    *panel_takes.CLASSES,
    *panel_curves.CLASSES,
)


def register() -> None:
    """Called by Blender when the extension is enabled."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    properties.register()
    handlers.register()
    keymap.register()
    overlay.register()
    caption.register()
    cli.register()
    warmup.start()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    cli.unregister()
    caption.unregister()
    overlay.unregister()
    keymap.unregister()
    handlers.unregister()
    properties.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
