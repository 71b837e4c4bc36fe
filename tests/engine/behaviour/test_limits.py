"""Limits of ball joints that are not round: a knee bends one way only, and hardly to the sides."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import engine
from engine import Model, Motion
from naive import mechanics, rotation_vectors
from probe import oval_gap
from shapes import chain, hinge_angles, joint_rotations, launched, random_quaternion, still_motion

FPS = 24.0
SPACE = engine.Scene(gravity=(0.0, 0.0, 0.0))
BENDS, SIDES, TWISTS = np.radians(150.0), np.radians(8.0), np.radians(10.0)


def knee(links: int = 1, sign: float = 1.0, limits=(0.5 * BENDS, -TWISTS, TWISTS, SIDES), body=None) -> Model:
    """Rods along Y that bend from straight to BENDS about X (downward where `sign` is negative)."""
    base = chain(links, "BALL", along=(0.0, 1.0, 0.0))
    body = Rotation.identity() if body is None else body
    middle = Rotation.from_rotvec([sign * 0.5 * BENDS, 0.0, 0.0]) * body
    frames = np.tile([middle.as_quat(scalar_first=True), body.as_quat(scalar_first=True)], (links, 1, 1))
    return Model.from_tree(
        base.names, base.parents, base.offsets, None, ["BALL"] * links, base.masses, base.centers, base.inertias,
        limits=[limits] * links, limit_frames=frames,
    )  # fmt: skip


def swing(turns: Rotation) -> np.ndarray:
    """(k, 2) how the Y axis leans: the rotation vector of the shortest turn from Y, about X and Z."""
    to = turns.apply([0.0, 1.0, 0.0])
    angle = np.arccos(np.clip(to[:, 1], -1.0, 1.0))
    out = np.stack([to[:, 2], -to[:, 0]], axis=1)
    return out * (angle / np.maximum(np.linalg.norm(out, axis=1), 1e-12))[:, None]


def share(turns: Rotation, a: float, b: float) -> np.ndarray:
    """1 on the oval's rim, less within."""
    return np.sqrt(np.sqrt(((swing(turns) / [a, b]) ** 4).sum(axis=1)))


def test_what_widens_the_gap_is_its_gradient(rng):
    a, b, least = 1.2, 0.3, 1e-6
    for _ in range(50):
        turn = Rotation.from_rotvec(rng.normal(size=3) * 0.6)
        gap, along = oval_gap(turn.as_quat(scalar_first=True), a, b)
        at = share(Rotation.concatenate([turn]), a, b)[0]
        nudged = Rotation.concatenate([turn * Rotation.from_rotvec(least * axis) for axis in np.eye(3)])
        slope = (share(nudged, a, b) - at) / least
        # the gap is that to first order: its rates are those of −share over the length of share's gradient
        scale = (1.0 - at) / gap
        np.testing.assert_allclose(along * scale, -slope, atol=2e-5 * max(scale, 1.0))


def rim(angle: float, a: float, b: float) -> np.ndarray:
    """(2,) the point of the oval's rim in this direction."""
    along = np.array([np.cos(angle), np.sin(angle)])
    return along / ((along / [a, b]) ** 4).sum() ** 0.25


@pytest.mark.parametrize("way", [0.08, -0.08])
def test_the_edge_beside_is_a_tangent(way, rng):
    a, b, least = 0.8, 0.2, 1e-6
    for _ in range(50):
        turn = Rotation.from_rotvec(rng.normal(size=3) * 0.4)
        x = swing(Rotation.concatenate([turn]))[0]
        gap, along = oval_gap(turn.as_quat(scalar_first=True), a, b, way)
        here = np.arctan2(x[1], x[0])
        there = here + way / np.linalg.norm(rim(here, a, b))
        point = rim(there, a, b)
        normal = (point / [a, b]) ** 3 / [a, b]
        normal /= np.linalg.norm(normal)
        assert gap == pytest.approx(normal @ (point - x), abs=1e-9)
        nudged = Rotation.concatenate([turn * Rotation.from_rotvec(least * axis) for axis in np.eye(3)])
        np.testing.assert_allclose(along, -((swing(nudged) - x) @ normal) / least, atol=2e-5)


@pytest.mark.parametrize("steps", [24, 240])
def test_a_limp_knee_does_not_bend_backward(steps, figure):
    """Held out level, it bends up only: it must stay where it is."""
    model = knee()
    result = engine.simulate(model, still_motion(model, 2.0, FPS), engine.Limp(tone=0.0), None, steps)
    bent = np.abs(rotation_vectors(result.motion.rotations)).max()
    figure(f"a limp knee held up by its limit, {steps} steps/s: gives way [rad]", bent, 0.01)


