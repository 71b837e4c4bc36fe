"""Bodies that are not rigs, for the tests of contact: things with a shape, thrown, stacked and hinged."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import engine
from engine.geometry.mass_properties import center_of_mass, inertia
from engine.model.model import Model
from engine.model.motion import Motion
from shapes import STILL, rod_inertia

G = 9.81


def thing(name: str, shape, mass: float, friction=0.6, bounce=0.0) -> Model:
    """One free body of one shape, its mass spread evenly."""
    return Model.from_tree(
        [name],
        [None],
        np.zeros((1, 3)),
        kinds=["FREE"],
        masses=[mass],
        centers=[center_of_mass(shape)],
        inertias=[inertia(shape, mass)],
        shapes=[shape],
        friction=friction,
        bounce=bounce,
    )


def thrown(model: Model, fps: float, frames: int, place, velocity=(0, 0, 0), spin=(0, 0, 0), turn=STILL) -> Motion:
    """A free body's start: place and turn, velocity of its anchor and spin [world axes]."""
    t = np.arange(frames)[:, None] / fps
    turns = Rotation.from_rotvec(t * np.asarray(spin, dtype=float)) * Rotation.from_quat(turn, scalar_first=True)
    places = np.asarray(place, dtype=float) + t * np.asarray(velocity, dtype=float)
    return Motion.build(model, fps, turns.as_quat(scalar_first=True)[:, None], places[:, None])


def limp_thing(name, shape, mass, fps, frames, place, velocity=(0, 0, 0), spin=(0, 0, 0), turn=STILL, **surface):
    """A thrown thing as an actor: its velocities are part of the result."""
    model = thing(name, shape, mass, **surface)
    return engine.Actor(model, thrown(model, fps, frames, place, velocity, spin, turn), engine.Limp(tone=0.0))


def planks(count: int, length: float, mass: float, width=0.2, thickness=0.02) -> Model:
    """Boxes in a row along X, hinged about Y at their ends; the first to the world."""
    box = engine.Box((0.5 * length, 0.5 * width, 0.5 * thickness), (0.5 * length, 0.0, 0.0))
    offsets = np.zeros((count, 3))
    offsets[1:, 0] = length
    return Model.from_tree(
        [f"plank{i}" for i in range(count)],
        [None, *range(count - 1)],
        offsets,
        kinds=["HINGE"] * count,
        masses=np.full(count, mass),
        centers=np.tile([0.5 * length, 0.0, 0.0], (count, 1)),
        inertias=[inertia(box, mass)] * count,
        axes=np.tile([0.0, 1.0, 0.0], (count, 1)),
        shapes=[box] * count,
    )


def capsule_chain(links, kind="HINGE", length=0.3, mass=1.0, radius=0.03, axis=(0, 1, 0), along=(1, 0, 0), **more):
    """Rods with capsules in a row, the first jointed to the world."""
    along = np.asarray(along, dtype=float)
    offsets = np.zeros((links, 3))
    offsets[1:] = along * length
    return Model.from_tree(
        [f"link{i}" for i in range(links)],
        [None, *range(links - 1)],
        offsets,
        kinds=[kind] * links,
        masses=np.full(links, float(mass)),
        centers=np.tile(along * length / 2.0, (links, 1)),
        inertias=[rod_inertia(mass, length, radius, along)] * links,
        axes=np.tile(np.asarray(axis, dtype=float), (links, 1)),
        shapes=[engine.Capsule(radius, (0.0, 0.0, 0.0), tuple(along * length))] * links,
        **more,
    )


def box_distance(points: np.ndarray, half) -> np.ndarray:
    """Signed distance (…,) of points (…, 3) from a box about the origin."""
    out = np.abs(points) - np.asarray(half, dtype=float)
    return np.linalg.norm(np.maximum(out, 0.0), axis=-1) + np.minimum(out.max(axis=-1), 0.0)
