"""From the panel's settings to the engine's controller, per body and per frame.

Owns the meaning of multipliers and of keyed settings. Must not know poses or results.
"""

from __future__ import annotations

import bpy
import numpy as np

from ... import engine
from ...engine import ARRIVAL_SHAPES, ROOTS
from ..blender import actions, nla_layers
from ..blender.setting_paths import group_path, is_setting
from ..errors import RigError
from ..rig import bone_roles

# Behaviours a body can have, in the engine's numbering; Ignored is no body at all.
BEHAVIOUR_NUMBERS = {"ANIMATED": 0, "SIMULATED": 1, "LIMP": 2, "IGNORED": 0}

# [s] in which a body that was let go is back on its motion, where no recovery time is set.
RETURN_TIME = 1.0

# How much of a key's speed a body arrives with.
ARRIVAL_NUMBERS = {"REST": 0.0, "CURVE": 1.0}


def controller_of(rig: bpy.types.Object, model: engine.Model, names: tuple[str, ...], frames: np.ndarray):
    """The engine's controller for these bodies and frames."""
    heft = rig.heft
    keyed = keyed_settings(rig)
    behaviour = _behaviours(rig, names, frames, keyed)
    root, gone = _roots(rig, frames, keyed), let_go_frames(rig, frames)
    if gone.any():
        behaviour = np.where(gone[:, None], BEHAVIOUR_NUMBERS["LIMP"], behaviour)
    assist = _value(keyed, "heft.assist", heft.assist, frames)
    common = {"behaviour": behaviour, "root": root, "assist": assist}
    common["tone"] = _product(rig, names, frames, keyed, "tone", "tone_scale")
    if heft.controller == "LIMP":
        return engine.Limp(**common)
    settle = _product(rig, names, frames, keyed, "settle_time", "settle_scale")
    heaviness = np.clip(_product(rig, names, frames, keyed, "heaviness", "heaviness_scale"), 0.0, 1.0)
    damping = _product(rig, names, frames, keyed, "damping_ratio", None)
    strength = np.inf
    limited = _value(keyed, "heft.use_strength", heft.use_strength, frames) > 0.5
    if np.any(limited):
        limits = engine.strength_limits(model, bone_roles.joints_of(names, model.parents, bone_roles.roles_of(rig)))
        strength = _product(rig, names, frames, keyed, "strength", "strength_scale") * limits
        strength = np.where(limited[:, None], strength, np.inf) if np.ndim(limited) else strength
    recovery = _with_return(_product(rig, names, frames, keyed, "recovery_time", None), gone)
    common |= {"settle_time": settle, "damping_ratio": damping, "heaviness": heaviness, "strength": strength}
    common |= {"recovery_time": recovery, "even_weight": heft.even_weight}
    if heft.controller == "FOLLOW":
        return engine.Follow(**common)
    shape = np.clip(_product(rig, names, frames, keyed, "shape", None), *ARRIVAL_SHAPES)
    arrival = _value(keyed, "heft.arrival", ARRIVAL_NUMBERS[heft.arrival], frames)
    if np.ndim(arrival):
        arrival = np.repeat(arrival[:, None], len(names), axis=1)
    return engine.OnTime(shape=shape, arrival=arrival, law=heft.law, **common)


def let_go_frames(rig: bpy.types.Object, frames: np.ndarray) -> np.ndarray:
    """(frames,) where the whole body is limp."""
    return switched(rig, "heft.let_go", rig.heft.let_go, frames)


def _with_return(recovery: np.ndarray, gone: np.ndarray) -> np.ndarray:
    """Recovery times (n,) or (frames, n): where a body is taken back there is one, else it would jump."""
    back = np.flatnonzero(gone[:-1] & ~gone[1:]) + 1
    if not len(back):
        return recovery
    out = np.array(np.broadcast_to(recovery, (len(gone), recovery.shape[-1])))
    out[back] = np.where(out[back] > 0.0, out[back], RETURN_TIME)
    return out


def has_free_root(rig: bpy.types.Object, frames: np.ndarray | None = None) -> bool:
    """Is nothing holding the root, on one of the frames at least? Without frames: by the keys, wherever they are."""
    return ROOTS.index("FREE") in _root_numbers(rig, frames)


def is_root_animated(rig: bpy.types.Object, frames: np.ndarray) -> bool:
    """Does the root go exactly where it is keyed, on all of the frames?"""
    return set(_root_numbers(rig, frames)) == {ROOTS.index("ANIMATED")}


def _root_numbers(rig: bpy.types.Object, frames: np.ndarray | None) -> list[int]:
    keyed = keyed_settings(rig)
    if frames is not None:
        found = _roots(rig, frames, keyed)
        return [ROOTS.index(found)] if isinstance(found, str) else list(found)
    curve, switch = keyed.get("heft.root"), keyed.get("heft.let_go")
    numbers = [ROOTS.index(rig.heft.root)] if curve is None else [round(p.co.y) for p in curve.keyframe_points]
    gone = rig.heft.let_go if switch is None else any(point.co.y > 0.5 for point in switch.keyframe_points)
    return [*numbers, ROOTS.index("FREE")] if gone else numbers


