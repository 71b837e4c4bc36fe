"""First contact of a ball in flight: body and time, checked before it is thrown.

Owns the search along the flight. Must not know Blender, nor what happens after the contact. Metres and frames.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...engine.geometry.shapes import Shape
from ...engine.math import rotations

# Step of the search [parts of the ball's radius]; the time of contact is then refined within a step.
STEP, HALVINGS = 0.3, 24


@dataclass(frozen=True, eq=False)
class Film:
    """Bodies with shapes on some consecutive frames: names (n,), shapes (n,) tuples, frames (f,), places (f, n, 3) [m],
    turns (f, n, 3, 3)."""

    names: tuple[str, ...]
    shapes: Sequence[Sequence[Shape]]
    frames: np.ndarray
    places: np.ndarray
    turns: np.ndarray

    @cached_property
    def _reaches(self) -> np.ndarray:
        """(n,) how far from its origin each body has shapes; minus infinity without any."""
        return np.array([max((shape.farthest() for shape in shapes), default=-np.inf) for shapes in self.shapes])

    def gaps(self, frame: float, spot: np.ndarray, near: float) -> np.ndarray:
        """(n,) distances of a point (3,) from each body on a frame [m]; infinite for a body farther than `near`."""
        row = min(max(frame - float(self.frames[0]), 0.0), len(self.frames) - 1.0)
        low = int(row)
        high, part = min(low + 1, len(self.frames) - 1), row - low
        places = (1.0 - part) * self.places[low] + part * self.places[high]
        out = np.full(len(self.names), np.inf)
        for b in np.flatnonzero(np.linalg.norm(places - spot, axis=1) <= self._reaches + near):
            turn = rotations.split((1.0 - part) * self.turns[low, b] + part * self.turns[high, b])[0]
            own = ((spot - places[b]) @ turn)[None]
            out[b] = min(float(shape.gaps(own)[0]) for shape in self.shapes[b])
        return out


@dataclass(frozen=True)
class Touch:
    """The body that is hit first, and when [frames]."""

    body: str
    frame: float


def first_touch(
    film: Film, ball: Callable[[float], np.ndarray], radius: float, first: float, last: float
) -> Touch | None:
    """The first contact of a ball at `ball(frame)` (3,) [m] between two frames; None if it misses."""
    way = float(np.linalg.norm(ball(last) - ball(first)))
    looks = max(int(np.ceil(way / (STEP * radius))), int(np.ceil(last - first)), 1)
    before = first
    for frame in np.linspace(first, last, looks + 1):
        if (film.gaps(frame, ball(frame), 2.0 * radius) <= radius).any():
            return _refined(film, ball, radius, before, float(frame))
        before = float(frame)
    return None


def _refined(film: Film, ball: Callable[[float], np.ndarray], radius: float, before: float, after: float) -> Touch:
    """The time of contact between a frame without and one with it, by bisection."""
    for _ in range(HALVINGS):
        middle = 0.5 * (before + after)
        if (film.gaps(middle, ball(middle), 2.0 * radius) <= radius).any():
            after = middle
        else:
            before = middle
    return Touch(film.names[int(film.gaps(after, ball(after), 2.0 * radius).argmin())], after)
