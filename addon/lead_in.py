"""What is simulated before the frames that are shown: a pre-roll, or the cycles that a loop takes to settle.

Owns which frames are sampled and which of them are shown, and whether the source loops. Must
not simulate.

A source loops where every curve that moves it comes round and has a Cycles modifier, where its
action says so (Cyclic Animation, with its frame range), or where one repeated NLA strip plays all
the range.
Then one cycle is sampled, the engine runs it until it repeats, and the settled cycle is shown
over all the range, travelling on where the source does.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from .. import engine
from . import actions, layers, reader, rotations, sampling, settings
from .scenery import Track

WHOLE = 1e-3  # a period this near to whole frames is one
LONGEST = 20000  # frames of a cycle; curves whose periods only meet after more do not loop
# A cycle whose ends are farther apart than this is told [degrees].
OPEN = 1.0


@dataclass(frozen=True)
class Cycle:
    """start: its first frame; period: frames until that comes again; endless: the source plays on in all the range;
    curves: Cycles modifiers make it do so."""

    start: int
    period: int
    endless: bool
    curves: bool = False


@dataclass(frozen=True, eq=False)
class Plan:
    """Which frames are sampled (in one go) and which are shown.

    sampled   (m,) scene frames
    shown     (k,) scene frames
    rows      (k,) which of the sampled frames each shown one is
    rounds    (k,) how many cycles on from it
    cycle     what is looped, if anything
    """

    sampled: np.ndarray
    shown: np.ndarray
    rows: np.ndarray
    rounds: np.ndarray
    cycle: Cycle | None = None

    @property
    def is_plain(self) -> bool:
        """Is what is sampled what is shown?"""
        return len(self.rows) == len(self.sampled) and not self.rounds.any()

    def digest(self) -> str:
        """What a result depends on of it."""
        return repr((int(self.shown[0]), int(self.shown[-1]), int(self.sampled[0]), int(self.sampled[-1]), self.cycle))


def plan_of(leader: bpy.types.Object, scene: bpy.types.Scene) -> Plan:
    """The frames of a shot, as the armature that leads it has them."""
    frames = settings.frame_range(leader, scene)
    cycle = cycle_of(leader, scene, frames)
    if cycle is None:
        before = max(int(leader.heft.pre_roll), 0)
        sampled = np.arange(frames[0] - before, frames[-1] + 1)
        rows = np.arange(before, len(sampled))
        return Plan(sampled, frames, rows, np.zeros(len(rows), dtype=int))
    end = cycle.start + cycle.period
    sampled = np.arange(cycle.start, end + 1)
    if not cycle.endless:
        return Plan(sampled, sampled, np.arange(len(sampled)), np.zeros(len(sampled), dtype=int), cycle)
    # At least one cycle, its last frame included, so that it can be seen and baked to come round.
    shown = np.arange(frames[0], max(frames[-1], frames[0] + cycle.period) + 1)
    rounds, rows = np.divmod(shown - cycle.start, cycle.period)
    return Plan(sampled, shown, rows, rounds, cycle)


# --- does the source loop -------------------------------------------------------------


def cycle_of(rig: bpy.types.Object, scene: bpy.types.Scene, frames: np.ndarray) -> Cycle | None:
    """The cycle that the rig's source is, as its Loop setting asks; None where it is none."""
    if rig.heft.loop == "RANGE" and len(frames) > 1:
        return Cycle(int(frames[0]), len(frames) - 1, endless=False)
    data = rig.animation_data
    stretched = scene.render.frame_map_old != scene.render.frame_map_new
    if rig.heft.loop != "AUTO" or data is None or data.use_tweak_mode or stretched:
        return None
    if data.action is None:
        return _strip_cycle(rig, frames)
    return _curve_cycle(rig, frames) or _action_cycle(rig)


