"""Live: simulate again when a setting or the source changes.

Owns when that happens, and which way. A shot that is foreseen to take no longer than a drag may wait is
simulated inside the property's own update callback: its keys are in the drag's one undo step, and Esc
restores them. A longer one becomes a job (`jobs`), which goes on while the window does. Its keys are written
after the undo step, so undo may bring back settings without them: whatever is out of date after undo or redo
is simulated again (`marks`). Changed keys have no callback: they are followed a moment later, in a window only.
"""

from __future__ import annotations

import time
from collections.abc import Generator

import bpy

from ...engine import HeftError
from .. import events
from ..memory import LOAD, REMOVE, UNDO, Memo, Value
from ..read import curve_digests, fingerprint, read_controller, shot
from ..read.inputs import Inputs
from ..read.source_cache import Step
from ..result import plot_curves, result_armature, takes, takes_side_by_side
from . import compile_engine, jobs, session, timing

# How long a change may keep the window waiting [s].
BUDGET = 0.35
# How long after an edit of the source a live rig is simulated again [s].
FOLLOW_AFTER = 0.05
# No sooner than so many times of what looking for edits took: rigs of hundreds of bones stay quick to pose.
FOLLOW_TIMES = 3.0
# How often a change looks whether the engine is compiled by now [s].
COMPILER_EVERY = 0.25


def setting_changed(rig: bpy.types.Object) -> None:
    """A setting that matters to the simulation was changed."""
    if not events.is_paused() and rig.type == "ARMATURE" and rig.heft.enabled:
        with curve_digests.trusting():
            _refresh_those_with(rig)


def collider_changed(ob: bpy.types.Object) -> None:
    """A setting of an object that characters may meet or carry was changed."""
    if not events.is_paused():
        _refresh_those_with(ob)


def _refresh_those_with(ob: bpy.types.Object) -> None:
    """Simulate the live shots that the object is in; characters simulated together are one shot."""
    for group in [group for group in _live_shots() if group.has(ob)]:
        refresh(Inputs(group, session.scene_of(group)))


def refresh(now: Inputs) -> None:
    """Simulate a shot now, or begin to; what goes wrong is shown in the panel, since a callback cannot report."""
    group, scene = now.shot, now.scene
    leader = group.leader
    if compile_engine.is_running():
        wait_for_compiler(leader)
        return
    if not is_quick(group, scene):
        jobs.start(leader, lambda: session.simulate_steps(leader, scene, fresh=False, sliced=True))
        return
    jobs.cancel(leader)
    with events.paused():
        try:
            session.simulate(leader, scene, fresh=False, now=now)
        except HeftError as error:
            _tell(group, str(error))


# Leaders of shots that wait for the engine to be compiled; by session_uid.
_waiting: Memo[int, bool] = Memo("shots that wait for the compiler", "rig", (LOAD, REMOVE))


def wait_for_compiler(leader: bpy.types.Object) -> None:
    """Simulate the shot when the engine is compiled: to do it now would hold up the window until then."""
    _waiting[leader.session_uid] = True
    if not bpy.app.timers.is_registered(_after_compiling):
        bpy.app.timers.register(_after_compiling, first_interval=COMPILER_EVERY)


def _after_compiling() -> float | None:
    """A timer's callback: waits, then simulates what is still live."""
    if compile_engine.is_running():
        return COMPILER_EVERY
    wanted = set(_waiting)
    _waiting.clear()
    for group in _live_shots():
        if group.leader.session_uid in wanted:
            refresh(Inputs(group, session.scene_of(group)))
    return None


def _live_shots() -> list[shot.Shot]:
    """The shots in which a character is live."""
    return [group for group in shot.scan() if any(each.heft.live for each in group.rigs)]


def is_quick(group: shot.Shot, scene: bpy.types.Scene) -> bool:
    """Is the shot simulated in the time that a drag may wait? Without a window nobody waits."""
    if bpy.app.background:
        return True
    try:
        frames = len(read_controller.frame_range(group.leader, scene))
    except HeftError:
        return True
    bones = sum(len(each.pose.bones) for each in group.rigs)
    return timing.foreseen(group.leader, frames, bones) <= BUDGET


def tell(leader: int, text: str) -> None:
    """Show in the panels of a shot what went wrong; `leader`: its session_uid."""
    found = next((group for group in shot.scan() if group.leader.session_uid == leader), None)
    _tell(found, text)


def _tell(group: shot.Shot | None, text: str) -> None:
    print(f"Heft: {text}")
    with events.paused():
        for each in group.rigs if group is not None else ():
            each.heft.message = text


# What each shot looked like when it was last followed, so that one that cannot be simulated is not tried on and on.
_followed: Memo[int, str] = Memo("sources that were followed", "rig", (LOAD, UNDO, REMOVE))
# The longest look of the last round [s].
_took = Value("time of looking for edits", float)


