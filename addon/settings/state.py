"""Heft's state of a character: what is shown, the inputs of the result, records for restoring.

Hidden from the panel, saved and undone with the file.
"""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, PointerProperty, StringProperty

from ..declare import remembered, settings_group

SHOWN = (
    ("SOURCE", "Source", "The rig moves as it is keyed", 0),
    ("RESULT", "Result", "The rig moves as it was simulated", 1),
)


@settings_group()
class ResultState:
    """Part of `Object.heft`: does not affect the simulation."""

    shown: remembered(EnumProperty, items=SHOWN, default="SOURCE")
    fingerprint: remembered(StringProperty, of_result=True)
    source_action: remembered(PointerProperty, type=bpy.types.Action)
    source_slot: remembered(StringProperty, of_result=True)
    muted: remembered(StringProperty)
    bare: remembered(BoolProperty)
    result_start: remembered(IntProperty, of_result=True)
    result_end: remembered(IntProperty, of_result=True)
    written: remembered(StringProperty, of_result=True)
    undisturbed: remembered(BoolProperty, of_result=True)
    baked: remembered(StringProperty)
    own_colliders: remembered(BoolProperty)
    result_period: remembered(IntProperty, of_result=True)
    lent: remembered(StringProperty)
    flaws: remembered(StringProperty, of_result=True)
    slow_at: remembered(IntProperty)
    pops: remembered(BoolProperty)
    unbaked: remembered(StringProperty)
    detail_before: remembered(StringProperty)
