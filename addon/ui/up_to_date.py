"""Is a result current? Cached for drawing; commands ask `session.is_current`, which computes it.

Owns what was found (`draw_cache`). Must not draw.
"""

from __future__ import annotations

import bpy

from ..memory import EDIT, LOAD, UNDO, Memo
from ..read import curve_digests, fingerprint
from ..read.inputs import Inputs
from ..result import stamps
from ..simulate import jobs, live, session
from . import answers, draw_cache

_answers: draw_cache.Answers[bool] = draw_cache.Answers("results that are current")
# By the leader of the shot and the scene: one check serves all characters of a shot.
_inputs: Memo[tuple[int, int], Inputs] = Memo("inputs of drawn shots", "rig", (LOAD, UNDO, EDIT))


def is_current(rig: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """`session.is_current` as of the last check; digests of long actions are computed in slices."""
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

    def look() -> bool:
        now = _inputs.remember((leader.session_uid, scene.session_uid), lambda: Inputs(group, scene))
        return session.is_current(rig, scene, now)

    return _answers.ask(uid, mark, look)
