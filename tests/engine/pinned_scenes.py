"""Forty random engine scenes whose results are pinned: `dev.py pin` compares their bytes on one machine, `test_pinned`
their numbers on all machines.

Owns the scenes. They are built from the public names of `engine` alone, so that moving or renaming its modules does not
touch them.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator

import numpy as np

import engine
from shapes import chain, joint_rotations, random_tree, smooth_motion

FPS = 24.0
SEEDS = range(5)


def results_of(name: str, nudge: float = 0.0) -> list[engine.Result]:
    """The results of the scene "kind/seed". `nudge`: all positions of the source are changed by this share."""
    kind, seed = name.split("/")
    actors, scene, steps = KINDS[kind](np.random.default_rng([int(seed), *kind.encode()]))
    if nudge:
        actors = [_nudged(actor, nudge) for actor in actors]
    if kind == "loops":
        return engine.simulate_loop(actors, scene, steps)
    return list(engine.simulate_together(actors, scene, steps))


def names() -> list[str]:
    return [f"{kind}/{seed}" for kind in KINDS for seed in SEEDS]


def arrays_of(results: list[engine.Result]) -> Iterator[tuple[str, np.ndarray]]:
    """Every array of the results, by name."""
    for k, result in enumerate(results):
        yield f"{k}.rotations", result.motion.rotations
        yield f"{k}.positions", result.motion.positions
        for each in ("torques", "forces", "velocities"):
            yield f"{k}.{each}", getattr(result, each)
        for name in sorted(result.objects):
            for what, values in zip(("places", "turns"), result.objects[name], strict=True):
                yield f"{k}.{name}.{what}", values
        for table in ("contacts", "arrivals"):
            found = getattr(result, table)
            if found is not None:
                for field in dataclasses.fields(found):
                    yield f"{k}.{table}.{field.name}", np.asarray(getattr(found, field.name))


def digest_of(results: list[engine.Result]) -> str:
    """SHA-256 of every array, with its name, shape and type, and of the warnings."""
    sha = hashlib.sha256()
    for name, values in arrays_of(results):
        values = np.ascontiguousarray(values)
        sha.update(f"{name} {values.shape} {values.dtype.str}".encode())
        sha.update(values.tobytes())
    for result in results:
        sha.update("\n".join(result.warnings).encode())
    return sha.hexdigest()


def poses_of(results: list[engine.Result]) -> np.ndarray:
    """(frames, numbers) rotations and positions of all actors."""
    flat = [
        values.reshape(len(values), -1)
        for result in results
        for values in (result.motion.rotations, result.motion.positions)
    ]
    return np.concatenate(flat, axis=1)


# --- parts of scenes -------------------------------------------------------------------------------


def _nudged(actor: engine.Actor, nudge: float) -> engine.Actor:
    motion = dataclasses.replace(actor.motion, positions=actor.motion.positions * (1.0 + nudge))
    return dataclasses.replace(actor, motion=motion)


def _tree(rng, bodies: int, root: str, place=(0.0, 0.0, 1.0)) -> engine.Model:
    """A random tree with a ball on most bodies."""
    model = random_tree(rng, bodies, light=0.1, kinds=["HINGE", "UNIVERSAL", "BALL"], roots=1, root=root)
    offsets = model.offsets.copy()
    offsets[0] = place
    shapes = [(engine.Sphere(0.06, tuple(c)),) if rng.random() < 0.8 else () for c in model.centers]
    return dataclasses.replace(model, offsets=offsets, shapes=tuple(shapes), frictions=np.full(bodies, 0.6))


def _person(rng, frames: int, control: engine.Controller, keys=None, place=(0.0, 0.0, 1.0)) -> engine.Actor:
    model = _tree(rng, 9, "FREE", place)
    motion = smooth_motion(model, rng, frames, FPS, reach=0.5)
    return engine.Actor(model, dataclasses.replace(motion, keys=keys) if keys is not None else motion, control)


def _ground(rng) -> engine.Ground:
    return engine.Ground(0.0, float(rng.uniform(0.2, 1.0)))


# --- kinds of scenes ------------------------------------------------------------------------------


def _contacts(rng):
    """A driven character on the ground, a ball thrown at it and a block in its way."""
    root = str(rng.choice(["ANIMATED", "ASSISTED", "FREE"]))
    actor = _person(rng, 40, engine.Follow(settle_time=0.25, heaviness=float(rng.uniform(0, 1)), root=root))
    time = np.arange(40)[:, None] / FPS
    way = np.array([-1.0, 0.0, 1.0]) + time * [4.0, 0.0, 0.5]
    colliders = [
        engine.Collider("ball", [engine.Sphere(0.1)], way, moves="FREE", mass=2.0, bounce=0.4, free_from=4),
        engine.Collider("block", [engine.Box((0.3, 0.3, 0.3))], (0.6, 0.0, 0.3), response="BRACES"),
    ]
    return [actor], engine.Scene(ground=_ground(rng), colliders=colliders), 240.0


def _ties(rng):
    """A character that is pinned to the world for a while and carries a free block; wind."""
    actor = _person(rng, 40, engine.Follow(heaviness=0.5, root="ASSISTED"))
    names = actor.model.names
    colliders = [engine.Collider("load", [engine.Box((0.1, 0.1, 0.1))], (0.0, 0.8, 1.0), moves="FREE", mass=3.0)]
    active = (np.arange(40) > 8) & (np.arange(40) < 30)
    ties = [engine.Tie("PIN", names[-1], None, active=active), engine.Tie("WELD", names[-2], "load")]
    winds = [engine.Wind((3.0, 1.0, 0.0), np.linspace(0.0, 1.0, 40))]
    return [actor], engine.Scene(colliders=colliders, ties=ties, winds=winds), 240.0


def _strength(rng):
    """Drives that saturate."""
    control = engine.Follow(
        settle_time=0.15, heaviness=1.0, strength=10.0 ** rng.uniform(-1.0, 2.0, 9), tone=1.0,
        root=str(rng.choice(["ANIMATED", "ASSISTED"])),
    )  # fmt: skip
    actor = _person(rng, 48, control)
    pushes = [engine.Push(actor.model.names[-1], (2.0, 1.0, 0.0), 20)]
    return [actor], engine.Scene(pushes=pushes), float(rng.choice([120, 240, 480]))


def _on_time(rng):
    """Physical keys on whole and broken frames, both laws, some of them missed."""
    law = str(rng.choice(["CLOSED_FORM", "CLOSED_FORM", "TORQUES"]))
    model = _tree(np.random.default_rng(int(rng.integers(1000))), 9, "FREE")
    bodies = [name for name in model.names for _ in range(3)]
    frames = np.concatenate([np.sort(rng.uniform(4.0, 44.0, 3)) for _ in model.names])
    motion = smooth_motion(model, rng, 48, FPS, reach=0.5)
    motion = dataclasses.replace(motion, keys=engine.Keys(bodies, frames))
    strength = float(rng.choice([np.inf, 30.0]))
    control = engine.OnTime(law=law, shape=5.0, heaviness=0.3, strength=strength, even_weight=bool(rng.integers(2)))
    pushes = [engine.Push(model.names[4], (3.0, 0.0, 1.0), 15)]
    return [engine.Actor(model, motion, control)], engine.Scene(pushes=pushes), 240.0


def _recovery(rng):
    """A blow, and back on the motion by the recovery time; settings that are keyed."""
    settle = np.where(np.arange(48)[:, None] < 30, 0.2, 0.5) * np.ones(9)
    control = engine.Follow(recovery_time=0.5, settle_time=settle, root="ASSISTED", even_weight=True, tone=0.5)
    actor = _person(rng, 48, control)
    pushes = [engine.Push(actor.model.names[int(rng.integers(2, 9))], tuple(rng.normal(size=3) * 4.0), 12)]
    return [actor], engine.Scene(ground=_ground(rng), pushes=pushes), 240.0


def _crowds(rng):
    """Several characters with different controllers, some of which meet."""
    controls = [
        engine.Follow(root="FREE", heaviness=0.4),
        engine.OnTime(root="ASSISTED"),
        engine.Limp(),
        engine.Follow(root="ANIMATED"),
        engine.Limp(tone=0.0),
    ]
    actors = [_person(rng, 30, control, place=(0.5 * k, 0.0, 1.0)) for k, control in enumerate(controls)]
    return actors, engine.Scene(ground=_ground(rng), touch_self=False), 240.0


def _loops(rng):
    """A cycle that is simulated until it repeats."""
    count, period = 6, 24
    model = chain(count, "BALL", length=0.15)
    phase = 2.0 * np.pi * np.arange(period + 1) / period
    angles = np.zeros((period + 1, count, 3))
    for k in range(2):
        swing = 0.3 * rng.normal(size=(count, 3)) / (k + 1)
        angles += swing * np.sin((k + 1) * phase[:, None, None] + rng.uniform(0.0, 6.3, (count, 3)))
    angles[-1] = angles[0]
    motion = engine.Motion.build(model, FPS, joint_rotations(model, angles))
    return [engine.Actor(model, motion, engine.Follow(heaviness=0.4, settle_time=0.3))], engine.Scene(), 240.0


def _ragdolls(rng):
    """Limp chains with ranges that fall on the ground and on themselves, let go in the middle of a motion."""
    count = 8
    base = chain(count, "BALL", length=0.15, along=(0.0, 1.0, 0.0))
    rod = engine.Capsule(0.03, (0.0, 0.03, 0.0), (0.0, 0.12, 0.0))
    limits = [(-np.inf, np.inf, np.inf, np.inf)]
    limits += [(float(rng.uniform(0.2, 1.2)), -0.3, 0.4, float(rng.uniform(0.2, 0.9))) for _ in range(count - 1)]
    model = engine.Model.from_tree(
        list(base.names), [None, *range(count - 1)], base.offsets, None, ["FREE"] + ["BALL"] * (count - 1),
        base.masses, base.centers, base.inertias, shapes=[rod] * count, limits=limits,
    )  # fmt: skip
    frames = 60
    angles = 0.15 * rng.normal(size=(count, 3)) * np.sin(np.arange(frames)[:, None, None] / 6.0)
    places = np.tile(model.offsets, (frames, 1, 1))
    places[:, 0, 2] = 0.5
    motion = engine.Motion.build(model, FPS, joint_rotations(model, angles), places)
    behaviour = np.full((frames, count), 1)
    behaviour[10:] = 2
    root = np.where(np.arange(frames) < 10, 0, 2)
    control = engine.Follow(behaviour=behaviour, root=root, tone=1.0)
    return [engine.Actor(model, motion, control)], engine.Scene(ground=_ground(rng), touch_self="LIMP"), 240.0


KINDS: dict[str, Callable] = {
    "contacts": _contacts,
    "ties": _ties,
    "strength": _strength,
    "on_time": _on_time,
    "recovery": _recovery,
    "crowds": _crowds,
    "loops": _loops,
    "ragdolls": _ragdolls,
}
