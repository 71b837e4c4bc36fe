"""What the settings share: how they are stored, and whom a changed one is handed to.

Must not know how a simulation runs.
"""

import bpy

from .. import live

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
    live.setting_changed(group.id_data)


def bone_changed(name: str):
    """For a bone's setting: an edit by hand reaches all selected bones, and is simulated once."""

    def update(group: bpy.types.PropertyGroup, context) -> None:
        from .. import spreading

        for rig in spreading.spread(group, context, name):
            live.setting_changed(rig)

    return update


def bone_mix_changed(group: bpy.types.PropertyGroup, context) -> None:
    """How much of the result a bone shows was changed."""
    from .. import spreading

    for rig in spreading.spread(group, context, "mix"):
        live.mix_changed(rig)


def role_changed(group: bpy.types.PropertyGroup, context) -> None:
    """What a bone is, was corrected."""
    from .. import glance

    glance.forget()
    changed(group, context)


def detail_changed(group: bpy.types.PropertyGroup, context) -> None:
    """Which bones are bodies was changed."""
    from .. import detail

    detail.apply(group.id_data, context.scene)
    changed(group, context)


def mix_changed(group: bpy.types.PropertyGroup, _context) -> None:
    """How much of a result is shown was changed."""
    live.mix_changed(group.id_data)


def collider_changed(group: bpy.types.PropertyGroup, _context) -> None:
    """A setting of an object that characters meet was changed."""
    live.collider_changed(group.id_data)


def redraw(_group: bpy.types.PropertyGroup, context) -> None:
    """Only what is drawn over the view was changed."""
    for area in context.screen.areas if context.screen else ():
        area.tag_redraw()
