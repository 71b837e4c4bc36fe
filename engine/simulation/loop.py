"""Simulate a cycle until it repeats.

Owns how repetitions of a cycle are appended, the test of periodicity, and how its end is joined to its start. Must not
know what happens inside a step.

A driven motion that loses energy forgets its initial state, so a periodic target ends in a periodic motion: the cycle
is simulated until the state at its end equals that at its start, and the last round is the result. A motion that
travels continues from the end of the round before, and its result is moved back to the source.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np

from ..errors import MotionError
from ..math import quaternions as rot
from ..memo import derived
from ..model.keys import Keys
from ..model.motion import Motion
from ..model.result import Progress, Result
from ..model.scene import Collider, Scene
from .assemble import Actor
from .simulate import begin

LONGEST = 30.0  # a motion that does not repeat after this time is reported [s]
FEWEST = 6  # least number of rounds, however long they are
SAME_TURN = 1e-6  # states closer than this are equal [rad]
SAME_WAY = 1e-6  # and this, relative to the model's size
SAME_RATE = 1e-5  # and this, relative to the fastest
NEAR = np.radians(0.5)  # a gap that is distributed over the cycle; a larger one stays and is reported [rad]
NEAR_WAY = 1e-2  # the same for positions, relative to the model's size


def simulate_loop(actors: Sequence[Actor], scene: Scene | None = None, steps_per_second: float = 240) -> list[Result]:
    """The periodic cycle: one result for each actor, as long as its motion."""
    for progress in simulate_loop_iter(actors, scene, steps_per_second):
        results = progress.results
    return list(results)


def simulate_loop_iter(
    actors: Sequence[Actor], scene: Scene | None = None, steps_per_second: float = 240, easy: bool = False
) -> Iterator[Progress]:
    """The same in slices, with a report for each round. The actors' motions are one cycle: their last frame equals the
    first, except for the travel of the roots."""
    period = len(actors[0].motion) - 1
    if period < 1:
        raise MotionError("A cycle of one frame cannot loop: give it at least two.")
    scene = scene or Scene()
    rounds = max(FEWEST, math.ceil(LONGEST * actors[0].motion.fps / period))
    travels = [travel(actor) for actor in actors]
    laid = [_laid(actor, rounds) for actor in actors]
    shot = begin(laid, _laid_scene(scene, period, rounds), steps_per_second, easy=easy)
    # A travelling character meets fixed obstacles on its last round: then all rounds are run.
    passes = bool(scene.colliders) and any(way.any() for way in (*travels, *map(_gone, scene.colliders)))
    frames = rounds * period
    yield Progress(0, frames)
    before, done, repeats = None, 0, False
    while done < rounds and not (repeats and not passes):
        for last in _slices(done * period, period):
            shot.run(last)
            if last % period:
                yield Progress(last, frames)
        done += 1
        now = [_round_of(each, done - 1, period) for each in shot.results()]
        pairs = zip(actors, now, before, travels, strict=True) if before is not None else ()
        repeats = before is not None and all(_repeats(*pair) for pair in pairs)
        before = now
    results = [
        _closed(actor, _put_back(actor, each, rounds - done, way), way, done)
        for actor, each, way in zip(actors, before, travels, strict=True)
    ]
    yield Progress(frames, frames, results[0], tuple(results))


def _slices(start: int, period: int) -> Iterator[int]:
    """Frame indices up to which a round is run at a time: short slices, so that it can be cancelled."""
    stride = max(1, math.ceil(period / max(1, period // 24)))
    yield from range(start + stride, start + period, stride)
    yield start + period


# --- laying a cycle end to end -------------------------------------------------------


def travel(actor: Actor) -> np.ndarray:
    """(n, 3) the displacement of each root after one round [m]; 0 for all other bodies."""
    way = actor.motion.positions[-1] - actor.motion.positions[0]
    return np.where(actor.model.parents[:, None] < 0, way, 0.0)


def _gone(collider: Collider) -> np.ndarray:
    """(3,) the displacement of a collider after one round [m]."""
    places = np.atleast_2d(np.asarray(collider.positions, dtype=np.float64))
    return places[-1] - places[0]


def _rows(period: int, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """The frame of the cycle for each frame of all rounds, and the number of rounds until the last one.

    One more round is appended than is run: a curve's tangent at its end would differ from that inside.
    """
    frames = np.arange(period * (rounds + 1) + 1)
    return frames % period, frames // period - (rounds - 1)


def _laid(actor: Actor, rounds: int) -> Actor:
    return Actor(actor.model, _laid_motion(actor, rounds), _laid_controller(actor, rounds))


def _laid_motion(actor: Actor, rounds: int) -> Motion:
    """The cycle's motion repeated, with the last round in the cycle's place; cached, because settings change more often
    than keys."""
    return derived(actor.motion, "rounds", lambda: _lay_motion(actor, rounds), rounds)


def _lay_motion(actor: Actor, rounds: int) -> Motion:
    motion = actor.motion
    period = len(motion) - 1
    rows, turn = _rows(period, rounds)
    positions = motion.positions[rows] + turn[:, None, None] * travel(actor)
    stepped = motion.stepped[rows].copy()
    stepped[period::period] = motion.stepped[period]
    return Motion.build(
        actor.model,
        motion.fps,
        rot.continuous(motion.rotations[rows]),
        positions,
        stepped,
        motion.frame_start - period * (rounds - 1),
        _laid_keys(actor, rounds),
    )


def _laid_keys(actor: Actor, rounds: int) -> Keys | None:
    keys, period = actor.motion.keys, len(actor.motion) - 1
    if keys is None:
        return None
    back = np.repeat(np.arange(rounds + 1) - (rounds - 1), len(keys.frames))
    index = {name: b for b, name in enumerate(actor.model.names)}
    bodies = [index.get(body, body) for body in keys.bodies]
    ways = back[:, None] * np.tile(travel(actor)[bodies], (rounds + 1, 1))

    def again(values):
        return None if values is None else np.concatenate([np.asarray(values)] * (rounds + 1))

    return Keys(
        bodies=bodies * (rounds + 1),
        frames=again(keys.frames) + back * period,
        rotations=again(keys.rotations),
        velocities=again(keys.velocities),
        positions=None if keys.positions is None else again(keys.positions) + ways,
        drifts=again(keys.drifts),
    )


def _laid_controller(actor: Actor, rounds: int):
    """The controller with every setting that changes by frame repeated."""
    count = len(actor.motion)
    return actor.controller.at_frames(_rows(count - 1, rounds)[0], count)


def _laid_scene(scene: Scene, period: int, rounds: int) -> Scene:
    """Colliders, ties, winds and pushes, repeated for every round."""
    rows, turn = _rows(period, rounds)

    def again(values):
        return values if values is None or np.ndim(values) == 0 else np.asarray(values)[rows]

    colliders = []
    for each in scene.colliders:
        places, turns = np.asarray(each.positions, dtype=np.float64), np.asarray(each.rotations, dtype=np.float64)
        if places.ndim == 2:
            places = places[rows] + turn[:, None] * _gone(each)
        if turns.ndim == 2:
            turns = rot.continuous(turns[rows])
        colliders.append(dataclasses.replace(each, positions=places, rotations=turns))
    return dataclasses.replace(
        scene,
        colliders=colliders,
        ties=[dataclasses.replace(each, active=again(each.active)) for each in scene.ties],
        winds=[dataclasses.replace(each, strength=again(each.strength)) for each in scene.winds],
        pushes=[
            dataclasses.replace(each, frame=each.frame % period + r * period)
            for r in range(rounds)
            for each in scene.pushes
        ],
    )


# --- when it repeats -----------------------------------------------------------------


def _round_of(result: Result, done: int, period: int) -> Result:
    """Round number `done` of the result, starting at the source's first frame."""
    return result.part(np.arange(done * period, (done + 1) * period + 1))


