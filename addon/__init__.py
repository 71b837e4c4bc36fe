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
    panel,
    panel_controls,
    panel_overlay,
    properties,
    warmup,
)
from .overlays import view as overlay_view

CLASSES = (
    *properties.CLASSES,
    *operators.CLASSES,
    *operators_copying.CLASSES,
    *operators_lists.CLASSES,
    *operators_motion.CLASSES,
    *operators_on_time.CLASSES,
    *operators_roles.CLASSES,
    *operators_controls.CLASSES,
    *panel.CLASSES,
    *panel_controls.CLASSES,
    *panel_overlay.CLASSES,
)


def register() -> None:
    """Called by Blender when the extension is enabled."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    properties.register()
    handlers.register()
    keymap.register()
    overlay_view.register()
    cli.register()
    warmup.start()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    cli.unregister()
    overlay_view.unregister()
    keymap.unregister()
    handlers.unregister()
    properties.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
