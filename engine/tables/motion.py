"""The target curves: the keys' motion at any time, as a C¹ curve through the samples.

Owns the curves and their evaluation. Must not know about bodies' masses or control.

Between two frames a ball's curve is R_k·exp(φ(s)) with φ a cubic that starts with the rate of frame k and ends with
that of frame k+1, so position and velocity are continuous and the samples are met exactly; angles and anchors likewise.
Where the source steps (constant interpolation) the target is constant, at rest, and then jumps. Rates at the samples
are central differences, one-sided next to a step.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import kernel, table
from ..errors import MotionError
from ..math import quaternions as rot
from ..math.vectors import add, axpy, load3, load4, quat_exp, quat_mul, right_jacobian, scale, store3, store4, sub
from ..model.model import BALL, FIXED, HINGE, UNIVERSAL, Model
from . import sample as SA
from .axes import Axes

FIT = 1e-4  # rotation outside a joint's axes that is accepted as rounding [rad]

# Columns of Target.curve
columns = Columns()
AT = columns(4)  # coordinates at the sample
SLOPE = columns(3)  # their rates there [1/s]
REACH = columns(3)  # change over the segment after the sample
ARRIVE = columns(3)  # the cubic's slope at the segment's end [1/s]
ANCHOR_AT = columns(3)  # anchor [m]
ANCHOR_SLOPE = columns(3)  # its rate [m/s]
CURVE_COLUMNS = columns.count

# Columns of Target.key
columns = Columns()
WHEN = columns()  # frame, from the motion's first sample; keys need not fall on frames
KEY_VALUE = columns(4)  # coordinates
KEY_RATE = columns(3)  # their rates [1/s]
KEY_PLACE = columns(3)  # of a free root [m]
KEY_DRIFT = columns(3)  # its rate [m/s]
KEY_COLUMNS = columns.count


@table
class Target(NamedTuple):
    """Curves of n bodies (rows 1 … n, row 0 the world) over `frames` samples."""

    curve: Annotated[np.ndarray, Axes("frame", "body", "column")]  # (frames, n+1, CURVE_COLUMNS)
    hold: Annotated[np.ndarray, Axes("frame", "body")]  # (frames, n+1) constant after the sample, then jumps
    moving: Annotated[np.ndarray, Axes("body")]  # (n+1,) the anchor moves
    key: np.ndarray  # (k, KEY_COLUMNS) physical keys, by body and time (see `model/keys.py`)
    key_first: np.ndarray  # (n+2,) index at which each body's begin


def build_target(model: Model, motion) -> Target:
    """Fit joint coordinates to the motion's rotations and fit curves through them."""
    frames, n = motion.rotations.shape[:2]
    dt = 1.0 / motion.fps
    value = np.zeros((frames, n + 1, 4))
    value[:, 0, 0] = 1.0
    reach = np.zeros((frames, n + 1, 3))
    kinds = model.kinds
    turn = np.flatnonzero(kinds >= BALL)
    if len(turn):
        q = rot.continuous(motion.rotations[:, turn])
        value[:, turn + 1] = q
        reach[:-1, turn + 1] = rot.log(rot.multiply(rot.conjugate(q[:-1]), q[1:]))
    hinged = np.flatnonzero(kinds < BALL)
    angles = fit_angles(model, hinged, motion.rotations[:, hinged], motion.frame_start)
    value[:, hinged + 1, :2] = angles
    reach[:-1, hinged + 1, :2] = np.diff(angles, axis=0)
    hold = np.zeros((frames, n + 1), dtype=np.bool_)
    hold[:-1, 1:] = motion.stepped[1:]
    rate = _rates(reach, hold, dt)
    arrive = np.zeros_like(rate)
    arrive[:-1] = rate[1:]
    arrive[:-1, turn + 1] = rot.right_jacobian_inverse(reach[:-1, turn + 1], rate[1:, turn + 1])
    anchor = np.zeros((frames, n + 1, 3))
    anchor[:, 1:] = motion.positions
    gap = np.zeros_like(anchor)
    gap[:-1] = np.diff(anchor, axis=0)
    moving = (gap != 0.0).any(axis=(0, 2))
    curve = np.concatenate([value, rate, reach, arrive, anchor, _rates(gap, hold, dt)], axis=2)
    none = np.zeros((0, KEY_COLUMNS)), np.zeros(n + 2, dtype=np.int64)
    return Target(np.ascontiguousarray(curve), hold, moving, *none)


def _rates(reach: np.ndarray, hold: np.ndarray, dt: float) -> np.ndarray:
    """Rates at the samples from the changes between them."""
    slope = reach / dt
    smooth = ~hold
    smooth[-1] = False
    after = smooth[..., None]
    before = np.zeros_like(after)
    before[1:] = after[:-1]
    left = np.zeros_like(slope)
    left[1:] = slope[:-1]
    return np.where(after & before, 0.5 * (left + slope), np.where(after, slope, np.where(before, left, 0.0)))


