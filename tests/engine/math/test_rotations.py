"""Array rotations: there and back, scale and mirroring split off, inverses."""

from __future__ import annotations

import numpy as np

from engine.math import rotations

RANDOM = np.random.default_rng(5)


def random_quats(count: int) -> np.ndarray:
    q = RANDOM.normal(size=(count, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def test_matrices_go_there_and_back_even_at_half_turns():
    q = np.concatenate([random_quats(200), np.eye(4), [[1e-9, 1, 0, 0], [0, 0.6, 0.8, 0], [1e-7, 0, 0.6, -0.8]]])
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    back = rotations.from_matrix(rotations.to_matrix(q))
    assert rotations.angle_between(q, back).max() < 1e-12


def test_split_separates_scale_and_mirroring():
    for scale in ((1, 2, 3), (0.01, 0.01, 0.01), (-1, -2, -3), (100, 1, 1)):
        q = random_quats(20)
        m = rotations.to_matrix(q) * np.array(scale, dtype=float)
        turn, size = rotations.split(m)
        np.testing.assert_allclose(turn * size[:, None, :], m, atol=1e-9)
        np.testing.assert_allclose(np.linalg.det(turn), 1.0, atol=1e-12)


def test_split_of_a_bone_scaled_to_nothing_is_finite():
    for m in (np.zeros((3, 3)), np.diag([1.0, 0.0, 1.0]), np.diag([0.0, 1.0, 0.0])):
        turn, size = rotations.split(m)
        assert np.isfinite(turn).all() and np.isfinite(size).all()
        np.testing.assert_allclose(turn.T @ turn, np.eye(3), atol=1e-9)


def test_continuous_never_changes_half():
    q = np.repeat(random_quats(1), 9, axis=0) + 0.05 * RANDOM.normal(size=(9, 4))
    q *= np.array([1, -1, -1, 1, 1, -1, 1, -1, -1])[:, None]
    out = rotations.continuous(q)
    assert ((out[1:] * out[:-1]).sum(axis=1) > 0.0).all()
    np.testing.assert_array_equal(np.abs(out), np.abs(q))


def test_inverses():
    rng = np.random.default_rng(3)
    small = rng.normal(size=(20, 5, 3, 3))
    assert np.allclose(rotations.inverse(small) @ small, np.eye(3), atol=1e-9)
    affine = np.tile(np.eye(4), (7, 1, 1))
    affine[:, :3] = rng.normal(size=(7, 3, 4))
    assert np.allclose(rotations.inverse(affine) @ affine, np.eye(4), atol=1e-9)
