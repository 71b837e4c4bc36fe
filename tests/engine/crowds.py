"""People of a crowd: a trunk with arms and feet, and where they stand."""

from __future__ import annotations

import numpy as np

import engine
from engine.geometry.mass_properties import inertia
from shapes import joint_rotations

FPS, FRAMES = 24.0, 49


GROUND = engine.Scene(ground=engine.Ground(), touch_self=False)


TRUNK = engine.Capsule(0.12, (0.0, 0.0, -0.3), (0.0, 0.0, 0.3))


FOOT = engine.Box((0.15, 0.12, 0.04), (0.0, 0.0, -0.46))


ARM = engine.Capsule(0.05, (0.0, 0.0, -0.05), (0.0, 0.0, -0.4))


FREE = engine.Follow(root="FREE", settle_time=0.3, heaviness=0.3)


FOLLOW = engine.Follow(root="ASSISTED", settle_time=0.3, heaviness=0.3)


def person() -> engine.Model:
    """A trunk on a broad foot, half a metre up, with two arms."""
    return engine.Model.from_tree(
        ["trunk", "left", "right"],
        [None, "trunk", "trunk"],
        [[0.0, 0.0, 0.5], [0.0, 0.2, 0.25], [0.0, -0.2, 0.25]],
        kinds=["FREE", "BALL", "HINGE"],
        masses=[30.0, 3.0, 3.0],
        centers=[[0.0, 0.0, -0.1], [0.0, 0.0, -0.22], [0.0, 0.0, -0.22]],
        inertias=[inertia(TRUNK, 30.0), inertia(ARM, 3.0), inertia(ARM, 3.0)],
        axes=np.tile([0.0, 1.0, 0.0], (3, 1)),
        shapes=[(TRUNK, FOOT), ARM, ARM],
    )


def at(x: float, y: float = 0.0, seed: int = 1, control=FOLLOW, frames=FRAMES, speed=0.0) -> engine.Actor:
    """Somebody standing there (or gliding along x) and waving."""
    model = person()
    t = np.arange(frames)[:, None] / FPS
    phase = np.random.default_rng(seed).uniform(0.0, 6.3, (3, 3))
    angles = 0.6 * np.sin(3.0 * t[:, None] + phase)
    angles[:, 0] = 0.0
    places = np.broadcast_to(model.offsets, (frames, 3, 3)).copy()
    places[:, 0, :2] += [x, y] + t * [speed, 0.0]
    return engine.Actor(model, engine.Motion.build(model, FPS, joint_rotations(model, angles), places), control)


def arrays(result) -> list[np.ndarray]:
    contacts = result.contacts
    parts = [result.motion.rotations, result.motion.positions, result.torques, result.forces, result.velocities]
    return [*parts, contacts.frames, contacts.points, contacts.normals, contacts.forces]


def bytes_of(results) -> bytes:
    words = "".join(",".join(r.contacts.a + r.contacts.b) for r in results)
    return b"".join(part.tobytes() for r in results for part in arrays(r)) + words.encode()
