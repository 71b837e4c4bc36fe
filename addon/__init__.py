"""The Blender half of Heft: everything that imports `bpy`.

Owns registration: explicit tuples, in order, with errors left loud.
"""

from __future__ import annotations

import bpy

from . import (
    caption,
    cli,
    handlers,
    help_map,
    keymap,
    menus,
    operators,
    operators_bake,
    operators_controls,
    operators_copying,
    operators_curves,
    operators_let_go,
    operators_lists,
    operators_manual,
    operators_motion,
    operators_nudge,
    operators_on_time,
    operators_posing,
    operators_presets,
    operators_roles,
    operators_start,
    operators_takes,
    operators_throw,
    panel,
    properties,
    tool_posing,
    warmup,
)
from .overlays import view as overlay_view

CLASSES = (
    *properties.CLASSES,
    *operators.CLASSES,
    *operators_bake.CLASSES,
    *operators_copying.CLASSES,
    *operators_lists.CLASSES,
    *operators_manual.CLASSES,
    *operators_motion.CLASSES,
    *operators_on_time.CLASSES,
    *operators_posing.CLASSES,
    *operators_nudge.CLASSES,
    *operators_roles.CLASSES,
    *operators_let_go.CLASSES,
    *operators_throw.CLASSES,
    *operators_controls.CLASSES,
    *operators_presets.CLASSES,
    *operators_start.CLASSES,
    *operators_takes.CLASSES,
    *operators_curves.CLASSES,
    *menus.CLASSES,
    *panel.CLASSES,
)


def register() -> None:
    """Called by Blender when the extension is enabled."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    properties.register()
    handlers.register()
    operators_presets.register()
    menus.register()
    help_map.register()
    keymap.register()
    overlay_view.register()
    caption.register()
    tool_posing.register()
    cli.register()
    warmup.start()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    warmup.stop()
    cli.unregister()
    tool_posing.unregister()
    caption.unregister()
    overlay_view.unregister()
    keymap.unregister()
    help_map.unregister()
    menus.unregister()
    operators_presets.unregister()
    handlers.unregister()
    properties.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
