"""Keys that force bodies through one another: contacts give up what cannot be met, and a result comes out."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.math import quaternions as rot
from engine.simulation.shot import Shot
from engine.simulation.unmet_contacts import USE_ASSISTED
from engine.tables import state as S
from performer import performer

FPS = 24.0
APART = engine.Scene(touch_self=False)
AHEAD = rot.about(np.array([0.0, 0.0, 1.0]), np.array(np.pi))


def gliding(side: float, speed: float, stops: int, frames: int, root: str = "ANIMATED") -> engine.Actor:
    """Somebody with hanging arms who glides along Y towards the middle from 0.8 m away, and stops on a frame."""
    model = performer()
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (frames, len(model), 1))
    if side < 0.0:
        turns[:, 0] = AHEAD
    places = np.tile(model.offsets, (frames, 1, 1))
    way = np.minimum(np.arange(frames), stops) * speed / FPS
    places[:, 0, 1] = side * (0.8 - way)
    return engine.Actor(model, engine.Motion.build(model, FPS, turns, places), engine.Follow(root=root))


def fastest(actor: engine.Actor, result: engine.Result) -> np.ndarray:
    """(frames,) the fastest joint [rad/s]."""
    starts = actor.model.dof_starts[1:]
    parts = np.split(result.velocities, starts[:-1], axis=1)[1:]
    return np.max([np.linalg.norm(part, axis=1) for part in parts], axis=0)


@pytest.mark.parametrize("steps", [24, 240, 960])
def test_two_that_walk_through_each_other_come_out_on_the_other_side(figure, steps):
    actors = [gliding(side, 1.0, 48, 61) for side in (1.0, -1.0)]
    results = engine.simulate_together(actors, APART, steps)
    for actor, result in zip(actors, results, strict=True):
        figure(f"{steps} steps: fastest joint [rad/s]", fastest(actor, result).max(), 25.0)
        assert np.allclose(result.motion.positions[:, 0], actor.motion.positions[:, 0])
        figure("back on the source [rad]", np.abs(result.motion.rotations[-1] - actor.motion.rotations[-1]).max(), 1e-2)


def test_two_that_stand_pressed_into_each_other_are_still(figure):
    actors = [gliding(side, 1.0, 17, 72) for side in (1.0, -1.0)]  # their roots end 0.18 m apart
    for steps in (60, 240):
        for actor, result in zip(actors, engine.simulate_together(actors, APART, steps), strict=True):
            figure(f"{steps} steps: joints of two that stand pressed [rad/s]", fastest(actor, result)[48:].max(), 0.5)
            assert np.abs(result.motion.rotations[-1] - actor.motion.rotations[-1]).max() > 0.05  # they gave way


def test_who_parts_from_another_for_a_moment_still_rests_against_it():
    """Joints that tremble touch and part by turns: the time they have rested goes on."""
    actors = [gliding(side, 1.0, 19, 60, "ASSISTED") for side in (1.0, -1.0)]
    shot = Shot(actors, APART, 240)
    root, other = (int(start) + 1 for start in shot.cast.starts[:2])
    shot.run(30)
    rested = shot.state.body[root, S.MET]
    assert rested > 0.2
    for column in (S.ANCHOR, S.REFERENCE_ANCHOR):
        shot.state.body[other, column] += 3.0  # out of reach
    shot.run(32)
    assert shot.state.body[root, S.MET] == pytest.approx(rested + 2.0 / FPS, abs=0.2 / FPS)
    shot.run(38)  # no moment any more
    assert shot.state.body[root, S.MET] < rested + 4.0 / FPS


def test_frames_that_cannot_be_met_are_told():
    actors = [gliding(side, 1.0, 48, 61) for side in (1.0, -1.0)]
    (told,), (other,) = (result.warnings for result in engine.simulate_together(actors, APART, 60))
    assert "of another character on frames" in told and told.endswith(USE_ASSISTED)
    assert other.endswith(USE_ASSISTED)
    # those who do not meet, or can be stopped, are told nothing
    stopped = [gliding(side, 1.0, 48, 40, "ASSISTED") for side in (1.0, -1.0)]
    assert all(not result.warnings for result in engine.simulate_together(stopped, APART, 60))
    away = [gliding(side, 1.0, 5, 30) for side in (1.0, -1.0)]
    assert all(not result.warnings for result in engine.simulate_together(away, APART, 60))


@pytest.mark.parametrize("steps", [24, 240])
def test_a_character_led_through_a_wall_is_told_so(figure, steps):
    actor = gliding(1.0, 1.0, 48, 61)
    wall = engine.Collider("Wall", [engine.Box((1.0, 0.1, 1.5))])
    result = engine.simulate(
        actor.model, actor.motion, actor.controller, engine.Scene(colliders=[wall], touch_self=False), steps
    )
    assert "through 'Wall' on frames" in result.warnings[0]
    figure(f"{steps} steps: led through a wall, fastest joint [rad/s]", fastest(actor, result).max(), 25.0)


def hand(closed: float, frames: int) -> tuple[engine.Model, engine.Motion]:
    """A palm with four fingers of three hinges each, that closes by `closed` radians a joint within half the frames."""
    names, parents, offsets, shapes = ["palm"], [None], [[0.0, 0.0, 1.0]], [engine.Box((0.04, 0.045, 0.012))]
    for finger in range(4):
        for joint in range(3):
            names.append(f"finger {finger} {joint}")
            parents.append("palm" if joint == 0 else f"finger {finger} {joint - 1}")
            offsets.append([0.04, 0.025 * (finger - 1.5), 0.0] if joint == 0 else [0.035, 0.0, 0.0])
            shapes.append(engine.Capsule(0.009, (0.008, 0.0, 0.0), (0.03, 0.0, 0.0)))
    n = len(names)
    limits = np.full((n, 4), np.inf)
    limits[1:, 0], limits[1:, 1] = -0.1, 1.7
    model = engine.Model.from_tree(
        names, parents, offsets, kinds=["FREE", *["HINGE"] * (n - 1)], masses=[0.4, *[0.02] * (n - 1)],
        centers=[[0.0, 0.0, 0.0], *[[0.018, 0.0, 0.0]] * (n - 1)],
        inertias=[5e-4 * np.eye(3), *[4e-6 * np.eye(3)] * (n - 1)],
        axes=np.tile([0.0, 1.0, 0.0], (n, 1)), shapes=shapes, limits=limits,
    )  # fmt: skip
    angle = closed * np.minimum(1.0, np.arange(frames) / (0.5 * frames))
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (frames, n, 1))
    turns[:, 1:] = rot.about(
        np.broadcast_to([0.0, 1.0, 0.0], (frames, n - 1, 3)), np.repeat(angle[:, None], n - 1, axis=1)
    )
    return model, engine.Motion.build(model, FPS, turns, np.tile(model.offsets, (frames, 1, 1)))


@pytest.mark.parametrize("moves", ["ANIMATED", "FREE"])
def test_a_fist_closes_round_a_stick(figure, moves):
    """Keys close it wholly: the fingers stop at the stick, within their ranges, and are still."""
    model, motion = hand(1.5, 49)
    stick = engine.Collider(
        "stick", [engine.Capsule(0.016, (0.0, -0.2, 0.0), (0.0, 0.2, 0.0))], (0.055, 0.0, 0.972), moves=moves, mass=0.3
    )
    scene = engine.Scene(gravity=(0.0, 0.0, 0.0), colliders=[stick], touch_self=False)
    for steps in (60, 240):
        result = engine.simulate(model, motion, engine.Follow(), scene, steps)
        angles = 2.0 * np.arctan2(result.motion.rotations[:, 1:, 2], result.motion.rotations[:, 1:, 0])
        figure(f"{moves} {steps}: fingers beyond their range [rad]", max(angles.max() - 1.7, -0.1 - angles.min()), 0.02)
        figure(f"{moves} {steps}: fingers that hold [rad/s]", np.abs(result.velocities[40:, 6:]).max(), 0.5)
        assert angles[-1].min() < 1.2  # something was in the way
