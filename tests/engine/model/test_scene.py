"""The world around the characters: what a collider may be without."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from props import limp_thing

FPS, FRAMES = 24.0, 25
BOX = engine.Box((0.05, 0.1, 0.2))


def swung(shapes, apart=(), moving=True):
    """A box pinned to a collider that goes along an arc, or stands."""
    t = np.linspace(0.0, 1.0, FRAMES)
    places = np.column_stack([np.sin(t), np.zeros(FRAMES), 1.0 - 0.3 * t]) if moving else np.array([0.0, 0.0, 1.0])
    free = limp_thing("it", BOX, 2.0, FPS, FRAMES, (0.0, 0.0, 0.8))
    scene = engine.Scene(
        ground=engine.Ground(-3.0),
        colliders=[engine.Collider("hook", shapes, places)],
        ties=[engine.Tie("PIN", "it", "hook", (0.0, 0.0, 0.2))],
        apart=apart,
    )
    return places, engine.simulate(free.model, free.motion, free.controller, scene, 480).motion


@pytest.mark.parametrize("moving", [True, False])
def test_a_tie_holds_on_to_a_place(moving):
    """A collider without shapes pulls just as one whose shape touches nothing."""
    places, motion = swung((), moving=moving)
    _places, other = swung([engine.Sphere(0.01)], [("hook", "it"), ("hook", None)], moving)
    np.testing.assert_allclose(motion.positions, other.positions, atol=1e-12)
    np.testing.assert_allclose(motion.rotations, other.rotations, atol=1e-12)
    held = motion.positions[:, 0] + engine.math.quaternions.rotate(motion.rotations[:, 0], np.array([0.0, 0.0, 0.2]))
    assert np.linalg.norm(held - places, axis=1).max() < 2e-3


def test_nothing_free_is_without_shape():
    with pytest.raises(engine.SettingError, match="'ball' is free and has no shape"):
        engine.Collider("ball", moves="FREE")
