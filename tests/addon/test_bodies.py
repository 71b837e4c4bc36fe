"""Masses and inertias from bones."""

from __future__ import annotations

import numpy as np
import pytest

import rigs
from heft.addon.blender import engine_space
from heft.addon.read import read_rig


def test_ignored_bones_lend_their_mass_to_their_carrier(empty):
    rig = rigs.chain(4, connected=False)
    import bpy

    bpy.ops.heft.add()
    place = engine_space.Placement.from_matrices(np.eye(4)[None], 1.0)
    whole = read_rig.build_model(rig, read_rig.skeleton_of(rig), place, bpy.context.scene, 1)
    rig.pose.bones[3].heft.behaviour = "IGNORED"
    merged = read_rig.build_model(rig, read_rig.skeleton_of(rig), place, bpy.context.scene, 1)
    assert len(merged) == 3
    assert merged.masses[2] == pytest.approx(whole.masses[2] + whole.masses[3])
    assert merged.total_mass == pytest.approx(whole.total_mass)
    # About any point the moments of the whole stay what they were.
    assert np.trace(merged.inertias[2]) > np.trace(whole.inertias[2])
