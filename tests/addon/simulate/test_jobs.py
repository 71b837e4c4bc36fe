"""Live jobs: slices driven by hand, and everything that may happen between two of them."""

from __future__ import annotations

import time
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

import rigs
from heft.addon import events, handlers
from heft.addon.blender import actions, sample_poses
from heft.addon.read import fingerprint, source_cache
from heft.addon.result import result_armature, stamps
from heft.addon.simulate import jobs, live, session, timing
from heft.addon.ui import up_to_date


@pytest.fixture
def rig(empty, monkeypatch):
    """A live chain whose shot counts as long, every slice as short as can be."""
    rig = rigs.chain(5)
    rigs.wave(rig)
    for curve in actions.active_curves(rig):
        curve.auto_smoothing = "NONE"  # else a key that is moved bends the curve for a dozen keys around it
        curve.update()
    bpy.ops.heft.add()
    rig.heft.total_mass, rig.heft.heaviness = 2.0, 0.2
    bpy.ops.heft.simulate()
    rig.heft.live = True
    monkeypatch.setattr(live, "is_quick", lambda *_: False)
    monkeypatch.setattr(jobs, "SLICE", 0.0)
    monkeypatch.setattr(source_cache, "AT_ONCE", 0.0)
    monkeypatch.setattr(result_armature, "AT_ONCE", 20)
    yield rig
    jobs.cancel()


def keys(rig) -> list[bytes]:
    """Every key of the result."""
    out = []
    for curve in actions.active_curves(rig.heft_result):
        co = np.empty(len(curve.keyframe_points) * 2, dtype=np.float32)
        curve.keyframe_points.foreach_get("co", co)
        out.append(f"{curve.data_path}{curve.array_index}".encode() + co.tobytes())
    return sorted(out)


def run(until=lambda: False) -> int:
    """Slices until nothing is left, or something is so; how many it took."""
    count = 0
    while jobs.any_left() and not until():
        jobs.tick()
        time.sleep(0.0005)
        count += 1
        assert count < 20_000
    return count


def is_writing(rig) -> bool:
    return stamps.made_from(rig.heft_result) == stamps.UNFINISHED


def edit(rig, frame: float) -> None:
    """Move the source's keys from a frame on."""
    for curve in actions.active_curves(rig):
        for point in curve.keyframe_points:
            if point.co[0] >= frame:
                point.co[1] += 0.2
        curve.update()


def test_a_job_gives_what_the_callback_gives(rig, monkeypatch):
    before = keys(rig)
    rig.heft.settle_time = 0.4
    assert keys(rig) == before, "nothing happens inside the callback"
    assert not up_to_date.is_current(rig, bpy.context.scene)
    assert run() > 5
    found = keys(rig)
    assert found != before and session.is_current(rig, bpy.context.scene)
    assert fingerprint.keys_fingerprint(rig.heft_result) == rig.heft.written == stamps.keys(rig.heft_result)
    monkeypatch.setattr(live, "is_quick", lambda *_: True)
    rig.heft.settle_time = 0.3
    rig.heft.settle_time = 0.4
    assert keys(rig) == found


def test_half_a_result_is_marked_and_made_whole(rig):
    rig.heft.settle_time = 0.5
    run(lambda: is_writing(rig))
    assert is_writing(rig) and not session.is_current(rig, bpy.context.scene)
    for _ in range(2):
        jobs.tick()
    assert jobs.cancel() and not jobs.any_left()
    assert not session.is_current(rig, bpy.context.scene)
    live.follow_source()
    run()
    assert session.is_current(rig, bpy.context.scene)
    wanted = keys(rig)
    bpy.ops.heft.simulate()
    assert keys(rig) == wanted
    assert not rig.heft.takes, "what was never written to its end is nobody's work"


def test_half_a_shot_is_made_whole(rig):
    """Stopped after the first character's keys and before the end of the other's."""
    other = rigs.chain(3, name="Zed")
    other.location = (1.0, 0.0, 0.0)
    rigs.wave(other)
    bpy.ops.heft.add()
    rigs.collide(rig, other)
    bpy.ops.heft.simulate()
    other.heft.heaviness = 0.8
    run(lambda: is_writing(other))
    assert is_writing(other) and session.is_current(rig, bpy.context.scene)
    jobs.cancel()
    live.follow_source()
    run()
    assert not is_writing(other)
    assert all(session.is_current(each, bpy.context.scene) for each in (rig, other))


def test_esc_brings_the_old_result_back(rig):
    """Esc sets the old value again, which is a change like any other."""
    before, settle_time = keys(rig), rig.heft.settle_time
    rig.heft.settle_time = 0.6
    run(lambda: is_writing(rig))
    jobs.tick()
    rig.heft.settle_time = settle_time
    run()
    assert keys(rig) == before and session.is_current(rig, bpy.context.scene)


