"""The actions that move a block: its active one and those of its NLA strips, and when their keys play.

Owns the conversion from an action's time to the scene's, and which curves are hidden by strips above. Must not know
what the curves move.

An action's keys are mapped through its strip's time. Curves that a strip above replaces at full influence do not count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import bpy

from . import actions

# A key this near to the edge of a strip counts as on the edge [frames].
EDGE = 1e-4


@dataclass(frozen=True)
class Layer:
    """One action that has an effect.

    curves        by data path and index
    first         its first frame in its own time: the start of a strip, not a key
    start, end    scene frames on which it has an effect, including the held poses before and after
    begin, stop   scene frames on which it plays
    times_of      scene frames of one of its own frames: none, one, or one for each repetition
    replaces      it hides what is below it completely
    reversed      played backwards
    """

    curves: dict[tuple[str, int], bpy.types.FCurve]
    first: float
    start: float
    end: float
    begin: float
    stop: float
    times_of: Callable[[float], Iterable[float]]
    replaces: bool
    reversed: bool = False


def layers_of(block: bpy.types.ID) -> list[Layer]:
    """The actions that move the block, lowest first."""
    data = getattr(block, "animation_data", None)
    if data is None:
        return []
    found = [
        _strip_layer(strip, place == 0)
        for place, strip in _strips(data)
        if strip.type == "CLIP" and strip.action is not None and not strip.use_animated_time
    ]
    if data.action is not None:
        tweaked = data.nla_tweak_strip_time_to_scene if data.use_tweak_mode else float
        replaces = data.action_blend_type == "REPLACE" and data.action_influence == 1.0
        curves = actions.curve_table(actions.active_bag(block))
        ever = (-math.inf, math.inf)
        found.append(Layer(curves, -math.inf, *ever, *ever, lambda frame: (tweaked(frame),), replaces))
    return found


def unread_strips(block: bpy.types.ID) -> list[bpy.types.NlaStrip]:
    """Strips that have an effect but whose keys have no unique scene frame."""
    data = getattr(block, "animation_data", None)
    if data is None:
        return []
    return [strip for _, strip in _strips(data) if strip.type == "META" or strip.use_animated_time]


def strips_at_work(data: bpy.types.AnimData) -> list[bpy.types.NlaStrip]:
    """The strips that are played, lowest track first."""
    return [strip for _, strip in _strips(data)]


def _strips(data: bpy.types.AnimData) -> Iterator[tuple[int, bpy.types.NlaStrip]]:
    """The strips that are played, lowest track first, each with its index in the track."""
    if not data.use_nla or data.use_tweak_mode:
        return
    solo = any(track.is_solo for track in data.nla_tracks)
    for track in data.nla_tracks:
        if track.mute or (solo and not track.is_solo):
            continue
        for place, strip in enumerate(track.strips):
            if not strip.mute:
                yield place, strip


def covered(above: Iterable[Layer], key: tuple[str, int], frame: float) -> bool:
    """Does one of the layers above replace this curve on that frame?"""
    return any(layer.replaces and key in layer.curves and layer.start <= frame <= layer.end for layer in above)


def _strip_layer(strip: bpy.types.NlaStrip, is_first: bool) -> Layer:
    first, last = strip.action_frame_start, strip.action_frame_end
    length = (last - first) * strip.scale

    def times_of(frame: float) -> Iterator[float]:
        if not first - EDGE <= frame <= last + EDGE:
            return
        into = (last - frame if strip.use_reverse else frame - first) * strip.scale
        for turn in range(math.ceil(strip.repeat)):
            time = strip.frame_start + turn * length + into
            if time <= strip.frame_end + EDGE:
                yield time

    # Without an influence curve a strip's influence is full, except where it blends in and out.
    full = not strip.use_animated_influence and not (strip.blend_in or strip.blend_out)
    bag = actions.bag_of(strip.action, getattr(strip, "action_slot", None))
    # The pose held after a strip's end (of a track's first strip also before its start) hides the tracks below too.
    start = -math.inf if is_first and strip.extrapolation == "HOLD" else strip.frame_start
    end = strip.frame_end if strip.extrapolation == "NOTHING" else math.inf
    span = (strip.frame_start, strip.frame_end)
    replaces = full and strip.blend_type == "REPLACE"
    return Layer(actions.curve_table(bag), first, start, end, *span, times_of, replaces, strip.use_reverse)
