"""Everything an animator would miss, as bytes: to prove that nothing of it changed."""

from __future__ import annotations

import json

import bpy
import numpy as np

KEY_PARTS = (
    "co",
    "handle_left",
    "handle_right",
    "interpolation",
    "easing",
    "handle_left_type",
    "handle_right_type",
    "type",
    "amplitude",
    "back",
    "period",
)
# What Blender works out from the pose of the moment.
DERIVED = {"bound_box", "dimensions", "matrix_local"}
# What Blender keeps for itself.
SKIPPED = {"rna_type", "is_evaluated", "session_uid", "users", "matrix_world", "is_library_indirect"}
OURS = ("heft", "heft_collider", "heft_result", "heft_store")
# What the frame of the moment moves.
MOVING = {
    "matrix_basis", "location", "scale", "rotation_quaternion", "rotation_euler", "rotation_axis_angle",
    "delta_location",
}  # fmt: skip


def snapshot(rig: bpy.types.Object, pose: bool = True) -> dict[str, object]:
    """Actions, slots, curves, keys, NLA, drivers, constraints, bone settings and custom properties.

    What belongs to Heft is left out: its result armature and action, its constraints
    and its own properties.
    """
    results = {ob.heft_result for ob in bpy.data.objects if ob.is_property_set("heft_result")} - {None}
    datas = {result.data for result in results}
    ours = {r.animation_data.action for r in results if r.animation_data and r.animation_data.action}
    takes = [take for ob in bpy.data.objects if ob.is_property_set("heft") for take in ob.heft.takes]
    ours |= {take.action for take in takes} | {part.action for take in takes for part in take.objects}
    state: dict[str, object] = {}
    for action in bpy.data.actions:
        if action not in ours:
            state[f"action {action.name_full}"] = _action(action)
    for ob in bpy.data.objects:
        if ob not in results:
            state[f"object {ob.name_full}"] = _object(ob, pose)
    for data in bpy.data.armatures:
        if data not in datas:
            state[f"armature {data.name_full}"] = [_properties(data), _animation_data(data), _rest(data)]
    made = {ob.heft.colliders for ob in bpy.data.objects if ob.is_property_set("heft") and ob.heft.own_colliders}
    for group in (each for each in bpy.data.collections if each not in made):
        members = sorted(ob.name_full for ob in group.objects)
        state[f"collection {group.name_full}"] = [_properties(group), members, [each.name for each in group.children]]
    for scene in bpy.data.scenes:
        moment = {"use_nodes"} | (set() if pose else {"frame_current", "frame_current_final", "frame_float"})
        members = sorted(ob.name for ob in scene.objects)
        state[f"scene {scene.name}"] = [_properties(scene, moment), _animation_data(scene), members]
        state[f"scene {scene.name}"] += [_properties(scene.render), _properties(scene.unit_settings)]
    chosen = bpy.context.view_layer.objects.active
    state["chosen"] = [chosen.name if chosen else None, sorted(ob.name for ob in bpy.context.selected_objects)]
    return state


def _object(ob: bpy.types.Object, pose: bool) -> dict[str, object]:
    out: dict[str, object] = {"animation": _animation_data(ob), "constraints": _constraints(ob)}
    out["properties"] = _properties(ob, DERIVED | (set() if pose else MOVING))
    out["override"] = _override(ob)
    for bone in ob.pose.bones if ob.pose else ():
        out[f"bone {bone.name}"] = _bone(bone, pose)
    return out


def _override(ob: bpy.types.Object) -> list[str] | None:
    """What the user has overridden of a linked object."""
    override = ob.override_library
    if override is None:
        return None
    held = tuple(
        f'["{bone}"].constraints["{name}"].{what}' for bone, name in _muted(ob) for what in ("mute", "enabled")
    )
    # Blender notes down what the frame of the moment moves as if the user had changed it.
    return sorted(
        prop.rna_path
        for prop in override.properties
        if not _is_ours(prop) and not prop.rna_path.endswith(held) and prop.rna_path.rpartition(".")[2] not in MOVING
    )


def _is_ours(prop: bpy.types.IDOverrideLibraryProperty) -> bool:
    if "heft" in prop.rna_path or '["Heft"]' in prop.rna_path:
        return True
    return prop.rna_path.endswith("constraints") and all(each.subitem_local_name == "Heft" for each in prop.operations)


def _rest(data: bpy.types.Armature) -> list:
    groups = [(group.name, sorted(bone.name for bone in group.bones)) for group in data.collections]
    return [groups, [(_properties(bone), bone.parent.name if bone.parent else None) for bone in data.bones]]


def difference(a, b, where: str = "") -> list[str]:
    """What differs, as `where: before -> after`."""
    if isinstance(a, dict) and isinstance(b, dict):
        return [
            line for key in sorted(a.keys() | b.keys()) for line in difference(a.get(key), b.get(key), f"{where} {key}")
        ]
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
        return [line for i in range(len(a)) for line in difference(a[i], b[i], f"{where}[{i}]")]
    return [] if repr(a) == repr(b) else [f"{where}: {a!r} -> {b!r}"]


