"""Pinned results: what has changed is named."""

from __future__ import annotations

import json

import pytest

from tools import pins


def test_changes_are_named():
    assert pins.compare({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "9", "d": "4"}) == [
        "b: changed", "c: gone", "d: new"
    ]  # fmt: skip


@pytest.mark.parametrize(("after", "code"), [("1", 0), ("2", 1)])
def test_hashes_are_kept_and_compared(tmp_path, monkeypatch, after, code):
    monkeypatch.setenv("HEFT_ENVS", str(tmp_path))
    monkeypatch.setattr(pins, "hash_results", lambda: {"scene": "1"})
    assert pins.pin([]) == 1, "nothing is kept yet"
    assert pins.pin(["write"]) == 0
    assert json.loads(pins.pin_file().read_text())["hashes"] == {"scene": "1"}
    monkeypatch.setattr(pins, "hash_results", lambda: {"scene": after})
    assert pins.pin([]) == code
