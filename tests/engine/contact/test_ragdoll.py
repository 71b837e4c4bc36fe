"""Ragdolls: limp characters with tone, on the ground."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.analysis.whole_body import world_poses
from engine.contact.ragdoll import fastest_turn
from engine.contact.step_size import FALL_STEPS
from engine.dynamics.tone import tone_gains
from engine.math import quaternions as rot
from engine.simulation.simulate import Shot, simulate
from shapes import chain

FPS = 30.0
LINKS, LENGTH, RADIUS = 6, 0.06, 0.01


def strand(ranges: bool = False) -> engine.Model:
    """Short rods in a row: as light and quick as fingers; with ranges of 20° if asked."""
    base = chain(LINKS, "BALL", length=LENGTH, along=(0.0, 1.0, 0.0))
    rod = engine.Capsule(RADIUS, (0.0, RADIUS, 0.0), (0.0, LENGTH - RADIUS, 0.0))
    limits = [(-np.inf, np.inf, np.inf, np.inf)] + [(np.radians(20.0), -0.2, 0.2, np.inf)] * (LINKS - 1)
    return engine.Model.from_tree(
        list(base.names), [None, *range(LINKS - 1)], base.offsets, None, ["FREE"] + ["BALL"] * (LINKS - 1),
        base.masses, base.centers, base.inertias, shapes=[rod] * LINKS, limits=limits if ranges else None,
    )  # fmt: skip


def thrown(model: engine.Model, speed: float, tone: float, steps: float = 240, frames: int = 120) -> engine.Result:
    """Thrown to the ground aslant, with this speed downwards [m/s]."""
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (frames, len(model), 1))
    places = np.tile(model.offsets, (frames, 1, 1))
    places[:, 0, 2] = 0.6 - speed * np.arange(frames) / FPS
    turns[:, 0] = (np.cos(0.5), -np.sin(0.5), 0.0, 0.0)
    motion = engine.Motion.build(model, FPS, turns, places)
    return simulate(model, motion, engine.Limp(tone=tone), engine.Scene(ground=engine.Ground()), steps)


def joint_rates(model: engine.Model, result: engine.Result) -> np.ndarray:
    """(frames, joints) [rad/s]."""
    rates = result.velocities[:, 6:].reshape(len(result.velocities), len(model) - 1, 3)
    return np.linalg.norm(rates, axis=2)


@pytest.mark.parametrize("speed", [2.0, 6.0])
@pytest.mark.parametrize("steps", [120, 240, 480])
def test_no_joint_turns_faster_than_tissue_lets_it(speed, steps, figure):
    model = strand()
    most = np.array([fastest_turn.py_func(*gains) for gains in np.transpose(tone_gains(model))[1:]])
    share = (joint_rates(model, thrown(model, speed, 1.0, steps)) / most).max()
    figure(f"thrown at {speed:g} m/s, {steps} steps/s: fastest joint, of what it may", share, 1.1)


def test_without_tone_it_may():
    model = strand()
    most = np.array([fastest_turn.py_func(*gains) for gains in np.transpose(tone_gains(model))[1:]])
    assert (joint_rates(model, thrown(model, 6.0, 0.0)) / most).max() > 1.2


def test_it_stays_within_its_ranges_and_above_the_ground(figure):
    model = strand(ranges=True)
    result = thrown(model, 4.0, 1.0)
    swing = 2.0 * np.arccos(np.clip(np.abs(result.motion.rotations[:, 1:, 0]), 0.0, 1.0))
    figure("thrown with ranges of 20° (twist 11.5°): turned by [°]", float(np.degrees(swing.max())), 23.2)
    assert result.motion.positions[:, 0, 2].min() > 0.5 * RADIUS


def test_at_rest_the_ground_bears_its_weight(figure):
    model = strand()
    result = thrown(model, 1.0, 1.0)
    assert np.abs(result.velocities[100:]).max() == 0.0  # asleep
    pressed = result.contacts.forces[result.contacts.frames == 110]
    weight = 9.81 * model.total_mass
    figure("asleep: force of the ground off the weight", abs(pressed[:, 2].sum() / weight - 1.0), 0.02)
    figure("asleep: force aside, of the weight", float(np.linalg.norm(pressed[:, :2].sum(axis=0))) / weight, 0.02)


def test_a_pressed_corner_of_its_range_stays_above_the_ground(figure):
    """Joints at the corners of narrow ovals: what the ground asks for along one edge the other forbids."""
    model = strand()
    limits = [(-np.inf, np.inf, np.inf, np.inf)] + [(np.radians(40.0), -0.2, 0.2, np.radians(10.0))] * (LINKS - 1)
    model = engine.Model.from_tree(
        model.names, [None, *range(LINKS - 1)], model.offsets, None, ["FREE"] + ["BALL"] * (LINKS - 1),
        model.masses, model.centers, model.inertias, shapes=model.shapes, limits=limits,
    )  # fmt: skip
    result = thrown(model, 4.0, 1.0)
    assert np.abs(result.velocities[100:]).max() == 0.0  # asleep
    figure("thrown with narrow ranges: the root's place over the ground [radii]", _lowest(model, result), -0.7)


def _lowest(model: engine.Model, result: engine.Result) -> float:
    """Less the lowest joint over the ground, in radii: −1 lies on it."""
    places, turns = result.motion.positions[:, 0].copy(), result.motion.rotations[:, 0]
    low = places[:, 2]
    for i in range(1, len(model)):
        places = places + rot.rotate(turns, np.broadcast_to(model.offsets[i], places.shape))
        turns = rot.multiply(turns, result.motion.rotations[:, i])
        low = np.minimum(low, places[:, 2])
    return -float(low.min()) / RADIUS


def test_hundreds_of_limp_bones_lie_on_the_ground():
    """More contacts than a matrix has room for: the ground holds all of them."""
    count, step = 300, 0.05
    parents = [None] + [k - 1 if k % 10 else 0 for k in range(1, count)]
    offsets = np.tile((0.0, step, 0.0), (count, 1))
    for k in range(10, count, 10):
        angle = 2.0 * np.pi * k / count
        offsets[k] = (0.3 * np.cos(angle), 0.3 * np.sin(angle), 0.0)
    rod = engine.Capsule(RADIUS, (0.0, 0.0, 0.0), (0.0, step, 0.0))
    model = engine.Model.from_tree(
        [f"b{k}" for k in range(count)], parents, offsets, None, ["FREE"] + ["BALL"] * (count - 1),
        shapes=[rod] * count,
    )  # fmt: skip
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (45, count, 1))
    places = np.tile(offsets, (45, 1, 1))
    places[:, 0] = (0.0, 0.0, 0.2)
    motion = engine.Motion.build(model, FPS, turns, places)
    result = simulate(model, motion, engine.Limp(), engine.Scene(ground=engine.Ground(), touch_self=False), 240)
    places, _ = world_poses(model, result.motion)
    assert places[-1, :, 2].min() > 0.5 * RADIUS
    assert np.median(places[-1, :, 2]) < 2.0 * RADIUS, "most of them lie on it"


def test_falls_take_as_many_steps_as_they_need():
    model = strand()
    motion = thrown(model, 1.0, 1.0, frames=2).motion
    scene = engine.Scene(ground=engine.Ground())
    asked = {
        (tone, steps): Shot([engine.Actor(model, motion, engine.Limp(tone=tone))], scene, steps, easy=True).substeps
        for tone in (0.0, 1.0)
        for steps in (120, 960)
    }
    assert asked == {
        (0.0, 120): 120 / FPS, (0.0, 960): 960 / FPS, (1.0, 120): FALL_STEPS / FPS, (1.0, 960): 960 / FPS,
    }  # fmt: skip


@pytest.mark.parametrize("frame", [100, 101])
def test_a_ball_moves_what_has_settled(frame):
    """It lies and has settled, awake, since a ball moves; the ball sets it going at once."""
    model = strand()
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (140, len(model), 1))
    places = np.tile(model.offsets, (140, 1, 1))
    places[:, 0, 2] = 1.5 * RADIUS
    motion = engine.Motion.build(model, FPS, turns, places)
    way = np.zeros((140, 3))
    way[:, 0] = -0.05 + np.clip(frame - np.arange(140), 0, None) * 2.0 / FPS
    way[:, 1:] = (0.1, 3.0 * RADIUS)
    ball = engine.Collider("ball", [engine.Sphere(0.03)], positions=way)
    result = simulate(model, motion, engine.Limp(), engine.Scene(ground=engine.Ground(), colliders=[ball]), 240)
    assert np.abs(result.velocities[90]).max() < 1e-9
    shift = np.linalg.norm(result.motion.positions[frame, 0] - result.motion.positions[90, 0])
    turn = 2.0 * np.arccos(np.clip(np.abs(result.motion.rotations[frame, 0, 0]), 0.0, 1.0))
    assert shift > 0.01 or turn > 0.05


@pytest.mark.parametrize("length", [0.005, 0.02, 0.1, 1.0])
def test_a_joint_of_any_size_is_slower_than_frames_can_show(length, figure):
    """A rod of 5 mm would pass its lowest point at 90 rad/s."""
    inertia = np.diag([length**2 / 12.0, length**2 / 12.0, 1e-4 * length**2])
    model = engine.Model.from_tree(
        ["root", "rod"], [None, "root"], [(0, 0, 0), (0, 0, length)], None, ["FREE", "BALL"], [1.0, 1.0],
        [(0, 0, 0), (0, 0, 0.5 * length)], [inertia, inertia],
    )  # fmt: skip
    damping, pull = np.transpose(tone_gains(model))[1]
    fastest = fastest_turn.py_func(damping, pull)
    figure(f"a rod of {length:g} m: fastest turn [rad/s]", fastest, 40.0)
    assert fastest >= 30.0
