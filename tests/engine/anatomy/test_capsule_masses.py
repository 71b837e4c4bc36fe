"""Masses of bone capsules, without Blender."""

from __future__ import annotations

import numpy as np
import pytest

from engine.anatomy import bone_ends, capsule_masses


def rests(*heads) -> np.ndarray:
    out = np.tile(np.eye(4), (len(heads), 1, 1))
    out[:, :3, 3] = heads
    return out


def measured(parents, where: np.ndarray, lengths, total: float, overrides) -> capsule_masses.Bodies:
    """Bodies of bones that lie along Y, as long as told."""
    heads = where[:, :3, 3]
    tails = heads + where[:, :3, 1] * np.array(lengths)[:, None]
    return capsule_masses.measure(where, bone_ends.find(parents, heads, tails), total, np.array(overrides))


def test_masses_add_up_and_overrides_change_one_bone_only():
    where = rests((0, 0, 0), (0, 1, 0), (0, 1.5, 0))
    plain = measured([-1, 0, 1], where, [1.0, 0.5, 0.4], 70.0, [0.0] * 3)
    assert plain.masses.sum() == pytest.approx(70.0, rel=1e-5)
    assert plain.masses[0] > plain.masses[1] > plain.masses[2] > 0.0
    heavy = measured([-1, 0, 1], where, [1.0, 0.5, 0.4], 70.0, [0.0, 9.0, 0.0])
    assert heavy.masses[1] == 9.0
    np.testing.assert_allclose(heavy.masses[[0, 2]], plain.masses[[0, 2]])


def test_left_and_right_weigh_the_same():
    where = rests((0, 0, 0), (0.2, 0.3, 0), (-0.2, 0.3, 0))
    found = measured([-1, 0, 0], where, [0.3, 0.4, 0.4], 10.0, [0.0] * 3)
    assert found.masses[1] == pytest.approx(found.masses[2])
    np.testing.assert_allclose(found.inertias[1], found.inertias[2])


def test_absurd_leaves_and_zero_lengths_are_tamed():
    where = rests((0, 0, 0), (0, 1, 0), (0, 1, 0))
    found = measured([-1, 0, 1], where, [1.0, 1e-7, 500.0], 10.0, [0.0] * 3)
    assert found.lengths.max() < 2.0
    assert (found.masses > 0.0).all()
    assert (np.linalg.eigvalsh(found.inertias) > 0.0).all()


def test_hips_between_the_legs_are_thick_not_tiny():
    where = rests((0, 0, 0), (0.2, 0, 0), (-0.2, 0, 0), (0, 0.2, 0), (0, -0.2, 0))
    found = measured([-1, 0, 0, 0, 0], where, [0.2, 0.4, 0.4, 0.4, 0.4], 10.0, [0.0] * 5)
    assert found.masses[0] > 0.05


def test_capsule_inertia_against_points():
    """Monte Carlo over a capsule along Y."""
    radius, straight, mass = 0.1, 0.5, 3.0
    points = np.random.default_rng(1).uniform(-1, 1, (400000, 3)) * [radius, straight / 2 + radius, radius]
    core = np.clip(points[:, 1], -straight / 2, straight / 2)
    points = points[(points[:, 0] ** 2 + points[:, 2] ** 2 + (points[:, 1] - core) ** 2) < radius**2]
    square = (points**2).sum(axis=1)
    wanted = mass * (np.eye(3) * square.mean() - points.T @ points / len(points))
    got = capsule_masses.capsule_inertias(
        np.array([mass]), np.array([radius]), np.array([straight]), np.array([[0.0, 1.0, 0.0]])
    )[0]
    np.testing.assert_allclose(got, wanted, atol=0.01 * wanted.max())


def test_trunks_and_heads_are_thicker_than_their_bones():
    names = ("mixamorig:Hips", "LowerBack", "Head", "HeadTop_End", "LeftHand", "LeftHandIndex1", "LeftUpLeg", "Bone")
    radii = capsule_masses.touching_radii(names, (), np.full(8, 0.02), 1.7)
    assert (radii[:3] > 0.09).all() and (radii[:3] < 0.13).all()
    assert radii[4] > 0.03
    np.testing.assert_array_equal(radii[[3, 5, 6, 7]], 0.02)
    np.testing.assert_array_equal(capsule_masses.touching_radii(names, (), np.full(8, 0.5), 1.7), 0.5)


def test_a_tail_called_a_spine_is_as_thin_as_its_bones():
    radii = capsule_masses.touching_radii(("DEF-spine", "DEF-spine.001"), {0}, np.full(2, 0.02), 1.7)
    assert radii[0] == 0.02 and radii[1] > 0.09
