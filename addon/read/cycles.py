"""Detect whether a shot's source is cyclic, and its period.

Owns the definition of a cycle, and the sentences for a source that is meant to be one and is not. Must not know poses
or how a cycle is simulated.

A source loops in three cases: every curve that moves it is periodic and has a Cycles modifier; its action is marked
(Cyclic Animation, with its frame range); one repeated NLA strip plays over the whole range. Nothing else in the shot
may then move otherwise, and nothing may happen only once: a free object, a push, a setting keyed without cycles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from ...engine import Motion
from ...engine.math import rotations
from .. import settings
from ..blender import actions, nla_layers, sample_poses, setting_paths
from . import read_rig, shot

WHOLE = 1e-3  # a period this near to a whole number of frames counts as whole
LONGEST = 20000  # frames of a cycle; curves with a longer common period do not loop
# A cycle whose ends differ by more than this is reported [degrees].
OPEN = 1.0
# A shot with fewer frames, or whose joints turn less than this [degrees], is no cycle.
LEAST_LOOP, STILL = 8, 5.0


@dataclass(frozen=True)
class Cycle:
    """A cycle.

    start      its first frame
    period     its length [frames]
    endless    True if the source repeats over the whole range
    curves     True if Cycles modifiers repeat it
    """

    start: int
    period: int
    endless: bool
    curves: bool = False


def cycle_of(group: shot.Shot, scene: bpy.types.Scene, frames: np.ndarray) -> Cycle | None:
    """The cycle of the shot's source, as its leader's Loop setting asks for; None if there is none."""
    leader = group.leader
    if leader.heft.loop == "RANGE" and len(frames) > 1:
        return Cycle(int(frames[0]), len(frames) - 1, endless=False)
    data = leader.animation_data
    stretched = scene.render.frame_map_old != scene.render.frame_map_new
    if leader.heft.loop != "AUTO" or data is None or data.use_tweak_mode or stretched or _something_happens(group):
        return None
    if data.action is None:
        return _strip_cycle(group, frames)
    return _curve_cycle(group, frames) or _action_cycle(group)


def _something_happens(group: shot.Shot) -> bool:
    """True if something in the shot happens only once."""
    if any(push.impulse > 0.0 for rig in group.rigs for push in rig.heft.pushes):
        return True
    return any(settings.collider_of(ob).moves == "FREE" for ob in group.objects)


def _blocks(group: shot.Shot) -> list[bpy.types.ID]:
    """All blocks that the shot's motion depends on, its leader first."""
    things = (*group.rigs, *group.things)
    return list(dict.fromkeys(block for ob in things for block in sample_poses.upstream(ob)))


def _reads_time(block: bpy.types.ID) -> bool:
    """True if a driver of the block reads the frame, or NLA strips play on it."""
    data = block.animation_data
    if data is None:
        return False
    if any("frame" in curve.driver.expression for curve in sample_poses.drivers(block)):
        return True
    return bool(nla_layers.strips_at_work(data))


def _moving_curves(block: bpy.types.ID) -> Iterator[bpy.types.FCurve]:
    """The block's curves that change a pose, a setting, or anything else that a result may depend on."""
    for curve in actions.active_curves(block):
        # Mix is shown, not simulated.
        if not (curve.mute or setting_paths.is_mix(curve.data_path)) and (
            len(curve.modifiers) or actions.changes(curve)
        ):
            yield curve


def _others_stand(group: shot.Shot) -> bool:
    """True if nothing moves except by the leader's own keys."""
    others = [block for block in _blocks(group) if block != group.leader]
    return not any(_reads_time(block) or next(_moving_curves(block), None) is not None for block in others)


# --- the three kinds --------------------------------------------------------------------


def _curve_cycle(group: shot.Shot, frames: np.ndarray) -> Cycle | None:
    """The cycle of a shot in which every curve repeats for ever."""
    first = next(_moving_curves(group.leader), None)
    if first is not None and not _repeats_after(first):
        return None  # the usual case, and asked often: found before everything is searched
    spans, firsts, lasting = [], [], True
    for block in _blocks(group):
        if _reads_time(block):
            return None
        for curve in _moving_curves(block):
            span = _repeats_after(curve)
            if not span:
                return None
            spans.append(span)
            firsts.append(math.ceil(curve.range()[0] - WHOLE))
            lasting = lasting and actions.is_endless(curve.modifiers[0], before=True)
    if not spans:
        return None
    period, start = math.lcm(*spans), max(firsts)
    if period > LONGEST or (not lasting and frames[0] < start):
        return None
    return Cycle(start if not lasting else min(firsts), period, endless=True, curves=True)


