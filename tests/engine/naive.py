"""The textbook, slowly: kinematics, the mass matrix and momenta from their definitions.

An oracle for the engine's kernels. Shares nothing with them: rotations are scipy's,
the mass matrix is the sum of JᵀMJ over bodies, a whole motion is one array (frames first).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from engine.model.model import BALL, FREE, HINGE, UNIVERSAL


def matrices(quaternions: np.ndarray) -> np.ndarray:
    """(…, 3, 3) of quaternions (…, 4), w first."""
    flat = np.asarray(quaternions, dtype=float).reshape(-1, 4)
    return Rotation.from_quat(flat, scalar_first=True).as_matrix().reshape(*np.shape(quaternions)[:-1], 3, 3)


def rotation_vectors(quaternions: np.ndarray) -> np.ndarray:
    flat = np.asarray(quaternions, dtype=float).reshape(-1, 4)
    return Rotation.from_quat(flat, scalar_first=True).as_rotvec().reshape(*np.shape(quaternions)[:-1], 3)


def angle_between(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Angles [rad] between rotations given as quaternions (…, 4)."""
    flat_p, flat_q = np.asarray(p, dtype=float).reshape(-1, 4), np.asarray(q, dtype=float).reshape(-1, 4)
    turn = Rotation.from_quat(flat_p, scalar_first=True).inv() * Rotation.from_quat(flat_q, scalar_first=True)
    return turn.magnitude().reshape(np.shape(p)[:-1])


def turns_of(model, coords: np.ndarray) -> np.ndarray:
    """Rotations (n, 4) relative to rest of joint coordinates (n, 4)."""
    out = np.tile([1.0, 0.0, 0.0, 0.0], (len(model), 1))
    for i, kind in enumerate(model.kinds):
        if kind >= BALL:
            out[i] = coords[i]
        elif kind in (HINGE, UNIVERSAL):
            turns = Rotation.from_rotvec(model.axes[i, 0] * coords[i, 0])
            if kind == UNIVERSAL:
                turns = turns * Rotation.from_rotvec(model.axes[i, 1] * coords[i, 1])
            out[i] = turns.as_quat()[[3, 0, 1, 2]]
    return out


@dataclass
class Bodies:
    """World poses of all bodies over a motion."""

    turns: np.ndarray  # (frames, n, 3, 3) body axes
    before: np.ndarray  # (frames, n, 3, 3) axes before the joint's own turn
    anchors: np.ndarray  # (frames, n, 3) [m]
    centers: np.ndarray  # (frames, n, 3) centres of mass [m]


def forward(model, rotations: np.ndarray, positions: np.ndarray) -> Bodies:
    """Poses of joint rotations (frames, n, 4) and anchors (frames, n, 3) in the parents' frames."""
    frames, n = rotations.shape[:2]
    own, rest = matrices(rotations), matrices(model.rest_rotations)
    turns, before = np.empty((frames, n, 3, 3)), np.empty((frames, n, 3, 3))
    anchors, centers = np.empty((frames, n, 3)), np.empty((frames, n, 3))
    for i, p in enumerate(model.parents):
        parent_turn = np.eye(3)[None] if p < 0 else turns[:, p]
        parent_anchor = 0.0 if p < 0 else anchors[:, p]
        before[:, i] = parent_turn @ rest[i]
        turns[:, i] = before[:, i] @ own[:, i]
        anchors[:, i] = parent_anchor + np.einsum(
            "fab,fb->fa", np.broadcast_to(parent_turn, turns[:, i].shape), positions[:, i]
        )
        centers[:, i] = anchors[:, i] + turns[:, i] @ model.centers[i]
    return Bodies(turns, before, anchors, centers)


def joint_axes(model, bodies: Bodies, i: int) -> np.ndarray:
    """(frames, dofs, 3) world axes of the rotational degrees of freedom of body i."""
    if model.kinds[i] == HINGE:
        return (bodies.turns[:, i] @ model.axes[i, 0])[:, None]
    if model.kinds[i] == UNIVERSAL:
        return np.stack([bodies.before[:, i] @ model.axes[i, 0], bodies.turns[:, i] @ model.axes[i, 1]], axis=1)
    if model.kinds[i] in (BALL, FREE):
        return np.swapaxes(bodies.turns[:, i], 1, 2)
    return np.empty((len(bodies.turns), 0, 3))


