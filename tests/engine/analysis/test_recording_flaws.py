"""Flaws of recordings, without Blender."""

from __future__ import annotations

import numpy as np

from engine.analysis import recording_flaws


def test_short_shots_have_no_flaws():
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (5, 1, 1))
    found = recording_flaws.find(turns, np.zeros((5, 1, 3)), np.array([-1]), np.zeros((5, 1), dtype=bool), 24.0, 1.0)
    assert found == recording_flaws.Flaws()
