"""What a simulation gives back.

Owns `Result` and `Progress`. Must not know how they were computed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .motion import Motion


@dataclass(frozen=True, eq=False)
class Result:
    """The simulated motion with what happened on the way.

    motion           the simulated Motion: same frames, fps and bodies as the source
    torques          (frames, n, 3) what the joint's drive applies, body axes [N m]
    forces           (frames, n, 3) what the drive of a root applies, world axes [N];
                     zero for all other bodies
    velocities       (frames, nv) generalized velocity at each frame [rad/s, m/s]
    warnings         plain sentences for the user
    """

    motion: Motion
    torques: np.ndarray
    forces: np.ndarray
    velocities: np.ndarray
    warnings: tuple[str, ...] = field(default=())


@dataclass(frozen=True, eq=False)
class Progress:
    """One report of `simulate_iter`: frames done of all, and at the end the result."""

    done: int
    total: int
    result: Result | None = None
