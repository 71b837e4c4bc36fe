"""The named poses of a file: pose markers of actions, and actions that are assets."""

from __future__ import annotations

import bpy

from . import actions


def names(rig: bpy.types.Object) -> list[str]:
    """The names of all poses, in the order in which they are searched."""
    own = actions.active_action(rig)
    found = [marker.name for marker in own.pose_markers] if own is not None else []
    found += [action.name for action in bpy.data.actions if action.asset_data is not None]
    found += [marker.name for action in bpy.data.actions if action != own for marker in action.pose_markers]
    return list(dict.fromkeys(found))
