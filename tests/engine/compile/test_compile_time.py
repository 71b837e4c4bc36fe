"""How long compiling takes: told early, and near to what it then takes, on slow and fast machines."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from engine.compile import precompile
from engine.compile.compile_time import Clock, finish_times


def stages() -> list:
    return [precompile.stage_of(word) for word in precompile._waited_for()]


def test_every_cost_is_one_of_a_kernel():
    for suite in precompile.SUITES.values():
        assert set(suite.costs) <= {each.__name__ for each in suite.kernels}


def test_kernels_wait_for_those_they_call():
    for _, order, needs, costs, small in stages():
        times = finish_times(order, needs, costs, small, 2)
        assert set(times) == set(order)
        for each, others in needs.items():
            assert all(times[other] < times[each] for other in others)
    one, two = (max(finish_times(order, needs, costs, small, n).values()) for n in (1, 2))
    assert 0.5 * one <= two < one


def watch_build(speed: float, children: int, seed: int) -> list[tuple[float, float, float | None]]:
    """(now, whole, estimate of what is left) [s] all through a build.

    Every kernel takes up to half as long again or as short; the machine is slower all through by speed.
    """
    rng = np.random.default_rng(seed)
    clock, events = [0.0], []
    watch = Clock(stages(), children, lambda: clock[0])
    start = 0.0
    for word, order, needs, known, small in stages():
        costs = {each.__name__: known.get(each.__name__, small) * speed * rng.uniform(0.67, 1.5) for each in order}
        times = finish_times(order, needs, costs, 0.0, children)
        events += [(start + when, word, each.__name__, each) for each, when in times.items()]
        start += max(times.values())
    heapq.heapify(events)
    whole, before, out = start, 0.0, []
    while events:
        when, word, _, function = heapq.heappop(events)
        for now in np.linspace(clock[0], when, 4)[:-1]:  # also while a long kernel is at it
            clock[0] = now
            done, left = watch.progress()
            assert done >= before - 0.02
            before = max(before, done)
            out.append((now, whole, left))
        clock[0] = when
        watch.tell(word, function)
    assert watch.progress().done == pytest.approx(1.0)
    assert watch.progress().left == pytest.approx(0.0, abs=1e-9)
    return out


@pytest.mark.parametrize("speed", [0.5, 1.0, 8.0])
@pytest.mark.parametrize("children", [1, 2, 4])
def test_the_estimate_is_near(speed, children):
    """Over 20 builds: 19 of 20 estimates are near, and none is off by more than the kernels' costs may be.

    The first kernels alone tell how fast the machine is, so a single early estimate may be off by as much as they are.
    """
    seen = [each for seed in range(20) for each in watch_build(speed, children, seed) if each[0] > 0.1 * each[1]]
    assert all(left is not None for _, _, left in seen)
    off = np.array([(abs(left - (whole - now)) - 1.0) / whole for now, whole, left in seen])
    late = np.array([now > 0.75 * whole for now, whole, _ in seen])
    assert np.quantile(off, 0.95) < 0.3
    assert np.quantile(off[late], 0.95) < 0.15
    assert off.max() < 1.5 / 0.67 - 1.0
