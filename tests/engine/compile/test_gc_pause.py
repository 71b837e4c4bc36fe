"""The garbage collector is held back, and goes on."""

from __future__ import annotations

import gc

import pytest

from engine.compile.gc_pause import without_gc


def test_the_collector_goes_on_afterwards():
    assert gc.isenabled()
    with pytest.raises(ValueError, match="stop"), without_gc():
        assert not gc.isenabled()
        raise ValueError("stop")
    assert gc.isenabled()
