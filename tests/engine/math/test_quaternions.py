"""Rotations, in bulk and in kernels, against scipy and power series; small angles and half turns included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial.transform import Rotation

from curves import right_jacobian
from engine.math import quaternions as rot
from probe import small_rotations, symmetric
from shapes import random_quaternion

ANGLES = (0.0, 1e-12, 1e-7, 9e-7, 1.1e-6, 9e-5, 1.1e-4, 1e-3, 0.5, 2.0, 3.1, np.pi - 1e-9)


@pytest.mark.parametrize("angle", ANGLES)
def test_kernels_and_bulk_agree_with_the_textbook(angle, rng):
    axis = rng.normal(size=3)
    phi, v = axis / np.linalg.norm(axis) * angle, rng.normal(size=3)
    q, back, turned, unturned, forth, home = (np.array(x) for x in small_rotations(tuple(phi), tuple(v)))
    truth = Rotation.from_rotvec(phi)
    jacobian = right_jacobian(phi)
    assert q == pytest.approx(truth.as_quat(scalar_first=True), abs=1e-15)
    assert back == pytest.approx(phi, abs=1e-14, rel=1e-12)
    assert turned == pytest.approx(jacobian @ v, abs=1e-14, rel=1e-11)
    assert unturned == pytest.approx(np.linalg.solve(jacobian, v), abs=1e-12, rel=1e-7 if angle > 3.0 else 1e-9)
    assert forth == pytest.approx(truth.apply(v), abs=1e-14)
    assert home == pytest.approx(truth.inv().apply(v), abs=1e-14)
    assert rot.exp(phi) == pytest.approx(q, abs=1e-15)
    assert rot.log(q) == pytest.approx(phi, abs=1e-14, rel=1e-12)
    assert rot.rotate(q, v) == pytest.approx(forth, abs=1e-14)
    assert rot.right_jacobian_inverse(phi, v) == pytest.approx(np.linalg.solve(jacobian, v), abs=1e-9, rel=1e-7)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_products_and_signs(seed):
    rng = np.random.default_rng(seed)
    p, q = random_quaternion(rng, 5), random_quaternion(rng, 5)
    truth = Rotation.from_quat(p, scalar_first=True) * Rotation.from_quat(q, scalar_first=True)
    product = rot.multiply(p, q)
    wanted = truth.as_quat(scalar_first=True)
    assert np.abs(product * np.sign((product * wanted).sum(axis=1, keepdims=True)) - wanted).max() < 1e-14
    assert rot.log(-q) == pytest.approx(rot.log(q), abs=1e-14)
    assert rot.multiply(q, rot.conjugate(q)) == pytest.approx(np.tile([1.0, 0, 0, 0], (5, 1)), abs=1e-14)


def test_continuous_signs(rng):
    q = rot.exp(np.cumsum(rng.normal(size=(200, 3, 3)) * 0.1, axis=0))
    mixed = q * rng.choice([-1.0, 1.0], (200, 3, 1))
    smooth = rot.continuous(mixed)
    assert ((smooth[1:] * smooth[:-1]).sum(axis=-1) > 0.0).all()
    assert np.array_equal(np.abs(smooth), np.abs(mixed))
    assert np.array_equal(smooth[0], mixed[0])


def test_twist(rng):
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    angles = np.linspace(-3.1, 3.1, 50)
    assert rot.twist(rot.about(axis, angles), np.broadcast_to(axis, (50, 3))) == pytest.approx(angles, abs=1e-14)
    assert rot.twist(-rot.about(axis, angles), np.broadcast_to(axis, (50, 3))) == pytest.approx(angles, abs=1e-14)


def test_symmetric_matrices(rng):
    root = rng.normal(size=(3, 3))
    a = root @ root.T + np.eye(3)
    six = tuple(a[(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)])
    v = rng.normal(size=3)
    times, solved = symmetric(six, tuple(v))
    assert np.array(times) == pytest.approx(a @ v, rel=1e-13)
    assert np.array(solved) == pytest.approx(np.linalg.solve(a, v), rel=1e-10)
