"""Trajectory of a thrown ball: start and speed so that it arrives on a frame.

Owns the closed form. Must not know Blender, rigs, nor how a ball is simulated. Vectors in metres, seconds and the
world's axes, Z up.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from ..errors import RigError

# A shorter flight would not be visible [frames].
SHORTEST_FLIGHT = 2


@dataclass(frozen=True, eq=False)
class Throw:
    """A flight under gravity alone.

    release, hit   frames of release and arrival
    place          (3,) point of release [m]
    velocity       (3,) velocity there [m/s]
    gravity        (3,) [m/s²]
    fps            frames a second
    """

    release: int
    hit: int
    place: np.ndarray
    velocity: np.ndarray
    gravity: np.ndarray
    fps: float

    def place_at(self, frame: float) -> np.ndarray:
        """(3,) position on a frame [m]; before the release on a straight line towards it."""
        t = (frame - self.release) / self.fps
        fall = 0.5 * self.gravity * t * t if t > 0.0 else 0.0
        return self.place + self.velocity * t + fall

    def velocity_at(self, frame: float) -> np.ndarray:
        """(3,) velocity on a frame from the release on [m/s]."""
        return self.velocity + self.gravity * (frame - self.release) / self.fps


def flight(wanted: int, distance: float, speed: float, fps: float, first: int, last: int) -> tuple[int, int]:
    """The frames of release and hit: the hit on the wanted frame, or on the earliest possible one within the shot.

    The frame before the release is in the shot too, because it defines the ball's speed.
    """
    room = last - first - 1
    if room < SHORTEST_FLIGHT:
        raise RigError(
            f"The shot has {last - first + 1} frames, from {first} to {last}: too few for a ball to fly. "
            "Give the scene, or the range under Set Up, more."
        )
    frames = min(max(round(distance / speed * fps), SHORTEST_FLIGHT), room)
    hit = min(max(wanted, first + 1 + frames), last)
    return hit - frames, hit


def aim(target: np.ndarray, heading: np.ndarray, speed: float, gravity, frames: tuple[int, int], fps: float) -> Throw:
    """The throw that reaches `target` (3,) [m] on the second of the frames (release, hit), with the level speed `speed`
    [m/s] along `heading` (3,). It starts at the height at which it arrives.

    From x(t) = x₀ + v₀ t + g t²/2 and x(T) = target: v₀ = (target − x₀)/T − g T/2.
    """
    gravity = np.asarray(gravity, dtype=np.float64)
    time = (frames[1] - frames[0]) / fps
    place = target - heading * speed * time
    return Throw(*frames, place, (target - place) / time - 0.5 * gravity * time, gravity, fps)


def lifted(throw: Throw, lowest: float) -> Throw:
    """The same throw to the same target, released no lower than `lowest` [m]."""
    up = lowest - throw.place[2]
    if up <= 0.0:
        return throw
    time = (throw.hit - throw.release) / throw.fps
    rise = np.array([0.0, 0.0, up])
    return dataclasses.replace(throw, place=throw.place + rise, velocity=throw.velocity - rise / time)


def sooner(throw: Throw, frames: float) -> Throw:
    """The same throw, advanced by this many frames."""
    return dataclasses.replace(throw, place=throw.place + throw.velocity_at(throw.hit) * frames / throw.fps)


def heading_from(front: np.ndarray, angle: float) -> np.ndarray:
    """(3,) level direction of a ball that comes from `angle` [rad] around a character facing `front` (3,): 0 from its
    front, a quarter turn from its left."""
    c, s = math.cos(angle), math.sin(angle)
    return -np.array([c * front[0] - s * front[1], s * front[0] + c * front[1], 0.0])


def angle_of(front: np.ndarray, came_from: np.ndarray) -> float | None:
    """The angle [rad] for `heading_from` of a ball that comes from that direction (3,); None if it is vertical."""
    level = np.asarray(came_from, dtype=np.float64)[:2]
    if np.linalg.norm(level) < 0.2 * np.linalg.norm(came_from):
        return None
    turn = math.atan2(level[1], level[0]) - math.atan2(front[1], front[0])
    return math.remainder(turn, 2.0 * math.pi)
