"""The output of a simulation.

Owns `Result` and `Progress`. Must not know how they were computed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from .motion import Motion

MISSED = np.radians(0.5)  # a key with a larger error is reported to the user


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contact forces, k contacts in all.

    frames      (k,) index of the frame
    a, b        (k,) names of the bodies; 'the world' for the ground
    points      (k, 3) [m]
    normals     (k, 3) unit, from b to a
    forces      (k, 3) on a [N], the mean over the step before the frame
    """

    frames: np.ndarray
    a: tuple[str, ...]
    b: tuple[str, ...]
    points: np.ndarray
    normals: np.ndarray
    forces: np.ndarray

    def part(self, rows: np.ndarray) -> Contacts:
        """The contacts of some frames, given as indices in any order."""
        which = [np.flatnonzero(self.frames == row) for row in rows]
        frames = np.repeat(np.arange(len(rows)), [len(each) for each in which])
        k = np.concatenate(which).astype(np.int64)
        names = (tuple(side[i] for i in k) for side in (self.a, self.b))
        return Contacts(frames, *names, self.points[k], self.normals[k], self.forces[k])


@dataclass(frozen=True, eq=False)
class Arrivals:
    """How the physical keys were met, by time (On Time).

    bodies      (k,) names
    frames      (k,) the keys' times, as in the motion
    angles      (k,) error of the pose [rad]
    rates       (k,) error of the velocity [rad/s]
    """

    bodies: tuple[str, ...]
    frames: np.ndarray
    angles: np.ndarray
    rates: np.ndarray

    def between(self, first: float, last: float) -> Arrivals:
        """The arrivals after `first` and up to `last`."""
        kept = np.flatnonzero((self.frames > first) & (self.frames <= last))
        names = tuple(self.bodies[k] for k in kept)
        return Arrivals(names, self.frames[kept], self.angles[kept], self.rates[kept])

    def missed(self, angle: float = MISSED) -> list[tuple[str, float, float]]:
        """Body, frame and error in degrees of the keys that were missed, the largest error first."""
        found = [
            (b, float(f), float(np.degrees(a))) for b, f, a in zip(self.bodies, self.frames, self.angles, strict=True)
        ]
        return sorted((each for each in found if each[2] > np.degrees(angle)), key=lambda each: -each[2])


@dataclass(frozen=True, eq=False)
class ChannelValues:
    """The values of a controller's channel: (frames, n) by body, or (frames,) of the character; unit "" without one."""

    values: np.ndarray
    unit: str = ""


@dataclass(frozen=True, eq=False)
class Result:
    """The simulated motion with forces and channels.

    motion           the simulated Motion: same frames, fps and bodies as the source
    torques          (frames, n, 3) of the joints' drives, body axes [N m]
    forces           (frames, n, 3) of the roots' drives, world axes [N]; 0 for all other bodies
    velocities       (frames, nv) generalized velocity at each frame [rad/s, m/s]
    objects          motion of the scene's free colliders: name → positions (frames, 3) and rotations (frames, 4), the
                     same in every actor's result
    contacts         of the whole scene, the same in every actor's result
    arrivals         how the keys were met
    channels         values of the controller's channels, by name
    warnings         plain sentences for the user
    """

    motion: Motion
    torques: np.ndarray
    forces: np.ndarray
    velocities: np.ndarray
    objects: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    contacts: Contacts | None = None
    arrivals: Arrivals | None = None
    channels: dict[str, ChannelValues] = field(default_factory=dict)
    warnings: tuple[str, ...] = field(default=())

    def part(self, rows: np.ndarray) -> Result:
        """The same for some of its frames, given as indices in any order; arrivals are those between them."""
        motion = dataclasses.replace(
            self.motion,
            rotations=self.motion.rotations[rows],
            positions=self.motion.positions[rows],
            stepped=self.motion.stepped[rows],
            frame_start=self.motion.frame_start + int(rows[0]),
        )
        return dataclasses.replace(
            self,
            motion=motion,
            torques=self.torques[rows],
            forces=self.forces[rows],
            velocities=self.velocities[rows],
            objects={name: (places[rows], turns[rows]) for name, (places, turns) in self.objects.items()},
            channels={
                name: dataclasses.replace(each, values=each.values[rows]) for name, each in self.channels.items()
            },
            contacts=self.contacts.part(rows) if self.contacts is not None else None,
            arrivals=self.arrivals.between(motion.frame_start, self.motion.frame_start + int(rows.max()))
            if self.arrivals is not None
            else None,
        )


@dataclass(frozen=True, eq=False)
class Progress:
    """One report of `simulate_iter`: frames done and total, and at the end the result (of the first actor, and of
    all)."""

    done: int
    total: int
    result: Result | None = None
    results: tuple[Result, ...] = ()
