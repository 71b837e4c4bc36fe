"""Which bones become bodies when physics is added."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import conventions
import rigs
from heft.addon.simulate import session


def test_helpers_ride_and_limbs_are_one_piece(empty):
    skeleton, _ = conventions.build(*conventions.CONVENTIONS["Unreal"])
    rig = conventions.armature(skeleton)
    rig.pose.bones["head"].heft.behaviour = "LIMP"
    rig.heft.detail = "FULL"
    bpy.ops.heft.add()
    chosen = {bone.name: bone.heft.behaviour for bone in rig.pose.bones}
    riding = {name for name, behaviour in chosen.items() if behaviour == "IGNORED"}
    assert riding == {name for name in chosen if "ik_" in name or "twist" in name or name == "root"}
    assert chosen.pop("head") == "LIMP", "what the user has set stays"
    assert {chosen[name] for name in chosen if name not in riding} == {"SIMULATED"}


def test_what_carries_the_pelvis_on_the_floor_moves_the_rig_without_a_body(empty):
    rig = conventions.armature(conventions.build(*conventions.CONVENTIONS["plain English"])[0])
    for frame, spot in ((1, (0.0, 0.0, 0.0)), (20, (0.5, 1.0, -0.2))):
        root = rig.pose.bones["root"]
        root.rotation_mode = "XYZ"
        root.location, root.rotation_euler = spot, spot
        root.keyframe_insert("location", frame=frame)
        root.keyframe_insert("rotation_euler", frame=frame)
    empty.frame_end = 20
    source = rigs.poses(rig, range(1, 21))
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    reading = session.last_shown(rig).reading
    assert [reading.names[i] for i in np.flatnonzero(reading.model.parents < 0)] == ["hips"]
    assert np.ptp(reading.motion.positions[:, 0], axis=0).max() > 0.5
    offset, angle = rigs.deviation(source, rigs.poses(rig, range(1, 21)), rigs.height(rig))
    assert offset < 1e-5 and angle < 0.01


@pytest.mark.skipif(not rigs.DATA.exists(), reason="shared/data is not part of the project")
def test_what_moves_a_skin_is_more_than_a_mark(tmp_path):
    rigs.open_skin(rigs.DATA / "rigs" / "gdquest_bee_bot.glb", tmp_path)
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.add()
    behaviours = {bone.name: bone.heft.behaviour for bone in rig.pose.bones}
    assert behaviours["tail_end"] == "SIMULATED" and behaviours["mandible.L"] == "IGNORED"
    assert behaviours["torso"] == "SIMULATED" and behaviours["Bone.002"] == "IGNORED"