def velocities(model, bodies: Bodies, v: np.ndarray, drift=None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angular velocities and velocities of anchors and of centres, (frames, n, 3) each, of rates v (frames, nv)."""
    spin, speed = np.zeros_like(bodies.anchors), np.zeros_like(bodies.anchors)
    for i, p in enumerate(model.parents):
        first = model.dof_starts[i]
        axes = joint_axes(model, bodies, i)
        own = np.einsum("fda,fd->fa", axes, v[:, first : first + axes.shape[1]])
        if p >= 0:
            spin[:, i] = spin[:, p]
            speed[:, i] = speed[:, p] + np.cross(spin[:, p], bodies.anchors[:, i] - bodies.anchors[:, p])
        if drift is not None:
            speed[:, i] += drift[:, i] if p < 0 else np.einsum("fab,fb->fa", bodies.turns[:, p], drift[:, i])
        spin[:, i] = spin[:, i] + own
        if model.kinds[i] == FREE:
            speed[:, i] += v[:, first + 3 : first + 6]
    return spin, speed, speed + np.cross(spin, bodies.centers - bodies.anchors)


def world_inertias(model, bodies: Bodies) -> np.ndarray:
    """(frames, n, 3, 3) about each body's own centre of mass."""
    return bodies.turns @ model.inertias[None] @ np.swapaxes(bodies.turns, -1, -2)


def jacobians(model, rotations: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray, Bodies]:
    """Angular and centre-of-mass Jacobians (n, 3, nv) at one pose: rotations (n, 4), positions (n, 3)."""
    bodies = forward(model, rotations[None], positions[None])
    angular, linear = np.empty((len(model), 3, model.nv)), np.empty((len(model), 3, model.nv))
    for d in range(model.nv):
        unit = np.zeros((1, model.nv))
        unit[0, d] = 1.0
        spin, _, speed = velocities(model, bodies, unit)
        angular[:, :, d], linear[:, :, d] = spin[0], speed[0]
    return angular, linear, bodies


def mass_matrix(model, rotations: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """(nv, nv) at one pose."""
    angular, linear, bodies = jacobians(model, rotations, positions)
    inertia = world_inertias(model, bodies)[0]
    return np.einsum("iad,i,iae->de", linear, model.masses, linear) + np.einsum(
        "iad,iab,ibe->de", angular, inertia, angular
    )


def gravity_torques(model, rotations: np.ndarray, positions: np.ndarray, gravity) -> np.ndarray:
    """(nv,) the generalized force of gravity, Jᵀ m g, at one pose."""
    _, linear, _ = jacobians(model, rotations, positions)
    return np.einsum("iad,i,a->d", linear, model.masses, np.asarray(gravity, dtype=float))


@dataclass
class Mechanics:
    """What a motion carries, frame by frame."""

    center: np.ndarray  # (frames, 3) centre of mass [m]
    linear: np.ndarray  # (frames, 3) momentum
    angular: np.ndarray  # (frames, 3) angular momentum about the centre of mass
    kinetic: np.ndarray  # (frames,) [J]
    potential: np.ndarray  # (frames,) [J]


def mechanics(model, motion, v: np.ndarray, gravity=(0.0, 0.0, 0.0), bodies_of=None, drift=None) -> Mechanics:
    """Momenta and energies of a motion with rates v (frames, nv), of all bodies or of some."""
    bodies = forward(model, motion.rotations, motion.positions)
    spin, _, speed = velocities(model, bodies, v, drift)
    chosen = np.arange(len(model)) if bodies_of is None else np.asarray(bodies_of)
    mass = model.masses[chosen]
    spin, speed, centers = spin[:, chosen], speed[:, chosen], bodies.centers[:, chosen]
    inertia = world_inertias(model, bodies)[:, chosen]
    own = np.einsum("fiab,fib->fia", inertia, spin)
    center = np.einsum("i,fia->fa", mass, centers) / mass.sum()
    linear = np.einsum("i,fia->fa", mass, speed)
    arms = centers - center[:, None]
    angular = own.sum(1) + np.einsum("i,fia->fa", mass, np.cross(arms, speed - linear[:, None] / mass.sum()))
    kinetic = 0.5 * np.einsum("i,fia,fia->f", mass, speed, speed) + 0.5 * np.einsum("fia,fia->f", spin, own)
    potential = -np.einsum("i,fia,a->f", mass, centers, np.asarray(gravity, dtype=float))
    return Mechanics(center, linear, angular, kinetic, potential)
