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
