"""S1 Fig. 9: a driven hand swings a mace that nothing drives, against MuJoCo with the same hand."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

import engine
from engine.geometry.mass_properties import inertia
from engine.model.model import Model
from engine.model.motion import Motion
from mujoco_model import Oracle
from naive import forward
from shapes import joint_rotations, rod_inertia

TIP = 0.01  # [m] over 2 s at 960 steps a second
SECONDS, FPS = 2.0, 96.0
LINK, HEAD = 0.12, 0.07  # [m]


def mace(links, head_mass, held):
    """Ball-jointed links and a heavy head, hanging down; with `held` in a hand of its own body."""
    names, kinds, offsets, masses, centers, inertias = [], [], [], [], [], []
    if held:
        names, kinds, offsets = ["hand"], ["FREE"], [[0.0, 0.0, 0.0]]
        masses, centers, inertias = [1.0], [np.zeros(3)], [np.eye(3) * 1e-3]
    for k in range(links):
        names.append(f"link{k}")
        kinds.append("BALL")
        offsets.append([0.0, 0.0, -LINK if k else 0.0])
        masses.append(0.15)
        centers.append(np.array([0.0, 0.0, -0.5 * LINK]))
        inertias.append(rod_inertia(0.15, LINK, 0.015, (0.0, 0.0, 1.0)))
    ball = engine.Sphere(HEAD, (0.0, 0.0, -HEAD))
    names.append("head")
    kinds.append("BALL")
    offsets.append([0.0, 0.0, -LINK])
    masses.append(head_mass)
    centers.append(np.array(ball.center))
    inertias.append(inertia(ball, head_mass))
    return Model.from_tree(names, [None, *names[:-1]], offsets, None, kinds, masses, centers, inertias)


def hand_path():
    """Frames (f,), places and rates (f, 3): from rest, round and up, never turning."""
    t = np.arange(round(SECONDS * FPS) + 1) / FPS
    w = np.array([2.0, 2.6, 3.3])
    reach = np.array([0.35, 0.2, 0.15])
    return t, reach * (1.0 - np.cos(w * t[:, None])), reach * w * np.sin(w * t[:, None])


def in_mujoco(model, times, places, rates):
    """Anchor and centre of the head (frames, 3): in the hand's frame, which does not turn, gravity is g − a."""
    path = CubicHermiteSpline(times, places, rates)
    push = path.derivative(2)
    oracle = Oracle(model, timestep=1.0 / 9600.0)
    oracle.m.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    head = oracle.body_ids[-1]
    mujoco.mj_forward(oracle.m, oracle.d)
    out = []
    for frame, time in enumerate(times):
        while frame and oracle.d.time < time - 1e-9:
            oracle.m.opt.gravity[:] = np.array([0.0, 0.0, -9.81]) - push(oracle.d.time + 0.5 * oracle.m.opt.timestep)
            mujoco.mj_step(oracle.m, oracle.d)
        mujoco.mj_forward(oracle.m, oracle.d)
        out.append(places[frame] + oracle.d.xipos[head])
    return np.array(out)


@pytest.mark.parametrize(("links", "head_mass"), [(2, 1.0), (4, 3.0)])
def test_the_mace_swings_as_in_mujoco(links, head_mass, figure):
    times, places, rates = hand_path()
    wanted = in_mujoco(mace(links, head_mass, held=False), times, places, rates)
    model = mace(links, head_mass, held=True)
    frames = len(times)
    anchors = np.broadcast_to(model.offsets, (frames, len(model), 3)).copy()
    anchors[:, 0] = places
    source = Motion.build(model, FPS, np.tile([1.0, 0.0, 0.0, 0.0], (frames, len(model), 1)), anchors)
    off = {}
    for steps in (96, 240, 960, 3840):
        result = engine.simulate(model, source, engine.Limp(tone=0.0, root="ANIMATED"), steps_per_second=steps)
        tip = forward(model, result.motion.rotations, result.motion.positions).centers[:, -1]
        off[steps] = np.linalg.norm(tip - wanted, axis=1).max()
    name = f"mace of {links} links and {head_mass:g} kg"
    swing = np.ptp(np.linalg.norm((wanted - places)[:, :2], axis=1))
    figure.note(f"{name}: the head swings out by [m]", swing)
    assert swing > 0.1, "it swings"
    figures = " ".join(f"{x:.2g}" for x in off.values())
    figure.note(f"{name}: tip off MuJoCo at {', '.join(map(str, off))}/s [m]", figures)
    figure(f"{name}: tip off MuJoCo over 2 s at 960/s [m]", off[960], TIP)


def test_a_driven_arm_swings_the_mace(figure):
    """The arm is driven, the mace limp, in one tree: the arm does exactly its motion, whatever hangs on it."""
    chain = mace(4, 3.0, held=False)
    names = ["upper", "lower", *chain.names]
    n = len(names)
    offsets = np.vstack([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [[0.3, 0.0, 0.0]], chain.offsets[1:]])
    rod = rod_inertia(2.0, 0.3, 0.04, (1.0, 0.0, 0.0))
    model = Model.from_tree(
        names,
        [None, *names[:-1]],
        offsets,
        None,
        ["BALL"] * n,
        [2.0, 1.5, *chain.masses],
        np.vstack([[[0.15, 0.0, 0.0]] * 2, chain.centers]),
        [rod, rod, *chain.inertias],
    )
    t = np.arange(round(SECONDS * 24.0) + 1) / 24.0
    angles = np.zeros((len(t), n, 3))
    angles[:, 0, 1] = 0.6 * np.sin(3.0 * t)
    angles[:, 1, 2] = 0.5 * (1.0 - np.cos(4.0 * t))
    source = Motion.build(model, 24.0, joint_rotations(model, angles))
    behaviour = ["SIMULATED"] * 2 + ["LIMP"] * (n - 2)
    result = engine.simulate(model, source, engine.Follow(behaviour=behaviour, settle_time=0.2))
    figure(
        "a driven arm with a mace: the arm off its keys",
        np.abs(result.motion.rotations[:, :2] - source.rotations[:, :2]).max(),
        1e-9,
    )
    assert np.abs(result.motion.rotations[:, -1, 0]).min() < 0.999, "the mace swings"
