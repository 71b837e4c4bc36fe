"""Roles guessed from bone names, and the strength they give."""

from __future__ import annotations

import bpy
import pytest

import rigs
from heft.addon import roles, session, settings


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("shoulder", ("upper_arm.L", "DEF-upper_arm.L", "mixamorig:LeftArm", "upperarm_l", "Bip01 L UpperArm", "RArm")),
        ("elbow", ("forearm.R", "mixamorig:RightForeArm", "lowerarm_r", "lowerarm01.L", "LeftForeArm")),
        ("wrist", ("hand.L", "LeftHand", "hand_r", "wrist.L")),
        ("hip", ("thigh.L", "mixamorig:LeftUpLeg", "thigh_l", "upperleg01.L", "Bip01 R Thigh")),
        ("knee", ("shin.R", "mixamorig:RightLeg", "calf_l", "lowerleg01.R")),
        ("ankle", ("foot.L", "LeftFoot", "foot_r")),
        ("spine", ("spine.003", "Spine1", "chest", "spine_02", "LowerBack", "DEF-spine.001", "torso")),
        ("neck", ("neck", "Neck1", "head", "mixamorig:Head", "neck_01")),
        ("collar", ("LeftShoulder", "clavicle_l", "shoulder.L")),
        (
            None,
            ("LThumb", "LeftHandIndex1", "hand_finger.L", "LeftToeBase",
             "bone.001", "tail", "armor", "Ribbon", "hair_front"),
        ),
    ],
    ids=str,
)  # fmt: skip
def test_names_in_use(role, names):
    assert {name: roles.of_name(name) for name in names} == dict.fromkeys(names, role)


def test_roots_and_the_second_halves_of_limbs_have_none():
    names = ["spine", "spine.001", "upper_arm.L", "upper_arm.L.001", "forearm.L"]
    assert roles.of_bodies(names, [-1, 0, 1, 2, 3]) == [None, "spine", "shoulder", None, "elbow"]
    names = ["hips", "LHipJoint", "LeftUpLeg", "clavicle.L", "upper_arm.L"]
    assert roles.of_bodies(names, [-1, 0, 1, 0, 3]) == [None, "hip", "hip", "shoulder", "shoulder"]


def test_a_named_joint_is_as_strong_as_a_persons(empty):
    rig = rigs.post(4)
    for bone, name in zip(rig.data.bones, ("hips", "spine", "link", "forearm"), strict=True):
        bone.name = name
    bpy.ops.heft.add()
    rig.heft.use_strength, rig.heft.total_mass, rig.heft.strength = True, 70.0, 0.5
    bpy.ops.heft.simulate()
    reading = session.last_shown(rig).reading
    given = settings.controller_of(rig, reading.model, reading.names, reading.frames).strength
    strengths = dict(zip(reading.names, given, strict=True))
    assert strengths["spine"] == pytest.approx(0.5 * 70.0 * 687.9 / 69.6, rel=1e-3)
    assert strengths["forearm"] == pytest.approx(0.5 * 70.0 * 101.4 / 69.6, rel=1e-3)
    link = reading.names.index("link")
    assert strengths["link"] == pytest.approx(0.5 * reading.model.strengths[link])
