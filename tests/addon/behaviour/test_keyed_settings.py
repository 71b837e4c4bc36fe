"""Every setting that can be keyed takes a key by the path that the panel uses, and acts from that frame on.

The settings are taken from the registered types, their worlds from `test_every_setting`.
"""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
from behaviour import test_every_setting as every
from heft.addon import declare, settings
from heft.addon.blender import setting_paths
from heft.addon.read import read_controller

KEYED_ON = 10
# These act when something begins: a blow on frame 6, the way to the key after frame 9.
EARLIER = {"recovery_time": 4, "arrival": 4}
KEYABLE = [(owner, name) for owner, kind in every.OWNERS.items() for name in declare.names(kind, keyable=True)]


def key(rig: bpy.types.Object, owner: str, name: str, value, frame: int) -> None:
    """As a click on the field's key does it: of a bone, by the pose bone's own property."""
    if owner == "bone":
        bone = next(bone for bone in rig.pose.bones if bone.heft == every.holder_of(rig, "bone"))
        setattr(bone, f"heft_{name}", value)
        assert bone.path_from_id(f"heft_{name}").startswith("pose.bones[")
        bone.keyframe_insert(f"heft_{name}", frame=frame)
        return
    holder = every.holder_of(rig, owner)
    setattr(holder, name, value)
    rig.keyframe_insert(holder.path_from_id(name), frame=frame)


def poses_of(case: every.Case, owner: str, name: str, values: dict) -> np.ndarray:
    """(frames, bones, 4, 4) what is shown where the setting is keyed to these values by frame."""
    rigs.new_file()
    rig = case.world()
    for path, given in case.settings.items():
        setattr(every.holder_of(rig, path.partition(".")[0]), path.partition(".")[2], given)
    for frame, value in values.items():
        key(rig, owner, name, value, frame)
    for curve in rigs.actions_of(rig).fcurves:
        if setting_paths.is_setting(curve.data_path):
            for point in curve.keyframe_points:
                point.interpolation = "CONSTANT"
    bpy.ops.heft.simulate()
    found = []
    for frame in every.FRAMES:
        bpy.context.scene.frame_set(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(seen.matrix_world @ bone.matrix) for bone in seen.pose.bones])
    return np.array(found)


@pytest.mark.parametrize(("owner", "name"), KEYABLE, ids=[f"{owner}-{name}" for owner, name in KEYABLE])
def test_a_key_acts_from_its_frame_on(empty, owner, name):
    case = every.CASES[owner][name]
    frame = EARLIER.get(name, KEYED_ON)
    plain = poses_of(case, owner, name, {1: case.before})
    keyed = poses_of(case, owner, name, {1: case.before, frame: case.after})
    turned = np.degrees(rigs.angles(plain[..., :3, :3], keyed[..., :3, :3])).max(axis=1)
    shift = 1000.0 * np.linalg.norm(plain[..., :3, 3] - keyed[..., :3, 3], axis=-1).max(axis=1)
    before = frame - 1
    assert turned[:before].max() < 0.01 and shift[:before].max() < 0.1, "before the key it is as ever"
    assert turned[before:].max() > every.DEGREES or shift[before:].max() > every.MILLIMETRES


def test_nothing_else_offers_a_key(empty):
    """A key that is ignored is worse than none: what can be keyed has a case here."""
    for owner, kind in every.OWNERS.items():
        offered = {prop.identifier for prop in kind.bl_rna.properties if getattr(prop, "is_animatable", False)}
        assert offered - {"name"} == {name for whose, name in KEYABLE if whose == owner}
    for kind in settings.CLASSES:
        if kind not in every.OWNERS.values():
            assert not any(getattr(prop, "is_animatable", False) for prop in kind.bl_rna.properties), kind
    fields = {f"heft_{name}" for owner, name in KEYABLE if owner == "bone"}
    assert fields <= set(bpy.types.PoseBone.bl_rna.properties.keys())


def test_a_bones_field_is_the_groups_value(empty):
    rig = every.swing()
    bone = rig.pose.bones[1]
    bone.heft.behaviour, bone.heft.settle_scale = "LIMP", 3.0
    assert (bone.heft_behaviour, bone.heft_settle_scale) == ("LIMP", 3.0)
    bone.heft_behaviour, bone.heft_settle_scale = "ANIMATED", 5000.0
    assert (bone.heft.behaviour, bone.heft.settle_scale) == ("ANIMATED", 1000.0)
    assert "heft_behaviour" not in bone and "heft_settle_scale" not in bone


def test_both_paths_of_a_bones_setting_are_one(empty):
    rig = every.swing()
    rig.keyframe_insert('pose.bones["bone.001"].heft.settle_scale', frame=1)
    rig.pose.bones["bone.002"].keyframe_insert("heft_settle_scale", frame=1)
    paths = {f'pose.bones["bone.00{i}"].heft.settle_scale' for i in (1, 2)}
    assert set(read_controller.keyed_settings(rig)) == paths


def test_a_driver_on_a_bones_mix_is_shown(empty):
    """A driver, like a key, is put onto the field in the panel."""
    rig = every.swing()
    bpy.ops.heft.simulate()
    bone = rig.pose.bones["bone.001"]
    driver = bone.driver_add("heft_mix").driver
    driver.expression = "0.25"
    bpy.context.view_layer.update()
    seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["bone.001"]
    assert seen.heft.mix == pytest.approx(0.25, abs=1e-6)


def test_reading_a_bones_field_leaves_no_trace(empty):
    rig = rigs.post(2)
    bone = rig.pose.bones[0]
    assert (bone.heft_behaviour, bone.heft_mix) == ("SIMULATED", 1.0)
    bone.heft_mix = 1.0
    assert not bone.is_property_set("heft")


def test_all_selected_bones_are_keyed_at_once(empty):
    rig = every.swing()
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name != "bone.000"
    rig.data.bones.active = rig.data.bones["bone.002"]
    rig.pose.bones["bone.001"].heft.behaviour = "LIMP"
    bpy.context.scene.frame_set(7)
    assert bpy.ops.heft.key_selected(setting="behaviour") == {"FINISHED"}
    keyed = read_controller.keyed_settings(rig)
    values = {path.split('"')[1]: curve.keyframe_points[0].co[:] for path, curve in keyed.items()}
    assert values == {"bone.001": (7.0, 2.0), "bone.002": (7.0, 1.0)}
