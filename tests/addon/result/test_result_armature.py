"""The way back to bones: riders, connected bodies on ignored bones, IK that solves both, several roots."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
import state
from heft.addon.blender import own_marks
from heft.addon.result import result_armature

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
    assert result_armature.body_names(rig) & {bone.name for bone in rig.pose.bones} == {
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
    assert own_marks.muted_solvers(rig)
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
        assert (name in result_armature.body_names(rig)) == (behaviour == "SIMULATED")
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


def heads_and_ways(a: np.ndarray, b: np.ndarray, tall: float) -> tuple[float, float]:
    """Largest head offset (of the height) and largest angle [degrees] between the bones' own directions."""
    ways = [poses[..., :3, 1] / np.linalg.norm(poses[..., :3, 1], axis=-1, keepdims=True) for poses in (a, b)]
    chord = np.linalg.norm(ways[0] - ways[1], axis=-1).max()
    return np.linalg.norm(a[..., :3, 3] - b[..., :3, 3], axis=-1).max() / tall, float(np.degrees(chord))


@pytest.mark.parametrize("connected", [True, False])
@pytest.mark.parametrize("ignored", [(), (2,), (2, 3), (4,), (3, 5)])
def test_bones_below_an_unevenly_scaled_one_stay_where_they_are(empty, connected, ignored):
    """They are sheared, and no result armature can be posed so: heads and directions stay, and it is said."""
    rig = rigs.chain(7, connected)
    rigs.wave(rig)
    rig.pose.bones[1].scale = (1.0, 1.7, 0.6)
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.add()
    ignore(rig, *ignored)
    assert bpy.ops.heft.simulate() == {"FINISHED"}
    offset, angle = heads_and_ways(source, rigs.poses(rig, rigs.scene_frames()), rigs.height(rig))
    print(f"{offset:.1e} of the height, {angle:.4f} deg")
    assert offset < OFFSET and angle < ANGLE
    assert "is sheared at frame" in rig.heft.message and "Inherit Scale to Aligned" in rig.heft.message


def test_even_scale_and_unusual_inheritance_shear_nothing(empty):
    rig = rigs.chain(7, connected=False)
    for bone, kind in zip(
        rig.data.bones, ("FULL", "NONE", "AVERAGE", "ALIGNED", "FIX_SHEAR", "FULL", "NONE"), strict=True
    ):
        bone.inherit_scale = kind
        bone.use_inherit_rotation = kind != "AVERAGE"
    rigs.wave(rig)
    rig.pose.bones[0].scale = (1.4, 1.4, 1.4)
    rig.pose.bones[3].scale = (-1.0, -1.0, -1.0)
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.add()
    ignore(rig, 1, 4)
    simulated(rig, source)
    assert rig.heft.message == ""


def test_several_roots_of_tiny_and_huge_bones(empty):
    """Rolled, far apart in size, each with a chain of its own."""
    rig = rigs.post(1)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for k, long in enumerate((1e-4, 1e-2, 1.0, 30.0)):
        above = None
        for i in range(3):
            bone = bones.new(f"root {k} {i}")
            bone.head, bone.tail, bone.roll = (k, i * long, 0.0), (k, (i + 1) * long, 0.2 * long), 1.3 * k - i
            bone.parent, above = above, bone
    bpy.ops.object.mode_set(mode="OBJECT")
    rigs.wave(rig)
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.add()
    simulated(rig, source)
