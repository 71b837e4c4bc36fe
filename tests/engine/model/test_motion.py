"""Motions: what fits a model, and what is refused with the body, the frame and the fix named."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine import Model, Motion, MotionError
from shapes import STILL, chain

MODEL = Model.from_tree(["hip", "knee"], [None, "hip"], np.zeros((2, 3)))


def still(frames=4, bodies=2):
    return np.tile(STILL, (frames, bodies, 1))


def bad(place, value):
    rotations = still()
    rotations[place] = value
    return rotations


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rotations": bad((2, 1), np.nan)}, ("knee", "frame 12", "mend")),
        ({"rotations": bad((3, 0), np.inf)}, ("hip", "frame 13", "mend")),
        ({"rotations": bad((1, 1), 0.0)}, ("knee", "frame 11", "unit")),
        ({"rotations": still(4, 3)}, ("(4, 3, 4)", "(frames, 2, 4)")),
        ({"rotations": still(0, 2)}, ("(0, 2, 4)",)),
        ({"rotations": np.zeros((4, 2, 3))}, ("(frames, 2, 4)",)),
        ({"positions": np.full((4, 2, 3), np.nan)}, ("hip", "position", "frame 10")),
        ({"positions": np.zeros((3, 2, 3))}, ("(3, 2, 3)", "(4, 2, 3)")),
        ({"stepped": np.zeros((4, 3), dtype=bool)}, ("(4, 3)", "(4, 2)")),
        ({"fps": 0.0}, ("frame rate", "above zero")),
        ({"fps": np.nan}, ("frame rate", "above zero")),
    ],
)
def test_refusals_name_the_body_the_frame_and_the_fix(changes, words):
    with pytest.raises(MotionError) as caught:
        Motion.build(MODEL, **{"fps": 24.0, "rotations": still(), "frame_start": 10, **changes})
    for word in words:
        assert word in str(caught.value), caught.value


@pytest.mark.parametrize("kind", ["HINGE", "UNIVERSAL", "FIXED"])
def test_a_turn_the_joint_cannot_make_is_refused(kind):
    model = Model.from_tree(
        ["hip", "knee"], [None, "hip"], np.zeros((2, 3)), kinds=["FREE", kind], axes=[[[1, 0, 0], [0, 1, 0]]] * 2
    )
    rotations = still()
    rotations[2, 1] = (np.cos(0.1), 0.0, 0.0, np.sin(0.1))
    motion = Motion.build(model, 24.0, rotations, frame_start=1)
    with pytest.raises(MotionError) as caught:
        engine.simulate(model, motion, engine.Follow())
    for word in ("knee", "frame 3", "ball joint"):
        assert word in str(caught.value)


def test_the_motion_of_another_model_is_refused():
    motion = Motion.build(MODEL, 24.0, still())
    with pytest.raises(MotionError, match="2 bodies, the model 3"):
        engine.simulate(chain(3), motion, engine.Follow())


def test_nearly_unit_quaternions_are_made_unit_and_anchors_default_to_rest():
    motion = Motion.build(chain(3), 24.0, np.tile([1.005, 0, 0, 0], (3, 3, 1)))
    assert motion.rotations[0, 0].tolist() == STILL.tolist()
    assert motion.positions[2].tolist() == chain(3).offsets.tolist()
    assert len(motion) == 3


def test_the_caller_keeps_its_arrays():
    rotations = np.tile([1.005, 0, 0, 0], (3, 3, 1))
    Motion.build(chain(3), 24.0, rotations)
    rotations[0, 0, 0] = 2.0
    assert rotations[1, 0, 0] == 1.005


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"settle_time": 0.0}, ("link0", "settle time")),
        ({"settle_time": np.nan}, ("link0", "settle time")),
        ({"settle_time": [0.1, 0.1, -1.0]}, ("link2", "settle time")),
        ({"damping_ratio": -0.1}, ("link0", "damping ratio")),
        ({"heaviness": 1.5}, ("link0", "heaviness")),
        ({"heaviness": np.zeros(5)}, ("heaviness", "(5,)")),
        ({"behaviour": "LAZY"}, ("LAZY", "SIMULATED")),
        ({"behaviour": np.full((4, 3), 7)}, ("0 to 2",)),
        ({"root": "LOOSE"}, ("LOOSE", "FREE")),
        ({"assist": -1.0}, ("assist",)),
        ({"assist": np.nan}, ("assist",)),
    ],
)
def test_settings_out_of_range(settings, words):
    model = chain(3)
    with pytest.raises(engine.SettingError) as caught:
        engine.simulate(model, Motion.build(model, 24.0, still(4, 3)), engine.Follow(**settings))
    for word in words:
        assert word in str(caught.value), caught.value


@pytest.mark.parametrize("steps", [0, -5, np.nan, np.inf])
def test_steps_per_second_out_of_range(steps):
    model = chain(1)
    with pytest.raises(engine.SettingError, match=r"[Ss]teps per second"):
        engine.simulate(model, Motion.build(model, 24.0, still(4, 1)), engine.Follow(), steps_per_second=steps)


@pytest.mark.parametrize("gravity", [(0.0, 0.0), (0.0, 0.0, np.nan), 9.81])
def test_gravity_out_of_range(gravity):
    with pytest.raises(engine.SettingError, match=r"[Gg]ravity"):
        engine.Scene(gravity=gravity)
