"""The kernels' rotations against sines of higher precision, near and beyond where series stand for them."""

from __future__ import annotations

import numpy as np
import pytest

from probe import about_axis, small_rotations

ANGLES = np.concatenate([np.geomspace(1e-9, 0.05, 20), np.linspace(0.05, 3.1, 400), [0.4, 0.402, 0.9999999, 1.0000001]])
AXIS = np.array([0.36, -0.48, 0.8])
RATE = np.array([0.3, 1.1, -0.7])
# Sines of long numbers, where the machine has them, lose nothing that can be seen in short ones.
LONG = np.longdouble


def turn(angle: float) -> tuple[float, ...]:
    half = LONG(angle) / 2
    return (float(np.cos(half)), *(float(np.sin(half) * LONG(x)) for x in AXIS))


def jacobian(angle: float) -> tuple[float, float]:
    """What stands before φ×v and φ×(φ×v) in J_r."""
    x = LONG(angle)
    if angle < 0.05:  # where even long numbers cancel, the first terms are the whole
        return float(0.5 - x**2 / 24 + x**4 / 720), float(1 / LONG(6) - x**2 / 120 + x**4 / 5040)
    return float((1 - np.cos(x)) / x**2), float((x - np.sin(x)) / x**3)


def test_turns_and_their_vectors():
    for angle in ANGLES:
        phi = tuple(angle * AXIS)
        q, back, *_ = small_rotations(phi, tuple(RATE))
        assert q == pytest.approx(turn(angle), rel=1e-15, abs=3e-16)
        assert back == pytest.approx(phi, rel=2e-15)
        assert about_axis(tuple(AXIS), angle) == pytest.approx(turn(angle), rel=1e-15, abs=3e-16)
        assert about_axis(tuple(AXIS), -angle)[0] == about_axis(tuple(AXIS), angle)[0]


def test_how_a_vectors_change_turns():
    for angle in ANGLES:
        phi = angle * AXIS
        a, b = jacobian(angle)
        once = np.cross(phi, RATE)
        want = RATE - a * once + b * np.cross(phi, once)
        _, _, turned, *_ = small_rotations(tuple(phi), tuple(RATE))
        assert turned == pytest.approx(want, rel=1e-14, abs=1e-15)
        _, _, _, back, *_ = small_rotations(tuple(phi), tuple(want))
        assert back == pytest.approx(RATE, rel=2e-14)
