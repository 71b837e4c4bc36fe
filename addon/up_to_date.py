"""Does a result still fit its settings and source? For what is drawn; commands ask `session.is_current`, which looks.

Owns what was found (`patience`). Must not draw.
"""

from __future__ import annotations

import bpy

from . import digests, jobs, live, marks, patience, session, shot, store

_answers: patience.Answers[bool] = patience.Answers()


def edited() -> None:
    """Something changed that a result may depend on."""
    _answers.edited()


def forget() -> None:
    """Undo, redo, another file: blocks may be others now."""
    _answers.forget()


def is_current(rig: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """`session.is_current` as of the last look; long actions are looked at beside."""
    uid, mark = rig.session_uid, f"{rig.heft.fingerprint} {rig.heft.baked} {marks.made_from(rig.heft_result)}"
    known = _answers.known(uid, mark)
    if known is not None:
        return known
    leader = shot.leader(rig)
    if jobs.of(leader) is not None and rig.heft.live:
        return False
    if not digests.is_ready(store.source_actions(shot.members(leader))):
        if jobs.of(leader) is None:
            jobs.start(leader, lambda: live.look_steps(leader))
        return _answers.last(uid) or False
    return _answers.ask(uid, mark, lambda: session.is_current(rig, scene))
