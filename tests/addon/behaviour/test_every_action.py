"""Actions of every kind: slots, shared actions, NLA stacks and tweak mode give their motion back, and bake apart."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
import situations
import state
from heft.addon.blender import actions, sample_poses

CLOSE, ANGLE = 1e-4, 0.02  # parts of the rig's height, degrees


def source_of(rig, frames) -> np.ndarray:
    """(frames, bones, 4, 4) as the rig plays them: these rigs have drivers that read the frame."""
    return sample_poses.finish(sample_poses.sample(rig, bpy.context.scene, np.array(frames))).poses.astype(np.float64)


KINDS = [each for each in situations.SITUATIONS if each not in (situations.duplicated, situations.linked_twin)]


@pytest.mark.parametrize("situation", KINDS, ids=lambda each: each.__name__)
def test_undisturbed_it_is_the_source(empty, tmp_path, situation):
    rig = situations._rig(situation(tmp_path))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, situations.END
    situations._activate(rig)
    source = source_of(rig, rigs.scene_frames())
    bpy.ops.heft.add()
    for bone in rig.pose.bones:  # whatever Add makes of them
        bone.heft.behaviour = "SIMULATED"
    bpy.ops.heft.simulate()
    offset, angle = rigs.deviation(source, source_of(rig, rigs.scene_frames()), rigs.height(rig))
    print(f"{situation.__name__}: off its source by {offset:.2g} of the height, {angle:.2g}°")
    assert offset < CLOSE and angle < ANGLE


@pytest.mark.skipif(not actions.HAS_SLOTS, reason="slots came with Blender 4.4")
def test_two_rigs_of_one_action_are_baked_each_into_a_copy(empty, tmp_path):
    """The other rig, the armature's data and the empty go on through their slots of the action that was there."""
    rig = situations._rig(situations.slots(tmp_path))
    other, action = bpy.data.objects["Other"], rig.animation_data.action
    assert len(action.slots) == 4
    kept = state._action(action)
    moves = source_of(other, rigs.scene_frames())
    bpy.ops.heft.add()
    rig.heft.heaviness = 0.3
    bpy.ops.heft.simulate()
    shown = source_of(rig, rigs.scene_frames())
    bpy.ops.heft.bake(target="ACTION", mute_constraints=True)
    baked = rig.animation_data.action
    assert baked != action and rig.animation_data.action_slot.identifier == "OBRig"
    for block in (other, rig.data, bpy.data.objects["Rig goal"]):
        assert block.animation_data.action == action
    assert state.difference(kept, state._action(action)) == []
    assert np.array_equal(moves, source_of(other, rigs.scene_frames()))
    assert rigs.deviation(shown, source_of(rig, rigs.scene_frames()), rigs.height(rig))[0] < CLOSE
    for slot in action.slots:
        if slot.identifier != "OBRig":
            there = actions.bag_of(baked, actions.same_slot(baked, slot))
            assert [state._curve(c) for c in there.fcurves] == [
                state._curve(c) for c in actions.bag_of(action, slot).fcurves
            ]


def test_rigs_that_share_an_action_have_results_of_their_own(empty, tmp_path):
    rig = situations._rig(situations.shared(tmp_path))
    other, action = bpy.data.objects["Other"], rig.animation_data.action
    bpy.ops.heft.add()
    rig.heft.heaviness = 0.4
    bpy.ops.heft.simulate()
    situations._activate(other)
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    mine = source_of(rig, (12,))
    assert rigs.deviation(mine, source_of(other, (12,)), rigs.height(rig))[1] > 1.0
    bpy.ops.heft.bake(target="ACTION", mute_constraints=True)
    assert rig.animation_data.action == action != other.animation_data.action
    assert np.abs(mine - source_of(rig, (12,))).max() < 1e-6


@pytest.mark.parametrize("situation", [situations.local, situations.cyclic], ids=lambda each: each.__name__)
def test_bones_outside_the_physics_keep_their_keys(empty, tmp_path, situation):
    rig = situations._rig(situation(tmp_path))
    source = rig.animation_data.action
    bpy.ops.heft.add()
    outside = [bone.name for bone in rig.pose.bones][:2]
    for bone in rig.pose.bones:
        bone.heft.behaviour = "IGNORED" if bone.name in outside else "SIMULATED"
    rig.heft.heaviness = 0.3
    bpy.ops.heft.simulate()
    slot = actions.slot_of(rig)
    bpy.ops.heft.bake(target="ACTION", mute_constraints=True)
    baked = rig.animation_data.action
    sides = [actions.bag_of(source, slot), actions.active_bag(rig)]
    assert baked != source
    old, new = ({(c.data_path, c.array_index): state._curve(c) for c in bag.fcurves} for bag in sides)
    theirs = [key for key in old if any(f'"{name}"' in key[0] for name in outside) or "twist" in key[0]]
    assert len(theirs) > 8
    for key in theirs:
        assert old[key] == new[key], key
    assert any(old[key] != new[key] for key in old), "or nothing was baked"
