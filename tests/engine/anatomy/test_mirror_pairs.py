"""Both sides weigh the same, where they are alike."""

from __future__ import annotations

import numpy as np

from engine.anatomy import capsule_masses, mirror_pairs


def test_a_limb_of_another_kind_keeps_its_weight():
    masses = np.array([10.0, 1.0, 1.2, 1.0, 9.0])
    found = capsule_masses.Bodies(masses, np.zeros((5, 3)), np.tile(np.eye(3), (5, 1, 1)), np.ones(5), np.ones(5))
    heads = np.array([[0.0, 0, 0], [1, 0, 0], [-1, 0, 0], [2, 0, 0], [-2, 0, 0]])
    paired = mirror_pairs.pairs(heads, heads - 0.5 * np.eye(3)[2], [None] * 5, range(5))
    assert sorted(paired) == [(1, 2), (3, 4)]
    even = mirror_pairs.even(found, paired, np.zeros(5))
    np.testing.assert_allclose(even.masses, [10.0, 1.1, 1.1, 1.0, 9.0])
    np.testing.assert_allclose(even.inertias[1], 1.1 * np.eye(3))
    given = mirror_pairs.even(found, paired, [0.0, 1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(given.masses, masses)
