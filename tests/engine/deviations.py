"""How far a result is off its source, and how a physical key is neared."""

from __future__ import annotations

import numpy as np

from engine import Motion
from engine.math import quaternions as rot


def off_source(source: Motion, result: Motion) -> np.ndarray:
    """(frames, n) joint angles between source and result [°]."""
    between = rot.multiply(rot.conjugate(source.rotations), result.rotations)
    return np.degrees(2.0 * np.arcsin(np.clip(np.linalg.norm(between[..., 1:], axis=-1), 0.0, 1.0)))


def powers(shape: float) -> tuple[float, float]:
    root = np.sqrt(1.0 + 4.0 * shape)
    return 0.5 * (1.0 + 2.0 * shape + root), 0.5 * (1.0 + 2.0 * shape - root)
