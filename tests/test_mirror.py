"""Unit tests mirror the tree: `tests/engine/contact/test_impacts.py` is of `engine/contact/impacts.py`, and
`tests/addon/ui/test_panels.py` of the folder `addon/ui/panels`. Tests of behaviour stand in `behaviour/`."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# By package: folders of its tests that mirror none of its own.
BESIDES = {"engine": {"behaviour", "toys"}, "addon": {"behaviour", "toys"}}
# Of no one module: every part of the engine has a share in the numbers that are pinned.
OF_ALL = {Path("engine/test_pinned.py")}


@pytest.mark.parametrize("package", BESIDES)
def test_every_unit_test_has_its_module(package):
    tests = ROOT / "tests"
    alone = []
    for path in (tests / package).rglob("test_*.py"):
        place = path.relative_to(tests)
        if place.parts[1] in BESIDES[package] or place in OF_ALL:
            continue
        module = ROOT / place.parent / place.stem.removeprefix("test_")
        if not module.with_suffix(".py").exists() and not (module / "__init__.py").exists():
            alone.append(str(place))
    assert not alone


@pytest.mark.parametrize("package", BESIDES)
def test_every_folder_has_tests(package):
    folders = {path.name for path in (ROOT / package).iterdir() if (path / "__init__.py").exists()}
    tested = {path.parents[-2].name for path in _below(ROOT / "tests" / package)}
    assert folders <= tested, folders - tested


def _below(tests: Path) -> list[Path]:
    """Its test files, from that folder on."""
    return [path.relative_to(tests) for path in tests.glob("*/**/test_*.py")]


def test_no_folder_of_tests_is_too_full():
    for package in BESIDES:
        folders = [path for path in (ROOT / "tests" / package).rglob("*") if path.is_dir()]
        counts = {path: len([*path.glob("*.py")]) for path in folders}
        assert not {str(path.relative_to(ROOT)): count for path, count in counts.items() if count > 25}
