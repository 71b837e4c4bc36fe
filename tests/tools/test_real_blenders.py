"""Real Blenders are set up once, one at a time, whole or not at all; and see the folders that are there."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tools import real_blenders

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
    monkeypatch.setattr(real_blenders, "TOOL", path)
    monkeypatch.setattr(real_blenders.os, "geteuid", lambda: 0, raising=False)
    monkeypatch.setattr(real_blenders.shutil, "which", lambda name: f"/usr/bin/{name}")
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
    set_up = real_blenders.SetUp()
    assert "is not set up here" in real_blenders.why_not("4.3")  # it has only begun
    set_up.wait()
    assert [real_blenders.why_not(version) for version in real_blenders.VERSIONS] == [None, None]
    real_blenders.SetUp().wait()
    assert (folder / "diary").read_text().split() == ["start", "4.3", "end", "4.3", "start", "5.2", "end", "5.2"]


def test_real_blenders_are_not_set_up_unasked(tool, monkeypatch):
    folder = tool()
    monkeypatch.delenv("HEFT_SET_UP_BLENDER")
    real_blenders.SetUp().wait()
    assert not (folder / "diary").exists()
    assert "HEFT_SET_UP_BLENDER=1" in real_blenders.why_not("5.2")


def test_a_set_up_that_fails_says_why(tool):
    tool('echo "no way to the mirror" >&2; exit 3')
    real_blenders.SetUp().wait()
    for version in real_blenders.VERSIONS:
        assert f"Blender {version} could not be set up" in real_blenders.why_not(version)
        assert "`install 4.3` ended with 3 no way to the mirror" in real_blenders.why_not(version)


def test_two_runs_never_set_up_at_once(tool):
    folder = tool()
    for set_up in [real_blenders.SetUp(), real_blenders.SetUp(), real_blenders.SetUp()]:
        set_up.wait()
    assert (folder / "diary").read_text().split() == ["start", "4.3", "end", "4.3", "start", "5.2", "end", "5.2"]


def test_an_interrupted_set_up_leaves_nothing_half_done(tool):
    folder = tool("sleep 600 & wait; sleep 600")
    set_up = real_blenders.SetUp()
    while not (folder / "diary").exists():
        pass
    set_up.stop()
    assert not (folder / "trixie").exists()
    tool()
    real_blenders.SetUp().wait()  # the lock is free: nothing of the first is left
    assert [real_blenders.why_not(version) for version in real_blenders.VERSIONS] == [None, None]


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounting needs root on Linux")
def test_a_folder_made_anew_is_seen_anew(tmp_path, monkeypatch):
    """What a Blender sees of a folder that was deleted and made again is the new one."""
    monkeypatch.setenv("REAL_BLENDER_DIR", str(tmp_path))
    gone, source = tmp_path / "sid" / "heft-was-never-here", tmp_path / "source"
    for path in (gone, source):
        path.mkdir(parents=True)
    (tmp_path / "sid" / "tmp").symlink_to("/tmp")  # the same folder here and there
    if subprocess.run(["mount", "--bind", source, gone], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    asked, is_mounted = [], real_blenders.is_mounted
    monkeypatch.setattr(real_blenders, "is_mounted", lambda path: asked.append(path) or is_mounted(path))
    assert real_blenders.command("5.2") == [str(real_blenders.TOOL), "5.2"]
    assert asked == [gone] and not is_mounted(gone)
