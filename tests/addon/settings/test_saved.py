"""Settings as text: what earlier versions saved is read, and what is saved and digested is what it was.

`saved_settings.json` holds the texts of the file that `unusual` builds, as they were made before the settings were
declared in one place. Settings that have come since are left out of the comparison.
"""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest

import rigs
import unusual
from heft.addon import declare, handlers
from heft.addon.read import fingerprint, shot
from heft.addon.result import take_settings
from heft.addon.settings import collider_of, saved
from heft.addon.settings.bone import HeftBone
from heft.addon.settings.character import HeftArmature
from heft.addon.settings.collider import HeftCollider

OLD = json.loads(Path(__file__).with_name("saved_settings.json").read_text(encoding="utf-8"))
STORE = json.loads(OLD["rig"])


def only_old(monkeypatch, kind: type, names) -> None:
    """Leave settings out that have come since."""
    monkeypatch.setattr(kind, "declared", {name: each for name, each in kind.declared.items() if name in names})


@pytest.fixture
def as_it_was(monkeypatch):
    """Only the settings that there were."""
    for name, entries in STORE["lists"].items():
        only_old(monkeypatch, HeftArmature.declared[name].points_to, entries[0])
    only_old(monkeypatch, HeftArmature, {**STORE["armature"], **STORE["lists"]})
    only_old(monkeypatch, HeftBone, STORE["bones"]["bone.000"])
    only_old(monkeypatch, HeftCollider, json.loads(OLD["collider"])["collider"])
    for module, derived in (
        (fingerprint, {
            "RIG_SETTINGS": declare.names(HeftArmature, is_simulated=True, is_list=False),
            "BONE_SETTINGS": declare.names(HeftBone, is_simulated=True),
            "_bone_values": declare.reader(declare.names(HeftBone, is_simulated=True)),
            "_rig_structure": fingerprint.structure_reader(HeftArmature),
            "_bone_structure": fingerprint.structure_reader(HeftBone),
        }),
        (take_settings, {
            "KEPT": declare.names(HeftArmature, taken=True, is_list=False),
            "KEPT_OF_BONE": declare.names(HeftBone, taken=True),
            "KEPT_OF_COLLIDER": declare.names(HeftCollider, taken=True),
        }),
    ):  # fmt: skip
        for name, value in derived.items():
            monkeypatch.setattr(module, name, value)


def test_all_texts_are_byte_for_byte_what_they_were(empty, as_it_was, monkeypatch):
    """What is saved, what a take holds, what is digested: results of old files count as current."""
    now = unusual.texts(monkeypatch, saved, take_settings, fingerprint)
    assert now.keys() == OLD.keys()
    for which, text in OLD.items():
        # What goes into a digest was written down piece by piece.
        assert now[which] == "".join(text), which


def values_of(group, names) -> dict:
    """Values of a group, with those of the entries of its lists."""
    return saved._values(group, tuple(group.declared[name] for name in names))


def test_what_an_earlier_version_saved_is_restored(empty):
    """All of it: settings, state, lists, takes. The file has lost the groups, as overrides do in Blender 5."""
    rig, ball = unusual.file()
    ball.heft_store, rig.heft_store = OLD["collider"], OLD["rig"]
    unusual.lose(rig, ball)
    assert not rig.heft.enabled and not len(rig.heft.takes)
    handlers.on_load()
    assert values_of(rig.heft, STORE["armature"]) == STORE["armature"]
    assert values_of(rig.heft, STORE["lists"]) == STORE["lists"]
    for bone, values in STORE["bones"].items():
        assert values_of(rig.pose.bones[bone].heft, values) == values
    stored = json.loads(OLD["collider"])["collider"]
    assert values_of(ball.heft_collider, stored) == stored
    assert rig.heft.colliders == bpy.data.collections["Things"] and rig.heft.ties[0].target == ball


def test_a_take_of_an_earlier_version_gives_its_settings_back(empty):
    rig, ball = unusual.file()
    rig.heft.colliders.objects.link(ball)
    unusual.lose(rig, ball)
    rig.heft.enabled, rig.heft.live = True, False
    take_settings.restore(rig, OLD["take"])
    assert take_settings.packed(rig, shot.of(rig)) == OLD["take"]
    assert take_settings.phrase(OLD["take"], OLD["take, keyed"]).startswith("settle 0.875 s, 2 bones")


def test_what_another_version_knew_is_left_out(empty):
    rig = rigs.post(2)
    bpy.ops.heft.add()
    rig.heft.settle_time = 0.75
    saved.pack(rig)
    stored = json.loads(rig.heft_store)
    stored["armature"]["valour"], stored["lists"]["songs"] = 3.0, [{"name": "one"}]
    stored["bones"]["bone.000"] = {"tint": "RED", "mass": 2.0}
    rig.heft_store = json.dumps(stored)
    unusual.lose(rig)
    saved.unpack(rig)
    assert rig.heft.settle_time == 0.75 and rig.pose.bones[0].heft.mass == 2.0


def test_reading_defaults_leaves_no_trace(empty):
    ball = rigs.ball()
    assert collider_of(ball).shape == "AUTO" and not ball.is_property_set("heft_collider")


def test_every_setting_is_saved_or_says_that_it_is_not():
    unsaved = {name for kind in (HeftArmature, HeftBone) for name in declare.names(kind, is_saved=False)}
    rows = {f"{name}_index" for name in ("push", "tie", "script", "miss", "control", "switch", "bone")}
    assert unsaved == {"message", *rows}
