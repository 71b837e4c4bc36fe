"""The extension zip, as a user gets it: built, validated, installed into a clean Blender, used from there."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path

import pytest

from tools import environments, packaging

USE_INSTALLED = Path(__file__).with_name("use_installed_extension.py")


@pytest.fixture(scope="module")
def extension_zip() -> Path:
    targets = [z for z in packaging.zips() if z.platform == packaging.this_platform() and z.python_version == "3.11"]
    if not targets:
        pytest.skip(f"no zip is made for {packaging.this_platform()}")
    environments.ensure(environments.BLENDER["5.0"])
    return packaging.build_zip(targets[0])


@pytest.fixture(scope="module")
def installed(extension_zip) -> dict:
    """What a Blender without numba and scipy reports after installing the zip into an empty user folder."""
    with tempfile.TemporaryDirectory() as folder:
        return {"user": folder, **install_and_use(extension_zip, Path(folder))}


def install_and_use(extension_zip: Path, user: Path) -> dict:
    report = user / "report.json"
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "NUMBA"))}
    environment |= {
        "BLENDER_USER_RESOURCES": str(user),
        "HOME": str(user),
        "XDG_CACHE_HOME": str(user / "cache"),
        "PYTHONNOUSERSITE": "1",
    }
    command = [environments.ensure(environments.BARE), USE_INSTALLED, extension_zip, report]
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(report.read_text())


def test_zip_holds_the_add_on_and_nothing_else(extension_zip):
    names = zipfile.ZipFile(extension_zip).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"addon", "engine", "wheels", "__init__.py", "LICENSE", "blender_manifest.toml"}
    assert not [name for name in names if "__pycache__" in name]
    assert sorted(name.split("/")[1].split("-")[0] for name in names if name.startswith("wheels/")) == [
        "llvmlite",
        "numba",
        "scipy",
    ]


def test_zip_brings_the_manual(extension_zip):
    names = set(zipfile.ZipFile(extension_zip).namelist())
    pages = [path for path in (environments.ROOT / "addon" / "manual").rglob("*") if path.is_file()]
    assert {path.suffix for path in pages} == {".md", ".webp"}
    assert {str(path.relative_to(environments.ROOT).as_posix()) for path in pages} <= names


def test_manual_opens_from_the_installed_extension(installed):
    """Its pages are written among the user's files, and show the pictures of the zip."""
    assert installed["manual"]["page"].startswith(installed["user"])
    assert len(installed["manual"]["pictures"]) > 5
    assert all(installed["manual"]["pictures"].values())
    assert all(path.startswith(installed["user"]) for path in installed["manual"]["pictures"])


def test_wheels_come_from_the_zip(installed):
    """The bare Blender has neither: what is imported is what the zip carries."""
    assert installed["modules_before"] == []
    for name in ("numba", "scipy"):
        assert installed["libraries"][name].startswith(installed["user"])


def test_engine_runs_compiled(installed):
    assert installed["compiled"]


def test_installed_extension_simulates_and_bakes(installed):
    assert installed["module"] == "bl_ext.user_default.heft"
    assert installed["actions_before"] == ["Swing"]
    assert len(installed["actions_after"]) == 2
    assert "Swing" in installed["actions_after"]
    assert installed["baked_action"] != "Swing"
    assert installed["finite"]
    # Without heaviness the baked pose is the source's; with it, the tip hangs back.
    assert installed["identity_deviation"] < 1e-4
    assert installed["heavy_deviation"] > 1e-2


def test_disabling_leaves_nothing_registered(installed):
    assert installed["registered_after_disable"] == []
