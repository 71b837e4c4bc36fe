"""The closed-form response, and the paper's integrator kept as the reference it is measured against."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.linalg import expm

from curves import SETTLE, paper_deviation
from engine.controllers.follow import spring
from probe import pd_response


@pytest.mark.parametrize(("h", "wanted"), [(1.0 / 24.0, 0.0242), (0.02, 0.0125), (0.01, 0.0065)])
def test_the_papers_integrator(h, wanted, figure):
    found = paper_deviation(25.0, h, 3.0)
    figure.note(f"the paper's integrator, h = {h:.4g} s: largest deviation", found)
    assert found == pytest.approx(wanted, abs=5e-5)
    assert paper_deviation(25.0, h, 3.0, doubled=False) > 0.08, "single gains should be near 0.11"


def test_settle_constant():
    assert pytest.approx(SETTLE, rel=1e-15) == spring.SETTLE
    assert (1.0 + spring.SETTLE) * np.exp(-spring.SETTLE) == pytest.approx(0.1, rel=1e-14)


@settings(max_examples=300, deadline=None)
@given(st.floats(0.01, 500.0), st.floats(0.0, 20.0), st.floats(1e-4, 0.1))
def test_response_is_the_matrix_exponential(omega, zeta, h):
    _check_response(omega, zeta, h)


@pytest.mark.parametrize("zeta", [1.0, 1.0 + 1e-12, 1.0 - 1e-9, 1.0 + 1e-6, 1.0 - 1e-4, 1.001, 0.999])
@pytest.mark.parametrize("omega", [2.0, 80.0])
def test_response_near_critical(omega, zeta):
    _check_response(omega, zeta, 1.0 / 24.0)


def _check_response(omega, zeta, h):
    # rates in units of ω: the matrix is then well scaled
    x = omega * h
    wanted = expm(np.array([[0.0, 1.0], [-1.0, -2.0 * zeta]]) * x)
    u, g, du, dg = pd_response(omega, zeta, h)
    found = np.array([[u, g * omega], [du / omega, dg]])
    assert np.abs(found - wanted).max() < 1e-12 * max(1.0, np.abs(wanted).max())


def test_huge_gains_do_not_overflow():
    for zeta in (0.1, 1.0, 1000.0):
        assert np.isfinite(pd_response(4e4, zeta, 0.1)).all()
