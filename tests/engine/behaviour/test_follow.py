"""Follow without load: S1 Fig. 3, 4, 6. Errors die on the closed form at any step, torques are the real ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial.transform import Rotation

import engine
from curves import error_curve, right_jacobian
from engine.model.model import FIXED, FREE
from engine.model.motion import Motion
from jumps import (
    EARTH,
    MOMENTUM,
    SPACE,
    coordinates,
    jump_motion,
    momentum_drift,
    product,
    worst_torque,
)
from mujoco_model import Oracle
from naive import rotation_vectors
from shapes import chain, joint_rotations, random_tree, smooth_motion

ON_CURVE = 1e-9  # [rad]
TORQUE = 0.01  # of the largest
IDENTITY = 1e-12
STEPS = (10, 20, 50, 100, 250, 1000)  # a second, at 10 frames a second


def joint_errors(model, source, result):
    """(frames, n, 3): log(R_t⁻¹ R) of every joint."""
    return rotation_vectors(
        np.array([product(p * [1, -1, -1, -1], q) for p, q in zip(source.rotations, result.rotations, strict=True)])
    )


def expected_errors(model, source, first, settle, zeta):
    """What METHODS §1a says they are, from the jump at frame 1 on; `first` are the errors there."""
    fps, frames = source.fps, len(source)
    u, g = error_curve(settle, zeta, np.arange(frames - 1) / fps)
    out = np.zeros((frames, len(model), 3))
    for i in np.flatnonzero((model.kinds != FREE) & (model.kinds != FIXED)):
        # held until the jump: the body's own rate is zero, the target's is the first slope after it
        goal = rotation_vectors(product(source.rotations[1, i] * [1, -1, -1, -1], source.rotations[2, i])) * fps
        e = first[i]
        rate = -np.linalg.solve(right_jacobian(e), Rotation.from_rotvec(e).inv().apply(goal))
        out[1:, i] = u[:, None] * e + g[:, None] * rate
    return out


@pytest.mark.parametrize("kind", ["HINGE", "BALL"])
@pytest.mark.parametrize("links", [1, 20])
@pytest.mark.parametrize("base", [None, "FREE"], ids=["root-fixed", "root-free"])
@pytest.mark.parametrize("scene", [SPACE, EARTH], ids=["weightless", "gravity"])
def test_errors_follow_the_closed_form(kind, links, base, scene, figure, rng):
    model = chain(links, kind, base=base)
    worst = linear = angular = 0.0
    for settle, zeta, moving in ((0.5, 1.0, False), (0.4, 0.3, True), (0.6, 2.5, True), (0.1, 1.0, True)):
        source = jump_motion(model, rng, 10.0, 14, moving=moving)
        before = product(source.rotations[1] * [1, -1, -1, -1], source.rotations[0])
        wanted = expected_errors(model, source, rotation_vectors(before), settle, zeta)
        joints = np.flatnonzero(model.kinds != FREE)
        for steps in STEPS:
            control = engine.Follow(settle_time=settle, damping_ratio=zeta, root="FREE")
            result = engine.simulate(model, source, control, scene=scene, steps_per_second=steps)
            found = joint_errors(model, source, result.motion)
            worst = max(worst, np.abs(found - wanted)[1:, joints].max())
            if base == "FREE":
                drift = momentum_drift(model, result, scene, source.fps)
                linear, angular = max(linear, drift[0]), max(angular, drift[1])
            if settle == 0.5 and not moving:
                left = np.linalg.norm(found[6, joints], axis=1) / np.linalg.norm(found[1, joints], axis=1)
                assert left == pytest.approx(np.full(len(joints), 0.1), abs=1e-6), "10.00 % after one settle time"
    where = "gravity" if scene is EARTH else "weightless"
    name = f"Follow, {links} {kind}, {'free root' if base else 'fixed root'}, {where}"
    figure(f"{name}, h 1/1000 to 1/10 s: off the closed form [rad]", worst, ON_CURVE)
    if base == "FREE":
        figure(f"{name}: linear momentum", linear, MOMENTUM)
        figure(f"{name}: angular momentum", angular, MOMENTUM)


@pytest.mark.parametrize("scene", [SPACE, EARTH], ids=["weightless", "gravity"])
@pytest.mark.parametrize("root", ["ANIMATED", "FREE"])
def test_torques_are_those_of_inverse_dynamics(scene, root, figure):
    """Mixed trees on a smooth motion sampled at every one of 960 steps a second."""
    worst = 0.0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        model = random_tree(rng, 8, light=0.0, zero=0.1, roots=1, root="FREE" if seed else None)
        source = smooth_motion(model, rng, 400, 960.0)
        result = engine.simulate(model, source, engine.Follow(root=root), scene=scene, steps_per_second=960)
        rates = np.zeros_like(result.velocities)
        rates[1:-1] = (result.velocities[2:] - result.velocities[:-2]) * 480.0
        worst = max(worst, worst_torque(model, result, scene, rates, 1))
        if root == "FREE" and model.kinds[0] == FREE:
            assert np.abs(result.forces).max() < 1e-6 * np.abs(result.torques).max(), "nothing holds a free root"
    figure(
        f"Follow, torques against MuJoCo, root {root}, {'gravity' if scene is EARTH else 'weightless'}, 960/s",
        worst,
        TORQUE,
    )


@pytest.mark.parametrize("kind", ["HINGE", "BALL"])
@pytest.mark.parametrize("base", [None, "FREE"], ids=["root-fixed", "root-free"])
def test_torques_while_an_error_dies(kind, base, figure, rng):
    """S1 Fig. 4: after a jump of the target the torque is what the closed form takes, at 960 steps a second."""
    model = chain(5, kind, base=base)
    source = jump_motion(model, rng, 24.0, 24)
    settle, fps, tiny = 0.4, 24.0, 1e-4
    result = engine.simulate(model, source, engine.Follow(settle_time=settle, root="FREE"), steps_per_second=960)
    first = rotation_vectors(product(source.rotations[1] * [1, -1, -1, -1], source.rotations[0]))
    t = np.arange(len(source) - 1) / fps
    rates = np.zeros_like(result.velocities)
    curves = {k: error_curve(settle, 1.0, np.maximum(t + k * tiny, 0.0))[0][:, None] for k in (-2, -1, 0, 1, 2)}
    for i in np.flatnonzero(model.kinds != FREE):
        dofs = slice(model.dof_starts[i], model.dof_starts[i + 1])
        e = {k: curve * first[i] for k, curve in curves.items()}
        if kind == "HINGE":
            rates[1:, dofs] = ((e[1] - 2.0 * e[0] + e[-1]) / tiny**2) @ model.axes[i, :1].T
        else:
            ahead, behind = (
                rotation_vectors(product(*(Rotation.from_rotvec(x).as_quat(scalar_first=True) for x in (-e[a], e[b]))))
                / (2 * tiny)
                for a, b in ((0, 2), (-2, 0))
            )
            rates[1:, dofs] = (ahead - behind) / (2.0 * tiny)
    if base == "FREE":
        _add_free_root(model, result, rates)
    figure(
        f"Follow, torques of a dying error against MuJoCo, {kind}, root {base}",
        worst_torque(model, result, EARTH, rates, 2),
        TORQUE,
    )


def _add_free_root(model, result, rates) -> None:
    """Accelerations of a root that nothing holds: those that need no force."""
    oracle = Oracle(model, EARTH.gravity)
    coords = coordinates(model, result.motion)
    for k in range(len(rates)):
        oracle.set_pose(coords[k], result.motion.positions[k])
        rates[k, :6] = 0.0
        needed = oracle.inverse(result.velocities[k], rates[k])[:6]
        rates[k, :6] = -np.linalg.solve(oracle.mass_matrix()[:6, :6], needed)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.sampled_from([12.0, 23.976, 24.0, 30.0, 120.0]),
    st.sampled_from([24, 240, 961]),
    st.sampled_from(["ANIMATED", "ASSISTED"]),
    st.booleans(),
    st.floats(0.01, 5.0),
    st.floats(0.0, 3.0),
)
def test_identity(seed, bodies, fps, steps, root, moving_anchors, settle, zeta):
    """Undisturbed and effortless, a motion comes back as it was, whatever the rig and the settings."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, bodies)
    source = smooth_motion(model, rng, 20, fps, moving_anchors=moving_anchors)
    control = engine.Follow(settle_time=settle, damping_ratio=zeta, root=root)
    result = engine.simulate(model, source, control, steps_per_second=steps).motion
    sign = np.sign((result.rotations * source.rotations).sum(axis=2, keepdims=True))
    assert np.abs(result.rotations * sign - source.rotations).max() < IDENTITY
    assert np.abs(result.positions - source.positions).max() < IDENTITY


