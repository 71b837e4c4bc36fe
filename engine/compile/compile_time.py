"""Estimate how long compiling the kernels still takes.

Owns the order in which children get through the kernels, and the estimate made of it and of what each costs. Must not
compile anything.

Kernels differ a hundredfold, and the last ones wait for one another: counting them tells little. So the whole work is
gone through beforehand, with measured costs and as many children as there are. That gives a timeline. How fast the
machine is shows in how much time it has taken to come as far as it is on that timeline.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

# Until this part of the work is done nobody knows how fast the machine is.
TOO_EARLY = 0.05


class BuildProgress(NamedTuple):
    """done: from 0 to 1; left: seconds until it is done, None where that is not known yet."""

    done: float
    left: float | None


def finish_times(
    order: Sequence[Callable], needs: Mapping[Callable, set], costs: Mapping[str, float], small: float, children: int
) -> dict[Callable, float]:
    """When each of the functions is compiled, if children take the first that needs nothing more [s]."""
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
    """Kernels in the order in which they are compiled, what each waits for, and what they cost [s]; only the ratios of
    costs matter, and one that is not among them counts as a small one."""

    word: str
    kernels: Sequence[Callable]
    needs: Mapping[Callable, set]
    costs: Mapping[str, float]
    small: float


class Clock:
    """Where the work stands on its timeline, and how fast it goes along it; stages in their order."""

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
        # Of the last kernel: where on the timeline that was, and after how many seconds.
        self._reached, self._passed = 0.0, 0.0

    def tell(self, word: str, function: Callable) -> None:
        """It is compiled. Children are told of by several threads."""
        with self._lock:
            self._open.discard((word, function))
            done = [when for each, when in self._times.items() if each not in self._open]
            reached = min(max(done), self._next())
            if reached > self._reached:
                self._reached, self._passed = reached, self._now() - self._started

    def _next(self) -> float:
        """Where on the timeline the next kernel would be done."""
        return min((self._times[each] for each in self._open), default=self._whole)

    def progress(self) -> BuildProgress:
        """How far it is, and how long it still takes."""
        with self._lock:
            passed, reached, at, next_one = self._now() - self._started, self._reached, self._passed, self._next()
        if reached < TOO_EARLY * self._whole or at <= 0.0:
            return BuildProgress(reached / self._whole, None)
        speed = at / reached
        # Since then it has gone on, but not past the next kernel; one that takes longer makes all the rest so.
        here = min(reached + (passed - at) / speed, next_one)
        if here == next_one:
            speed = max(speed, passed / here)
        return BuildProgress(here / self._whole, (self._whole - here) * speed)
