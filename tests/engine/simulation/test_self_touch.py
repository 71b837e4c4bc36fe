"""Limp bodies touch themselves where they fall, and only there."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.geometry.shapes import Capsule, Sphere
from engine.simulation import self_touch
from engine.tables import control as C

FPS, FRAMES = 30.0, 31
STILL = (1.0, 0.0, 0.0, 0.0)


def clapper() -> engine.Model:
    """A trunk with two arms that swing down from the horizontal and meet below it; a hand with two fingers on one."""
    names = ["trunk", "left", "right", "hand", "finger", "thumb"]
    arm = Capsule(0.05, (0.0, 0.0, 0.0), (0.0, 0.0, -0.5))
    small = Capsule(0.01, (0.0, 0.0, 0.0), (0.0, 0.0, -0.05))
    return engine.Model.from_tree(
        names,
        [None, "trunk", "trunk", "right", "hand", "hand"],
        [(0, 0, 0), (0.1, 0, -0.15), (-0.1, 0, -0.15), (0, 0, -0.56), (0.03, 0, -0.06), (-0.03, 0, -0.06)],
        masses=[20.0, 2.0, 2.0, 0.2, 0.01, 0.01],
        centers=[(0, 0, 0), (0, 0, -0.25), (0, 0, -0.25), (0, 0, -0.02), (0, 0, -0.02), (0, 0, -0.02)],
        inertias=[np.eye(3) * m for m in (0.3, 0.05, 0.05, 1e-3, 1e-5, 1e-5)],
        shapes=[Sphere(0.1), arm, arm, Sphere(0.04), small, small],
    )


def swung(model: engine.Model) -> engine.Motion:
    """The arms stretched out to both sides, and turning down at once."""
    turns = np.tile(STILL, (FRAMES, len(model), 1))
    for body, side in ((1, -1.0), (2, 1.0)):
        angle = side * (1.4 - 6.0 * np.arange(FRAMES) / FPS)
        turns[:, body] = np.stack([np.cos(angle / 2), 0 * angle, np.sin(angle / 2), 0 * angle], axis=1)
    return engine.Motion.build(model, FPS, turns)


def least_gap(model: engine.Model, motion: engine.Motion) -> float:
    """How near the arms' ends come to one another, in front view [m], less their thickness; below 0 they overlap."""
    ends = []
    for body in (1, 2):
        w, y = motion.rotations[:, body, 0], motion.rotations[:, body, 2]
        angle = 2.0 * np.arctan2(y, w)
        ends.append(model.offsets[body, 0] - 0.5 * np.sin(angle))
    return float((ends[0] - ends[1]).min()) - 0.1


def run(touch_self, controller: engine.Controller) -> engine.Motion:
    model = clapper()
    scene = engine.Scene(gravity=(0.0, 0.0, 0.0), touch_self=touch_self)
    return engine.simulate(model, swung(model), controller, scene).motion


def test_limp_arms_of_a_body_that_falls_do_not_pass_through_one_another():
    model = clapper()
    assert least_gap(model, run(False, engine.Limp(tone=0.0))) < -0.05
    assert least_gap(model, run("LIMP", engine.Limp(tone=0.0))) > -1e-3


@pytest.mark.parametrize("controller", [engine.Follow(), engine.Follow(root="FREE"), engine.Limp(root="ANIMATED")])
def test_others_do_not_feel_it(controller):
    one, other = run("LIMP", controller), run(False, controller)
    assert np.array_equal(one.rotations, other.rotations) and np.array_equal(one.positions, other.positions)


def test_it_begins_with_the_frame_on_which_the_body_goes_limp():
    behaviour = np.full((FRAMES, 6), engine.BEHAVIOURS.index("SIMULATED"))
    behaviour[4:] = engine.BEHAVIOURS.index("LIMP")
    limp = engine.Follow(behaviour=behaviour, root="FREE")
    model = clapper()
    assert least_gap(model, run(False, limp)) < -0.05
    assert least_gap(model, run("LIMP", limp)) > -1e-3


def test_one_setting_a_character():
    model = clapper()
    far = swung(model)
    shift = far.positions + np.where(model.parents < 0, 1.0, 0.0)[None, :, None] * [0.0, 5.0, 0.0]
    other = engine.Motion.build(model, FPS, far.rotations, shift)
    actors = [engine.Actor(model, far, engine.Limp(tone=0.0)), engine.Actor(model, other, engine.Limp(tone=0.0))]
    scene = engine.Scene(gravity=(0.0, 0.0, 0.0), touch_self=[False, "LIMP"])
    first, second = engine.simulate_together(actors, scene)
    assert least_gap(model, first.motion) < -0.05 < -1e-3 < least_gap(model, second.motion)


def test_what_overlaps_is_left_out():
    model = clapper()
    behaviour = np.full((FRAMES, len(model) + 1), C.SIMULATED)
    behaviour[9:] = C.LIMP
    assert self_touch.release_frames(behaviour) == (9,)
    assert (1, 2) in self_touch.left_out(model, swung(model), behaviour)  # the source's arms cross there
    behaviour[2:] = C.LIMP
    assert (1, 2) not in self_touch.left_out(model, swung(model), behaviour)


def test_a_word_that_is_not_known_is_refused():
    with pytest.raises(engine.SettingError, match="touch_self is 'SOMETIMES'"):
        engine.Scene(touch_self="SOMETIMES")
