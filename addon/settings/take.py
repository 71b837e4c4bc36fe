"""A take: settings with the result they gave, kept beside the present one.

Owns names and tooltips, and hands a click in the list on. Must not know how a take is kept or shown.
"""

import bpy
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from .. import events
from ..declare import OVERRIDABLE, OVERRIDABLE_LIST

HIDDEN = {"HIDDEN"}


def _picked(group: bpy.types.PropertyGroup, _context) -> None:
    """A row of the list was clicked. Writing inside the callback makes the choice one undo step."""
    events.take_picked(group.id_data)


def _beside(group: bpy.types.PropertyGroup, _context) -> None:
    events.take_beside_changed(group.id_data)


def _renamed(take: bpy.types.PropertyGroup, _context) -> None:
    events.take_renamed(take)


class HeftTakenObject(bpy.types.PropertyGroup):
    """One of a take's `objects`: where a free object went."""

    ob: PointerProperty(type=bpy.types.Object, options=HIDDEN, override=OVERRIDABLE)
    action: PointerProperty(type=bpy.types.Action, options=HIDDEN, override=OVERRIDABLE)


class HeftTake(bpy.types.PropertyGroup):
    """One of `Object.heft.takes`. Its actions are its own: nothing writes into them."""

    name: StringProperty(name="Name", description="What this take is called", override=OVERRIDABLE, update=_renamed)
    uid: StringProperty(options=HIDDEN, override=OVERRIDABLE)
    auto: BoolProperty(
        description="Kept by itself, so that nothing is lost: it follows the present settings while it is shown",
        options=HIDDEN,
        override=OVERRIDABLE,
    )
    settings: StringProperty(options=HIDDEN, override=OVERRIDABLE)
    state: StringProperty(options=HIDDEN, override=OVERRIDABLE)
    action: PointerProperty(type=bpy.types.Action, options=HIDDEN, override=OVERRIDABLE)
    source_action: PointerProperty(type=bpy.types.Action, options=HIDDEN, override=OVERRIDABLE)
    objects: CollectionProperty(type=HeftTakenObject, options=HIDDEN, override=OVERRIDABLE_LIST)
    beside: BoolProperty(
        name="Show Beside",
        description="Show this take as bones beside the character, to be compared while it plays",
        options=HIDDEN,
        override=OVERRIDABLE,
        update=_beside,
    )


class TakeSettings:
    """Of an armature's physics."""

    takes: CollectionProperty(
        name="Takes",
        description="Settings kept with their results, to be compared and chosen from",
        type=HeftTake,
        override=OVERRIDABLE_LIST,
    )
    take_index: IntProperty(
        name="Shown Take",
        description="Click a take to show it: its settings and its result come back together",
        default=-1,
        min=-1,
        options=HIDDEN,
        override=OVERRIDABLE,
        update=_picked,
    )
    beside_distance: FloatProperty(
        name="Distance",
        description="How far takes shown beside the character stand apart, in widths of it; 0 puts them over it",
        default=1.0,
        soft_min=-3.0,
        soft_max=3.0,
        options=set(),
        override=OVERRIDABLE,
        update=_beside,
    )
    # Which take is shown, and which was before it.
    take: StringProperty(options=HIDDEN, override=OVERRIDABLE)
    take_before: StringProperty(options=HIDDEN, override=OVERRIDABLE)
    # The settings that the present result was made with.
    made_with: StringProperty(options=HIDDEN, override=OVERRIDABLE)
