"""Inertia of welded objects, added to the body that holds them (METHODS §1c).

Owns the inertia of carried objects as part of the composite inertia that scales a joint's stiffness: a hand that holds
a box settles in its settle time with the box. Must not know how ties hold.
"""

from __future__ import annotations

from ..compile.decorators import kernel
from ..math.vectors import axpy, dot, load3, sub
from ..model.model import FREE
from ..tables import control as C, holds as H, pose as P, state as S, tree as T, work as W
from ..tables.work import pose_of


@kernel
def note_carried(tree, state, work, touch):
    """WELDED: the inertia of single free bodies that are welded to each body or to its descendants, about its root
    anchor; row 0 is the sum."""
    holds = touch.holds
    if work.body[0, W.WELDED + 9] > 0.0:
        for i in range(len(tree.parent)):
            for k in range(10):
                work.body[i, W.WELDED + k] = 0.0
    for t in range(len(holds.tie)):
        if holds.tie_link[t, H.HOLDS] != 0 and holds.tie_link[t, H.TIE_KIND] == H.WELD:
            i, j = holds.tie_link[t, H.TIE_A], holds.tie_link[t, H.TIE_B]
            if _is_thing(tree, state, j) and not _is_thing(tree, state, i):
                _put_on(tree, state, work, i, j, touch.rows.root[i])
            elif _is_thing(tree, state, i) and not _is_thing(tree, state, j):
                _put_on(tree, state, work, j, i, touch.rows.root[j])


@kernel
def _is_thing(tree, state, i):
    """True if the body is a tree of its own that nothing else holds."""
    return i > 0 and tree.parent[i] == 0 and tree.last[i] == i and tree.kind[i] == FREE and state.behaviour[i] == C.LIMP


@kernel
def _put_on(tree, state, work, i, thing, root):
    """Add the object's inertia to body i and its ancestors."""
    if i == 0:
        return
    pose, out = pose_of(work, W.NOW), work.body
    mass, h = tree.body[thing, T.MASS], load3(pose.body, thing, P.MOMENT)
    o = sub(load3(state.body, thing, S.ANCHOR), load3(state.body, root, S.ANCHOR))
    moment = axpy(mass, o, h)
    # Steiner's theorem from the object's anchor, which need not be its centre, to the root's
    straight = 2.0 * dot(o, h) + mass * dot(o, o)
    while True:
        for k in range(6):
            a, b = (k, k) if k < 3 else (max(0, k - 4), min(2, k - 2))
            cross = o[a] * h[b] + h[a] * o[b] + mass * o[a] * o[b]
            out[i, W.WELDED + k] += pose.body[thing, P.WORLD_INERTIA + k] + (straight - cross if k < 3 else -cross)
        for k in range(3):
            out[i, W.WELDED + 6 + k] += moment[k]
        out[i, W.WELDED + 9] += mass
        if i == 0:
            return
        i = tree.parent[i]


@kernel
def add_carried(tree, work):
    """Add the carried inertia to COMPOSITE."""
    if work.body[0, W.WELDED + 9] > 0.0:
        for i in range(1, len(tree.parent)):
            for k in range(10):
                work.body[i, W.COMPOSITE + k] += work.body[i, W.WELDED + k]
