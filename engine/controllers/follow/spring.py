"""Damped spring Ë + 2ζω Ė + ω² E = 0 in closed form (METHODS §1a, S1-III).

Owns the response of one error over one step. Must not know about joints.
"""

from __future__ import annotations

import math

from ...compile.decorators import kernel

# (1 + x) e^(−x) = 0.1: after the settle time a tenth of the error is left at ζ = 1.
SETTLE = 3.8897201698674291
NEAR_CRITICAL = 1e-4


@kernel
def response(omega, zeta, h):
    """(u, g, du, dg) with E(h) = u E₀ + g Ė₀ and Ė(h) = du E₀ + dg Ė₀.

    omega [rad/s], zeta the damping ratio, h [s].
    """
    decay = zeta * omega
    # squared splitting of the roots, in units of h: > 0 overdamped, < 0 swings
    x2 = (zeta * zeta - 1.0) * omega * omega * h * h
    if abs(x2) < NEAR_CRITICAL:
        e = math.exp(-decay * h)
        c = 1.0 + x2 / 2.0 + x2 * x2 / 24.0
        s = 1.0 + x2 / 6.0 + x2 * x2 / 120.0 + x2 * x2 * x2 / 5040.0
        ec, es = e * c, e * s * h
    elif x2 < 0.0:
        x = math.sqrt(-x2)
        e = math.exp(-decay * h)
        ec, es = e * math.cos(x), e * math.sin(x) / x * h
    else:
        # written with the two decaying exponentials: cosh alone overflows
        x = math.sqrt(x2)
        slow, fast = math.exp(x - decay * h), math.exp(-x - decay * h)
        ec, es = 0.5 * (slow + fast), 0.5 * (slow - fast) / x * h
    return ec + decay * es, es, -omega * omega * es, ec - decay * es


@kernel
def peak_time(omega, zeta):
    """The time at which an error that starts at 0 with some speed is largest [s]."""
    split = zeta * zeta - 1.0
    if abs(split) < NEAR_CRITICAL:
        return 1.0 / omega
    if split < 0.0:
        return math.acos(zeta) / (omega * math.sqrt(-split))
    return math.acosh(zeta) / (omega * math.sqrt(split))
