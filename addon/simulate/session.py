"""One simulation from the rig to its result armature, as a generator.

Owns the order of the steps (read, simulate, write, show). The scene is changed once, at the end: cancelling closes the
generator. Must not know operators or panels.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import dataclass

import bpy

from ... import engine
from .. import events, memory, settings
from ..bake import bake_result, unbake
from ..blender import background_thread, engine_space, own_collections, sample_poses
from ..errors import RigError
from ..memory import LOAD, REMOVE, UNDO, Memo
from ..read import (
    collision_shapes,
    cycles,
    frame_plan,
    inputs,
    read_controller,
    read_rig,
    read_scene,
    result_channels,
    shot,
    source_cache,
)
from ..read.source_cache import READ_SHARE, Step
from ..result import (
    added_objects,
    free_objects,
    plot_curves,
    result_armature,
    take_settings,
    takes,
    takes_side_by_side,
    write_result,
)
from ..rig import detail, first_guess, physical_ends, skin
from . import jobs, timing


@dataclass(frozen=True, eq=False)
class Shown:
    """Inputs and outputs of a rig's last simulation, for drawing."""

    reading: read_rig.Reading
    result: engine.Result
    tracks: tuple[read_scene.Track, ...]


_shown: Memo[int, Shown] = Memo("last simulations", "rig", (LOAD, UNDO, REMOVE))
# The same for takes kept in this session, by rig and take.
_taken: Memo[tuple[int, str], Shown] = Memo("simulations of takes", "rig", (LOAD, UNDO, REMOVE))
# Checkpoints of the last simulation to continue from, by the leader of the shot. The engine compares them with the new
# inputs, so they may survive undo.
_checkpoints: Memo[int, engine.Memory] = Memo("checkpoints", "rig", (LOAD, REMOVE))


def last_shown(rig: bpy.types.Object) -> Shown | None:
    """The last simulation of this rig in this session, or None."""
    return _shown.get(rig.session_uid)


def check(rig: bpy.types.Object | None) -> bpy.types.Object:
    """Return the rig, or raise an error if it cannot have physics."""
    if rig is None or rig.type != "ARMATURE":
        raise RigError("No armature is active: select one.")
    if rig.library is not None:
        raise RigError(f"'{rig.name}' is linked and cannot be edited: use Object > Library Override > Make.")
    if rig.mode == "EDIT":
        raise RigError(f"'{rig.name}' is in Edit Mode: leave it first.")
    return rig


