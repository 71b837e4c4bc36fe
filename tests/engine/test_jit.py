"""The compile cache: a user's writable folder, apart for every build, and harmless where it cannot be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import engine
from engine.compile import decorators


def test_cache_folder_follows_the_setting(tmp_path, monkeypatch):
    monkeypatch.setenv("HEFT_CACHE", str(tmp_path))
    assert decorators.cache_dir().parent == tmp_path
    monkeypatch.delenv("HEFT_CACHE")
    if sys.platform.startswith("linux"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert decorators.cache_dir().parent == tmp_path / "xdg" / "heft"


def test_other_flags_or_versions_get_another_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HEFT_CACHE", str(tmp_path))
    before = decorators.cache_dir()
    assert decorators.cache_dir() == before
    monkeypatch.setattr(decorators, "FLAGS", {**decorators.FLAGS, "fastmath": {"contract"}})
    other = decorators.cache_dir()
    assert other != before
    monkeypatch.setattr(decorators.np, "__version__", "9.9.9")
    assert decorators.cache_dir() not in (before, other)


def test_a_changed_source_gets_another_folder(tmp_path):
    """numba would serve the old build of a function that a cached one calls."""
    home = tmp_path / "copy"
    shutil.copytree(Path(engine.__file__).parent, home / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    env = {**os.environ, "HEFT_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(home)}
    ask = "from engine.compile.decorators import cache_dir; print(cache_dir())"

    def folder() -> str:
        return subprocess.run(
            [sys.executable, "-c", ask], capture_output=True, text=True, check=True, env=env, cwd=home
        ).stdout

    before = folder()
    with (home / "engine" / "controllers" / "follow" / "spring.py").open("a") as file:
        file.write("# changed\n")
    assert folder() != before


def test_an_unwritable_cache_warns_and_still_works(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("HEFT_CACHE", str(blocked))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        double = decorators.entry(lambda x: 2.0 * x)
    assert double(4.0) == 8.0
    assert any("cache" in str(w.message) for w in caught)


def test_other_add_ons_keep_their_cache(tmp_path, monkeypatch):
    import numba

    monkeypatch.setenv("HEFT_CACHE", str(tmp_path))
    before = numba.config.CACHE_DIR
    decorators.entry(lambda x: x)
    assert before == numba.config.CACHE_DIR


def test_fast_math_keeps_bad_numbers_visible():
    """Flags that assume there are none would delete the checks that keep them from the keys."""
    flags = decorators.FLAGS["fastmath"]
    assert flags is not True
    assert not {"nnan", "ninf", "fast"} & set(flags)
