"""The compile cache: a user's writable folder, apart for every build, and harmless where it cannot be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import engine
from engine.compile import decorators
from engine.compile.kernel_sources import kernel_sources


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


@pytest.fixture
def copy(tmp_path):
    """A copy of the engine, and a way to ask for its cache folder."""
    home = tmp_path / "copy"
    shutil.copytree(Path(engine.__file__).parent, home / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    env = {**os.environ, "HEFT_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(home)}
    ask = "from engine.compile.decorators import cache_dir; print(cache_dir())"

    def folder() -> str:
        return subprocess.run(
            [sys.executable, "-c", ask], capture_output=True, text=True, check=True, env=env, cwd=home
        ).stdout

    return home / "engine", folder


def append(path: Path) -> None:
    with path.open("a") as file:
        file.write("# changed\n")


def test_a_changed_source_gets_another_folder(copy):
    """numba would serve the old build of a function that a cached one calls, or that has a constant of it."""
    home, folder = copy
    seen = {folder()}
    for each in ("controllers/follow/spring.py", "tables/state.py", "model/model.py", "compile/decorators.py"):
        append(home / each)
        seen.add(folder())
    assert len(seen) == 5


def test_an_edit_of_what_no_kernel_reaches_recompiles_nothing(copy):
    home, folder = copy
    before = folder()
    for each in ("model/result.py", "anatomy/masses.py", "geometry/shapes/capsule.py", "simulation/simulate.py",
                 "analysis/whole_body.py", "controllers/base.py", "__init__.py"):  # fmt: skip
        append(home / each)
    assert folder() == before


def test_every_module_with_kernels_is_among_the_sources():
    """What is read from the text is what the modules have."""
    home = Path(engine.__file__).parent
    sources = {
        path.relative_to(home.parent).with_suffix("").as_posix().replace("/", ".") for path in kernel_sources(home)
    }
    with_kernels = {
        name
        for name, module in list(sys.modules.items())
        if name.startswith("engine.")
        and any(getattr(each, "py_func", None) and each.py_func.__module__ == name for each in vars(module).values())
    }
    assert with_kernels and with_kernels <= sources


def test_an_unwritable_cache_warns_and_still_works(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("HEFT_CACHE", str(blocked))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        double = decorators.entry_point(lambda x: 2.0 * x)
    assert double(4.0) == 8.0
    assert any("cache" in str(w.message) for w in caught)


def test_other_add_ons_keep_their_cache(tmp_path, monkeypatch):
    import numba

    monkeypatch.setenv("HEFT_CACHE", str(tmp_path))
    before = numba.config.CACHE_DIR
    decorators.entry_point(lambda x: x)
    assert before == numba.config.CACHE_DIR


def test_fast_math_keeps_bad_numbers_visible():
    """Flags that assume there are none would delete the checks that keep them from the keys."""
    flags = decorators.FLAGS["fastmath"]
    assert flags is not True
    assert not {"nnan", "ninf", "fast"} & set(flags)
