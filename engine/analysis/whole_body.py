"""World poses of a motion, centre of mass, momentum, zero-moment point.

Owns quantities that follow from poses, masses and time alone. Must not know controllers, contacts or how a motion was
made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..math import quaternions as rot
from ..model.model import Model
from ..model.motion import Motion

# The zero-moment point is undefined if the ground carries less than this share of the weight.
LEAST_BORNE = 0.1


def world_poses(model: Model, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """World poses of the bodies: (frames, n, 3) positions [m] and (frames, n, 4) rotations."""
    depths = np.zeros(len(model), dtype=int)
    for body, parent in enumerate(model.parents):
        depths[body] = depths[parent] + 1 if parent >= 0 else 0
    turns = rot.multiply(model.rest_rotations[None], motion.rotations)
    places = motion.positions.copy()
    for depth in range(1, int(depths.max()) + 1):
        bodies = np.flatnonzero(depths == depth)
        above = turns[:, model.parents[bodies]]
        places[:, bodies] = places[:, model.parents[bodies]] + rot.rotate(above, places[:, bodies])
        turns[:, bodies] = rot.multiply(above, turns[:, bodies])
    return places, turns


@dataclass(frozen=True, eq=False)
class WholeBody:
    """All bodies of a motion together.

    mass            [kg]
    centers         (frames, 3) centre of mass [m]
    velocities      (frames, 3) [m/s]
    accelerations   (frames, 3) [m/s²]
    turning         (frames, 3) rate of the angular momentum about the centre of mass [N m]
    """

    mass: float
    centers: np.ndarray
    velocities: np.ndarray
    accelerations: np.ndarray
    turning: np.ndarray

    @classmethod
    def of(cls, model: Model, places: np.ndarray, turns: np.ndarray, fps: float) -> WholeBody:
        """From places (frames, n, 3) and rotations (frames, n, 4). Rates are central differences, exact for constant
        acceleration."""
        masses = model.masses / model.masses.sum()
        spots = places + rot.rotate(turns, model.centers[None])
        centers = np.einsum("n,fni->fi", masses, spots)
        if len(places) < 3:
            still = np.zeros_like(centers)
            moved = np.repeat(np.diff(centers, axis=0) * fps, 2, axis=0) if len(places) == 2 else still
            return cls(model.total_mass, centers, moved, still, still)
        between = np.diff(centers, axis=0) * fps
        accelerations = _at_frames(np.diff(between, axis=0) * fps)
        velocities = np.empty_like(centers)
        velocities[1:-1] = 0.5 * (between[1:] + between[:-1])
        velocities[0] = between[0] - 0.5 * accelerations[0] / fps
        velocities[-1] = between[-1] + 0.5 * accelerations[-1] / fps
        turning = _at_frames(np.diff(_angular_momentum(model, spots, centers, turns, fps), axis=0) * fps)
        return cls(model.total_mass, centers, velocities, accelerations, turning)

    def zero_moment_points(self, gravity: np.ndarray, height: float) -> np.ndarray:
        """(frames, 3) zero-moment points (S4, eq. 11): where a single force on level ground makes the motion. nan where
        the ground carries no weight, as in flight. gravity (3,) [m/s²]; height of the ground [m]."""
        force = self.mass * (self.accelerations - gravity)
        moment = self.turning + np.cross(self.centers, force)
        borne = force[:, 2] > LEAST_BORNE * self.mass * np.linalg.norm(gravity)
        out = np.full_like(self.centers, np.nan)
        f, m = force[borne], moment[borne]
        out[borne, 0] = (height * f[:, 0] - m[:, 1]) / f[:, 2]
        out[borne, 1] = (height * f[:, 1] + m[:, 0]) / f[:, 2]
        out[borne, 2] = height
        return out


def ballistic(place: np.ndarray, velocity: np.ndarray, gravity: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(k, 3) ballistic path at times (k,) [s], from position (3,) [m] and velocity (3,) [m/s]."""
    t = np.asarray(times, dtype=float)[:, None]
    return place + velocity * t + 0.5 * np.asarray(gravity, dtype=float) * t * t


def _at_frames(inner: np.ndarray) -> np.ndarray:
    """Values at inner frames, with the first and last repeated for the end frames."""
    return np.concatenate([inner[:1], inner, inner[-1:]])


def _angular_momentum(model: Model, spots, centers, turns, fps: float) -> np.ndarray:
    """(frames − 1, 3) angular momentum about the centre of mass, half way between two frames."""
    arms = 0.5 * (spots[1:] + spots[:-1]) - 0.5 * (centers[1:] + centers[:-1])[:, None]
    speeds = fps * (np.diff(spots, axis=0) - np.diff(centers, axis=0)[:, None])
    orbital = np.einsum("n,fni->fi", model.masses, np.cross(arms, speeds))
    step = rot.log(rot.multiply(turns[1:], rot.conjugate(turns[:-1])))
    middle = rot.multiply(rot.exp(0.5 * step), turns[:-1])
    own = np.einsum("nij,fnj->fni", model.inertias, rot.rotate(rot.conjugate(middle), fps * step))
    return orbital + rot.rotate(middle, own).sum(axis=1)