def fit_angles(model: Model, bodies: np.ndarray, q: np.ndarray, frame_start: float) -> np.ndarray:
    """(frames, m, 2) angles of the hinges, universal and fixed joints of bodies (m,) rotated by q (frames, m, 4);
    raises an error if the rotations do not fit."""
    kinds, axes = model.kinds[bodies], model.axes[bodies]
    angles = np.zeros((*q.shape[:2], 2))
    made = np.zeros(q.shape)
    made[..., 0] = 1.0
    one = np.flatnonzero(kinds == HINGE)
    angles[:, one, 0] = np.unwrap(rot.twist(q[:, one], axes[one, 0]), axis=0)
    made[:, one] = rot.about(axes[one, 0], angles[:, one, 0])
    two = np.flatnonzero(kinds == UNIVERSAL)
    if len(two):
        # R·a₂ = exp(a₁θ₁)·a₂ gives θ₁; the rest is a rotation about a₂
        first, second = axes[two, 0], axes[two, 1]
        start = second - first * np.sum(first * second, axis=-1, keepdims=True)
        seen = rot.rotate(q[:, two], np.broadcast_to(second, (len(q), *second.shape)))
        across = np.sum(np.cross(start, seen) * first, axis=-1)
        angles[:, two, 0] = np.unwrap(np.arctan2(across, np.sum(seen * start, axis=-1)), axis=0)
        turned = rot.about(first, angles[:, two, 0])
        left = rot.multiply(rot.conjugate(turned), q[:, two])
        angles[:, two, 1] = np.unwrap(rot.twist(left, second), axis=0)
        made[:, two] = rot.multiply(turned, rot.about(second, angles[:, two, 1]))
    miss = np.linalg.norm(rot.log(rot.multiply(rot.conjugate(made), q)), axis=-1)
    if miss.size and miss.max() > FIT:
        k = int(np.argmax(miss.max(axis=0) > FIT))
        frame = int(np.argmax(miss[:, k]))
        word = {HINGE: "hinge", UNIVERSAL: "universal joint", FIXED: "fixed joint"}[int(kinds[k])]
        raise MotionError(
            f"Body '{model.names[bodies[k]]}' turns {np.degrees(miss[frame, k]):.3f}° at frame "
            f"{frame + frame_start:g} in a way its {word} cannot: make it a ball joint or mend the key."
        )
    return angles


@kernel
def evaluate(target, kind, frame, s, dt, out, column):
    """A sample of every body (see `sample`) at frame + s, 0 ≤ s ≤ 1; at s = 1 the limit from the left.

    dt is one frame [s].
    """
    for i in range(1, len(kind)):
        evaluate_body(target, kind[i], i, frame, s, dt, out, column)


@kernel
def evaluate_body(target, kind, i, frame, s, dt, out, column):
    """The same of one body."""
    curve = target.curve[frame]
    hold = target.hold[frame, i]
    if s == 0.0 or hold:
        still = 0.0 if hold else 1.0
        store4(out, i, column + SA.VALUE, load4(curve, i, AT))
        store3(out, i, column + SA.RATE, scale(still, load3(curve, i, SLOPE)))
        store3(out, i, column + SA.ANCHOR, load3(curve, i, ANCHOR_AT))
        store3(out, i, column + SA.ANCHOR_RATE, scale(still, load3(curve, i, ANCHOR_SLOPE)))
        return
    start = load3(curve, i, SLOPE)
    phi, dphi = hermite(load3(curve, i, REACH), start, load3(curve, i, ARRIVE), s, dt)
    c = load4(curve, i, AT)
    if kind >= BALL:
        store4(out, i, column + SA.VALUE, quat_mul(c, quat_exp(phi)))
        store3(out, i, column + SA.RATE, right_jacobian(phi, dphi))
    else:
        store4(out, i, column + SA.VALUE, (c[0] + phi[0], c[1] + phi[1], 0.0, 0.0))
        store3(out, i, column + SA.RATE, dphi)
    place, rate = load3(curve, i, ANCHOR_AT), (0.0, 0.0, 0.0)
    if target.moving[i]:
        after = target.curve[frame + 1]
        gap = sub(load3(after, i, ANCHOR_AT), place)
        shift, rate = hermite(gap, load3(curve, i, ANCHOR_SLOPE), load3(after, i, ANCHOR_SLOPE), s, dt)
        place = add(place, shift)
    store3(out, i, column + SA.ANCHOR, place)
    store3(out, i, column + SA.ANCHOR_RATE, rate)


@kernel
def hermite(reach, start, arrive, s, dt):
    """A cubic from 0 to `reach` in dt seconds with given slopes at its ends: value and slope at s·dt."""
    one = 1.0 - s
    half, rise = s * s * (3.0 - 2.0 * s), 6.0 * s * one / dt
    value = axpy(half, reach, axpy(s * one * one * dt, start, scale(-s * s * one * dt, arrive)))
    slope = axpy(rise, reach, axpy(one * (1.0 - 3.0 * s), start, scale(s * (3.0 * s - 2.0), arrive)))
    return value, slope
