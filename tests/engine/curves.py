"""The curves the paper promises, in closed form, and the paper's own integrator (METHODS §1a, S1-III)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

# (1 + x) e^(−x) = 0.1
SETTLE = 3.889720169867429


def error_curve(settle_time: float, zeta: float, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(u, g) at times t: an error E₀ that starts at rate Ė₀ is u·E₀ + g·Ė₀. By matrix exponential: no cases."""
    omega = SETTLE / settle_time
    system = np.array([[0.0, 1.0], [-omega * omega, -2.0 * zeta * omega]])
    rows = np.array([expm(system * x)[0] for x in np.atleast_1d(t)])
    return rows[:, 0], rows[:, 1]


def skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def right_jacobian(phi: np.ndarray) -> np.ndarray:
    """Σ (−1)ⁿ skew(phi)ⁿ / (n+1)!: the series, as a matrix."""
    total, term = np.eye(3), np.eye(3)
    for n in range(1, 40):
        term = term @ (-skew(phi)) / (n + 1)
        total = total + term
    return total


def paper_deviation(kp: float, h: float, seconds: float, doubled: bool = True) -> float:
    """Largest deviation of the paper's integrator from (1 + ωt) e^(−ωt), for a unit error at rest.

    One velocity (E(h) − E)/h both moves and is carried on; gains are doubled to undo
    the half gain this causes: roots √k_p(−2 ± √2).
    """
    omega = np.sqrt(kp)
    gain = 2.0 if doubled else 1.0
    system = expm(np.array([[0.0, 1.0], [-gain * kp, -gain * 2.0 * omega]]) * h)
    error, rate, worst = 1.0, 0.0, 0.0
    for step in range(1, round(seconds / h) + 1):
        after = system[0] @ (error, rate)
        rate = (after - error) / h
        error = after
        t = step * h
        worst = max(worst, abs(error - (1.0 + omega * t) * np.exp(-omega * t)))
    return worst