def test_a_limp_knee_falls_as_a_hinge_and_stops_at_its_end(figure):
    """Bent downward from level: it falls as a pendulum until the end of its range, here short of hanging."""
    model = knee(sign=-1.0, limits=(np.radians(30.0), -TWISTS, TWISTS, SIDES))
    frames = model.limit_frames.copy()
    frames[0, 0] = Rotation.from_rotvec([-np.radians(30.0), 0.0, 0.0]).as_quat(scalar_first=True)
    model = Model.from_tree(
        model.names, [None], model.offsets, None, ["BALL"], model.masses, model.centers, model.inertias,
        limits=model.limits, limit_frames=frames,
    )  # fmt: skip
    free = chain(1, "HINGE", along=(0.0, 1.0, 0.0), axis=(1.0, 0.0, 0.0))
    found = engine.simulate(model, still_motion(model, 4.0, FPS), engine.Limp(tone=0.0), None, 240)
    swung = engine.simulate(free, still_motion(free, 4.0, FPS), engine.Limp(tone=0.0), None, 240)
    wanted = hinge_angles(free, swung.motion)
    angle = rotation_vectors(found.motion.rotations)[:, 0, 0]
    falling = np.flatnonzero(wanted[:, 0] > -np.radians(57.0))
    falling = falling[: np.flatnonzero(np.diff(falling, append=10**6) > 1)[0]]
    assert len(falling) > 3
    figure("a limp knee: off a pendulum before its end [rad]", np.abs(angle - wanted[:, 0])[falling].max(), 1e-3)
    figure("a limp knee: beyond its end [rad]", (-np.radians(60.0) - angle).max(), 0.02)
    figure("a limp knee: rests at its end [rad]", abs(angle[-1] + np.radians(60.0)), 0.005)


@pytest.mark.parametrize(("steps", "slack"), [(48, 0.04), (240, 0.005)])
def test_flung_about_it_stays_within_the_oval_however_its_frames_sit(steps, slack, figure, rng):
    over = twisted = 0.0
    for _ in range(8):
        body = Rotation.from_rotvec([0.0, rng.uniform(-3.0, 3.0), 0.0])
        model = knee(body=body)
        middle, own = (Rotation.from_quat(q, scalar_first=True) for q in model.limit_frames[0])
        pose = (middle * own.inv()).as_rotvec()[None]
        source = launched(model, FPS, 49, rng.normal(size=(1, 3)) * 5.0, pose)
        motion = engine.simulate(model, source, engine.Limp(tone=0.0), SPACE, steps).motion
        turns = Rotation.from_quat(motion.rotations[:, 0], scalar_first=True)
        seen = middle.inv() * turns * own
        q = seen.as_quat(scalar_first=True, canonical=True)
        over = max(over, (share(seen, 0.5 * BENDS, SIDES) - 1.0).max() * SIDES)
        twisted = max(twisted, np.abs(2.0 * np.arctan2(q[:, 2], q[:, 0])).max() - TWISTS)
    figure(f"a flung knee, {steps} steps/s: beyond its oval, to the sides [rad]", over, slack)
    figure(f"a flung knee, {steps} steps/s: beyond its twist [rad]", twisted, slack)


@pytest.mark.parametrize("steps", [24, 240])
@pytest.mark.parametrize("heaviness", [0.0, 0.5])
def test_a_target_that_bends_a_knee_backward_does_not_jitter(heaviness, steps, figure):
    model = knee(2)
    frames = 121
    angles = np.zeros((frames, 2, 3))
    angles[:, :, 0] = -0.6 * np.clip(np.arange(frames) / 24.0, 0.0, 1.0)[:, None]
    source = Motion.build(model, FPS, joint_rotations(model, angles))
    result = engine.simulate(model, source, engine.Follow(heaviness=heaviness, settle_time=0.2), None, steps)
    name = f"keys that bend knees backward, heaviness {heaviness}, {steps} steps/s"
    figure(f"{name}: resting joint's speed [rad/s]", np.abs(result.velocities[-24:]).max(), 1e-2)
    figure(f"{name}: bent backward [rad]", -rotation_vectors(result.motion.rotations)[-1, :, 0].min(), 5e-3)


