"""Words on buttons: every setting and command says what it does in plain words, and in which unit."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import bpy
import pytest

import heft.addon as addon
import rigs
from heft.addon.ui.operators import base

GROUPS = [cls for cls in addon.CLASSES if issubclass(cls, bpy.types.PropertyGroup)]
OPERATORS = [cls for cls in addon.CLASSES if issubclass(cls, bpy.types.Operator)]
UNITS = (
    "second", "metre", "degree", "kilogram", "frame", "newton", "body weights", "%", "times ", "0 ", "steps",
    "parts of",
)  # fmt: skip
# Counts and choices among numbers: they have no unit.
BARE = {("HeftBone", "overlap_group"), ("HeftPush", "direction"), ("HeftSwitch", "value"), ("HeftArmature", "shape"),
        ("HeftArmature", "bone_index"), ("HeftArmature", "damping_ratio"), ("HEFT_OT_go_to_miss", "index")}  # fmt: skip


def settings():
    """(group, property) of all that a user meets."""
    for cls in GROUPS:
        for prop in cls.bl_rna.properties:
            if prop.identifier not in ("rna_type", "name") and not prop.is_hidden:
                yield cls, prop


def options():
    """(operator, property) of all that a user meets."""
    for cls in OPERATORS:
        for prop in _rna(cls).properties:
            if prop.identifier not in ("rna_type", "remove_name", "remove_active") and not prop.is_hidden:
                yield cls, prop


def _rna(cls):
    module, _, name = cls.bl_idname.partition(".")
    return getattr(getattr(bpy.ops, module), name).get_rna_type()


def all_of_them() -> list:
    """What a user meets."""
    return [*settings(), *options()]


def where(cls, prop) -> str:
    return f"{cls.__name__}.{prop.identifier}: {prop.description!r}"


def test_every_setting_says_what_it_does():
    everything = all_of_them()
    assert len(everything) > 90
    silent = [where(*each) for each in everything if not plain(each[1].description)]
    assert silent == [], "\n".join(silent)
    items = [(f"{where(cls, prop)} {item.identifier}", item.description) for cls, prop in everything
             if prop.type == "ENUM" for item in prop.enum_items]  # fmt: skip
    silent = [name for name, words in items if not plain(words)]
    assert silent == [], "\n".join(silent)


def plain(words: str) -> bool:
    """A tooltip: there, with a capital letter, and without the dot that Blender adds."""
    return bool(words) and not words.endswith(".") and words[0] == words[0].upper() and "\n" not in words


def test_every_number_names_its_unit():
    numbers = [each for each in all_of_them() if each[1].type in ("FLOAT", "INT")]
    assert len(numbers) > 40
    bare = [where(*each) for each in numbers if not has_unit(*each)]
    assert bare == [], "\n".join(bare)


def has_unit(cls, prop) -> bool:
    shown = prop.unit != "NONE" or prop.subtype in ("FACTOR", "ANGLE", "DISTANCE", "TIME_ABSOLUTE", "VELOCITY")
    words = f"{prop.name} {prop.description}".lower()
    return shown or (cls.__name__, prop.identifier) in BARE or any(unit in words for unit in UNITS)


def test_every_command_says_what_it_does():
    told = {cls.__name__: _rna(cls).description for cls in OPERATORS}
    assert {name: words for name, words in told.items() if len(words) < 15 or not plain(" ".join(words.split()))} == {}


def test_the_words_people_search_for_lead_to_a_setting_or_command():
    everything = [f"{prop.name} {prop.description}" for _, prop in all_of_them()]
    everything += [f"{_rna(cls).name} {_rna(cls).description}" for cls in OPERATORS]
    text = " ".join(everything).lower()
    presets = Path(addon.__file__).parent / "presets" / "heft"
    text += " ".join(
        ast.get_docstring(ast.parse(path.read_text())) + path.stem for path in presets.rglob("*.py")
    ).lower()
    for word in ("stiffness", "weight", "damp", "rag", "recover", "bake", "mass", "friction", "bounce"):
        assert word in text, word


# --- why not ----------------------------------------------------------------------------------------


def reasons() -> dict[str, str]:
    """What each command that cannot be used now says, by its name."""
    found = {}
    for cls in OPERATORS:
        command = getattr(bpy.ops.heft, cls.bl_idname.partition(".")[2])
        if not command.poll():
            with pytest.raises(RuntimeError) as refused:
                command()
            found[cls.bl_idname] = str(refused.value).split("poll()")[-1].strip()
    return found


def assert_reasons(found: dict[str, str]) -> None:
    for name, words in found.items():
        assert "context is incorrect" not in words and re.search(r"[a-z]{4}", words), f"{name} does not say why not"


def test_a_button_that_cannot_be_used_says_why(empty):
    found = reasons()  # nothing is there
    assert_reasons(found)
    assert "heft.add" in found and "heft.simulate" in found and "heft.add_sample" not in found
    rig = rigs.chain(3)
    bpy.context.scene.frame_end = 3
    found = reasons()
    assert_reasons(found)
    assert "Add Physics" in found["heft.simulate"] and "heft.add" not in found
    bpy.ops.heft.add()
    found = reasons()
    assert_reasons(found)
    assert "Simulate" in found["heft.bake"] and "Simulate" in found["heft.flip"] and "heft.simulate" not in found
    bpy.ops.heft.simulate()
    assert "heft.bake" not in reasons()
    bpy.ops.object.mode_set(mode="EDIT")
    found = reasons()
    assert_reasons(found)
    assert "Edit Mode" in found["heft.simulate"]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert "Pose Mode" in reasons()["heft.copy_to_selected"]
    assert base.active_rig(bpy.context) == rig