def _repeats_after(curve: bpy.types.FCurve) -> int:
    """Whole frames after which the curve repeats, apart from its travel; 0 if it never does."""
    shaping = [modifier for modifier in curve.modifiers if not modifier.mute]
    if len(shaping) != 1 or not actions.is_endless(shaping[0]) or len(curve.keyframe_points) < 2:
        return 0
    mode, (first, last) = shaping[0].mode_after, curve.range()
    travels = mode == "REPEAT_OFFSET" and curve.data_path.endswith("location")
    if not (mode == "MIRROR" or travels or actions.comes_round(curve, first, last)):
        return 0
    span = (last - first) * (2.0 if mode == "MIRROR" else 1.0)
    return round(span) if abs(span - round(span)) <= WHOLE else 0


def _action_cycle(group: shot.Shot) -> Cycle | None:
    """The cycle of an action that is marked cyclic and is, endless or not."""
    action = group.leader.animation_data.action
    if not (action.use_frame_range and action.use_cyclic and _others_stand(group)):
        return None
    start, end = round(action.frame_start), round(action.frame_end)
    stays = (curve for curve in _moving_curves(group.leader) if not curve.data_path.endswith("location"))
    if end <= start or not all(actions.comes_round(curve, start, end) for curve in stays):
        return None
    return Cycle(start, end - start, endless=False)


def _strip_cycle(group: shot.Shot, frames: np.ndarray) -> Cycle | None:
    """The cycle of a single repeated strip that plays over the whole range."""
    strips = nla_layers.strips_at_work(group.leader.animation_data)
    if len(strips) != 1 or strips[0].type != "CLIP" or strips[0].use_animated_time or strips[0].repeat <= 1.0:
        return None
    strip = strips[0]
    ends = (strip.action_frame_start, strip.action_frame_end)
    period = (ends[1] - ends[0]) * strip.scale
    if abs(period - round(period)) > WHOLE or round(period) < 1 or not _others_stand(group):
        return None
    if strip.frame_start > frames[0] or max(frames[-1], frames[0] + period) > strip.frame_end:
        return None
    bag = actions.bag_of(strip.action, getattr(strip, "action_slot", None))
    if bag is None or not all(actions.comes_round(curve, *ends) for curve in bag.fcurves):
        return None
    return Cycle(math.ceil(strip.frame_start - WHOLE), round(period), endless=True)


# --- what is said ------------------------------------------------------------------------


def notes(cycle: Cycle | None, rig: bpy.types.Object, reading: read_rig.Reading) -> list[str]:
    """A sentence if the rig's own motion should repeat and its ends differ."""
    if cycle is None:
        if rig.heft.loop != "AUTO" or not _is_meant_to_loop(rig):
            return []
        return [
            f"'{rig.name}' is marked to repeat, but not all in its shot comes round after whole frames: it is "
            "simulated once. Key the last pose like the first, or set Loop to Off."
        ]
    ends = reading.motion.rotations[[0, -1]]
    angles = np.degrees(rotations.angle_between(ends[0], ends[1]))
    body = int(np.argmax(angles))
    if angles[body] <= OPEN:
        return []
    end = cycle.start + cycle.period
    return [
        f"'{rig.name}' does not come round: '{reading.names[body]}' is {angles[body]:.1f}° off between frames "
        f"{cycle.start} and {end}. Key its last pose like its first, or set Loop to Off."
    ]


def pops(group: shot.Shot, reading: read_rig.Reading, motion: Motion) -> bool:
    """True if the source ends as it began and moves in between, but the result does not: looped playback jumps.
    Simulating it as a loop would avoid that."""
    if group.leader.heft.loop != "AUTO" or len(reading.frames) < LEAST_LOOP or _something_happens(group):
        return False
    source, result = reading.motion.rotations, motion.rotations
    if _apart(source[0], source[-1]) > OPEN or _apart(result[0], result[-1]) <= OPEN:
        return False
    return any(_apart(source[0], pose) > STILL for pose in source)


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    """The largest angle [degrees] between the joints (n, 4) of two poses."""
    return float(np.degrees(rotations.angle_between(one, other)).max())


def _is_meant_to_loop(rig: bpy.types.Object) -> bool:
    """True if the rig's action is marked cyclic, or every curve that moves its pose has a Cycles modifier."""
    data = rig.animation_data
    if data is None or data.action is None:
        return False
    if data.action.use_frame_range and data.action.use_cyclic:
        return True
    found = False
    for curve in _moving_curves(rig):
        if setting_paths.is_setting(curve.data_path):
            continue
        if all(modifier.type != "CYCLES" for modifier in curve.modifiers):
            return False  # the usual case, and asked often: found at the first curve
        found = True
    return found
