"""Bodies that lie still are not simulated, and go on where something wakes them."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.simulation.simulate import simulate
from shapes import chain

FPS = 30.0


def rod_on_the_ground(frames: int, behaviour="LIMP", push: int | None = None):
    """Two hinged rods dropped from 5 cm; a push on a frame."""
    base = chain(2, "BALL", length=0.4, along=(0.0, 1.0, 0.0))
    model = engine.Model.from_tree(
        ["a", "b"], [None, 0], base.offsets, None, ["FREE", "BALL"], base.masses, base.centers, base.inertias,
        shapes=[engine.Capsule(0.05, (0.0, 0.05, 0.0), (0.0, 0.35, 0.0))] * 2,
    )  # fmt: skip
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (frames, 2, 1))
    places = np.tile(model.offsets, (frames, 1, 1))
    places[:, 0] = (0.0, 0.0, 0.1)
    motion = engine.Motion.build(model, FPS, turns, places)
    pushes = (engine.Push("b", (0.0, 0.0, 3.0), push),) if push is not None else ()
    scene = engine.Scene(ground=engine.Ground(), pushes=pushes)
    return simulate(model, motion, engine.Limp(behaviour=behaviour), scene, 240)


def test_it_comes_to_rest_and_stays():
    result = rod_on_the_ground(120)
    motion = result.motion
    moves = np.abs(np.diff(motion.positions, axis=0)).max(axis=(1, 2)) > 0.0
    moves |= np.abs(np.diff(motion.rotations, axis=0)).max(axis=(1, 2)) > 0.0
    assert np.flatnonzero(moves)[-1] < 60
    assert np.abs(result.velocities[60:]).max() == 0.0
    # what it presses with is written down while it sleeps
    assert (result.contacts.frames == 115).any()


def test_a_push_wakes_it():
    plain, pushed = rod_on_the_ground(120), rod_on_the_ground(120, push=80)
    assert np.array_equal(plain.motion.rotations[:81], pushed.motion.rotations[:81])
    assert np.abs(pushed.velocities[81]).max() > 0.5
    assert np.abs(plain.velocities[81]).max() == 0.0


def test_a_behaviour_wakes_it():
    keyed = np.full((120, 2), 2)
    keyed[90:, 1] = 0  # animated
    result = rod_on_the_ground(120, keyed)
    rest = rod_on_the_ground(120)
    assert np.array_equal(rest.motion.rotations[:90], result.motion.rotations[:90])
    np.testing.assert_allclose(np.abs(result.motion.rotations[95:, 1, 0]), 1.0, atol=1e-9)


@pytest.mark.parametrize("cut", [20, 70])
def test_slices_change_no_byte(cut):
    from engine.simulation.simulate import begin

    model = engine.Model.from_tree(["ball"], [None], np.zeros((1, 3)), shapes=[engine.Sphere(0.1)])
    places = np.zeros((100, 1, 3))
    places[:, 0, 2] = 0.12
    motion = engine.Motion.build(model, FPS, np.tile([1.0, 0.0, 0.0, 0.0], (100, 1, 1)), places)
    found = []
    for stops in ((99,), (cut, 99)):
        shot = begin([engine.Actor(model, motion, engine.Limp())], engine.Scene(ground=engine.Ground()), 240)
        for stop in stops:
            shot.run(stop)
        found.append(shot.results()[0].motion.positions)
    assert np.array_equal(*found)
