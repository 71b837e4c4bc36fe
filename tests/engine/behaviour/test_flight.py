"""Bodies that nothing drives: free flight keeps its momenta, light chains survive, pendulums converge."""

from __future__ import annotations

import csv
from pathlib import Path

import mujoco
import numpy as np
import pytest

import engine
from engine.model.model import BALL, FREE, JOINT_KINDS, Model
from engine.model.motion import Motion
from mujoco_model import Oracle
from naive import angle_between, mechanics
from shapes import box, chain, hinge_angles, joint_rotations, launched, ragdoll, random_tree, still_motion

LINEAR = 1e-9  # momentum, relative
ANGULAR = 1e-3  # angular momentum, relative
ENERGY = 1.001  # of the start, never more
REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "data" / "reference"
NO_GRAVITY = engine.Scene(gravity=(0.0, 0.0, 0.0))
EARTH = engine.Scene()


def fly(model, rates, seconds=10.0, fps=24.0, steps=240, scene=NO_GRAVITY, pose=None):
    motion = launched(model, fps, round(seconds * fps) + 1, rates, pose)
    result = engine.simulate(model, motion, engine.Limp(tone=0.0), scene=scene, steps_per_second=steps)
    return result, mechanics(model, result.motion, result.velocities, scene.gravity)


def thrown(model, rng, joints=2.0, spin=4.0):
    """Rates of every joint, a spin of the root and, last, its speed."""
    rates = rng.normal(size=(len(model) + 1, 3)) * joints
    rates[0] = rng.normal(size=3)
    rates[0] *= spin / np.linalg.norm(rates[0])
    rates[-1] = (1.0, -0.5, 3.0)
    return rates


@pytest.mark.parametrize("word", ["ragdoll", "box"])
@pytest.mark.parametrize("scene", [NO_GRAVITY, EARTH], ids=["weightless", "falling"])
@pytest.mark.parametrize("seed", range(3))
def test_free_flight(word, scene, seed, figure):
    rng = np.random.default_rng(seed)
    model = ragdoll(seed) if word == "ragdoll" else box()
    pose = rng.normal(size=(len(model), 3)) * 0.4
    _, found = fly(model, thrown(model, rng), scene=scene, pose=pose)
    t = np.arange(len(found.center)) / 24.0
    mass, g = model.total_mass, np.array(scene.gravity)
    wanted = found.linear[0] + mass * g * t[:, None]
    place = found.center[0] + found.linear[0] / mass * t[:, None] + 0.5 * g * t[:, None] ** 2
    # what the tree does about its own centre: its fall is known and must not hide a gain
    inner = found.kinetic - 0.5 * (found.linear**2).sum(axis=1) / mass
    name = f"free flight, {word} {seed}, {'weightless' if scene is NO_GRAVITY else 'falling'}, 240/s, 10 s"
    scale = np.abs(wanted).max()
    figure(f"{name}: linear momentum", np.abs(found.linear - wanted).max() / scale, LINEAR)
    figure(
        f"{name}: centre of mass on its parabola [m]", np.abs(found.center - place).max(), 1e-9 * np.abs(place).max()
    )
    turn = np.linalg.norm(found.angular - found.angular[0], axis=1).max() / np.linalg.norm(found.angular[0])
    figure(f"{name}: angular momentum", turn, ANGULAR)
    figure(f"{name}: energy, largest", inner.max() / inner[0], ENERGY)
    figure.note(f"{name}: energy left", inner[-1] / inner[0])


def chains(length):
    """Twenty links of two grams: hinges and balls, free, hung on a base, hung on the world; all in motion."""
    for number, (kind, base) in enumerate((k, b) for k in ("HINGE", "BALL") for b in ("FREE", "FIXED", None)):
        rng = np.random.default_rng(number)
        model = chain(20, kind, base=base, length=length, mass=0.002)
        yield f"{kind} on {base}", model, rng.normal(size=(len(model) + 1, 3)) * 5.0


def gained(model, found, length) -> float:
    """The largest rise of the energy, in what is at stake: the start's kinetic and the height of the chain."""
    total = found.kinetic + found.potential
    if model.kinds[0] == FREE:  # its fall is known and must not hide a gain
        total = found.kinetic - 0.5 * (found.linear**2).sum(axis=1) / model.total_mass
    return float((total - total[0]).max() / (found.kinetic[0] + model.total_mass * 9.81 * 20.0 * length))


