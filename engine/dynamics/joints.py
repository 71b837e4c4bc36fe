"""Rates and coordinates of one joint: read, write, integrate and compare.

Owns the differences between kinds of joints. Must not know about masses or control.
"""

from __future__ import annotations

from ..compile.decorators import kernel
from ..math.vectors import (
    quat_conj,
    quat_exp,
    quat_log,
    quat_mul,
    quat_tidy,
    right_jacobian_inverse,
    scale,
    sub,
    unrotate,
)
from ..model.model import BALL, HINGE, UNIVERSAL


@kernel
def joint_rates(kind, rate, row, d):
    """The first three rates of a joint in a row of `rate`, zero where it has fewer."""
    if kind >= BALL:
        return rate[row, d], rate[row, d + 1], rate[row, d + 2]
    if kind == UNIVERSAL:
        return rate[row, d], rate[row, d + 1], 0.0
    if kind == HINGE:
        return rate[row, d], 0.0, 0.0
    return 0.0, 0.0, 0.0


@kernel
def store_rates(kind, rate, row, d, w):
    if kind >= HINGE:
        rate[row, d] = w[0]
    if kind >= UNIVERSAL:
        rate[row, d + 1] = w[1]
    if kind >= BALL:
        rate[row, d + 2] = w[2]


@kernel
def advance(kind, c, w, h):
    """Coordinates c after h seconds at rates w."""
    if kind >= BALL:
        return quat_tidy(quat_mul(c, quat_exp(scale(h, w))))
    return c[0] + h * w[0], c[1] + h * w[1], 0.0, 0.0


@kernel
def difference(kind, a, b):
    """The difference from coordinates a to b, in the frame of b's body: rotation vector or angles."""
    if kind >= BALL:
        return quat_log(quat_mul(quat_conj(a), b))
    return b[0] - a[0], b[1] - a[1], 0.0


@kernel
def measure_error(kind, c, w, value, rate):
    """E and Ė of a joint at (c, w) against a target at (value, rate)."""
    e = difference(kind, value, c)
    if kind >= BALL:
        return e, right_jacobian_inverse(e, sub(w, unrotate(quat_exp(e), rate)))
    return e, sub(w, rate)
