"""Detail: fingers and toes, or hands and feet, ride on what carries them and move as keyed."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

import conventions
import rigs
from heft.addon import settings
from heft.addon.rig import bone_roles, detail
from heft.addon.settings import saved
from heft.addon.simulate import session
from heft.engine.anatomy.role_list import LEFT, Part

FRAMES = range(1, 25)
HEAVY = {"settle_time": 0.4, "heaviness": 0.6}
SMALL = {"HANDS_AND_FEET": {"FINGER", "TOE"}, "LIMBS": {"FINGER", "TOE", "HAND", "FOOT"}}


def person(fingers: float) -> bpy.types.Object:
    """A man whose arms swing and whose fingers bend by so much [rad] and back."""
    rig = conventions.armature(conventions.build(*conventions.CONVENTIONS["Unreal"])[0])
    bpy.context.scene.frame_end = FRAMES[-1]
    parts = bone_roles.roles_of(rig)
    for bone in rig.pose.bones:
        by = {"UPPER_ARM": 0.8, "LOWER_ARM": 0.5, "THIGH": 0.4, "FINGER": fingers}.get(parts[bone.name].role)
        if by is None:
            continue
        bone.rotation_mode = "XYZ"
        for frame in range(1, 25, 4):
            bone.rotation_euler = (by * math.sin(0.6 * frame), 0.0, 0.3 * by)
            bone.keyframe_insert("rotation_euler", frame=frame)
    return rig


def riding(rig) -> set[str]:
    """The roles of bones with a role that are no bodies."""
    parts = bone_roles.roles_of(rig)
    return {parts[bone.name].role for bone in rig.pose.bones if bone.heft.behaviour == "IGNORED"} - {"OTHER"}


def behaviours(rig) -> dict[str, str]:
    return {bone.name: bone.heft.behaviour for bone in rig.pose.bones}


def on_parents(rig, poses: np.ndarray, roles: set[str]) -> np.ndarray:
    """(frames, bones, 4, 4) bones of these roles as seen from their parents."""
    bones, parts = list(rig.pose.bones), bone_roles.roles_of(rig)
    own = [i for i, bone in enumerate(bones) if parts[bone.name].role in roles]
    above = [rig.pose.bones.find(bones[i].parent.name) for i in own]
    return np.linalg.inv(poses[:, above]) @ poses[:, own]


@pytest.mark.parametrize(("fingers", "wanted"), [(0.5, "FULL"), (0.0, "HANDS_AND_FEET")])
def test_fingers_that_move_are_bodies_where_physics_is_added(empty, fingers, wanted):
    rig = person(fingers)
    bpy.ops.heft.add()
    assert rig.heft.detail == wanted
    assert bool(riding(rig) & {"FINGER", "TOE"}) == (wanted != "FULL") and "HAND" not in riding(rig)


def test_what_is_set_before_physics_stays(empty):
    rig = person(0.5)
    rig.heft.detail = "LIMBS"
    bpy.ops.heft.add()
    assert rig.heft.detail == "LIMBS" and riding(rig) >= SMALL["LIMBS"]


@pytest.mark.parametrize("chosen", ["HANDS_AND_FEET", "LIMBS"])
def test_what_rides_moves_as_keyed_on_what_carries_it(empty, chosen):
    rig = person(0.5)
    source = rigs.poses(rig, FRAMES)
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    mass = session.last_shown(rig).reading.model.masses.sum()
    rig.heft.detail = chosen
    bpy.ops.heft.simulate()
    offset, angle = rigs.deviation(source, rigs.poses(rig, FRAMES), rigs.height(rig))
    assert offset < 1e-5 and angle < 0.01, "without heaviness the result is the source"
    for name, value in HEAVY.items():
        setattr(rig.heft, name, value)
    bpy.ops.heft.simulate()
    result = rigs.poses(rig, FRAMES)
    off = rigs.angles(source[..., :3, :3], result[..., :3, :3])
    assert np.degrees(off[:, rig.pose.bones.find("hand_l")].max()) > 2.0, "the hand has left the source"
    turned, shown = (on_parents(rig, poses, SMALL[chosen]) for poses in (source, result))
    assert np.abs(turned - shown).max() < 1e-5
    model = session.last_shown(rig).reading.model
    assert model.masses.sum() == pytest.approx(mass)
    parts = bone_roles.roles_of(rig)
    assert not {parts[name].role for name in model.names} & SMALL[chosen]


def test_a_hand_weighs_as_much_with_its_fingers_on_it(empty):
    rig = person(0.5)
    bpy.ops.heft.add()
    weights = []
    for chosen in ("FULL", "HANDS_AND_FEET"):
        rig.heft.detail = chosen
        bpy.ops.heft.simulate()
        model, parts = session.last_shown(rig).reading.model, bone_roles.roles_of(rig)
        own = [parts[name] in (Part("HAND", LEFT), Part("FINGER", LEFT)) for name in model.names]
        weights.append(model.masses[own].sum())
    assert weights[1] == pytest.approx(weights[0], rel=1e-6)


def test_there_and_back_is_as_before_and_undo_too(empty):
    rig = person(0.5)
    bpy.ops.heft.add()
    rig.heft.heaviness = 0.5
    before = behaviours(rig)
    bpy.ops.heft.simulate()
    first = rigs.poses(rig, FRAMES)
    bpy.ops.ed.undo_push(message="full")
    rig.heft.detail = "LIMBS"
    assert riding(rig) >= SMALL["LIMBS"]
    bpy.ops.ed.undo_push(message="limbs")
    rig.heft.detail = "HANDS_AND_FEET"
    assert riding(rig) & SMALL["LIMBS"] == SMALL["HANDS_AND_FEET"]
    rig.heft.detail = "FULL"
    assert behaviours(rig) == before
    bpy.ops.heft.simulate()
    assert rigs.deviation(first, rigs.poses(rig, FRAMES), rigs.height(rig)) == (0.0, 0.0)
    bpy.ops.ed.undo()
    rig = bpy.context.object
    assert rig.heft.detail == "FULL" and behaviours(rig) == before
    rig.heft.detail = "LIMBS"
    assert riding(rig) >= SMALL["LIMBS"]


def test_what_the_user_gave_a_bone_wins(empty):
    rig = person(0.5)
    bpy.ops.heft.add()
    finger, foot = rig.pose.bones["index_01_l"].heft, rig.pose.bones["foot_r"].heft
    finger.behaviour = "LIMP"
    rig.heft.detail = "HANDS_AND_FEET"
    assert finger.behaviour == "LIMP"
    rig.heft.detail = "LIMBS"
    foot.behaviour = "SIMULATED"
    rig.heft.detail = "HANDS_AND_FEET"
    rig.heft.detail = "LIMBS"
    assert finger.behaviour == "LIMP" and foot.behaviour == "SIMULATED"
    bpy.ops.heft.simulate()
    names = session.last_shown(rig).reading.names
    assert {"index_01_l", "foot_r"} <= set(names) and not {"index_02_l", "foot_l"} & set(names)


def test_a_take_brings_its_detail_back(empty):
    rig = person(0.5)
    bpy.ops.heft.add()
    rig.heft.heaviness = 0.5
    bpy.ops.heft.simulate()
    bpy.ops.heft.keep_take()
    before = behaviours(rig)
    rig.heft.detail = "LIMBS"
    bpy.ops.heft.simulate()
    bpy.ops.heft.choose_take(name=rig.heft.takes[0].name)
    assert rig.heft.detail == "FULL" and behaviours(rig) == before
    rig.heft.detail = "LIMBS"
    assert riding(rig) >= SMALL["LIMBS"], "what a take brought back is not the user's own"


def test_settings_that_come_back_with_the_file_are_not_the_users_own(empty):
    rig = person(0.5)
    bpy.ops.heft.add()
    rig.heft.detail = "LIMBS"
    saved.pack(rig)
    kept = behaviours(rig)
    settings.forget(rig, "heft")
    for bone in rig.pose.bones:
        settings.forget(bone, "heft")
    saved.unpack(rig)
    assert rig.heft.detail == "LIMBS" and behaviours(rig) == kept
    rig.heft.detail = "FULL"
    rig.heft.detail = "HANDS_AND_FEET"
    assert riding(rig) & SMALL["LIMBS"] == SMALL["HANDS_AND_FEET"]


def test_rigs_without_hands_or_feet_are_left_alone(empty):
    rig = rigs.chain(6)
    bpy.ops.heft.add()
    assert rig.heft.detail == "FULL" and not detail.is_of_use(rig)
    rig.heft.detail = "LIMBS"
    assert set(behaviours(rig).values()) == {"SIMULATED"}


def test_a_hand_alone_is_full(empty):
    skeleton, _ = conventions.build(*conventions.CONVENTIONS["Unreal"])
    hand = skeleton.names.index("hand_l")
    kept = [i for i in range(len(skeleton.names)) if i == hand or _hangs_on(skeleton.parents, i, hand)]
    parents = [kept.index(skeleton.parents[i]) if skeleton.parents[i] in kept else -1 for i in kept]
    names = [skeleton.names[i] for i in kept]
    rig = conventions.armature(conventions.Skeleton(names, parents, skeleton.heads[kept], skeleton.tails[kept]))
    bpy.ops.heft.add()
    assert rig.heft.detail == "FULL"


def _hangs_on(parents, bone: int, other: int) -> bool:
    while bone >= 0 and bone != other:
        bone = parents[bone]
    return bone == other
