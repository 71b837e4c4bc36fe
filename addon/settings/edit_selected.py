"""An edit of the active bone also changes all selected bones.

Owns which edits do: those by hand in the sidebar, in Pose Mode. A script that sets one bone sets one bone. Must not
simulate.

Blender calls the update after each step of a drag, and once more with the old value if Esc cancels it. So the old
values of the other bones are kept while the drag may last, and are restored when the active bone is back at its start
value.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import bpy

from .. import events
from ..memory import LOAD, UNDO, Memo, Value

# A drag has ended if the panel is drawn this long after its last step [s].
RESTS = 1.0


@dataclass
class _Drag:
    """The values before an edit that may still be going on."""

    which: tuple[int, str, str]
    start: object
    others: list[tuple[bpy.types.PoseBone, object]]
    last: float


# By rig, bone and setting: the values before an edit.
_seen: Memo[tuple[int, str, str], object] = Memo("settings of the active bone", "rig", (LOAD, UNDO))
_drag: Value[_Drag | None] = Value("edit of a bone's setting", lambda: None, (LOAD, UNDO))


def look(bone: bpy.types.PoseBone, names: tuple[str, ...]) -> None:
    """Called when the panel is drawn: record the values that an edit would start from."""
    if _drag.value is not None and time.monotonic() - _drag.value.last < RESTS:
        return
    _drag.value = None
    _seen.clear()
    for name in names:
        _seen[bone.id_data.session_uid, bone.name, name] = getattr(bone.heft, name)


def spread(group: bpy.types.PropertyGroup, context: bpy.types.Context, name: str) -> list[bpy.types.Object]:
    """Copy a bone's edited setting to the selected bones. Returns all armatures that changed."""
    rig = group.id_data
    if events.is_paused() or not by_hand(context) or context.active_pose_bone is None:
        return [rig]
    active = context.active_pose_bone
    if active.heft != group:
        return [rig]
    which = (rig.session_uid, active.name, name)
    drag = _drag.value
    if drag is None or drag.which != which:
        others = [bone for bone in context.selected_pose_bones or () if bone != active and bone.id_data.heft.enabled]
        drag = _drag.value = _Drag(which, _seen.get(which), [(bone, getattr(bone.heft, name)) for bone in others], 0.0)
    drag.last = time.monotonic()
    value = getattr(group, name)
    # Enumerations are not dragged: choosing the old item again is an ordinary edit.
    back = value == drag.start and isinstance(value, (int, float)) and not isinstance(value, bool)
    with events.paused():
        for bone, before in drag.others:
            setattr(bone.heft, name, before if back else value)
    return list(dict.fromkeys([rig, *(bone.id_data for bone, _ in drag.others)]))


def on_bone_edited(group: bpy.types.PropertyGroup, context, name: str) -> None:
    """Listener: an edit by hand changes all selected bones, and they are simulated once."""
    emit = events.mix_changed if name == "mix" else events.setting_changed
    for rig in spread(group, context, name):
        emit(rig)


def by_hand(context: bpy.types.Context) -> bool:
    """True if the edit was made in the sidebar of a 3D View, in Pose Mode."""
    area, region = context.area, context.region
    if area is None or region is None or context.mode != "POSE":
        return False
    return area.type == "VIEW_3D" and region.type == "UI"
