"""Settling: what is not above its support topples, what is stays; then both lie still."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.math import quaternions as rot
from engine.simulation.simulate import simulate

FPS = 30.0
FRAMES = 180
HALF = 0.2  # of the base's width [m]


def block(aside: float, low: float = 0.5) -> engine.Model:
    """A box of 0.4 × 0.4 × 1 m whose centre of mass is `aside` of its axis [m], with a crumb on top."""
    box = engine.Box((HALF, HALF, 0.5), (0.0, 0.0, 0.5))
    return engine.Model.from_tree(
        ["box", "knob"], [None, 0], [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)], None, ["FREE", "BALL"], [20.0, 0.2],
        [(aside, 0.0, low), (0.0, 0.0, 0.05)], [np.diag([2.0, 2.0, 1.0]), 1e-3 * np.eye(3)],
        shapes=[box, engine.Sphere(0.03, (0.0, 0.0, 0.06))],
    )  # fmt: skip


def pole() -> engine.Model:
    """Two rods of 1 m in a row, upright, with a stiff range between them."""
    rod = engine.Capsule(0.05, (0.0, 0.0, 0.05), (0.0, 0.0, 0.95))
    return engine.Model.from_tree(
        ["low", "high"], [None, 0], [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)], None, ["FREE", "BALL"], [10.0, 10.0],
        [(0.0, 0.0, 0.5)] * 2, [np.diag([0.85, 0.85, 0.02])] * 2, shapes=[rod, rod],
        limits=[(-np.inf, np.inf, np.inf, np.inf), (np.radians(1.0), -0.02, 0.02, np.radians(1.0))],
    )  # fmt: skip


def put_down(model: engine.Model, tilt: float = 0.0) -> engine.Result:
    """Limp on the ground, tilted by so many degrees about x."""
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (FRAMES, 2, 1))
    turns[:, 0] = (np.cos(0.5 * np.radians(tilt)), np.sin(0.5 * np.radians(tilt)), 0.0, 0.0)
    places = np.tile(model.offsets, (FRAMES, 1, 1))
    motion = engine.Motion.build(model, FPS, turns, places)
    return simulate(model, motion, engine.Limp(), engine.Scene(ground=engine.Ground()), 240)


def leans(result: engine.Result) -> np.ndarray:
    """(frames,) how far the root is from upright [°]."""
    up = rot.rotate(result.motion.rotations[:, 0], np.tile((0.0, 0.0, 1.0), (FRAMES, 1)))
    return np.degrees(np.arccos(np.clip(up[:, 2], -1.0, 1.0)))


@pytest.mark.parametrize("aside", [0.0, 0.1, 0.17, 0.23, 0.26])
def test_a_block_topples_where_its_center_is_beyond_its_edge(aside):
    """Statics: the weight's moment about the edge at 0.2 m decides."""
    lean = leans(put_down(block(aside)))
    if aside < HALF:
        assert lean.max() < 1.0, "it stands"
    else:
        assert lean[-1] > 60.0, "it lies on its side"
    assert lean[-10:].max() - lean[-10:].min() < 0.01, "and does not move any more"


@pytest.mark.parametrize("tilt", [3.0, 6.0])
def test_a_pole_that_leans_a_little_falls_over(tilt):
    """It starts slower than what counts as calm: e-fold in 0.37 s from a few centimetres."""
    result = put_down(pole(), tilt)
    assert leans(result)[-1] > 80.0
    assert np.abs(result.velocities[-1]).max() < 1e-3, "and comes to rest"
