"""dev.py's own promises: honest counts, apart ranges of Blender, a linter that guards the engine."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dev

RUFF = [sys.executable, "-m", "ruff", "check", "--quiet", "--no-cache", "--config", str(dev.ROOT / "pyproject.toml")]


def lint(code: str, filename: str) -> subprocess.CompletedProcess:
    command = [*RUFF, "--select", "TID251", "--stdin-filename", str(dev.ROOT / filename), "-"]
    return subprocess.run(command, input=code, capture_output=True, text=True, cwd=dev.ROOT)


@pytest.mark.parametrize("module", ["bpy", "mathutils", "bmesh", "gpu", "bpy_extras"])
@pytest.mark.parametrize("filename", ["engine/step.py", "engine/__init__.py", "engine/controllers/follow.py"])
def test_the_engine_cannot_import_blender(module, filename):
    for code in (f"import {module}\n", f"from {module} import something\n", f"def f():\n    import {module}.types\n"):
        done = lint(code, filename)
        assert done.returncode == 1
        assert "engine/ never imports Blender" in done.stdout


@pytest.mark.parametrize("filename", ["addon/reader.py", "sample_scenes/chain.py", "tests/addon/test_reader.py"])
def test_what_may_know_blender_may_import_it(filename):
    assert lint("import bpy\n", filename).returncode == 0


def test_counts_come_from_every_report(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text('<testsuites><testsuite tests="9" failures="2" errors="1" skipped="3"/></testsuites>')
    counts = dev.count_outcomes(report)
    assert counts == {"failed": 2, "passed": 3, "skipped": 3, "error": 1}
    assert dev.outcome_text(counts) == "2 failed, 3 passed, 3 skipped, 1 error"


def test_a_run_that_died_is_an_error(tmp_path):
    assert dev.count_outcomes(tmp_path / "never_written.xml")["error"] == 1


def test_a_missing_python_is_named_with_the_way_to_get_it(monkeypatch):
    monkeypatch.delenv("HEFT_PYTHON", raising=False)
    with pytest.raises(dev.Missing, match=r"No Python 3\.99 here.*pyenv install 3\.99"):
        dev.find_python("3.99")


def test_missing_system_libraries_are_named_with_the_command(monkeypatch):
    monkeypatch.setattr(dev, "missing_system_libraries", lambda env: ["libSM.so.6"])
    monkeypatch.setattr(dev.sys, "platform", "linux")
    monkeypatch.setattr(dev.os, "geteuid", lambda: 1000)
    with pytest.raises(dev.Missing, match=r"(?s)lacks libSM\.so\.6.*sudo apt-get install .*libsm6"):
        dev.ensure_system_libraries(dev.BARE)


def test_environments_are_named_after_their_content():
    one, other = dev.Env("blender", ("bpy==5.0.1",)), dev.Env("blender", ("bpy==4.5.15",))
    assert one.folder != other.folder
    assert one.folder == dev.Env("blender", ("bpy==5.0.1",)).folder


def test_zips_never_fight_over_a_blender():
    """Two zips of one platform are apart by Blender version, or, for 5.2, by the Python of their wheels."""

    def number(version):
        return tuple(int(part) for part in (version or "99.0.0").split("."))

    targets = dev.zips()
    for one in targets:
        for other in targets:
            if one is other or one.platform != other.platform:
                continue
            apart = number(one.blender_max) <= number(other.blender_min)
            apart = apart or number(other.blender_max) <= number(one.blender_min)
            assert apart or {one.python_version, other.python_version} == {"3.13", "3.14"}


def test_a_manifest_is_narrowed_to_its_zip():
    tomllib = pytest.importorskip("tomllib")
    target = dev.Zip("linux-x64", "3.11", "4.2.0", "5.1.0", ("numba==0.68.1",))
    manifest = tomllib.loads(dev.manifest_text(target, ["numba-0.68.1-cp311.whl"]))
    assert manifest["blender_version_min"] == "4.2.0"
    assert manifest["blender_version_max"] == "5.1.0"
    assert manifest["platforms"] == ["linux-x64"]
    assert manifest["wheels"] == ["./wheels/numba-0.68.1-cp311.whl"]
    assert manifest["id"] == "heft"
    assert set(manifest["permissions"]) == {"files"}


# --- real Blenders --------------------------------------------------------------------------------

TOOL = """#!/bin/sh
# Stands in for the tool: sets up as it does, aside and then renamed, and keeps a diary.
root=$REAL_BLENDER_DIR/$([ "$2" = 4.3 ] && echo trixie || echo sid)
[ -e "$root/.ready" ] && exit 0
echo "start $2" >>"$REAL_BLENDER_DIR/diary"
rm -rf "$root.part" && mkdir "$root.part"
%s
touch "$root.part/.ready" && mv "$root.part" "$root"
echo "end $2" >>"$REAL_BLENDER_DIR/diary"
"""


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """A machine where real Blenders can be set up, by a tool that does this in between."""
    path = tmp_path / "real-blender"
    monkeypatch.setattr(dev, "REAL_BLENDER", path)
    monkeypatch.setattr(dev.os, "geteuid", lambda: 0, raising=False)
    monkeypatch.setattr(dev.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setenv("REAL_BLENDER_DIR", str(tmp_path))
    monkeypatch.setenv("HEFT_SET_UP_BLENDER", "1")
    monkeypatch.setenv("HEFT_SET_UP_PROBLEM", "")

    def make(work: str = "sleep 0.2"):
        path.write_text(TOOL % work)
        path.chmod(0o755)
        return tmp_path

    if sys.platform == "win32":
        pytest.skip("the tool is for Debian")
    return make


def test_real_blenders_are_set_up_beside_the_suites(tool):
    folder = tool()
    set_up = dev.SetUp()
    assert "is not set up here" in dev.why_not_real("4.3")  # it has only begun
    set_up.wait()
    assert [dev.why_not_real(version) for version in dev.REAL] == [None, None]
    dev.SetUp().wait()
    assert (folder / "diary").read_text().split() == ["start", "4.3", "end", "4.3", "start", "5.2", "end", "5.2"]


def test_real_blenders_are_not_set_up_unasked(tool, monkeypatch):
    folder = tool()
    monkeypatch.delenv("HEFT_SET_UP_BLENDER")
    dev.SetUp().wait()
    assert not (folder / "diary").exists()
    assert "HEFT_SET_UP_BLENDER=1" in dev.why_not_real("5.2")


def test_a_set_up_that_fails_says_why(tool):
    tool('echo "no way to the mirror" >&2; exit 3')
    dev.SetUp().wait()
    for version in dev.REAL:
        assert f"Blender {version} could not be set up" in dev.why_not_real(version)
        assert "`install 4.3` ended with 3 no way to the mirror" in dev.why_not_real(version)


def test_two_runs_never_set_up_at_once(tool):
    folder = tool()
    for set_up in [dev.SetUp(), dev.SetUp(), dev.SetUp()]:
        set_up.wait()
    assert (folder / "diary").read_text().split() == ["start", "4.3", "end", "4.3", "start", "5.2", "end", "5.2"]


def test_an_interrupted_set_up_leaves_nothing_half_done(tool):
    folder = tool("sleep 600 & wait; sleep 600")
    set_up = dev.SetUp()
    while not (folder / "diary").exists():
        pass
    set_up.stop()
    assert not (folder / "trixie").exists()
    tool()
    dev.SetUp().wait()  # the lock is free: nothing of the first is left
    assert [dev.why_not_real(version) for version in dev.REAL] == [None, None]


def test_a_suite_of_two_versions_has_one_name(monkeypatch):
    ran = []
    monkeypatch.setattr(dev, "ensure", lambda env: None)
    monkeypatch.setattr(dev, "run", lambda *_: 0)
    monkeypatch.setattr(dev, "why_no_tool", lambda: "none")
    monkeypatch.setattr(
        dev, "run_suite", lambda suite, *_: ran.append(suite.name) or {**dict.fromkeys(dev.OUTCOMES, 1)}
    )
    dev.test(["window"])
    assert sorted(ran) == ["window-4.3", "window-5.2"]
    ran.clear()
    dev.test(["real"])
    assert ran == ["real"]
