"""A bone's keyable settings, repeated as properties of the pose bone itself: `pose_bone.heft_mix`.

Blender finds no data path to a property in a group of a pose bone, so such fields cannot be keyed or driven from a
panel ("Failed to resolve path to property"). It finds one to a property of the pose bone. These properties store no
value: they read and write the group's. The panel draws them.
"""

from __future__ import annotations

from collections.abc import Callable

import bpy
from bpy.props import EnumProperty

from .. import declare
from ..blender.setting_paths import KEYABLE_PREFIX
from ..declare import Setting
from .bone import HeftBone

KEYABLE = declare.of(HeftBone, keyable=True)
# As items of an enumeration.
KEYABLE_ITEMS = tuple((each.name, each.keywords["name"], each.keywords["description"]) for each in KEYABLE)


def register() -> None:
    """Register these properties on pose bones, after the group."""
    for setting in KEYABLE:
        setattr(bpy.types.PoseBone, KEYABLE_PREFIX + setting.name, _property(setting))


def unregister() -> None:
    """Unregister them."""
    for setting in KEYABLE:
        delattr(bpy.types.PoseBone, KEYABLE_PREFIX + setting.name)


def _property(setting: Setting):
    """The setting's own definition, with access to the group's value."""
    get, put = _access(setting.name, setting.make is EnumProperty, setting.keywords)
    own = {"get": get, "set": put, "update": _updated(setting.keywords["update"])}
    return setting.make(**(setting.keywords | own))


def _access(name: str, is_choice: bool, keywords: dict) -> tuple[Callable, Callable]:
    """The functions that read and write the group's value.

    Blender also calls them while it evaluates the animation, in threads of its own. So writing bypasses the group's
    property, whose update would simulate. After an edit by hand the update of the property here follows.
    """
    numbers = {item[0]: item[-1] for item in keywords["items"]} if is_choice else {}
    low, high = keywords.get("min"), keywords.get("max")
    default = numbers[keywords["default"]] if is_choice else keywords["default"]

    def get(bone: bpy.types.PoseBone):
        if not bone.is_property_set("heft"):
            return default  # does not create the property group, as reading `bone.heft` would
        value = getattr(bone.heft, name)
        return numbers[value] if is_choice else value

    def put(bone: bpy.types.PoseBone, value) -> None:
        if value == default and not bone.is_property_set("heft"):
            return
        if low is not None:
            value = max(value, low)
        if high is not None:
            value = min(value, high)
        _stored(bone.heft)[name] = value

    return get, put


def _stored(group: bpy.types.PropertyGroup):
    """The storage of the group's values. Blender 5.0 keeps registered properties apart from custom ones."""
    if hasattr(group, "bl_system_properties_get"):
        return group.bl_system_properties_get(do_create=True)
    return group


def _updated(changed: Callable) -> Callable:
    """The update callback: the same as for an edit of the group's own property."""

    def update(bone: bpy.types.PoseBone, context) -> None:
        if bone.is_property_set("heft"):
            changed(bone.heft, context)

    return update
