"""User interface: operators, panels, overlays, menus, keys.

Owns the order of registration. No other folder except `handlers` imports it.
"""

from __future__ import annotations

from . import help_links, keymap, menus, operators, panels, pull_pose_tool, view_caption
from .operators import presets
from .overlays import callbacks

CLASSES = (*operators.CLASSES, *menus.CLASSES, *panels.CLASSES)
# In the order of registration.
REGISTERED = (presets, menus, help_links, keymap, callbacks, view_caption, pull_pose_tool)


def register() -> None:
    """Register after the classes."""
    for module in REGISTERED:
        module.register()


def unregister() -> None:
    """Unregister before the classes."""
    for module in reversed(REGISTERED):
        module.unregister()
