"""A driven character with a free root falls on its hand: what next to nothing between heavy things does stays small.

An arm bears a hand of next to no weight and that a finger; all joints move, and reach their limits, as they fall.
"""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.math import quaternions as rot
from shapes import smooth_motion

FPS, FRAMES = 24.0, 24
NAMES = ["trunk", "arm", "hand", "finger"]


def rod(mass: float, length: float, way: np.ndarray) -> np.ndarray:
    return mass * (length**2 / 12.0 * (np.eye(3) - np.outer(way, way)) + 1e-4 * np.eye(3))


def faller(rng, finger: float) -> engine.Model:
    """A trunk of 50 kg with an arm of 2 kg, a hand of 17 g and a finger; limbs and ranges drawn by lot."""
    ways = [np.array([1.0, 0.0, 0.0]), *(rng.normal(size=3) * 0.5 + [1.0, 0.0, 0.0] for _ in range(2))]
    arm, hand, tip = (way / np.linalg.norm(way) for way in ways)
    swing = rng.uniform(0.05, 0.4)
    return engine.Model.from_tree(
        NAMES,
        [None, 0, 1, 2],
        np.array([[0.0, 0.0, 0.75], [0.25, 0.0, 0.0], 0.3 * arm, 0.02 * hand]),
        kinds=["FREE", "BALL", "BALL", "BALL"],
        masses=[50.0, 2.0, 0.017, finger],
        centers=np.array([np.zeros(3), 0.15 * arm, 0.01 * hand, 0.04 * tip]),
        inertias=np.stack([np.eye(3), rod(2.0, 0.3, arm), 2.6e-7 * np.eye(3), rod(finger, 0.08, tip)]),
        shapes=[
            engine.Sphere(0.15),
            engine.Capsule(0.03, (0.05, 0.0, 0.0), (0.25, 0.0, 0.0)),
            None,
            engine.Capsule(0.01, (0.0, 0.0, 0.0), tuple(0.08 * tip)),
        ],
        limits=np.array([[np.nan] * 4, *([[swing, -swing, swing, swing]] * 3)]),
    )


def fall(seed: int, finger: float) -> tuple[np.ndarray, np.ndarray]:
    """(4,) each body's fastest turn against its parent, and that of the source [rad/s]."""
    rng = np.random.default_rng(seed)
    model = faller(rng, finger)
    steps = float(rng.choice([60, 120, 240]))
    moved = smooth_motion(model, rng, FRAMES, FPS, reach=rng.uniform(0.3, 0.9))
    turns, places = moved.rotations.copy(), np.tile(model.offsets, (FRAMES, 1, 1))
    turns[:, 0] = rot.about(np.array([0.0, 1.0, 0.0]), np.array(rng.uniform(0.4, 1.5)))
    places[:, 0, 0] += np.arange(FRAMES) * rng.uniform(-2.0, 2.0) / FPS
    motion = engine.Motion.build(model, FPS, turns, places)
    scene = engine.Scene(ground=engine.Ground(), touch_self=False)
    result = engine.simulate(model, motion, engine.Follow(root="FREE"), scene, steps)
    first = [0, 6, 9, 12]
    rates = np.stack([np.linalg.norm(result.velocities[:, d : d + 3], axis=1).max() for d in first])
    cosine = np.abs((motion.rotations[1:] * motion.rotations[:-1]).sum(-1))
    return rates, 2.0 * np.arccos(np.clip(cosine, 0.0, 1.0)).max(0) * FPS


SEEDS = range(60)


@pytest.mark.parametrize("finger", [0.1, 1.0])
def test_what_joints_brace_with_is_no_more_than_contacts_give(figure, finger):
    # the trunk falls half a metre: it comes by no more speed than that, whatever the hand does
    figure(f"finger of {finger} kg: the trunk [rad/s]", max(fall(seed, finger)[0][0] for seed in SEEDS), 12.0)


def test_a_finger_fallen_upon_does_not_whirl(figure):
    over = [(rates - source)[2:].max() for rates, source in (fall(seed, 0.1) for seed in SEEDS)]
    figure("hand and finger above their source [rad/s]", max(over), 90.0)
