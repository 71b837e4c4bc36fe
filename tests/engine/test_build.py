"""Compiling beside the caller: children work under any name of the engine, and their absence is no harm."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from queue import SimpleQueue

import pytest

from engine import build


def _ask(child, *names: str) -> None:
    queue: SimpleQueue = SimpleQueue()
    for name in names:
        queue.put(name)
    try:
        build._feed(child, queue)
    finally:
        child.stdin.close()
        child.stdout.close()
        child.wait()


def test_a_child_fills_the_cache_under_an_extension_s_name(tmp_path, monkeypatch):
    """An installed extension is bl_ext.<repository>.heft, and what stands above the engine needs Blender."""
    monkeypatch.setenv("HEFT_CACHE", str(tmp_path))
    _ask(build._start_child("bl_ext.somewhere.heft.engine"), "alone end_step")
    assert [path.name.split("-")[0] for path in tmp_path.rglob("*end_step*.nbc")] == ["aim.end_step"]


def test_a_child_says_what_went_wrong(tmp_path, monkeypatch):
    monkeypatch.setenv("HEFT_CACHE", str(tmp_path))
    with pytest.raises(OSError, match="alone no_such_kernel"):
        _ask(build._start_child("engine"), "alone no_such_kernel")


@pytest.mark.parametrize("python", ["", "blender", "/nowhere/python3"])
def test_without_a_python_to_start_the_caller_compiles(tmp_path, monkeypatch, python):
    monkeypatch.setenv("HEFT_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.setattr(build, "_built", set())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        build.ensure_built(False)
    assert any("by itself" in str(w.message) for w in caught)
    assert not list(Path(tmp_path).rglob("alone"))
