"""Pytest plugin: several processes share one run. Each takes the next test file that no other process has taken.

Owns the distribution of test files (`-p tools.split_run`). It is active if $HEFT_TEST_TAKEN names a folder that the
processes share; a file there marks (locks) a taken test file. Must not know the suites, or the number of processes. A
test file is never divided, because its tests share fixtures.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

FOLDER = "HEFT_TEST_TAKEN"


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    folder = os.environ.get(FOLDER)
    if not folder or session.testsfailed or session.config.option.collectonly:
        return None  # pytest's own loop, which also reports collection errors
    own = own_tests(session.items, Path(folder))
    item = next(own, None)
    while item is not None:
        following = next(own, None)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        item = following
    return True


def own_tests(items: list[pytest.Item], folder: Path) -> Iterator[pytest.Item]:
    """The tests of this process's files. A file is taken (locked) when the iteration reaches it."""
    for path, tests in groupby(items, key=lambda item: item.path):
        mark = folder / hashlib.sha256(str(path).encode()).hexdigest()
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            continue
        yield from tests
