"""Separate kernels called by name: whatever of the cache is there, what is loaded finds what it calls."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

import engine

SOURCE = """
from engine.compile import decorators as jit

@jit.separate
def inner(a, x):
    for i in range(len(a)):
        a[i] += x * i
    return a[1]

@jit.separate
def outer(a, x):
    return 2.0 * inner(a, x)

@jit.kernel
def helper(a, x):
    return outer(a, x) + 1.0

@jit.entry_point
def top(a, x):
    return helper(a, x)
"""
ASK = """
import numpy as np
import kernels_at_work as p
a = np.zeros(5)
print(p.top(a, 2.0), a.tolist())
"""
# Too long to be merged into its callers: each has a copy of it.
COPIED = """
from engine.compile import decorators as jit

@jit.kernel
def copied(a, x):
LINES
    return x + ADDEND
""".replace("LINES", "\n".join(f"    for i in range(len(a)):\n        x += a[i] * (x - {k}.0)" for k in range(40)))
CALLERS = """
from engine.compile import decorators as jit
from copied_kernel import copied

@jit.entry_point
def first(a):
    return copied(a, 0.0) + copied(a, 0.0)

@jit.entry_point
def second(a):
    return copied(a, 0.0) + copied(a, 0.0)
"""
SEEDS = itertools.count(1)
ANSWER = "5.0 [0.0, 2.0, 4.0, 6.0, 8.0]"


@pytest.fixture
def home(tmp_path) -> Path:
    (tmp_path / "kernels_at_work.py").write_text(SOURCE)
    return tmp_path


def _start(home: Path, before: str = "", ask: str = ASK) -> subprocess.Popen:
    # names must not depend on the order of sets, which differs from one process to the next
    env = {
        **os.environ,
        "HEFT_CACHE": str(home / "cache"),
        "PYTHONPATH": str(Path(engine.__file__).parents[1]),
        "PYTHONHASHSEED": str(next(SEEDS)),
    }
    return subprocess.Popen(
        [sys.executable, "-c", before + ask],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home,
        env=env,
    )


def _answer(process: subprocess.Popen) -> str:
    out, errors = process.communicate()
    assert process.returncode == 0, errors
    return out.strip()


def _forget(home: Path, name: str) -> None:
    files = [path for path in (home / "cache").rglob("*") if name in path.name]
    assert files
    for path in files:
        path.unlink()


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    """A home whose cache is filled, and left so by every test that has it."""
    home = tmp_path_factory.mktemp("filled")
    (home / "kernels_at_work.py").write_text(SOURCE)
    assert _answer(_start(home)) == ANSWER
    return home


def test_what_is_loaded_finds_the_kernels_it_calls(filled):
    assert _answer(_start(filled)) == ANSWER
    assert len(list((filled / "cache").rglob("*.nbc"))) == 4


@pytest.mark.parametrize("name", ["inner", "outer", "helper", "top"])
def test_a_gap_in_the_cache_is_filled(filled, name):
    """A caller loaded from the cache calls by name what is compiled anew."""
    _forget(filled, name)
    for _ in range(2):
        assert _answer(_start(filled)) == ANSWER


def test_two_processes_fill_the_same_cache(home):
    """Two Blenders start at once: each may load what the other compiled."""
    first, second = _start(home), _start(home, "import numba; numba.njit(lambda x: x)(1.0)\n")
    assert _answer(first) == _answer(second) == ANSWER
    _forget(home, "top")
    for _ in range(2):
        assert _answer(_start(home)) == ANSWER


def test_another_numba_is_left_alone(home):
    """Only the version known is reached into; another compiles as it always did."""
    for _ in range(2):
        assert _answer(_start(home, "import numba; numba.__version__ = '0.61.2'\n")) == ANSWER


def test_a_kernel_calls_its_own_copy_of_another(home):
    """Copies of a kernel can differ in their last bits; it must not matter which of them is loaded first.

    Here they differ more: what is copied changes between compiling the one caller and the other.
    """
    ask = "import numpy as np; import kernels_at_work as p; print(*[each(np.zeros(5)) for each in ({},)])".format
    callers = [f"p.{each}" for each in ("first", "second")]
    (home / "kernels_at_work.py").write_text(CALLERS)
    for addend, caller, answer in (("1.0", callers[0], "2.0"), ("10.0", callers[1], "20.0")):
        (home / "copied_kernel.py").write_text(COPIED.replace("ADDEND", addend))
        assert _answer(_start(home, ask=ask(caller))) == answer
    assert _answer(_start(home, ask=ask(", ".join(callers)))) == "2.0 20.0"
    assert _answer(_start(home, ask=ask(", ".join(callers[::-1])))) == "20.0 2.0"
    _forget(home, "second")  # a process that compiles has `copied` itself loaded besides its copies
    assert _answer(_start(home, ask=ask(", ".join(callers[::-1])))) == "20.0 2.0"
