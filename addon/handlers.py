"""Blender's handlers: load, save, undo, edits, frame changes.

Owns the handlers. Must not draw or report.
"""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

from . import events, memory
from .bake import restore_values
from .blender import background_thread, sample_poses
from .result import free_objects, result_armature, stamps
from .rig import detail
from .settings import edit_selected, saved
from .simulate import jobs, live, session
from .ui import draw_cache

# Types of blocks that a result may depend on.
SOURCES = (
    bpy.types.Action,
    bpy.types.Object,
    bpy.types.Armature,
    bpy.types.Curve,
    bpy.types.Mesh,
    bpy.types.Collection,
    bpy.types.Scene,
)


def _settle(rig: bpy.types.Object) -> None:
    """After an edit: give a duplicated rig its own result, hide the result while another action is assigned, update
    constraints for a keyed mix and the scene's range, and restore values when a baked action was unassigned."""
    restore_values.give_back(rig)
    result = rig.heft_result
    if result is None:
        return
    if result.parent != rig:
        result_armature.ensure_result(rig)
        memory.notify(memory.REMOVE, rig)
    if not result_armature.is_applied(rig):
        result_armature.apply(rig)


@persistent
def on_frame_change(scene: bpy.types.Scene, *_args) -> None:
    """Before a frame is evaluated: update constraints for keyed settings."""
    if not scene.name.startswith(sample_poses.STAGE):
        free_objects.settle()
        for rig in session.rigs():
            _settle(rig)


@persistent
def on_depsgraph_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """After an edit: the source may have changed."""
    if scene.name.startswith(sample_poses.STAGE):
        return
    edited = {update.id.original for update in depsgraph.updates}
    memory.notify(memory.EDIT)
    if any(isinstance(block, bpy.types.Armature) for block in edited):
        memory.notify(memory.EDIT_ARMATURE)
    if not any(isinstance(block, SOURCES) for block in edited):
        return
    memory.notify(memory.EDIT_SOURCE)
    _edited([block for block in edited if isinstance(block, bpy.types.Action)])
    if any(isinstance(block, bpy.types.Collection) for block in edited):
        session.let_go()
    free_objects.settle()
    for rig in session.rigs():
        _settle(rig)
        if rig.heft.live:
            live.follow_soon()


def _edited(changed: list[bpy.types.Action]) -> None:
    """Actions were edited: drop digests of the user's actions and restart jobs that simulate them."""
    theirs = [action for action in changed if stamps.MADE_FROM not in action]
    if theirs:
        memory.notify(memory.EDIT_KEYS, *theirs)
        live.source_edited()


@persistent
def on_undo_pre(*_args) -> None:
    """Before undo, redo or loading: cancel jobs, because they hold blocks that may not exist afterwards."""
    jobs.cancel()


@persistent
def on_undo(*_args) -> None:
    """After undo or redo: settings and result come back together. Where they do not match, live shots are simulated
    again."""
    memory.notify(memory.UNDO)
    sample_poses.sweep()
    session.let_go()
    live.follow_soon()


@persistent
def on_load(*_args) -> None:
    """A file was opened: restore settings that overrides lost from the store."""
    memory.notify(memory.LOAD)
    sample_poses.sweep()
    with events.paused():
        for ob in bpy.data.objects:
            if not ob.is_property_set("heft_store"):
                continue
            if ob.type == "ARMATURE":
                saved.unpack(ob)
            else:
                saved.unpack_collider(ob)
    session.let_go()


@persistent
def on_save(*_args) -> None:
    """Before saving: store the settings that overrides lose. Jobs are cancelled, so that the file holds only the mark
    of an unfinished result, and are restarted afterwards."""
    if jobs.cancel():
        live.follow_soon()
    for rig in session.rigs():
        saved.pack(rig)
    for ob in bpy.data.objects:
        if ob.override_library is not None and ob.type != "ARMATURE" and ob.is_property_set("heft_collider"):
            saved.pack_collider(ob)


HANDLERS = (
    (bpy.app.handlers.frame_change_pre, on_frame_change),
    (bpy.app.handlers.depsgraph_update_post, on_depsgraph_update),
    (bpy.app.handlers.undo_pre, on_undo_pre),
    (bpy.app.handlers.redo_pre, on_undo_pre),
    (bpy.app.handlers.load_pre, on_undo_pre),
    (bpy.app.handlers.undo_post, on_undo),
    (bpy.app.handlers.redo_post, on_undo),
    (bpy.app.handlers.load_post, on_load),
    (bpy.app.handlers.save_pre, on_save),
)


def _on_role_changed(_rig: bpy.types.Object) -> None:
    memory.notify(memory.EDIT_ROLES)


def register() -> None:
    """Add the handlers."""
    live.connect()
    events.bone_edited.connect(edit_selected.on_bone_edited)
    events.role_changed.connect(_on_role_changed)
    events.detail_changed.connect(detail.apply)
    for queue, function in HANDLERS:
        queue.append(function)


def unregister() -> None:
    """Remove the handlers."""
    jobs.cancel()
    live.stop()
    live.disconnect()
    events.bone_edited.disconnect(edit_selected.on_bone_edited)
    events.role_changed.disconnect(_on_role_changed)
    events.detail_changed.disconnect(detail.apply)
    draw_cache.stop()
    background_thread.end()
    for queue, function in HANDLERS:
        queue.remove(function)