def _gaps(a: Result, b: Result, row_a: int, row_b: int, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n,) angles [rad] and distances [m] between frame `row_a` of one and `row_b` of the other, without the travel."""
    turns = rot.multiply(rot.conjugate(a.motion.rotations[row_a]), b.motion.rotations[row_b])
    ways = b.motion.positions[row_b] - a.motion.positions[row_a] - way
    return np.linalg.norm(rot.log(turns), axis=1), np.linalg.norm(ways, axis=1)


def _repeats(actor: Actor, now: Result, before: Result, way: np.ndarray) -> bool:
    """True if pose and velocity at a round's end equal those of the round before."""
    angles, ways = _gaps(before, now, -1, -1, way)
    fastest = max(float(np.abs(now.velocities).max()), 1e-9)
    rates = np.abs(now.velocities[-1] - before.velocities[-1]).max() / fastest
    return bool(angles.max() < SAME_TURN and ways.max() < SAME_WAY * actor.model.size and rates < SAME_RATE)


def _put_back(actor: Actor, result: Result, rounds: int, way: np.ndarray) -> Result:
    """The result displaced by this many rounds."""
    later = rounds * (len(actor.motion) - 1)
    motion = dataclasses.replace(
        result.motion,
        positions=result.motion.positions + rounds * way,
        frame_start=actor.motion.frame_start,
    )
    arrivals = dataclasses.replace(result.arrivals, frames=result.arrivals.frames + later)
    return dataclasses.replace(result, motion=motion, arrivals=arrivals)


def _closed(actor: Actor, result: Result, way: np.ndarray, rounds: int) -> Result:
    """The result with the remaining gap between its end and its start distributed over the cycle; a large gap stays and
    is reported."""
    motion = result.motion
    angles, ways = _gaps(result, result, 0, -1, way)
    if angles.max() > NEAR or ways.max() > NEAR_WAY * actor.model.size:
        body = int(np.argmax(angles))
        told = (
            f"The motion does not repeat: '{actor.model.names[body]}' is {np.degrees(angles[body]):.1f}° off after "
            f"{rounds} rounds. Damp it more, or take away what happens only once."
        )
        return dataclasses.replace(result, warnings=(*result.warnings, told))
    share = np.linspace(0.0, 1.0, len(motion))[:, None, None]
    missing = rot.log(rot.multiply(rot.conjugate(motion.rotations[-1]), motion.rotations[0]))
    rotations = rot.multiply(motion.rotations, rot.exp(share * missing))
    positions = motion.positions + share * (motion.positions[0] + way - motion.positions[-1])
    rates = result.velocities + share[:, 0] * (result.velocities[0] - result.velocities[-1])
    closed = dataclasses.replace(motion, rotations=rotations, positions=positions)
    return dataclasses.replace(result, motion=closed, velocities=rates)