def follow_soon() -> None:
    """Something may have changed: look for it in a moment."""
    if not bpy.app.background and not bpy.app.timers.is_registered(follow_source):
        bpy.app.timers.register(follow_source, first_interval=max(FOLLOW_AFTER, FOLLOW_TIMES * _took.value))


def connect() -> None:
    """Listen to what is changed."""
    for event, listener in LISTENERS:
        event.connect(listener)


def disconnect() -> None:
    """Listen no more."""
    for event, listener in LISTENERS:
        event.disconnect(listener)


def stop() -> None:
    """Nothing is looked for or waited for any more."""
    for callback in (follow_source, _after_compiling):
        if bpy.app.timers.is_registered(callback):
            bpy.app.timers.unregister(callback)
    _waiting.clear()


def source_edited() -> None:
    """Keys were edited: what is on its way knows the old ones."""
    if not events.is_paused() and jobs.any_left():
        for leader in [group.leader for group in _live_shots()]:
            if jobs.of(leader) is not None:
                _followed.pop(leader.session_uid, None)
                jobs.start(leader, lambda leader=leader: _follow_steps(leader))


def follow_source() -> None:
    """Simulate the live rigs whose source or result has changed (a timer's callback: runs once)."""
    if events.is_paused():
        return
    _took.value = 0.0
    jobs.go_on()
    for group in _live_shots():
        leader = group.leader
        # A job looks for what has changed at its end.
        if jobs.of(leader) is not None or not any(map(_follows, group.rigs)):
            continue
        if curve_digests.is_ready(fingerprint.source_actions(group)):
            now = Inputs(group, session.scene_of(group))
            if _is_new(now):
                refresh(now)
        else:
            jobs.start(leader, lambda leader=leader: _follow_steps(leader))


def _follows(rig: bpy.types.Object) -> bool:
    """Is the rig live, and does its result still follow its source?"""
    return rig.heft.live and rig.heft_result is not None and not result_armature.standing_back(rig)


def look_steps(leader: bpy.types.Object) -> Generator:
    """Look at long actions a few curves at a time."""
    for _ in curve_digests.prepare(fingerprint.source_actions(shot.of(leader))):
        yield Step(0.0, "looking")


def _follow_steps(leader: bpy.types.Object) -> Generator:
    """Look at what has changed, and simulate if anything has."""
    yield from look_steps(leader)
    group = shot.of(leader)
    scene = session.scene_of(group)
    if _is_new(Inputs(group, scene)):
        yield from session.simulate_steps(leader, scene, fresh=False, sliced=True)


def _is_new(inputs: Inputs) -> bool:
    """Is there anything to follow that was not followed already?"""
    start = time.perf_counter()
    try:
        now = inputs.total
    except HeftError as error:
        now = str(error)
    _took.value = max(_took.value, time.perf_counter() - start)
    leader, together = inputs.shot.leader, inputs.shot.rigs
    if all(now in (each.heft.fingerprint, each.heft.baked) and result_armature.is_whole(each) for each in together):
        return False
    if now == _followed.get(leader.session_uid):
        return False
    _followed[leader.session_uid] = now
    return True


def take_picked(rig: bpy.types.Object) -> None:
    """A take was clicked in the list: show it, unless it is shown."""
    uid = None if events.is_paused() else takes.picked(rig)
    if uid is None:
        return
    try:
        session.choose_take(rig, uid)
    except HeftError as error:
        rig.heft.message = str(error)
        print(f"Heft: {error}")


def take_beside(rig: bpy.types.Object) -> None:
    """Takes are to be shown beside the character, or no more."""
    if not events.is_paused():
        takes_side_by_side.apply(rig)


def take_renamed(take: bpy.types.PropertyGroup) -> None:
    """A take has another name: so it has on all characters of its shot, and where it is shown beside them."""
    if events.is_paused():
        return
    rig, name = take.id_data, take.name
    with events.paused():
        for each in shot.of(rig).rigs:
            other = takes.find(each, take.uid)
            if other is not None:
                other.name = name
                takes_side_by_side.apply(each)


def curves_changed(rig: bpy.types.Object) -> None:
    """Curves were switched, or others asked for: nothing to simulate, only to write."""
    if not events.is_paused() and rig.type == "ARMATURE" and rig.heft.enabled:
        if rig.heft.use_curves and not rig.heft.curve_names:
            plot_curves.choose_bones(rig)
        session.write_curves(rig)


def mix_changed(rig: bpy.types.Object) -> None:
    """The mix was changed: nothing to simulate, only to show."""
    if not events.is_paused() and rig.type == "ARMATURE" and rig.heft.enabled and rig.heft_result is not None:
        result_armature.apply(rig)


LISTENERS = (
    (events.setting_changed, setting_changed),
    (events.mix_changed, mix_changed),
    (events.collider_changed, collider_changed),
    (events.curves_changed, curves_changed),
    (events.take_picked, take_picked),
    (events.take_beside_changed, take_beside),
    (events.take_renamed, take_renamed),
    (events.job_failed, tell),
    (events.job_ended, follow_soon),
)
