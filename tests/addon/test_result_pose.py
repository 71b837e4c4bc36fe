"""The way back to bones: riders, connected bodies on ignored bones, IK that solves both, several roots."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
import state
from heft.addon import constraints, showing

OFFSET, ANGLE = 1e-5, 0.02


def ignore(rig, *bones: int) -> None:
    for i in bones:
        rig.pose.bones[i].heft.behaviour = "IGNORED"


def error(rig, source) -> tuple[float, float]:
    return rigs.deviation(source, rigs.poses(rig, rigs.scene_frames()), rigs.height(rig))


def simulated(rig, source) -> None:
    assert bpy.ops.heft.simulate() == {"FINISHED"}
    offset, angle = error(rig, source)
    print(f"{offset:.1e} of the height, {angle:.4f} deg")
    assert offset < OFFSET and angle < ANGLE


@pytest.mark.parametrize("ignored", [(0,), (2,), (2, 3), (0, 1), (1, 3, 4), (0, 2, 5)])
def test_connected_bodies_below_ignored_bones(empty, ignored):
    """They have no location of their own: the bones they hang on must be keyed too."""
    rig = rigs.chain(6, connected=True)
    rigs.wave(rig)
    rig.pose.bones[2].scale = (1.3, 1.3, 1.3)
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.add()
    ignore(rig, *ignored)
    simulated(rig, source)
    assert showing.body_names(rig) & {bone.name for bone in rig.pose.bones} == {
        bone.name for i, bone in enumerate(rig.pose.bones) if i not in ignored
    }, "ignored bones keep their own keys"


def ik_chain() -> bpy.types.Object:
    """Five bones, the last three solved by IK towards a moving empty."""
    rig = rigs.chain(5, connected=True)
    rigs.wave(rig)
    goal = bpy.data.objects.new("goal", None)
    bpy.context.scene.collection.objects.link(goal)
    rigs.throw(goal, (0.3, 0.7, 0.4), (-0.3, 0.9, 0.6), 1, 40)
    ik = rig.pose.bones[4].constraints.new("IK")
    ik.target, ik.chain_count = goal, 3
    return rig


@pytest.mark.parametrize("ignored", [(2,), (3,), (4,), (2, 3), (3, 4)])
def test_ik_that_solves_ignored_bones_too(empty, ignored):
    rig = ik_chain()
    before = state.snapshot(rig, pose=False)
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.add()
    ignore(rig, *ignored)
    simulated(rig, source)
    assert constraints.muted_solvers(rig)
    bpy.ops.heft.remove()
    assert state.difference(before, state.snapshot(rig, pose=False)) == []


def test_a_rider_becomes_a_body_and_rides_again(empty):
    rig = rigs.chain(6, connected=True)
    rigs.wave(rig)
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.add()
    name = rig.pose.bones[2].name
    for behaviour in ("IGNORED", "SIMULATED", "IGNORED"):
        rig.pose.bones[2].heft.behaviour = behaviour
        simulated(rig, source)
        assert (name in showing.body_names(rig)) == (behaviour == "SIMULATED")
        assert (rig.pose.bones[2].constraints.get("Heft") is not None) == (behaviour == "SIMULATED")


def test_a_free_root_connected_to_an_ignored_bone_is_refused(empty):
    """Blender puts every connected bone onto its parent's tail, whatever constraints say."""
    rig = rigs.chain(4, connected=True)
    rigs.wave(rig)
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.add()
    ignore(rig, 0)
    simulated(rig, source)
    for root in ("FREE", "ASSISTED"):
        rig.heft.root = root
        with pytest.raises(RuntimeError, match=r"'bone.001' is connected to the ignored bone 'bone.000'.*Edit Mode"):
            bpy.ops.heft.simulate()


def test_a_free_root_beside_an_ignored_bone_falls(empty):
    rig = rigs.chain(4, connected=False)
    bpy.context.scene.frame_end = 13
    bpy.ops.heft.add()
    ignore(rig, 0)
    rig.heft.controller, rig.heft.root = "LIMP", "FREE"
    bpy.ops.heft.simulate()
    heads = rigs.poses(rig, rigs.scene_frames())[:, :, 2, 3]
    assert heads[-1, 0] == heads[0, 0]
    assert np.allclose(heads[-1, 1:] - heads[0, 1:], -0.5 * 9.81 * 0.5**2, atol=1e-3), "it falls g t² / 2"