@pytest.mark.parametrize("length", [0.03, 0.1])
@pytest.mark.parametrize("steps", [24, 48])
def test_light_chains_survive_at_one_step_a_frame(steps, length, figure):
    """Nothing breaks and nothing runs away: what an animator sees stays a chain that swings."""
    for name, model, rates in chains(length):
        result, found = fly(model, rates, seconds=5.0, fps=float(steps), steps=steps, scene=EARTH)
        figure.note(f"light chain {name}, links of {length} m, {steps}/s: energy gained", gained(model, found, length))
        assert np.isfinite(result.motion.rotations).all()
        assert found.kinetic.max() < 100.0 * (
            found.kinetic[0] + model.total_mass * 9.81 * (20.0 * length + 9.81 * 12.5)
        )


@pytest.mark.parametrize("length", [0.03, 0.1])
def test_light_chains_gain_no_energy_at_the_default_rate(length, figure):
    worst = {
        name: gained(model, fly(model, rates, seconds=5.0, scene=EARTH)[1], length)
        for name, model, rates in chains(length)
    }
    for name, value in worst.items():
        figure.note(f"light chain {name}, links of {length} m, 240/s: energy gained", value)
    figure(f"light chains, links of {length} m, 240/s: energy gained, worst", max(worst.values()), 0.02)


def test_feathers_in_a_random_tree_survive(figure):
    """Bodies a millionth as heavy as their neighbours, limp."""
    worst = 0.0
    for seed in range(10):
        rng = np.random.default_rng(100 + seed)
        model = random_tree(rng, 15)
        rates = rng.normal(size=(len(model) + 1, 3)) * 3.0
        _, found = fly(model, rates, seconds=2.0, steps=24, scene=NO_GRAVITY)
        worst = max(worst, (found.kinetic / found.kinetic[0]).max())
    figure("trees with feathers, 24/s: energy, largest", worst, 1.05)


def double_pendulum() -> Model:
    return Model.from_tree(
        ["upper", "lower"],
        [None, "upper"],
        [[0.0, 0.0, 0.0], [0.0, 0.0, -1.0]],
        None,
        ["HINGE", "HINGE"],
        [1.0, 1.0],
        [[0.0, 0.0, -1.0]] * 2,
        [np.eye(3) * 1e-9] * 2,
        [[0.0, 1.0, 0.0]] * 2,
    )


@pytest.mark.parametrize("size", ["small", "large"])
def test_double_pendulum(size, figure):
    path = REFERENCE / f"double_pendulum_{size}.csv"
    if not path.exists():
        pytest.skip(f"the reference trajectories are not at {REFERENCE}")
    with path.open() as file:
        rows = np.array([[float(x) for x in row[:5]] for row in list(csv.reader(file))[1:]])
    model = double_pendulum()
    start = np.zeros((2, 3))
    start[:, 0] = rows[0, 1], rows[0, 2] - rows[0, 1]
    motion = still_motion(model, rows[-1, 0], 60.0, start)
    errors = []
    for steps in (120, 240, 480, 960, 1920):
        result = engine.simulate(model, motion, engine.Limp(tone=0.0), steps_per_second=steps)
        angles = hinge_angles(model, result.motion).cumsum(axis=1)
        errors.append(np.abs(angles - rows[:, 1:3]).max())
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    figure.note(f"double pendulum, {size}, 5 s, 120 to 1920/s: error [rad]", " ".join(f"{e:.2g}" for e in errors))
    figure.note(f"double pendulum, {size}: observed order", " ".join(f"{o:.2f}" for o in orders))
    assert orders[-1] > 1.7, "not of second order"
    figure(f"double pendulum, {size}: error at 1920/s [rad]", errors[-1], 2e-3)


def mujoco_path(model, coords, anchors, v, seconds, steps, fps, gravity):
    """Coordinates (frames, n, 4) by MuJoCo's fourth-order Runge–Kutta."""
    oracle = Oracle(model, gravity, 1.0 / steps)
    oracle.m.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    oracle.set_pose(coords, anchors)
    oracle.d.qvel[:] = oracle.theirs(v)
    path = [oracle.coords()]
    for _ in range(round(seconds * fps)):
        for _ in range(round(steps / fps)):
            mujoco.mj_step(oracle.m, oracle.d)
        path.append(oracle.coords())
    return np.array(path)


