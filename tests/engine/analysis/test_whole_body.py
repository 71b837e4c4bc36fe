"""A motion as a whole, against closed forms, a naive sum over bodies, and the solver's own contact forces."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.analysis.whole_body import WholeBody, ballistic, world_poses
from engine.math import quaternions as rot
from engine.model.model import Model
from engine.model.motion import Motion
from naive import mechanics
from shapes import box, launched, ragdoll

EARTH = np.array([0.0, 0.0, -9.81])


def whole(model, motion) -> WholeBody:
    return WholeBody.of(model, *world_poses(model, motion), motion.fps)


@pytest.mark.parametrize("seed", range(3))
def test_a_thrown_body_flies_its_parabola(seed):
    rng = np.random.default_rng(seed)
    model = ragdoll(seed)
    rates = rng.normal(size=(len(model) + 1, 3))
    rates[-1] = (1.0, -0.5, 4.0)
    motion = launched(model, 24.0, 25, rates, rng.normal(size=(len(model), 3)) * 0.4)
    flown = engine.simulate(model, motion, engine.Limp(tone=0.0, root="FREE"), steps_per_second=240).motion
    found = whole(model, flown)
    times = np.arange(25) / 24.0
    for row in (0, 7, 24):  # from any frame on, and back
        path = ballistic(found.centers[row], found.velocities[row], EARTH, times - times[row])
        np.testing.assert_allclose(found.centers, path, atol=1e-6)
    np.testing.assert_allclose(found.accelerations, np.tile(EARTH, (25, 1)), atol=1e-5)
    assert np.isnan(found.zero_moment_points(EARTH, 0.0)).all(), "nothing carries what flies"


def test_centre_of_mass_is_the_naive_one():
    rng = np.random.default_rng(5)
    model = ragdoll(5)
    motion = launched(model, 24.0, 12, rng.normal(size=(len(model) + 1, 3)))
    result = engine.simulate(model, motion, engine.Limp(tone=0.0, root="FREE"), steps_per_second=240)
    naive = mechanics(model, result.motion, result.velocities, tuple(EARTH))
    np.testing.assert_allclose(whole(model, result.motion).centers, naive.center, atol=1e-9)
    # what turns it is gravity alone, which has no moment about the centre
    rate = np.abs(whole(model, result.motion).turning).max()
    assert rate < 0.05 * np.abs(naive.angular).max() * 24.0


def test_standing_still_the_point_is_below_the_centre():
    model = ragdoll(2)
    motion = Motion.build(model, 24.0, np.tile([1.0, 0.0, 0.0, 0.0], (8, len(model), 1)))
    found = whole(model, motion)
    points = found.zero_moment_points(EARTH, -0.3)
    np.testing.assert_allclose(points[:, :2], found.centers[:, :2], atol=1e-12)
    np.testing.assert_allclose(points[:, 2], -0.3)


def test_an_accelerated_centre_moves_the_point_back():
    """A point on a cart, at height h, accelerated by a: the point lies a·h/g behind it."""
    model = box()
    times = np.arange(20) / 50.0
    places = np.zeros((20, 1, 3))
    places[:, 0, 0], places[:, 0, 2] = 0.5 * 3.0 * times**2, 0.8
    motion = Motion.build(model, 50.0, np.tile([1.0, 0.0, 0.0, 0.0], (20, 1, 1)), places)
    found = whole(model, motion)
    points = found.zero_moment_points(EARTH, 0.1)
    height = found.centers[:, 2] - 0.1
    np.testing.assert_allclose(points[:, 0], found.centers[:, 0] - 3.0 * height / 9.81, atol=1e-9)
    np.testing.assert_allclose(points[:, 1], found.centers[:, 1], atol=1e-9)


def test_a_body_that_begins_to_turn_moves_the_point():
    """Spun up about Y by α, in place: the ground would have to press I·α/(m·g) beside the centre."""
    model = Model.from_tree(["top"], [None], [[0.0, 0.0, 0.0]], masses=[2.0], inertias=[np.diag([0.1, 0.3, 0.2])])
    times = np.arange(40) / 100.0
    turns = rot.about(np.array([0.0, 1.0, 0.0]), 0.5 * 4.0 * times**2)[:, None]
    motion = Motion.build(model, 100.0, turns, np.zeros((40, 1, 3)))
    points = whole(model, motion).zero_moment_points(EARTH, -1.0)
    np.testing.assert_allclose(points[:, 0], -0.3 * 4.0 / (2.0 * 9.81), rtol=1e-6)
    np.testing.assert_allclose(points[:, 1], 0.0, atol=1e-9)


def test_the_point_is_the_middle_of_the_solvers_forces():
    """A box on the ground that swings a pole: where the contacts press is found by the solver, not from the motion."""
    model = Model.from_tree(
        ["foot", "pole"], [None, 0], [[0.0, 0.0, 0.1], [0.0, 0.0, 0.1]],
        masses=[20.0, 5.0], centers=[[0.0, 0.0, 0.0], [0.0, 0.0, 0.4]],
        inertias=[np.eye(3) * 0.4, np.diag([0.1, 0.1, 0.01])],
        shapes=[engine.Box((0.4, 0.4, 0.1)), None],
    )  # fmt: skip
    fps, count = 240.0, 481
    times = np.arange(count) / fps
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (count, 2, 1))
    # swings in from rest
    angle = 0.5 * np.sin(2.0 * np.pi * 0.8 * times) * np.minimum(times / 0.5, 1.0) ** 2
    turns[:, 1] = rot.multiply(
        rot.about(np.array([0.0, 1.0, 0.0]), angle), rot.about(np.array([1.0, 0.0, 0.0]), 0.6 * angle)
    )
    motion = Motion.build(model, fps, turns)
    scene = engine.Scene(ground=engine.Ground(friction=2.0))
    result = engine.simulate(model, motion, engine.Follow(root="FREE"), scene=scene, steps_per_second=240)
    points = whole(model, result.motion).zero_moment_points(EARTH, 0.0)
    touched, worst, widest = result.contacts, 0.0, 0.0
    for row in range(150, count - 2):
        now = np.asarray(touched.frames) == row
        sign = np.where(np.array(touched.b)[now] == "the world", 1.0, -1.0)
        press = touched.forces[now, 2] * sign
        middle = (touched.points[now, :2] * press[:, None]).sum(axis=0) / press.sum()
        # forces are means of the step before the frame
        wanted = 0.5 * (points[row, :2] + points[row - 1, :2])
        worst = max(worst, float(np.abs(middle - wanted).max()))
        widest = max(widest, float(np.abs(wanted).max()))
    assert widest > 0.05, "it does swing"
    assert worst < 0.04 * widest, f"{worst:.4f} m off, of a swing of {widest:.3f} m"
