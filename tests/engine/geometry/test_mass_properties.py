"""Inertias that a body can have: flat and thin ones are given the least thickness, others are left alone."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.geometry import mass_properties


def turned(values, seed: int = 0) -> np.ndarray:
    """(1, 3, 3) with these principal moments, about axes drawn by lot."""
    axes = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return (axes @ np.diag(values) @ axes.T)[None]


def model(inertia: np.ndarray) -> engine.Model:
    return engine.Model.from_tree(["leaf"], [None], np.zeros((1, 3)), masses=[1.0], inertias=inertia)


@pytest.mark.parametrize("flat", [0.0, 1e-7, -1e-7, -1e-12])
def test_a_sheet_becomes_a_body(flat):
    """A sheet's largest moment is the sum of the others; rounding makes it more."""
    inertia = turned([5e-5, 6e-5, (1.1e-4) * (1.0 - flat)])
    if flat < -1e-9:
        with pytest.raises(engine.HeftError, match="no body has them"):
            model(inertia)
    mended = mass_properties.plausible(inertia)
    model(mended)
    assert np.abs(mended - inertia).max() < 2e-6 * np.abs(inertia).max() + abs(flat) * 1.1e-4


def test_a_needle_becomes_a_body():
    mended = mass_properties.plausible(turned([0.0, 1.0, 1.0]))
    model(mended)
    assert 0.0 < np.linalg.eigvalsh(mended[0])[0] < 1e-5


def test_what_is_a_body_stays_as_it_is():
    inertia = np.concatenate([turned([1.0, 2.0, 2.5], 1), turned([3.0, 3.0, 3.0], 2)])
    assert np.array_equal(mass_properties.plausible(inertia), inertia)
