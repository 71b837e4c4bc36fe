"""How long compiling takes: told early, and near to what it then takes, on slow and fast machines."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from engine import build
from engine.build_clock import COSTS, SMALL, Clock, finish_times


def stages() -> list:
    return [
        (word, build.PARTS[word], {one: build._calls(one, set(build.PARTS[word])) for one in build.PARTS[word]})
        for word in build.WAITED_FOR
    ]


def test_every_cost_is_one_of_a_kernel():
    for word, costs in COSTS.items():
        assert set(costs) <= {each.__name__ for each in build.PARTS[word]}


def test_kernels_wait_for_those_they_call():
    for word, order, needs in stages():
        times = finish_times(order, needs, COSTS[word], SMALL[word], 2)
        assert set(times) == set(order)
        for each, others in needs.items():
            assert all(times[other] < times[each] for other in others)
    one, two = (max(finish_times(order, needs, COSTS[word], SMALL[word], n).values()) for n in (1, 2))
    assert 0.5 * one <= two < one


@pytest.mark.parametrize("speed", [0.5, 1.0, 8.0])
@pytest.mark.parametrize("children", [1, 2, 4])
def test_the_estimate_is_near(speed, children):
    """Every kernel takes up to half as long again or as short; the machine is slower all through."""
    rng = np.random.default_rng(int(10 * speed) + children)
    clock, events = [0.0], []
    watch = Clock(stages(), children, lambda: clock[0])
    start = 0.0
    for word, order, needs in stages():
        costs = {
            each.__name__: COSTS[word].get(each.__name__, SMALL[word]) * speed * rng.uniform(0.67, 1.5)
            for each in order
        }
        times = finish_times(order, needs, costs, 0.0, children)
        events += [(start + when, word, each.__name__, each) for each, when in times.items()]
        start += max(times.values())
    heapq.heapify(events)
    whole, before = start, 0.0
    while events:
        when, word, _, function = heapq.heappop(events)
        for now in np.linspace(clock[0], when, 4)[:-1]:  # also while a long kernel is at it
            clock[0] = now
            done, left = watch.progress()
            assert done >= before - 0.02
            before = max(before, done)
            if now > 0.1 * whole:
                assert left is not None
                assert abs(left - (whole - now)) < 0.3 * whole + 1.0, f"{now:.0f} of {whole:.0f} s: {left:.0f} s left"
            if now > 0.75 * whole:
                assert abs(left - (whole - now)) < 0.15 * whole + 1.0
        clock[0] = when
        watch.tell(word, function)
    assert watch.progress().done == pytest.approx(1.0)
    assert watch.progress().left == pytest.approx(0.0, abs=1e-9)
