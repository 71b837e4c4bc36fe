"""Live: simulate again when a setting or the source changes.

Owns when that happens, and how. A shot with a short expected time is simulated inside the property's own update
callback: its keys are in the drag's one undo step, and Esc restores them. A longer one becomes a job (`jobs`), which
runs while the window stays responsive. Its keys are written after the undo step, so undo may restore settings without
them: results that are stale after undo or redo are simulated again (`stamps`). Changed keys have no callback: they are
checked a moment later, in a window only.
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

# The longest simulation that runs inside a callback [s].
BUDGET = 0.35
# Delay between an edit of the source and the simulation [s].
FOLLOW_AFTER = 0.05
# The delay is at least this many times the time of looking for edits, so that rigs of hundreds of bones can be posed
# smoothly.
FOLLOW_TIMES = 3.0
# How often a waiting change checks if the engine is compiled [s].
COMPILER_EVERY = 0.25


def setting_changed(rig: bpy.types.Object) -> None:
    """Listener: a setting that affects the simulation was changed."""
    if not events.is_paused() and rig.type == "ARMATURE" and rig.heft.enabled:
        with curve_digests.trusting():
            _refresh_those_with(rig)


def collider_changed(ob: bpy.types.Object) -> None:
    """Listener: a setting of an object that characters may meet or carry was changed."""
    if not events.is_paused():
        _refresh_those_with(ob)


def _refresh_those_with(ob: bpy.types.Object) -> None:
    """Simulate the live shots that contain the object."""
    for group in [group for group in _live_shots() if group.has(ob)]:
        refresh(Inputs(group, session.scene_of(group)))


def refresh(now: Inputs) -> None:
    """Simulate a shot now, or start a job. Errors are shown in the panel, because a callback cannot report them."""
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


# Leaders of shots that wait for the compiler, by session_uid.
_waiting: Memo[int, bool] = Memo("shots that wait for the compiler", "rig", (LOAD, REMOVE))


def wait_for_compiler(leader: bpy.types.Object) -> None:
    """Simulate the shot once the engine is compiled: starting now would block the window until then."""
    _waiting[leader.session_uid] = True
    if not bpy.app.timers.is_registered(_after_compiling):
        bpy.app.timers.register(_after_compiling, first_interval=COMPILER_EVERY)


def _after_compiling() -> float | None:
    """Timer callback: waits, then simulates the shots that are still live."""
    if compile_engine.is_running():
        return COMPILER_EVERY
    wanted = set(_waiting)
    _waiting.clear()
    for group in _live_shots():
        if group.leader.session_uid in wanted:
            refresh(Inputs(group, session.scene_of(group)))
    return None


def _live_shots() -> list[shot.Shot]:
    """The shots that contain a live character."""
    return [group for group in shot.scan() if any(each.heft.live for each in group.rigs)]


def is_quick(group: shot.Shot, scene: bpy.types.Scene) -> bool:
    """True if the shot's expected time is short enough for a callback. Without a window every shot is."""
    if bpy.app.background:
        return True
    try:
        frames = len(read_controller.frame_range(group.leader, scene))
    except HeftError:
        return True
    bones = sum(len(each.pose.bones) for each in group.rigs)
    return timing.foreseen(group.leader, frames, bones) <= BUDGET


def tell(leader: int, text: str) -> None:
    """Show an error in the panels of a shot. leader: its session_uid."""
    found = next((group for group in shot.scan() if group.leader.session_uid == leader), None)
    _tell(found, text)


def _tell(group: shot.Shot | None, text: str) -> None:
    print(f"Heft: {text}")
    with events.paused():
        for each in group.rigs if group is not None else ():
            each.heft.message = text


# The state of each shot when it was last checked, so that a shot that cannot be simulated is not retried for ever.
_followed: Memo[int, str] = Memo("sources that were followed", "rig", (LOAD, UNDO, REMOVE))
# The longest check of the last round [s].
_took = Value("time of looking for edits", float)


def follow_soon() -> None:
    """Something may have changed: check it in a moment."""
    if not bpy.app.background and not bpy.app.timers.is_registered(follow_source):
        bpy.app.timers.register(follow_source, first_interval=max(FOLLOW_AFTER, FOLLOW_TIMES * _took.value))


def connect() -> None:
    """Connect the listeners."""
    for event, listener in LISTENERS:
        event.connect(listener)


def disconnect() -> None:
    """Disconnect the listeners."""
    for event, listener in LISTENERS:
        event.disconnect(listener)


def stop() -> None:
    """Stop all timers and waiting shots."""
    for callback in (follow_source, _after_compiling):
        if bpy.app.timers.is_registered(callback):
            bpy.app.timers.unregister(callback)
    _waiting.clear()


def source_edited() -> None:
    """Keys were edited: running jobs have the old ones."""
    if not events.is_paused() and jobs.any_left():
        for leader in [group.leader for group in _live_shots()]:
            if jobs.of(leader) is not None:
                _followed.pop(leader.session_uid, None)
                jobs.start(leader, lambda leader=leader: _follow_steps(leader))


def follow_source() -> None:
    """Timer callback, runs once: simulate the live rigs whose source or result has changed."""
    if events.is_paused():
        return
    _took.value = 0.0
    jobs.go_on()
    for group in _live_shots():
        leader = group.leader
        # A running job checks for changes at its end.
        if jobs.of(leader) is not None or not any(map(_follows, group.rigs)):
            continue
        if curve_digests.is_ready(fingerprint.source_actions(group)):
            now = Inputs(group, session.scene_of(group))
            if _is_new(now):
                refresh(now)
        else:
            jobs.start(leader, lambda leader=leader: _follow_steps(leader))


def _follows(rig: bpy.types.Object) -> bool:
    """True if the rig is live and its result follows the source."""
    return rig.heft.live and rig.heft_result is not None and not result_armature.standing_back(rig)


def look_steps(leader: bpy.types.Object) -> Generator:
    """Compute digests of long actions, a few curves at a time."""
    for _ in curve_digests.prepare(fingerprint.source_actions(shot.of(leader))):
        yield Step(0.0, "looking")


def _follow_steps(leader: bpy.types.Object) -> Generator:
    """Compute digests, and simulate if anything has changed."""
    yield from look_steps(leader)
    group = shot.of(leader)
    scene = session.scene_of(group)
    if _is_new(Inputs(group, scene)):
        yield from session.simulate_steps(leader, scene, fresh=False, sliced=True)


def _is_new(inputs: Inputs) -> bool:
    """True if something has changed since the last check."""
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
    """Listener: a take was clicked in the list. Shows it, unless it is shown."""
    uid = None if events.is_paused() else takes.picked(rig)
    if uid is None:
        return
    try:
        session.choose_take(rig, uid)
    except HeftError as error:
        rig.heft.message = str(error)
        print(f"Heft: {error}")


def take_beside(rig: bpy.types.Object) -> None:
    """Listener: takes are shown next to the character, or no longer."""
    if not events.is_paused():
        takes_side_by_side.apply(rig)


def take_renamed(take: bpy.types.PropertyGroup) -> None:
    """Listener: a take was renamed. Renames it on all characters of its shot, and the armatures that show it."""
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
    """Listener: curves were switched, or other bones chosen. Writes them without simulating."""
    if not events.is_paused() and rig.type == "ARMATURE" and rig.heft.enabled:
        if rig.heft.use_curves and not rig.heft.curve_names:
            plot_curves.choose_bones(rig)
        session.write_curves(rig)


def mix_changed(rig: bpy.types.Object) -> None:
    """Listener: the mix was changed. Updates what is shown without simulating."""
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
