"""Random scenes, thousands: never a number that is not finite, never an error, no energy from nowhere."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import engine
from engine.model.motion import Motion
from how_many import cases
from naive import mechanics
from props import G, thing, thrown
from shapes import launched, random_quaternion, random_tree, rod_inertia, smooth_motion

SCENES = cases(2000)
BATCHES = 10
ENERGY = 0.01  # of what is at stake
FPS = 24.0


def random_shape(rng, size, center=(0.0, 0.0, 0.0)):
    c = np.asarray(center, dtype=float)
    a, b, d = size * rng.uniform(0.15, 1.0, 3)
    which = rng.integers(4)
    if which == 0:
        return engine.Sphere(a, tuple(c))
    if which == 1:
        way = rng.normal(size=3)
        way *= b / np.linalg.norm(way)
        return engine.Capsule(0.5 * a, tuple(c - way), tuple(c + way))
    if which == 2:
        return engine.Box((a, b, d), tuple(c), tuple(random_quaternion(rng)))
    return engine.Hull(c + rng.normal(size=(int(rng.integers(4, 14)), 3)) * size * 0.5)


def with_shapes(model, rng, scale, masses):
    """The tree at another scale and mass, its bodies with shapes about their centres."""
    n = len(model)
    shapes = tuple(
        (random_shape(rng, 0.15 * scale, model.centers[i] * scale),) if rng.random() < 0.8 else () for i in range(n)
    )
    return dataclasses.replace(
        model,
        offsets=model.offsets * scale,
        centers=model.centers * scale,
        masses=model.masses * masses,
        inertias=model.inertias * (masses * scale**2),
        shapes=shapes,
        frictions=np.full(n, rng.uniform(0.0, 1.2)),
        bounces=np.full(n, rng.choice([0.0, rng.uniform(0.0, 1.0), 1.0])),
    )


def random_ties(rng, bodies, count):
    """Ties between any of the bodies (names) or to the world; they keep what they find."""
    ties = []
    for _ in range(count):
        a, b = rng.choice(len(bodies), 2, replace=False) if len(bodies) > 1 else (0, None)
        to_world = b is None or rng.random() < 0.3
        kind = str(rng.choice(["PIN", "WELD"]))
        ties.append(engine.Tie(kind, bodies[a], None if to_world else bodies[b]))
    return ties


def random_scene(rng, limp):
    """Actors, a scene and steps a second. Limp: nothing is driven or moved by keys, no gravity well to fall into
    but the ground; things start apart, so that nothing is pushed out of another."""
    scale = 10.0 ** rng.uniform(-2.0, 1.0)
    heavy = 10.0 ** rng.uniform(-3.0, 3.0)
    frames = int(rng.integers(8, 20))
    pace = np.sqrt(G * scale)
    bodies = int(rng.integers(1, 9))
    model = with_shapes(random_tree(rng, bodies, light=0.2), rng, scale, heavy)
    lift = np.array([0.0, 0.0, rng.uniform(0.5, 3.0) * scale])
    roots = np.flatnonzero(model.parents < 0)
    offsets = model.offsets.copy()
    offsets[roots] += lift
    model = dataclasses.replace(model, offsets=offsets)
    if limp:
        rates = np.zeros((len(model) + 1, 3))
        rates[:] = rng.normal(size=rates.shape) * rng.choice([0.0, 1.0]) * np.sqrt(G / scale) * 0.5
        rates[-1] = rng.normal(size=3) * pace * rng.choice([0.0, 1.0])
        turn = np.abs(rates[:-1]).max() / FPS
        if turn > 0.3:
            rates[:-1] *= 0.3 / turn
        motion = launched(model, FPS, frames, rates)
        control = engine.Limp(tone=0.0)
    else:
        motion = smooth_motion(model, rng, frames, FPS, reach=rng.uniform(0.0, 1.0))
        places = motion.positions.copy()
        places[:, roots] = offsets[roots] + (places[:, roots] - offsets[roots]) * scale
        motion = Motion.build(model, FPS, motion.rotations, places)
        control = engine.Follow(
            settle_time=10.0 ** rng.uniform(-1.5, 0.5),
            damping_ratio=rng.uniform(0.1, 1.5),
            heaviness=rng.choice([0.0, rng.uniform(0.0, 1.0), 1.0]),
            strength=float(rng.choice([np.inf, heavy * scale * 10.0 ** rng.uniform(-1.0, 2.0)])),
            root=str(rng.choice(["FREE", "ANIMATED", "ASSISTED"])),
            behaviour=[str(rng.choice(["SIMULATED", "SIMULATED", "LIMP", "ANIMATED"])) for _ in range(len(model))],
        )
    actors = [engine.Actor(model, motion, control)]
    names = [(0, name) for name in model.names]
    for k in range(int(rng.integers(0, 4))):
        mass = heavy * 10.0 ** rng.uniform(-3.0, 3.0)
        surface = {"friction": rng.uniform(0.0, 1.2), "bounce": rng.choice([0.0, rng.uniform(0.0, 1.0), 1.0])}
        it = thing(f"thing{k}", random_shape(rng, 0.3 * scale), mass, **surface)
        place = np.array([2.0 * (k + 1) * scale * rng.choice([-1.0, 1.0]), 0.0, rng.uniform(1.0, 2.0) * scale])
        way = -place * [1.0, 1.0, 0.0] / np.linalg.norm(place) * pace * rng.uniform(0.0, 3.0)
        motion = thrown(it, FPS, frames, place, way, rng.normal(size=3) * 2.0, random_quaternion(rng))
        actors.append(engine.Actor(it, motion, engine.Limp(tone=0.0)))
        names.append((k + 1, it.names[0]))
    colliders = []
    for k in range(int(rng.integers(0, 3))):
        place = np.array([0.7 * (2 * k - 1), 0.0, -0.6]) * scale
        if not limp and rng.random() < 0.5:
            t = np.arange(frames)[:, None] / FPS
            place = place + rng.normal(size=3) * pace * t
        colliders.append(
            engine.Collider(
                f"block{k}", [random_shape(rng, 0.5 * scale)], positions=place, rotations=random_quaternion(rng),
                friction=rng.uniform(0.0, 1.0), bounce=rng.choice([0.0, 1.0]) * rng.random(),
                response=str(rng.choice(["BRACES", "GIVES_WAY"])),
            )
        )  # fmt: skip
    ground = None
    if rng.random() < 0.7:
        ground = engine.Ground(-1.5 * scale, rng.uniform(0.0, 1.0), rng.choice([0.0, 1.0]) * rng.random())
    scene = engine.Scene(
        gravity=(0.0, 0.0, float(rng.choice([0.0, -G]))),
        ground=ground,
        colliders=colliders,
        ties=random_ties(rng, names, int(rng.integers(1, 4))) if rng.random() < 0.3 else (),
        touch_self=not limp and bool(rng.random() < 0.5),
    )
    return actors, scene, float(rng.choice([24, 48, 240]))


def total_energy(actors, results, gravity):
    """(frames,) of all bodies, and what is at stake: the motion there is at the start and the height to fall from."""
    energy, stake = 0.0, 0.0
    for actor, result in zip(actors, results, strict=True):
        found = mechanics(actor.model, result.motion, result.velocities, gravity)
        energy = energy + found.kinetic + found.potential
        fall = np.abs(found.potential - found.potential[0]).max()
        stake += found.kinetic[0] + fall
    return energy, stake


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_scenes_stay_finite(batch, figure):
    """Driven, limp and animated bodies, free and moving colliders, ties, any scale and mass."""
    bad = []
    count = SCENES // 2 // BATCHES
    for k in range(count):
        seed = batch * count + k
        actors, scene, steps = random_scene(np.random.default_rng([seed, 1]), limp=False)
        try:
            results = engine.simulate_together(actors, scene, steps)
        except Exception as problem:  # any error at all is what this looks for
            bad.append(f"{seed}: {type(problem).__name__} {problem}")
            continue
        arrays = [getattr(r, name) for r in results for name in ("torques", "forces", "velocities")]
        arrays += [getattr(r.motion, name) for r in results for name in ("rotations", "positions")]
        arrays += [results[0].contacts.forces] if results[0].contacts is not None else []
        if not all(np.isfinite(a).all() for a in arrays):
            bad.append(f"{seed}: not finite")
    for line in bad[:5]:
        print(line)
    figure(f"random scenes, batch {batch} of {count}: errors or numbers not finite", len(bad), 0)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_limp_scenes_gain_no_energy(batch, figure):
    """Nothing is driven and the world stands still: energy may only go."""
    gains, errors = [], []
    count = SCENES // 2 // BATCHES
    for k in range(count):
        seed = batch * count + k
        actors, scene, steps = random_scene(np.random.default_rng([seed, 2]), limp=True)
        try:
            results = engine.simulate_together(actors, scene, steps)
        except Exception as problem:
            errors.append(f"{seed}: {type(problem).__name__} {problem}")
            continue
        energy, stake = total_energy(actors, results, scene.gravity)
        gains.append(((energy.max() - energy[0]) / max(stake, 1e-300), seed, steps))
    gains.sort(reverse=True)
    for gain, seed, steps in gains[:5]:
        print(f"seed {seed}, {steps:g} steps/s: gains {gain:.3g}")
    for line in errors[:5]:
        print(line)
    figure(f"random limp scenes, batch {batch} of {count}: errors", len(errors), 0)
    figure.note(f"random limp scenes, batch {batch}: scenes above the limit", f"{sum(g[0] > ENERGY for g in gains)}")
    figure(f"random limp scenes, batch {batch}: most energy gained, of what is at stake", gains[0][0], ENERGY)


def rods(count, ratio):
    """A light rod that is free and others hinged to it, each `ratio` kg, 30 cm long."""
    masses = [1.0] + [ratio] * (count - 1)
    return engine.Model.from_tree(
        [f"rod{k}" for k in range(count)],
        [None, *range(count - 1)],
        [[0.0, 0.0, 0.0]] + [[0.3, 0.0, 0.0]] * (count - 1),
        kinds=["FREE"] + ["HINGE"] * (count - 1),
        masses=masses,
        centers=[[0.15, 0.0, 0.0]] * count,
        inertias=[rod_inertia(m, 0.3, 0.03, (1.0, 0.0, 0.0)) for m in masses],
        axes=np.tile([0.0, 1.0, 0.0], (count, 1)),
        shapes=[engine.Capsule(0.03, (0.05, 0.0, 0.0), (0.25, 0.0, 0.0))] * count,
        friction=1.0,
    )


@pytest.mark.parametrize(("count", "ratio"), [(1, 1.0), (2, 1.0), (2, 10.0), (2, 1e3), (2, 1e-3)])
@pytest.mark.parametrize("bounce", [0.0, 0.5, 1.0])
def test_rods_that_fall_gain_no_energy(count, ratio, bounce, figure):
    """The least of the random scenes: one or two limp rods dropped from a metre, any way round."""
    model, frames = rods(count, ratio), 25
    gained = {}
    for friction in (0.0, 0.6):
        for steps in (24, 240):
            worst = 0.0
            for seed in range(12):
                turns = np.tile([1.0, 0.0, 0.0, 0.0], (frames, count, 1))
                turns[:, 0] = random_quaternion(np.random.default_rng(seed))
                places = np.broadcast_to(model.offsets, (frames, count, 3)).copy()
                places[:, 0] = (0.0, 0.0, 1.0)
                scene = engine.Scene(ground=engine.Ground(friction=friction, bounce=bounce), touch_self=False)
                motion = Motion.build(model, FPS, turns, places)
                result = engine.simulate(model, motion, engine.Limp(tone=0.0), scene, steps)
                found = mechanics(model, result.motion, result.velocities, scene.gravity)
                energy = found.kinetic + found.potential
                worst = max(worst, (energy.max() - energy[0]) / (model.total_mass * G))
            name = f"{count} rods, 1 : {ratio:g}, bounce {bounce}, friction {friction}, {steps} steps/s"
            gained[name] = worst
    for name, worst in gained.items():
        figure.note(f"{name}: energy gained, of the fall's", worst)
    figure(f"{count} rods, 1 : {ratio:g}, bounce {bounce}: most energy gained", max(gained.values()), ENERGY)
