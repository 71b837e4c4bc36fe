"""Measure how long simulations take, and estimate the next one.

Owns the measured times of each shot, in this session. Must not simulate.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass

import bpy

from ..blender import background_thread
from ..memory import LOAD, REMOVE, Memo

# Time for a bone on a frame, before anything was measured [s].
GUESS = 5e-6


@dataclass(frozen=True, eq=False)
class Cost:
    """frames: of the shot; first: the frame (counted from 0) that it continued from; reading and simulating: work
    [s]."""

    frames: int
    first: int
    reading: float
    simulating: float


# By the leader of the shot.
_last: Memo[int, Cost] = Memo("times of simulations", "rig", (LOAD, REMOVE))


class Clock:
    """Measures one simulation: the work on it, without what the window does between its steps."""

    def __init__(self) -> None:
        self.work = self.reading = 0.0
        self._since, self._beside = time.perf_counter(), background_thread.worked()

    def watch(self, steps: Generator) -> Generator:
        """Forward the steps of a generator and add up the time within them. Background computations count
        separately."""
        try:
            while True:
                self._since = time.perf_counter()
                step = next(steps)
                self.work += time.perf_counter() - self._since
                yield step
        except StopIteration as stop:
            return stop.value
        finally:
            steps.close()

    def total(self) -> float:
        """Work so far, called within a step [s]."""
        return self.work + time.perf_counter() - self._since + background_thread.worked() - self._beside

    def start_simulating(self) -> None:
        """Everything before counts as reading."""
        self.reading = self.total()


def note(leader: bpy.types.Object, clock: Clock, frames: int, first: int) -> None:
    """Store the cost of a simulation."""
    _last[leader.session_uid] = Cost(frames, first, clock.reading, clock.total() - clock.reading)


def last(leader: bpy.types.Object) -> Cost | None:
    """The cost of the shot's last simulation in this session."""
    return _last.get(leader.session_uid)


def foreseen(leader: bpy.types.Object, frames: int, bones: int) -> float:
    """Estimated time to simulate all of a shot, without reading [s]."""
    known = last(leader)
    if known is None:
        return GUESS * frames * bones
    return known.simulating * frames / max(known.frames - known.first, 1)