def test_a_new_change_begins_anew_and_a_long_drag_is_shown_on_the_way(rig, monkeypatch):
    rig.heft.settle_time = 0.5
    run(lambda: is_writing(rig))
    rig.heft.settle_time = 0.6
    assert jobs.of(rig).steps is None, "begun anew"
    run()
    wanted = keys(rig)
    monkeypatch.setattr(jobs, "PATIENCE", 0.0)
    rig.heft.settle_time = 0.5
    run(lambda: is_writing(rig))
    rig.heft.settle_time = 0.6
    assert jobs.of(rig).steps is not None and jobs.of(rig).again is not None, "let through first"
    run()
    assert keys(rig) == wanted and session.is_current(rig, bpy.context.scene)


def test_a_bones_multiplier_of_several_bones(rig):
    before = keys(rig)
    for bone in rig.pose.bones[1:4]:
        bone.heft.settle_scale = 2.0
    run()
    assert keys(rig) != before and session.is_current(rig, bpy.context.scene)


def test_an_edited_key_goes_on_from_the_frame_it_reaches(rig, monkeypatch):
    monkeypatch.setattr("heft.engine.simulation.checkpoints.FEWEST_FRAMES", 4)
    rig.heft.natural_limits = False  # a range that the edit widens holds from the first frame on
    bpy.ops.heft.simulate()
    rig.heft.settle_time = 0.45
    run()
    last = int(rig.heft.result_end)
    edit(rig, 0.7 * last)
    live.follow_source()
    run()
    cost = timing.last(rig)
    assert 0 < cost.first < 0.7 * last and cost.frames == last - rig.heft.result_start + 1
    found = keys(rig)
    session._checkpoints.clear()
    bpy.ops.heft.simulate()
    assert timing.last(rig).first == 0 and keys(rig) == found


def test_the_rig_never_shows_its_source_between_slices(rig):
    edit(rig, 10)
    live.follow_source()
    seen = set()

    def look():
        seen.add(jobs.of(rig).latest.label if jobs.of(rig).latest else "")
        assert rig.heft.shown == "RESULT" and result_armature.is_applied(rig)
        return False

    run(look)
    assert "reading" in seen and "writing" in seen


def test_hand_work_becomes_a_take_and_its_own_job_goes_on(rig):
    rig.pose.bones[2].scale = (1.2, 1.2, 1.2)
    rig.pose.bones[2].keyframe_insert("scale", frame=1)
    bpy.ops.heft.simulate()
    curve = next(c for c in actions.active_curves(rig.heft_result) if len(c.keyframe_points) > 1)
    curve.keyframe_points[3].co[1] += 0.3
    rig.heft.settle_time = 0.5
    run()
    assert len(rig.heft.takes) == 1 and session.is_current(rig, bpy.context.scene)
    assert fingerprint.keys_fingerprint(rig.heft_result) == rig.heft.written
    rig.heft.settle_time = 0.6
    run()
    assert len(rig.heft.takes) == 1


def begun(rig, stage: str) -> None:
    """A job that is reading, simulating or writing."""
    edit(rig, 10)
    live.follow_source()
    run(lambda: jobs.of(rig).latest is not None and jobs.of(rig).latest.label == stage)
    assert jobs.of(rig) is not None


STAGES = ("reading", "simulating", "writing")


def test_the_bug_of_one_shot_does_not_stop_the_others(rig, monkeypatch):
    """Blender drops a timer that raises."""

    def broken():
        raise ZeroDivisionError("a bug")
        yield

    other = rigs.chain(2, name="Other")
    jobs.start(other, broken)
    rig.heft.settle_time = 0.5
    with pytest.raises(ZeroDivisionError):
        jobs.tick()
    assert jobs.of(rig) is not None and jobs.of(other) is None
    begun = []
    timers = SimpleNamespace(is_registered=lambda _: False, register=lambda call, **_: begun.append(call))
    monkeypatch.setattr(jobs, "bpy", SimpleNamespace(app=SimpleNamespace(background=False, timers=timers)))
    live.follow_source()
    assert begun == [jobs.tick]


@pytest.mark.parametrize("stage", STAGES)
def test_remove_stops_it(rig, stage):
    begun(rig, stage)
    bpy.ops.heft.remove()
    assert not jobs.any_left() and rig.heft_result is None and not rig.heft.enabled
    assert not [each for each in bpy.data.scenes if each.name.startswith(sample_poses.STAGE)]


@pytest.mark.parametrize("stage", STAGES)
def test_simulate_takes_its_place(rig, stage):
    begun(rig, stage)
    bpy.ops.heft.simulate()
    assert not jobs.any_left() and session.is_current(rig, bpy.context.scene)


