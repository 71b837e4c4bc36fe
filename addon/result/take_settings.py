"""Settings of a take as JSON: those of the rig, its bones, its lists, and the objects it meets.

Owns which settings a take holds, how they are restored, and the short phrase for the difference of two takes. Only
values other than the default are stored, so a setting of a later version gets its default. Keyed settings are not
stored, because their keys remain.
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

# Settings of the view or the session are not in a take.
KEPT = declare.names(HeftArmature, taken=True, is_list=False)
KEPT_LISTS = {each.name: each.points_to for each in declare.of(HeftArmature, taken=True, is_list=True)}
KEPT_OF_BONE, KEPT_OF_COLLIDER = declare.names(HeftBone, taken=True), declare.names(HeftCollider, taken=True)
# Unit suffixes by a property's unit, or by its subtype.
UNITS = {"TIME_ABSOLUTE": " s", "MASS": " kg", "LENGTH": " m", "ACCELERATION": " m/s²", "VELOCITY": " m/s"}


# --- to text -------------------------------------------------------------------------


def packed(rig: bpy.types.Object, group: shot.Shot) -> str:
    """The rig's present settings; if it leads its shot, with those of the objects it meets."""
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
    """The objects with collider settings that a shot meets or carries."""
    return [ob for ob in (*group.objects, *group.carried) if ob.is_property_set("heft_collider")]


def _values(group, names: tuple[str, ...], base: str, keyed: dict) -> dict:
    """Values that are not the default; None for a keyed one."""
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
    """Restore settings; only those that differ are set."""
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
    group = shot.of(rig)  # with the restored settings
    if group.leader != rig or stored["objects"].keys() - there.keys():
        return  # it may have been renamed, so other objects' settings are kept
    for ob in _met(group):
        if ob.library is None and ob.name_full not in stored["objects"]:
            settings.forget(ob, "heft_collider")  # it had no settings when the take was kept


def _set(group, names: tuple[str, ...], values: dict) -> None:
    defaults, declared = saved.defaults(type(group)), type(group).declared
    for name in names:
        if name in values and values[name] is None:
            continue  # it was keyed when the take was kept
        wanted = values.get(name, defaults[name])
        if declared[name].points_to and wanted is not None and saved.named(declared[name], wanted) is None:
            continue  # renamed or deleted meanwhile: keep what is set
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
    """The settings of `text` that differ from `other`, in a few words: "settle 0.35 s, heaviness 0.4"."""
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
