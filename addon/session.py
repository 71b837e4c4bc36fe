"""One simulation from the rig to its result armature, as a generator.

Owns the order of the work (read, simulate, write, show) and the cache of what was
read, so that dragging a slider does not sample the rig again. The scene is touched
once, at the end: cancelling is closing the generator. Must not know operators or
panels.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import bpy
import numpy as np

from .. import engine
from . import actions, properties, reader, sampling, settings, showing, store, units
from .errors import RigError


@dataclass(frozen=True, eq=False)
class Step:
    """done: 0 to 1; label: what is being done."""

    done: float
    label: str


@dataclass(eq=False)
class _Cached:
    source: str
    samples: sampling.Samples
    structure: tuple = ()
    reading: reader.Reading | None = None
    written: reader.Reading | None = None


_cache: dict[int, _Cached] = {}
# How much of the bar reading takes, against simulating.
READ_SHARE = 0.4


def forget(rig: bpy.types.Object | None = None) -> None:
    """Drop what was read of one rig, or of all."""
    if rig is None:
        _cache.clear()
    else:
        _cache.pop(rig.session_uid, None)


def check(rig: bpy.types.Object | None) -> bpy.types.Object:
    """The rig, if physics can work on it."""
    if rig is None or rig.type != "ARMATURE":
        raise RigError("No armature is active: select one.")
    if rig.library is not None and rig.override_library is None:
        raise RigError(f"'{rig.name}' is linked and cannot be edited: use Object > Library Override > Make.")
    if rig.mode == "EDIT":
        raise RigError(f"'{rig.name}' is in Edit Mode: leave it first.")
    return rig


def add(rig: bpy.types.Object) -> None:
    """Physics on a rig: deforming bones become bodies, the rest of a mixed rig rides along."""
    check(rig)
    deforming = [bone for bone in rig.pose.bones if bone.bone.use_deform]
    if deforming and not rig.heft.enabled:
        for bone in rig.pose.bones:
            if not bone.bone.use_deform:
                bone.heft.behaviour = "IGNORED"
    rig.heft.enabled = True


def remove(rig: bpy.types.Object) -> None:
    """Leave the file as it was before `add`."""
    check(rig)
    forget(rig)
    showing.remove(rig)


def simulate(rig: bpy.types.Object, scene: bpy.types.Scene, fresh: bool = True) -> engine.Result:
    """Simulate at once; `fresh` reads the rig again even if it looks unchanged."""
    steps = simulate_steps(rig, scene, fresh)
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return stop.value


def simulate_steps(
    rig: bpy.types.Object, scene: bpy.types.Scene, fresh: bool = True
) -> Generator[Step, None, engine.Result]:
    """Read, simulate, write and show; yields progress, returns the engine's result."""
    check(rig)
    if not properties.has_physics(rig):
        raise RigError(f"'{rig.name}' has no physics: press Add Physics first.")
    source = store.source_fingerprint(rig, scene)
    cached = _cache.get(rig.session_uid)
    if fresh or cached is None or cached.source != source:
        samples = yield from _sample(rig, scene)
        cached = _cache[rig.session_uid] = _Cached(source, samples)
    reading = _read(rig, scene, cached)
    controller = settings.controller_of(rig, reading.names, reading.frames)
    surroundings = engine.Scene(gravity=reading.placement.vector_to_world(settings.gravity_of(rig)))
    result = None
    for progress in engine.simulate_iter(
        reading.model, reading.motion, controller, scene=surroundings, steps_per_second=rig.heft.steps_per_second
    ):
        result = progress.result or result
        yield Step(READ_SHARE + (1.0 - READ_SHARE) * progress.done / max(progress.total, 1), "Simulating")
    _finish(rig, scene, cached, reading, result)
    return result


def _sample(rig: bpy.types.Object, scene: bpy.types.Scene) -> Generator[Step, None, sampling.Samples]:
    frames = settings.frame_range(rig, scene)
    with showing.exposed(rig, "SOURCE"):
        steps = sampling.sample(rig, scene, frames)
        try:
            while True:
                done = next(steps)
                yield Step(READ_SHARE * done / len(frames), "Reading")
        except StopIteration as stop:
            return stop.value
        finally:
            steps.close()


def _read(rig: bpy.types.Object, scene: bpy.types.Scene, cached: _Cached) -> reader.Reading:
    """The reading of cached samples, made anew when masses, sizes or ignored bones change."""
    heft = rig.heft
    bones = tuple((bone.heft.behaviour == "IGNORED", bone.heft.mass) for bone in rig.pose.bones)
    structure = (heft.meters_per_unit, heft.total_mass, bones)
    if cached.reading is None or cached.structure != structure:
        cached.reading = reader.read(rig, scene, cached.samples)
        cached.structure = structure
    return cached.reading


def _finish(rig, scene, cached: _Cached, reading: reader.Reading, result: engine.Result) -> None:
    """The one moment the scene is touched."""
    _keep_take(rig)
    only_moved = cached.written is reading and rig.heft_result is not None and bool(rig.heft.fingerprint)
    showing.write(rig, reading, result.motion, only_moved)
    cached.written = reading
    showing.record_source(rig)
    rig.heft.result_start, rig.heft.result_end = int(reading.frames[0]), int(reading.frames[-1])
    rig.heft.fingerprint = store.fingerprint(rig, scene, cached.source)
    rig.heft.written = store.keys_fingerprint(rig.heft_result)
    rig.heft.message = "\n".join(result.warnings)
    rig.heft.undisturbed = _is_same(reading.motion, result.motion)
    showing.show(rig, "RESULT")


def _is_same(source: engine.Motion, result: engine.Motion) -> bool:
    """Does nobody see a difference? Joints within 0.01°, roots within a tenth of a millimetre."""
    cosine = np.abs(np.einsum("fnk,fnk->fn", source.rotations, result.rotations)).min()
    return bool(cosine > np.cos(0.5 * np.radians(0.01)) and np.abs(source.positions - result.positions).max() < 1e-4)


def _keep_take(rig: bpy.types.Object) -> None:
    """A result changed by hand becomes a take before it is overwritten."""
    result = rig.heft_result
    if result is None or not rig.heft.written or result.animation_data is None:
        return
    action = result.animation_data.action
    if action is not None and store.keys_fingerprint(result) != rig.heft.written:
        take = action.copy()
        take.name = f"{rig.name} take"
        take.use_fake_user = True
        bag = actions.bag_of(take, actions.same_slot(take, actions.slot_of(result)))
        for curve in bag.fcurves:
            curve.lock = False


def is_current(rig: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Does the result still belong to the settings and the source?"""
    return bool(rig.heft.fingerprint) and rig.heft.fingerprint == store.fingerprint(rig, scene)


def rigs() -> list[bpy.types.Object]:
    """All armatures with physics."""
    return [ob for ob in bpy.data.objects if properties.has_physics(ob)]


def height_in_meters(rig: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """The longest side of the rig's rest pose as physics sees it [m]."""
    size = abs(rig.matrix_world.to_3x3().determinant()) ** (1.0 / 3.0)
    meters = units.meters_in_unit(rig.heft.meters_per_unit, scene.unit_settings.scale_length)
    return sampling.rest_height(rig) * size * meters
