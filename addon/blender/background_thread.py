"""One background thread for computations that do not touch bpy, so that the window stays responsive.

Owns the thread, and how a generator waits for it. Jobs must not touch bpy. The engine's kernels and numpy release
Python's lock, so the window stays responsive meanwhile. Jobs run one after the other: a job that starts after another
was cancelled waits for its end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from ..memory import Value

Given = TypeVar("Given")

_pool: Value[ThreadPoolExecutor | None] = Value("background thread", lambda: None)
# Total working time of the thread, up to the end of its last job [s].
_worked = Value("time of the background thread", float)


def run(work: Callable[[], Given]) -> Generator[None, None, Given]:
    """Run a job on the thread. Yields while it runs, returns its result. If the generator is closed early, the result
    is dropped."""
    future = _begin(work)
    while not future.done():
        yield
    return future.result()


def walk(steps: Iterator[Given]) -> Generator[Given | None, None, None]:
    """Run an iterator on the thread. Yields its latest value, and always the last one. If the generator is closed
    early, the iterator stops after its current step."""
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
    """Wait until the thread is idle: a cancelled job may still hold a resource that is needed."""
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
    """Total working time of the thread, up to the end of its last job [s]."""
    return _worked.value


def end() -> None:
    """Wait for the current job and end the thread."""
    if _pool.value is not None:
        _pool.value.shutdown(wait=True)
        _pool.value = None
