"""What is remembered, and that nothing of a character is left when its file is closed."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

import rigs
from heft.addon import memory
from heft.addon.simulate import live, session


@pytest.fixture
def made():
    """Memos of this test only."""
    before = set(memory.REGISTRY)
    yield
    for name in set(memory.REGISTRY) - before:
        del memory.REGISTRY[name]


def test_an_event_drops_what_says_so(made):
    told = memory.Memo("told", "rig", (memory.LOAD, memory.REMOVE))
    other = memory.Memo("other", "rig", (memory.UNDO,))
    for each in (told, other):
        each.update({1: "a", 2: "b", (2, "take"): "c"})
    memory.notify(memory.REMOVE, SimpleNamespace(session_uid=2))
    assert set(told) == {1} and len(other) == 3
    memory.notify(memory.LOAD)
    assert not told and len(other) == 3
    other.on_event(memory.UNREGISTER, None)
    assert not other, "switched off, the add-on remembers nothing"


def test_a_value_begins_again(made):
    value = memory.Value("value", list, (memory.LOAD,))
    value.value.append(1)
    memory.notify(memory.UNDO)
    assert value.value == [1]
    memory.notify(memory.LOAD)
    assert value.value == []


def test_what_was_not_asked_for_longest_goes_first(made):
    asked = []
    memo = memory.Memo("few", "content", most=2)
    for key in ("a", "b", "a", "c", "a", "b"):
        memo.remember(key, lambda key=key: asked.append(key))
    assert asked == ["a", "b", "c", "b"] and set(memo) == {"a", "b"}


def test_an_unknown_event_is_refused(made):
    with pytest.raises(ValueError, match="unknown event"):
        memory.Memo("wrong", "rig", ("NOON",))


def test_closed_files_leave_nothing_of_their_characters():
    """Checkpoints of every character that was ever simulated once stayed, 15 MB and more each."""
    for _ in range(3):
        rigs.new_file()
        rig = rigs.chain(5)
        rigs.wave(rig)
        bpy.ops.heft.add()
        bpy.ops.heft.simulate()
        rig.heft.live = True
        rig.heft.settle_time = 0.3
        session.keep_take(rig)
        live.follow_source()
        held = memory.held("rig")
        assert held["checkpoints"] == held["last simulations"] == held["sources"] == held["simulations of takes"] == 1
    rigs.new_file()
    for keyed_by in ("rig", "object", "action", "region"):
        assert not any(memory.held(keyed_by).values()), memory.held(keyed_by)


def test_a_character_without_physics_leaves_nothing(empty):
    rig = rigs.chain(5)
    rigs.wave(rig)
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    assert session.last_shown(rig) is not None
    bpy.ops.heft.remove()
    kept = {name: memo for name, memo in memory.REGISTRY.items() if isinstance(memo, memory.Memo)}
    assert not [name for name, memo in kept.items() if memo.keyed_by == "rig" and rig.session_uid in memo]


@pytest.mark.parametrize("held_by", ["nothing", "a variable"])
def test_a_deleted_character_leaves_nothing(empty, held_by):
    rig, other = rigs.chain(5), rigs.chain(3, name="Other")
    for each in (rig, other):
        bpy.context.view_layer.objects.active = each
        rigs.wave(each)
        bpy.ops.heft.add()
        bpy.ops.heft.simulate()
    uid, left = rig.session_uid, other.session_uid
    rig.use_fake_user = held_by == "a variable"
    bpy.ops.object.select_all(action="DESELECT")
    rig.select_set(True)
    bpy.ops.object.delete()
    session.let_go()
    keyed = [each for each in memory.REGISTRY.values() if each.keyed_by == "rig"]
    assert not [each.name for each in keyed if uid in each.owners()]
    assert session.last_shown(other) is not None and any(left in each.owners() for each in keyed)
