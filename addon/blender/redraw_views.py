"""Having 3D Views drawn again, in every window.

Must not know why.
"""

from __future__ import annotations

import bpy


def views(*kinds: str) -> None:
    """Draw these regions of all 3D Views again (`UI` is the sidebar); without any, all of them."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type != "VIEW_3D":
                continue
            for region in area.regions:
                if not kinds or region.type in kinds:
                    region.tag_redraw()
