"""What happens behind the commands: loading, saving, undo, edits, frame changes.

Owns the handlers and what they keep (is the result current). Must not draw or report.
"""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

from . import lending, live, objects, sampling, session, showing, store
from .overlays import view as overlays

# How long after an edit of the source a live rig is simulated again [s].
FOLLOW_AFTER = 0.05

# What a result may depend on.
SOURCES = (
    bpy.types.Action,
    bpy.types.Object,
    bpy.types.Armature,
    bpy.types.Mesh,
    bpy.types.Collection,
    bpy.types.Scene,
)

_current: dict[int, tuple[str, bool]] = {}


def is_current(rig: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """`session.is_current`, worked out again only after something changed."""
    mark = f"{rig.heft.fingerprint} {rig.heft.baked}"
    known = _current.get(rig.session_uid)
    if known is None or known[0] != mark:
        known = (mark, session.is_current(rig, scene))
        _current[rig.session_uid] = known
    return known[1]


def _settle(rig: bpy.types.Object) -> None:
    """Give a duplicated rig its own result, stand back from another action, follow keyed mix and the scene's range;
    put back what a baked action that is gone has moved."""
    lending.give_back(rig)
    result = rig.heft_result
    if result is None:
        return
    if result.parent != rig:
        showing.ensure_result(rig)
        session.forget(rig)
    if not showing.is_applied(rig):
        showing.apply(rig)


@persistent
def on_frame_change(scene: bpy.types.Scene, *_args) -> None:
    """Before a frame is evaluated: constraints must fit what is keyed now."""
    if not scene.name.startswith(sampling.STAGE):
        objects.settle()
        for rig in session.rigs():
            _settle(rig)


@persistent
def on_depsgraph_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """After an edit: the source may have changed."""
    if scene.name.startswith(sampling.STAGE):
        return
    edited = {update.id.original for update in depsgraph.updates}
    if not any(isinstance(block, SOURCES) for block in edited):
        return
    _current.clear()
    overlays.changed()
    objects.settle()
    for rig in session.rigs():
        _settle(rig)
        if rig.heft.live and not bpy.app.background and not bpy.app.timers.is_registered(live.follow_source):
            bpy.app.timers.register(live.follow_source, first_interval=FOLLOW_AFTER)


@persistent
def on_undo(*_args) -> None:
    """Undo and redo bring settings and result back together; what was read may be stale."""
    session.forget()
    overlays.forget()
    _current.clear()


@persistent
def on_load(*_args) -> None:
    """A file was opened: settings lost to overrides come back from the store."""
    session.forget()
    overlays.forget()
    _current.clear()
    with live.paused():
        for ob in bpy.data.objects:
            if not ob.is_property_set("heft_store"):
                continue
            if ob.type == "ARMATURE":
                store.unpack(ob)
            else:
                store.unpack_collider(ob)


@persistent
def on_save(*_args) -> None:
    """Keep a copy of the settings that overrides cannot lose."""
    for rig in session.rigs():
        store.pack(rig)
    for ob in bpy.data.objects:
        if ob.override_library is not None and ob.type != "ARMATURE" and ob.is_property_set("heft_collider"):
            store.pack_collider(ob)


HANDLERS = (
    (bpy.app.handlers.frame_change_pre, on_frame_change),
    (bpy.app.handlers.depsgraph_update_post, on_depsgraph_update),
    (bpy.app.handlers.undo_post, on_undo),
    (bpy.app.handlers.redo_post, on_undo),
    (bpy.app.handlers.load_post, on_load),
    (bpy.app.handlers.save_pre, on_save),
)


def register() -> None:
    """Hook in."""
    for queue, function in HANDLERS:
        queue.append(function)


def unregister() -> None:
    """Hook out."""
    for queue, function in HANDLERS:
        queue.remove(function)
