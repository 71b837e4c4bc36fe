"""Characters that walk into one another: where they are put, and how fast their bones then turn.

Owns the scenes of the trial `crossing` and what is measured on them. Must not know Blender: it is given actors.
"""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from heft import engine
from heft.engine.math import quaternions as rot
from heft.engine.simulation.assemble import Actor

FPS = 24
UP = np.array([0.0, 0.0, 1.0])
AFTER_TOUCH = 0.1  # [s] in which what is hit may be fast


def resampled(motion: engine.Motion, first: int, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """Rotations and positions at FPS from frame index `first` on; a motion that ends sooner stands still then."""
    at = np.minimum(first + np.arange(frames) * motion.fps / FPS, len(motion) - 1.001)
    low = np.floor(at).astype(int)
    share = (at - low)[:, None, None]
    one, two = motion.rotations[low], motion.rotations[low + 1]
    two = np.where((one * two).sum(-1, keepdims=True) < 0.0, -two, two)
    turns = (1.0 - share) * one + share * two
    places = (1.0 - share) * motion.positions[low] + share * motion.positions[low + 1]
    return turns / np.linalg.norm(turns, axis=-1, keepdims=True), places


def walker(
    actor: Actor, frames: int, heading: float, start: np.ndarray, root: str, stops=None, first: int = 1
) -> Actor:
    """The actor set off from `start` (2,) [m] towards `heading` [rad]; from frame `stops` on it stands."""
    model = actor.model
    turns, places = resampled(actor.motion, first, frames)
    if stops is not None:
        turns[stops:], places[stops:] = turns[stops], places[stops]
    roots = np.flatnonzero(model.parents < 0)
    way = actor.motion.positions[-1, roots[0]] - actor.motion.positions[min(first, len(actor.motion) - 1), roots[0]]
    turn = rot.about(UP, np.array(heading - np.arctan2(way[1], way[0])))
    for k in roots:
        rest = model.rest_rotations[k]
        before = rot.multiply(rot.multiply(rot.conjugate(rest), turn), rest)
        turns[:, k] = rot.multiply(np.broadcast_to(before, turns[:, k].shape), turns[:, k])
        places[:, k] = rot.rotate(np.broadcast_to(turn, turns[:, k].shape), places[:, k])
    places[:, roots, :2] += np.asarray(start) - places[0, roots[0], :2]
    controller = dataclasses.replace(actor.controller, root=root)
    return Actor(model, engine.Motion.build(model, FPS, turns, places), controller)


def two(actor: Actor, way: str, apart: float, root: str, frames: int, stops: int | None = None) -> list[Actor]:
    """Two of the actor that meet: 'head on', 'from the side', or one of them 'standing'."""
    half = 0.5 * apart
    one = walker(actor, frames, 0.0, (-half, 0.0), root, stops)
    if way == "from the side":
        return [one, walker(actor, frames, 0.5 * np.pi, (0.0, -half), root, stops)]
    return [one, walker(actor, frames, np.pi, (half, 0.0), root, 0 if way == "standing" else stops)]


def frame_apart(actors: list[Actor], least: float) -> int:
    """The first frame on which the roots of two are nearer than `least` [m]; where they never are, the one on which
    they are nearest."""
    places = [actor.motion.positions[:, np.flatnonzero(actor.model.parents < 0)[0], :2] for actor in actors]
    apart = np.linalg.norm(places[0] - places[1], axis=1)
    return int(np.argmax(apart <= max(least, apart.min())))


def at_random(seed: int, actors: list[Actor], frames: int) -> tuple[list[Actor], float]:
    """Two to four of the actors whose ways cross, and steps a second."""
    rng = np.random.default_rng(seed)
    root = ("ANIMATED", "ASSISTED", "FREE")[rng.integers(3)]
    cast = []
    for k in rng.integers(len(actors), size=rng.integers(2, 5)):
        first = int(rng.integers(1, max(2, len(actors[k].motion) // 2)))
        heading = rng.uniform(0.0, 2.0 * np.pi)
        away = rng.uniform(0.3, 1.6) * np.array([np.cos(heading), np.sin(heading)]) + rng.normal(0.0, 0.15, 2)
        cast.append(walker(actors[k], frames, heading, -away, root, first=first))
    return cast, float(rng.choice([24, 60, 120, 240, 480, 960]))


@dataclasses.dataclass
class Speeds:
    """Of one scene: rad/s of the fastest bone in the world, its source's own speed included, and of the fastest joint
    outside AFTER_TOUCH after the first touch; of the source's fastest bone; of the fastest joint, by its rate and by
    its places, from a frame on; and an error's text."""

    bone: float = 0.0
    source: float = 0.0
    joint: float = 0.0
    pressed: float = 0.0
    error: str = ""


def measured(actors: list[Actor], steps: float, pressed: int | None = None) -> Speeds:
    """Simulate and measure; `pressed`: the frame from which on they stand."""
    scene = engine.Scene(ground=engine.Ground(), touch_self=False)
    try:
        results = engine.simulate_together(actors, scene, steps)
    except engine.HeftError as error:
        return Speeds(error=str(error))
    contacts, found = results[0].contacts, Speeds()
    own = {name for actor in actors for name in actor.model.names}
    meets = [f for f, a, b in zip(contacts.frames, contacts.a, contacts.b, strict=True) if a in own and b in own]
    first = min(meets, default=len(actors[0].motion))
    last = first + int(AFTER_TOUCH * FPS)
    for actor, result in zip(actors, results, strict=True):
        bones, joints = bone_speeds(actor.model, result), joint_speeds(actor.model, result)
        if not (np.isfinite(bones).all() and np.isfinite(result.motion.positions).all()):
            found.error = "not finite"
        outside = np.ones(len(bones), dtype=bool)
        outside[first : last + 1] = False
        found.bone = max(found.bone, bones[outside].max(initial=0.0))
        found.source = max(found.source, source_speeds(actor).max())
        found.joint = max(found.joint, joints[outside].max(initial=0.0))
        if pressed is not None:
            moved = result.motion.rotations
            cosine = np.clip(np.abs((moved[1:] * moved[:-1]).sum(-1)), 0.0, 1.0)
            by_place = 2.0 * np.arccos(cosine)[pressed:] * FPS
            found.pressed = max(found.pressed, joints[pressed:, 1:].max(), by_place[:, 1:].max())
    return found


def joint_speeds(model: engine.Model, result: engine.Result) -> np.ndarray:
    """(frames, n) [rad/s]"""
    starts = model.dof_starts
    parts = [result.velocities[:, a : min(a + 3, b)] for a, b in itertools.pairwise(starts)]
    return np.stack([np.linalg.norm(part, axis=1) for part in parts], axis=1)


def source_speeds(actor: Actor) -> np.ndarray:
    """(frames - 1, n) how fast the source's bones turn in the world, from frame to frame [rad/s]."""
    model, turns = actor.model, actor.motion.rotations
    world = np.zeros(turns.shape)
    for k, parent in enumerate(model.parents):
        seen = rot.multiply(np.broadcast_to(model.rest_rotations[k], turns[:, k].shape), turns[:, k])
        world[:, k] = seen if parent < 0 else rot.multiply(world[:, parent], seen)
    cosine = np.clip(np.abs((world[1:] * world[:-1]).sum(-1)), 0.0, 1.0)
    return 2.0 * np.arccos(cosine) * FPS


def bone_speeds(model: engine.Model, result: engine.Result) -> np.ndarray:
    """(frames, n) how fast bones turn in the world [rad/s]."""
    starts, turns = model.dof_starts, result.motion.rotations
    rates = np.zeros((*turns.shape[:2], 3))
    for k, parent in enumerate(model.parents):
        own = result.velocities[:, starts[k] : min(starts[k] + 3, starts[k + 1])]
        if own.shape[1] < 3:
            own = own @ model.axes[k, : own.shape[1]]
        if parent >= 0:
            seen = rot.multiply(np.broadcast_to(model.rest_rotations[k], turns[:, k].shape), turns[:, k])
            own = own + rot.rotate(rot.conjugate(seen), rates[:, parent])
        rates[:, k] = own
    return np.linalg.norm(rates, axis=-1)
