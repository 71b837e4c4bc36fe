"""Characters that are struck while they walk or march."""

from __future__ import annotations

import numpy as np

import engine
from engine.geometry.mass_properties import inertia
from engine.model.model import Model
from engine.model.motion import Motion
from shapes import joint_rotations


def walker():
    """A trunk on two legs with box feet, arms hanging: 60 kg, standing with straight knees."""
    names, parents, kinds = ["trunk"], [-1], ["FREE"]
    offsets, masses = [[0.0, 0.0, 0.98]], [36.0]
    shapes = [engine.Capsule(0.12, (0.0, 0.0, 0.12), (0.0, 0.0, 0.5))]
    centers, inertias = [np.array([0.0, 0.0, 0.3])], [inertia(shapes[0], 36.0)]

    def add(name, parent, kind, offset, mass, shape, center):
        names.append(name)
        parents.append(parent)
        kinds.append(kind)
        offsets.append(offset)
        masses.append(mass)
        shapes.append(shape)
        centers.append(np.array(center))
        inertias.append(inertia(shape, mass))

    for side, y in (("l", 0.1), ("r", -0.1)):
        leg = engine.Capsule(0.05, (0.0, 0.0, -0.08), (0.0, 0.0, -0.36))
        add(f"thigh.{side}", "trunk", "BALL", [0.0, y, 0.0], 6.0, leg, [0.0, 0.0, -0.22])
        add(f"shin.{side}", f"thigh.{side}", "HINGE", [0.0, 0.0, -0.45], 3.5, leg, [0.0, 0.0, -0.22])
        sole = engine.Box((0.13, 0.05, 0.03), (0.04, 0.0, -0.05))
        add(f"foot.{side}", f"shin.{side}", "BALL", [0.0, 0.0, -0.45], 1.0, sole, [0.04, 0.0, -0.05])
        arm = engine.Capsule(0.04, (0.0, 0.0, -0.05), (0.0, 0.0, -0.45))
        add(f"arm.{side}", "trunk", "BALL", [0.0, 2.2 * y, 0.5], 1.5, arm, [0.0, 0.0, -0.25])
    axes = np.tile([0.0, 1.0, 0.0], (len(names), 1))
    return Model.from_tree(names, [None, *parents[1:]], offsets, None, kinds, masses, centers, inertias, axes, shapes)


FPS = 24.0


def marching(model: Model, steps: int) -> Motion:
    """Marching on the spot, left foot first: a step every 14 frames, a foot in the air for 12 of them."""
    frames = 14 * steps + 1
    angles = np.zeros((frames, len(model), 3))
    for start, side in ((0, "l"), (14, "r")):
        since = (np.arange(frames) - start) % 28
        lift = 0.5 * np.sin(np.pi * np.minimum(since, 12) / 12) ** 2
        angles[:, model.index(f"thigh.{side}"), 1] = -lift
        angles[:, model.index(f"shin.{side}"), 0] = 2.0 * lift
        angles[:, model.index(f"foot.{side}"), 1] = -lift
    return Motion.build(model, FPS, joint_rotations(model, angles))
