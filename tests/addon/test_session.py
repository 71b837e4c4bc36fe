"""The way from a rig to its shown result and its bake."""

from __future__ import annotations

import bpy
import pytest
import rigs

OFFSET, ANGLE = 1e-4, 0.02


def simulate_identity(rig):
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.add()
    rig.heft.heaviness = 0.0
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.bake(target="ACTION")
    assert rig.heft.shown == "SOURCE"
    baked = rigs.poses(rig, rigs.scene_frames())
    tall = rigs.height(rig)
    return rigs.deviation(source, shown, tall), rigs.deviation(source, baked, tall)


@pytest.mark.parametrize("connected", [True, False])
def test_chain_in_every_rotation_mode_keeps_its_motion(empty, connected):
    rig = rigs.chain(9, connected)
    rigs.wave(rig, modes=rigs.MODES)
    for offset, angle in simulate_identity(rig):
        assert offset < OFFSET
        assert angle < ANGLE
