"""Does a result still fit its settings and source? For what is drawn; commands ask `session.is_current`, which looks.

Owns what was found (`patience`). Must not draw.
"""

from __future__ import annotations

import bpy

from ..read import curve_digests, fingerprint
from ..result import stamps
from ..simulate import jobs, live, session
from . import answers, draw_cache

_answers: draw_cache.Answers[bool] = draw_cache.Answers("results that are current")


def is_current(rig: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """`session.is_current` as of the last look; long actions are looked at beside."""
    uid, mark = rig.session_uid, f"{rig.heft.fingerprint} {rig.heft.baked} {stamps.made_from(rig.heft_result)}"
    known = _answers.known(uid, mark)
    if known is not None:
        return known
    group = answers.shot_of(rig)
    leader = group.leader
    if jobs.of(leader) is not None and rig.heft.live:
        return False
    if not curve_digests.is_ready(fingerprint.source_actions(group)):
        if jobs.of(leader) is None:
            jobs.start(leader, lambda: live.look_steps(leader))
        return _answers.last(uid) or False
    return _answers.ask(uid, mark, lambda: session.is_current(rig, scene))
