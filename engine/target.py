"""What the keys ask for at any instant: a C¹ curve through the samples.

Owns the curve and its evaluation. Must not know about bodies' masses or control.

Between two frames a ball's curve is R_k·exp(φ(s)) with φ a cubic that starts with
the rate of frame k and ends with that of frame k+1, so position and velocity are
continuous and the samples are met exactly; angles and anchors likewise. Where the
source steps (constant interpolation) the target holds, at rest, and then jumps.
Rates at the samples are central differences, one-sided beside a step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import rotations as rot
from .errors import MotionError
from .jit import kernel
from .model import BALL, FIXED, HINGE, UNIVERSAL, Model
from .spatial import load3, load4, quat_exp, quat_mul, right_jacobian, store3, store4

FIT = 1e-4  # rotation a joint cannot make that is forgiven as rounding [rad]


class Target(NamedTuple):
    """Curves of n bodies (rows 1 … n, row 0 the world) over `frames` samples.

    For each segment k → k+1: the start value, and a cubic's slopes and end.
    """

    value: np.ndarray  # (frames, n+1, 4) coordinates at the samples
    rate: np.ndarray  # (frames, n+1, 3) coordinate rates at the samples [1/s]
    reach: np.ndarray  # (frames, n+1, 3) change over the segment after the sample
    arrive: np.ndarray  # (frames, n+1, 3) the cubic's slope at its end [1/s]
    anchor: np.ndarray  # (frames, n+1, 3) anchors [m]
    anchor_rate: np.ndarray  # (frames, n+1, 3) [m/s]
    hold: np.ndarray  # (frames, n+1) the segment after the sample holds, then jumps
    moving: np.ndarray  # (n+1,) the anchor moves


def build_target(model: Model, motion) -> Target:
    """Fit joint coordinates to the motion's rotations and lay curves through them."""
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
    for body in np.flatnonzero(kinds < BALL):
        angles = _joint_angles(model, motion, int(body))
        value[:, body + 1, :2] = angles
        reach[:-1, body + 1, :2] = np.diff(angles, axis=0)
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
    return Target(value, rate, reach, arrive, anchor, _rates(gap, hold, dt), hold, moving)


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


def _joint_angles(model: Model, motion, body: int) -> np.ndarray:
    """(frames, 2) angles of a hinge, universal or fixed joint; raises where the motion does not fit."""
    kind = model.kinds[body]
    q = motion.rotations[:, body]
    axis, axis2 = model.axes[body]
    angles = np.zeros((len(q), 2))
    made = np.tile([1.0, 0.0, 0.0, 0.0], (len(q), 1))
    if kind == HINGE:
        angles[:, 0] = np.unwrap(rot.twist(q, axis))
        made = rot.about(axis, angles[:, 0])
    elif kind == UNIVERSAL:
        # R·a₂ = exp(a₁θ₁)·a₂ gives θ₁; what is left turns about a₂
        start = axis2 - axis * (axis @ axis2)
        seen = rot.rotate(q, np.broadcast_to(axis2, (len(q), 3)))
        angles[:, 0] = np.unwrap(np.arctan2(np.cross(start, seen) @ axis, seen @ start))
        first = rot.about(axis, angles[:, 0])
        angles[:, 1] = np.unwrap(rot.twist(rot.multiply(rot.conjugate(first), q), axis2))
        made = rot.multiply(first, rot.about(axis2, angles[:, 1]))
    miss = np.linalg.norm(rot.log(rot.multiply(rot.conjugate(made), q)), axis=1)
    if miss.max() > FIT:
        frame = int(np.argmax(miss))
        word = {HINGE: "hinge", UNIVERSAL: "universal joint", FIXED: "fixed joint"}[int(kind)]
        raise MotionError(
            f"Body '{model.names[body]}' turns {np.degrees(miss[frame]):.3f}° at frame {frame + motion.frame_start} in a way "
            f"its {word} cannot: make it a ball joint or mend the key."
        )
    return angles


@kernel
def evaluate(target, kind, frame, s, dt, value, rate, anchor, anchor_rate):
    """Coordinates, rates and anchors at frame + s (0 ≤ s ≤ 1), the left limit at s = 1.

    dt is one frame [s]. The outputs are (n+1, ·) arrays.
    """
    one = 1.0 - s
    b0 = s * one * one * dt
    b1 = -s * s * one * dt
    d0 = one * (1.0 - 3.0 * s)
    d1 = s * (3.0 * s - 2.0)
    half = s * s * (3.0 - 2.0 * s)
    dhalf = 6.0 * s * one / dt
    for i in range(1, len(kind)):
        if s == 0.0 or target.hold[frame, i]:
            store4(value, i, load4(target.value[frame], i))
            store3(anchor, i, load3(target.anchor[frame], i))
            if s > 0.0 or target.hold[frame, i]:
                store3(rate, i, (0.0, 0.0, 0.0))
                store3(anchor_rate, i, (0.0, 0.0, 0.0))
            else:
                store3(rate, i, load3(target.rate[frame], i))
                store3(anchor_rate, i, load3(target.anchor_rate[frame], i))
            continue
        r = load3(target.reach[frame], i)
        u = load3(target.rate[frame], i)
        w = load3(target.arrive[frame], i)
        phi = (
            half * r[0] + b0 * u[0] + b1 * w[0],
            half * r[1] + b0 * u[1] + b1 * w[1],
            half * r[2] + b0 * u[2] + b1 * w[2],
        )
        dphi = (
            dhalf * r[0] + d0 * u[0] + d1 * w[0],
            dhalf * r[1] + d0 * u[1] + d1 * w[1],
            dhalf * r[2] + d0 * u[2] + d1 * w[2],
        )
        c = load4(target.value[frame], i)
        if kind[i] >= BALL:
            store4(value, i, quat_mul(c, quat_exp(phi)))
            store3(rate, i, right_jacobian(phi, dphi))
        else:
            store4(value, i, (c[0] + phi[0], c[1] + phi[1], 0.0, 0.0))
            store3(rate, i, dphi)
        if target.moving[i]:
            for k in range(3):
                x0 = target.anchor[frame, i, k]
                x1 = target.anchor[frame + 1, i, k]
                v0 = target.anchor_rate[frame, i, k]
                v1 = target.anchor_rate[frame + 1, i, k]
                anchor[i, k] = x0 + half * (x1 - x0) + b0 * v0 + b1 * v1
                anchor_rate[i, k] = dhalf * (x1 - x0) + d0 * v0 + d1 * v1
        else:
            store3(anchor, i, load3(target.anchor[frame], i))
            store3(anchor_rate, i, (0.0, 0.0, 0.0))