@pytest.mark.parametrize("stage", STAGES)
def test_bake_waits_for_it(rig, stage):
    begun(rig, stage)
    bpy.ops.heft.bake()
    assert not jobs.any_left()
    baked = rig.animation_data.action
    assert "baked" in baked.name and stamps.MADE_FROM not in baked
    assert rig.heft.baked, "what was baked was current"


@pytest.mark.parametrize("stage", STAGES)
def test_a_deleted_rig_ends_it(rig, stage):
    begun(rig, stage)
    bpy.data.objects.remove(rig)
    run()
    assert not [each for each in bpy.data.scenes if each.name.startswith(sample_poses.STAGE)]


@pytest.mark.parametrize("stage", STAGES)
def test_a_deleted_result_ends_it(rig, stage):
    begun(rig, stage)
    result_armature.delete_result(rig.heft_result)
    run()
    assert rig.heft_result is None or session.is_current(rig, bpy.context.scene)


def test_edit_mode_ends_it_with_a_reason(rig):
    begun(rig, "simulating")
    bpy.ops.object.mode_set(mode="EDIT")
    run()
    assert "Edit Mode" in rig.heft.message
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not session.is_current(rig, bpy.context.scene)


@pytest.mark.parametrize("stage", STAGES)
def test_a_file_saved_on_the_way_holds_nothing_of_it(rig, stage, tmp_path):
    begun(rig, stage)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert not jobs.any_left()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    rig = next(ob for ob in bpy.data.objects if ob.heft.enabled)
    assert not session.is_current(rig, bpy.context.scene), "the edited source is not in the result"
    assert not [each for each in bpy.data.scenes if each.name.startswith(sample_poses.STAGE)]
    assert rig.heft.shown == "RESULT"


def test_a_file_loaded_on_the_way_ends_it(rig, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    begun(rig, "writing")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert not jobs.any_left()
    rig = next(ob for ob in bpy.data.objects if ob.heft.enabled)
    assert session.is_current(rig, bpy.context.scene)


def test_keys_that_outlived_their_settings_are_noticed(rig):
    """As undo leaves it: the rig's settings and its mark are old, the action, believed unchanged, is new."""
    before = {name: getattr(rig.heft, name) for name in ("settle_time", "fingerprint", "written")}
    old = keys(rig)
    rig.heft.settle_time = 0.7
    run()
    with events.paused():
        for name, value in before.items():
            setattr(rig.heft, name, value)
    handlers.on_undo()
    assert not session.is_current(rig, bpy.context.scene)
    live.follow_source()
    run()
    assert session.is_current(rig, bpy.context.scene) and keys(rig) == old
    assert not rig.heft.takes, "nobody has changed anything by hand"


def test_what_cannot_be_simulated_is_told_and_not_tried_on_and_on(rig):
    for bone in rig.pose.bones:
        bone.heft.behaviour = "IGNORED"
    run()
    assert rig.heft.message and not session.is_current(rig, bpy.context.scene)
    live.follow_source()
    run()
    live.follow_source()
    assert not jobs.any_left()


def test_undo_and_redo_of_keys_that_were_written_after_the_step(rig):
    """Blender's own undo: the step of a drag holds the new setting and the old keys, which are written later."""
    name, old, settle_time = rig.name, keys(rig), rig.heft.settle_time
    bpy.ops.ed.undo_push(message="before")
    rig.heft.settle_time = 0.7
    bpy.ops.ed.undo_push(message="drag")
    run()
    new = keys(rig)
    for _ in range(3):
        for step, value, wanted in ((bpy.ops.ed.undo, settle_time, old), (bpy.ops.ed.redo, 0.7, new)):
            step()
            rig = bpy.data.objects[name]
            assert rig.heft.settle_time == pytest.approx(value)
            assert not session.is_current(rig, bpy.context.scene) or keys(rig) == wanted
            live.follow_source()
            run()
            assert session.is_current(rig, bpy.context.scene) and keys(rig) == wanted
    assert not rig.heft.takes


@pytest.mark.parametrize("stage", STAGES)
def test_undo_on_the_way_leaves_nothing_half(rig, stage):
    name, old = rig.name, keys(rig)
    bpy.ops.ed.undo_push(message="before")
    begun(rig, stage)
    bpy.ops.ed.undo_push(message="edited")
    for _ in range(3):
        jobs.tick()
    bpy.ops.ed.undo()
    rig = bpy.data.objects[name]
    assert not jobs.any_left()
    live.follow_source()
    run()
    assert session.is_current(rig, bpy.context.scene) and keys(rig) == old
    bpy.ops.ed.redo()
    rig = bpy.data.objects[name]
    assert not [each for each in bpy.data.scenes if each.name.startswith(sample_poses.STAGE)]
    live.follow_source()
    run()
    assert session.is_current(rig, bpy.context.scene) and keys(rig) != old
