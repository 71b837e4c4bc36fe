"""A controller is one file on each side, and a line in each registry: shown with one that does not exist."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ADDON_TESTS = Path(__file__).parents[1]
TOYS = ADDON_TESTS / "toys"
# By registry: what takes the place of its line.
LINES = {
    "engine": ("CONTROLLERS = (Follow, OnTime, Limp)", "CONTROLLERS = (Follow, OnTime, Limp, Pull)"),
    "addon": ("(FOLLOW, ON_TIME, LIMP)", "(FOLLOW, ON_TIME, LIMP, PULL)"),
}
# By registry: the import that comes before it.
IMPORTS = {"engine": ("Limp", "Pull"), "addon": ("LIMP", "PULL")}


def with_toy(folder: Path) -> Path:
    """A copy of the project with the controller: two files, two lines and their imports."""
    for name in ("__init__.py", "blender_manifest.toml"):
        shutil.copy2(ROOT / name, folder / name)
    for name, (old, new) in LINES.items():
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "pictures"))
        shutil.copy2(TOYS / f"{name}_pull.py", folder / name / "controllers" / "pull.py")
        registry = folder / name / "controllers" / "__init__.py"
        text = registry.read_text(encoding="utf-8")
        assert text.count(old) == 1
        before, own = IMPORTS[name]
        text = text.replace(old, new)
        text = text.replace(f"from .limp import {before}\n", f"from .limp import {before}\nfrom .pull import {own}\n")
        registry.write_text(text, encoding="utf-8")
    return folder


def test_one_file_on_each_side_and_two_lines(tmp_path):
    script = ADDON_TESTS / "toy_controller.py"
    command = [sys.executable, str(script), str(with_toy(tmp_path))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "all of it follows" in done.stdout.splitlines(), done.stdout + done.stderr
