"""Frame plan: which frames are sampled and which are shown (pre-roll, repetitions of a cycle).

Owns that choice. Must not simulate, nor know what makes a source loop.

Of a cycle one period is sampled. The engine repeats it until it is periodic. The periodic result is shown over the
whole range, and travels where the source does.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import bpy
import numpy as np

from ... import engine
from ...engine.math import rotations
from ..blender import nla_layers
from . import physical_keys, read_controller, read_rig, shot
from .cycles import Cycle, cycle_of
from .read_scene import Track


@dataclass(frozen=True, eq=False)
class Plan:
    """Which frames are sampled (in one pass) and which are shown.

    sampled   (m,) scene frames
    shown     (k,) scene frames
    rows      (k,) index of each shown frame among the sampled ones
    rounds    (k,) number of periods after the sampled one
    cycle     the cycle, if any
    """

    sampled: np.ndarray
    shown: np.ndarray
    rows: np.ndarray
    rounds: np.ndarray
    cycle: Cycle | None = None

    @property
    def is_plain(self) -> bool:
        """True if the sampled frames are the shown ones."""
        return len(self.rows) == len(self.sampled) and not self.rounds.any()

    def digest(self) -> str:
        """A digest of what a result depends on."""
        return repr((int(self.shown[0]), int(self.shown[-1]), int(self.sampled[0]), int(self.sampled[-1]), self.cycle))


def plan_of(group: shot.Shot, scene: bpy.types.Scene) -> Plan:
    """The frames of a shot, from its leader's settings."""
    frames = read_controller.frame_range(group.leader, scene)
    cycle = cycle_of(group, scene, frames)
    if cycle is None:
        before = max(int(group.leader.heft.pre_roll), 0)
        sampled = np.arange(frames[0] - before, frames[-1] + 1)
        rows = np.arange(before, len(sampled))
        return Plan(sampled, frames, rows, np.zeros(len(rows), dtype=int))
    end = cycle.start + cycle.period
    sampled = np.arange(cycle.start, end + 1)
    if not cycle.endless:
        return Plan(sampled, sampled, np.arange(len(sampled)), np.zeros(len(sampled), dtype=int), cycle)
    # At least one period and its last frame, so that it can be seen and baked as a cycle.
    shown = np.arange(frames[0], max(frames[-1], frames[0] + cycle.period) + 1)
    rounds, rows = np.divmod(shown - cycle.start, cycle.period)
    return Plan(sampled, shown, rows, rounds, cycle)


# --- from what is sampled to what is shown ----------------------------------------------


def held_before(rig: bpy.types.Object, frames: np.ndarray) -> np.ndarray:
    """The frames to sample in place of these. Before its first NLA strip a rig holds the strip's first pose instead of
    its rest pose."""
    begin = min((layer.begin for layer in nla_layers.layers_of(rig)), default=-math.inf)
    return np.maximum(frames, math.ceil(begin)) if math.isfinite(begin) else frames


def joined(plan: Plan, reading: read_rig.Reading) -> read_rig.Reading:
    """The reading of a cycle that does not repeat in the source, with velocities at its last keys as if it did.

    The samples after its end are a held pose and give no velocity.
    """
    keys = reading.motion.keys
    if plan.cycle is None or plan.cycle.endless or keys is None:
        return reading

    def join() -> read_rig.Reading:
        return dataclasses.replace(reading, motion=dataclasses.replace(reading.motion, keys=_joined_keys(reading)))

    return engine.derived(reading, "joined", join)


def _joined_keys(reading: read_rig.Reading) -> engine.Keys:
    motion, keys = reading.motion, reading.motion.keys
    at_end = np.flatnonzero(np.abs(np.asarray(keys.frames) - reading.frames[-1]) < physical_keys.SAME)
    bodies = [reading.names.index(keys.bodies[k]) for k in at_end]
    here = rotations.conjugate(motion.rotations[0, bodies])
    turns = [rotations.to_vector(rotations.multiply(here, motion.rotations[row, bodies])) for row in (1, -2)]
    ways = motion.positions[1, bodies] - motion.positions[0, bodies]
    ways = ways + motion.positions[-1, bodies] - motion.positions[-2, bodies]
    velocities, drifts = keys.velocities.copy(), keys.drifts.copy()
    velocities[at_end] = 0.5 * motion.fps * (turns[0] - turns[1])
    drifts[at_end] = 0.5 * motion.fps * ways
    return dataclasses.replace(keys, velocities=velocities, drifts=drifts)


def shown_reading(plan: Plan, reading: read_rig.Reading) -> read_rig.Reading:
    """The reading of the shown frames. It is always the same object, so that results can be compared by identity."""
    if plan.is_plain:
        return reading
    return engine.derived(reading, "shown", lambda: _shown_reading(plan, reading), plan.digest())


def _shown_reading(plan: Plan, reading: read_rig.Reading) -> read_rig.Reading:
    rows, motion, place = plan.rows, reading.motion, reading.placement
    placement = dataclasses.replace(
        place, rotations=place.rotations[rows], sizes=place.sizes[rows], translations=place.translations[rows]
    )
    out = dataclasses.replace(
        reading,
        frames=plan.shown,
        placement=placement,
        keyed=reading.keyed.part(rows),
        motion=dataclasses.replace(
            motion,
            rotations=rotations.continuous(motion.rotations[rows]),
            positions=motion.positions[rows],
            stepped=motion.stepped[rows],
            frame_start=int(plan.shown[0]),
        ),
    )
    return dataclasses.replace(out, motion=_travelled(plan, reading, out, out.motion))


def shown_result(plan: Plan, reading: read_rig.Reading, result: engine.Result) -> engine.Result:
    """The result on the shown frames. reading: that of the sampled frames."""
    if plan.is_plain:
        return result
    part = result.part(plan.rows)
    motion = dataclasses.replace(part.motion, frame_start=int(plan.shown[0]))
    moved = _travelled(plan, reading, shown_reading(plan, reading), motion)
    arrivals = result.arrivals if plan.cycle is not None else part.arrivals
    return dataclasses.replace(part, motion=moved, arrivals=arrivals)


def _travelled(plan: Plan, reading: read_rig.Reading, shown: read_rig.Reading, motion: engine.Motion) -> engine.Motion:
    """The motion with its roots displaced by the travel of the periods before.

    The travel is computed in the armature's space; if the object itself travels, its own keys do that.
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
    """An object's track over the shown frames."""
    if plan.is_plain:
        return track
    return dataclasses.replace(track, matrices=track.matrices[plan.rows], turns=track.turns[plan.rows])
