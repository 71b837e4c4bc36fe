"""Compiling beside the caller: children work under any name of the engine, and their absence is no harm."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.compile import precompile
from engine.compile.kernel_types import types_of
from engine.controllers.follow.reference import end_step
from engine.errors import LibraryError
from engine.step.run_frames import run_frames


class NoSuchKernel:
    __name__ = "no_such_kernel"
    py_func = staticmethod(lambda: None)


def _ask(child, *functions) -> None:
    try:
        precompile._feed(child, "alone", precompile._Queue(functions))
    finally:
        child.stdin.close()
        child.stdout.close()
        child.wait()


def test_a_child_fills_the_cache_under_an_extension_s_name(tmp_path, monkeypatch):
    """An installed extension is bl_ext.<repository>.heft, and what stands above the engine needs Blender."""
    monkeypatch.setenv("HEFT_CACHE", str(tmp_path))
    _ask(precompile._start_child("bl_ext.somewhere.heft.engine"), end_step)
    assert [path.name.split("-")[0] for path in tmp_path.rglob("*end_step*.nbc")] == ["reference.end_step"]


def test_a_child_says_what_went_wrong(tmp_path, monkeypatch):
    monkeypatch.setenv("HEFT_CACHE", str(tmp_path))
    with pytest.raises(OSError, match="alone no_such_kernel"):
        _ask(precompile._start_child("engine"), NoSuchKernel())


@pytest.mark.parametrize("python", ["", "blender", "/nowhere/python3"])
def test_without_a_python_to_start_the_caller_compiles(tmp_path, monkeypatch, python):
    monkeypatch.setenv("HEFT_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.setattr(precompile.BUILDS, "built", set())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        precompile.ensure_built("alone")
    assert any("by itself" in str(w.message) for w in caught)
    assert not list(Path(tmp_path).rglob("alone"))


@pytest.mark.parametrize("word", precompile.SUITES)
def test_the_type_of_every_argument_is_known(word):
    """Children compile by annotations; one that is missing would leave all the work to the caller."""
    samples = precompile.SUITES[word].samples()
    for function in precompile.SUITES[word].kernels:
        types_of(function, samples)


def test_a_parameter_without_annotation_is_named():
    class Kernel:
        __name__ = "halve"
        py_func = staticmethod(lambda x: 0.5 * x)

    with pytest.raises(LibraryError, match="'x' of the kernel 'halve'"):
        types_of(Kernel(), {})


def test_kernels_are_compiled_after_those_they_call():
    for functions in (suite.kernels for suite in precompile.SUITES.values()):
        queue = precompile._Queue(functions)
        done = []
        while (function := queue.take()) is not None:
            assert precompile._calls(function, set(functions)) <= set(done)
            done.append(function)
            queue.tell(function)
        assert set(done) == set(functions)


def test_every_separate_kernel_in_the_way_of_a_shot_is_listed():
    """One that is not would be compiled by every child that meets it."""
    seen, todo = set(), [run_frames]
    while todo:
        plain = todo.pop().py_func
        for callee in map(plain.__globals__.get, plain.__code__.co_names):
            if hasattr(callee, "py_func") and callee not in seen:
                seen.add(callee)
                todo.append(callee)
    listed = {each for suite in precompile.SUITES.values() for each in suite.kernels}
    assert {each for each in seen if getattr(each, "apart", False)} <= listed


def test_progress_grows_while_children_compile_and_is_gone_afterwards(monkeypatch):
    seen, kernels = [], precompile.SUITES["alone"].kernels

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
    monkeypatch.setattr(precompile.BUILDS, "built", set())
    monkeypatch.setattr(precompile.os, "cpu_count", lambda: 1)
    assert precompile.build_progress() is None
    precompile._build_beside("alone")
    assert len(seen) == len(kernels) and seen == sorted(seen)
    assert seen[0] > 0.0 and 0.1 < seen[-1] < 0.5, "what touches takes longer"
    assert precompile.build_progress() is None
    precompile.BUILDS.built.add("alone")
    half = seen[-1]
    seen.clear()
    precompile._build_beside("touching")
    assert seen[0] >= half and seen == sorted(seen) and seen[-1] == pytest.approx(1.0)
