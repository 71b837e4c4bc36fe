"""Everything an animator would miss, as bytes: to prove that nothing of it changed."""

from __future__ import annotations

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
OURS = ("heft", "heft_result", "heft_store")


def snapshot(rig: bpy.types.Object, pose: bool = True) -> dict[str, object]:
    """Actions, slots, curves, keys, NLA, drivers, constraints, bone settings and custom properties.

    What belongs to Heft is left out: its result armature and action, its constraints
    and its own properties.
    """
    result = rig.heft_result
    ours = set()
    if result is not None and result.animation_data and result.animation_data.action:
        ours.add(result.animation_data.action.name)
    state: dict[str, object] = {}
    for action in bpy.data.actions:
        if action.name not in ours:
            state[f"action {action.name}"] = _action(action)
    state["animation"] = _animation_data(rig)
    state["data animation"] = _animation_data(rig.data)
    state["object"] = _properties(rig, DERIVED)
    state["rest"] = [_properties(bone) for bone in rig.data.bones]
    for bone in rig.pose.bones:
        state[f"bone {bone.name}"] = _bone(bone, pose)
    return state


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
    out: list = [action.use_fake_user, action.use_frame_range, action.use_cyclic, sorted(action.keys())]
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
        out.append((_properties(track), [_properties(strip) for strip in track.strips]))
    out.append([(curve.data_path, curve.array_index, _driver(curve.driver)) for curve in data.drivers])
    return out


def _driver(driver: bpy.types.Driver) -> list:
    return [
        driver.type,
        driver.expression,
        [(v.name, v.type, [(t.id, t.data_path) for t in v.targets]) for v in driver.variables],
    ]


def _bone(bone: bpy.types.PoseBone, pose: bool) -> list:
    out = [_properties(bone, {"matrix", "head", "tail", "matrix_channel", "length", "bone", "x_axis"} | _moving(pose))]
    out += [_properties(c, {"error_location", "error_rotation"}) for c in bone.constraints if c.name != "Heft"]
    return out


def _moving(pose: bool) -> set[str]:
    names = {"matrix_basis", "location", "scale", "rotation_quaternion", "rotation_euler", "rotation_axis_angle"}
    return set() if pose else names


def _properties(thing, skip: set[str] = frozenset()) -> dict:
    """Every plain RNA value and every custom property of a thing."""
    values = {}
    for prop in thing.bl_rna.properties:
        name = prop.identifier
        if name in skip or name in OURS or name in {"rna_type", "is_evaluated", "session_uid", "users", "matrix_world"}:
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
