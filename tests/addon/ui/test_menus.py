"""Heft where Blender's users look, and nothing of theirs taken: menus and keys."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest
from bl_ui import space_view3d

import drawing
import rigs
from heft.addon.ui import keymap, menus

# Looked at before an editor's own keys, or together with those of a mode in the 3D View.
EVERYWHERE = ("Window", "Screen", "Screen Editing", "Frames", "User Interface", "View2D", "3D View", "3D View Generic",
              "Object Non-modal")  # fmt: skip
MODIFIERS = ("ctrl", "shift", "alt", "oskey")


def bound() -> list[tuple[str, str, dict]]:
    """(keymap, command, event) of every key that is bound in a window."""
    found = []

    def new(name, **_named):
        def item(command, kind, value, **modifiers):
            found.append((name, command, {"type": kind, "value": value, **modifiers}))

        return SimpleNamespace(keymap_items=SimpleNamespace(new=item, remove=lambda _item: None))

    config = SimpleNamespace(keymaps=SimpleNamespace(new=new))
    manager = SimpleNamespace(keyconfigs=SimpleNamespace(addon=config))
    real, kept = keymap.bpy, list(keymap._items.value)
    keymap.bpy = SimpleNamespace(context=SimpleNamespace(window_manager=manager), types=bpy.types)
    try:
        keymap.register()
    finally:
        keymap.bpy = real
        keymap._items.value = kept
    return found


def default_keys(name: str) -> list:
    """A keymap that Blender ships, as it writes it down."""
    folder = Path(bpy.utils.system_resource("SCRIPTS")) / "presets" / "keyconfig" / "keymap_data"
    module = bpy.utils.execfile(str(folder / f"{name}.py"))
    return getattr(module, "generate_keymaps_impl", module.generate_keymaps)()


def event(item: dict) -> tuple:
    return item["type"], *(bool(item.get(key, False)) for key in MODIFIERS)


@pytest.mark.parametrize("name", ["blender_default", "industry_compatible_data"])
def test_no_key_of_blenders_is_taken(name):
    keys = bound()
    assert ("Pose", "heft.flip") in [(where, command) for where, command, _ in keys]
    shipped = {where: [(item[0], event(item[1])) for item in content["items"] if item[1].get("type")]
               for where, _, content in default_keys(name)}  # fmt: skip
    assert len(shipped["Pose"]) > 20
    for where, command, own in keys:
        for other in (where, *EVERYWHERE):
            taken = [theirs for theirs, event_ in shipped.get(other, ()) if event_ == event(own)]
            assert taken == [], f"{command} takes a key of {taken} in '{other}'"


def drawn(entry, active=None) -> drawing.Layout:
    layout = drawing.Layout()
    entry(SimpleNamespace(layout=layout), drawing.Context())
    return layout


def test_object_and_pose_animation_hold_heft(empty):
    assert drawn(menus.draw_animation).drawn == []
    rig = rigs.chain(3)
    assert drawn(menus.draw_animation).texts("menu") == ["HEFT_MT_animation"]
    menu = drawing.draw(menus.HEFT_MT_animation)
    assert menu.texts("operator") == ["heft.add"]
    bpy.ops.heft.add()
    for mode in ("OBJECT", "POSE"):
        bpy.ops.object.mode_set(mode=mode)
        words = " ".join(drawing.draw(menus.HEFT_MT_animation).texts("operator"))
        for name in ("simulate", "throw", "nudge", "flip", "bake", "keep_take", "flip_take", "manual", "remove"):
            assert f"heft.{name}" in words
        assert "Stiffness" in words and "Mass" in words, "F3 finds what is in a menu, by its words"
    assert rig.mode == "POSE"


def test_the_entries_are_in_blenders_menus():
    for menu, entry in menus.ENTRIES:
        assert entry in menu._dyn_ui_initialize()
    # Pose > Animation is Object > Animation.
    source = Path(space_view3d.__file__).read_text(encoding="utf-8")
    pose = source[source.index("class VIEW3D_MT_pose(Menu)") :]
    assert 'layout.menu("VIEW3D_MT_object_animation")' in pose[: pose.index("\nclass ")]


def test_the_search_finds_presets_by_name(rig):
    layout = drawing.Layout()
    keys = ("bl_idname", "preset_subdir", "preset_operator", "save_operator", "remove_menu")
    menu = SimpleNamespace(layout=layout, **{key: getattr(menus.HEFT_MT_presets, key) for key in keys})
    menu.path_menu = lambda *args, **named: bpy.types.Menu.path_menu(menu, *args, **named)
    menus.HEFT_MT_presets.draw(menu, drawing.Context())
    words = layout.texts("operator")
    assert "heft.load_preset: Rag Doll" in words and "heft.load_preset: Heavy" in words


def test_add_armature_offers_the_walker(empty):
    words = drawn(menus.draw_add).texts("operator")
    assert words == ["heft.add_sample: Walking Character (Heft)"]
