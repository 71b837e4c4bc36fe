"""A new setting of a bone is one declaration, one use and one test case: shown with one that does not exist."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bpy.props import FloatProperty

from heft.addon import declare

ROOT = Path(__file__).resolve().parents[3]
DECLARATION = """    damping_scale: simulated(
        FloatProperty,
        name="Damping",
        description="Times the armature's damping ratio",
        default=1.0,
        min=0.01,
        max=100.0,
        keyable=True,
        preset=True,
    )
    mass: simulated("""
USE = 'per_body("damping_ratio", "damping_scale")'


def with_toy(folder: Path) -> Path:
    """A copy of the project with the setting: two edits."""
    for name in ("__init__.py", "blender_manifest.toml"):
        shutil.copy2(ROOT / name, folder / name)
    for name in ("addon", "engine"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "pictures"))
    for path, old, new in (
        ("settings/bone.py", "    mass: simulated(", DECLARATION),
        ("read/read_controller.py", 'per_body("damping_ratio")', USE),
    ):
        file = folder / "addon" / path
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1
        file.write_text(text.replace(old, new), encoding="utf-8")
    return folder


def test_one_declaration_and_one_use(tmp_path):
    script = Path(__file__).parents[1] / "toy_setting.py"
    command = [sys.executable, str(script), str(with_toy(tmp_path))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "all of it follows" in done.stdout.splitlines(), done.stdout + done.stderr


# --- what a declaration becomes -------------------------------------------------------------------


def group_of(**settings) -> type:
    """A group with these declarations."""
    return declare.settings_group(update_of=lambda name: name.upper, manual="page.html")(
        type("Group", (), {"__annotations__": settings})
    )


def test_options_follow_from_the_kind():
    group = group_of(
        a=declare.simulated(FloatProperty, name="A", keyable=True),
        b=declare.shown(FloatProperty, manual="b.html"),
        c=declare.remembered(FloatProperty),
        d=declare.unsaved(FloatProperty),
        e=declare.simulated(FloatProperty, update=None),
    )
    a, b, c, d, e = (group.declared[name].keywords for name in "abcde")
    assert [each["options"] for each in (a, b, c, d)] == [{"ANIMATABLE"}, set(), {"HIDDEN"}, {"HIDDEN"}]
    assert a["update"]() == "A" and b["update"] is declare.redraw
    assert not any("update" in each for each in (c, d, e))
    assert all(each["override"] == declare.OVERRIDABLE for each in (a, b, c, d, e))
    assert [group.declared[name].manual for name in "ab"] == ["page.html", "b.html"]
    assert group.__annotations__["a"].keywords == a
    assert declare.names(group, is_simulated=True) == declare.names(group, copied=True) == ("a", "e")
    assert declare.names(group, is_saved=True) == ("a", "b", "c", "e")


def test_the_order_is_that_of_the_declarations_bases_first():
    first = group_of(b=declare.simulated(FloatProperty), a=declare.simulated(FloatProperty))
    second = group_of(c=declare.simulated(FloatProperty))
    own = {"__annotations__": {"d": declare.shown(FloatProperty)}}
    both = declare.settings_group()(type("Both", (first, second), own))
    assert declare.names(both) == ("b", "a", "c", "d")


def test_what_is_not_declared_is_refused():
    with pytest.raises(TypeError, match=r"Group\.a is not declared"):
        group_of(a=FloatProperty(name="A"))
    with pytest.raises(TypeError, match="names what is called"):
        declare.settings_group()(type("Group", (), {"__annotations__": {"a": declare.simulated(FloatProperty)}}))
