"""Limbs on an animated root are simulated apart, and are what they are in the whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import engine
from engine.model.model import HINGE
from engine.simulation.assemble import Actor
from engine.simulation.limbs import FEWEST_BODIES
from engine.simulation.shot import Shot
from naive import angle_between
from shapes import rod_inertia, smooth_motion

LEGS, JOINTS = 5, 6


def spider(rng, legs: int = LEGS, joints: int = JOINTS, root: str = "FREE") -> engine.Model:
    """A body with legs of balls and hinges."""
    parents = [-1]
    for k in range(legs * joints):
        parents.append(0 if k % joints == 0 else len(parents) - 1)
    n = len(parents)
    along = rng.normal(size=(n, 3))
    along *= 0.12 / np.linalg.norm(along, axis=1, keepdims=True)
    return engine.Model.from_tree(
        [f"bone{i}" for i in range(n)], parents, along, kinds=[root, *["BALL", "HINGE"] * (n // 2)][:n],
        masses=rng.uniform(0.2, 1.0, n), centers=0.5 * along,
        inertias=[rod_inertia(0.5, 0.12, 0.03, a / 0.12) for a in along], axes=rng.normal(size=(n, 3)),
    )  # fmt: skip


def both(model, source, control, rate=240.0, scene=None) -> tuple[Shot, Shot]:
    """The whole, and its limbs."""
    shots = tuple(Shot([Actor(model, source, control)], scene, rate, apart=apart) for apart in (False, True))
    for shot in shots:
        shot.run(shot.frames - 1)
    assert not shots[0].limbs and shots[1].limbs
    return shots


def test_limbs_are_what_they_are_in_the_whole(figure, rng):
    model = spider(rng)
    source = smooth_motion(model, rng, 60, 24.0, reach=0.15, moving_anchors=True)
    whole, apart = both(model, source, engine.Follow(settle_time=0.3, heaviness=0.4))
    assert len(apart.limbs) > 1 and min(len(limb.rows) - 2 for limb in apart.limbs) >= FEWEST_BODIES
    assert np.array_equal(whole.record.body[:, 1:], apart.record.body[:, 1:])
    assert np.array_equal(whole.record.rate[:, 0], apart.record.rate[:, 0])
    torque, sum_ = whole.record.rate[:, 1], apart.record.rate[:, 1]
    assert np.array_equal(torque[:, 6:], sum_[:, 6:])
    figure("limbs apart: the root's drive, relative", np.abs(torque - sum_).max() / np.abs(torque[:, :6]).max(), 1e-13)
    (result,), (other,) = whole.results(), apart.results()
    assert np.array_equal(result.motion.rotations, other.motion.rotations)
    assert result.torques == pytest.approx(other.torques, abs=1e-12 * np.abs(torque).max())


def test_limbs_that_turn_fast_differ_by_less_than_their_steps_do(figure, rng):
    """One that whirls has the whole cut into finer steps, but not its neighbours apart."""
    model = spider(rng)
    source = smooth_motion(model, rng, 60, 24.0, reach=1.5)
    control = engine.Follow(settle_time=0.3, heaviness=0.4)
    whole, apart = (shot.results()[0].motion.rotations for shot in both(model, source, control, 120.0))
    fine = both(model, source, control, 480.0)[0].results()[0].motion.rotations
    step = angle_between(whole, fine).max()
    figure("fast limbs apart, in parts of the steps' own error", angle_between(whole, apart).max() / step, 0.5)


def test_limits_hold_in_limbs_too(figure, rng):
    model = spider(rng)
    limits = model.limits.copy()
    limits[model.kinds == HINGE, :2] = (-0.05, 0.05)
    free, model = model, replace(model, limits=limits)
    source = smooth_motion(model, rng, 60, 24.0, reach=0.05)
    control = engine.Follow(settle_time=0.4, heaviness=1.0)
    whole, apart = (shot.results()[0].motion.rotations for shot in both(model, source, control))
    assert angle_between(engine.simulate(free, source, control).motion.rotations, whole).max() > 0.05, "no limit is met"
    figure("limbs apart with limits [rad]", angle_between(whole, apart).max(), 1e-6)


def test_going_on_is_the_same_as_beginning_anew(rng):
    model = spider(rng)
    source = smooth_motion(model, rng, 150, 24.0, reach=0.3)
    memory = engine.Memory()

    def told(heaviness) -> np.ndarray:
        load = np.full((150, len(model)), 0.2)
        load[100:] = heaviness
        actor = Actor(model, source, engine.Follow(settle_time=0.3, heaviness=load))
        (result,) = engine.simulate_together([actor], memory=memory)
        anew = engine.simulate(*(getattr(actor, name) for name in ("model", "motion", "controller")))
        assert np.array_equal(result.motion.rotations, anew.motion.rotations)
        assert np.array_equal(result.torques, anew.torques)
        return result.motion.rotations

    first = told(0.2)
    assert memory.shot.limbs
    second = told(0.6)
    assert 0 < memory.first <= 100
    assert np.array_equal(first[:100], second[:100]) and not np.array_equal(first, second)


@pytest.mark.parametrize("why", ["free root", "shapes", "a push", "one limb", "small limbs"])
def test_what_hangs_together_stays_together(why, rng):
    model = spider(rng, *{"one limb": (1, 20), "small limbs": (3, 2)}.get(why, ()))
    control, scene = engine.Follow(heaviness=0.5, root="FREE" if why == "free root" else "ANIMATED"), engine.Scene()
    if why == "shapes":
        model = replace(model, shapes=((engine.Sphere(0.01),), *model.shapes[1:]))
        scene = engine.Scene(ground=engine.Ground(-5.0))
    if why == "a push":
        scene = engine.Scene(pushes=[engine.Push("bone3", (0.0, 0.0, 1.0), 2)])
    source = smooth_motion(model, rng, 5, 24.0, reach=0.1)
    assert not Shot([Actor(model, source, control)], scene, 240, apart=True).limbs
