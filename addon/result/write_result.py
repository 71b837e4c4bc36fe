"""Write the results of a simulation: keys, stamps, messages for the panel.

Owns the order in which a shot's results are written. Must not read sources or simulate.
"""

from __future__ import annotations

import functools
from collections.abc import Generator
from dataclasses import dataclass

import bpy
import numpy as np

from ... import engine
from ..blender import actions
from ..read import (
    cycles,
    frame_plan,
    mend_frames,
    physical_keys,
    read_rig,
    read_scene,
    result_channels,
    shot,
    source_cache,
)
from ..read.source_cache import Step
from . import free_objects, missed_keys, result_armature, stamps, takes

# Position on the progress bar at which writing begins.
WRITE_FROM = 0.9


@dataclass(frozen=True, eq=False)
class Made:
    """A simulation's inputs and outputs; one reading and one result for each rig.

    mark        the fingerprint of its inputs
    made_with   the settings it was made with, by rig
    """

    mark: str
    made_with: dict[bpy.types.Object, str]
    cached: dict[bpy.types.Object, source_cache.Cached]
    readings: list[read_rig.Reading]
    results: list[engine.Result]
    tracks: tuple[read_scene.Track, ...]
    plan: frame_plan.Plan


def write(group: shot.Shot, made: Made, sliced: bool) -> Generator[Step, None, None]:
    """Write everything; only here the scene is changed. sliced: yield between curves."""
    poses = []
    for reading, result in zip(made.readings, made.results, strict=True):
        work = functools.partial(_poses, reading, result.motion)
        poses.append((yield from source_cache.beside(work, WRITE_FROM, "writing")) if sliced else work())
    for k, (each, reading, result) in enumerate(zip(group.rigs, made.readings, made.results, strict=True)):
        kept = made.cached[each]
        changed = yield from _changed_by_hand(each)
        if changed:
            # A result that the user edited becomes a take before it is overwritten.
            takes.keep_by_hand(each, group)
        # If the present keys are unknown (incomplete, or none), all of them are written.
        known = bool(each.heft.fingerprint) and stamps.made_from(each.heft_result) == each.heft.fingerprint
        only_moved = known and not changed and kept.written is reading
        keys, same = poses[k]
        for share in result_armature.write_steps(each, keys, kept.sums, only_moved):
            yield Step(WRITE_FROM + (1.0 - WRITE_FROM) * (k + share) / len(group.rigs), "writing")
        kept.written = reading
        _tell(group, each, kept, reading, result, made.plan)
        each.heft.undisturbed, each.heft.made_with = same, made.made_with[each]
        checksum = f"{sum(kept.sums.values()):x}"
        stamps.end(each.heft_result, made.mark, checksum)
        each.heft.fingerprint, each.heft.baked, each.heft.written = made.mark, "", checksum
    # All rigs switch at once, so that none is shown with another's old motion.
    _write_objects(group, made)
    for each in group.rigs:
        result_armature.show(each, "RESULT")


def _poses(reading: read_rig.Reading, motion: engine.Motion) -> tuple[result_armature.Poses, bool]:
    """The result's keys, and True if they equal the source's. Does not touch bpy."""
    return result_armature.poses_of(reading, motion), _is_same(reading.motion, motion)


def _tell(
    group: shot.Shot, rig, kept: source_cache.Cached, reading, result: engine.Result, plan: frame_plan.Plan
) -> None:
    """Set the panel's messages about a result."""
    result_armature.record_source(rig)
    rig.heft.result_start, rig.heft.result_end = int(reading.frames[0]), int(reading.frames[-1])
    rig.heft.result_period = plan.cycle.period if plan.cycle is not None and plan.cycle.curves else 0
    rig.heft.flaws = "\n".join(mend_frames.sentences(reading))
    told = [*result.warnings, *kept.notes, *physical_keys.notes(rig, reading), *result_channels.notes(reading)]
    rig.heft.message = "\n".join([*told, *shot.left_out(rig), *shot.overruled(rig, group.leader)])
    rig.heft.pops = plan.cycle is None and cycles.pops(group, reading, result.motion)
    missed_keys.write(rig, result.arrivals)


def _write_objects(group: shot.Shot, made: Made) -> None:
    """Write the free objects' results; delete those of objects that are no longer free."""
    frames, result = made.readings[0].frames, made.results[0]
    free = {track.ob: track for track in made.tracks if track.ob.name_full in result.objects}
    for each in group.rigs:
        for ob in free_objects.results_of(each):
            if ob not in free:
                free_objects.remove(ob)
    for ob, track in free.items():
        free_objects.write(group.leader, ob, frames, track.shown(*result.objects[ob.name_full]), made.mark)


def _is_same(source: engine.Motion, result: engine.Motion) -> bool:
    """True if the difference is invisible: joints within 0.01°, roots within a tenth of a millimetre."""
    cosine = np.abs(np.einsum("fnk,fnk->fn", source.rotations, result.rotations)).min()
    return bool(cosine > np.cos(0.5 * np.radians(0.01)) and np.abs(source.positions - result.positions).max() < 1e-4)


def _changed_by_hand(rig: bpy.types.Object) -> Generator[Step, None, bool]:
    """True if the user edited the result's keys (their checksum differs). An interrupted write does not count."""
    result = rig.heft_result
    if result is None or not rig.heft.written or result.animation_data is None:
        return False
    written = stamps.keys(result) if stamps.made_from(result) is not None else rig.heft.written
    if result.animation_data.action is None or written is None:
        return False
    total = done = 0
    while True:
        # No reference to Blender's data is kept over a yield.
        curves = list(actions.active_curves(rig.heft_result))[done:] if rig.heft_result is not None else []
        read = 0
        for curve in curves:
            total += actions.keys_sum(curve)
            done += 1
            read += len(curve.keyframe_points)
            if read > result_armature.AT_ONCE:
                break
        else:
            return f"{total:x}" != written
        yield Step(WRITE_FROM, "writing")
