"""Settings as text in `Object.heft_store`: written on save, restored on load where Blender dropped them (overrides).

Owns that text, and how a value is written as JSON and read again. Which settings are saved follows from their
declarations. Must not know what a setting means.
"""

from __future__ import annotations

import json

import bpy

from .. import declare
from ..declare import Setting
from ..memory import remembered
from .bone import HeftBone
from .character import HeftArmature
from .collider import HeftCollider

# The collections of `bpy.data` in which pointed-to blocks are found by name.
BLOCKS = {bpy.types.Collection: "collections", bpy.types.Object: "objects", bpy.types.Action: "actions"}


# --- writing ------------------------------------------------------------------------------


def pack(rig: bpy.types.Object) -> None:
    """Write the settings into `heft_store`."""
    values = _values(rig.heft, declare.of(HeftArmature, is_saved=True, is_list=False))
    lists = _values(rig.heft, declare.of(HeftArmature, is_saved=True, is_list=True))
    saved = declare.of(HeftBone, is_saved=True)
    bones = {bone.name: _values(bone.heft, saved) for bone in rig.pose.bones if bone.is_property_set("heft")}
    rig.heft_store = json.dumps({"armature": values, "lists": lists, "bones": bones})


def pack_collider(ob: bpy.types.Object) -> None:
    """Write a collider's settings into its `heft_store`."""
    values = _values(ob.heft_collider, declare.of(HeftCollider, is_saved=True))
    ob.heft_store = json.dumps({"collider": values})


def _values(group: bpy.types.PropertyGroup, chosen: tuple[Setting, ...]) -> dict:
    return {setting.name: _value(getattr(group, setting.name), setting) for setting in chosen}


def _value(value, setting: Setting):
    if setting.is_list:
        saved = declare.of(setting.points_to, is_saved=True)
        return [_values(item, saved) for item in value]
    return plain(value)


def plain(value):
    """A setting's value as JSON holds it; for a block its name."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return value.name_full if isinstance(value, bpy.types.ID) else [float(v) for v in value]


@remembered("content")
def defaults(kind: type) -> dict:
    """The default values of a group, as JSON holds them."""
    found = {}
    for prop in kind.bl_rna.properties:
        if prop.type in {"POINTER", "COLLECTION"}:
            found[prop.identifier] = None
        elif getattr(prop, "is_array", False):
            found[prop.identifier] = [float(value) for value in prop.default_array]
        else:
            found[prop.identifier] = prop.default
    return found


# --- reading ------------------------------------------------------------------------------


def unpack(rig: bpy.types.Object) -> None:
    """Restore settings that the file lost from `heft_store`."""
    if not rig.heft_store or rig.heft.enabled:
        return
    stored = json.loads(rig.heft_store)
    restore(rig.heft, stored["armature"])
    restore(rig.heft, stored.get("lists", {}))
    for bone_name, values in stored["bones"].items():
        bone = rig.pose.bones.get(bone_name)
        if bone:
            restore(bone.heft, values)


def unpack_collider(ob: bpy.types.Object) -> None:
    """Restore a collider's settings that the file lost."""
    if ob.heft_store and not ob.is_property_set("heft_collider"):
        restore(ob.heft_collider, json.loads(ob.heft_store).get("collider", {}))


def restore(group: bpy.types.PropertyGroup, values: dict) -> None:
    """Restore saved values. Pointers are found by name; names of another version are ignored."""
    declared = type(group).declared
    for name, value in values.items():
        setting = declared.get(name)
        if setting is None:
            continue
        if setting.is_list:
            items = getattr(group, name)
            items.clear()
            for each in value:
                restore(items.add(), each)
        elif setting.points_to is not None:
            setattr(group, name, named(setting, value))
        elif plain(getattr(group, name)) != value:  # an unset value stays unset (see `detail`)
            setattr(group, name, value)


def named(setting: Setting, name: str | None) -> bpy.types.ID | None:
    """The block with that full name which a setting points to, or None."""
    blocks = getattr(bpy.data, BLOCKS[setting.points_to])
    return next((block for block in blocks if block.name_full == name), None)