def _stands_besides(rig: bpy.types.Object) -> bool:
    """Does nothing else than the rig's own keys move it?"""
    others = [block for block in sampling.upstream(rig) if block != rig]
    return not any(_reads_time(block) or next(_moving_curves(block), None) is not None for block in others)


def _reads_time(block: bpy.types.ID) -> bool:
    """Does a driver make something of the frame, or do NLA strips play on the block?"""
    data = block.animation_data
    if data is None:
        return False
    if any("frame" in curve.driver.expression for curve in sampling.drivers(block)):
        return True
    return bool(layers.strips_at_work(data))


def _moving_curves(block: bpy.types.ID) -> Iterator[bpy.types.FCurve]:
    """The block's curves that change a pose, or whatever else of it a pose may hang on."""
    for curve in actions.active_curves(block):
        if curve.mute or settings.is_setting(curve.data_path):
            continue
        if len(curve.modifiers) or actions.changes(curve):
            yield curve


def _curve_cycle(rig: bpy.types.Object, frames: np.ndarray) -> Cycle | None:
    """The cycle of a rig whose every curve repeats for ever, and of all that moves it besides."""
    spans, firsts, lasting = [], [], True
    for block in sampling.upstream(rig):
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
    """Whole frames after which the curve is what it was, save for how far it has gone; 0 if it never is."""
    shaping = [modifier for modifier in curve.modifiers if not modifier.mute]
    if len(shaping) != 1 or not actions.is_endless(shaping[0]) or len(curve.keyframe_points) < 2:
        return 0
    mode, travels = shaping[0].mode_after, curve.data_path.endswith("location")
    if (
        mode != "MIRROR"
        and not (mode == "REPEAT_OFFSET" and travels)
        and not actions.comes_round(curve, *curve.range())
    ):
        return 0
    first, last = curve.range()
    span = (last - first) * (2.0 if mode == "MIRROR" else 1.0)
    return round(span) if abs(span - round(span)) <= WHOLE else 0


def _action_cycle(rig: bpy.types.Object) -> Cycle | None:
    """That of an action that is said to be one and is, whether or not it plays on."""
    action = rig.animation_data.action
    if not (action.use_frame_range and action.use_cyclic and _stands_besides(rig)):
        return None
    start, end = round(action.frame_start), round(action.frame_end)
    stays = (curve for curve in _moving_curves(rig) if not curve.data_path.endswith("location"))
    if end <= start or not all(actions.comes_round(curve, start, end) for curve in stays):
        return None
    return Cycle(start, end - start, endless=False)


def _strip_cycle(rig: bpy.types.Object, frames: np.ndarray) -> Cycle | None:
    """That of one repeated strip that plays all the range."""
    strips = layers.strips_at_work(rig.animation_data)
    if len(strips) != 1 or strips[0].type != "CLIP" or strips[0].use_animated_time or strips[0].repeat <= 1.0:
        return None
    strip = strips[0]
    period = (strip.action_frame_end - strip.action_frame_start) * strip.scale
    start = math.ceil(strip.frame_start - WHOLE)
    if abs(period - round(period)) > WHOLE or round(period) < 1:
        return None
    bag = actions.bag_of(strip.action, getattr(strip, "action_slot", None))
    stays = [curve for curve in bag.fcurves if not curve.data_path.endswith("location")] if bag is not None else []
    ends = (strip.action_frame_start, strip.action_frame_end)
    if not all(actions.comes_round(curve, *ends) for curve in stays) or not _stands_besides(rig):
        return None
    if strip.frame_start > frames[0] or max(frames[-1], frames[0] + period) > strip.frame_end:
        return None
    return Cycle(start, round(period), endless=True)


def _is_meant_to_loop(rig: bpy.types.Object) -> bool:
    """Is the rig's action said to be cyclic, or does it have Cycles on everything?"""
    data = rig.animation_data
    if data is None or data.action is None:
        return False
    if data.action.use_frame_range and data.action.use_cyclic:
        return True
    kinds = [{modifier.type for modifier in curve.modifiers} for curve in _moving_curves(rig)]
    return bool(kinds) and all("CYCLES" in found for found in kinds)


