"""Caption in the 3D View: whether the active character shows its source or its result, the take, and whether it is out
of date.

Owns that line. It is shown with the view's own text (Overlays > Text Info). Must not change data.
"""

from __future__ import annotations

import bpy

from .. import settings
from ..blender.safe_draw import guarded
from ..memory import Value
from ..result import result_armature, takes
from .operators.base import active_rig
from .panels import status

COLORS = {"SOURCE": (0.85, 0.85, 0.85, 1.0), "RESULT": (1.0, 0.65, 0.2, 1.0)}
SIZE, FROM_TOP = 14.0, 64.0  # [pixels at normal size]


def text_of(rig: bpy.types.Object) -> tuple[str, str]:
    """SOURCE or RESULT, whichever is shown, and the words for it; both empty without a result."""
    if rig.heft_result is None:
        return "", ""
    if not result_armature.is_visible(rig):
        return "SOURCE", "Baked" if rig.heft.baked and result_armature.standing_back(rig) else "Source"
    take = takes.shown(rig)
    if take is None:
        return "RESULT", "Result"
    return "RESULT", f"Result: {take.name}{', changed' if takes.is_changed(rig) else ''}"


@guarded
def draw() -> None:
    """Blender's draw callback."""
    import blf  # noqa: PLC0415 - only where there is a window to write into

    context = bpy.context
    space, rig = context.space_data, active_rig(context)
    if not settings.has_physics(rig) or not (space.overlay.show_overlays and space.overlay.show_text):
        return
    which, words = text_of(rig)
    if not words:
        return
    badge = status.badge_of(rig, context.scene) if which == "RESULT" else ""
    words = f"{words}, {badge}" if badge else words
    scale = context.preferences.system.ui_scale
    blf.size(0, SIZE * scale)
    width, _ = blf.dimensions(0, words)
    blf.position(0, 0.5 * (context.region.width - width), context.region.height - FROM_TOP * scale, 0.0)
    blf.color(0, *COLORS[which])
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0.0, 0.0, 0.0, 0.8)
    blf.draw(0, words)
    blf.disable(0, blf.SHADOW)


_handle: Value[object] = Value("drawing of the caption", lambda: None)


def register() -> None:
    """Add the draw callback, if there are windows."""
    if not bpy.app.background:
        _handle.value = bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_PIXEL")


def unregister() -> None:
    """Remove the draw callback."""
    if _handle.value is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handle.value, "WINDOW")
        _handle.value = None