@pytest.mark.parametrize("natural", [True, False])
def test_natural_limits_hold_only_what_is_off_its_motion(natural, figure):
    """Keys that bend backward: those of a natural limit stay as they are; a push on top of them is held."""
    base = knee(2, limits=(0.5 * BENDS, -TWISTS, TWISTS, SIDES))
    model = Model.from_tree(
        base.names, base.parents, base.offsets, None, ["BALL"] * 2, base.masses, base.centers, base.inertias,
        limits=base.limits, limit_frames=base.limit_frames, limits_natural=natural,
    )  # fmt: skip
    frames = 49
    angles = np.zeros((frames, 2, 3))
    angles[:, :, 0] = -0.6 * np.clip(np.arange(frames) / 24.0, 0.0, 1.0)[:, None]
    source = Motion.build(model, FPS, joint_rotations(model, angles))
    result = engine.simulate(model, source, engine.Follow(settle_time=0.2))
    off = np.abs(rotation_vectors(result.motion.rotations) - rotation_vectors(source.rotations)).max()
    if natural:
        figure("a natural limit and keys beyond it: off the keys [rad]", off, 1e-12)
    else:
        assert off > 0.5
    still = still_motion(model, 2.0, FPS)
    push = engine.Push("link1", (0.0, 0.0, -2.0), 4)
    swung = engine.simulate(model, still, engine.Follow(settle_time=0.4), engine.Scene(pushes=[push])).motion
    least = rotation_vectors(swung.rotations)[:, :, 0].min()
    figure(f"pushed backward against a limit (natural: {natural}): bent by [rad]", -least, 0.02)


@pytest.mark.parametrize("steps", [60, 240])
def test_limits_give_a_limp_limb_no_energy(steps, figure):
    """Three limbs in a row, let go level: what they have in height and speed never grows."""
    model = knee(3, sign=-1.0, limits=(0.5 * BENDS, -TWISTS, TWISTS, SIDES))
    gravity = (0.0, 0.0, -9.81)
    result = engine.simulate(model, still_motion(model, 3.0, FPS), engine.Limp(tone=0.0), None, steps)
    found = mechanics(model, result.motion, result.velocities, gravity)
    energy = found.kinetic + found.potential
    fall = np.ptp(found.potential)
    figure(
        f"limp limbs with limits, {steps} steps/s: energy gained, of the fall's",
        (energy - energy[0]).max() / fall,
        0.02,
    )
    assert fall > 5.0


def test_a_round_limit_is_what_it_was():
    """Two equal half widths are no circle, but no second one is."""
    base = chain(2, "BALL", along=(0.0, 1.0, 0.0))
    plain = Model.from_tree(
        base.names, base.parents, base.offsets, kinds=["BALL"] * 2, limits=[[0.5, -0.3, 0.4, np.nan]] * 2
    )
    assert np.isinf(plain.limits[:, 3]).all()
    np.testing.assert_array_equal(plain.limit_frames[:, :, 0], 1.0)


def test_frames_follow_the_models_order(rng):
    quats = random_quaternion(rng, 6).reshape(3, 2, 4)
    model = Model.from_tree(["c", "a", "b"], ["b", None, "a"], np.zeros((3, 3)), limit_frames=quats)
    for k, name in enumerate(["c", "a", "b"]):
        np.testing.assert_allclose(model.limit_frames[model.index(name)], quats[k])


def test_bad_limits_are_named():
    with pytest.raises(engine.ModelError, match=r"'link0'.*two swings"):
        knee(limits=(0.0, -1.0, 1.0, 0.5))
    with pytest.raises(engine.ModelError, match="limit frame"):
        Model.from_tree(["a"], [None], np.zeros((1, 3)), limit_frames=np.ones((1, 4)))


@pytest.mark.parametrize("steps", [60, 240])
def test_a_heavy_joint_that_is_thrown_about_stays_within_its_range(steps, figure):
    """A rod that is keyed back and forth, four times a second, with a heavy one on it that leans by 60° to two sides
    and by 10° to the others: a toe on a foot that kicks."""
    base = chain(2, "BALL", along=(0.0, 1.0, 0.0))
    bounds = np.radians([[179.0, -179.0, 179.0, np.inf], [60.0, -10.0, 10.0, 10.0]])
    model = Model.from_tree(
        base.names, base.parents, base.offsets, None, ["BALL"] * 2, base.masses, base.centers, base.inertias,
        limits=bounds, limits_natural=True,
    )  # fmt: skip
    time = np.arange(3 * 60)[:, None] / 60.0
    angles = np.zeros((len(time), 2, 3))
    angles[:, 0] = np.array([1.0, 0.4, 0.7]) * np.sin(8.0 * np.pi * time)
    source = Motion.build(model, 60.0, joint_rotations(model, angles))
    control = engine.Follow(behaviour=["ANIMATED", "SIMULATED"], settle_time=0.5, heaviness=1.0)
    turns = engine.simulate(model, source, control, None, steps).motion.rotations[:, 1]
    turns = Rotation.from_quat(turns, scalar_first=True)
    twist = 2.0 * np.arctan2(*turns.as_quat(scalar_first=True, canonical=True)[:, [2, 0]].T)
    rim = share(turns, *bounds[1, [0, 3]])
    assert rim.max() > 0.999, "it does come to its limits"
    figure(f"a heavy joint thrown about, {steps} steps/s: swing / its limit", rim.max(), 1.001)
    figure(f"a heavy joint thrown about, {steps} steps/s: twist [°]", np.degrees(np.abs(twist).max()), 10.01)
