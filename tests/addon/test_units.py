"""Armature space to the engine's world and back."""

from __future__ import annotations

import numpy as np
import pytest
from mathutils import Euler, Matrix

from heft.addon.blender import engine_space
from heft.engine.math import rotations

RANDOM = np.random.default_rng(6)


@pytest.mark.parametrize("scale", [(1, 1, 1), (0.01, 0.01, 0.01), (100, 100, 100), (-1, 1, 1), (2, -3, 4)])
def test_there_and_back(scale):
    matrix = Matrix.LocRotScale((5.0, -3.0, 2.0), Euler((0.4, 1.0, -2.0)), scale)
    place = engine_space.Placement.from_matrices(np.tile(np.array(matrix), (3, 1, 1)), 0.3)
    points = RANDOM.normal(size=(3, 4, 3))
    quats = RANDOM.normal(size=(3, 4, 4))
    quats /= np.linalg.norm(quats, axis=-1, keepdims=True)
    np.testing.assert_allclose(place.points_to_rig(place.points_to_world(points)), points, atol=1e-9)
    assert rotations.angle_between(place.rotations_to_rig(place.rotations_to_world(quats)), quats).max() < 1e-9


def test_world_is_in_metres():
    matrix = Matrix.LocRotScale((1.0, 2.0, 3.0), Euler((0.4, 1.0, -2.0)), (0.5, 0.5, 0.5))
    place = engine_space.Placement.from_matrices(np.array(matrix)[None], 0.01)
    point = np.array([0.3, -0.2, 0.9])
    wanted = 0.01 * np.array(matrix @ Matrix.Translation(point).translation)
    np.testing.assert_allclose(place.points_to_world(point[None, None])[0, 0], wanted, atol=1e-8)
    assert engine_space.meters_in_unit(2.0, 0.01) == pytest.approx(0.02)
    assert engine_space.frames_per_second(24, 1.001) == pytest.approx(23.976, abs=1e-3)


def test_a_mirrored_object_keeps_down_down():
    """Simulated in the mirrored world, a body that falls there falls here."""
    matrix = np.diag([-1.0, 1.0, 1.0, 1.0])[None]
    place = engine_space.Placement.from_matrices(matrix, 1.0)
    assert place.mirrored
    assert place.vector_to_world((0.5, 0.0, -9.81)) == (-0.5, 0.0, -9.81)
    fallen = place.points_to_rig(np.array([[[0.2, 0.0, -1.0]]]))[0, 0]
    np.testing.assert_allclose(fallen, [0.2, 0.0, -1.0], atol=1e-12)
