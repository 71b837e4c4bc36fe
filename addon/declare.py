"""Declare a setting once: its Blender property, and every fact that the rest of the add-on derives from it.

A group of settings is a class with the decorator `settings_group`; each of its annotations is one of four calls:

    simulated(FloatProperty, ...)   the motion depends on it: it is in the fingerprint, in takes, saved, copied
    shown(BoolProperty, ...)        only what is drawn or displayed depends on it: saved
    remembered(StringProperty, ...) Heft keeps it for itself, hidden unless it says otherwise: saved
    unsaved(IntProperty, ...)       such as the active row of a list: in the file, not in `Object.heft_store`

The first argument is a function of `bpy.props`; its options, override and update follow from the kind. Named arguments
are those of the property, or facts (the fields of `Setting`). The order of declarations is the order of values in
digests and in saved texts, which files rely on: bases from left to right, then the class's own.

Must not know which settings there are, nor who listens to their events.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from operator import attrgetter

import bpy
from bpy.props import CollectionProperty, FloatProperty, IntProperty

from . import events

OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}
OVERRIDABLE_LIST = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}

RESPONSES = (
    ("GIVES_WAY", "Gives Way", "The character's joints yield to it", 0),
    ("BRACES", "Braces", "The character's joints hold against it without sagging", 1),
)


# --- updates: which event a changed setting emits -------------------------------------------------


def changed(group: bpy.types.PropertyGroup, _context) -> None:
    """A setting of a character was changed."""
    events.setting_changed(group.id_data)


def bone_changed(name: str) -> Callable:
    """The update callback of a bone's setting: an edit by hand also changes all selected bones."""

    def update(group: bpy.types.PropertyGroup, context) -> None:
        events.bone_edited(group, context, name)

    return update


def role_changed(group: bpy.types.PropertyGroup, context) -> None:
    """A bone's role or side was corrected."""
    events.role_changed(group.id_data)
    changed(group, context)


def detail_changed(group: bpy.types.PropertyGroup, context) -> None:
    """The choice of bones that are bodies was changed."""
    events.detail_changed(group.id_data, context.scene)
    changed(group, context)


def mix_changed(group: bpy.types.PropertyGroup, _context) -> None:
    """The mix of source and result was changed."""
    events.mix_changed(group.id_data)


def collider_changed(group: bpy.types.PropertyGroup, _context) -> None:
    """A setting of an object that characters meet was changed."""
    events.collider_changed(group.id_data)


def redraw(_group: bpy.types.PropertyGroup, context) -> None:
    """A setting that changes only what is drawn was changed."""
    for area in context.screen.areas if context.screen else ():
        area.tag_redraw()


# --- declarations ---------------------------------------------------------------------------------

SIMULATED, SHOWN, REMEMBERED, UNSAVED = "SIMULATED", "SHOWN", "REMEMBERED", "UNSAVED"


@dataclass(frozen=True)
class Setting:
    """One property of a group: how Blender makes it, and the facts about it.

    `structure`: the rig's model is made of the value, so it is built again when the value changes. If it is a function,
    the model is made of what the function returns of the value. `structure_if` names a switch of the same group: while
    it is off, the value does not count.
    """

    kind: str
    make: Callable
    keywords: dict
    name: str = ""
    hidden: bool = False  # not in the panel, not to be set from the command line
    keyable: bool = False
    structure: bool | Callable = False
    structure_if: str = ""
    taken: bool = False  # a take holds it
    of_result: bool = False  # a property of the present result: a take keeps it with the keys
    of_shot: bool = False  # one value for a whole shot: that of its leader
    preset: bool = False  # presets set it, and reset it where they do not name it
    copied: bool = False  # included when settings are copied to other characters and bones
    body: bool = False  # the character's own size or weight: copied to another character only on request
    identity: bool = False  # says what a bone is: not copied to other bones of the same character
    mirrored: bool = True  # copied to the bone of the other side
    manual: str = ""  # page and heading that F1 opens
    short: str = ""  # label in the phrase of a take, if the setting's own is too long
    active: str = ""  # for a list: the setting with the index of its active entry

    @property
    def is_simulated(self) -> bool:
        """Does the motion depend on it?"""
        return self.kind == SIMULATED

    @property
    def is_saved(self) -> bool:
        """Is it written into `Object.heft_store`?"""
        return self.kind != UNSAVED

    @property
    def is_list(self) -> bool:
        """Is it a collection of entries?"""
        return self.make is CollectionProperty

    @property
    def is_number(self) -> bool:
        """Is it a single number, which can be dragged?"""
        return self.make in (FloatProperty, IntProperty)

    @property
    def points_to(self) -> type | None:
        """The type of block it points to, or of a list its entries' type."""
        return self.keywords.get("type")


