"""NLA strips: add a baked action above what a rig plays, and push the active action down.

Must not know what was baked.
"""

from __future__ import annotations

import bpy
import numpy as np

from . import actions


def push_down(rig: bpy.types.Object) -> None:
    """Turn the active action into a strip, as Push Down does: otherwise it would play over every strip."""
    data = rig.animation_data
    if data is None or data.action is None:
        return
    action, slot = data.action, actions.slot_of(rig)
    blend, extrapolation = data.action_blend_type, data.action_extrapolation
    # A single action has full influence, whatever its influence property says.
    influence = data.action_influence if data.use_nla and len(data.nla_tracks) else 1.0
    data.action = None
    strip = _strip(rig, action, slot, int(np.floor(action.frame_range[0])))
    strip.extrapolation, strip.blend_type = extrapolation, blend
    if influence != 1.0:
        strip.use_animated_influence = True
        strip.fcurves.find("influence").keyframe_points.insert(strip.frame_start, influence)


def add(rig: bpy.types.Object, action: bpy.types.Action, frames: np.ndarray) -> None:
    slot = action.slots[0] if actions.HAS_SLOTS else None
    action.use_frame_range = True
    action.frame_start, action.frame_end = float(frames[0]), float(max(frames[-1], frames[0] + 1))
    strip = _strip(rig, action, slot, int(frames[0]))
    strip.extrapolation, strip.blend_type = "NOTHING", "REPLACE"


def _strip(rig: bpy.types.Object, action: bpy.types.Action, slot, start: int) -> bpy.types.NlaStrip:
    data = rig.animation_data or rig.animation_data_create()
    track = data.nla_tracks.new()
    track.name = action.name
    strip = track.strips.new(action.name, start, action)
    if actions.HAS_SLOTS and slot is not None:
        strip.action_slot = slot
    return strip
