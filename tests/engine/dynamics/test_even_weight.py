"""Even weight: settle times by size, so that heaviness bends a finger as it bends a shoulder (METHODS §1c)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import engine
from engine.contact.step_size import steps_needed
from engine.dynamics.even_weight import REFERENCE, pendulum_lengths, settle_scales
from engine.math import quaternions as rot
from engine.tables import control as C
from engine.tables.tree import build_tree
from level_limbs import arm, foot, limb, sag, tail
from shapes import chain, still_motion

EVEN = 2.0  # largest sag of a joint / smallest
CLOSED_FORM = 1e-6  # of the largest torque
EARTH = engine.Scene(touch_self=False)


@pytest.mark.parametrize("heaviness", [0.3, 1.0])
@pytest.mark.parametrize("model", [arm(), tail(), foot()], ids=["arm", "tail", "foot"])
def test_all_joints_of_a_level_limb_sag_alike(model, heaviness, figure):
    even, uneven = sag(model, heaviness, True), sag(model, heaviness, False)
    ratio, before = (found.angles.max() / found.angles.min() for found in (even, uneven))
    figure(f"{len(model)} bones, heaviness {heaviness}: largest sag / smallest ({before:.1f} without)", ratio, EVEN)
    figure("D k_p E against gravity", even.closed_form, CLOSED_FORM)
    assert before > EVEN


def test_a_mouse_bends_like_a_horse():
    small, large = (
        limb([(None if k == 0 else str(k - 1), 0.2 * size * 0.8**k, size**3 * 0.5**k) for k in range(6)])
        for size in (0.25, 2.5)
    )
    assert sag(small, 0.6, True).angles == pytest.approx(sag(large, 0.6, True).angles, rel=1e-6)


def test_the_settle_time_is_that_of_a_rod_on_the_reference():
    """A rod about its end swings like a pendulum of two thirds of its length."""
    model = chain(1, "BALL", length=1.5 * REFERENCE)
    assert settle_scales(model) == pytest.approx([1.0], abs=0.01)
    assert sag(model, 1.0, True).angles == pytest.approx(sag(model, 1.0, False).angles, rel=0.02)


def test_a_multiplier_stays_on_top():
    model = chain(3, "BALL")
    plain, softer = (sag(model, 0.2, True, 0.1 * np.array([1.0, scale, 1.0])).angles for scale in (1.0, 2.0))
    assert softer / plain == pytest.approx([1.0, 4.0, 1.0], rel=0.02)


def test_lengths_do_not_depend_on_the_rest_pose(rng):
    model = arm()
    turns = rng.normal(size=(len(model), 4))
    folded = replace(model, rest_rotations=turns / np.linalg.norm(turns, axis=1, keepdims=True))
    assert pendulum_lengths(folded) == pytest.approx(pendulum_lengths(model), rel=1e-12)


def test_a_ball_on_its_own_joint_has_a_length():
    model = engine.Model.from_tree(["ball"], [None], [[0.0, 0.0, 0.0]], kinds=["BALL"])
    assert 0.05 < pendulum_lengths(model)[0] < 0.2
    assert np.isfinite(settle_scales(model)).all()


def test_free_roots_keep_their_settle_time():
    scales = settle_scales(chain(3, "BALL", base="FREE"))
    assert scales[0] == 1.0 and (scales[1:] < 1.2).all() and scales[1] > scales[2] > scales[3]


def test_no_more_steps_are_taken_for_small_joints():
    """Their springs are faster, but what they do under a load is nearer to it: see the trial's table."""
    model = arm()
    tree = build_tree(model)
    plain, even = (engine.Follow(even_weight=on).control(model, 1) for on in (False, True))
    assert (even.setting[:, 1:, C.OMEGA] > plain.setting[:, 1:, C.OMEGA]).all()
    assert steps_needed(tree, even, False, 240.0) == steps_needed(tree, plain, False, 240.0)


def test_on_time_small_joints_sag_no_farther_between_keys_and_meet_them():
    """A still pose keyed at two seconds: on the way the arm sags; at the key it is in its pose."""
    model = arm()
    still = np.tile([1.0, 0.0, 0.0, 0.0], (len(model), 1))
    keys = engine.Keys(list(range(len(model))), np.full(len(model), 48.0), still, np.zeros((len(model), 3)))
    source = engine.Motion.build(model, 24.0, still_motion(model, 3.0, 24.0).rotations, keys=keys)
    most = []
    for on in (True, False):
        result = engine.simulate(model, source, engine.OnTime(heaviness=0.03, even_weight=on), EARTH)
        bends = np.degrees(np.linalg.norm(rot.log(result.motion.rotations), axis=2))
        most.append(bends.max(axis=0))
        assert bends[48].max() < 0.05
    shoulder, tip = most[0][0], most[0][-1]
    assert tip < 3.0 * shoulder and most[1][-1] > 8.0 * shoulder
