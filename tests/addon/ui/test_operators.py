"""What the commands refuse, and how they say it."""

from __future__ import annotations

import bpy
import pytest

import rigs
from heft.addon import settings
from heft.addon.result import plot_curves, takes_side_by_side
from heft.addon.simulate import session
from heft.addon.ui.operators import simulate


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

    monkeypatch.setattr(simulate.session, "simulate", broken)
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


def link(path: str) -> bpy.types.Collection:
    """The character of another file, linked into a new one."""
    rigs.new_file()
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.collections = ["Character"]
    scene = bpy.context.scene
    scene.frame_end = 40
    scene.collection.children.link(here.collections[0])
    return here.collections[0]


def override(linked: bpy.types.Collection) -> bpy.types.Object:
    """A rig of one's own from the linked one."""
    made = linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    return next(ob for ob in made.objects if ob.type == "ARMATURE")


@pytest.fixture
def library(empty, tmp_path) -> str:
    """A file with a character that has physics and a result already."""
    rig = rigs.chain(4)
    rigs.wave(rig)
    bpy.ops.heft.add()
    rig.heft.heaviness = 0.3
    bpy.ops.heft.simulate()
    holder = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(holder)
    holder.objects.link(rig)
    bpy.context.scene.collection.objects.unlink(rig)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path


def test_overrides_of_a_rig_with_a_result_have_results_of_their_own(library, tmp_path):
    """Not the library's: what is written into its action is not saved, and they would all show it."""
    linked, found = link(library), {}
    for settle in (0.05, 0.7):
        rig = override(linked)
        bpy.context.view_layer.objects.active = rig
        rig.heft.settle_time = settle
        bpy.ops.heft.simulate()
        found[rig.name] = rigs.poses(rig, rigs.FRAMES)
    for saved in (False, True):
        if saved:
            bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
            bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
        for name, poses in found.items():
            rig = bpy.data.objects[name, None]
            assert (rigs.poses(rig, rigs.FRAMES) == poses).all()
            assert session.is_current(rig, bpy.context.scene)


def test_linked_overrides_are_refused(library, tmp_path):
    """The rig of an animated shot that is linked in turn cannot be edited either."""
    rig = override(link(library))
    holder = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(holder)
    holder.objects.link(rig)
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    rig = next(ob for ob in link(path).objects if ob.type == "ARMATURE")
    assert rig.library is not None and rig.override_library is not None
    bpy.context.view_layer.objects.active = rig
    with pytest.raises(RuntimeError, match="Library Override"):
        bpy.ops.heft.simulate()


def test_what_is_made_beside_an_override_goes_where_it_can(library):
    """Nothing can be put into the collection that was overridden with it."""
    rig = override(link(library))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.simulate()
    bpy.ops.heft.keep_take(name="A")
    rig.heft.takes["A"].beside = rig.heft.use_curves = True
    for made in (plot_curves.holder_of(rig), *takes_side_by_side.shown_of(rig).values()):
        assert made.users_collection == (bpy.context.scene.collection,)
    assert len(takes_side_by_side.shown_of(rig)) == 1


def test_colliders_of_a_library_are_left_alone(library):
    rig = override(link(library))
    bpy.context.view_layer.objects.active = rig
    rig.heft.colliders = rig.users_collection[0]
    assert rig.heft.colliders.override_library is not None
    rigs.ball().select_set(True)
    with pytest.raises(RuntimeError, match="linked and cannot be edited"):
        bpy.ops.heft.add_colliders()
    with pytest.raises(RuntimeError, match="linked and cannot be edited"):
        bpy.ops.heft.remove_collider(name=rig.name)


def test_the_sample_goes_where_it_can(library):
    link(library)
    layer = bpy.context.view_layer
    layer.active_layer_collection = layer.layer_collection.children["Character"]
    bpy.ops.heft.add_sample()
    assert bpy.context.object.name == "Walker" and bpy.context.object.name in bpy.context.scene.collection.objects


def test_every_setting_has_a_tooltip_and_can_be_overridden():
    for cls in settings.CLASSES:
        for prop in cls.bl_rna.properties:
            if prop.identifier in {"rna_type", "name"}:
                continue
            assert prop.is_overridable, prop.identifier
            assert prop.is_hidden or prop.description, prop.identifier
    assert "tiffness" in settings.HeftArmature.bl_rna.properties["settle_time"].description
