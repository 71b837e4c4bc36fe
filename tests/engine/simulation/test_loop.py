"""What loops: the settled cycle closes in pose and velocity, and is what many rounds end in."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.math import quaternions as rot

FPS, PERIOD = 24.0, 30
POSE_GAP, RATE_GAP = 0.05, 0.02  # [degrees], of the fastest
SETTLED = 1e-6  # [rad] from the same cycle simulated for a long time
TAIL = 6


def tail(travels: float = 0.0, keys=None, bent: float = 0.0) -> engine.Actor:
    """A tail of light bones that sways on a root that bobs, one cycle of it."""
    names = ["root", *(f"tail.{i}" for i in range(TAIL))]
    offsets = [(0.0, 0.0, 1.0)] + [(0.0, -0.15, 0.0)] * TAIL
    model = engine.Model.from_tree(names, [None, *range(TAIL)], offsets, masses=[5.0] + [0.2] * TAIL)
    phase = 2.0 * np.pi * np.arange(PERIOD + 1) / PERIOD
    n = len(names)
    angles = np.zeros((PERIOD + 1, n, 3))
    for i in range(n):
        angles[:, i, 2] = 0.35 * np.sin(phase + 0.7 * i) * (i > 0)
        angles[:, i, 0] = 0.2 * np.cos(2.0 * phase - i) * (i > 0)
    angles[-1, 2:3, 0] += bent
    positions = np.broadcast_to(model.offsets, (PERIOD + 1, n, 3)).copy()
    positions[:, 0, 2] += 0.06 * np.cos(2.0 * phase)
    positions[:, 0, 1] += travels * np.arange(PERIOD + 1) / PERIOD
    motion = engine.Motion.build(model, FPS, rot.exp(angles), positions, frame_start=1, keys=keys)
    return engine.Actor(model, motion, engine.Follow(heaviness=0.3))


def gaps(result: engine.Result, way=(0.0, 0.0, 0.0)) -> tuple[float, float]:
    """Degrees between the first and the last frame, and how much of the fastest rate their rates differ."""
    turns = rot.multiply(rot.conjugate(result.motion.rotations[0]), result.motion.rotations[-1])
    rate = np.abs(result.velocities[-1] - result.velocities[0]).max() / np.abs(result.velocities).max()
    assert np.abs(result.motion.positions[-1, 0] - result.motion.positions[0, 0] - way).max() < 1e-9
    return float(np.degrees(np.linalg.norm(rot.log(turns), axis=-1).max())), float(rate)


def long_way(actor: engine.Actor, rounds: int, travels: float = 0.0) -> engine.Result:
    """The last of many rounds of the same cycle, laid end to end by hand and simulated as one motion."""
    motion = actor.motion
    turns = np.concatenate([motion.rotations[:PERIOD]] * rounds + [motion.rotations[:1]])
    places = [motion.positions[:PERIOD] + (0.0, r * travels, 0.0) * np.eye(1, TAIL + 1).T for r in range(rounds)]
    places.append(motion.positions[:1] + (0.0, rounds * travels, 0.0) * np.eye(1, TAIL + 1).T)
    long = engine.Motion.build(actor.model, FPS, turns, np.concatenate(places), frame_start=1)
    return engine.simulate(actor.model, long, actor.controller)


@pytest.mark.parametrize("travels", [0.0, 1.4])
def test_a_heavy_tail_loops(figure, travels):
    actor = tail(travels)
    result = engine.simulate_loop([actor])[0]
    once = engine.simulate(actor.model, actor.motion, actor.controller)
    pose, rate = gaps(result, (0.0, travels, 0.0))
    figure(f"tail, heaviness 0.3, {travels} m a cycle: pose gap [°]", pose, POSE_GAP)
    figure("  velocity gap, of the fastest", rate, RATE_GAP)
    figure.note("  the same without a lead-in [°]", gaps(once, (0.0, travels, 0.0))[0])
    assert gaps(once, (0.0, travels, 0.0))[0] > 10 * POSE_GAP
    rounds = 12
    far = long_way(actor, rounds + 1, travels).motion
    last = slice((rounds - 1) * PERIOD, rounds * PERIOD + 1)
    off = rot.log(rot.multiply(rot.conjugate(far.rotations[last]), result.motion.rotations))
    figure("  from the twelfth round simulated plainly [rad]", np.linalg.norm(off, axis=-1).max(), SETTLED)
    back = np.array([0.0, (rounds - 1) * travels, 0.0])
    assert np.abs(far.positions[last, 0] - back - result.motion.positions[:, 0]).max() < 1e-9
    assert result.motion.frame_start == 1 and len(result.motion) == PERIOD + 1


def test_an_undisturbed_cycle_is_itself(figure):
    actor = tail(0.7)
    weightless = engine.Actor(actor.model, actor.motion, engine.Follow())
    result = engine.simulate_loop([weightless])[0]
    off = rot.log(rot.multiply(rot.conjugate(actor.motion.rotations), result.motion.rotations))
    figure("undisturbed cycle: off its source [rad]", np.linalg.norm(off, axis=-1).max(), 1e-9)
    assert np.abs(actor.motion.positions - result.motion.positions).max() < 1e-9


def test_settings_that_change_and_pushes_come_round(figure):
    actor = tail()
    count, n = PERIOD + 1, len(actor.model)
    heavy = np.repeat(0.3 + 0.2 * np.sin(2.0 * np.pi * np.arange(count) / PERIOD)[:, None], n, axis=1)
    keyed = engine.Actor(actor.model, actor.motion, engine.Follow(heaviness=heavy))
    scene = engine.Scene(pushes=[engine.Push("tail.3", (0.3, 0.0, 0.0), 7)], winds=[engine.Wind((1.0, 0.0, 0.0))])
    result = engine.simulate_loop([keyed], scene)[0]
    pose, rate = gaps(result)
    figure("keyed heaviness, a push a round and wind: pose gap [°]", pose, POSE_GAP)
    figure("  velocity gap, of the fastest", rate, RATE_GAP)
    calm = engine.simulate_loop([keyed])[0]
    assert np.abs(result.velocities[8] - calm.velocities[8]).max() > 0.1
    assert not result.warnings


def test_keys_are_met_on_every_round(figure):
    plain = tail(0.5)
    keys = engine.Keys.at([1 + PERIOD // 3, 1 + PERIOD], plain.model.names[1:])
    actor = tail(0.5, keys)
    on_time = engine.Actor(actor.model, actor.motion, engine.OnTime(heaviness=0.3))
    result = engine.simulate_loop([on_time])[0]
    pose, _rate = gaps(result, (0.0, 0.5, 0.0))
    figure("On Time: pose gap [°]", pose, POSE_GAP)
    assert len(result.arrivals.frames) == 2 * TAIL
    assert set(result.arrivals.frames) == {1 + PERIOD // 3, 1 + PERIOD}
    once = engine.simulate(actor.model, actor.motion, on_time.controller)
    figure.note("  missed by, simulated once [°]", np.degrees(once.arrivals.angles.max()))
    figure("  missed by [°]", np.degrees(result.arrivals.angles.max()), 0.1)


def test_two_together_loop(figure):
    actors = [tail(), tail()]
    for result in engine.simulate_loop(actors, engine.Scene(ground=engine.Ground(0.0))):
        figure("one of two: pose gap [°]", gaps(result)[0], POSE_GAP)


def test_what_does_not_repeat_is_told():
    actor = tail()
    limp = engine.Actor(actor.model, actor.motion, engine.Limp(tone=0.0))
    (warning,) = engine.simulate_loop([limp])[0].warnings
    assert "does not repeat" in warning and "tail." in warning


def test_part_of_a_result_is_its_frames():
    actor = tail()
    scene = engine.Scene(ground=engine.Ground(0.5))
    whole = engine.simulate(actor.model, actor.motion, actor.controller, scene)
    part = whole.part(np.arange(5, PERIOD + 1))
    assert part.motion.frame_start == 6 and len(part.motion) == PERIOD - 4
    assert np.array_equal(part.motion.rotations, whole.motion.rotations[5:])
    assert np.array_equal(part.velocities, whole.velocities[5:])
    assert np.array_equal(part.contacts.frames + 5, whole.contacts.frames[whole.contacts.frames >= 5])
