"""One background thread for computations that do not touch bpy, so that the window stays responsive.

Owns the one thread and how a generator waits for it. What is given to it must not touch bpy. The engine's
kernels and numpy run without Python's lock, so the window goes on meanwhile. One thread does one thing after the
other: what is begun after something was dropped comes after its end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from ..memory import Value

Given = TypeVar("Given")

_pool: Value[ThreadPoolExecutor | None] = Value("background thread", lambda: None)
# [s], up to the end of what it did last.
_worked = Value("time of the background thread", float)


def run(work: Callable[[], Given]) -> Generator[None, None, Given]:
    """Do the work beside; yields while it goes on, returns what it gives. Closed half way, nobody waits for it."""
    future = _begin(work)
    while not future.done():
        yield
    return future.result()


def walk(steps: Iterator[Given]) -> Generator[Given | None, None, None]:
    """Go through an iterator beside; yields its latest value, the last one for certain. Closed half way, the
    iterator goes no further than the step it is in."""
    latest: list[Given] = []
    stopped = False

    def work() -> None:
        for value in steps:
            latest[:] = [value]
            if stopped:
                break

    future = _begin(work)
    try:
        while not future.done():
            yield latest[0] if latest else None
        future.result()
        yield latest[0]
    finally:
        stopped = True


def wait() -> None:
    """Wait until nothing is being done beside: what was left half way may yet hold what is wanted."""
    if _pool.value is not None:
        _pool.value.submit(int).result()


def _begin(work: Callable[[], Given]) -> Future:
    if _pool.value is None:
        _pool.value = ThreadPoolExecutor(max_workers=1, thread_name_prefix="Heft")
    return _pool.value.submit(_timed, work)


def _timed(work: Callable[[], Given]) -> Given:
    start = time.perf_counter()
    try:
        return work()
    finally:
        _worked.value += time.perf_counter() - start


def worked() -> float:
    """How long the thread has worked in all, up to the end of what it did last [s]."""
    return _worked.value


def end() -> None:
    """Wait for what is being done, and let the thread go."""
    if _pool.value is not None:
        _pool.value.shutdown(wait=True)
        _pool.value = None
