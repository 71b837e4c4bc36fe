"""What docstrings say that stages read and write is what they read and write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.data_flow import Engine, told, wanted, write
from tools.environments import ROOT

ENGINE = Engine(ROOT / "engine")
HELPERS = """
from ..compile.decorators import kernel, separate
from ..tables import state as S, work as W

@kernel
def load(table, i, column):
    return table[i, column], table[i, column + 1]

@kernel
def copy(source, target):
    for d in range(len(source)):
        target[d] = source[d]

@kernel
def note_quiet(state, i):
    state.body[i, S.QUIET] += 1.0

@separate
def place(tree, table, column, pose):
    for i in range(len(tree.parent)):
        pose.body[i, P.PLACE] = table[i, column]

@separate
def tidy(work):
    work.rate[W.ENDS, 0] = 0.0
"""
STAGES = '''
from ..compile.decorators import inlined, kernel, separate
from ..dynamics.helpers import copy, load, note_quiet, place, tidy
from ..tables import aim as A, state as S, work as W
from ..tables.work import pose_of

@separate
def first(tree, state, aim, work, h):
    """The first."""
    final = pose_of(work, W.FINAL)
    torque = work.rate[W.TORQUE]
    for i in range(1, len(tree.parent)):
        mode = aim.mode[i]
        if mode == A.LOOSE:
            c = load(state.body, i, S.COORDS)
            torque[i] += c[0] * h * tree.body[i, T.MASS]
    place(tree, work.body, W.NEW, final)
    tidy(work)
    _second(state, work)

@inlined
def _second(state, work):
    note_quiet(state, 0)
    copy(work.rate[W.MEAN], state.rate[S.V])

@kernel
def no_stage(work):
    work.rate[W.PULL, 0] = 0.0
'''


@pytest.fixture
def small(tmp_path) -> Path:
    for name, text in (("dynamics/helpers.py", HELPERS), ("step/stages.py", STAGES)):
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(text.lstrip())
    return tmp_path


def test_the_rules(small):
    engine = Engine(small)
    assert engine.stages() == [("step.stages", "first"), ("step.stages", "_second")]
    reads, writes = engine.flow(("step.stages", "first"))
    assert reads == ["A.mode", "S.COORDS", "S.QUIET", "W.MEAN", "W.NEW", "W.TORQUE"]
    assert writes == ["S.QUIET", "S.V", "W.FINAL", "W.TORQUE"], "ENDS is written by a separate kernel"
    assert engine.flow(("step.stages", "_second")) == (["S.QUIET", "W.MEAN"], ["S.QUIET", "S.V"])


def test_docstrings_are_written_once(small):
    assert write(small) == 1
    text = (small / "step/stages.py").read_text()
    assert '    """The first.\n\n    Reads: A.mode, S.COORDS,' in text
    assert '    """Reads: S.QUIET, W.MEAN\n    Writes: S.QUIET, S.V\n    """\n    note_quiet' in text
    assert write(small) == 0
    (small / "step/stages.py").write_text(text.replace("note_quiet(state, 0)", "pass"))
    assert write(small) == 1
    assert '    """Reads: W.MEAN\n    Writes: S.V\n    """\n    pass' in (small / "step/stages.py").read_text()


@pytest.mark.parametrize("key", ENGINE.stages(), ids=".".join)
def test_a_stage_says_what_it_reads_and_writes(key):
    assert told(ENGINE.kernels[key]) == wanted(ENGINE, key), "python3 dev.py flow write"
