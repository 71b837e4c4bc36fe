"""Unit tests mirror the tree: `tests/engine/contact/test_impacts.py` is of `engine/contact/impacts.py`. Tests of
behaviour stand in `behaviour/`."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Folders of tests whose folders are those of the package, and what stands in them besides.
MIRRORS = {"engine": {"behaviour", "toys"}}


@pytest.mark.parametrize("package", MIRRORS)
def test_every_unit_test_has_its_module(package):
    tests = ROOT / "tests" / package
    alone = []
    for path in tests.glob("*/**/test_*.py"):
        folder = path.relative_to(tests).parent
        if folder.parts[0] in MIRRORS[package]:
            continue
        if not (ROOT / package / folder / path.name.removeprefix("test_")).exists():
            alone.append(str(path.relative_to(ROOT)))
    assert not alone


def test_every_folder_of_the_engine_has_tests():
    folders = {path.name for path in (ROOT / "engine").iterdir() if (path / "__init__.py").exists()}
    tested = {path.name for path in (ROOT / "tests" / "engine").iterdir() if path.is_dir()}
    assert folders <= tested, folders - tested