FACTS = tuple(field.name for field in fields(Setting) if field.name not in ("kind", "make", "keywords", "name"))


def simulated(make: Callable, **given) -> Setting:
    """A setting that the motion depends on."""
    return _setting(SIMULATED, make, {"taken": True, "copied": True} | given)


def shown(make: Callable, **given) -> Setting:
    """A setting that only the display depends on."""
    return _setting(SHOWN, make, given)


def remembered(make: Callable, **given) -> Setting:
    """A value that Heft stores for its own use."""
    return _setting(REMEMBERED, make, {"hidden": True} | given)


def unsaved(make: Callable, **given) -> Setting:
    """A value that need not survive a library override."""
    return _setting(UNSAVED, make, {"hidden": True} | given)


def _setting(kind: str, make: Callable, given: dict) -> Setting:
    facts = {name: given.pop(name) for name in FACTS if name in given}
    return Setting(kind, make, given, **facts)


def settings_group(
    update: Callable | None = None, update_of: Callable[[str], Callable] | None = None, manual: str = ""
):
    """Class decorator: turns the declarations into Blender's deferred properties and keeps them as `cls.declared`.

    update       called when a simulated setting changes
    update_of    makes such a function from the setting's name
    manual       page of the settings that name none, and of the group itself
    """

    def decorate(cls: type) -> type:
        found: dict[str, Setting] = {}
        for base in cls.__bases__:
            found |= getattr(base, "declared", {})
        annotations = dict(cls.__annotations__)
        for name, setting in annotations.items():
            if not isinstance(setting, Setting):
                raise TypeError(f"{cls.__name__}.{name} is not declared: write simulated(...), shown(...) or the like")
            call = update_of(name) if update_of else update
            done = replace(setting, name=name, keywords=_keywords(setting, call), manual=setting.manual or manual)
            annotations[name], found[name] = done.make(**done.keywords), done
        cls.__annotations__ = annotations
        cls.declared, cls.manual_page = found, manual
        return cls

    return decorate


def _keywords(setting: Setting, update: Callable | None) -> dict:
    """The property's arguments. Those that follow from its kind are defaults; those given explicitly take
    precedence."""
    options = {"HIDDEN"} if setting.hidden else {"ANIMATABLE"} if setting.keyable else set()
    out = {"options": options, "override": OVERRIDABLE_LIST if setting.is_list else OVERRIDABLE}
    if not setting.is_list:
        out["update"] = {SIMULATED: update, SHOWN: redraw}.get(setting.kind)
        if setting.is_simulated and not update and "update" not in setting.keywords:
            raise TypeError("A group with simulated settings names what is called when one changes.")
    out |= setting.keywords
    if out.get("update", redraw) is None:
        del out["update"]
    return out


# --- questions ------------------------------------------------------------------------------------


def of(cls: type, **facts) -> tuple[Setting, ...]:
    """The settings of a group for which all these facts hold, in order, such as `copied=True`."""
    return tuple(
        setting
        for setting in cls.declared.values()
        if all(getattr(setting, fact) == value for fact, value in facts.items())
    )


def names(cls: type, **facts) -> tuple[str, ...]:
    """The names of these settings."""
    return tuple(setting.name for setting in of(cls, **facts))


def reader(wanted: tuple[str, ...]) -> Callable[[object], tuple]:
    """A function that reads these settings of a group in one call, which is fastest for hundreds of bones."""
    if len(wanted) > 1:
        return attrgetter(*wanted)
    return lambda holder: tuple(getattr(holder, name) for name in wanted)
