"""Tables: what kernels read and write through the one pointer is the arrays' own memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import engine

SOURCE = """
from typing import NamedTuple
import numpy as np
from engine.compile import decorators as jit

@jit.table
class Inner(NamedTuple):
    flags: np.ndarray
    cube: np.ndarray

@jit.table
class Outer(NamedTuple):
    line: np.ndarray
    inner: Inner
    square: np.ndarray

@jit.separate
def deep(inner, k):
    inner.cube[1, 0, k] += 100.0 * inner.cube.size
    return inner.flags[k]

@jit.kernel
def row_sum(row):
    total = 0.0
    for x in row:
        total += x
    return total

@jit.entry_point
def work(outer, k):
    for i in range(len(outer.line)):
        outer.line[i] += i
    total = 0.0
    for i in range(outer.square.shape[0]):
        total += row_sum(outer.square[i])
    outer.square[1, 2] = total
    return deep(outer.inner, k), outer.square.shape[1]

def table(line=4):
    inner = Inner(np.array([False, True, False]), np.arange(12.0).reshape(2, 2, 3))
    return Outer(np.zeros(line, dtype=np.int64), inner, np.arange(6.0).reshape(2, 3))
"""
ASK = """
import numpy as np
import tables_at_work as t
for line in (4, 7):
    outer = t.table(line)
    print(*map(int, t.work(outer, 1)), outer.line.tolist(), outer.square.tolist(), outer.inner.cube[1, 0].tolist())
"""
ANSWER = [
    "1 3 [0, 1, 2, 3] [[0.0, 1.0, 2.0], [3.0, 4.0, 15.0]] [6.0, 1207.0, 8.0]",
    "1 3 [0, 1, 2, 3, 4, 5, 6] [[0.0, 1.0, 2.0], [3.0, 4.0, 15.0]] [6.0, 1207.0, 8.0]",
]


@pytest.fixture
def home(tmp_path) -> Path:
    (tmp_path / "tables_at_work.py").write_text(SOURCE)
    return tmp_path


def _run(home: Path, code: str, **env: str) -> subprocess.CompletedProcess:
    path = str(Path(engine.__file__).parents[1])
    env = {**os.environ, "HEFT_CACHE": str(home / "cache"), "PYTHONPATH": path, **env}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=home, env=env)


@pytest.mark.parametrize("plain", ["0", "1"], ids=["compiled", "plain"])
def test_kernels_work_on_the_arrays_themselves(home, plain):
    """Freshly compiled, loaded from the cache, and without the compiler."""
    for _ in range(2):
        run = _run(home, ASK, NUMBA_DISABLE_JIT=plain)
        assert run.stdout.splitlines() == ANSWER, run.stderr


def test_an_array_out_of_order_is_refused(home):
    """Only where its first value is and its sizes are written down: an array with gaps would be misread."""
    run = _run(home, "import tables_at_work as t\nx = t.table()\nt.work(x._replace(square=x.square[:, ::2]), 1)")
    assert run.returncode == 1
    assert "'square' of the table 'Outer'" in run.stderr


def test_many_calls_leave_nothing_behind(home):
    lines = (
        "import sys, tables_at_work as t",
        "count = lambda: (sys.getrefcount(x), sys.getrefcount(x.line))",
        "x = t.table(); t.work(x, 1); before = count()",
        "for _ in range(1000): t.work(x, 1)",
        "print(before == count())",
    )
    assert _run(home, "\n".join(lines)).stdout.strip() == "True"


def test_a_copy_has_its_own_arrays(home):
    lines = (
        "import copy, pickle, tables_at_work as t",
        "x = t.table(); t.work(x, 1)",
        "for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x._replace(line=x.line.copy())):",
        "    t.work(y, 1); print(x.line.tolist(), y.line.tolist())",
    )
    assert _run(home, "\n".join(lines)).stdout.splitlines() == ["[0, 1, 2, 3] [0, 2, 4, 6]"] * 3
