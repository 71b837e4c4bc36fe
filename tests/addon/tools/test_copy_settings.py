"""Settings handed on: left to right, and from character to character."""

from __future__ import annotations

import bpy
import pytest

import rigs
from heft.addon import declare
from heft.addon.settings.bone import HeftBone
from heft.addon.settings.character import HeftArmature
from heft.addon.tools import copy_settings

SIDED = ("spine", "arm.L", "arm.R", "Left leg", "Right leg", "hand_l.001", "hand_r.001", "tail.L")


def two_sided(name: str = "Rig", prefix: str = "", names=SIDED) -> bpy.types.Object:
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for i, bone_name in enumerate(names):
        bone = data.edit_bones.new(prefix + bone_name)
        bone.head, bone.tail = (0.3 * i, 0.0, 0.0), (0.3 * i, 0.0, 0.3)
        bone.parent = data.edit_bones[0] if i else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def settings_of(holder, names) -> dict:
    return {name: _plain(getattr(holder.heft, name)) for name in names}


def _plain(value):
    return value[:] if hasattr(value, "__len__") and not isinstance(value, str) else value


def choose(rig, *names) -> None:
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        holder = bone if hasattr(bone, "select") else bone.bone
        holder.select = bone.name in names
    rig.data.bones.active = rig.data.bones[names[0]] if names else None


@pytest.fixture
def pair(empty):
    """A character with unusual settings and another beside it, both selected."""
    source = two_sided("Source")
    bpy.ops.heft.add()
    target = two_sided("Target")
    bpy.context.view_layer.objects.active = source
    source.select_set(True)
    target.select_set(True)
    heft = source.heft
    heft.settle_time, heft.heaviness, heft.controller, heft.gravity = 0.77, 0.4, "ON_TIME", (0.0, 1.0, -3.0)
    heft.total_mass, heft.meters_per_unit, heft.pre_roll, heft.range = 12.0, 0.1, 9, "ACTION"
    heft.pushes.add().bone = "spine"
    bone = source.pose.bones["arm.L"].heft
    bone.behaviour, bone.settle_scale, bone.mass, bone.shape = "LIMP", 3.0, 2.5, "BOX"
    return source, target


def test_sides_are_told_by_name():
    left = ("arm.L", "arm_l", "Left leg", "hand_l.001", "L_foot", "leftHand", "lid.L.002")
    for name in left:
        assert copy_settings.is_left(name) and not copy_settings.is_left(bpy.utils.flip_name(name)), name
    assert not any(copy_settings.is_left(name) for name in ("spine", "head", "arm.R", "tail", "tilt"))


@pytest.mark.parametrize("which", ["LEFT", "RIGHT", "SELECTED"])
def test_mirrored_settings(empty, which):
    rig = two_sided()
    bpy.ops.heft.add()
    give, take = ("arm.R", "arm.L") if which == "RIGHT" else ("arm.L", "arm.R")
    look = rig.pose.bones[give].heft
    look.behaviour, look.settle_scale, look.mass, look.overlap_group, look.mix = "ANIMATED", 2.5, 4.0, 3, 0.5
    look.use_limits, look.limits_from, look.limit_low, look.limit_high, look.limit_swing = True, "OWN", -0.2, 0.7, 1.1
    other = "Right leg" if which == "RIGHT" else "Left leg"
    rig.pose.bones[other].heft.mass = 9.0
    if which == "SELECTED":
        choose(rig, give, take, "spine")
    assert bpy.ops.heft.mirror_settings(which=which) == {"FINISHED"}
    names = [name for name in declare.names(HeftBone) if name not in ("limit_low", "limit_high")]
    got = rig.pose.bones[take].heft
    assert settings_of(rig.pose.bones[take], names) == settings_of(rig.pose.bones[give], names)
    assert (got.limit_low, got.limit_high) == pytest.approx((-0.7, 0.2))
    assert rig.pose.bones[bpy.utils.flip_name(other)].heft.mass == (0.0 if which == "SELECTED" else 9.0)
    assert rig.pose.bones["spine"].heft.behaviour == "SIMULATED"


