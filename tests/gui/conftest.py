"""A Blender window a version, from a clean user folder with the installed zip."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

import dev
from tools import real_blenders

sys.path.insert(0, str(Path(__file__).parent))

import window
from screen import Screen

PICTURES = Path(__file__).resolve().parents[2] / "out" / "gui"
# A folder for all but Blender's user folder, to spare the next run the compiler.
KEEP = os.environ.get("HEFT_WINDOW_FOLDER")
# The way through is tried in every window, the rest in the newest; in the others too where they are asked for by name.
IN_EVERY_WINDOW = ("test_way_through.py", "test_keys.py")
# dev.py runs the versions beside one another.
NEWEST = list(real_blenders.VERSIONS)[-1]
VERSIONS = [
    version for version in real_blenders.VERSIONS if os.environ.get("HEFT_TEST_SUITE", version).endswith(version)
]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem) -> bool:
    """A test that fails is tried once more, and it is said: a hand may come too late on a busy machine.

    What the console complains of stays in it, so that a second try hides no traceback.
    """
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    failed = [report for report in reports if report.failed]
    if failed:
        last = str(failed[0].longrepr).strip().splitlines()[-1]
        print(f"\n{item.name} failed ({last}) {dev.TRIED_AGAIN}", file=sys.__stdout__, flush=True)
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_collection_modifyitems(config, items) -> None:
    if NEWEST in VERSIONS or os.environ.get("HEFT_TEST_ALL"):
        return
    left_out = [item for item in items if item.path.name not in IN_EVERY_WINDOW]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session", params=VERSIONS)
def blender(request, tmp_path_factory):
    """Installed once; tests open and close it."""
    version = request.param
    reason = real_blenders.why_not(version)
    if reason is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp(f"blender-{version}")
    if KEEP:
        folder = Path(KEEP, version)
        shutil.rmtree(folder / "user", ignore_errors=True)
        (folder / "console.txt").unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
    extension = window.build_zip(version, folder)
    screen = Screen(real_blenders.TOOL)
    try:
        found = window.Window(version, folder, extension, screen, PICTURES)
        yield found
        found.close()
    finally:
        screen.close()


@pytest.fixture
def window_of(blender):
    """Opens a file in the window; afterwards it is closed, and its console free of tracebacks."""

    def opened(path: Path) -> window.Window:
        blender.open(str(path))
        return blender

    yield opened
    blender.close()
    assert blender.complaints() == []
