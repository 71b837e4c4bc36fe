"""Digests of curves: what is read again, and what is taken to stand while a slider is dragged in a window."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from heft.addon import memory
from heft.addon.blender import actions
from heft.addon.read import curve_digests


@pytest.fixture
def keyed(monkeypatch):
    """An object with two keys, as in a window; forgotten afterwards."""
    ob = bpy.data.objects.new("Keyed", None)
    bpy.context.scene.collection.objects.link(ob)
    for frame in (1, 10):
        ob.keyframe_insert("location", frame=frame)
    app = SimpleNamespace(background=False)
    monkeypatch.setattr(curve_digests, "bpy", SimpleNamespace(app=app, data=bpy.data, types=bpy.types))
    yield ob
    memory.notify(memory.UNDO)


def digest(ob) -> bytes:
    return curve_digests.of_bag(ob.animation_data.action, actions.active_bag(ob))


def move_a_key(ob) -> None:
    """As a script does that tells nobody."""
    points = next(iter(actions.active_curves(ob))).keyframe_points
    points.foreach_set("co", [1.0, 2.0 + points[0].co[1], 10.0, 5.0])


def test_a_drag_trusts_what_was_read_until_an_edit_is_told(keyed):
    first = digest(keyed)
    move_a_key(keyed)
    with curve_digests.trusting():
        assert digest(keyed) == first
        memory.notify(memory.EDIT_KEYS, keyed.animation_data.action)
        told = digest(keyed)
    assert told != first
    move_a_key(keyed)
    assert digest(keyed) not in (first, told), "outside of a drag it is read every time"


def test_without_a_window_nothing_is_trusted(keyed, monkeypatch):
    monkeypatch.setattr(curve_digests, "bpy", bpy)
    first = digest(keyed)
    move_a_key(keyed)
    with curve_digests.trusting():
        assert digest(keyed) != first
