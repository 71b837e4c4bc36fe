"""The Blender half of Heft: everything that imports `bpy`.

Owns the order of registration; errors are not caught. The classes are listed by `settings` and `ui`.
"""

from __future__ import annotations

import bpy

from . import handlers, memory, settings, ui
from .batch import command_line
from .simulate import compile_engine

CLASSES = (*settings.CLASSES, *ui.CLASSES)


def register() -> None:
    """Called by Blender when the extension is enabled."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    settings.register()
    handlers.register()
    ui.register()
    command_line.register()
    compile_engine.start()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    compile_engine.stop()
    command_line.unregister()
    ui.unregister()
    handlers.unregister()
    settings.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
    memory.notify(memory.UNREGISTER)
