"""Random characters that jump: their motion, and how far momenta and torques are from what they must be."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import engine
from engine.model.model import BALL, FIXED, FREE, HINGE
from engine.model.motion import Motion
from mujoco_model import Oracle
from naive import forward, joint_axes, matrices, mechanics, velocities
from shapes import joint_rotations, launched

MOMENTUM = 1e-9  # relative to what the bodies exchange


SPACE = engine.Scene(gravity=(0.0, 0.0, 0.0))


EARTH = engine.Scene()


def product(p, q):
    return (Rotation.from_quat(p, scalar_first=True) * Rotation.from_quat(q, scalar_first=True)).as_quat(
        scalar_first=True
    )


def jump_motion(model, rng, fps, frames, size=0.5, moving=False):
    """Held in one pose for the first frame, then a stepped key: another pose, at rest or moving on.

    A free root drifts and turns from the start."""
    n = len(model)
    before = rng.normal(size=(n, 3)) * size
    after = before + rng.normal(size=(n, 3)) * size
    t = (np.arange(frames) - 1.0)[:, None, None] / fps
    rate = rng.normal(size=(n, 3)) if moving else np.zeros((n, 3))
    angles = after + 0.4 * np.sin(rate * t)
    angles[0] = before
    rotations = joint_rotations(model, angles)
    free = np.flatnonzero(model.kinds == FREE)
    positions = np.broadcast_to(model.offsets, (frames, n, 3)).copy()
    stepped = np.zeros((frames, n), dtype=bool)
    stepped[1] = model.kinds != FREE
    if len(free):
        drift = launched(model, fps, frames, rng.normal(size=(n + 1, 3)))
        rotations[:, free], positions[:, free] = drift.rotations[:, free], drift.positions[:, free]
    return Motion.build(model, fps, rotations, positions, stepped)


def momentum_drift(model, result, scene, fps) -> tuple[float, float]:
    """Largest change of both momenta, relative to the sum of what the bodies carry each."""
    found = mechanics(model, result.motion, result.velocities)
    bodies = forward(model, result.motion.rotations, result.motion.positions)
    _, _, speed = velocities(model, bodies, result.velocities)
    carried = model.masses[:, None] * speed
    linear_scale = np.linalg.norm(carried, axis=2).sum(axis=1).max()
    arms = np.linalg.norm(np.cross(bodies.centers - found.center[:, None], carried), axis=2).sum(axis=1).max()
    t = np.arange(len(found.linear))[:, None] / fps
    fall = found.linear[0] + model.total_mass * np.array(scene.gravity) * t
    return np.abs(found.linear - fall).max() / linear_scale, np.abs(found.angular - found.angular[0]).max() / arms


def generalized_torques(model, result) -> np.ndarray:
    """(frames, nv) of the result's torque vectors and root forces."""
    bodies = forward(model, result.motion.rotations, result.motion.positions)
    out = np.zeros((len(result.motion), model.nv))
    for i in range(len(model)):
        first = model.dof_starts[i]
        axes = joint_axes(model, bodies, i)
        world = np.einsum("fab,fb->fa", bodies.turns[:, i], result.torques[:, i])
        out[:, first : first + axes.shape[1]] = np.einsum("fda,fa->fd", axes, world)
        if model.kinds[i] == FREE:
            out[:, first + 3 : first + 6] = result.forces[:, i]
    return out


def coordinates(model, motion) -> np.ndarray:
    """(frames, n, 4) for MuJoCo of joint rotations."""
    out = motion.rotations.copy()
    for i in np.flatnonzero(model.kinds < BALL):
        q = motion.rotations[:, i]
        out[:, i] = 0.0
        if model.kinds[i] == HINGE:
            out[:, i, 0] = 2.0 * np.arctan2(q[:, 1:] @ model.axes[i, 0], q[:, 0])
        elif model.kinds[i] != FIXED:
            a, b = model.axes[i]
            seen = matrices(q) @ b
            start = b - a * (a @ b)
            out[:, i, 0] = np.arctan2(np.cross(start, seen) @ a, seen @ start)
            rest = product(Rotation.from_rotvec(-out[:, i, :1] * a).as_quat(scalar_first=True), q)
            out[:, i, 1] = 2.0 * np.arctan2(rest[:, 1:] @ b, rest[:, 0])
    return out


def worst_torque(model, result, scene, rates, skip) -> float:
    """Result torques against mj_inverse on the result's own path; accelerations (frames, nv) given."""
    oracle = Oracle(model, scene.gravity)
    coords, found = coordinates(model, result.motion), generalized_torques(model, result)
    wanted = np.zeros_like(found)
    for k in range(len(found)):
        oracle.set_pose(coords[k], result.motion.positions[k])
        wanted[k] = oracle.inverse(result.velocities[k], rates[k])
    return np.abs(found - wanted)[skip:-1].max() / np.abs(wanted).max()
