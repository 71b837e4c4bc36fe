"""What the settings share: how they are stored, and which event a changed one emits.

Must not know who listens.
"""

import bpy

from . import events

OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}
OVERRIDABLE_LIST = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
# For settings that hold for the whole shot: a key on them would do nothing.
NOT_KEYED: set[str] = set()

RESPONSES = (
    ("GIVES_WAY", "Gives Way", "The character's joints yield to it", 0),
    ("BRACES", "Braces", "The character's joints hold against it without sagging", 1),
)


def changed(group: bpy.types.PropertyGroup, _context) -> None:
    """A setting of a character was changed."""
    events.setting_changed(group.id_data)


def role_changed(group: bpy.types.PropertyGroup, context) -> None:
    """What a bone is, was corrected."""
    events.role_changed(group.id_data)
    changed(group, context)


def detail_changed(group: bpy.types.PropertyGroup, context) -> None:
    """Which bones are bodies was changed."""
    events.detail_changed(group.id_data, context.scene)
    changed(group, context)


def mix_changed(group: bpy.types.PropertyGroup, _context) -> None:
    """How much of a result is shown was changed."""
    events.mix_changed(group.id_data)


def collider_changed(group: bpy.types.PropertyGroup, _context) -> None:
    """A setting of an object that characters meet was changed."""
    events.collider_changed(group.id_data)


def redraw(_group: bpy.types.PropertyGroup, context) -> None:
    """Only what is drawn over the view was changed."""
    for area in context.screen.areas if context.screen else ():
        area.tag_redraw()
