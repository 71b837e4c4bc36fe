"""Kinematics, M·v, the hybrid solve and its impulses against MuJoCo, on 200 random trees at frozen poses."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from engine.model.model import BALL
from mujoco_model import Oracle
from naive import mass_matrix
from probe import Frozen
from shapes import joint_rotations, ragdoll, random_quaternion, random_tree

TREES = 200
AGREES = 1e-8  # relative, where the mass matrix is well conditioned
RESIDUAL = 1e-10  # relative, everywhere else
WELL_CONDITIONED = 1e6


def random_state(model, rng):
    """Coordinates (n, 4), joint anchors (n, 3) away from rest for some, rates (nv,)."""
    coords = random_quaternion(rng, len(model))
    angled = model.kinds < BALL
    coords[angled] = rng.uniform(-3.0, 3.0, (angled.sum(), 4))
    coords[angled, 2:] = 0.0
    anchors = model.offsets + rng.normal(size=(len(model), 3)) * 0.05 * (rng.random((len(model), 1)) < 0.3)
    return coords, anchors, rng.normal(size=model.nv) * 3.0


def relative(value, wanted) -> float:
    return float(np.linalg.norm(value - wanted) / max(np.linalg.norm(wanted), 1e-300))


def scaled_condition(matrix) -> float:
    return np.linalg.cond(matrix) if len(matrix) else 1.0


@pytest.fixture(scope="module")
def cases():
    """200 trees with a state each, and MuJoCo evaluated there."""
    rng = np.random.default_rng(20240)
    made = []
    for number in range(TREES):
        model = random_tree(rng, int(rng.integers(1, 31)), light=0.2 if number % 2 else 0.0)
        coords, anchors, v = random_state(model, rng)
        oracle = Oracle(model)
        oracle.set_pose(coords, anchors)
        oracle.d.qvel[:] = oracle.theirs(v)
        mujoco.mj_forward(oracle.m, oracle.d)
        made.append((model, coords, anchors, v, oracle))
    return made


def test_kinematics(cases, figure):
    worst_place = worst_axes = worst_speed = 0.0
    for model, coords, anchors, v, oracle in cases:
        frozen = Frozen.at(model, coords, anchors, v)
        root = anchors[model.trees]
        places = frozen.places + root
        wanted = oracle.d.xpos[oracle.body_ids]
        worst_place = max(worst_place, np.abs(places - wanted).max() / max(1.0, np.abs(wanted).max()))
        turns, theirs = frozen.turns, oracle.d.xquat[oracle.body_ids]
        theirs = theirs * np.sign((turns * theirs).sum(axis=1, keepdims=True))
        worst_axes = max(worst_axes, np.abs(turns - theirs).max())
        for i, body in enumerate(oracle.body_ids):
            six = np.zeros(6)
            mujoco.mj_objectVelocity(oracle.m, oracle.d, mujoco.mjtObj.mjOBJ_XBODY, body, six, 0)
            spin, speed = (
                frozen.motion[i, :3],
                frozen.motion[i, 3:] + np.cross(frozen.motion[i, :3], frozen.places[i]),
            )
            error = max(np.abs(spin - six[:3]).max(), np.abs(speed - six[3:]).max())
            worst_speed = max(worst_speed, error / max(1.0, np.abs(six).max()))
    figure("MuJoCo, 200 trees: positions", worst_place, AGREES)
    figure("MuJoCo, 200 trees: orientations", worst_axes, AGREES)
    figure("MuJoCo, 200 trees: body velocities", worst_speed, AGREES)


def test_mass_times_velocity(cases, figure):
    worst = 0.0
    for model, coords, anchors, v, oracle in cases:
        if model.nv:
            frozen = Frozen.at(model, coords, anchors, v)
            out = np.zeros(model.nv)
            mujoco.mj_mulM(oracle.m, oracle.d, out, oracle.theirs(v))
            worst = max(worst, relative(frozen.momentum, oracle.ours(out)))
    figure("MuJoCo, 200 trees: M(q)v", worst, AGREES)


def test_free_velocities_and_prescribed_impulses(cases, figure, rng):
    """One step at a frozen pose: gravity and a blow act, some joints are told how to change their rates."""
    worst_velocity = worst_impulse = worst_residual = 0.0
    well = ill = prescribed_trees = 0
    h = 1.0 / 240.0
    for number, (model, coords, anchors, v, oracle) in enumerate(cases):
        active = rng.random(len(model)) < (1.0 if number % 4 == 0 else 0.6)
        dofs = np.repeat(active, np.diff(model.dof_starts))
        if not dofs.any():
            continue
        frozen = Frozen.at(model, coords, anchors, v)
        matrix = oracle.mass_matrix()
        # at rest the bias is gravity alone
        oracle.d.qvel[:] = 0.0
        mujoco.mj_forward(oracle.m, oracle.d)
        blow = -h * oracle.ours(oracle.d.qfrc_bias) + np.sqrt(np.diag(matrix)) * rng.normal(size=model.nv)
        told = np.where(dofs, 0.0, rng.normal(size=model.nv))

        change = told + frozen.solve(active, np.zeros(len(model)), blow - frozen.times_mass(told))
        impulse = (frozen.times_mass(change) - blow)[~dofs]

        free = matrix[np.ix_(dofs, dofs)]
        right = blow[dofs] - matrix[np.ix_(dofs, ~dofs)] @ told[~dofs]
        prescribed_trees += int((~dofs).any())
        residual = np.linalg.norm(free @ change[dofs] - right) / (
            np.linalg.norm(free) * np.linalg.norm(change[dofs]) + np.linalg.norm(right)
        )
        worst_residual = max(worst_residual, residual)
        assert np.array_equal(change[~dofs], told[~dofs])
        if scaled_condition(free) < WELL_CONDITIONED:
            well += 1
            wanted = told.copy()
            wanted[dofs] = np.linalg.solve(free, right)
            worst_velocity = max(worst_velocity, relative(change, wanted))
            if (~dofs).any():
                kept = (matrix @ wanted - blow)[~dofs]
                worst_impulse = max(worst_impulse, relative(impulse, kept))
        else:
            ill += 1
    assert well > 60 and ill > 30 and prescribed_trees > 100, (well, ill, prescribed_trees)
    figure.note(
        "MuJoCo, 200 trees: well and ill conditioned, with prescribed joints", f"{well}, {ill}, {prescribed_trees}"
    )
    figure("MuJoCo, 200 trees: one-step free velocities", worst_velocity, AGREES)
    figure("MuJoCo, 200 trees: prescribed impulses", worst_impulse, AGREES)
    figure("MuJoCo, 200 trees: residual at any condition", worst_residual, RESIDUAL)


def test_composite_inertia(cases, figure):
    """S2's composite inertias are the diagonal blocks of the mass matrix."""
    worst, joints = 0.0, 0
    for model, coords, anchors, v, oracle in cases[:100]:
        matrix, starts = oracle.mass_matrix(), model.dof_starts
        for i, block in enumerate(Frozen.at(model, coords, anchors, v).joint_blocks()):
            if len(block):
                worst = max(worst, relative(block, matrix[starts[i] : starts[i + 1], starts[i] : starts[i + 1]]))
                joints += 1
    assert joints > 500
    figure(f"MuJoCo, 100 trees, {joints} joints: composite inertia", worst, 1e-9)


