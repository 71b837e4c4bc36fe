"""What the commands refuse, and how they say it."""

from __future__ import annotations

import bpy
import pytest

import rigs
from heft.addon import operators, properties


def test_commands_need_an_armature(empty):
    assert not bpy.ops.heft.add.poll()
    mesh = bpy.data.objects.new("mesh", bpy.data.meshes.new("mesh"))
    bpy.context.scene.collection.objects.link(mesh)
    bpy.context.view_layer.objects.active = mesh
    assert not bpy.ops.heft.add.poll()


def test_simulate_needs_physics(empty):
    rigs.chain(2)
    assert bpy.ops.heft.add.poll() and not bpy.ops.heft.simulate.poll()
    bpy.ops.heft.add()
    assert bpy.ops.heft.simulate.poll()


def test_edit_mode_and_empty_armatures_are_refused(empty):
    rigs.chain(2)
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Edit Mode"):
        bpy.ops.heft.add()
    bpy.ops.object.mode_set(mode="OBJECT")
    empty_rig = bpy.data.objects.new("Empty", bpy.data.armatures.new("Empty"))
    bpy.context.scene.collection.objects.link(empty_rig)
    bpy.context.view_layer.objects.active = empty_rig
    bpy.ops.heft.add()
    with pytest.raises(RuntimeError, match="has no bones"):
        bpy.ops.heft.simulate()


def test_only_hefts_errors_become_reports(empty, monkeypatch):
    rigs.chain(2)
    bpy.ops.heft.add()

    def broken(*_args):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(operators.session, "simulate", broken)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        bpy.ops.heft.simulate()


def test_bones_that_do_not_deform_ride_along(empty):
    rig = rigs.chain(4)
    rig.data.bones[0].use_deform = False
    bpy.ops.heft.add()
    assert [bone.heft.behaviour for bone in rig.pose.bones] == ["IGNORED"] + ["SIMULATED"] * 3


def test_linked_rigs_are_refused_and_overrides_work(empty, tmp_path):
    rigs.wave(rigs.chain(4))
    bpy.context.object.users_collection[0].objects.unlink(bpy.context.object)
    holder = bpy.data.collections.new("Character")
    holder.objects.link(bpy.data.objects["Rig"])
    bpy.context.scene.collection.children.link(holder)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    rigs.new_file()
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.collections = ["Character"]
    scene = bpy.context.scene
    linked = here.collections[0]
    scene.collection.children.link(linked)
    bpy.context.view_layer.objects.active = linked.objects["Rig"]
    with pytest.raises(RuntimeError, match="Library Override"):
        bpy.ops.heft.add()
    override = linked.override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    rig = override.objects["Rig"]
    bpy.context.view_layer.objects.active = rig
    scene.frame_end = 40
    source = rigs.poses(rig, rigs.scene_frames())
    bpy.ops.heft.add()
    rig.heft.settle_time = 0.33
    bpy.ops.heft.simulate()
    offset, angle = rigs.deviation(source, rigs.poses(rig, rigs.scene_frames()), rigs.height(rig))
    assert offset < 1e-4 and angle < 0.02
    shot = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=shot)
    rig = next(ob for ob in bpy.data.objects if ob.override_library and ob.type == "ARMATURE")
    assert rig.heft.enabled and rig.heft.settle_time == pytest.approx(0.33)
    assert rig.heft_result is not None and rig.heft.shown == "RESULT"
    offset, angle = rigs.deviation(source, rigs.poses(rig, rigs.scene_frames()), rigs.height(rig))
    assert offset < 1e-4 and angle < 0.02


def test_every_setting_has_a_tooltip_and_can_be_overridden():
    for cls in properties.CLASSES:
        for prop in cls.bl_rna.properties:
            if prop.identifier in {"rna_type", "name"}:
                continue
            assert prop.is_overridable, prop.identifier
            assert prop.is_hidden or prop.description, prop.identifier
    assert "tiffness" in properties.HeftArmature.bl_rna.properties["settle_time"].description