def add(rig: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Add physics to a rig: guess bodies, size and mass that the user has not set."""
    check(rig)
    if not rig.heft.enabled:
        if not rig.heft.is_property_set("detail"):
            rig.heft.detail = detail.choose(rig, scene)
        rig.heft.detail_before = rig.heft.detail
        first_guess.choose_bodies(rig, scene)
        first_guess.guess_size(rig, scene)
        first_guess.guess_mass(rig, scene)
        first_guess.guess_tone(rig)
    rig.heft.enabled = True


def remove(rig: bpy.types.Object) -> None:
    """Remove physics; the file is then as before `add`."""
    check(rig)
    jobs.cancel(shot.leader(rig))
    memory.notify(REMOVE, rig)
    takes.delete_all(rig)
    plot_curves.remove(rig)
    made = added_objects.made_for(rig)
    result_armature.remove(rig)
    added_objects.remove(made)


def add_colliders(rig: bpy.types.Object, scene: bpy.types.Scene, chosen) -> tuple[list, list]:
    """Add objects to the rig's colliders collection, which is created if needed. Returns the added objects, and skins
    that were left out."""
    check(rig)
    group = rig.heft.colliders
    if group is None:
        group = bpy.data.collections.new(f"{rig.name} colliders")
        scene.collection.children.link(group)
        rig.heft.colliders, rig.heft.own_colliders = group, True
    if not own_collections.is_open(group):
        raise RigError(f"The collection '{group.name}' is linked and cannot be edited: choose another.")
    skins = [ob for ob in chosen if ob.type == "MESH" and skin.skinned_by(ob)]
    held = set(group.all_objects)
    added = [ob for ob in chosen if ob not in held and ob not in skins]
    for ob in added:
        group.objects.link(ob)
    return added, skins


def remove_collider(rig: bpy.types.Object, ob: bpy.types.Object) -> None:
    """Remove an object from the rig's colliders collection and its child collections."""
    whole = rig.heft.colliders
    groups = [group for group in (whole, *whole.children_recursive) if ob in set(group.objects)]
    closed = next((group for group in groups if not own_collections.is_open(group)), None)
    if closed is not None:
        raise RigError(f"'{ob.name}' is in the collection '{closed.name}', which is linked and cannot be edited.")
    for group in groups:
        if len(ob.users_collection) == 1:
            # It is in no other collection, and must not vanish from the scene.
            bpy.context.scene.collection.objects.link(ob)
        group.objects.unlink(ob)


def lowest_point(rig: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """The lowest Z of the source's bones with their shapes over the shot [units of the scene]."""
    check(rig)
    frames = read_controller.frame_range(rig, scene)
    with result_armature.exposed(rig, "SOURCE"):
        samples = sample_poses.finish(sample_poses.sample(rig, scene, frames))
    meters = engine_space.meters_in_unit(rig.heft.meters_per_unit, scene.unit_settings.scale_length)
    reading = read_rig.read(rig, scene, samples, meters, solid=True)
    lows = [
        collision_shapes.lowest(shape, *reading.placed(samples, body)).min()
        for body, shapes in enumerate(reading.model.shapes)
        for shape in shapes
    ]
    if not lows:
        raise RigError(f"No bone of '{rig.name}' has a shape: give some one.")
    return float(min(lows)) / meters


def prepare_fall(rig: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Switch on a ground below a character that may fall, if its shot has none and the animator never set one. Its limp
    bones touch one another without further settings (When It Falls)."""
    if shot.of(rig).grounded is None and not rig.heft.is_property_set("ground"):
        rig.heft.ground_height = lowest_point(rig, scene)
        rig.heft.ground = True


def simulate(
    rig: bpy.types.Object, scene: bpy.types.Scene, fresh: bool = True, now: inputs.Inputs | None = None
) -> engine.Result:
    """Simulate at once. fresh: read the rig again even if it looks unchanged; now: the inputs of its shot, if known for
    this event."""
    steps = simulate_steps(rig, scene, fresh, at_once=True, now=now)
    with engine.without_gc():
        while True:
            try:
                next(steps)
            except StopIteration as stop:
                return stop.value


def simulate_steps(
    rig: bpy.types.Object,
    scene: bpy.types.Scene,
    fresh: bool = True,
    sliced: bool = False,
    at_once: bool = False,
    now: inputs.Inputs | None = None,
) -> Generator[Step, None, engine.Result]:
    """Read, simulate, write and show all of the rig's shot. Yields progress, returns the rig's result.

    sliced    The window stays responsive between the steps: long computations run on the background thread, the rig
              keeps showing at every step what it showed before, and keys are written in parts, stamped as unfinished.
              Otherwise all keys are written in one step, and closing the generator before it changes nothing.
    at_once   Do not yield the engine's progress.
    """
    clock = timing.Clock()
    now = inputs.of(check(rig), scene) if now is None else now
    steps = clock.watch(_simulate_steps(rig, now, fresh, sliced, at_once, clock))
    if not sliced:
        jobs.cancel(now.shot.leader)
        return (yield from steps)
    try:
        while True:
            # Between two steps a rig may be deleted, or enter Edit Mode.
            for each in now.shot.rigs:
                check(each)
            yield next(steps)
    except StopIteration as stop:
        return stop.value
    finally:
        steps.close()


def _simulate_steps(
    rig, now: inputs.Inputs, fresh: bool, sliced: bool, at_once: bool, clock: timing.Clock
) -> Generator:
    if not settings.has_physics(rig):
        raise RigError(f"'{rig.name}' has no physics: press Add Physics first.")
    group, scene = now.shot, now.scene
    for other in group.rigs:
        check(other)
    _check_free(group)
    leader = group.leader
    plan, frames = now.plan, now.sampled
    if fresh:
        source_cache.read_anew(group)
    cached, way = yield from source_cache.sample_group(now, result_armature.sources_shown, sliced)
    meters = engine_space.meters_in_unit(leader.heft.meters_per_unit, scene.unit_settings.scale_length)
    readings = []
    for each in group.rigs:
        reading = yield from source_cache.read_steps(now.rigs[each], cached[each], meters, now.is_solid, sliced)
        readings.append(frame_plan.joined(plan, reading))
    for each, reading in zip(group.rigs, readings, strict=True):
        result_channels.check_roots(each, reading)
    tracks, count = _tracks(group, way, readings[0], meters), len(group.objects)
    for track in tracks[:count]:
        yield Step(READ_SHARE, f"shaping '{track.ob.name}'")
        read_scene.shape_of(track, scene, frames)
    surroundings = read_scene.build(scene, group, readings, tracks[:count], tracks[count:], meters)
    actors = [_actor(*pair) for pair in zip(group.rigs, readings, strict=True)]
    # With the settings of now: later changes do not enter this simulation.
    mark = now.total
    made_with = {each: take_settings.packed(each, group) for each in group.rigs}
    clock.start_simulating()
    checkpoints = _checkpoints.remember(leader.session_uid, engine.Memory)
    given = actors, surroundings, leader.heft.steps_per_second
    if at_once and plan.cycle is None:
        background_thread.wait()
        results = engine.simulate_together(*given, checkpoints, easy=True)
    else:
        results = yield from _simulated(plan, *given, checkpoints, sliced)
    for each, reading in zip(group.rigs, readings, strict=True):
        cached[each].notes = cycles.notes(plan.cycle, each, reading)
    results = [frame_plan.shown_result(plan, *pair) for pair in zip(readings, results, strict=True)]
    readings = [frame_plan.shown_reading(plan, reading) for reading in readings]
    ways = tuple(frame_plan.shown_track(plan, track) for track in tracks[:count])
    made = write_result.Made(mark, made_with, cached, readings, results, ways, plan)
    writing = write_result.write(group, made, sliced)
    if sliced:
        yield from writing
    else:
        for _ in writing:
            pass
    for each, reading, result in zip(group.rigs, readings, results, strict=True):
        _shown[each.session_uid] = Shown(reading, result, ways)
        if each.heft.use_curves:
            write_curves(each)
    first = checkpoints.first if plan.cycle is None else 0
    timing.note(leader, clock, len(frames), first)
    return results[group.rigs.index(rig)]


def _actor(rig: bpy.types.Object, reading: read_rig.Reading) -> engine.Actor:
    controller = read_controller.controller_of(rig, reading.model, reading.names, reading.frames)
    return engine.Actor(reading.model, reading.motion, controller)


def _tracks(
    group: shot.Shot, way: source_cache.Way, reading: read_rig.Reading, meters: float
) -> list[read_scene.Track]:
    """The sampled motion of the shot's objects, then of the targets of its ties."""
    mirrored = reading.placement.mirrored
    return [
        read_scene.Track.build(ob, matrices, meters, mirrored)
        for ob, matrices in zip(group.things, way.matrices, strict=True)
    ]


def _simulated(
    plan: frame_plan.Plan, actors, surroundings, rate: float, checkpoints: engine.Memory, sliced: bool
) -> Generator:
    """The engine's results; yields progress."""
    if not sliced:
        background_thread.wait()
    if plan.cycle is None:
        run = engine.simulate_together_iter(actors, surroundings, rate, checkpoints, easy=True)
    else:
        run = engine.simulate_loop_iter(actors, surroundings, rate, easy=True)
    progress = None
    for latest in background_thread.walk(run) if sliced else run:
        progress = latest or progress
        done, total = (progress.done, max(progress.total, 1)) if progress is not None else (0, 1)
        text = f"{done:,} of {total:,} frames" if progress is not None else ""
        yield Step(READ_SHARE + (write_result.WRITE_FROM - READ_SHARE) * done / total, "simulating", text, sliced)
    return progress.results


def _check_free(group: shot.Shot) -> None:
    """Raise an error for free objects whose results cannot be shown."""
    for ob in group.objects:
        if settings.collider_of(ob).moves != "FREE":
            continue
        if ob.library is not None:
            raise RigError(f"'{ob.name}' is linked and cannot be shown free: use Object > Library Override > Make.")
        for each in group.rigs:
            above = each.parent
            while above is not None:
                if above == ob:
                    raise RigError(f"'{ob.name}' is free and carries '{each.name}': clear one's parent, or animate it.")
                above = above.parent


def keep_take(rig: bpy.types.Object, name: str = "") -> None:
    """Keep the present settings and result as a take. An automatic take that holds them becomes permanent."""
    check(rig)
    group = _finished(rig)
    with events.paused():
        there = takes.same(rig, group) if rig.heft_result is not None else None
        if there is None:
            there = takes.keep(rig, group, name)
        elif there.auto:
            takes.keep_for_good(group, there.uid, name)
        else:
            raise RigError(f"This is kept already, as '{there.name}'.")
    _remember(group)


def _finished(rig: bpy.types.Object) -> shot.Shot:
    """The rig's shot, after its job was finished."""
    group = shot.of(rig)
    jobs.finish(group.leader)
    return group


def choose_take(rig: bpy.types.Object, uid: str) -> None:
    """Show a take with its settings. The present result is kept; nothing is simulated."""
    check(rig)
    group = _finished(rig)
    with events.paused():
        if rig.heft_result is not None:
            takes.keep_present(rig, group)
            _remember(group)
        rigs = takes.choose(rig, group, uid)
    for each in rigs:
        source_cache.rewritten(each)
        known = _taken.get((each.session_uid, uid))
        if known is None:
            _shown.pop(each.session_uid, None)
        else:
            _shown[each.session_uid] = known
        write_curves(each)


def write_curves(rig: bpy.types.Object) -> None:
    """Write the curves that are switched on. There are none for a result that was not simulated in this session."""
    found = _shown.get(rig.session_uid)
    if rig.heft.use_curves and found is not None:
        plot_curves.write(rig, found.reading, found.result)
    else:
        plot_curves.remove(rig)


def update_take(rig: bpy.types.Object, uid: str) -> None:
    """Replace a take's settings and result by the present ones."""
    check(rig)
    group = _finished(rig)
    with events.paused():
        takes.update(rig, group, uid)
    _remember(group)


def _remember(group: shot.Shot) -> None:
    """Keep the simulation of the shown take in memory, if it ran in this session."""
    for each in group.rigs:
        known, take = _shown.get(each.session_uid), takes.shown(each)
        if known is not None and take is not None and not takes.is_changed(each):
            _taken[each.session_uid, take.uid] = known


def is_current(rig: bpy.types.Object, scene: bpy.types.Scene, now: inputs.Inputs | None = None) -> bool:
    """True if the result matches the settings and the source, or the bake was made from it. now: the inputs of its
    shot, if known for this event."""
    if not rig.heft.fingerprint or not result_armature.is_whole(rig):
        return False
    now = inputs.of(rig, scene) if now is None else now
    return now.total in (rig.heft.fingerprint, rig.heft.baked)


def bake(
    rig,
    scene,
    target: str = "ACTION",
    selected_only: bool = False,
    reduce: float = 0.0,
    mute: bool = False,
    span: tuple[int, int] | None = None,
) -> bake_result.Baked:
    """Bake the rig's shown result. If all of it is baked, the results of the shot's other characters stay current,
    because they met the rig as it is baked."""
    # A running job is finished first: half a result cannot be baked.
    group = _finished(rig)
    now = inputs.Inputs(group, scene)
    current = [each for each in group.rigs if is_current(each, scene, now)]
    before = unbake.sources(rig)
    baked = bake_result.bake(rig, scene, target, selected_only, reduce, mute, span)
    if target != "NLA":
        unbake.remember(rig, before)
    with events.paused():
        for each in group.rigs:
            # Live would simulate the baked keys and add weight twice.
            each.heft.live = False
    if current and not selected_only:
        baked_from = inputs.of(rig, scene).total
        for each in current:
            each.heft.baked = baked_from
    if rig not in current:
        baked = dataclasses.replace(
            baked, notes=(*baked.notes, "The result was out of date: it was baked as it was shown")
        )
    return baked


def rigs() -> list[bpy.types.Object]:
    """All armatures with physics."""
    return shot.characters()


def let_go() -> None:
    """Remove what still refers to a deleted character (curves, or a ball of its shot), because Blender keeps it as long
    as it has users and its physics would still be simulated. Also drops the caches of it."""
    memory.sweep("rig", bpy.data.objects)
    for rig in rigs():
        if rig.library is not None or rig.users_collection:
            continue
        jobs.cancel(shot.of(rig).leader)
        memory.notify(REMOVE, rig)
        with events.paused():
            for ob in free_objects.results_of(rig):
                free_objects.remove(ob)
            for uid in takes_side_by_side.shown_of(rig):
                takes_side_by_side.remove(rig, uid)
            plot_curves.remove(rig)
            rig.heft.fingerprint = ""  # if it were restored, its result would lack the free objects


def scene_of(group: shot.Shot) -> bpy.types.Scene:
    """The scene that a shot is played in: the active one if any of its characters is there, else their own."""
    own = [scene for each in group.rigs for scene in each.users_scene if not scene.name.startswith(sample_poses.STAGE)]
    here = bpy.context.scene
    return here if here in own or not own else own[0]


def height_in_meters(rig: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """The height of a standing person in the simulation, or for other rigs the longest side of the rest pose [m]."""
    meters = engine_space.meters_in_unit(rig.heft.meters_per_unit, scene.unit_settings.scale_length)
    tall = first_guess.bone_height(rig) or physical_ends.height(rig)
    return tall * first_guess.units_in_rig(rig) * meters
