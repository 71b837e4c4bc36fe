"""The byte comparison in Blenders that PyPI does not have, where a tool that runs them is beside the project."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOL = Path(os.environ.get("HEFT_REAL_BLENDER") or ROOT.parent / "shared" / "tools" / "real-blender")
# Where the tool keeps what it has set up, and of which Debian each Blender is.
KEPT = Path(os.environ.get("REAL_BLENDER_DIR") or "/var/cache/real-blender")
SUITES = {"4.3": "trixie", "5.2": "sid"}
LONGEST = 1500.0  # [s] where Blender is set up first


@pytest.mark.parametrize("version", SUITES)
def test_nothing_but_hefts_own_changes(version, tmp_path):
    if not TOOL.exists():
        pytest.skip(f"no real Blender here: {TOOL} is missing (or name one like it in HEFT_REAL_BLENDER)")
    if os.geteuid() != 0:
        pytest.skip("a real Blender of its own needs root, to mount its folders")
    if not (KEPT / SUITES[version] / ".ready").exists() and not os.environ.get("HEFT_SET_UP_BLENDER"):
        pytest.skip(f"Blender {version} is not set up here: `{TOOL.name} install {version}`, or HEFT_SET_UP_BLENDER=1")
    report = tmp_path / "report.json"
    command = [TOOL, version, "-b", "--factory-startup", "--python-exit-code", "1"]
    command += ["--python", ROOT / "tests" / "walk_in_blender.py", "--", report]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, timeout=LONGEST)
    assert report.exists(), done.stdout[-4000:] + done.stderr[-4000:]
    told = json.loads(report.read_text())
    wrong = {
        f"{situation}, {step}": lines[:3]
        for situation, steps in told["table"].items()
        for step, lines in steps.items()
        if lines
    }
    count = sum(map(len, told["table"].values()))
    print(f"Blender {told['version']}: {len(told['table'])} situations, {count} steps, {len(wrong)} with differences")
    assert told["version"].startswith(version) and count > 150
    assert wrong == {}
