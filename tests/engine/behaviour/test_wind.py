"""Moving air: a falling body reaches its terminal speed, a driven one leans into the wind and comes back."""

from __future__ import annotations

import numpy as np
import pytest

from engine import Collider, Follow, Limp, Model, Motion, Scene, Sphere, Wind, simulate
from engine.contact.tie_rows import AIR
from engine.simulation.assemble import AREA, WATER


def still(frames: int, kinds=("FIXED",)) -> tuple[Model, Motion]:
    """A chain that stands still."""
    n = len(kinds)
    offsets = [[0.0, 0.0, 0.0]] + [[0.0, 0.5, 0.0]] * (n - 1)
    inertia = np.diag([0.02, 0.001, 0.02])
    model = Model.from_tree(
        [str(i) for i in range(n)], [None, *range(n - 1)], offsets, kinds=kinds, masses=[1.0] * n,
        centers=[[0.0, 0.25, 0.0]] * n, inertias=[inertia] * n,
    )  # fmt: skip
    return model, Motion.build(model, 24.0, np.tile([1.0, 0.0, 0.0, 0.0], (frames, n, 1)))


@pytest.mark.parametrize("rate", [24, 240])
def test_a_falling_ball_reaches_its_terminal_speed(rate, figure):
    model, motion = still(241)
    ball = Collider("ball", [Sphere(0.1)], moves="FREE", mass=0.05)
    scene = Scene(colliders=[ball], winds=[Wind((0.0, 0.0, 0.0))])
    path = simulate(model, motion, Limp(tone=0.0), scene, rate).objects["ball"][0]
    speed = -(path[-1, 2] - path[-2, 2]) * 24.0
    area = AREA * (0.05 / WATER) ** (2.0 / 3.0)
    figure(
        f"terminal speed at {rate}/s: off the closed form",
        abs(speed / np.sqrt(0.05 * 9.81 / (0.5 * AIR * area)) - 1),
        0.01,
    )


def test_wind_moves_what_is_driven_and_lets_it_come_back(figure):
    model, motion = still(121, ("HINGE", "HINGE"))
    strength = np.where(np.arange(121) < 60, 2.0, 0.0)
    scene = Scene(gravity=(0.0, 0.0, 0.0), winds=[Wind((0.0, 0.0, 10.0), strength)])
    result = simulate(model, motion, Follow(settle_time=0.3), scene)
    angle = 2.0 * np.arctan2(result.motion.rotations[..., 1], result.motion.rotations[..., 0])
    # at rest: D k_p E = the wind's moment about each joint
    force = 2.0 * 0.5 * AIR * AREA * (1.0 / WATER) ** (2.0 / 3.0) * 100.0
    moments = np.array([force * (0.25 + 0.75), force * 0.25])
    inertia = np.array([2 * 0.02 + 0.0625 + 0.5625, 0.02 + 0.0625])
    wanted = moments / (inertia * (3.88972 / 0.3) ** 2)
    figure("leaning into the wind: off D k_p E = load", np.abs(angle[58] / wanted - 1.0).max(), 0.03)
    figure("after the wind: still off [rad]", np.abs(angle[-1]).max(), 1e-3)
