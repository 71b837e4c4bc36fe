"""Physical keys: a body's pose, velocity and time (METHODS §2).

Owns `Keys`. Must not know how a body reaches them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Keys:
    """k physical keys, each of one body.

    bodies       (k,) names or indices
    frames       (k,) frame numbers as in the motion (its `frame_start` is the first), fractions allowed
    rotations    (k, 4) joint rotations relative to rest, wxyz; None: the motion's at that time
    velocities   (k, 3) angular velocities in body axes [rad/s]; None: the motion's (its curve's tangent)
    positions    (k, 3) of free roots [m]; None: the motion's
    drifts       (k, 3) their velocities [m/s]; None: the motion's
    """

    bodies: Sequence[str | int]
    frames: np.ndarray
    rotations: np.ndarray | None = None
    velocities: np.ndarray | None = None
    positions: np.ndarray | None = None
    drifts: np.ndarray | None = None

    @classmethod
    def at(cls, frames: Sequence[float], bodies: Sequence[str | int]) -> Keys:
        """The motion's own pose at the given frames, for each of the bodies."""
        times, who = np.asarray(frames, dtype=np.float64), list(bodies)
        return cls([each for each in who for _ in times], np.tile(times, len(who)))
