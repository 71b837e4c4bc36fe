"""The manual's tables of settings, made of the declarations: names, defaults and ranges for scripts.

    python tests/addon/settings_tables.py      writes them into addon/manual/scripting.md

Run inside Blender's Python (`python3 dev.py manual` does). `test_manual.py` compares the page with what this makes.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "addon" / "manual" / "scripting.md"
# The tables stand between this heading and the next.
HEADING = "## All settings"
# What a number counts, by Blender's kind of unit or by its subtype.
UNITS = {
    "TIME_ABSOLUTE": "s",
    "MASS": "kg",
    "LENGTH": "m",
    "ACCELERATION": "m/s²",
    "VELOCITY": "m/s",
    "ANGLE": "rad",
}
UNBOUNDED = 1e30


def groups() -> dict[str, type]:
    """Where scripts find a group, and its class; what belongs to the display alone is left out."""
    from heft.addon.settings import bone, character, collider, pose_script, push, tie

    return {
        "ob.heft": character.HeftArmature,
        "pose_bone.heft": bone.HeftBone,
        "ob.heft_collider": collider.HeftCollider,
        "ob.heft.pushes[…]": push.HeftPush,
        "ob.heft.ties[…]": tie.HeftTie,
        "ob.heft.script[…]": pose_script.HeftScriptPose,
    }


def tables() -> str:
    """All tables as Markdown."""
    return "\n\n".join(table(where, cls) for where, cls in groups().items())


def table(where: str, cls: type) -> str:
    """One group's table: a row for each setting that a script may want to set."""
    rows = [f"| `{where}` | in the panel | default | values | keys |", "|---|---|---|---|---|"]
    for setting in cls.declared.values():
        if not setting.hidden and not setting.active and not setting.is_list and is_of_motion(setting):
            prop = cls.bl_rna.properties[setting.name]
            keys = "yes" if setting.keyable else ""
            rows.append(f"| `{setting.name}` | {prop.name} | {default(prop)} | {values(prop)} | {keys} |")
    return "\n".join(rows)


def is_of_motion(setting) -> bool:
    """Does the motion depend on it, or how it is shown: not overlays, curves or lists."""
    page = setting.manual.partition(".html")
    return page[0] != "overlays" and page[2] not in ("#curves", "#takes") and setting.name != "bone_index"


def default(prop) -> str:
    if prop.type == "POINTER":
        return "none"
    if prop.type == "STRING":
        return "empty"
    if prop.type in ("ENUM", "BOOLEAN"):
        return f"`{prop.default}`"
    found = prop.default_array if prop.is_array else [prop.default]
    return f"{', '.join(map(number, found))}{unit(prop)}"


def values(prop) -> str:
    if prop.type == "ENUM":
        return ", ".join(f"`{item.identifier}`" for item in prop.enum_items)
    if prop.type == "BOOLEAN":
        return "`True`, `False`"
    if prop.type == "POINTER":
        return f"`bpy.types.{prop.fixed_type.identifier}`"
    if prop.type == "STRING":
        return "a name"
    low, high = prop.hard_min, prop.hard_max
    whole = prop.type == "INT"
    low = None if low <= (-(2**31) if whole else -UNBOUNDED) else number(low)
    high = None if high >= (2**31 - 1 if whole else UNBOUNDED) else number(high)
    each = "each " if prop.is_array else ""
    if low is None:
        return f"{each}any" if high is None else f"{each}to {high}"
    return f"{each}from {low}" if high is None else f"{each}{low} to {high}"


def number(value: float) -> str:
    """As short as it can be told."""
    return f"{value:.4g}".replace("e-0", "e-").replace("e+0", "e")


def unit(prop) -> str:
    word = UNITS.get(getattr(prop, "unit", ""), UNITS.get(prop.subtype, ""))
    return f" {word}" if word else ""


def in_page(text: str) -> str:
    """The page's text with the tables as they should be."""
    before, heading, rest = text.partition(f"{HEADING}\n")
    assert heading, f"{PAGE.name} has no heading '{HEADING}'"
    intro = rest.partition("\n|")[0]
    _, mark, after = rest.partition("\n## ")
    return f"{before}{heading}{intro}\n{tables()}\n{mark}{after}"


if __name__ == "__main__":
    import bpy

    sys.path.insert(0, str(ROOT))
    from sample_scenes import stage

    bpy.ops.wm.read_factory_settings(use_empty=True)
    stage.load_addon()
    PAGE.write_text(in_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
