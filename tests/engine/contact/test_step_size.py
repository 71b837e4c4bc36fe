"""Brakes: a joint that whirls is slowed down about the axis it turns about."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.compile.decorators import entry_point
from engine.contact import step_size
from engine.simulation.shot import Shot
from engine.tables import work as W
from engine.tables.work import factor_of, pose_of

MOST = 20.0


@entry_point
def _brake(tree, work, base, change, i, rate, most):
    step_size._brake(tree, work, pose_of(work, W.MIDDLE), factor_of(work, W.MAIN), base, change, i, rate, most)


def crooked(seed: int) -> Shot:
    """A limp chain of balls, each with an uneven inertia and its own axes, in free flight."""
    rng = np.random.default_rng(seed)
    count = 5
    inertias = []
    for _ in range(count):
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        one, two = 10.0 ** rng.uniform(-5, -2, 2)
        three = abs(one - two) + rng.uniform(0.01, 0.99) * 2.0 * min(one, two)
        inertias.append(axes @ np.diag([one, two, three]) @ axes.T)
    model = engine.Model.from_tree(
        [f"b{k}" for k in range(count)], [None, *range(count - 1)], rng.normal(0.0, 0.1, (count, 3)), None,
        ["FREE"] + ["BALL"] * (count - 1), 10.0 ** rng.uniform(-2, 1, count), rng.normal(0.0, 0.05, (count, 3)),
        inertias,
    )  # fmt: skip
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (2, count, 1))
    motion = engine.Motion.build(model, 30.0, turns, np.tile(model.offsets, (2, 1, 1)))
    shot = Shot([engine.Actor(model, motion, engine.Limp(tone=0.0))], engine.Scene(), 240)
    shot.run(1)
    return shot


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("body", [2, 3, 5])
def test_a_braked_joint_keeps_its_axis(seed, body):
    shot = crooked(seed)
    base = 3.0 * np.random.default_rng(seed).normal(size=len(shot.state.rate[0]))
    joint = slice(shot.tree.dof[body], shot.tree.dof[body + 1])
    base[joint] *= 1000.0 / np.linalg.norm(base[joint])
    before, change = base[joint].copy(), np.zeros_like(base)
    _brake(shot.tree, shot.work, base, change, body, 1000.0, MOST)
    after = (base + change)[joint]
    np.testing.assert_allclose(after, MOST / 1000.0 * before, atol=1e-6 * MOST)
    assert np.any(change[: joint.start] != 0.0), "the others take up what it loses"