def test_compliant_joints_add_their_own_block(cases, figure, rng):
    """M + c·D with D the joints' diagonal blocks of M, mixed with free and prescribed joints."""
    worst = 0.0
    for model, coords, anchors, v, oracle in cases:
        mujoco.mj_forward(oracle.m, oracle.d)
        active = rng.random(len(model)) < 0.8
        compliance = np.where(rng.random(len(model)) < 0.6, 10.0 ** rng.uniform(-4, 4, len(model)), 0.0)
        dofs = np.repeat(active, np.diff(model.dof_starts))
        matrix = oracle.mass_matrix()
        summed = matrix.copy()
        for i in range(len(model)):
            own = slice(model.dof_starts[i], model.dof_starts[i + 1])
            summed[own, own] += compliance[i] * matrix[own, own]
        free = summed[np.ix_(dofs, dofs)]
        if not dofs.any() or scaled_condition(free) > WELL_CONDITIONED:
            continue
        g = np.sqrt(np.diag(matrix)) * rng.normal(size=model.nv)
        x = Frozen.at(model, coords, anchors, v).solve(active, compliance, g)
        assert (x[~dofs] == 0.0).all()
        worst = max(worst, relative(x[dofs], np.linalg.solve(free, g[dofs])))
    figure("MuJoCo, 200 trees: compliant solve", worst, AGREES)


def test_the_textbook_agrees_with_mujoco(cases, figure):
    """The slow oracle, which other tests lean on, gives the same mass matrix."""
    worst = 0.0
    for model, coords, anchors, _, oracle in cases[:60]:
        rotations = joint_rotations(model, np.zeros((1, len(model), 3)))[0]
        turn = model.kinds >= BALL
        rotations[~turn] = joint_rotations(model, coords[None, :, :3])[0][~turn]
        rotations[turn] = coords[turn]
        worst = max(worst, relative(mass_matrix(model, rotations, anchors), oracle.mass_matrix()))
    figure("MuJoCo: the tests' own mass matrix", worst, 1e-12)


def test_tree_momentum_and_locked_inertia(rng, figure):
    """Of a ragdoll: what summing over MuJoCo's bodies gives."""
    model = ragdoll()
    coords, anchors, v = random_state(model, rng)
    oracle = Oracle(model)
    oracle.set_pose(coords, anchors)
    oracle.d.qvel[:] = oracle.theirs(v)
    mujoco.mj_forward(oracle.m, oracle.d)
    mujoco.mj_subtreeVel(oracle.m, oracle.d)
    first = oracle.body_ids[0]
    mass, center, linear, angular, inertia = Frozen.at(model, coords, anchors, v).tree_momentum(0)
    places, axes = oracle.d.xipos[oracle.body_ids], oracle.d.ximat[oracle.body_ids].reshape(-1, 3, 3)
    arms = places - oracle.d.subtree_com[first]
    wanted = sum(
        a @ np.diag(d) @ a.T + m * (r @ r * np.eye(3) - np.outer(r, r))
        for a, d, m, r in zip(axes, oracle.m.body_inertia[oracle.body_ids], model.masses, arms, strict=True)
    )
    assert mass == pytest.approx(model.total_mass, rel=1e-14)
    figure("ragdoll: centre of mass", np.abs(np.array(center) + anchors[0] - oracle.d.subtree_com[first]).max(), 1e-12)
    figure("ragdoll: momentum", relative(np.array(linear), oracle.d.subtree_linvel[first] * mass), 1e-12)
    figure("ragdoll: angular momentum", relative(np.array(angular), oracle.d.subtree_angmom[first]), 1e-12)
    figure(
        "ragdoll: locked inertia", relative(np.array(inertia), wanted[(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)]), 1e-12
    )
