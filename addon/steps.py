"""Where the source jumps: keys held constant, in the active action and in NLA strips.

Owns the search for those frames. Must not know poses or physics.

An action's own keys are taken through its strip's time. What a full strip above
replaces does not count. The edge of a strip is a cut, not a key: it is sampled as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import bpy

from . import actions

ROTATION_PATHS = ("rotation_quaternion", "rotation_euler", "rotation_axis_angle")


@dataclass(frozen=True)
class _Layer:
    """One action at work: its curves, the scene frames it plays on, its keys' scene frames, and
    whether it replaces what lies below."""

    curves: dict[tuple[str, int], bpy.types.FCurve]
    start: float
    end: float
    frames_of: Callable[[float], Iterable[int]]
    replaces: bool


def jumps_of(rig: bpy.types.Object) -> dict[str, set[int]]:
    """Whole frames on which the target jumps, by bone name; "" for the object itself."""
    names = dict.fromkeys((*ROTATION_PATHS, "location"), "")
    for bone in rig.pose.bones:
        base = bone.path_from_id()
        names.update({f"{base}.{name}": bone.name for name in (*ROTATION_PATHS, "location")})
    jumps: dict[str, set[int]] = {}
    layers = list(_layers(rig))
    for depth, layer in enumerate(layers):
        for key, curve in layer.curves.items():
            name = names.get(key[0])
            if name is None or curve.mute:
                continue
            for frame in actions.step_frames(curve):
                found = {f for f in layer.frames_of(frame) if not _covered(layers[depth + 1 :], key, f)}
                if found:
                    jumps.setdefault(name, set()).update(found)
    return jumps


def _covered(above: list[_Layer], key: tuple[str, int], frame: int) -> bool:
    return any(layer.replaces and key in layer.curves and layer.start <= frame <= layer.end for layer in above)


def _layers(rig: bpy.types.Object) -> Iterator[_Layer]:
    """The actions that move the rig, lowest first."""
    data = rig.animation_data
    if data is None:
        return
    if data.use_nla and not data.use_tweak_mode:
        solo = any(track.is_solo for track in data.nla_tracks)
        for track in data.nla_tracks:
            if track.mute or (solo and not track.is_solo):
                continue
            for place, strip in enumerate(track.strips):
                if strip.type == "CLIP" and strip.action is not None and not strip.mute and not strip.use_animated_time:
                    yield _strip_layer(strip, place == 0)
    if data.action is not None:
        tweaked = data.nla_tweak_strip_time_to_scene if data.use_tweak_mode else float
        replaces = data.action_blend_type == "REPLACE" and data.action_influence == 1.0
        curves = actions.curve_table(actions.active_bag(rig))
        yield _Layer(curves, -math.inf, math.inf, lambda frame: (_arrival(tweaked(frame)),), replaces)


def _strip_layer(strip: bpy.types.NlaStrip, is_first: bool) -> _Layer:
    first, last = strip.action_frame_start, strip.action_frame_end
    length = (last - first) * strip.scale

    def frames_of(frame: float) -> Iterator[int]:
        if not first < frame <= last:
            return
        for turn in range(math.ceil(strip.repeat)):
            start = strip.frame_start + turn * length
            if strip.use_reverse:  # played backwards a key's value lasts up to its frame, and the held one follows
                arrival = math.floor(start + (last - frame) * strip.scale + 1e-4) + 1
            else:
                arrival = _arrival(start + (frame - first) * strip.scale)
            if strip.frame_start < arrival <= strip.frame_end:
                yield arrival

    # Without curves of its own a strip's influence is full, save where it blends in and out.
    full = not strip.use_animated_influence and not (strip.blend_in or strip.blend_out)
    bag = actions.bag_of(strip.action, getattr(strip, "action_slot", None))
    replaces = full and strip.blend_type == "REPLACE"
    # What a strip holds after its end (the first of a track also before its start) hides the lower ones too.
    start = -math.inf if is_first and strip.extrapolation == "HOLD" else strip.frame_start
    end = strip.frame_end if strip.extrapolation == "NOTHING" else math.inf
    return _Layer(actions.curve_table(bag), start, end, frames_of, replaces)


def _arrival(frame: float) -> int:
    """The first whole frame that has jumped."""
    return math.ceil(frame - 1e-4)
