"""Shared by the engine's tests: the helpers' folder on the path, and a record of every figure measured."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
for folder in (HERE.parents[1], HERE):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

# pytest names this folder's modules engine.test_… and puts an empty module `engine` in
# their way: make room for the real one.
if getattr(sys.modules.get("engine"), "__file__", None) is None:
    sys.modules.pop("engine", None)
import engine  # noqa: E402, F401

LINES = pytest.StashKey[list]()


class Figures:
    """Keeps what a test measured, for the summary, and holds it to its limit."""

    def __init__(self, lines: list[str]):
        self.lines = lines

    def note(self, what: str, value) -> None:
        """A number worth reading that no limit is set for."""
        text = value if isinstance(value, str) else f"{value:.4g}"
        self.lines.append(f"{what}: {text}")
        print(self.lines[-1])

    def __call__(self, what: str, value: float, limit: float) -> None:
        """A number that must not exceed its limit; not-a-number does."""
        value = float(value)
        self.note(what, f"{value:.4g} (limit {limit:.4g})")
        assert np.isfinite(value) and value <= limit, self.lines[-1]


def pytest_configure(config) -> None:
    config.stash[LINES] = []


@pytest.fixture
def figure(request) -> Figures:
    return Figures(request.config.stash[LINES])


@pytest.fixture
def rng(request) -> np.random.Generator:
    """Random numbers of the test's own, the same at every run."""
    return np.random.default_rng(list(request.node.name.encode()))


def pytest_terminal_summary(terminalreporter, config) -> None:
    lines = config.stash.get(LINES, [])
    if lines:
        terminalreporter.section("engine: figures measured")
        for line in lines:
            terminalreporter.write_line(line)
