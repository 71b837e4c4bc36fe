"""A new shape is one file and a line where it is listed and where it is offered: shown with one that does not exist."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from heft.addon.settings.bone import BONE_SHAPES
from heft.addon.settings.collider import SHAPES as COLLIDER_SHAPES
from heft.engine.geometry.shapes import SHAPES

ROOT = Path(__file__).resolve().parents[3]
TOY = ROOT / "tests" / "engine" / "toys" / "wedge.py"
# By file: what its lines take the place of. Together with the toy's own these are all files that are touched.
LINES = {
    "engine/geometry/shapes/__init__.py": {
        "from .sphere import Sphere\n": "from .sphere import Sphere\nfrom .wedge import Wedge\n",
        "Hull, Plane, Grid)\n": "Hull, Plane, Grid, Wedge)\n",
    },
    "addon/settings/collider.py": {
        'it must be closed", 5),\n': 'it must be closed", 5),\n    ("WEDGE", "Wedge", "A ramp", 6),\n',
    },
    "addon/settings/bone.py": {
        '("NONE", "None", "Touches nothing", 4),\n': '("NONE", "None", "Touches nothing", 4),\n'
        '    ("WEDGE", "Wedge", "A ramp", 5),\n',
    },
}


def with_toy(folder: Path) -> Path:
    """A copy of the project with the shape: one file and three edits."""
    for name in ("__init__.py", "blender_manifest.toml"):
        shutil.copy2(ROOT / name, folder / name)
    for name in ("addon", "engine"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "pictures"))
    shutil.copy2(TOY, folder / "engine" / "geometry" / "shapes")
    for path, lines in LINES.items():
        text = (folder / path).read_text(encoding="utf-8")
        for old, new in lines.items():
            assert text.count(old) == 1
            text = text.replace(old, new)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def test_at_most_four_files(tmp_path):
    assert 1 + len(LINES) <= 4
    script = Path(__file__).parents[1] / "toy_shape.py"
    command = [sys.executable, str(script), str(with_toy(tmp_path))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "all of it follows" in done.stdout.splitlines(), done.stdout + done.stderr


def test_what_is_offered_is_listed():
    kinds = {shape.kind for shape in SHAPES if shape.kind}
    assert {item[0] for item in COLLIDER_SHAPES} == kinds | {"AUTO"}
    assert {item[0] for item in BONE_SHAPES} <= kinds | {"AUTO", "NONE"}
