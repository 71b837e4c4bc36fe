"""The byte comparison: every situation a rig can be in, every step through Heft."""

from __future__ import annotations

import pytest

import situations


@pytest.mark.parametrize("situation", situations.SITUATIONS, ids=lambda each: each.__name__)
def test_nothing_but_hefts_own_changes(empty, tmp_path, situation):
    steps = dict(situations.walk(situation, tmp_path))
    wrong = {step: lines[:6] for step, lines in steps.items() if lines}
    print(f"{situation.__name__}: {len(steps)} steps, {len(wrong)} with differences")
    assert len(steps) > 15
    assert wrong == {}
