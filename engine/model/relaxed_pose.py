"""The relaxed pose: as the model says, or each joint in the middle of its range.

Owns the pose that tone pulls joints to. Must not know how strongly.
"""

from __future__ import annotations

import math

import numpy as np

from ..math import quaternions as rot
from .model import BALL, HINGE, UNIVERSAL, Model


def relaxed_coordinates(model: Model) -> np.ndarray:
    """(n, 4) coordinates of each joint in the model's relaxed pose, else in the middle of its range; at rest without
    limits."""
    out = np.zeros((len(model), 4))
    told = np.isfinite(model.relaxed).all(axis=1)
    for i, kind in enumerate(model.kinds):
        if kind >= BALL:
            out[i] = model.relaxed[i] if told[i] else _middle_of_ball(model.limits[i], model.limit_frames[i])
        elif kind in (HINGE, UNIVERSAL):
            for k in range(2 if kind == UNIVERSAL else 1):
                low, high = model.limits[i, 2 * k : 2 * k + 2]
                out[i, k] = 0.5 * (low + high) if np.isfinite(low) and np.isfinite(high) else 0.0
    return out


def _middle_of_ball(limits: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """(4,) no swing, and the middle of the twist, in the limits' frames."""
    swing, low, high = limits[:3]
    twist = 0.5 * (low + high) if np.isfinite(low) and np.isfinite(high) else 0.0
    if np.isinf(swing) and twist == 0.0:
        return np.array([1.0, 0.0, 0.0, 0.0])
    inner = np.array([math.cos(0.5 * twist), 0.0, math.sin(0.5 * twist), 0.0])
    return rot.multiply(rot.multiply(frames[0], inner), rot.conjugate(frames[1]))
