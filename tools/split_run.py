"""Several pytest processes share one run: each takes the next test file that no other has taken.

Owns who runs what: a pytest plugin (`-p tools.split_run`), at work where $HEFT_TEST_TAKEN names a folder that the
processes share. Must not know the suites, nor how many processes there are. A file stays whole, because its fixtures
are shared by its tests.
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
        return None  # pytest's own loop, which also tells of what could not be collected
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
    """The tests of this process's files, each file taken when its turn comes."""
    for path, tests in groupby(items, key=lambda item: item.path):
        mark = folder / hashlib.sha256(str(path).encode()).hexdigest()
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            continue
        yield from tests
