"""Nudge: a drag becomes a push, which stays in the list."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
from heft.addon.errors import RigError
from heft.addon.result import result_armature
from heft.addon.simulate import session
from heft.addon.tools import nudge


def test_a_nudge_becomes_a_push_and_spins_what_it_hits_off_its_middle(rig):
    with pytest.raises(RigError, match="Simulate first"):
        nudge.check(rig, bpy.context.scene)
    bpy.ops.heft.simulate()
    still = rigs.bend(rig)
    bpy.context.scene.frame_set(5)
    nudge.check(rig, bpy.context.scene)
    reading = nudge.reading_of(rig, bpy.context.scene)
    impulse = nudge.newton_seconds(reading, "bone.002", 0.5 * reading.height)
    # half the rig's height throws what hangs on the bone at half the speed
    mass = reading.model.masses[reading.model.index("bone.002")]
    assert impulse == pytest.approx(0.5 * nudge.SPEED * max(mass, nudge.LEAST_SHARE * reading.model.total_mass))
    results = {}
    for place in (0.0, 1.0):
        index = nudge.add(rig, "bone.002", place, 5)
        assert (index, rig.heft.push_index, rig.heft.pushes[0].frame) == (0, 0, 5)
        nudge.aim(rig, index, (0.0, 3.0, 0.0), impulse)
        assert tuple(rig.heft.pushes[0].direction) == (0.0, 1.0, 0.0)
        session.simulate(rig, bpy.context.scene, fresh=False)
        results[place] = rigs.bend(rig)
        nudge.remove(rig, index, 0)
    assert np.abs(results[1.0] - still).max() > np.radians(5.0)
    assert np.abs(results[1.0] - results[0.0]).max() > np.radians(5.0), "where it is pushed matters"
    session.simulate(rig, bpy.context.scene, fresh=False)
    np.testing.assert_array_equal(rigs.bend(rig), still)


def test_a_push_at_the_centre_of_mass_is_what_it_was(rig):
    """The place along the bone at its centre of mass is the push without a place."""
    bpy.ops.heft.simulate()
    reading = nudge.reading_of(rig, bpy.context.scene)
    body, head, tail = reading.spots["bone.001"]
    center = reading.model.centers[reading.model.index(body)]
    share = float((center - head) @ (tail - head) / ((tail - head) @ (tail - head)))
    np.testing.assert_allclose(head + share * (tail - head), center, atol=1e-6)
    index = nudge.add(rig, "bone.001", share, 3)
    nudge.aim(rig, index, (1.0, 0.0, 0.0), 2.0)
    bends = []
    for use in (True, False):
        rig.heft.pushes[0].use_place = use
        session.simulate(rig, bpy.context.scene, fresh=False)
        bends.append(rigs.bend(rig))
    np.testing.assert_allclose(*bends, atol=1e-5)


def test_a_nudge_needs_the_result_in_sight_and_frames_after_it(rig):
    bpy.ops.heft.simulate()
    scene = bpy.context.scene
    result_armature.show(rig, "SOURCE")
    with pytest.raises(RigError, match="switch to Result"):
        nudge.check(rig, scene)
    result_armature.show(rig, "RESULT")
    scene.frame_set(rig.heft.result_end)
    with pytest.raises(RigError, match="no result after it"):
        nudge.check(rig, scene)
