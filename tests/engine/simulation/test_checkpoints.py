"""Going on from a kept state: every byte as if from the start, wherever the change is and however it was sliced."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import engine
from crowds import FOLLOW, FPS, FREE, GROUND, at, bytes_of, person
from engine.simulation import checkpoints
from engine.simulation.shot import Shot
from engine.tables import work as W

FRAMES = 121
FOLLOWS = engine.Follow(root="ASSISTED", settle_time=0.3, heaviness=0.4)
BALL = engine.Collider("ball", [engine.Sphere(0.1)], (0.6, 0.25, 0.9), moves="FREE", mass=3.0, free_from=20)
PUSHES = [engine.Push("left", (6.0, 0.0, 0.0), 30), engine.Push("right", (0.0, 5.0, 0.0), 70)]
STAGE = dataclasses.replace(GROUND, colliders=[BALL], pushes=PUSHES)
TIED = dataclasses.replace(
    GROUND,
    ties=[engine.Tie("PIN", "left", None, active=np.arange(FRAMES) > 50)],
    winds=[engine.Wind((4.0, 0.0, 0.0), np.linspace(0.0, 1.0, FRAMES))],
)


def standing(control=FOLLOWS, seed=1) -> engine.Actor:
    return at(0.0, seed=seed, control=control, frames=FRAMES)


def bent(actor: engine.Actor, frame: int) -> engine.Actor:
    """The same with one pose of the left arm changed."""
    turns = actor.motion.rotations.copy()
    turns[frame, 1] = [0.8, 0.6, 0.0, 0.0]
    return dataclasses.replace(actor, motion=dataclasses.replace(actor.motion, rotations=turns))


def keyed(actor: engine.Actor, frames: dict[str, list[float]]) -> engine.Actor:
    """The same with physical keys."""
    bodies = [name for name, times in frames.items() for _ in times]
    keys = engine.Keys(bodies, np.concatenate([np.array(times, dtype=float) for times in frames.values()]))
    return dataclasses.replace(actor, motion=dataclasses.replace(actor.motion, keys=keys))


def settled(actor: engine.Actor, frame: int) -> engine.Actor:
    """The same with another settle time from a frame on."""
    times = np.full((FRAMES, 3), 0.3)
    times[frame:] = 0.7
    return dataclasses.replace(actor, controller=dataclasses.replace(actor.controller, settle_time=times))


def run(actors, scene, memory=None, rate=240) -> list[engine.Result]:
    for report in engine.simulate_together_iter(actors, scene, rate, memory):
        results = report.results
    return list(results)


def everything(results) -> bytes:
    met = [part for r in results for part in (r.arrivals.frames, r.arrivals.angles, r.arrivals.rates)]
    thrown = [part for r in results for name in sorted(r.objects) for part in r.objects[name]]
    return bytes_of(results) + b"".join(np.ascontiguousarray(part).tobytes() for part in (*met, *thrown))


ON_TIME = engine.OnTime(root="ASSISTED", heaviness=0.3)
TIMES = {"left": [20, 45.5, 80, 100], "right": [30, 60, 90], "trunk": [24, 48, 72, 96, 120]}
MOVED = {**TIMES, "right": [30, 60, 92]}
ADDED = {**TIMES, "left": [20, 45.5, 70.25, 80, 100]}
GONE = {**TIMES, "left": [20, 45.5, 80]}
NO_PUSH = dataclasses.replace(STAGE, pushes=PUSHES[:1])
LATE_TIE = dataclasses.replace(TIED, ties=[dataclasses.replace(TIED.ties[0], active=np.arange(FRAMES) > 90)])
GUST = dataclasses.replace(
    TIED, winds=[engine.Wind((4.0, 0.0, 0.0), np.linspace(0.0, 1.0, FRAMES) + (np.arange(FRAMES) > 99))]
)
# before, after, and the frame the second may go on from at the latest; at the earliest a stride before it
CHANGES = {
    "a pose": ([standing()], GROUND, [bent(standing(), 84)], GROUND, 82),
    "a pose, free": ([standing(FREE)], STAGE, [bent(standing(FREE), 84)], STAGE, 82),
    "a keyed setting": ([settled(standing(), 60)], STAGE, [settled(standing(), 99)], STAGE, 60),
    "a setting that was not keyed": ([standing()], GROUND, [settled(standing(), 75)], GROUND, 75),
    "a push less": ([standing()], STAGE, [standing()], NO_PUSH, 70),
    "a tie later": ([standing()], TIED, [standing()], LATE_TIE, 51),
    "wind": ([standing()], TIED, [standing()], GUST, 100),
    "nothing": ([standing()], STAGE, [standing()], STAGE, 119),
    "a key moved": ([keyed(standing(ON_TIME), TIMES)], STAGE, [keyed(standing(ON_TIME), MOVED)], STAGE, 59),
    "a key added": ([keyed(standing(ON_TIME), TIMES)], STAGE, [keyed(standing(ON_TIME), ADDED)], STAGE, 45),
    "a key taken away": ([keyed(standing(ON_TIME), TIMES)], STAGE, [keyed(standing(ON_TIME), GONE)], STAGE, 79),
    "two who meet": ([standing(), at(0.4, seed=2, frames=FRAMES)], GROUND,
                     [standing(), bent(at(0.4, seed=2, frames=FRAMES), 100)], GROUND, 98),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_what_is_gone_on_from_is_what_is_run_from_the_start(change):
    before, scene, after, changed, latest = change
    memory = engine.Memory()
    from_the_start = everything(run(before, scene))
    assert everything(run(before, scene, memory)) == from_the_start
    assert memory.first == 0
    found = run(after, changed, memory)
    assert latest - checkpoints.FEWEST_FRAMES < memory.first <= latest, "no later than the change, and near to it"
    assert everything(found) == everything(run(after, changed))
    # and back, from what was kept on the way
    assert everything(run(before, scene, memory)) == from_the_start
    assert memory.first > 0


WHOLE = {
    "settle time": ([standing()], STAGE, [standing(FOLLOW)], STAGE, 240),
    "the first pose": ([standing()], STAGE, [bent(standing(), 0)], STAGE, 240),
    "gravity": ([standing()], STAGE, [standing()], dataclasses.replace(STAGE, gravity=(0.0, 0.0, -3.0)), 240),
    "steps": ([standing()], STAGE, [standing()], STAGE, 480),
    "a first key": ([keyed(standing(ON_TIME), TIMES)], GROUND,
                    [keyed(standing(ON_TIME), {**TIMES, "trunk": [25, 48]})], GROUND, 240),
    "the ground": ([standing()], STAGE, [standing()], dataclasses.replace(STAGE, ground=engine.Ground(0.01)), 240),
    "no ground": ([standing()], GROUND, [standing()], engine.Scene(touch_self=False), 240),
    "a ball of another weight": ([standing()], STAGE, [standing()],
                                 dataclasses.replace(STAGE, colliders=[dataclasses.replace(BALL, mass=9.0)]), 240),
    "another ball": ([standing()], GROUND, [standing()], STAGE, 240),
}  # fmt: skip


@pytest.mark.parametrize("change", WHOLE.values(), ids=WHOLE.keys())
def test_what_holds_for_the_whole_shot_begins_anew(change):
    before, scene, after, changed, rate = change
    memory = engine.Memory()
    run(before, scene, memory)
    found = run(after, changed, memory, rate)
    assert memory.first == 0
    assert everything(found) == everything(run(after, changed, rate=rate))


def test_what_was_dropped_half_way_is_gone_on_from():
    memory, actors = engine.Memory(), [bent(standing(), 84)]
    run([standing()], STAGE, memory)
    walk = engine.simulate_together_iter(actors, STAGE, 240, memory)
    assert next(walk).done == memory.first
    reached = next(walk).done
    walk.close()
    found = run(actors, STAGE, memory)
    assert memory.first >= reached - checkpoints.FEWEST_FRAMES
    assert everything(found) == everything(run(actors, STAGE))


def spoil(shot: Shot) -> None:
    """Overwrite every number of a shot that is neither in its constant tables nor carried from step to step."""
    still = slice(int(W.STILL), int(W.STILL) + 3)  # zeros, always
    work, found, rows = shot.work, shot.touch.found, shot.touch.rows
    now = work.slot[W.NOW]
    for pose in (k for k in range(5) if k != now):
        # what stands in row 0 is the world, which never moves
        work.poses[pose, 1:], work.axes[pose] = 1e30, 1e30
    work.body[1:, : still.start], work.body[1:, still.stop :] = 1e30, 1e30
    found.where[:, 1:], work.inertia[:, 1:] = 1e30, 1e30
    scratch = [work.rate, work.block, work.joint, work.scratch[1:], work.kept, work.kept_rate]
    scratch += [found.moving, found.reach, found.contact, shot.touch.force[1:], shot.touch.drag[1:]]
    scratch += [rows.block, rows.pool, rows.spread, rows.carry, rows.matrix, rows.upper, rows.tied, rows.row]
    for array in scratch:
        array[...] = 1e30


@pytest.mark.parametrize("scene", [STAGE, TIED], ids=["contacts", "ties"])
def test_everything_that_is_not_kept_is_scratch(scene):
    """What stands there before a step changes nothing, so it need not be kept."""
    actor, memory = keyed(standing(ON_TIME), TIMES), engine.Memory()
    wanted = run([actor], scene, memory)
    shot = Shot([actor], scene, 240)
    memory.kept = [each for each in memory.kept if each.frame <= 64]
    shot.remember(memory)
    assert shot.done == 64
    spoil(shot)
    shot.run(FRAMES - 1)
    assert everything(shot.results()) == everything(wanted)


def test_few_states_are_kept_of_a_long_shot():
    model = person()
    still = np.tile([1.0, 0.0, 0.0, 0.0], (2001, 3, 1))
    actor = engine.Actor(model, engine.Motion.build(model, FPS, still), engine.Follow())
    memory = engine.Memory()
    run([actor], engine.Scene(touch_self=False), memory, 24)
    assert 32 <= len(memory.kept) <= checkpoints.MOST
