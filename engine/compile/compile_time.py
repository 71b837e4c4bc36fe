"""Estimate how long compiling the kernels still takes.

Owns the simulated order in which child processes compile the kernels, and the estimate from it and the kernels' costs.
Must not compile anything.

Kernels differ a hundredfold, and the last ones wait for one another, so counting them is a poor estimate. Instead the
whole work is simulated beforehand, with measured costs and the number of children. That gives a timeline. The machine's
speed is the progress along that timeline so far.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

# Before this part of the work is done the machine's speed is unknown.
TOO_EARLY = 0.05


class BuildProgress(NamedTuple):
    """done: from 0 to 1; left: remaining seconds, None if unknown."""

    done: float
    left: float | None


def finish_times(
    order: Sequence[Callable], needs: Mapping[Callable, set], costs: Mapping[str, float], small: float, children: int
) -> dict[Callable, float]:
    """Finish time of each function if children take the first one whose dependencies are compiled [s]."""
    left, open_needs = list(order), {each: set(needs[each]) for each in order}
    busy: list[tuple[float, int, Callable]] = []
    now, out = 0.0, {}
    while left or busy:
        ready = [each for each in left if not open_needs[each]]
        while ready and len(busy) < children:
            each = ready.pop(0)
            left.remove(each)
            heapq.heappush(busy, (now + costs.get(each.__name__, small), len(left), each))
        now, _, done = heapq.heappop(busy)
        out[done] = now
        for others in open_needs.values():
            others.discard(done)
    return out


class Stage(NamedTuple):
    """Kernels in the order of compilation, their dependencies, and their costs [s]. Only ratios of costs matter; a
    kernel without a cost counts as a small one."""

    word: str
    kernels: Sequence[Callable]
    needs: Mapping[Callable, set]
    costs: Mapping[str, float]
    small: float


class Clock:
    """The position on the timeline, and the speed along it; stages in their order."""

    def __init__(self, stages: Sequence[Stage], children: int, now=time.monotonic):
        self.words = tuple(stage.word for stage in stages)
        self._now, self._started, self._lock = now, now(), threading.Lock()
        self._times: dict[tuple[str, Callable], float] = {}
        start = 0.0
        for word, order, needs, costs, small in stages:
            times = finish_times(order, needs, costs, small, children)
            self._times.update({(word, each): start + when for each, when in times.items()})
            start += max(times.values(), default=0.0)
        self._whole = start
        self._open = set(self._times)
        # Of the last kernel: its position on the timeline, and the seconds since the start.
        self._reached, self._passed = 0.0, 0.0

    def tell(self, word: str, function: Callable) -> None:
        """A kernel was compiled. Several threads call this."""
        with self._lock:
            self._open.discard((word, function))
            done = [when for each, when in self._times.items() if each not in self._open]
            reached = min(max(done), self._next())
            if reached > self._reached:
                self._reached, self._passed = reached, self._now() - self._started

    def _next(self) -> float:
        """The position on the timeline of the next kernel's end."""
        return min((self._times[each] for each in self._open), default=self._whole)

    def progress(self) -> BuildProgress:
        """The progress and the remaining time."""
        with self._lock:
            passed, reached, at, next_one = self._now() - self._started, self._reached, self._passed, self._next()
        if reached < TOO_EARLY * self._whole or at <= 0.0:
            return BuildProgress(reached / self._whole, None)
        speed = at / reached
        # Assume progress since then, but not beyond the next kernel; a kernel that takes longer slows the estimate for
        # the rest.
        here = min(reached + (passed - at) / speed, next_one)
        if here == next_one:
            speed = max(speed, passed / here)
        return BuildProgress(here / self._whole, (self._whole - here) * speed)
