"""The manual against the add-on: what the panel shows is described on its page, and its example runs."""

from __future__ import annotations

import re
from pathlib import Path

import bpy
import pytest

import heft
import rigs
import settings_tables
from heft.addon import declare
from heft.addon.batch import command_line
from heft.addon.ui import manual_pages
from heft.addon.ui.operators import manual

ROOT = Path(__file__).resolve().parents[3]
MANUAL = ROOT / "addon" / "manual"
# The panel does not name it.
UNNAMED = "enabled"
OPERATOR_PAGES = tuple(name for name, _ in manual_pages.CONTENTS)


def bold(*pages: str) -> set[str]:
    """What these pages name in bold."""
    texts = [(MANUAL / f"{page}.md").read_text(encoding="utf-8") for page in pages]
    return {name for text in texts for name in re.findall(r"\*\*([^*]+)\*\*", text)}


def groups() -> list:
    """Every group of settings, but for what is only ever listed."""
    return [cls for cls in heft.addon.settings.CLASSES if cls.manual_page]


def described() -> list[tuple[type, declare.Setting]]:
    """Every setting that the panel names. Lists are described by their entries, takes by what is done with them."""
    found = [(cls, each) for cls in groups() for each in declare.of(cls, hidden=False, is_list=False)]
    return [(cls, each) for cls, each in found if each.name not in (UNNAMED, "name") and "name" in each.keywords]


def test_every_setting_is_described_on_the_page_that_f1_opens():
    assert len(described()) > 100
    missing = [
        f"{each.manual} does not describe {cls.__name__}.{each.name}"
        for cls, each in described()
        if each.keywords["name"] not in bold(each.manual.partition(".html")[0])
    ]
    assert not missing, "\n".join(missing)


def test_every_command_is_described():
    """Commands and their options: those of Heft that search finds."""
    named = bold(*OPERATOR_PAGES)
    commands = [cls for cls in heft.addon.CLASSES if issubclass(cls, bpy.types.Operator)]
    assert len(commands) > 20
    missing = [cls.bl_label for cls in commands if "INTERNAL" not in getattr(cls, "bl_options", ())]
    missing = sorted(set(missing) - named)
    assert not missing, f"no page of the manual describes: {', '.join(missing)}"
    options = {p.name for p in bpy.ops.heft.bake.get_rna_type().properties if p.identifier != "rna_type"}
    assert options - named == set()


def test_the_tables_of_settings_are_as_declared():
    """Names, defaults and ranges. After a change of declarations: `python3 dev.py manual`."""
    text = settings_tables.PAGE.read_text(encoding="utf-8")
    assert settings_tables.in_page(text) == text
    assert len(re.findall(r"^\| `\w+` \|", text, re.MULTILINE)) > 80


def example() -> str:
    text = (MANUAL / "scripting.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "import bpy" in block]
    return code


@pytest.mark.parametrize("with_ball", [False, True])
def test_the_example_runs_and_bakes(empty, with_ball):
    empty.frame_end = rigs.FRAMES[-1]
    rig = rigs.post(3)
    for frame, turn in ((1, 0.0), (rigs.FRAMES[-1], 0.5)):
        rig.pose.bones[1].rotation_quaternion = (1.0, turn, 0.0, 0.0)
        rig.pose.bones[1].keyframe_insert("rotation_quaternion", frame=frame)
    source = rig.animation_data.action
    if with_ball:
        mesh = bpy.data.meshes.new("Ball")
        mesh.from_pydata([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], [], [(0, 1, 3, 2)])
        ball = bpy.data.objects.new("Ball", mesh)
        ball.location = (40, 0, 0)
        empty.collection.objects.link(ball)
    names: dict = {}
    exec(compile(example(), "scripting.md", "exec"), names)
    assert names["baked"] not in (None, source)
    assert source.name in bpy.data.actions and not rig.heft.enabled


def test_the_command_line_is_as_written():
    text = (MANUAL / "scripting.md").read_text(encoding="utf-8")
    (line,) = [line for line in text.splitlines() if line.startswith("blender -b")]
    options = command_line._parser().parse_args(line.split("--command heft ")[1].split())
    assert options.armature == "Walker" and options.set == ["settle_time=0.2", "heaviness=0.5"]
    (bake,) = [a.choices["bake"] for a in command_line._parser()._actions if getattr(a, "choices", None)]
    told = set(re.findall(r"^\| `(--\w+)", text, re.MULTILINE))
    assert told == {a.option_strings[0] for a in bake._actions if a.option_strings[0] != "-h"}


def test_the_page_that_is_opened_exists():
    for name, _ in manual_pages.CONTENTS:
        path = manual.page_path(name.upper())
        assert path.is_file() and "<main>" in path.read_text(encoding="utf-8")
    pages = bpy.ops.heft.manual.get_rna_type().properties["page"].enum_items.keys()
    assert pages == [name.upper() for name, _ in manual_pages.CONTENTS]
