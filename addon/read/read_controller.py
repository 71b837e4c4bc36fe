"""Convert the panel's settings to the engine's controller, per body and per frame.

Owns the meaning of multipliers and of keyed settings. Must not know poses or results.
"""

from __future__ import annotations

from functools import cached_property

import bpy
import numpy as np

from ... import engine
from ...engine import ROOTS
from .. import controllers
from ..blender import actions, nla_layers
from ..blender.setting_paths import group_path, is_setting
from ..errors import RigError
from ..rig import bone_roles

# Behaviours of bodies, in the engine's numbering. Ignored bones have no body.
BEHAVIOUR_NUMBERS = {"ANIMATED": 0, "SIMULATED": 1, "LIMP": 2, "IGNORED": 0}

# Recovery time after Let Go if none is set [s].
RETURN_TIME = 1.0


def controller_of(
    rig: bpy.types.Object, model: engine.Model, names: tuple[str, ...], frames: np.ndarray
) -> engine.Controller:
    """The engine's controller for these bodies and frames."""
    return controllers.entry(rig.heft.controller).build(RigValues(rig, model, names, frames))


def limits_of(rig: bpy.types.Object, model: engine.Model, names: tuple[str, ...], frames: np.ndarray) -> np.ndarray:
    """(n,) or (frames, n) [N m] the largest torque of each joint: that of a strong person if strength is not
    limited."""
    values = RigValues(rig, model, names, frames)
    if rig.heft.use_strength and controllers.entry(rig.heft.controller).drives:
        return values.strength
    return values.natural_strength


class RigValues:
    """A rig's settings as arguments of the engine (`controllers.base.Values`)."""

    def __init__(self, rig: bpy.types.Object, model: engine.Model, names: tuple[str, ...], frames: np.ndarray) -> None:
        self.rig, self.model, self.names, self.frames = rig, model, names, frames
        self._keyed = keyed_settings(rig)

    def number(self, setting: str) -> float | np.ndarray:
        return _value(self._keyed, f"heft.{setting}", getattr(self.rig.heft, setting), self.frames)

    def choice(self, setting: str) -> str:
        return getattr(self.rig.heft, setting)

    def keyed_choice(self, setting: str, numbers: dict[str, float]) -> float | np.ndarray:
        found = _value(self._keyed, f"heft.{setting}", numbers[getattr(self.rig.heft, setting)], self.frames)
        return np.repeat(found[:, None], len(self.names), axis=1) if np.ndim(found) else found

    def per_body(self, setting: str, bone_setting: str | None = None) -> np.ndarray:
        return _product(self.rig, self.names, self.frames, self._keyed, setting, bone_setting)

    @cached_property
    def _gone(self) -> np.ndarray:
        return let_go_frames(self.rig, self.frames)

    @property
    def common(self) -> dict:
        behaviour = _behaviours(self.rig, self.names, self.frames, self._keyed)
        root = _roots(self.rig, self.frames, self._keyed)
        if self._gone.any():
            behaviour = np.where(self._gone[:, None], BEHAVIOUR_NUMBERS["LIMP"], behaviour)
        tone = self.per_body("tone", "tone_scale")
        return {"behaviour": behaviour, "root": root, "assist": self.number("assist"), "tone": tone}

    @property
    def following(self) -> dict:
        return {
            "settle_time": self.per_body("settle_time", "settle_scale"),
            "damping_ratio": self.per_body("damping_ratio"),
            "heaviness": np.clip(self.per_body("heaviness", "heaviness_scale"), 0.0, 1.0),
            "strength": self.strength,
            "recovery_time": _with_return(self.per_body("recovery_time"), self._gone),
            "even_weight": self.rig.heft.even_weight,
        }

    @property
    def natural_strength(self) -> np.ndarray:
        """(n,) [N m] the largest torques of a strong person, by role."""
        joints = bone_roles.joints_of(self.names, self.model.parents, bone_roles.roles_of(self.rig))
        return engine.strength_limits(self.model, joints)

    @property
    def strength(self) -> float | np.ndarray:
        """[N m] the largest torques after the settings; infinite if strength is not limited."""
        limited = _value(self._keyed, "heft.use_strength", self.rig.heft.use_strength, self.frames) > 0.5
        if not np.any(limited):
            return np.inf
        strength = self.per_body("strength", "strength_scale") * self.natural_strength
        return np.where(limited[:, None], strength, np.inf) if np.ndim(limited) else strength


def let_go_frames(rig: bpy.types.Object, frames: np.ndarray) -> np.ndarray:
    """(frames,) True where the whole body is limp."""
    return switched(rig, "heft.let_go", rig.heft.let_go, frames)


def _with_return(recovery: np.ndarray, gone: np.ndarray) -> np.ndarray:
    """Recovery times (n,) or (frames, n). Where Let Go ends and none is set it is RETURN_TIME, otherwise the body would
    jump."""
    back = np.flatnonzero(gone[:-1] & ~gone[1:]) + 1
    if not len(back):
        return recovery
    out = np.array(np.broadcast_to(recovery, (len(gone), recovery.shape[-1])))
    out[back] = np.where(out[back] > 0.0, out[back], RETURN_TIME)
    return out


def has_free_root(rig: bpy.types.Object, frames: np.ndarray | None = None) -> bool:
    """True if the root is free on at least one of the frames. Without frames: according to the keys, wherever they
    are."""
    return ROOTS.index("FREE") in _root_numbers(rig, frames)


def is_root_animated(rig: bpy.types.Object, frames: np.ndarray) -> bool:
    """True if the root follows its keys exactly on all of the frames."""
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
    """The root's mode: an identifier, or (frames,) indices into ROOTS if it is keyed or let go."""
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
    """The frame range of the rig's action: its own if it has one, else from first to last key; without an action that
    of its NLA strips."""
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
    """(frames,) the values of a boolean setting, keyed or not."""
    values = _value(keyed_settings(rig), path, fixed, frames)
    return np.broadcast_to(np.asarray(values) > 0.5, (len(frames),)).copy()


def keyed_number(rig: bpy.types.Object, path: str, fixed: float, frames: np.ndarray) -> float | np.ndarray:
    """The values of a number: a single one, or (frames,) if it is keyed."""
    return _value(keyed_settings(rig), path, fixed, frames)


def _value(keyed: dict, path: str, fixed: float, frames: np.ndarray):
    curve = keyed.get(path)
    if curve is None:
        return float(fixed)
    return np.array([curve.evaluate(float(frame)) for frame in frames])


def _product(rig, names, frames, keyed, rig_setting: str, bone_setting: str | None) -> np.ndarray:
    """Armature value times bone multiplier: (n,), or (frames, n) if either is keyed."""
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