def notes(cycle: Cycle | None, rig: bpy.types.Object, reading: reader.Reading) -> list[str]:
    """A sentence where the rig's own motion does not come round, though it is asked to."""
    if cycle is None:
        if rig.heft.loop != "AUTO" or not _is_meant_to_loop(rig):
            return []
        return [
            f"'{rig.name}' is marked to repeat, but not all that moves it comes round after whole frames: it is "
            "simulated once. Key its last pose like its first, or set Loop to Off."
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


# --- from what is sampled to what is shown ----------------------------------------------


def held_before(rig: bpy.types.Object, frames: np.ndarray) -> np.ndarray:
    """The frames to look at in place of these: before the first of its NLA strips a rig holds the strip's first
    pose, and does not jump to it from its rest."""
    begin = min((layer.begin for layer in layers.layers_of(rig)), default=-math.inf)
    return np.maximum(frames, math.ceil(begin)) if math.isfinite(begin) else frames


def shown_reading(plan: Plan, reading: reader.Reading) -> reader.Reading:
    """The reading of the frames that are shown; the same object every time, for who asks what was written last."""
    if plan.is_plain:
        return reading
    mark = plan.digest()
    kept = reading.__dict__.get("_shown")
    if kept is None or kept[0] != mark:
        kept = (mark, _shown_reading(plan, reading))
        object.__setattr__(reading, "_shown", kept)
    return kept[1]


def _shown_reading(plan: Plan, reading: reader.Reading) -> reader.Reading:
    rows, motion, place = plan.rows, reading.motion, reading.placement
    placement = dataclasses.replace(
        place, rotations=place.rotations[rows], sizes=place.sizes[rows], translations=place.translations[rows]
    )
    out = dataclasses.replace(
        reading,
        frames=plan.shown,
        placement=placement,
        locations=reading.locations[rows],
        scales=reading.scales[rows],
        motion=dataclasses.replace(
            motion,
            rotations=rotations.continuous(motion.rotations[rows]),
            positions=motion.positions[rows],
            stepped=motion.stepped[rows],
            frame_start=int(plan.shown[0]),
        ),
    )
    return dataclasses.replace(out, motion=_travelled(plan, reading, out, out.motion))


def shown_result(plan: Plan, reading: reader.Reading, result: engine.Result) -> engine.Result:
    """The result of the frames that are shown; reading: that of the sampled ones."""
    if plan.is_plain:
        return result
    part = result.part(plan.rows)
    motion = dataclasses.replace(part.motion, frame_start=int(plan.shown[0]))
    moved = _travelled(plan, reading, shown_reading(plan, reading), motion)
    arrivals = result.arrivals if plan.cycle is not None else part.arrivals
    return dataclasses.replace(part, motion=moved, arrivals=arrivals)


def _travelled(plan: Plan, reading: reader.Reading, shown: reader.Reading, motion: engine.Motion) -> engine.Motion:
    """The motion with its roots as far on as the rounds have taken them.

    That is counted in the armature's space: where the object itself travels, its own keys do that.
    """
    if not plan.rounds.any():
        return motion
    roots = np.flatnonzero(reading.model.parents < 0)
    heads = reading.placement.points_to_rig(reading.motion.positions[:, roots])
    ways = plan.rounds[:, None, None] * (heads[-1] - heads[0])
    positions = motion.positions.copy()
    there = shown.placement.points_to_rig(positions[:, roots]) + ways
    positions[:, roots] = shown.placement.points_to_world(there)
    return dataclasses.replace(motion, positions=positions)


def shown_track(plan: Plan, track: Track) -> Track:
    """An object's way over the frames that are shown."""
    if plan.is_plain:
        return track
    return dataclasses.replace(track, matrices=track.matrices[plan.rows], turns=track.turns[plan.rows])
