"""The catch (S2 Fig. 6): a hand is where a thrown ball comes by, also when it is struck on the way there."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from naive import angle_between, forward
from performer import CATCH, perform, performer

FPS, CAUGHT = 24.0, 36
HAND = "right hand"
NEAR = 0.01  # [m]


def palm(model: engine.Model, motion: engine.Motion) -> np.ndarray:
    """(frames, 3) where the middle of the hand is."""
    return forward(model, motion.rotations, motion.positions).centers[:, model.index(HAND)]


def thrown(place: np.ndarray) -> engine.Collider:
    """A ball that flies through a place when it is to be caught."""
    time, gravity = CAUGHT / FPS, np.array([0.0, 0.0, -9.81])
    start = np.array([0.3, -6.0, 1.2])
    speed = (place - start - 0.5 * gravity * time**2) / time
    return engine.Collider("thrown", [engine.Sphere(0.05)], start, moves="FREE", mass=0.4, velocity=speed)


def stray(model: engine.Model, calm: engine.Motion, frame: int = 15) -> engine.Collider:
    """A ball of 3 kg that meets the forearm from outside, near the wrist, on its way."""
    wrist = forward(model, calm.rotations, calm.positions).anchors[frame, model.index(HAND)]
    time = (np.arange(len(calm)) - frame)[:, None] / FPS
    way = wrist + np.array([-0.15, 0.0, 0.0]) + time * [5.0, 0.0, 0.0]
    return engine.Collider("stray", [engine.Sphere(0.1)], way, moves="FREE", mass=3.0, bounce=0.3, free_from=frame - 3)


def reach(root: str, disturbed: bool, strength=np.inf) -> tuple[engine.Model, engine.Motion, engine.Result]:
    model = performer("FREE")
    motion = perform(model, CATCH, FPS)
    source = forward(model, motion.rotations, motion.positions)
    balls = [thrown(source.centers[CAUGHT, model.index(HAND)])]
    if disturbed:
        calm = engine.simulate(model, motion, engine.OnTime(root=root), engine.Scene(touch_self=False))
        balls.append(stray(model, calm.motion))
    apart = [("thrown", name) for name in (*model.names, *(ball.name for ball in balls[1:]))]
    scene = engine.Scene(colliders=balls, apart=apart, touch_self=False)
    return model, motion, engine.simulate(model, motion, engine.OnTime(root=root, strength=strength), scene)


@pytest.mark.parametrize("root", ["ANIMATED", "ASSISTED"])
@pytest.mark.parametrize("disturbed", [False, True], ids=["calm", "struck"])
def test_the_hand_is_where_the_ball_comes_by(root, disturbed, figure):
    model, _, result = reach(root, disturbed)
    name = f"catch, root {root.lower()}, {'struck by 3 kg' if disturbed else 'calm'}"
    if disturbed:
        _, _, calm = reach(root, False)
        thrown_off = np.linalg.norm(palm(model, result.motion) - palm(model, calm.motion), axis=1).max()
        figure.note(f"{name}: the hand is thrown off by [m]", thrown_off)
        assert thrown_off > 0.05
    ball = result.objects["thrown"][0][CAUGHT]
    gap = np.linalg.norm(palm(model, result.motion)[CAUGHT] - ball)
    figure(f"{name}: from hand to ball when it is caught [m]", gap, NEAR)
    assert np.linalg.norm(palm(model, result.motion)[0] - ball) > 0.3, "it had a way to go"
    assert not result.arrivals.missed()


def test_an_arm_too_weak_for_the_catch_says_so(figure):
    """Strength is cut until the key is missed: every miss has the bone and the size that the pose shows."""
    for share in 0.8 ** np.arange(1, 30):
        model = performer("FREE")
        limits = np.full(len(model), np.inf)
        arm = [model.index(f"right {name}") for name in ("upper arm", "forearm", "hand")]
        limits[arm] = share * model.strengths[arm]
        model, motion, result = reach("ANIMATED", True, limits)
        missed = result.arrivals.missed()
        if missed:
            break
    figure.note("catch, strength cut until it is missed: times what holds three times the arm", share)
    assert missed and share < 0.7
    off = np.degrees(angle_between(
        motion.keys.rotations, result.motion.rotations[CAUGHT, np.asarray(motion.keys.bodies)]
    ))  # fmt: skip
    shown = {model.names[body]: angle for body, angle in zip(motion.keys.bodies, off, strict=True) if angle > 0.5}
    assert set(shown) == {body for body, _, _ in missed}
    assert set(shown) <= {model.names[body] for body in arm}
    for body, frame, degrees in missed:
        assert frame == CAUGHT
        figure(f"catch missed by {body} by {degrees:.2f}°: told wrongly by [°]", abs(degrees - shown[body]), 1e-6)
    gap = np.linalg.norm(palm(model, result.motion)[CAUGHT] - result.objects["thrown"][0][CAUGHT])
    figure.note("catch missed: from hand to ball [m]", gap)
