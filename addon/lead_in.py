"""What is simulated before the frames that are shown: a pre-roll, or the cycles that a loop takes to settle.

Owns which frames are sampled and which of them are shown, and whether the source loops. Must
not simulate.

A source loops where every curve that moves it has a Cycles modifier, where its action says so
(Cyclic Animation, with its frame range), or where one repeated NLA strip plays all the range.
Then one cycle is sampled, the engine runs it until it repeats, and the settled cycle is shown
over all the range, travelling on where the source does.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from .. import engine
from . import actions, layers, reader, rotations, settings
from .scenery import Track

POSE_PATHS = ("pose.bones[", "location", "rotation_", "scale", "delta_")
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
        return _strip_cycle(data, frames)
    return _curve_cycle(_pose_curves(rig), frames) or _action_cycle(data.action)


def _pose_curves(rig: bpy.types.Object) -> Iterator[bpy.types.FCurve]:
    """The curves that move the pose or the object."""
    for curve in actions.active_curves(rig):
        path = curve.data_path
        moves = not curve.mute and path.startswith(POSE_PATHS) and not settings.is_setting(path)
        if moves and (len(curve.modifiers) or actions.changes(curve)):
            yield curve


def _curve_cycle(curves: Iterable[bpy.types.FCurve], frames: np.ndarray) -> Cycle | None:
    """The cycle of curves that all repeat for ever."""
    spans, firsts, lasting = [], [], True
    for curve in curves:
        shaping = [modifier for modifier in curve.modifiers if not modifier.mute]
        if len(shaping) != 1 or not actions.is_endless(shaping[0]) or len(curve.keyframe_points) < 2:
            return None
        first, last = curve.range()
        span = (last - first) * (2.0 if shaping[0].mode_after == "MIRROR" else 1.0)
        if abs(span - round(span)) > WHOLE or round(span) < 1:
            return None
        spans.append(round(span))
        firsts.append(math.ceil(first - WHOLE))
        lasting = lasting and actions.is_endless(shaping[0], before=True)
    if not spans:
        return None
    period, start = math.lcm(*spans), max(firsts)
    if period > LONGEST or (not lasting and frames[0] < start):
        return None
    return Cycle(start if not lasting else min(firsts), period, endless=True, curves=True)


def _action_cycle(action: bpy.types.Action) -> Cycle | None:
    """That of an action that is said to be one, whether or not it plays on."""
    if not (action.use_frame_range and action.use_cyclic):
        return None
    start, end = round(action.frame_start), round(action.frame_end)
    return Cycle(start, end - start, endless=False) if end > start else None


def _strip_cycle(data: bpy.types.AnimData, frames: np.ndarray) -> Cycle | None:
    """That of one repeated strip that plays all the range."""
    strips = layers.strips_at_work(data)
    if len(strips) != 1 or strips[0].type != "CLIP" or strips[0].use_animated_time or strips[0].repeat <= 1.0:
        return None
    strip = strips[0]
    period = (strip.action_frame_end - strip.action_frame_start) * strip.scale
    start = math.ceil(strip.frame_start - WHOLE)
    if abs(period - round(period)) > WHOLE or round(period) < 1:
        return None
    if strip.frame_start > frames[0] or max(frames[-1], frames[0] + period) > strip.frame_end:
        return None
    return Cycle(start, round(period), endless=True)


def notes(cycle: Cycle | None, rig: bpy.types.Object, reading: reader.Reading) -> list[str]:
    """A sentence where the rig's own motion does not come round with the cycle."""
    if cycle is None:
        return []
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
