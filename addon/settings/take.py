"""A take: settings with their result, kept for comparison with the present one.

Owns names and tooltips, and emits events for clicks in the list. Must not know how a take is kept or shown.
"""

import bpy
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from .. import events
from ..declare import remembered, settings_group


def _picked(group: bpy.types.PropertyGroup, _context) -> None:
    """A row of the list was clicked. Writing inside the update callback makes the choice one undo step."""
    events.take_picked(group.id_data)


def _beside(group: bpy.types.PropertyGroup, _context) -> None:
    events.take_beside_changed(group.id_data)


def _renamed(take: bpy.types.PropertyGroup, _context) -> None:
    events.take_renamed(take)


@settings_group()
class HeftTakenObject(bpy.types.PropertyGroup):
    """One of a take's `objects`: the motion of a free object."""

    ob: remembered(PointerProperty, type=bpy.types.Object)
    action: remembered(PointerProperty, type=bpy.types.Action)


@settings_group(manual="result.html#takes")
class HeftTake(bpy.types.PropertyGroup):
    """One of `Object.heft.takes`. Nothing else writes to its actions."""

    uid: remembered(StringProperty)
    name: remembered(
        StringProperty,
        name="Name",
        description="What this take is called",
        update=_renamed,
        hidden=False,
    )
    auto: remembered(
        BoolProperty,
        description="Kept by itself, so that nothing is lost: it follows the present settings while it is shown",
    )
    settings: remembered(StringProperty)
    state: remembered(StringProperty)
    action: remembered(PointerProperty, type=bpy.types.Action)
    source_action: remembered(PointerProperty, type=bpy.types.Action)
    objects: remembered(CollectionProperty, type=HeftTakenObject)
    beside: remembered(
        BoolProperty,
        name="Show Beside",
        description="Show this take as bones beside the character, to be compared while it plays",
        update=_beside,
    )


@settings_group(manual="result.html#takes")
class TakeSettings:
    """Part of `Object.heft`: the takes."""

    takes: remembered(
        CollectionProperty,
        name="Takes",
        description="Settings kept with their results, to be compared and chosen from",
        type=HeftTake,
        hidden=False,
    )
    # The uids of the shown take and of the one before.
    take: remembered(StringProperty)
    take_before: remembered(StringProperty)
    take_index: remembered(
        IntProperty,
        name="Shown Take",
        description="Click a take to show it: its settings and its result come back together",
        default=-1,
        min=-1,
        update=_picked,
    )
    # The settings that the present result was made with.
    made_with: remembered(StringProperty)
    beside_distance: remembered(
        FloatProperty,
        name="Distance",
        description="How far takes shown beside the character stand apart, in widths of it; 0 puts them over it",
        default=1.0,
        soft_min=-3.0,
        soft_max=3.0,
        update=_beside,
        hidden=False,
    )
