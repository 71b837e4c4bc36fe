"""Who is in a shot and what it depends on is worked out once an event, and handed down."""

from __future__ import annotations

from collections import Counter

import bpy
import pytest

import rigs
from heft.addon.blender import actions
from heft.addon.read import cycles, fingerprint, frame_plan, inputs, shot
from heft.addon.rig import skin
from heft.addon.simulate import live, session

# What is counted, and where it stands.
COUNTED = (
    (shot, "_look"),
    (shot, "casts"),
    (shot, "_build"),
    (shot, "loads"),
    (frame_plan, "plan_of"),
    (cycles, "cycle_of"),
    (skin, "meshes_of"),
    (fingerprint, "source_fingerprint"),
    (fingerprint, "settings_text"),
    (fingerprint, "structure"),
)


@pytest.fixture
def rig(empty):
    rig = rigs.chain(5)
    rigs.wave(rig)
    bpy.ops.heft.add()
    rig.heft.total_mass = 2.0
    rig.heft.live = True
    return rig


@pytest.fixture
def calls(rig, monkeypatch):
    """How often each is called, from now on."""
    found = Counter()

    def counted(name, function):
        def call(*args, **named):
            found[name] += 1
            return function(*args, **named)

        return call

    for module, name in COUNTED:
        monkeypatch.setattr(module, name, counted(name, getattr(module, name)))
    # Called by the name under which it was imported.
    monkeypatch.setattr(frame_plan, "cycle_of", cycles.cycle_of)
    return found


def beside(rig) -> bpy.types.Object:
    """Another character, in a shot of its own."""
    other = rig.copy()
    bpy.context.scene.collection.objects.link(other)
    other.location.x = 3.0
    other.heft.live = False
    return other


def test_a_notch_of_a_slider_looks_at_everything_once(rig, calls):
    """It was looked for the shot's members 5 times, through all characters 9 times and for the frames twice."""
    rig.heft.settle_time = 0.41
    print(dict(calls))
    assert session.is_current(rig, bpy.context.scene)
    calls.clear()
    rig.heft.settle_time = 0.42
    assert calls == dict.fromkeys((name for _, name in COUNTED), 1)


def test_other_characters_are_seen_by_the_same_look(rig, calls):
    other = beside(rig)
    calls.clear()
    rig.heft.settle_time = 0.43
    assert calls["_look"] == calls["casts"] == calls["plan_of"] == calls["source_fingerprint"] == 1
    assert calls["_build"] == calls["loads"] == len(shot.casts()) == 2
    assert other.heft.fingerprint != rig.heft.fingerprint


def test_following_an_edit_compares_and_simulates_by_one_tree(rig, calls):
    curve = next(iter(actions.active_curves(rig)))
    curve.keyframe_points[2].co[1] += 0.1
    calls.clear()
    live.follow_source()
    once = ("casts", "_build", "plan_of", "cycle_of", "source_fingerprint", "settings_text", "structure")
    # To read the rig anew is to look for its skin and its loads again.
    assert {name: calls[name] for name in once} == dict.fromkeys(once, 1)
    assert session.is_current(rig, bpy.context.scene)


def test_parts_of_the_tree_change_with_what_they_are_of(rig):
    """And the total with each of them."""
    scene = bpy.context.scene

    def parts() -> dict:
        now = inputs.of(rig, scene)
        each = now.rigs[rig]
        return {
            "frames": now.plan.digest(),
            "source": each.source,
            "structure": each.structure,
            "settings": each.settings,
            "objects": now.objects,
            "surroundings": now.surroundings,
            "total": now.total,
        }

    def changed(change) -> set[str]:
        before = parts()
        change()
        after = parts()
        return {name for name, value in after.items() if value != before[name]}

    box = rigs.block("Box")
    curve = next(iter(actions.active_curves(rig)))
    assert changed(lambda: None) == set()
    assert changed(lambda: setattr(rig.heft, "damping_ratio", 0.7)) == {"settings", "total"}
    assert changed(lambda: setattr(rig.heft, "total_mass", 5.0)) == {"settings", "structure", "total"}
    assert changed(lambda: setattr(curve.keyframe_points[0], "co", (1.0, 0.7))) == {"source", "total"}
    assert changed(lambda: rigs.collide(rig, box)) == {"settings", "objects", "surroundings", "total"}
    assert changed(lambda: setattr(box, "location", (1.0, 0.0, 0.0))) == {"objects", "total"}
    assert changed(lambda: setattr(box.heft_collider, "friction", 0.1)) == {"surroundings", "total"}
    assert changed(lambda: setattr(rig.heft, "mix", 0.5)) == set(), "shown, not simulated"
    assert changed(lambda: setattr(rig.heft, "pre_roll", 7)) >= {"frames", "total"}
