"""Ragdolls: limp characters with tone, on the ground."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.ragdoll import fastest_turn
from engine.simulate import simulate
from engine.tone import tone_gains
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
