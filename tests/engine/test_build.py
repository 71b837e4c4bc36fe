"""Compiling beside the caller: children work under any name of the engine, and their absence is no harm."""

from __future__ import annotations

import inspect
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.simulation import precompile
from engine.simulation.simulate import sample_shot


class NoSuchKernel:
    __name__ = "no_such_kernel"
    py_func = staticmethod(lambda: None)


def _ask(child, *functions) -> None:
    try:
        precompile._feed(child, "alone", precompile._Parts(functions))
    finally:
        child.stdin.close()
        child.stdout.close()
        child.wait()


def test_a_child_fills_the_cache_under_an_extension_s_name(tmp_path, monkeypatch):
    """An installed extension is bl_ext.<repository>.heft, and what stands above the engine needs Blender."""
    monkeypatch.setenv("HEFT_CACHE", str(tmp_path))
    _ask(precompile._start_child("bl_ext.somewhere.heft.engine"), precompile.end_step)
    assert [path.name.split("-")[0] for path in tmp_path.rglob("*end_step*.nbc")] == ["reference.end_step"]


def test_a_child_says_what_went_wrong(tmp_path, monkeypatch):
    monkeypatch.setenv("HEFT_CACHE", str(tmp_path))
    with pytest.raises(OSError, match="alone no_such_kernel"):
        _ask(precompile._start_child("engine"), NoSuchKernel())


@pytest.mark.parametrize("python", ["", "blender", "/nowhere/python3"])
def test_without_a_python_to_start_the_caller_compiles(tmp_path, monkeypatch, python):
    monkeypatch.setenv("HEFT_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.setattr(precompile, "_built", set())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        precompile.ensure_built(False)
    assert any("by itself" in str(w.message) for w in caught)
    assert not list(Path(tmp_path).rglob("alone"))


@pytest.mark.parametrize("word", precompile.PARTS)
def test_the_type_of_every_argument_is_known(word):
    """Children compile by the arguments' names; one that is not known would leave all the work to the caller."""
    known = precompile._types(sample_shot(word == "touching"))
    for function in precompile.PARTS[word]:
        assert set(inspect.signature(function.py_func).parameters) <= set(known), function.__name__


def test_parts_are_compiled_after_what_they_call():
    for functions in precompile.PARTS.values():
        parts = precompile._Parts(functions)
        done = []
        while (function := parts.take()) is not None:
            assert precompile._calls(function, set(functions)) <= set(done)
            done.append(function)
            parts.tell(function)
        assert set(done) == set(functions)


def test_every_part_in_the_way_of_a_shot_is_listed():
    """One that is not would be compiled by every child that meets it."""
    seen, todo = set(), [precompile.run_frames]
    while todo:
        plain = todo.pop().py_func
        for callee in map(plain.__globals__.get, plain.__code__.co_names):
            if hasattr(callee, "py_func") and callee not in seen:
                seen.add(callee)
                todo.append(callee)
    listed = {each for functions in precompile.PARTS.values() for each in functions}
    assert {each for each in seen if getattr(each, "apart", False)} <= listed


def test_progress_grows_while_children_compile_and_is_gone_afterwards(monkeypatch):
    seen, parts = [], precompile.PARTS["alone"]

    def feed(_child, _word, left):
        while (function := left.take()) is not None:
            left.tell(function)
            seen.append(precompile.build_progress().done)

    class Child:
        stdin = stdout = SimpleNamespace(close=lambda: None)

        def wait(self):
            pass

    monkeypatch.setattr(precompile, "_start_child", lambda _name: Child())
    monkeypatch.setattr(precompile, "_feed", feed)
    monkeypatch.setattr(precompile, "_built", set())
    monkeypatch.setattr(precompile.os, "cpu_count", lambda: 1)
    assert precompile.build_progress() is None
    precompile._build_beside("alone")
    assert len(seen) == len(parts) and seen == sorted(seen)
    assert seen[0] > 0.0 and 0.1 < seen[-1] < 0.5, "what touches takes longer"
    assert precompile.build_progress() is None
    precompile._built.add("alone")
    half = seen[-1]
    seen.clear()
    precompile._build_beside("touching")
    assert seen[0] >= half and seen == sorted(seen) and seen[-1] == pytest.approx(1.0)