def test_a_stepped_motion_is_pose_to_pose(figure):
    """Constant keys: every pose is left at rest-to-curve and reached, never overshot at ζ = 1."""
    model = chain(3, "HINGE")
    fps, frames = 24.0, 97
    pose = np.zeros((frames, 3, 3))
    keys = (0, 24, 48, 72)
    for key, angle in zip(keys, (0.0, 0.7, -0.4, 0.2), strict=True):
        pose[key:, :, 0] = angle
    stepped = np.zeros((frames, 3), dtype=bool)
    stepped[1:] = True
    source = Motion.build(model, fps, joint_rotations(model, pose), stepped=stepped)
    result = engine.simulate(model, source, engine.Follow(settle_time=0.2))
    found = joint_errors(model, source, result.motion) @ model.axes[0, 0]
    worst = 0.0
    for key, jump in zip(keys[1:], (-0.7, 1.1, -0.6), strict=True):
        u, g = error_curve(0.2, 1.0, np.arange(24) / fps)
        rest = result.velocities[key]
        wanted = u[:, None] * found[key] + g[:, None] * rest
        assert np.abs(found[key] - jump).max() < 0.02
        worst = max(worst, np.abs(found[key : key + 24] - wanted).max())
    figure("pose to pose: off the closed form [rad]", worst, ON_CURVE)


def test_a_ball_swung_past_half_a_turn_keeps_its_branch():
    """An error of 170° with a rate that carries it past 180° does not flip back there."""
    model = chain(1, "BALL")
    fps, frames = 24.0, 60
    turns = np.zeros((frames, 1, 3))
    turns[0:6, 0, 1] = np.linspace(0.0, 2.6, 6)  # arrives at 170° at about 12 rad/s
    turns[6:] = 0.0
    turns[5, 0, 1] = 2.97
    stepped = np.zeros((frames, 1), dtype=bool)
    stepped[6:] = True
    behaviour = np.ones((frames, 1), dtype=int)
    source = Motion.build(model, fps, joint_rotations(model, turns), stepped=stepped)
    result = engine.simulate(
        model,
        source,
        engine.Follow(settle_time=1.0, damping_ratio=0.2, behaviour=behaviour),
        scene=SPACE,
        steps_per_second=960,
    )
    rate = result.velocities[6:12, 1]
    assert np.isfinite(result.motion.rotations).all()
    assert np.abs(np.diff(rate)).max() < 40.0
    error = joint_errors(model, source, result.motion)
    assert np.abs(error[-1]).max() < np.pi