def _action(action: bpy.types.Action) -> list:
    out: list = [action.use_fake_user, _properties(action, {"frame_range", "curve_frame_range", "use_fake_user"})]
    out.append([(marker.name, marker.frame) for marker in action.pose_markers])
    if hasattr(action, "slots"):
        out.append([(slot.identifier, slot.handle, slot.target_id_type) for slot in action.slots])
        for layer in action.layers:
            for strip in layer.strips:
                for bag in strip.channelbags:
                    out.append(
                        (bag.slot_handle, [group.name for group in bag.groups], [_curve(c) for c in bag.fcurves])
                    )
    else:
        out.append(([group.name for group in action.groups], [_curve(c) for c in action.fcurves]))
    return out


def _curve(curve: bpy.types.FCurve) -> list:
    parts = [curve.data_path, curve.array_index, curve.mute, curve.lock, curve.hide, curve.extrapolation]
    parts.append(curve.group.name if curve.group else None)
    parts.append([_properties(modifier) for modifier in curve.modifiers])
    points = curve.keyframe_points
    for name in KEY_PARTS:
        wide = name.startswith(("co", "handle")) and not name.endswith("_type")
        whole = name in {"interpolation", "easing", "type"} or name.endswith("_type")
        buffer = np.zeros(len(points) * (2 if wide else 1), dtype=np.int32 if whole else np.float32)
        points.foreach_get(name, buffer)
        parts.append(buffer.tobytes())
    return parts


def _animation_data(block: bpy.types.ID):
    data = block.animation_data
    if data is None:
        return None
    out: list = [_properties(data)]
    for track in data.nla_tracks:
        out.append(_properties(track))
        for strip in track.strips:
            out += [_properties(strip, {"influence", "strip_time"}), [_curve(curve) for curve in strip.fcurves]]
    held = [f'["{bone}"].constraints["{name}"].mute' for bone, name in _muted(block)]
    theirs = [
        curve
        for curve in data.drivers
        if '["Heft"]' not in curve.data_path and not curve.data_path.endswith(tuple(held))
    ]
    out.append([(_curve(curve), _driver(curve.driver)) for curve in theirs])
    return out


def _driver(driver: bpy.types.Driver) -> list:
    return [
        driver.type,
        driver.expression,
        [(v.name, v.type, [_properties(target) for target in v.targets]) for v in driver.variables],
    ]


def _bone(bone: bpy.types.PoseBone, pose: bool) -> list:
    moving = set() if pose else MOVING
    out = [_properties(bone, {"matrix", "head", "tail", "matrix_channel", "length", "bone", "x_axis"} | moving)]
    return [*out, _constraints(bone)]


def _muted(block: bpy.types.ID) -> list[tuple[str, str]]:
    """IK that Heft says it has muted while the result shows."""
    if not isinstance(block, bpy.types.Object) or not block.is_property_set("heft") or not block.heft.muted:
        return []
    return [(bone, name) for bone, name in json.loads(block.heft.muted)]


def _constraints(holder) -> list:
    """The user's, in their order, with the one active in the list."""
    ours = {name for bone, name in _muted(holder.id_data) if bone == holder.name}
    theirs = [constraint for constraint in holder.constraints if constraint.name != "Heft"]
    active = holder.constraints.active
    out: list = [active.name if active is not None else None] if theirs else []
    for constraint in theirs:
        values = _properties(constraint, {"error_location", "error_rotation"})
        if constraint.name in ours:
            values |= {"mute": False, "enabled": True}
        out.append(values)
        if constraint.type == "ARMATURE":
            out.append([_properties(target) for target in constraint.targets])
    return out


def _is_keyable(thing, name: str) -> bool:
    """A bone's setting once more, as its panel keys it."""
    return isinstance(thing, bpy.types.PoseBone) and name.startswith("heft_")


def _properties(thing, skip: set[str] = frozenset()) -> dict:
    """Every plain RNA value and every custom property of a thing."""
    values = {}
    for prop in thing.bl_rna.properties:
        name = prop.identifier
        if name in skip or name in OURS or name in SKIPPED or _is_keyable(thing, name):
            continue
        if prop.type in {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"}:
            value = getattr(thing, name)
            if getattr(prop, "is_array", False):
                value = np.array(value).tolist()
            values[name] = sorted(value) if isinstance(value, set) else value
        elif prop.type == "POINTER":
            value = getattr(thing, name)
            values[name] = getattr(value, "name", None) if isinstance(value, bpy.types.ID) else None
    if isinstance(thing, (bpy.types.ID, bpy.types.PoseBone, bpy.types.Bone)):
        values["custom"] = [(key, _custom(thing[key])) for key in thing.keys() if key not in OURS]  # noqa: SIM118
    return values


def _custom(value):
    return value.to_dict() if hasattr(value, "to_dict") else repr(value)