def test_a_knee_bends_the_same_way_on_both_sides(empty):
    rig = two_sided()
    bpy.ops.heft.add()
    for name in ("arm.L", "hand_l.001"):
        look = rig.pose.bones[name].heft
        look.limit_low, look.limit_high = -0.1, 2.0
    rig.pose.bones["arm.L"].lock_rotation = (False, True, True)
    rig.pose.bones["hand_l.001"].lock_rotation = (True, True, False)
    bpy.ops.heft.mirror_settings(which="LEFT")
    knee, other = rig.pose.bones["arm.R"].heft, rig.pose.bones["hand_r.001"].heft
    assert (knee.limit_low, knee.limit_high) == pytest.approx((-0.1, 2.0))
    assert (other.limit_low, other.limit_high) == pytest.approx((-2.0, 0.1))


def test_mirroring_needs_two_sides(empty):
    rig = rigs.chain(3)
    bpy.ops.heft.add()
    with pytest.raises(RuntimeError, match="on the other side"):
        bpy.ops.heft.mirror_settings(which="LEFT")
    choose(rig)
    with pytest.raises(RuntimeError, match="No bone is selected"):
        bpy.ops.heft.mirror_settings()


@pytest.mark.parametrize("body", [False, True])
def test_a_character_is_copied(pair, body):
    source, target = pair
    assert bpy.ops.heft.copy_to_armatures(body=body) == {"FINISHED"}
    names = copy_settings.character_names(HeftArmature, body)
    assert {"settle_time", "ground"} <= set(names) and not {"live", "mix", "colliders", "pushes"} & set(names)
    assert ({"total_mass", "meters_per_unit"} <= set(names)) == body
    assert target.heft.enabled and settings_of(target, names) == settings_of(source, names)
    assert target.heft.total_mass == (12.0 if body else 70.0)
    assert not len(target.heft.pushes) and target.heft.colliders is None
    arm = target.pose.bones["arm.L"].heft
    assert (arm.behaviour, arm.settle_scale, arm.shape) == ("LIMP", 3.0, "BOX")
    assert arm.mass == (2.5 if body else 0.0)


def test_a_character_is_copied_without_its_bones(pair):
    _source, target = pair
    bpy.ops.heft.copy_to_armatures(bones=False)
    assert target.heft.settle_time == pytest.approx(0.77)
    assert target.pose.bones["arm.L"].heft.behaviour == "SIMULATED"


def test_bones_are_found_without_their_namespace(empty):
    source = two_sided("Source", "mixamorig:")
    bpy.ops.heft.add()
    source.pose.bones["mixamorig:arm.L"].heft.behaviour = "LIMP"
    target = two_sided("Target", names=(*SIDED, "extra"))
    bpy.context.view_layer.objects.active = source
    source.select_set(True)
    target.select_set(True)
    assert copy_settings.copy_character(source, [target], bpy.context.scene) == {target: len(SIDED)}
    assert target.pose.bones["arm.L"].heft.behaviour == "LIMP"


def test_copying_needs_another_armature_and_can_be_undone(pair):
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.heft.copy_to_armatures()
    bpy.ops.ed.undo_push(message="copied")
    bpy.ops.ed.undo()
    target = bpy.data.objects["Target"]
    assert not target.is_property_set("heft") or not target.heft.enabled
    target.select_set(False)
    with pytest.raises(RuntimeError, match="Select other armatures"):
        bpy.ops.heft.copy_to_armatures()


def test_every_setting_is_copied_or_named_as_not(pair):
    """A setting added later is copied by itself; what the motion depends on and is not copied is named here."""
    left = {"colliders", "pushes", "ties", "total_mass", "meters_per_unit"}
    simulated = set(declare.names(HeftArmature, is_simulated=True))
    assert simulated - set(copy_settings.character_names(HeftArmature, False)) == left
    simulated = set(declare.names(HeftBone, is_simulated=True))
    assert simulated - set(copy_settings.character_names(HeftBone, False)) == {"mass"}


def test_live_shots_follow_a_copy(pair):
    source, target = pair
    for rig in pair:
        rig.heft.enabled = True
    source.heft.controller = target.heft.controller = "FOLLOW"
    bpy.context.scene.frame_end = 10
    source.heft.range = "SCENE"
    target.heft.live = True
    target.heft.heaviness = 0.1
    mark = target.heft.fingerprint
    assert mark
    bpy.ops.heft.copy_to_armatures()
    assert target.heft.fingerprint != mark and target.heft.heaviness == pytest.approx(0.4)
