"""Physical ends of bones, without Blender."""

from __future__ import annotations

import numpy as np
import pytest

from engine.anatomy import bone_ends

# A post of three bones upwards with a branch, each half a metre.
PARENTS = [-1, 0, 1, 1]


HEADS = np.array([[0, 0, 0], [0, 0, 0.5], [0, 0, 1.0], [0.3, 0, 1.0]], dtype=float)


TAILS = np.array([[0, 0, 0.5], [0, 0, 1.0], [0, 0, 1.4], [0.3, 0, 1.3]], dtype=float)


def test_a_bone_ends_where_its_children_begin_and_a_leaf_as_it_is_drawn():
    found = bone_ends.find(PARENTS, HEADS, TAILS)
    np.testing.assert_allclose(found.ends, [[0, 0, 0.5], [0.15, 0, 1.0], [0, 0, 1.4], [0.3, 0, 1.3]])
    assert found.size == pytest.approx(1.4) and not found.helpers


@pytest.mark.parametrize("times", [100.0, 3.0, 0.01])
def test_tails_drawn_too_long_or_too_short_change_nothing(times):
    sane = bone_ends.find(PARENTS, HEADS, TAILS)
    found = bone_ends.find(PARENTS, HEADS, HEADS + times * (TAILS - HEADS))
    np.testing.assert_allclose(found.ends, sane.ends, atol=1e-12)
    np.testing.assert_allclose(found.reach, sane.reach, atol=1e-12)


def test_a_leaf_is_no_longer_than_what_it_hangs_on():
    tails = TAILS.copy()
    tails[2, 2] = 45.0
    assert bone_ends.find(PARENTS, HEADS, tails).reach[2] == pytest.approx(0.583, abs=1e-3)


def test_a_root_far_away_is_no_part_of_the_body():
    parents = [-1, *range(10)]
    heads = np.array([[40.0, 0, 0], *([0, 0, 0.2 * k] for k in range(10))])
    tails = heads + np.array([0, 0, 0.2])
    found = bone_ends.find(parents, heads, tails)
    assert found.helpers == {0} and found.reach[0] == 0.0
    assert found.size == pytest.approx(2.0)
    near = heads.copy()
    near[0] = (0, 0, -0.2)
    assert not bone_ends.find(parents, near, tails).helpers, "a chain's first bone is one of it"


def test_a_skin_tells_where_a_leaf_ends_wherever_its_tail_points():
    skin = np.random.default_rng(1).uniform(-0.05, 0.05, (400, 3))
    skin[:, 2] += np.linspace(1.0, 1.3, 400)
    for tail in ([0, 0, 1.1], [0, 0, 90.0], [0.4, 0, 1.0]):
        tails = TAILS.copy()
        tails[2] = tail
        end = bone_ends.find(PARENTS, HEADS, tails, {2: skin}).ends[2]
        np.testing.assert_allclose(end, [0, 0, 1.32], atol=0.04)
