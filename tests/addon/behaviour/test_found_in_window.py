"""Small ways of the panel that a new user meets: whose physics it is, what is taken back, what is asked and offered."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

import drawing
import figure
import rigs
from heft.addon.bake import unbake
from heft.addon.simulate import frame_rate, session
from heft.addon.ui import panels
from heft.addon.ui.operators.base import active_rig
from heft.addon.ui.panels import presets

MOCAP = Path(__file__).resolve().parents[4] / "shared" / "data" / "mocap"


def skin(rig: bpy.types.Object, name: str = "Skin") -> bpy.types.Object:
    """A mesh that the armature deforms."""
    body = rigs.ball(name)
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
    return body


def activate(ob: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = ob
    bpy.context.view_layer.update()


# --- whose physics -----------------------------------------------------------------------------


def test_the_mesh_of_a_character_means_its_armature(empty):
    rig = rigs.post(3)
    body = skin(rig)
    activate(body)
    assert active_rig(bpy.context) == rig
    assert bpy.ops.heft.add() == {"FINISHED"} and rig.heft.enabled
    assert "heft.simulate: Simulate" in drawing.draw(panels.HEFT_PT_result).texts("operator")
    path = next(p for p in bpy.utils.preset_paths("heft/character") if (Path(p) / "Heavy.py").exists())
    assert bpy.ops.heft.load_preset(filepath=str(Path(path) / "Heavy.py")) == {"FINISHED"}
    assert rig.heft.heaviness > 0.0 and not body.is_property_set("heft")
    assert bpy.ops.heft.simulate() == {"FINISHED"} and rig.heft_result is not None


def test_what_a_bone_carries_or_what_is_met_is_itself(empty):
    rig = rigs.post(3)
    carried, met, beside = rigs.ball("Carried"), rigs.ball("Met"), rigs.ball("Beside")
    carried.parent, carried.parent_type, carried.parent_bone = rig, "BONE", "bone.001"
    met.parent = rig
    activate(rig)
    bpy.ops.heft.add()
    rigs.collide(rig, met)
    for ob in (carried, met, beside):
        activate(ob)
        assert active_rig(bpy.context) is None, ob.name


def test_asking_for_the_armature_of_a_mesh_leaves_no_trace(empty):
    rig = rigs.post(2)
    hat = rigs.ball("Hat")
    hat.parent = rig
    activate(hat)
    assert active_rig(bpy.context) == rig
    assert not rig.is_property_set("heft")


def test_physics_is_added_to_all_selected(empty):
    first, second, third = (rigs.post(2, name=f"Rig{k}", at=(k, 0.0, 0.0)) for k in range(3))
    body = skin(third)
    for ob in (first, second, body):
        ob.select_set(True)
    third.select_set(False)
    activate(second)
    assert bpy.ops.heft.add() == {"FINISHED"}
    assert [rig.heft.enabled for rig in (first, second, third)] == [True, True, True]


# --- falls and loops -------------------------------------------------------------------------------


def load(name: str) -> None:
    folder = next(Path(p) for p in bpy.utils.preset_paths("heft/character") if (Path(p) / f"{name}.py").exists())
    assert bpy.ops.heft.load_preset(filepath=str(folder / f"{name}.py")) == {"FINISHED"}


def test_rag_doll_brings_what_a_fall_needs(rig):
    load("Rag_Doll")
    assert rig.heft.ground and rig.heft.touch_self_limp
    assert rig.heft.ground_height == pytest.approx(session.lowest_point(rig, bpy.context.scene))


def test_rag_doll_leaves_what_the_animator_chose(rig):
    rig.heft.ground, rig.heft.touch_self_limp = False, False
    load("Rag_Doll")
    assert not rig.heft.ground and not rig.heft.touch_self_limp


def wave(rig: bpy.types.Object, end: int, back: bool) -> None:
    """A swing of one bone that ends as it began, or does not."""
    bone = rig.pose.bones[1]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (end // 3, 0.8), (2 * end // 3, -0.8), (end, 0.0 if back else 0.5)):
        bone.rotation_euler = (angle, 0.0, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    for curve in rigs.actions_of(rig).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


@pytest.mark.parametrize(("back", "heaviness", "told"), [(True, 0.8, True), (False, 0.8, False), (True, 0.0, False)])
def test_a_loop_is_suggested_where_the_result_would_jump(rig, back, heaviness, told):
    wave(rig, 30, back)
    bpy.context.scene.frame_end = 30
    rig.heft.heaviness, rig.heft.settle_time = heaviness, 0.6
    bpy.ops.heft.simulate()
    assert ("heft.loop" in drawing.draw(panels.HEFT_PT_result).texts("operator")) == told


def test_the_suggested_loop_comes_round(rig):
    """Also where the action ends before the scene: its frames are the cycle."""
    wave(rig, 30, True)
    bpy.context.scene.frame_end = 45
    rig.heft.heaviness, rig.heft.settle_time = 0.8, 0.6
    rig.heft.pushes.clear()
    bpy.ops.heft.simulate()
    assert bpy.ops.heft.loop() == {"FINISHED"}
    assert (rig.heft.loop, rig.heft.range) == ("RANGE", "ACTION")
    bpy.ops.heft.simulate()
    poses = rigs.poses(rig, (1, 30))
    assert rigs.deviation(poses[:1], poses[1:], 1.0)[1] < 0.5
    assert "heft.loop" not in drawing.draw(panels.HEFT_PT_result).texts("operator")


# --- recordings ------------------------------------------------------------------------------------


def test_all_of_the_action_is_simulated_and_played(rig):
    rigs.wave(rig, end=80)
    bpy.context.scene.frame_end = 20
    assert "heft.take_action" in drawing.draw(panels.HEFT_PT_result).texts("operator")
    bpy.ops.heft.take_action()
    last = int(rigs.actions_of(rig).fcurves[0].range()[1])
    assert (rig.heft.range, bpy.context.scene.frame_end) == ("ACTION", last) and last > 60
    assert "heft.take_action" not in drawing.draw(panels.HEFT_PT_result).texts("operator")
    bpy.context.scene.frame_end = 20
    bpy.ops.heft.take_action(scene_end=False)
    assert bpy.context.scene.frame_end == 20


# At its own rate, and at that of a new file; of a person and of no person.
@pytest.mark.parametrize("name", ["cmu_02_01", "cmu_90_16", "pybvh_test2", "20tab_freebvh", "makehuman_walk1"])
def test_the_rate_of_a_recording_is_asked_where_it_seems_slow(empty, name):
    path = MOCAP / f"{name}.bvh"
    if not path.exists():
        pytest.skip(f"no recording at {path}")
    bpy.ops.import_anim.bvh(filepath=str(path), update_scene_fps=True)
    own = frame_rate.of_scene(bpy.context.scene)
    bpy.ops.heft.add()
    assert not frame_rate.is_asked(bpy.context.object, bpy.context.scene), f"as it was taken, {own} a second"
    rigs.new_file()
    bpy.ops.import_anim.bvh(filepath=str(path))
    rig, scene = bpy.context.object, bpy.context.scene
    bpy.ops.heft.add()
    asked = name.startswith("cmu")  # the others are at about their own rate, or too short to tell
    assert frame_rate.is_asked(rig, scene) == asked
    if not asked:
        return
    assert "heft.set_frame_rate: 120" in drawing.draw(panels.HEFT_PT_result).texts("operator")
    keys = [tuple(point.co) for point in rigs.actions_of(rig).fcurves[0].keyframe_points]
    bpy.ops.heft.set_frame_rate(rate=own)
    assert frame_rate.of_scene(scene) == own and not frame_rate.is_asked(rig, scene)
    assert [tuple(point.co) for point in rigs.actions_of(rig).fcurves[0].keyframe_points] == keys


def test_the_rate_may_be_right(empty):
    rig = figure.rig(0.6)
    bpy.ops.heft.add()
    rig.heft.slow_at = frame_rate.of_scene(bpy.context.scene)
    assert frame_rate.is_asked(rig, bpy.context.scene)
    bpy.ops.heft.set_frame_rate(rate=24)
    assert not frame_rate.is_asked(rig, bpy.context.scene) and bpy.context.scene.render.fps == 24


# --- bake and back -----------------------------------------------------------------------------------


def test_back_to_the_source_after_bake(rig):
    rigs.wave(rig, end=40)
    source = rig.animation_data.action
    rig.heft.heaviness = 0.8
    bpy.ops.heft.simulate()
    before = rigs.poses(rig, (1, 20, 40))
    bpy.ops.heft.bake()
    baked = rig.animation_data.action
    assert "heft.back_to_source" in drawing.draw(panels.HEFT_PT_result).texts("operator")
    assert bpy.ops.heft.back_to_source() == {"FINISHED"}
    assert rig.animation_data.action == source and baked.use_fake_user and rig.heft.shown == "SOURCE"
    assert not unbake.can_go_back(rig)
    bpy.ops.heft.show(which="RESULT")
    assert rigs.deviation(before, rigs.poses(rig, (1, 20, 40)), 1.0)[1] < 1e-3, "the result is still there"


def test_back_also_for_what_was_thrown(empty):
    man = figure.rig(0.6)
    bpy.context.scene.frame_end = 48
    bpy.ops.heft.add()
    bpy.ops.heft.throw(frame=20)
    ball = bpy.data.objects["Ball"]
    thrown, source = ball.animation_data.action, man.animation_data
    bpy.ops.heft.bake()
    assert ball.animation_data.action != thrown
    bpy.ops.heft.back_to_source()
    assert ball.animation_data.action == thrown
    assert (man.animation_data.action if man.animation_data else None) == (source.action if source else None)


def test_bake_knows_where_keys_would_not_show(rig):
    from heft.addon.bake import bake_result

    rigs.wave(rig, end=20)
    rig.heft.heaviness = 0.5
    bpy.ops.heft.simulate()
    assert not bake_result.is_hidden(rig)
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    follow = rig.pose.bones[1].constraints.new("COPY_ROTATION")
    follow.target = target
    bpy.ops.heft.simulate()
    assert bake_result.is_hidden(rig)


# --- the sample, presets, ghosts ---------------------------------------------------------------------


def test_the_sample_stands_beside_what_is_there(empty):
    bpy.ops.mesh.primitive_cube_add(size=2.0)
    cube = bpy.context.object
    bpy.ops.heft.add_sample()
    walker = bpy.context.object
    assert walker.type == "ARMATURE" and walker.location.x == pytest.approx(1.7)
    hips = walker.matrix_world @ walker.pose.bones["hips"].head
    assert hips.xy.to_tuple() == pytest.approx((1.7, 0.0), abs=0.1), (
        "in the pose of this frame, before any other is seen"
    )
    for frame in (1, 100, 250):
        bpy.context.scene.frame_set(frame)
        heads = np.array([walker.matrix_world @ bone.head for bone in walker.pose.bones])
        assert (np.abs(heads) > 1.0).any(axis=1).all(), f"inside '{cube.name}' on frame {frame}"
    bpy.ops.heft.add_sample()
    assert abs(bpy.context.object.location.x - walker.location.x) > 0.7


def test_the_sample_stands_at_the_cursor_where_nothing_is(empty):
    bpy.context.scene.cursor.location = (3.0, 2.0, 0.0)
    bpy.ops.mesh.primitive_plane_add(size=40.0)
    bpy.ops.heft.add_sample()
    assert tuple(bpy.context.object.location) == pytest.approx((3.0, 2.0, 0.0)), "a floor is stood on"


def test_presets_are_a_menu(rig):
    """A menu closes with the click; a pop-over stays under the next."""
    drawn = drawing.draw(panels.controller.HEFT_PT_controller)
    assert drawn.texts("menu") == ["HEFT_MT_presets"] and not drawn.texts("popover")
    assert issubclass(presets.HEFT_MT_bone_presets, bpy.types.Menu)


def test_the_ghost_is_on_with_the_first_result(rig):
    rig.heft.heaviness = 0.5
    bpy.ops.heft.simulate()
    assert rig.heft.show_overlays and rig.heft.show_ghost
    rig.heft.show_ghost = False
    bpy.ops.heft.simulate()
    assert not rig.heft.show_ghost


@pytest.mark.parametrize(
    ("hidden", "chosen", "opens"), [(True, "", "CONTROLS"), (False, "", "ACTION"), (True, "NLA", "NLA")]
)
def test_bake_opens_on_controls_where_keys_would_not_show(rig, monkeypatch, hidden, chosen, opens):
    from heft.addon.ui.operators import bake

    monkeypatch.setattr(bake.bake_result, "is_hidden", lambda _rig: hidden)
    dialog = SimpleNamespace(
        properties=SimpleNamespace(is_property_set=lambda name: bool(chosen)),
        target=chosen or "ACTION", mute_constraints=False, use_range=True,
    )  # fmt: skip
    manager = SimpleNamespace(invoke_props_dialog=lambda _operator: {"RUNNING_MODAL"})
    context = SimpleNamespace(object=rig, window_manager=manager)
    assert bake.HEFT_OT_bake.invoke(dialog, context, None) == {"RUNNING_MODAL"}
    assert dialog.target == opens


def test_words(rig, capfd):
    from heft.addon.ui.panels import plot_curves

    rig.heft.curve_names = ""
    assert plot_curves._named(rig.heft) == "Plots All Bones: Take the Selected"
    rig.heft.curve_names = '["bone.000", "bone.001"]'
    assert plot_curves._named(rig.heft) == "Plots 2 Bones: Take the Selected"
    assert rig.heft.bl_rna.properties["shape"].name == "Ease In"
    other = rigs.post(3, name="Other", at=(1.0, 0.0, 0.0))
    for ob in (rig, other):
        ob.select_set(True)
    activate(rig)
    bpy.ops.heft.copy_to_armatures()
    assert "'Other' has the settings of 'Rig'" in capfd.readouterr().out
