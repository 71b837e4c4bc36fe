"""Redraw 3D Views, in every window.

Must not know why.
"""

from __future__ import annotations

import bpy


def views(*kinds: str) -> None:
    """Redraw these region types of all 3D Views (`UI` is the sidebar); without any, all regions."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type != "VIEW_3D":
                continue
            for region in area.regions:
                if not kinds or region.type in kinds:
                    region.tag_redraw()
