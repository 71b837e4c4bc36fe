"""Load on driven joints: effortless arms hold any pose (S1 Fig. 5, 7), heavy ones sag as they should (METHODS §1c)."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bvh
import engine
from curves import SETTLE, error_curve
from engine.model.motion import Motion
from engine.simulation.shot import Shot
from jumps import EARTH, MOMENTUM, SPACE, jump_motion, momentum_drift
from mujoco_model import Oracle
from naive import angle_between, gravity_torques, mass_matrix, mechanics, rotation_vectors
from shapes import chain, hinge_angles, joint_rotations, smooth_motion, still_motion

HELD = 1e-6  # [rad]
SAG = 1e-6  # relative
PATH = 0.5  # [°] at 96 steps a second
DOWN = np.pi / 2.0  # about +Y: from along X to along −Z


def pose_jump(model, before, after, seconds, fps):
    """Held in one pose for a frame, then a stepped key; poses are angles (n,) about the first axis."""
    frames = round(seconds * fps) + 1
    angles = np.zeros((frames, len(model), 3))
    column = 1 if model.kinds[-1] == 3 else 0
    angles[0, :, column] = before
    angles[1:, :, column] = after
    stepped = np.zeros((frames, len(model)), dtype=bool)
    stepped[1] = True
    return Motion.build(model, fps, joint_rotations(model, angles), stepped=stepped)


@pytest.mark.parametrize("links", [1, 5, 20])
@pytest.mark.parametrize("kind", ["HINGE", "BALL"])
def test_any_stiffness_reaches_and_holds_the_pose(links, kind, figure):
    model = chain(links, kind)
    hanging = np.zeros(links)
    hanging[0] = DOWN
    targets = {"horizontal": np.zeros(links), "curled": np.linspace(-0.2, -2.5 / links, links)}
    worst = 0.0
    for after in targets.values():
        for settle in (0.05, 0.2, 0.5, 2.0):
            source = pose_jump(model, hanging, after, 0.2 + 6.0 * settle, 24.0)
            result = engine.simulate(model, source, engine.Follow(settle_time=settle), steps_per_second=96).motion
            held = round(5.5 * settle * 24.0) + 2
            worst = max(worst, angle_between(result.rotations, source.rotations)[held:].max())
    figure(f"under gravity, {links} {kind}, settle 0.05 to 2 s: off the horizontal and curled pose [rad]", worst, HELD)


def sag_balance(model, rotations, settle, width):
    """D k_p E and the generalized gravity (dofs,) at a pose."""
    error = rotation_vectors(rotations)
    mass = mass_matrix(model, rotations, model.offsets)
    pull = gravity_torques(model, rotations, model.offsets, EARTH.gravity)
    spring = np.zeros(model.nv)
    for i in range(len(model)):
        own = slice(i * width, i * width + width)
        e = error[i] if width == 3 else model.axes[i, :1] @ error[i]
        spring[own] = mass[own, own] @ e * (SETTLE / settle) ** 2
    return spring, pull


@pytest.mark.parametrize("kind", ["HINGE", "BALL"])
@pytest.mark.parametrize("settle", [0.1, 0.3])
def test_a_heavy_arm_sags_by_the_closed_form(kind, settle, figure):
    model = chain(3, kind)
    source = still_motion(model, 8.0, 24.0)
    result = engine.simulate(model, source, engine.Follow(settle_time=settle, heaviness=1.0)).motion
    sag = rotation_vectors(result.rotations[-1])[:, 1]
    assert (sag > 0.0).all(), "every joint bends downwards"
    spring, pull = sag_balance(model, result.rotations[-1], settle, 3 if kind == "BALL" else 1)
    figure.note(f"heavy arm, {kind}, settle {settle} s: sag [°]", " ".join(f"{x:.2f}" for x in np.degrees(sag)))
    figure(
        f"heavy arm, {kind}, settle {settle} s: D k_p E against gravity",
        np.abs(spring - pull).max() / np.abs(pull).max(),
        SAG,
    )


def test_half_heavy_feels_half_the_load():
    model = chain(3, "HINGE")
    source = still_motion(model, 8.0, 24.0)
    for heaviness in (0.25, 0.5):
        result = engine.simulate(model, source, engine.Follow(settle_time=0.2, heaviness=heaviness)).motion
        spring, pull = sag_balance(model, result.rotations[-1], 0.2, 1)
        assert spring == pytest.approx(heaviness * pull, rel=SAG)


def test_all_stays_bounded(figure):
    """5 and 20 links, every damping, stiffness and step: a target that jumps, gravity, full heaviness."""
    worst, runs = 0.0, 0
    for links in (5, 20):
        model = chain(links, "HINGE")
        bend = np.full(links, 1.5 / links)
        stake = model.total_mass * 9.81 * links * 0.3
        for settle in (0.05, 0.2, 0.7, 2.0):
            source = pose_jump(model, -bend, bend, 5.0, 24.0)
            # a spring's own energy is at stake as well: ½ D k_p E², of all joints
            spring = (
                0.5
                * (
                    np.diag(mass_matrix(model, source.rotations[1], model.offsets))
                    * (SETTLE / settle * 2.0 * bend) ** 2
                ).sum()
            )
            for zeta in (0.1, 0.3, 1.0):
                for steps in (24, 48, 96, 192, 384):
                    control = engine.Follow(settle_time=settle, damping_ratio=zeta, heaviness=1.0)
                    result = engine.simulate(model, source, control, steps_per_second=steps)
                    found = mechanics(model, result.motion, result.velocities)
                    worst, runs = max(worst, found.kinetic.max() / (stake + spring)), runs + 1
    figure(f"heaviness 1, {runs} runs: largest kinetic energy in what is at stake", worst, 2.0)


def path_error(model, source, settle, zeta, steps=96, fine=1536) -> float:
    """[°] between the paths at two numbers of steps a second, heaviness 1."""
    control = engine.Follow(settle_time=settle, damping_ratio=zeta, heaviness=1.0)
    paths = [engine.simulate(model, source, control, steps_per_second=n).motion.rotations for n in (steps, fine)]
    return float(np.degrees(angle_between(*paths).max()))


@pytest.mark.parametrize("links", [3, 5, 20])
def test_the_path_at_96_steps_is_near_the_converged_one(links, figure):
    """An arm let go at the horizontal, and one that waves."""
    model = chain(links, "HINGE")
    waves = smooth_motion(model, np.random.default_rng(links), 73, 24.0, reach=0.8 / np.sqrt(links))
    for name, source in (("sagging", still_motion(model, 3.0, 24.0)), ("waving", waves)):
        for zeta in (0.3, 1.0):
            worst = max(path_error(model, source, settle, zeta) for settle in (0.05, 0.2, 0.5, 1.0))
            figure(
                f"heaviness 1, {links} links {name}, ζ {zeta:g}, settle up to 1 s: 96/s against 1536/s [°]", worst, PATH
            )


def test_the_path_after_a_jump_converges(figure):
    """A stepped key is a harder blow: the path may be off at 96 steps a second, but not twice as fine."""
    model = chain(3, "HINGE")
    bend = np.full(3, 0.5)
    for settle in (0.2, 0.5, 1.0):
        errors = [
            path_error(model, pose_jump(model, -bend, bend, 2.0, 24.0), settle, 1.0, n, 3072) for n in (96, 192, 384)
        ]
        figure.note(
            f"heaviness 1 after a jump, settle {settle:g} s: 96, 192, 384/s [°]", " ".join(f"{e:.2f}" for e in errors)
        )
        assert errors[0] < 2.0 and errors[1] < 0.7 * errors[0] and errors[2] < 0.7 * errors[1]


def pd_path(model, start, goal, rate, settle, zeta, heaviness, times):
    """Hinge angles (times, n) by DOP853 of METHODS §1c, M and b from MuJoCo: q = r + δ,
    M δ̈ + D(k_v δ̇ + k_p δ) = λ(D(r̈ − q̈_t) − M r̈ − b). The target is goal + rate·t."""
    oracle = Oracle(model, EARTH.gravity)
    omega = SETTLE / settle
    kp, kv = omega * omega, 2.0 * zeta * omega
    n = len(model)

    def slope(t, y):
        q, v = y[:n], y[n : 2 * n]
        r, dr = y[2 * n : 3 * n], y[3 * n :]
        pull = -kp * (r - goal - rate * t) - kv * (dr - rate)
        coords = np.zeros((n, 4))
        coords[:, 0] = q
        oracle.set_pose(coords, model.offsets)
        oracle.d.qvel[:] = v
        mujoco.mj_forward(oracle.m, oracle.d)
        mass, bias = oracle.mass_matrix(), oracle.ours(oracle.d.qfrc_bias)
        block = np.diag(mass)
        load = heaviness * (block * pull - mass @ pull - bias) - block * (kv * (v - dr) + kp * (q - r))
        return np.concatenate([v, pull + np.linalg.solve(mass, load), dr, pull])

    begin = np.concatenate([start, np.zeros(n), start, np.zeros(n)])
    done = solve_ivp(slope, (0.0, times[-1]), begin, method="DOP853", t_eval=times, rtol=1e-9, atol=1e-10)
    return done.y[:n].T


@pytest.mark.parametrize("heaviness", [1.0, 0.5])
def test_heavy_chain_converges_to_the_equation(heaviness, figure):
    """The target jumps to a moving one; at heaviness 1 this is τ = −D(k_v Ė + k_p E), plain PD."""
    links, fps, settle, zeta = 3, 24.0, 0.5, 0.7
    model = chain(links, "HINGE")
    frames = 25
    goal, rate, start = np.array([0.5, -0.4, 0.3]), np.array([0.3, -0.5, 0.8]), np.array([0.1, 0.2, -0.1])
    t = np.arange(frames - 1) / fps
    angles = np.zeros((frames, links, 3))
    angles[0, :, 0] = start
    angles[1:, :, 0] = goal + rate * t[:, None]
    stepped = np.zeros((frames, links), dtype=bool)
    stepped[1] = True
    source = Motion.build(model, fps, joint_rotations(model, angles), stepped=stepped)
    # the first frame holds effortlessly: the load begins with the jump
    load = np.full((frames, links), heaviness)
    load[0] = 0.0
    wanted = pd_path(model, start, goal, rate, settle, zeta, heaviness, t)
    errors = []
    for steps in (96, 192, 384, 768, 1536):
        control = engine.Follow(settle_time=settle, damping_ratio=zeta, heaviness=load)
        found = hinge_angles(model, engine.simulate(model, source, control, steps_per_second=steps).motion)
        errors.append(np.abs(found[1:] - wanted).max())
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    name = f"heaviness {heaviness:g} against DOP853, 1 s"
    figure.note(f"{name}: error at 96 to 1536/s [rad]", " ".join(f"{e:.2g}" for e in errors))
    figure.note(f"{name}: observed order", " ".join(f"{o:.2f}" for o in orders))
    assert orders.min() > 0.8, "not converging"
    figure(f"{name}: error at 96/s [°]", np.degrees(errors[0]), PATH)


@pytest.mark.parametrize("heaviness", [0.3, 0.7, 1.0])
def test_balls_under_load_are_of_second_order(heaviness, figure):
    """Half the step, a quarter of the error: also where they are far off a motion that turns, and feel a part of it."""
    model = chain(4, "BALL")
    source = smooth_motion(model, np.random.default_rng(3), 49, 24.0)
    control = engine.Follow(settle_time=0.3, heaviness=heaviness)
    paths = [engine.simulate(model, source, control, steps_per_second=n).motion.rotations for n in (240, 480, 3840)]
    coarse, fine = (np.degrees(angle_between(path, paths[2]).max()) for path in paths[:2])
    sag = np.degrees(angle_between(paths[2], source.rotations).max())
    name = f"heaviness {heaviness:g}, 4 balls, up to {sag:.0f}° off"
    figure(f"{name}: error at 240/s [°]", coarse, 5e-4 * sag)
    figure(f"{name}: error at 480/s in that at 240/s", fine / coarse, 0.3)


@pytest.mark.parametrize("name", ["cmu_02_01", "cmu_16_03", "cmu_85_15"])
def test_the_steps_that_suffice(name, figure):
    """Walking, jumping and a break dance under weight: the fewer steps where nothing touches, beside all of them."""
    model, source = bvh.load(name, last=1000, step=5)
    model = replace(model, shapes=((),) * len(model))
    control = engine.Follow(settle_time=0.3, heaviness=0.3)
    actors = [engine.Actor(model, source, control)]
    fine = engine.simulate(model, source, control, steps_per_second=1920).motion.rotations
    sag = np.degrees(np.sqrt(np.square(angle_between(fine, source.rotations)).mean()))
    for steps, easy in (("all", False), ("fewer", True)):
        (found,) = engine.simulate_together(actors, easy=easy)
        off = np.degrees(angle_between(found.motion.rotations, fine))
        figure.note(f"{name} under weight, {steps} steps: off at most [°]", off.max())
    figure(f"{name} under weight: fewer steps, mean error in the mean sag", np.sqrt(np.square(off).mean()) / sag, 0.025)


def test_fewer_steps_are_taken_where_springs_alone_move():
    model = chain(3, "HINGE")
    source = still_motion(model, 0.5, 24.0)

    def steps(control, scene=None, asked=240.0) -> int:
        return Shot([engine.Actor(model, source, control)], scene, asked, easy=True).substeps

    assert steps(engine.Follow(heaviness=0.5)) == 3
    assert steps(engine.Follow(heaviness=0.5), asked=480.0) == 6, "asked for more, more are taken"
    assert steps(engine.Follow(heaviness=0.5), asked=24.0) == 1
    assert steps(engine.Follow(settle_time=0.1)) == 6 and steps(engine.Follow(settle_time=0.01)) == 10
    for control in (engine.Limp(tone=0.0), engine.Follow(strength=5.0), engine.OnTime()):
        assert steps(control) == 10, control
    for scene in (
        engine.Scene(pushes=[engine.Push("link0", (1.0, 0.0, 0.0), 1)]),
        engine.Scene(winds=[engine.Wind((1.0, 0.0, 0.0))]),
    ):
        assert steps(engine.Follow(), scene) == 10
    assert Shot([engine.Actor(model, source, engine.Follow())], None, 240).substeps == 10, "not asked for"


@pytest.mark.parametrize("heaviness", [0.3, 1.0])
@pytest.mark.parametrize("scene", [SPACE, EARTH], ids=["weightless", "gravity"])
def test_a_heavy_body_with_a_free_root_keeps_its_momentum(heaviness, scene, figure, rng):
    model = chain(6, "BALL", base="FREE")
    source = jump_motion(model, rng, 24.0, 48, moving=True)
    linear = angular = 0.0
    for steps in (24, 240):
        control = engine.Follow(settle_time=0.3, heaviness=heaviness, root="FREE")
        result = engine.simulate(model, source, control, scene=scene, steps_per_second=steps)
        drift = momentum_drift(model, result, scene, 24.0)
        linear, angular = max(linear, drift[0]), max(angular, drift[1])
    name = f"heaviness {heaviness:g}, free root, {'gravity' if scene is EARTH else 'weightless'}"
    figure(f"{name}: linear momentum", linear, MOMENTUM)
    figure(f"{name}: angular momentum", angular, MOMENTUM)


def test_a_falling_heavy_body_feels_no_weight(figure):
    """Free fall: gravity loads no joint, so a still pose stays still."""
    model = chain(6, "BALL", base="FREE")
    result = engine.simulate(model, still_motion(model, 1.0, 24.0), engine.Follow(heaviness=1.0, root="FREE"))
    figure(
        "heaviness 1 in free fall: joints bend [rad]",
        np.abs(rotation_vectors(result.motion.rotations[:, 1:])).max(),
        1e-9,
    )


def test_heaviness_fades_in():
    """A trace of heaviness moves the arm by a trace."""
    model = chain(3, "HINGE")
    source = still_motion(model, 2.0, 24.0)
    sag = [
        angle_between(
            engine.simulate(model, source, engine.Follow(heaviness=x)).motion.rotations, source.rotations
        ).max()
        for x in (0.0, 1e-6, 1e-3)
    ]
    assert sag[0] < 1e-12
    assert sag[2] == pytest.approx(1e3 * sag[1], rel=1e-2)


def test_a_blow_without_load_follows_the_one_joint_curve(figure):
    """Switched from limp to driven while swinging: Ė₀ t e^(−ωt), though the joint now feels its load."""
    model = chain(1, "HINGE")
    fps, frames, settle = 240.0, 240, 0.4
    angles = np.zeros((frames, 1, 3))
    angles[:2, 0, 0] = (0.0, 3.0 / fps)  # leaves at 3 rad/s, then the keys stand still
    angles[1:, 0, 0] = 3.0 / fps
    behaviour = np.full((frames, 1), 1)
    behaviour[0] = 2
    stepped = np.zeros((frames, 1), dtype=bool)
    stepped[2:] = True
    source = Motion.build(model, fps, joint_rotations(model, angles), stepped=stepped)
    control = engine.Follow(settle_time=settle, heaviness=1.0, behaviour=behaviour)
    result = engine.simulate(model, source, control, scene=SPACE, steps_per_second=960)
    error = hinge_angles(model, result.motion)[1:, 0] - 3.0 / fps
    u, g = error_curve(settle, 1.0, np.arange(frames - 1) / fps)
    wanted = u * error[0] + g * result.velocities[1, 0]
    figure(
        "a blow at heaviness 1, one joint: off the closed form, of its peak",
        np.abs(error - wanted).max() / np.abs(wanted).max(),
        1e-3,
    )
