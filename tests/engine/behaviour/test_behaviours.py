"""Animated, Simulated and Limp in one tree, keyed in time; anchors that move; roots that are guided."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import engine
from curves import error_curve
from engine.model.model import FREE
from engine.model.motion import Motion
from naive import angle_between, forward, mechanics, rotation_vectors
from shapes import chain, hinge_angles, joint_rotations, ragdoll, random_tree, smooth_motion, still_motion

ANIMATED, SIMULATED, LIMP = range(3)
EXACT = 1e-12
SPACE = engine.Scene(gravity=(0.0, 0.0, 0.0))


def test_animated_bodies_keep_their_keys_whatever_the_others_do(figure):
    worst = 0.0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        model = random_tree(rng, 12, light=0.1)
        source = smooth_motion(model, rng, 24, 24.0, moving_anchors=True)
        behaviour = rng.integers(0, 3, len(model))
        control = engine.Follow(behaviour=np.tile(behaviour, (24, 1)), heaviness=0.7, settle_time=0.3)
        result = engine.simulate(model, source, control).motion
        keyed = behaviour == ANIMATED
        keyed |= model.kinds == FREE
        sign = np.sign((result.rotations * source.rotations).sum(axis=2, keepdims=True))
        off = np.abs(result.rotations * sign - source.rotations)[:, keyed]
        worst = max(worst, off.max() if off.size else 0.0, np.abs(result.positions - source.positions).max())
        assert np.isfinite(result.rotations).all()
    figure("mixed trees: animated bodies off their keys", worst, EXACT)


def test_effortless_joints_do_not_feel_limp_neighbours(figure):
    """A limp hand swings; the arm that carries it follows its keys to rounding."""
    model = chain(5, "BALL")
    rng = np.random.default_rng(2)
    source = smooth_motion(model, rng, 48, 24.0)
    words = ["SIMULATED", "SIMULATED", "SIMULATED", "LIMP", "LIMP"]
    result = engine.simulate(model, source, engine.Follow(behaviour=words)).motion
    off = angle_between(result.rotations, source.rotations)
    figure(
        "arm with a limp hand: driven joints off their keys [rad]",
        np.abs(result.rotations - source.rotations)[:, :3].max(),
        EXACT,
    )
    assert off[-1, 3:].max() > 0.1, "the hand should have fallen"


def test_a_limp_hand_on_an_animated_arm_is_a_driven_pendulum(figure):
    """Against the same pendulum on a moving pivot, by DOP853: converging at second order."""
    model = chain(2, "HINGE")
    fps, frames = 960.0, 961
    t = np.arange(frames) / fps
    swing = lambda x: (0.5 * np.sin(4.0 * x), 2.0 * np.cos(4.0 * x), -8.0 * np.sin(4.0 * x))  # noqa: E731
    mass, reach, length = model.masses[1], 0.15, 0.3
    inertia = model.inertias[1, 1, 1] + mass * reach**2

    def slope(x, y):
        a, da, dda = swing(x)
        q, dq = y
        # planar two-link arm: M₂₂ q̈ + M₂₁ ä + c ȧ² = gravity, angles about Y, links along X
        couple = mass * length * reach
        return [
            dq,
            (mass * 9.81 * reach * np.cos(a + q) - (inertia + couple * np.cos(q)) * dda - couple * np.sin(q) * da**2)
            / inertia,
        ]

    done = solve_ivp(slope, (0.0, 1.0), [0.0, 0.0], method="DOP853", t_eval=t, rtol=1e-11, atol=1e-12)
    angles = np.zeros((frames, 2, 3))
    angles[:, 0, 0] = swing(t)[0]
    errors = []
    for stride in (16, 8, 4, 2, 1):
        part = Motion.build(model, fps / stride, joint_rotations(model, angles[::stride]))
        control = engine.Follow(behaviour=["ANIMATED", "LIMP"])
        found = hinge_angles(model, engine.simulate(model, part, control, steps_per_second=fps / stride).motion)[:, 1]
        errors.append(np.abs(found - done.y[0, ::stride]).max())
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    figure.note("limp hand on an animated arm, 60 to 960/s: error [rad]", " ".join(f"{e:.2g}" for e in errors))
    figure.note("limp hand on an animated arm: observed order", " ".join(f"{o:.2f}" for o in orders))
    assert orders[-1] > 1.7
    figure("limp hand on an animated arm: error at 960/s [rad]", errors[-1], 1e-4)


def test_a_pendulum_on_a_moving_anchor(figure):
    """θ̈ = −(m r/I)(g sin θ + ẍ cos θ), the pivot shaken sideways by its keys."""
    model = chain(1, "HINGE", along=(0.0, 0.0, -1.0))
    mass, reach = 1.0, 0.15
    inertia = model.inertias[0, 1, 1] + mass * reach**2
    shake = lambda t: 0.1 * np.sin(6.0 * t)  # noqa: E731

    def slope(t, y):
        pull = -3.6 * np.sin(6.0 * t)
        # about +Y a positive angle swings a hanging rod towards −X
        return [y[1], mass * reach / inertia * (-9.81 * np.sin(y[0]) + pull * np.cos(y[0]))]

    fps, frames = 960.0, 1921
    t = np.arange(frames) / fps
    wanted = solve_ivp(slope, (0.0, 2.0), [0.4, 0.0], method="DOP853", t_eval=t, rtol=1e-11, atol=1e-12).y[0]
    errors = []
    for stride in (8, 4, 2, 1):
        angles = np.zeros((len(t[::stride]), 1, 3))
        angles[:, 0, 0] = 0.4
        places = np.zeros((len(t[::stride]), 1, 3))
        places[:, 0, 0] = shake(t[::stride])
        source = Motion.build(model, fps / stride, joint_rotations(model, angles), places)
        result = engine.simulate(model, source, engine.Limp(tone=0.0), steps_per_second=fps / stride).motion
        assert np.abs(result.positions - source.positions).max() < 1e-15
        errors.append(np.abs(hinge_angles(model, result)[:, 0] - wanted[::stride]).max())
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    figure.note("pendulum on a moving anchor: observed order", " ".join(f"{o:.2f}" for o in orders))
    assert orders[-1] > 1.7
    figure("pendulum on a moving anchor, 960/s: error [rad]", errors[-1], 1e-4)


def keyed(model, frames, *spans):
    """(frames, n) behaviours from (first frame, behaviour) pairs."""
    out = np.zeros((frames, len(model)), dtype=int)
    for first, behaviour in spans:
        out[first:] = behaviour
    return out


def test_limp_for_a_while_then_back_on_the_closed_form(figure):
    model = chain(3, "HINGE")
    fps, frames, settle = 24.0, 96, 0.3
    source = still_motion(model, (frames - 1) / fps, fps)
    control = engine.Follow(
        settle_time=settle, behaviour=keyed(model, frames, (0, SIMULATED), (12, LIMP), (24, SIMULATED))
    )
    result = engine.simulate(model, source, control)
    error = hinge_angles(model, result.motion)
    assert np.abs(error[:13]).max() < EXACT, "on its keys until it goes limp"
    assert np.abs(error[24]).max() > 0.2, "fallen while limp"
    u, g = error_curve(settle, 1.0, np.arange(frames - 24) / fps)
    wanted = u[:, None] * error[24] + g[:, None] * result.velocities[24]
    figure("limp, then driven again: off the closed form [rad]", np.abs(error[24:] - wanted).max(), 1e-9)


def test_animated_from_a_frame_on_is_on_its_keys_from_the_next():
    model = chain(3, "BALL")
    frames = 48
    source = smooth_motion(model, np.random.default_rng(4), frames, 24.0)
    control = engine.Follow(behaviour=keyed(model, frames, (0, LIMP), (24, ANIMATED)))
    result = engine.simulate(model, source, control).motion
    off = angle_between(result.rotations, source.rotations).max(axis=1)
    assert off[24] > 0.05
    assert off[25:].max() < 1e-7


def test_behaviours_may_differ_in_time_and_from_bone_to_bone():
    """Every bone switches on its own; nothing breaks and keys are met wherever Animated."""
    rng = np.random.default_rng(9)
    model = random_tree(rng, 12, light=0.0)
    frames = 72
    source = smooth_motion(model, rng, frames, 24.0)
    behaviour = np.repeat(rng.integers(0, 3, (frames // 6, len(model))), 6, axis=0)
    for root in ("ANIMATED", "ASSISTED", "FREE"):
        control = engine.Follow(behaviour=behaviour, heaviness=0.5, settle_time=0.2, root=root)
        result = engine.simulate(model, source, control).motion
        off = angle_between(result.rotations, source.rotations)
        settled = np.zeros_like(behaviour, dtype=bool)
        settled[1:] = behaviour[:-1] == ANIMATED
        settled[:, model.kinds == FREE] = False
        assert off[settled].max() < 1e-7


def test_settings_may_be_keyed():
    """A settle time that changes at a frame: the closed form of each in turn."""
    model = chain(1, "HINGE")
    fps, frames = 24.0, 40
    angles = np.zeros((frames, 1, 3))
    angles[1:, 0, 0] = 1.0
    stepped = np.zeros((frames, 1), dtype=bool)
    stepped[1] = True
    settle = np.full((frames, 1), 0.8)
    settle[9:] = 0.2
    source = Motion.build(model, fps, joint_rotations(model, angles), stepped=stepped)
    result = engine.simulate(model, source, engine.Follow(settle_time=settle))
    error = hinge_angles(model, result.motion)[:, 0] - 1.0
    u, _ = error_curve(0.8, 1.0, np.arange(9) / fps)
    assert error[1:10] == pytest.approx(-u, abs=1e-9)
    u, g = error_curve(0.2, 1.0, np.arange(frames - 9) / fps)
    assert error[9:] == pytest.approx(u * error[9] + g * result.velocities[9, 0], abs=1e-9)


# --- Assisted roots ---------------------------------------------------------------------------------


def assisted(model, source, **settings):
    return engine.simulate(model, source, engine.Follow(root="ASSISTED", **settings))


def test_an_assisted_root_with_a_limp_limb_is_moved_a_little_and_comes_back(figure):
    model = ragdoll(3, balls=8, hinges=4)
    rng = np.random.default_rng(1)
    frames = 120
    source = smooth_motion(model, rng, frames, 24.0, reach=0.2)
    behaviour = np.full((frames, len(model)), SIMULATED)
    behaviour[24:36, len(model) - 4 :] = LIMP
    result = assisted(model, source, behaviour=behaviour, settle_time=0.3)
    off = np.linalg.norm(result.motion.positions[:, 0] - source.positions[:, 0], axis=1)
    turn = angle_between(result.motion.rotations, source.rotations)
    assert off[:25].max() < EXACT
    figure.note("assisted root beside a limp limb: moved by [m]", off.max())
    assert 1e-5 < off.max() < 0.2
    figure("assisted root: still off 2.5 s after [m]", off[-24:].max(), 0.02 * off.max())
    figure("assisted body: still off 2.5 s after [rad]", turn[-24:].max(), 0.02 * turn.max())


def test_without_assist_a_disturbed_body_falls():
    """Once something in it is loose, a root with no assist keeps only its undisturbed motion's own force."""
    model = chain(4, "BALL", base="FREE")
    frames = 48
    source = still_motion(model, (frames - 1) / 24.0, 24.0)
    words = ["SIMULATED"] * 3 + ["LIMP"] * 2
    held = assisted(model, source, behaviour=words, assist=1.0).motion.positions[-1, 0]
    let_go = assisted(model, source, behaviour=words, assist=0.0).motion.positions[-1, 0]
    assert np.linalg.norm(held) < 0.1
    assert np.linalg.norm(let_go) > 3.0 * np.linalg.norm(held)


