"""States that differ are told by the names of their columns."""

from __future__ import annotations

import numpy as np

from engine import Actor, Follow
from engine.simulation.shot import Shot
from engine.tables import state as S
from tools import diff_state


def test_what_differs_is_named(tmp_path, capsys):
    import engine

    model = engine.Model.from_tree(["trunk", "arm"], [None, 0], np.zeros((2, 3)))
    motion = engine.Motion.build(model, 24.0, np.tile([1.0, 0.0, 0.0, 0.0], (3, 2, 1)))
    shot = Shot([Actor(model, motion, Follow())], None, 24.0)
    diff_state.save_state(shot, tmp_path / "a.npz")
    shot.state.body[2, S.ANCHOR + 1] += 0.25
    diff_state.save_state(shot, tmp_path / "b.npz")
    same = [str(tmp_path / "a.npz")] * 2
    assert diff_state.main(same) == 0
    assert diff_state.main([str(tmp_path / "a.npz"), str(tmp_path / "b.npz")]) == 1
    told = capsys.readouterr().out
    assert "state.body arm ANCHOR+1: 0 and 0.25" in told and "1 numbers differ" in told
