"""The support polygon: outlines against scipy's, and what stands on the ground."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import engine
from engine.analysis.support_polygon import Soles, margin, outline
from engine.model.model import Model


@pytest.mark.parametrize("seed", range(5))
def test_outline_is_the_convex_hull(seed):
    points = np.random.default_rng(seed).normal(size=(40, 2))
    found = outline(points)
    wanted = points[ConvexHull(points).vertices]
    assert {tuple(p) for p in found} == {tuple(p) for p in wanted}
    after = np.roll(found, -1, axis=0)
    area = 0.5 * (found[:, 0] * after[:, 1] - found[:, 1] * after[:, 0]).sum()
    assert area == pytest.approx(ConvexHull(points).volume)


def test_outlines_that_are_none():
    assert len(outline(np.zeros((0, 2)))) == 0 and margin(outline(np.zeros((0, 2))), np.zeros(2)) == -np.inf
    assert len(outline(np.ones((4, 2)))) == 1
    line = outline(np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]]))
    assert len(line) == 2 and margin(line, np.array([0.5, 0.3])) == pytest.approx(-0.3)


def test_margin():
    square = outline(np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]]))
    assert margin(square, np.array([1.0, 0.4])) == pytest.approx(0.4)
    assert margin(square, np.array([1.0, -0.25])) == pytest.approx(-0.25)
    assert margin(square, np.array([5.0, 5.0])) == pytest.approx(-5.0)


def test_what_stands():
    model = Model.from_tree(
        ["box", "ball"], [None, None], [[0.0] * 3, [0.0] * 3],
        shapes=[engine.Box((0.2, 0.1, 0.05)), engine.Capsule(0.1, (0.0, 0.0, 0.0), (0.5, 0.0, 0.0))],
    )  # fmt: skip
    soles = Soles.of(model)
    places = np.array([[0.0, 0.0, 0.05], [3.0, 0.0, 0.1]])
    # the capsule stands on its end, turned to point up
    turns = np.array([[1.0, 0.0, 0.0, 0.0], [np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0]])
    found = soles.bearing(places, turns, 0.0, 0.01)
    corners = outline(found[found[:, 0] < 1.0])
    assert {(round(float(x), 9), round(float(y), 9)) for x, y in corners} == {
        (-0.2, -0.1), (-0.2, 0.1), (0.2, -0.1), (0.2, 0.1),
    }  # fmt: skip
    # a ball of 0.1 m is cut 0.01 m above its lowest point
    ring = np.linalg.norm(found[found[:, 0] > 1.0, :2] - (3.0, 0.0), axis=1)
    np.testing.assert_allclose(ring, np.sqrt(0.1**2 - 0.09**2))
    assert np.array_equal(soles.bearing(places, turns, 0.0, 0.01, np.array([1])), found[found[:, 0] > 1.0])
    lifted = np.stack([places, places + np.array([0.0, 0.0, 0.3])])
    np.testing.assert_allclose(soles.clearance(lifted, np.stack([turns, turns]), 0.0), [0.0, 0.3], atol=1e-12)