def test_a_free_root_falls_and_an_animated_one_does_not():
    model = chain(2, "BALL", base="FREE")
    source = still_motion(model, 1.0, 24.0)
    fallen = engine.simulate(model, source, engine.Follow(root="FREE")).motion.positions[-1, 0, 2]
    assert fallen == pytest.approx(-0.5 * 9.81, abs=1e-9)
    assert engine.simulate(model, source, engine.Follow(root="ANIMATED")).motion.positions[-1, 0, 2] == 0.0


def test_a_free_follower_turns_as_its_momentum_says(figure):
    """A cat: limbs moved in a loop by a weightless free body turn it, with no angular momentum at any time."""
    model = chain(2, "BALL", base="FREE")
    fps, frames = 24.0, 49
    t = np.arange(frames) / fps
    ease = np.clip(t, 0.0, 1.0) * 2.0 * np.pi
    angles = np.zeros((frames, 3, 3))
    angles[:, 1, 1], angles[:, 1, 2] = 0.8 * np.sin(ease), 0.8 * (1.0 - np.cos(ease))
    source = Motion.build(model, fps, joint_rotations(model, angles))
    turns, most = [], 0.0
    for steps in (24, 96, 384):
        result = engine.simulate(model, source, engine.Follow(root="FREE"), scene=SPACE, steps_per_second=steps)
        found = mechanics(model, result.motion, result.velocities)
        most = max(most, np.abs(found.angular - found.angular[0]).max())
        turns.append(rotation_vectors(result.motion.rotations[-1, 0]))
    figure("falling cat: angular momentum changed", most, 1e-12)
    figure("falling cat: turn at 24/s against 384/s [°]", np.degrees(np.linalg.norm(turns[0] - turns[2])), 1.0)
    figure("falling cat: turn at 96/s against 384/s [°]", np.degrees(np.linalg.norm(turns[1] - turns[2])), 0.1)


def test_assisted_feet_stay_where_the_source_has_them():
    """Undisturbed, an assisted body is its source in the world as well, not only joint by joint."""
    model = ragdoll(5, balls=6, hinges=6)
    source = smooth_motion(model, np.random.default_rng(8), 30, 30.0)
    result = assisted(model, source).motion
    a, b = (forward(model, m.rotations, m.positions).anchors for m in (source, result))
    assert np.abs(a - b).max() < 1e-11


def test_limp_drives_nothing_that_is_not_animated():
    """Simulated is how a controller's bodies are marked; under Limp no drive is behind the mark."""
    model = chain(3, "HINGE")
    source = still_motion(model, 1.0, 24.0)
    driven = engine.Limp(tone=0.0, behaviour=["ANIMATED", "SIMULATED", "SIMULATED"])
    marked = engine.simulate(model, source, driven).motion
    limp = engine.simulate(model, source, engine.Limp(tone=0.0, behaviour=["ANIMATED", "LIMP", "LIMP"])).motion
    assert np.array_equal(marked.rotations, limp.rotations)
    assert angle_between(marked.rotations[-1, 1], source.rotations[-1, 1]) > 0.1
