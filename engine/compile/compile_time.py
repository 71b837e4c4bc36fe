"""Estimate how long compiling the kernels still takes.

Owns what each kernel takes beside the others, the order in which children get through them, and the estimate made of
both. Must not compile anything.

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

# Seconds that a kernel took on one core; only their ratios matter. One that is not here counts as a small one.
COSTS = {
    "alone": {
        "aim_step": 4.1, "run_frames": 2.2, "velocities": 1.6, "keep_energy": 1.3, "give_in": 1.2,
        "prepare_factor": 1.1, "factorise": 1.0, "stages": 0.8, "step_load": 0.7, "turn_roots": 0.6,
        "measure_deflection": 0.6, "feed_forward": 0.6, "forward": 0.5, "solve": 0.5, "balance_roots": 0.4,
        "begin_frame": 0.4, "keep_appointments": 0.4, "second_half": 0.4, "brake_whirls": 0.4,
    },
    "touching": {
        "collide": 13.4, "collide_now": 8.7, "solve_island": 13.4, "close_ties": 5.7, "press": 5.4, "meet": 4.5,
        "carry_rows": 3.6, "balance_together": 2.3, "still_ties": 2.2, "time_of_impact": 2.1, "run_frames": 2.0,
        "keep_energy": 2.0, "brace": 1.7, "first_half": 1.6, "find_pairs": 1.5, "add_ties": 1.4, "lay_paths": 1.3,
        "give_in": 1.3, "turn_roots": 1.3, "place_roots": 1.3, "stages": 1.3, "strike": 1.2, "note_work": 1.2,
        "eliminate_ties": 1.2, "allow_source": 1.1, "add_limits": 1.0, "second_half": 1.0, "solve_ragdolls": 3.0,
        "lead_feet": 2.3, "let_return": 2.2,
    },
    "posing": {},
}  # fmt: skip
SMALL = {"alone": 0.2, "touching": 0.5, "posing": 1.0}
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


class Clock:
    """Where the work stands on its timeline, and how fast it goes along it.

    stages: (word, functions, needs) in the order in which they are compiled.
    """

    def __init__(self, stages: Sequence[tuple[str, Sequence[Callable], Mapping]], children: int, now=time.monotonic):
        self.words = tuple(word for word, _, _ in stages)
        self._now, self._started, self._lock = now, now(), threading.Lock()
        self._times: dict[tuple[str, Callable], float] = {}
        start = 0.0
        for word, order, needs in stages:
            times = finish_times(order, needs, COSTS[word], SMALL[word], children)
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
