"""Does a result still fit its settings and source? For what is drawn: asked at every redraw, answered from memory.

Owns what was found, and when it is looked at again: after something was edited, and on rigs of hundreds of bones,
where a look takes longer than a frame, not before the edits pause. Until then the answer is what it was. Commands ask
`session.is_current`, which looks. Must not draw.
"""

from __future__ import annotations

import time

import bpy

from . import digests, jobs, live, marks, redrawing, session, shot, store

# A look that is this quick may be had at every redraw [s].
QUICK = 0.005
# How long edits must have paused before a longer one [s], and in times of the last.
PAUSE, PAUSES = 0.1, 1.0

_known: dict[int, tuple[str, bool]] = {}  # by session_uid: what the result is marked with, is it current
_before: dict[int, tuple[str, bool]] = {}  # the same, also of rigs that were edited since
_took: dict[int, float] = {}  # the last look [s]
_edited_at = 0.0


def edited() -> None:
    """Something changed that a result may depend on."""
    global _edited_at
    _edited_at = time.perf_counter()
    _known.clear()


def forget() -> None:
    """Undo, redo, another file: blocks may be others now."""
    edited()
    _before.clear()
    _took.clear()


def is_current(rig: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """`session.is_current` as of the last look; long actions are looked at beside."""
    uid, mark = rig.session_uid, f"{rig.heft.fingerprint} {rig.heft.baked} {marks.made_from(rig.heft_result)}"
    known = _known.get(uid)
    if known is not None and known[0] == mark:
        return known[1]
    leader = shot.leader(rig)
    if jobs.of(leader) is not None and rig.heft.live:
        return False
    before = _before.get(uid)
    if not digests.is_ready(store.source_actions(shot.members(leader))):
        if jobs.of(leader) is None:
            jobs.start(leader, lambda: live.look_steps(leader))
        return before is not None and before[1]
    wait = _wait(uid)
    if wait > 0.0 and before is not None and before[0] == mark:
        _look_again(wait)
        return before[1]
    start = time.perf_counter()
    found = session.is_current(rig, scene)
    _took[uid] = time.perf_counter() - start
    _known[uid] = _before[uid] = (mark, found)
    return found


def _wait(uid: int) -> float:
    """How long the next look has to wait [s]; nobody waits for a drawing without a window."""
    took = _took.get(uid, 0.0)
    if bpy.app.background or took < QUICK:
        return 0.0
    return _edited_at + PAUSE + PAUSES * took - time.perf_counter()


def _look_again(wait: float) -> None:
    if not bpy.app.timers.is_registered(_draw):
        bpy.app.timers.register(_draw, first_interval=wait)


def _draw() -> None:
    """A timer's callback, once: what is drawn now asks again."""
    redrawing.views()


def stop() -> None:
    """Nothing is looked at any more."""
    if bpy.app.timers.is_registered(_draw):
        bpy.app.timers.unregister(_draw)
