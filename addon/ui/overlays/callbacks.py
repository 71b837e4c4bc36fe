"""The 3D View's draw callbacks: which rigs are drawn, and what is computed before.

Owns the callbacks and the timer that computes outside of drawing. Must not change data while drawing, nor know any
single overlay.
"""

from __future__ import annotations

import bpy

from ....engine import HeftError
from ... import settings
from ...blender import redraw_views
from ...blender.safe_draw import guarded, tell
from ...memory import EDIT_SOURCE, LOAD, REMOVE, UNDO, Memo, Value
from ...read import inputs
from ...simulate import session
from . import BUILT, motions, overlay_input, shapes, switched_on
from .primitives import Mark, Note, Piece

# Delay from an edit to the recomputation of what it made stale [s].
CATCH_UP_AFTER = 0.05

# Rigs whose shapes and motions are up to date since the last edit.
_fresh: Memo[int, bool] = Memo("rigs looked at", "rig", (LOAD, UNDO, EDIT_SOURCE))
# For each stale rig that is drawn, its scene.
_stale: Memo[int, str] = Memo("rigs to look at", "rig", (LOAD, REMOVE))
# Pieces drawn in pixels, by region.
_flat: Memo[int, tuple] = Memo("signs in pixels", "region", (LOAD, UNDO))
_handles: Value[list] = Value("drawing of overlays", list)


def pieces(rig: bpy.types.Object, scene: bpy.types.Scene, graph: bpy.types.Depsgraph) -> list[Piece]:
    """All pieces of a rig for the current frame."""
    seen = overlay_input.of(rig, scene, graph)
    return [piece for overlay in switched_on(rig.heft) for piece in overlay.pieces(seen)]


def _draw_solid() -> None:
    """Draw pieces in space; pieces in pixels are kept for the second callback."""
    from . import gpu_draw  # noqa: PLC0415 - needs a graphics card: there is none in background mode

    context = bpy.context
    space, region = context.space_data, context.region
    _flat.pop(region.as_pointer(), None)
    if space is None or not space.overlay.show_overlays:
        return
    chosen = [
        ob
        for ob in context.view_layer.objects
        if ob.type == "ARMATURE"
        and settings.has_physics(ob)
        and switched_on(ob.heft)
        and ob.visible_get(viewport=space)
    ]
    if not chosen:
        return
    _stale.update({rig.session_uid: context.scene.name for rig in chosen if rig.session_uid not in _fresh})
    if _stale and not bpy.app.timers.is_registered(_catch_up):
        bpy.app.timers.register(_catch_up, first_interval=CATCH_UP_AFTER)
    view = gpu_draw.View.of(region, context.region_data)
    graph = context.evaluated_depsgraph_get()
    found = [piece for rig in chosen for piece in pieces(rig, context.scene, graph)]
    gpu_draw.draw(found, view)
    marks = [piece for piece in found if isinstance(piece, Mark)]
    _flat[region.as_pointer()] = (view, marks, [piece for piece in found if isinstance(piece, Note)])


def _draw_flat() -> None:
    """Draw marks and the legend."""
    from . import labels  # noqa: PLC0415 - needs fonts, as a window has them

    context = bpy.context
    kept = _flat.get(context.region.as_pointer())
    if kept is None:
        return
    view, marks, notes = kept
    scale = context.preferences.system.ui_scale
    labels.draw_marks(marks, view, scale)
    if context.space_data.overlay.show_text:
        labels.draw_notes(notes, context.area, context.region, scale)


def _catch_up() -> None:
    """Timer callback: recompute what drawing found stale, then redraw."""
    stale = dict(_stale)
    _stale.clear()
    for rig in session.rigs():
        scene = bpy.data.scenes.get(stale.get(rig.session_uid, ""))
        if scene is not None and switched_on(rig.heft):
            catch_up(rig, scene)
            _fresh[rig.session_uid] = True
    redraw_views.views()


def catch_up(rig: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Compute what the rig's overlays need; outside of drawing only."""
    needs = {overlay.needs for overlay in switched_on(rig.heft)}
    now = inputs.of(rig, scene)
    try:
        if BUILT in needs:
            shapes.build(now.rigs[rig])
        if needs - {BUILT}:
            motions.refresh(now.rigs[rig])
    except HeftError as error:
        tell(f"Heft: {error}")
        shapes.forget(rig)


def register() -> None:
    """Add the draw callbacks, if there are windows."""
    if not bpy.app.background:
        for draw, when in ((_draw_solid, "POST_VIEW"), (_draw_flat, "POST_PIXEL")):
            _handles.value.append(bpy.types.SpaceView3D.draw_handler_add(guarded(draw), (), "WINDOW", when))


def unregister() -> None:
    """Remove the draw callbacks."""
    while _handles.value:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.value.pop(), "WINDOW")
    if bpy.app.timers.is_registered(_catch_up):
        bpy.app.timers.unregister(_catch_up)
