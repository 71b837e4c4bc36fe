"""A Blender window a version, from a clean user folder with the installed zip."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

import dev

sys.path.insert(0, str(Path(__file__).parent))

import window

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "out" / "gui"
# Debian's Pythons. Its 4.3 is not among those zips are made for, but its Python has one.
PYTHONS = {"4.3": "3.13", "5.2": "3.14"}


@pytest.fixture(scope="session", params=PYTHONS)
def blender(request, tmp_path_factory):
    """Installed once; tests open and close it."""
    reason = window.available()
    if reason is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp(f"blender-{request.param}")
    target = next(
        zip_
        for zip_ in dev.zips()
        if (zip_.platform, zip_.python_version) == (dev.this_platform(), PYTHONS[request.param])
    )
    if request.param == "4.3":
        target = dataclasses.replace(target, blender_min="4.2.0")
    extension = dev.build_zip(target, folder / "heft.zip")
    found = window.Window(request.param, folder, extension, ":97", 5590 + len(request.param), PICTURES)
    yield found
    found.close()


@pytest.fixture
def window_of(blender):
    """Opens a file in the window; afterwards it is closed, and its console free of tracebacks."""

    def opened(path: Path) -> window.Window:
        blender.open(str(path))
        return blender

    yield opened
    blender.close()
    assert blender.complaints() == []