@pytest.mark.parametrize(
    "kinds", [["BALL"], ["HINGE", "BALL", "UNIVERSAL"], ["FREE", "BALL", "HINGE", "UNIVERSAL"]], ids="-".join
)
def test_limp_chain_converges_to_mujoco(kinds, figure):
    """A hanging or flying chain of six mixed joints with a tumble to start with."""
    rng = np.random.default_rng(5)
    n = 6
    words = [kinds[0]] + [kinds[i % len(kinds)] for i in range(1, n)]
    words = [words[0]] + ["BALL" if w == "FREE" else w for w in words[1:]]
    masses = np.linspace(2.0, 0.5, n)
    offsets = np.tile([0.3, 0.0, 0.0], (n, 1))
    offsets[0] = 0.0
    model = Model.from_tree(
        [f"b{i}" for i in range(n)],
        [None, *range(n - 1)],
        offsets,
        None,
        words,
        masses,
        np.tile([0.15, 0.02, 0.0], (n, 1)),
        [np.diag([0.004, 0.02, 0.022]) * m for m in masses],
        rng.normal(size=(n, 2, 3)),
    )
    seconds, fps, g = 1.0, 60.0, (0.0, 0.0, -9.81)
    rates = rng.normal(size=(n + 1, 3)) * 2.0
    motion = launched(model, fps, round(seconds * fps) + 1, rates)
    errors = []
    for steps in (240, 480, 960, 1920):
        result = engine.simulate(model, motion, engine.Limp(tone=0.0), steps_per_second=steps)
        if not errors:
            coords = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
            coords[model.kinds < BALL] = 0.0
            wanted = mujoco_path(model, coords, model.offsets, result.velocities[0], seconds, 3840, fps, g)
            wanted = joint_rotations_of(model, wanted)
        errors.append(angle_between(result.motion.rotations, wanted).max())
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    name = f"limp chain {'-'.join(kinds)} against MuJoCo's RK4, 1 s"
    figure.note(f"{name}: error at 240 to 1920/s [rad]", " ".join(f"{e:.2g}" for e in errors))
    figure.note(f"{name}: observed order", " ".join(f"{o:.2f}" for o in orders))
    assert orders[-1] > 1.7
    figure(f"{name}: error at 1920/s [rad]", errors[-1], 2e-3)


def joint_rotations_of(model, coords):
    angles = joint_rotations(model, np.where((model.kinds < BALL)[None, :, None], coords[..., :3], 0.0))
    turn = model.kinds >= BALL
    angles[:, turn] = coords[:, turn]
    return angles


def test_a_fall_is_exact_at_any_step(figure):
    """½gt² to rounding, whatever the step and the frame rate: not h²g a step."""
    model = box()
    for fps, steps in ((24.0, 24), (25.0, 240), (120.0, 960)):
        motion = still_motion(model, 2.0, fps)
        result = engine.simulate(model, motion, engine.Limp(tone=0.0), steps_per_second=steps)
        t = np.arange(len(motion)) / fps
        fall = result.motion.positions[:, 0, 2] + 0.5 * 9.81 * t**2
        figure(f"fall of 2 s at {fps:g} fps, {steps}/s: off [m]", np.abs(fall).max(), 1e-12)


def test_two_trees_do_not_feel_each_other(rng):
    """Simulated together or apart: the same, but for rounding."""
    one, two = chain(3, "BALL", base="FREE"), chain(4, "HINGE", base="FREE")

    def both() -> Model:
        parts = (one, two)
        return Model.from_tree(
            [f"{k}{name}" for k, m in enumerate(parts) for name in m.names],
            [int(p + (0 if p < 0 else k * len(one))) if p >= 0 else -1 for k, m in enumerate(parts) for p in m.parents],
            *(np.concatenate([getattr(m, name) for m in parts]) for name in ("offsets", "rest_rotations")),
            [JOINT_KINDS[kind] for m in parts for kind in m.kinds],
            *(np.concatenate([getattr(m, name) for m in parts]) for name in ("masses", "centers", "inertias", "axes")),
        )

    together = both()
    first, second = (launched(m, 24.0, 25, rng.normal(size=(len(m) + 1, 3))) for m in (one, two))
    joined = Motion.build(
        together,
        24.0,
        np.concatenate([first.rotations, second.rotations], axis=1),
        np.concatenate([first.positions, second.positions], axis=1),
    )
    whole = engine.simulate(together, joined, engine.Limp(tone=0.0)).motion
    for motion, model, part in ((first, one, slice(0, len(one))), (second, two, slice(len(one), None))):
        alone = engine.simulate(model, motion, engine.Limp(tone=0.0)).motion
        assert np.abs(alone.rotations - whole.rotations[:, part]).max() < 1e-9
        assert np.abs(alone.positions - whole.positions[:, part]).max() < 1e-9
