"""Armature space to the engine's world and back."""

from __future__ import annotations

import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion

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


# --- array rotations against Blender's own ---------------------------------------------------------


def random_quats(count: int) -> np.ndarray:
    q = RANDOM.normal(size=(count, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def test_multiply_rotate_and_matrices_agree_with_mathutils():
    a, b = random_quats(50), random_quats(50)
    v = RANDOM.normal(size=(50, 3))
    for i in range(50):
        qa, qb = Quaternion(a[i]), Quaternion(b[i])
        np.testing.assert_allclose(rotations.multiply(a, b)[i], qa @ qb, atol=1e-6)
        np.testing.assert_allclose(rotations.to_matrix(a)[i], np.array(qa.to_matrix()), atol=1e-6)
    rotated = np.einsum("nij,nj->ni", rotations.to_matrix(a), v)
    np.testing.assert_allclose(rotations.rotate(a, v), rotated, atol=1e-12)


def test_split_keeps_the_direction_of_a_sheared_bone():
    shear = np.eye(3)
    shear[0, 1] = 0.4
    m = np.array(Matrix.Rotation(0.7, 3, "X")) @ shear
    turn, size = rotations.split(m)
    np.testing.assert_allclose(turn[:, 1] * size[1], m[:, 1], atol=1e-7)
    np.testing.assert_allclose(turn.T @ turn, np.eye(3), atol=1e-7)