def _roots(rig: bpy.types.Object, frames: np.ndarray, keyed: dict) -> str | np.ndarray:
    """What holds the root: a word, or (frames,) indices into ROOTS where it is keyed or let go."""
    gone = let_go_frames(rig, frames)
    if "heft.root" not in keyed and not gone.any():
        return rig.heft.root
    values = _value(keyed, "heft.root", float(ROOTS.index(rig.heft.root)), frames)
    values = np.clip(np.round(np.broadcast_to(values, (len(frames),))), 0, len(ROOTS) - 1).astype(np.int64)
    return np.where(gone, ROOTS.index("FREE"), values)


def gravity_of(rig: bpy.types.Object) -> tuple[float, float, float]:
    """[m/s²] in Blender's world."""
    return tuple(float(value) for value in rig.heft.gravity)


def frame_range(rig: bpy.types.Object, scene: bpy.types.Scene) -> np.ndarray:
    """The whole frames to simulate."""
    kind = rig.heft.range
    start, end = scene.frame_start, scene.frame_end
    if kind == "PREVIEW" and scene.use_preview_range:
        start, end = scene.frame_preview_start, scene.frame_preview_end
    elif kind == "CUSTOM":
        start, end = rig.heft.frame_start, rig.heft.frame_end
    elif kind == "ACTION":
        start, end = _action_range(rig)
    if end < start:
        raise RigError(f"The range ends at frame {end}, before it starts at {start}: swap them.")
    return np.arange(start, end + 1)


def action_range(rig: bpy.types.Object) -> tuple[int, int] | None:
    """The first and the last frame of the rig's action; None without keys."""
    try:
        return _action_range(rig)
    except RigError:
        return None


def _action_range(rig: bpy.types.Object) -> tuple[int, int]:
    """From the first to the last frame of the rig's action, its own frame range where it has one; without an action
    of those of its NLA strips."""
    data = rig.animation_data
    spans = [curve.range() for curve in actions.active_curves(rig) if len(curve.keyframe_points)]
    if spans:
        span = (min(first for first, _ in spans), max(last for _, last in spans))
        if data.action.use_frame_range:
            span = (data.action.frame_start, data.action.frame_end)
        if data.use_tweak_mode:
            span = tuple(data.nla_tweak_strip_time_to_scene(frame) for frame in span)
    else:
        strips = nla_layers.strips_at_work(data) if data is not None else []
        if not strips:
            raise RigError(f"'{rig.name}' has no action with keys: choose another range.")
        span = (min(strip.frame_start for strip in strips), max(strip.frame_end for strip in strips))
    return int(np.floor(span[0] + 1e-4)), int(np.ceil(span[1] - 1e-4))


def keyed_settings(rig: bpy.types.Object) -> dict[str, bpy.types.FCurve]:
    """Heft settings animated by the rig's action, by data path."""
    found = {}
    for curve in actions.active_curves(rig):
        if not curve.mute and is_setting(curve.data_path):
            path = group_path(curve.data_path)
            if path == curve.data_path:
                found.setdefault(path, curve)
            else:
                found[path] = curve
    return found


def switched(rig: bpy.types.Object, path: str, fixed: bool, frames: np.ndarray) -> np.ndarray:
    """(frames,) a switch of the rig's, keyed or not."""
    values = _value(keyed_settings(rig), path, fixed, frames)
    return np.broadcast_to(np.asarray(values) > 0.5, (len(frames),)).copy()


def keyed_number(rig: bpy.types.Object, path: str, fixed: float, frames: np.ndarray) -> float | np.ndarray:
    """A number of the rig's: one, or (frames,) where it is keyed."""
    return _value(keyed_settings(rig), path, fixed, frames)


def _value(keyed: dict, path: str, fixed: float, frames: np.ndarray):
    curve = keyed.get(path)
    if curve is None:
        return float(fixed)
    return np.array([curve.evaluate(float(frame)) for frame in frames])


def _product(rig, names, frames, keyed, rig_setting: str, bone_setting: str | None) -> np.ndarray:
    """Armature value times bone multiplier: (n,), or (frames, n) where either is keyed."""
    base = _value(keyed, f"heft.{rig_setting}", getattr(rig.heft, rig_setting), frames)
    scales = [1.0] * len(names)
    if bone_setting is not None:
        for i, name in enumerate(names):
            bone = rig.pose.bones[name]
            path = f"{bone.path_from_id()}.heft.{bone_setting}" if keyed else ""
            scales[i] = _value(keyed, path, getattr(bone.heft, bone_setting), frames)
    if np.ndim(base) == 0 and all(np.ndim(scale) == 0 for scale in scales):
        return base * np.array(scales, dtype=np.float64)
    columns = [np.broadcast_to(base * scale, (len(frames),)) for scale in scales]
    return np.ascontiguousarray(np.stack(columns, axis=1))


def _behaviours(rig, names, frames, keyed) -> np.ndarray:
    bones = rig.pose.bones
    fixed = [BEHAVIOUR_NUMBERS[bones[name].heft.behaviour] for name in names]
    paths = [f"{bones[name].path_from_id()}.heft.behaviour" for name in names] if keyed else []
    if not any(path in keyed for path in paths):
        return np.array(fixed, dtype=np.int64)
    columns = []
    for path, number in zip(paths, fixed, strict=True):
        values = np.round(np.broadcast_to(_value(keyed, path, number, frames), (len(frames),))).astype(np.int64)
        columns.append(np.where(values > 2, 0, values))
    return np.ascontiguousarray(np.stack(columns, axis=1))
