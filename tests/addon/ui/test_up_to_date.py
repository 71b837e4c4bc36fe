"""Whether a result fits its settings, as it is drawn: at once on small rigs, when edits pause on large ones."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from heft.addon import memory
from heft.addon.simulate import session
from heft.addon.ui import draw_cache, up_to_date


class Clock:
    """Stands in for Blender's timers and Python's clock, in a window."""

    def __init__(self, monkeypatch) -> None:
        self.now, self.asked_for = 100.0, None
        timers = SimpleNamespace(is_registered=lambda _work: self.asked_for is not None, register=self._register)
        app = SimpleNamespace(background=False, timers=timers)
        monkeypatch.setattr(draw_cache, "bpy", SimpleNamespace(app=app))
        monkeypatch.setattr(draw_cache, "time", SimpleNamespace(perf_counter=lambda: self.now))

    def _register(self, _work, first_interval: float) -> None:
        self.asked_for = first_interval


def edit() -> None:
    memory.notify(memory.EDIT)
    memory.notify(memory.EDIT_SOURCE)


@pytest.fixture
def looks(rig, monkeypatch):
    """A result, and how often it was looked at: a look takes `looks.takes` seconds."""
    bpy.ops.heft.simulate()
    memory.notify(memory.UNDO)
    clock = Clock(monkeypatch)
    found = SimpleNamespace(count=0, takes=0.0, clock=clock)

    def look(rig, scene, now) -> bool:
        found.count += 1
        clock.now += found.takes
        return real(rig, scene, now)

    real = session.is_current
    monkeypatch.setattr(session, "is_current", look)
    yield found
    memory.notify(memory.UNDO)


def test_nothing_is_looked_at_twice(rig, looks):
    for _ in range(3):
        assert up_to_date.is_current(rig, bpy.context.scene)
    assert looks.count == 1


def test_a_small_rig_is_looked_at_after_every_edit(rig, looks):
    scene = bpy.context.scene
    assert up_to_date.is_current(rig, scene)
    rig.heft.settle_time = 0.7
    edit()
    assert not up_to_date.is_current(rig, scene)
    assert looks.count == 2 and looks.clock.asked_for is None


def test_a_large_rig_is_looked_at_when_edits_pause(rig, looks):
    scene, looks.takes = bpy.context.scene, 0.3
    assert up_to_date.is_current(rig, scene)
    rig.heft.settle_time = 0.7
    for _ in range(20):  # a hand that poses
        edit()
        assert up_to_date.is_current(rig, scene), "as it was"
        looks.clock.now += 0.02
    assert looks.count == 1
    assert 0.0 < looks.clock.asked_for < 1.0, "the view is drawn again when it may be looked at"
    looks.clock.now += looks.clock.asked_for
    assert not up_to_date.is_current(rig, scene)
    assert looks.count == 2


def test_a_new_result_is_looked_at_at_once(rig, looks):
    scene, looks.takes = bpy.context.scene, 0.3
    rig.heft.settle_time = 0.7
    edit()
    assert not up_to_date.is_current(rig, scene)
    bpy.ops.heft.simulate()
    edit()
    assert up_to_date.is_current(rig, scene)
