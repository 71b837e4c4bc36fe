"""Cache of sampled sources and of the readings made from them, valid while their digests stay the same.

Owns the cache, so that dragging a slider does not sample a rig again, and the progress of reading. Must not simulate or
write.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import bpy
import numpy as np

from ..blender import background_thread, sample_poses
from ..memory import LOAD, REMOVE, REREAD, UNDO, Memo, notify
from . import frame_plan, physical_keys, read_rig, shot
from .inputs import Inputs, RigInputs

# A context manager within which these rigs and objects show their sources: this module must not know results.
ShowSources = Callable[[tuple[bpy.types.Object, ...], tuple[bpy.types.Object, ...]], AbstractContextManager]


@dataclass(frozen=True, eq=False)
class Step:
    """A progress step. done: 0 to 1; label: the stage; text: details, if there are any; waits: True if a background job
    is running and the caller can only wait."""

    done: float
    label: str
    text: str = ""
    waits: bool = False


@dataclass(eq=False)
class Cached:
    """A rig's sampled source, at whole frames and around its physical keys, and the reading made from it."""

    source: str
    samples: sample_poses.Samples
    moments: physical_keys.Moments | None = None
    between: sample_poses.Samples | None = None
    structure: tuple = ()
    reading: read_rig.Reading | None = None
    written: read_rig.Reading | None = None
    sums: dict[tuple[str, int], int] = dataclasses.field(default_factory=dict)
    notes: list[str] = dataclasses.field(default_factory=list)


@dataclass(eq=False)
class Way:
    """The sampled motion of a shot's objects: world matrices (objects, frames, 4, 4) and a digest of what they depend
    on."""

    source: str
    matrices: np.ndarray


_cache: Memo[int, Cached] = Memo("sources", "rig", (LOAD, UNDO, REREAD, REMOVE))
# By the leader of the shot.
_ways: Memo[int, Way] = Memo("ways of objects", "rig", (LOAD, UNDO, REREAD, REMOVE))
# The part of the progress bar for reading; the rest is for simulating.
READ_SHARE = 0.4
# Time slice for sampling sources, before the window is updated [s].
AT_ONCE = 0.015


def rewritten(rig: bpy.types.Object) -> None:
    """The result's keys were replaced by others than the last simulation's, so the next one must write all of them."""
    kept = _cache.get(rig.session_uid)
    if kept is not None:
        kept.written = None


def current(now: RigInputs) -> read_rig.Reading | None:
    """The last reading of a rig, if its masses, shapes and limits are unchanged."""
    kept = _cache.get(now.rig.session_uid)
    if kept is None or kept.reading is None or kept.structure[2] != now.structure:
        return None
    return kept.reading


def read_anew(group: shot.Shot) -> None:
    """Drop everything cached of a shot, including what changes without notice (weights, inputs of modifiers)."""
    notify(REREAD, *group.rigs, *group.objects, *group.carried)


def sample_group(
    now: Inputs, show_sources: ShowSources, sliced: bool = False
) -> Generator[Step, None, tuple[dict[bpy.types.Object, Cached], Way]]:
    """The cached samples of rigs and objects; sampled again if their sources have changed.

    show_sources    context manager in which rigs and objects show their sources
    sliced          leave that context between two steps, when the file may be drawn, saved or undone
    """
    group, scene, frames = now.shot, now.scene, now.sampled
    leader, things = group.leader, group.things
    stale = [each for each in group.rigs if _source_kept(_cache, each) != now.rigs[each].source]
    moments = {each: now.rigs[each].moments for each in group.rigs}
    keyed = [
        each
        for each, asked in moments.items()
        if asked is not None and (each in stale or _cache[each.session_uid].moments != asked)
    ]
    moved = _source_kept(_ways, leader) != now.objects
    jobs = len(stale) + len(keyed) + moved
    look = _Look(lambda: show_sources(group.rigs, things), jobs, sliced)
    with nullcontext() if sliced or not jobs else look.shown():
        for k, each in enumerate(stale):
            samples = yield from _sampled(look, each, scene, frames, k)
            _cache[each.session_uid] = Cached(now.rigs[each].source, samples)
        for k, each in enumerate(keyed, len(stale)):
            between = yield from _sampled(look, each, scene, physical_keys.looks(moments[each]), k)
            _cache[each.session_uid].moments, _cache[each.session_uid].between = moments[each], between
        if moved:
            steps = sample_poses.sample_objects(things, scene, frames)
            matrices = yield from look.through(steps, jobs - 1, len(frames))
            _ways[leader.session_uid] = Way(now.objects, matrices)
    for each in group.rigs:
        if moments[each] is None:
            _cache[each.session_uid].moments = _cache[each.session_uid].between = None
    return {each: _cache[each.session_uid] for each in group.rigs}, _ways[leader.session_uid]


def _source_kept(kept: dict, rig: bpy.types.Object) -> str | None:
    found = kept.get(rig.session_uid)
    return found.source if found is not None else None


def _sampled(look: _Look, rig: bpy.types.Object, scene: bpy.types.Scene, frames: np.ndarray, k: int) -> Generator:
    steps = sample_poses.sample(rig, scene, frame_plan.held_before(rig, frames))
    samples = yield from look.through(steps, k, max(len(frames), 1))
    return dataclasses.replace(samples, frames=np.asarray(frames))


@dataclass(frozen=True, eq=False)
class _Look:
    """Progress of sampling a shot's sources, in several parts."""

    shown: Callable[[], AbstractContextManager]
    jobs: int
    sliced: bool

    def through(self, steps: Generator, k: int, count: int) -> Generator:
        """Forward a sampling generator's progress as steps of part k. Returns the generator's return value."""
        try:
            while True:
                end = time.perf_counter() + (AT_ONCE if self.sliced else 0.0)
                with self.shown() if self.sliced else nullcontext():
                    done = next(steps)
                    while time.perf_counter() < end:
                        done = next(steps)
                yield Step(READ_SHARE * (k + done / count) / self.jobs, "reading")
        except StopIteration as stop:
            return stop.value
        finally:
            steps.close()


def read_steps(
    now: RigInputs, cached: Cached, meters: float, solid: bool, sliced: bool
) -> Generator[Step, None, read_rig.Reading]:
    """The reading of cached samples. It is made again if masses, sizes, shapes, limits, ignored bones or keys changed.
    sliced: long computations run on the background thread."""
    rig, scene = now.rig, now.inputs.scene
    structure = (meters, solid, now.structure, cached.moments)
    if cached.reading is None or cached.structure != structure:
        steps, given = read_rig.read_steps(rig, scene, cached.samples, meters, solid), None
        while True:
            try:
                work = steps.send(given)
            except StopIteration as stop:
                reading = stop.value
                break
            given = (yield from beside(work, READ_SHARE, "reading")) if sliced else work()
        if cached.moments is not None:
            reading = physical_keys.with_keys(rig, reading, cached.moments, cached.between, meters)
        cached.reading, cached.structure = reading, structure
    return cached.reading


def beside(work: Callable, done: float, label: str) -> Generator[Step, None, object]:
    """Steps while a background job runs. Returns the job's result."""
    steps = background_thread.run(work)
    try:
        while True:
            next(steps)
            yield Step(done, label, "", True)
    except StopIteration as stop:
        return stop.value
    finally:
        steps.close()
