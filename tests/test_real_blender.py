"""The byte comparison in Blenders that PyPI does not have, where a tool that runs them is beside the project."""

from __future__ import annotations

import json
import subprocess

import pytest

from tools import real_blenders
from tools.environments import ROOT

LONGEST = 900.0  # [s]


@pytest.mark.parametrize("version", real_blenders.VERSIONS)
def test_nothing_but_hefts_own_changes(version, tmp_path):
    reason = real_blenders.why_not(version)
    if reason is not None:
        pytest.skip(reason)
    report = tmp_path / "report.json"
    command = [*real_blenders.command(version), "-b", "--factory-startup", "--python-exit-code", "1"]
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
