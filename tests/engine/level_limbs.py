"""Limbs that are held level, and how far heaviness bends their joints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import engine
from engine.controllers.follow.spring import SETTLE
from engine.dynamics.even_weight import settle_scales
from engine.model.model import Model
from naive import gravity_torques, mass_matrix, rotation_vectors

SETTLE_TIME = 0.2  # [s] as physics starts with


def limb(rods: list[tuple[str | None, float, float]]) -> Model:
    """Rods along X, level: each hangs on the end of the one named; lengths [m], masses [kg]. The first is held."""
    names = [f"{k} {parent or 'held'}" for k, (parent, _, _) in enumerate(rods)]
    place = {name.split()[0]: k for k, name in enumerate(names)}
    ends = [length for _, length, _ in rods]
    parents = [None if parent is None else place[parent] for parent, _, _ in rods]
    masses = [mass for _, _, mass in rods]
    return Model.from_tree(
        names=names,
        parents=parents,
        offsets=[(0.0 if p is None else ends[p], 0.0, 0.0) for p in parents],
        kinds=["BALL"] * len(rods),
        masses=masses,
        centers=[(0.5 * length, 0.0, 0.0) for length in ends],
        inertias=[
            np.diag([m * (0.1 * x) ** 2 / 2.0, *[m * (3.0 * (0.1 * x) ** 2 + x * x) / 12.0] * 2])
            for m, x in zip(masses, ends, strict=True)
        ],
    )


def arm() -> Model:
    """A person's arm: de Leva's lengths and masses for 70 kg; a middle finger of three bones."""
    rods = [(0.28, 1.9), (0.27, 1.13), (0.09, 0.33), (0.045, 0.03), (0.028, 0.018), (0.02, 0.01)]
    return limb([(None if k == 0 else str(k - 1), *rod) for k, rod in enumerate(rods)])


def tail() -> Model:
    """Twelve bones, each 0.82 as long as the one before and as heavy as its volume."""
    return limb([(None if k == 0 else str(k - 1), 0.12 * 0.82**k, 0.8 * 0.82 ** (3 * k)) for k in range(12)])


def foot() -> Model:
    """A foot with five toes of two bones."""
    toes = [("0", 0.05 - 0.005 * k, 0.03 - 0.004 * k) for k in range(5)]
    tips = [(str(1 + k), 0.025 - 0.003 * k, 0.01 - 0.001 * k) for k in range(5)]
    return limb([(None, 0.18, 0.85), *toes, *tips])


class Sag(NamedTuple):
    """(n,) sags [rad], and how far the closed form is off, in parts of the largest torque."""

    angles: np.ndarray
    closed_form: float


def sag(model: Model, heaviness: float, even: bool, settle=SETTLE_TIME) -> Sag:
    """Of a limb that is held level for four seconds; settle: [s], one or (n,)."""
    still = np.tile([1.0, 0.0, 0.0, 0.0], (4 * 24, len(model), 1))
    control = engine.Follow(settle_time=settle, heaviness=heaviness, even_weight=even)
    scene = engine.Scene(touch_self=False)
    pose = engine.simulate(model, engine.Motion.build(model, 24.0, still), control, scene).motion.rotations[-1]
    bends = rotation_vectors(pose)
    mass = mass_matrix(model, pose, model.offsets)
    pull = heaviness * gravity_torques(model, pose, model.offsets, scene.gravity)
    omega = SETTLE / settle / (settle_scales(model) if even else np.ones(len(model)))
    spring = np.concatenate(
        [mass[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] @ bends[i] * omega[i] ** 2 for i in range(len(model))]
    )
    return Sag(np.linalg.norm(bends, axis=1), float(np.abs(spring - pull).max() / np.abs(pull).max()))
