"""The curve through the keys: it meets every sample, is C¹ between them, and holds where keys step."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import engine
from engine.model.model import BALL, HINGE, UNIVERSAL
from engine.model.motion import Motion
from naive import angle_between
from probe import Curve
from shapes import chain, joint_rotations, random_tree, smooth_motion


@pytest.fixture
def mixed():
    rng = np.random.default_rng(11)
    model = random_tree(rng, 14)
    return model, smooth_motion(model, rng, 12, 24.0, reach=1.2, moving_anchors=True)


def as_rotations(model, values):
    turn = model.kinds >= BALL
    out = joint_rotations(model, values[None, :, :3] * ~turn[:, None])[0]
    out[turn] = values[turn]
    return out


def test_the_samples_are_met(mixed, figure):
    model, motion = mixed
    curve = Curve(model, motion)
    worst = 0.0
    for frame in range(len(motion) - 1):
        for s in (0.0, 1.0):
            value, _, anchor, _ = curve.at(frame, s)
            worst = max(worst, angle_between(as_rotations(model, value), motion.rotations[frame + int(s)]).max())
            worst = max(worst, np.abs(anchor - motion.positions[frame + int(s)]).max())
    figure("target: off its samples", worst, 1e-12)


def test_value_and_rate_are_continuous(mixed):
    model, motion = mixed
    curve = Curve(model, motion)
    for frame in range(len(motion) - 2):
        left, right = curve.at(frame, 1.0), curve.at(frame + 1, 0.0)
        for a, b in zip(left[1:], right[1:], strict=True):
            assert a == pytest.approx(b, abs=1e-11)
        assert np.abs(left[0] - right[0]).max() < 1e-12


def test_rates_are_the_curves_own(mixed):
    """Against differences of the values, in the body's own frame."""
    model, motion = mixed
    curve = Curve(model, motion)
    for s in (0.13, 0.5, 0.86):
        ahead, here, behind = (curve.at(4, s + x) for x in (1e-5, 0.0, -1e-5))
        step = 2e-5 * curve.dt
        assert (ahead[2] - behind[2]) / step == pytest.approx(here[3], abs=1e-6)
        for i in range(len(model)):
            if model.kinds[i] >= BALL:
                turn = Rotation.from_quat(behind[0][i], scalar_first=True).inv() * Rotation.from_quat(
                    ahead[0][i], scalar_first=True
                )
                assert turn.as_rotvec() / step == pytest.approx(here[1][i], abs=1e-6)
            elif model.kinds[i] in (HINGE, UNIVERSAL):
                width = int(model.kinds[i])
                assert ((ahead[0][i] - behind[0][i]) / step)[:width] == pytest.approx(here[1][i, :width], abs=1e-6)


def test_a_stepped_key_holds_and_jumps():
    model = chain(2)
    angles = np.zeros((6, 2, 3))
    angles[3:, 0, 0] = 1.0
    angles[:, 1, 0] = np.linspace(0.0, 0.5, 6)
    stepped = np.zeros((6, 2), dtype=bool)
    stepped[3, 0] = True
    curve = Curve(model, Motion.build(model, 24.0, joint_rotations(model, angles), stepped=stepped))
    for s in (0.0, 0.3, 1.0):
        value, rate, _, _ = curve.at(2, s)
        assert value[0, 0] == 0.0 and rate[0, 0] == 0.0
        assert value[1, 0] == pytest.approx(0.1 * (2 + s), abs=1e-12)
    assert curve.at(3, 0.0)[0][0, 0] == pytest.approx(1.0)
    # no smoothing across the jump: the segments beside it stay at rest
    assert curve.at(1, 0.7)[0][0, 0] == 0.0 and curve.at(3, 0.4)[0][0, 0] == pytest.approx(1.0)


def test_turning_on_and_on_is_unwrapped():
    """Several full turns of a hinge and of a ball come back turn by turn."""
    for kind in ("HINGE", "BALL"):
        model = chain(1, kind)
        angles = np.zeros((48, 1, 3))
        angles[:, 0, 0 if kind == "HINGE" else 1] = np.linspace(0.0, 20.0, 48)
        motion = Motion.build(model, 24.0, joint_rotations(model, angles))
        result = engine.simulate(model, motion, engine.Follow())
        assert angle_between(result.motion.rotations, motion.rotations).max() < 1e-8
        assert result.velocities[1:-1, 0 if kind == "HINGE" else 1] == pytest.approx(20.0 / 47.0 * 24.0, rel=1e-9)


def test_smooth_motion_is_caught_to_third_order(figure):
    """Between samples the curve is off the motion it was sampled from by a power of the frame."""
    model = chain(1)
    errors = []
    for fps in (24.0, 48.0, 96.0):
        t = np.arange(round(fps) + 1) / fps
        angles = np.zeros((len(t), 1, 3))
        angles[:, 0, 0] = np.sin(3.0 * t)
        curve = Curve(model, Motion.build(model, fps, joint_rotations(model, angles)))
        frames = range(2, len(t) - 3)
        errors.append(max(abs(curve.at(k, 0.5)[0][0, 0] - np.sin(3.0 * (k + 0.5) / fps)) for k in frames))
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    figure.note("target: order of the curve between samples", " ".join(f"{o:.2f}" for o in orders))
    assert orders.min() > 2.8
