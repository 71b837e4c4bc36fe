"""What parts of a person weigh, and who is a person."""

from __future__ import annotations

import numpy as np
import pytest

from de_leva import TABLE, de_leva
from engine.anatomy import person_masses
from engine.anatomy.role_list import LEFT, MIDDLE, RIGHT, Part


@pytest.mark.skipif(not TABLE.exists(), reason=f"no tables in {TABLE}")
def test_the_table_is_de_levas():
    wanted = de_leva()
    for name, key in {"UPPER_ARM": "Upper arm", "LOWER_ARM": "Forearm", "THIGH": "Thigh", "SHANK": "Shank"}.items():
        mass, center, sagittal, transverse, along = wanted[key]
        about = 0.5 * (sagittal + transverse)
        np.testing.assert_allclose(person_masses.TABLE[name], (mass, center, about, along), atol=6e-4)
    for name, key in {"HEAD": "Head", "TRUNK": "Trunk", "HAND": "Hand", "FOOT": "Foot"}.items():
        assert person_masses.TABLE[name].mass == pytest.approx(wanted[key][0], abs=1e-4)
    thirds = [wanted[f"{part} trunk"][0] for part in ("Lower", "Middle", "Upper")]
    np.testing.assert_allclose(person_masses.TRUNK_MASSES, np.divide(thirds, sum(thirds)), atol=1e-3)


def test_the_segments_add_up_to_a_person():
    """The trunk's thirds and the segments add up to a whole person."""
    paired = sum(person_masses.TABLE[name].mass for name in person_masses.PAIRED)
    whole = 2.0 * paired + person_masses.TABLE["HEAD"].mass + person_masses.TABLE["TRUNK"].mass
    assert whole == pytest.approx(1.0, abs=1e-3)
    assert person_masses.TRUNK_LENGTHS.sum() == pytest.approx(1.0, abs=1e-3)


def test_a_dog_is_no_person():
    """Everything a person has, but the legs stand across the trunk."""
    names = [("SPINE", MIDDLE), ("HEAD", MIDDLE)]
    names += [(role, side) for side in (LEFT, RIGHT) for role in ("UPPER_ARM", "LOWER_ARM", "THIGH", "SHANK")]
    parts = [Part(*name) for name in names]
    legs = [[0.4, 0, 0.5], [0.4, 0, 0.2], [-0.4, 0, 0.5], [-0.4, 0, 0.2]]
    dog = np.array([[-0.4, 0, 0.6], [0.5, 0, 0.7], *legs, *legs])
    assert not person_masses.is_person(parts, dog)
    legs = [[0.2, 0, 1.4], [0.5, 0, 1.4], [0.1, 0, 0.9], [0.1, 0, 0.5]]
    man = np.array([[0.0, 0, 1.0], [0, 0, 1.6], *legs, *legs])
    assert person_masses.is_person(parts, man)
    assert not person_masses.is_person([part for part in parts if part.role != "HEAD"], np.delete(man, 1, axis=0))
