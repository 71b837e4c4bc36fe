"""Settings of a take as JSON: the rig's, its bones', its lists', and those of objects it meets.

Owns what belongs to it, how it is put back, and the short phrase for how two of them differ. Only what is not a
default is written down: a setting that is new in a later version gets its default. What is keyed is left to its keys.
"""

from __future__ import annotations

import json
import math

import bpy

from .. import declare, settings
from ..memory import remembered
from ..read import read_controller, shot
from ..settings import saved
from ..settings.bone import HeftBone
from ..settings.character import HeftArmature
from ..settings.collider import HeftCollider

# What belongs to a view or to a moment is not of a take.
KEPT = declare.names(HeftArmature, taken=True, is_list=False)
KEPT_LISTS = {each.name: each.points_to for each in declare.of(HeftArmature, taken=True, is_list=True)}
KEPT_OF_BONE, KEPT_OF_COLLIDER = declare.names(HeftBone, taken=True), declare.names(HeftCollider, taken=True)
# Units by the kind of number, and those of properties whose kind says nothing.
UNITS = {"TIME_ABSOLUTE": " s", "MASS": " kg", "LENGTH": " m", "ACCELERATION": " m/s²", "VELOCITY": " m/s"}


# --- to text -------------------------------------------------------------------------


def packed(rig: bpy.types.Object, group: shot.Shot) -> str:
    """The rig's present settings; with those of the objects it meets where it leads its shot."""
    keyed = read_controller.keyed_settings(rig)
    out = {"armature": _values(rig.heft, KEPT, "heft", keyed), "lists": {}, "bones": {}, "objects": {}}
    for name, kind in KEPT_LISTS.items():
        items, fields = enumerate(getattr(rig.heft, name)), declare.names(kind, taken=True)
        out["lists"][name] = [_values(item, fields, f"heft.{name}[{i}]", keyed) for i, item in items]
    for bone in rig.pose.bones:
        if bone.is_property_set("heft"):
            base = f"{bone.path_from_id()}.heft" if keyed else ""
            as_ever = not keyed and _of_bone(bone.heft) == _bone_defaults(type(bone.heft))
            values = {} if as_ever else _values(bone.heft, KEPT_OF_BONE, base, keyed)
            if values:
                out["bones"][bone.name] = values
    if group.leader == rig:
        out["objects"] = {ob.name_full: _values(ob.heft_collider, KEPT_OF_COLLIDER, "", {}) for ob in _met(group)}
    return json.dumps(out, sort_keys=True)


def _met(group: shot.Shot) -> list[bpy.types.Object]:
    """The objects with settings that a shot meets or carries."""
    return [ob for ob in (*group.objects, *group.carried) if ob.is_property_set("heft_collider")]


def _values(group, names: tuple[str, ...], base: str, keyed: dict) -> dict:
    """What is no default; None for what is keyed."""
    defaults, out = saved.defaults(type(group)), {}
    for name in names:
        if keyed and f"{base}.{name}" in keyed:
            out[name] = None
            continue
        value = saved.plain(getattr(group, name))
        if value != defaults[name]:
            out[name] = value
    return out


_of_bone = declare.reader(KEPT_OF_BONE)


@remembered("content")
def _bone_defaults(kind: type) -> tuple:
    return tuple(map(saved.defaults(kind).get, KEPT_OF_BONE))


# --- and back ------------------------------------------------------------------------


def restore(rig: bpy.types.Object, text: str) -> None:
    """Put settings back; only what differs is touched."""
    stored = json.loads(text)
    _set(rig.heft, KEPT, stored["armature"])
    for name, kind in KEPT_LISTS.items():
        _set_list(getattr(rig.heft, name), declare.names(kind, taken=True), stored["lists"].get(name, []))
    for bone in rig.pose.bones:
        values = stored["bones"].get(bone.name, {})
        if values or bone.is_property_set("heft"):
            _set(bone.heft, KEPT_OF_BONE, values)
    there = {ob.name_full: ob for ob in bpy.data.objects}
    for name, values in stored["objects"].items():
        if name in there and there[name].library is None:
            _set(there[name].heft_collider, KEPT_OF_COLLIDER, values)
    group = shot.of(rig)  # as it is with the settings put back
    if group.leader != rig or stored["objects"].keys() - there.keys():
        return  # one that is not found may have another name now: nobody else's settings are taken for new
    for ob in _met(group):
        if ob.library is None and ob.name_full not in stored["objects"]:
            settings.forget(ob, "heft_collider")  # it had none then


def _set(group, names: tuple[str, ...], values: dict) -> None:
    defaults, declared = saved.defaults(type(group)), type(group).declared
    for name in names:
        if name in values and values[name] is None:
            continue  # it was keyed: its keys say what it is
        wanted = values.get(name, defaults[name])
        if declared[name].points_to and wanted is not None and saved.named(declared[name], wanted) is None:
            continue  # renamed or deleted since: what is there now stays
        if saved.plain(getattr(group, name)) != wanted:
            saved.restore(group, {name: wanted})


def _set_list(items, fields: tuple[str, ...], stored: list[dict]) -> None:
    while len(items) > len(stored):
        items.remove(len(items) - 1)
    while len(items) < len(stored):
        items.add()
    for item, values in zip(items, stored, strict=True):
        _set(item, fields, values)


# --- how they differ -------------------------------------------------------------------


@remembered("content", most=256)
def phrase(text: str, other: str) -> str:
    """What `text` has that `other` has not, in a few words: "settle 0.35 s, heaviness 0.4"."""
    a, b = json.loads(text), json.loads(other)
    words = [_word(name, a["armature"]) for name in KEPT if a["armature"].get(name, "") != b["armature"].get(name, "")]
    changed = [name for name in a["bones"].keys() | b["bones"].keys() if a["bones"].get(name) != b["bones"].get(name)]
    if changed:
        words.append(f"bone {changed[0]}" if len(changed) == 1 else f"{len(changed)} bones")
    words += [name for name in KEPT_LISTS if a["lists"].get(name) != b["lists"].get(name)]
    objects = a["objects"].keys() | b["objects"].keys()
    words += sorted(name for name in objects if a["objects"].get(name) != b["objects"].get(name))
    return ", ".join(words)


def _word(name: str, values: dict) -> str:
    kind = HeftArmature
    prop = kind.bl_rna.properties[name]
    label = kind.declared[name].short or prop.name.lower()
    value = values.get(name, saved.defaults(kind)[name])
    if name in values and value is None:
        return f"{label} keyed"
    if prop.type == "ENUM":
        item = prop.enum_items[value].name
        return item if name == "controller" else f"{label} {item}"
    if prop.type == "BOOLEAN":
        return f"{label} {'on' if value else 'off'}"
    if prop.type == "POINTER":
        return f"{label} {value or 'none'}"
    unit = UNITS.get(prop.unit, UNITS.get(prop.subtype, ""))
    numbers = value if isinstance(value, list) else [math.degrees(value) if prop.subtype == "ANGLE" else value]
    return f"{label} {' '.join(f'{number:.3g}' for number in numbers)}{unit}"
