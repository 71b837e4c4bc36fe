"""Two processes share a run: every test runs once, files stay whole, and what fails is told once."""

from __future__ import annotations

import os
import subprocess
import sys
from xml.etree import ElementTree

import dev
from tools import split_run

FILES = 6
TESTS = """
import time
import pytest

@pytest.fixture(scope="module")
def made():
    with open("made.txt", "a") as file:
        file.write(__name__ + "\\n")
    yield
    with open("undone.txt", "a") as file:
        file.write(__name__ + "\\n")

@pytest.mark.parametrize("k", range(3))
def test_one(made, k):
    time.sleep(0.05)
    assert k or __name__.endswith("0") is False
"""


def start(home, taken, report) -> subprocess.Popen:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tools.split_run"]
    command += ["--import-mode=importlib", f"--junitxml={report}", "--rootdir=."]
    environment = {**os.environ, "PYTHONPATH": str(dev.ROOT), split_run.FOLDER: str(taken)}
    return subprocess.Popen(command, cwd=home, env=environment, stdout=subprocess.DEVNULL)


def test_two_processes_share_the_files(tmp_path):
    home, taken = tmp_path / "home", tmp_path / "taken"
    for folder in (home, taken):
        folder.mkdir()
    for k in range(FILES):
        (home / f"test_{k}.py").write_text(TESTS)
    reports = [tmp_path / f"{k}.xml" for k in range(2)]
    started = [start(home, taken, report) for report in reports]
    assert sorted(process.wait() for process in started) == [0, 1]
    ran = [[(case.get("classname"), case.get("name")) for case in ElementTree.parse(report).iter("testcase")]
           for report in reports]  # fmt: skip
    assert all(ran), "both have some"
    assert len({*ran[0], *ran[1]}) == len(ran[0]) + len(ran[1]) == 3 * FILES
    for name in ("made.txt", "undone.txt"):
        assert sorted((home / name).read_text().split()) == [f"test_{k}" for k in range(FILES)]
    counts = [dev.count_outcomes(report) for report in reports]
    assert [sum(count[word] for count in counts) for word in ("failed", "passed")] == [1, 3 * FILES - 1]
