"""Which body a bone hangs on, without Blender."""

from __future__ import annotations

import numpy as np
import pytest

from engine.anatomy import body_parents


@pytest.mark.parametrize("times", [0.01, 1.0, 100.0])
def test_holders_do_not_hang_on_how_long_bones_are_drawn(times):
    """A hidden bone lies on the second of two bodies that begin where it does; what hangs on it hangs on that body."""
    heads = np.array([[0.0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0.5], [0, 0, 0.5]])
    tails = np.array([[0.0, 0, 0.5], [0.3, 0, 0.3], [0, 0, 0.5], [0, 0, 1.5], [0, 0, 1], [0.0, 0, 1]])
    tails = heads + times * (tails - heads)
    # 1, 0: bodies at one place; 2: hidden, on 0; 3: a body on 2; 4 and 5 say how long bones are drawn
    parents, is_body = [-1, -1, -1, 2, 0, 1], [True, True, False, True, True, True]
    order = [1, 0, 2, 3, 4, 5]
    place = {old: new for new, old in enumerate(order)}
    parents = [place[parents[old]] if parents[old] >= 0 else -1 for old in order]
    held = body_parents.holders(parents, heads[order], tails[order], [is_body[old] for old in order])
    assert held[place[3]] == place[0]


def test_holders_form_no_ring():
    """Two bodies that each hang on a bone lying on the other: one of them stays a root."""
    heads = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0]])
    tails = heads + np.array([0.0, 0.0, 1.0])
    held = body_parents.holders([-1, -1, 0, 1], heads, tails, [False, False, True, True])
    assert held[2:] in ([3, -1], [-1, 2])
    assert body_parents.holders([-1, 0, 1], heads[:3], tails[:3], [True, False, True])[2] == 0


# A tail as Rigify has it: three bones from the tip to the trunk, each the child of the one outside it. The tip hangs on
# hidden bones that lead out from a hidden one on the trunk.
TRUNK, MIDDLE, OUTER, TIP, ROOT, HIDDEN, OUT = range(7)
TAIL_PARENTS = [-1, OUTER, TIP, OUT, -1, ROOT, HIDDEN]
TAIL_HEADS = np.array([[0.0, 0, 1], [0, 1, 1], [0, 2, 1], [0, 3, 0.5], [0, 0, 0], [0, 0, 1], [0, 2, 1]])
TAIL_TAILS = np.array([[0.0, -1, 1], [0, 0, 1], [0, 1, 1], [0, 2, 1], [0, 0, 1], [0, 0.5, 1], [0, 3, 0.5]])
TAIL_BODIES = [True, True, True, True, False, False, False]


def turned(is_body=TAIL_BODIES, parents=TAIL_PARENTS, tails=TAIL_TAILS):
    held = body_parents.holders(parents, TAIL_HEADS, tails, is_body)
    return held, body_parents.turned(parents, TAIL_HEADS, tails, is_body, held)


@pytest.mark.parametrize("times", [0.01, 1.0, 100.0])
def test_a_tail_that_leads_from_its_tip_to_the_trunk_is_turned_round(times):
    held, found = turned(tails=TAIL_HEADS + times * (TAIL_TAILS - TAIL_HEADS))
    assert held[TIP] == TRUNK, "the hidden bones lead there"
    assert {bone: each.holder for bone, each in found.items()} == {MIDDLE: TRUNK, OUTER: MIDDLE, TIP: OUTER}
    # each turns where it meets the next one inwards
    assert {bone: each.bone for bone, each in found.items()} == {MIDDLE: MIDDLE, OUTER: MIDDLE, TIP: OUTER}
    np.testing.assert_allclose([found[bone].point for bone in (MIDDLE, OUTER, TIP)], TAIL_HEADS[[TRUNK, MIDDLE, OUTER]])


@pytest.mark.parametrize("ignored", [MIDDLE, OUTER, TIP])
def test_what_is_left_of_a_tail_is_turned_round_where_one_of_its_bones_only_rides(ignored):
    is_body = [each and bone != ignored for bone, each in enumerate(TAIL_BODIES)]
    _, found = turned(is_body)
    inner, outer = (bone for bone in (MIDDLE, OUTER, TIP) if bone != ignored)
    assert {bone: each.holder for bone, each in found.items()} == {inner: TRUNK, outer: inner}
    np.testing.assert_allclose(found[inner].point, TAIL_HEADS[TRUNK])
    np.testing.assert_allclose(found[outer].point, TAIL_HEADS[inner])


def test_chains_that_the_rig_itself_hangs_on_a_body_stay_as_they_are():
    """And so do those that hang by their base."""
    by_hand = [-1, OUTER, TIP, TRUNK, -1, ROOT, HIDDEN]
    assert turned(parents=by_hand)[1] == {}
    outwards = TAIL_HEADS + (TAIL_HEADS - TAIL_TAILS)
    assert turned(tails=outwards)[1] == {}
    base_first, is_body = [-1, 3, 1, -1], [True, True, True, False]
    heads = np.array([[0.0, 0, 0], [0, 1, 0], [0, 2, 0], [0, 0, 0]])
    tails = np.array([[0.0, 1, 0], [0, 2, 0], [0, 3, 0], [0, 1, 0]])
    held = body_parents.holders(base_first, heads, tails, is_body)
    assert held[:3] == [-1, 0, 1]
    assert body_parents.turned(base_first, heads, tails, is_body, held) == {}
