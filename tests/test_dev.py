"""dev.py's own promises: honest counts, a linter that guards the engine."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest

import dev

RUFF = [sys.executable, "-m", "ruff", "check", "--quiet", "--no-cache", "--config", str(dev.ROOT / "pyproject.toml")]


def lint(code: str, filename: str) -> subprocess.CompletedProcess:
    command = [*RUFF, "--select", "TID251", "--stdin-filename", str(dev.ROOT / filename), "-"]
    return subprocess.run(command, input=code, capture_output=True, text=True, cwd=dev.ROOT)


@pytest.mark.parametrize("module", ["bpy", "mathutils", "bmesh", "gpu", "bpy_extras"])
@pytest.mark.parametrize(
    "filename", ["engine/step/step.py", "engine/__init__.py", "engine/controllers/follow/controller.py"]
)
def test_the_engine_cannot_import_blender(module, filename):
    for code in (f"import {module}\n", f"from {module} import something\n", f"def f():\n    import {module}.types\n"):
        done = lint(code, filename)
        assert done.returncode == 1
        assert "engine/ never imports Blender" in done.stdout


@pytest.mark.parametrize(
    "filename", ["addon/read/read_rig.py", "sample_scenes/chain.py", "tests/addon/read/test_read_rig.py"]
)
def test_what_may_know_blender_may_import_it(filename):
    assert lint("import bpy\n", filename).returncode == 0


@pytest.mark.parametrize(
    ("path", "suites"),
    [
        ("engine/step/step.py", ["engine", "5.0"]),
        ("addon/blender/actions.py", ["4.2", "4.5", "5.0", "window-5.2"]),
        ("addon/read/shot.py", ["5.0", "4.2"]),
        ("tests/engine/test_step.py", ["engine"]),
        ("tests/addon/read/test_inputs.py", ["5.0"]),
        ("tests/support/skeletons.py", ["engine", "5.0"]),
        ("README.md", ["engine"]),
    ],
)
def test_a_change_calls_for_suites(path, suites):
    assert list(dev.suites_for([path])) == suites
    assert set(suites) <= {suite.name for suite in dev.SUITES}


def test_counts_come_from_every_report(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text('<testsuites><testsuite tests="9" failures="2" errors="1" skipped="3"/></testsuites>')
    counts = dev.count_outcomes(report)
    assert counts == {"failed": 2, "passed": 3, "skipped": 3, "error": 1}
    assert dev.outcome_text(counts) == "2 failed, 3 passed, 3 skipped, 1 error"


def test_a_run_that_died_is_an_error(tmp_path):
    assert dev.count_outcomes(tmp_path / "never_written.xml")["error"] == 1


def test_a_suite_of_two_versions_has_one_name(monkeypatch):
    ran = []
    monkeypatch.setattr(dev, "ensure", lambda env: None)
    monkeypatch.setattr(dev, "run", lambda *_: 0)
    monkeypatch.setattr(dev, "SetUp", lambda: types.SimpleNamespace(wait=lambda: None, stop=lambda: None))
    monkeypatch.setattr(
        dev, "run_suite", lambda suite, *_: ran.append(suite.name) or {**dict.fromkeys(dev.OUTCOMES, 1)}
    )
    dev.test(["window"])
    assert sorted(ran) == ["window-4.3", "window-5.2"]
    ran.clear()
    dev.test(["real"])
    assert ran == ["real"]
