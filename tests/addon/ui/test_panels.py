"""Every panel draws in every state, in the order of the work, and says what the state asks for."""

from __future__ import annotations

import bpy
import pytest

import drawing
import heft.addon as addon
import rigs
from heft.addon.simulate import compile_engine
from heft.addon.ui import answers, panels
from heft.addon.ui.operators import presets

PANELS = [cls for cls in addon.CLASSES if issubclass(cls, bpy.types.Panel)]
PANELS = [cls for cls in PANELS if getattr(cls, "bl_category", "") == "Heft"]


def seen() -> drawing.Layout:
    return drawing.everything(PANELS)


def order(parent: str) -> list[str]:
    return [cls.bl_label for cls in PANELS if getattr(cls, "bl_parent_id", "") == parent]


def test_the_order_is_that_of_the_work():
    labels = order("HEFT_PT_main")
    work = ["Set Up", "Controller", "Bones", "Ground and Colliders", "Result"]
    assert [label for label in labels if label in work] == work
    assert PANELS[0].__name__ == "HEFT_PT_main"


def test_what_is_open_at_first_is_short():
    open_ = [cls.bl_label for cls in PANELS if "DEFAULT_CLOSED" not in getattr(cls, "bl_options", ())]
    assert set(open_) == {"Heft", "Collider", "Controller", "Result"}


def test_an_empty_scene_offers_a_character(empty):
    assert "heft.add_sample" in seen().texts("operator")
    bpy.ops.heft.add_sample()
    rig = bpy.context.object
    assert rig.type == "ARMATURE" and rig.select_get() and rig.animation_data.action is not None
    skin = next(ob for ob in bpy.context.scene.objects if ob.type == "MESH")
    assert skin.find_armature() == rig and skin.data.materials[0] is not None
    assert "heft.add" in seen().texts("operator") and "heft.add_sample" not in seen().texts("operator")
    bpy.ops.heft.add()
    assert any(words.startswith("heft.simulate") for words in seen().texts("operator"))
    bpy.context.scene.frame_end = 20
    bpy.ops.heft.load_preset(filepath=str(presets.FOLDER / "presets/heft/character/Heavy.py"))
    bpy.ops.heft.simulate()
    assert rig.heft_result is not None and not rig.heft.undisturbed and not rig.heft.message


def test_another_active_object_leads_to_the_armature(empty):
    rig = rigs.chain(3)
    cube = rigs.ball("Ball")
    bpy.context.view_layer.objects.active = cube
    assert f"heft.select_armature: Select '{rig.name}'" in seen().texts("operator")
    bpy.ops.heft.select_armature()
    assert bpy.context.object == rig


@pytest.mark.parametrize("controller", ["FOLLOW", "ON_TIME", "LIMP"])
@pytest.mark.parametrize("mode", ["OBJECT", "POSE"])
def test_each_controller_shows_just_its_own_sliders(rig, controller, mode):
    rig.heft.controller = controller
    bpy.ops.object.mode_set(mode=mode)
    rig.data.bones.active = rig.data.bones[1]
    sliders = drawing.draw(panels.controller.HEFT_PT_controller).texts("prop")
    own = {"FOLLOW": "settle_time", "ON_TIME": "key_type"}
    for kind, name in own.items():
        assert (name in sliders) == (kind == controller)
    drawn = seen()
    assert "heft_behaviour" in drawn.texts("prop"), "bones can be set in either mode"
    assert "bones" in drawn.texts("list")


def test_several_bones_are_edited_together(rig):
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = True
    rig.data.bones.active = rig.data.bones[0]
    assert "3 selected bones" in seen().said()


def test_a_result_and_what_becomes_of_it(rig):
    rigs.wave(rig, end=20)
    rig.heft.heaviness = 0.5
    bpy.ops.heft.simulate()
    assert {"mix"} <= set(seen().texts("prop")) and "heft.bake" in seen().texts("operator")
    rig.heft.heaviness = 0.6
    bpy.context.view_layer.update()
    assert "out of date" in seen().said().lower()
    bpy.ops.heft.simulate()
    bpy.ops.heft.bake()
    bpy.context.view_layer.update()
    assert "Baked" in seen().said()


def test_two_characters_and_their_colliders(rig):
    other = rigs.post(2, name="Other", at=(1.0, 0.0, 0.0))
    bpy.ops.heft.add()
    ball = rigs.ball("Ball", location=(0.4, 0.0, 0.5))
    for ob in (rig, ball):
        ob.select_set(True)
    bpy.ops.heft.add_colliders()
    drawn = seen()
    assert "heft.simulate: Simulate Both" in drawn.texts("operator") and "One shot with" in drawn.said()
    bpy.context.view_layer.objects.active = ball
    bpy.context.view_layer.update()
    assert "Meets" in seen().said() and "response" in seen().texts("prop")
    assert answers.shots_with(ball)
    bpy.data.objects.remove(other)
    bpy.context.view_layer.update()
    assert "Meets" not in seen().said()


def test_warnings_come_with_their_fix(rig):
    rig.heft.meters_per_unit = 0.001
    assert "heft.set_size" in seen().texts("operator")
    bpy.ops.heft.set_size()
    assert "heft.set_size" not in seen().texts("operator")
    rig.heft.root = "FREE"
    assert "heft.fit_ground: Add Ground" in seen().texts("operator")
    bpy.ops.heft.fit_ground()
    assert "heft.fit_ground: Add Ground" not in seen().texts("operator")
    rigs.wave(rig, end=40)
    bpy.context.scene.frame_end = 20
    assert "goes on to frame" in seen().said()
    rig.heft.range = "ACTION"
    assert "goes on to frame" not in seen().said()


def test_a_root_led_through_a_wall_is_told_and_can_be_assisted(rig):
    """The post glides through a wall: the frames and the wall are named, with the button that helps."""
    for frame, place in ((1, -2.0), (20, 2.0)):
        rig.location.x = place
        rig.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 24
    rigs.collide(rig, rigs.block("Wall", 0.6, (0.0, 0.0, 0.3)))
    bpy.context.view_layer.update()
    rig.heft.root = "ANIMATED"
    bpy.ops.heft.simulate()
    assert "through 'Wall' on frames" in rig.heft.message
    assert seen().texts("prop_enum") == ["root ASSISTED"]
    rig.heft.root = "ASSISTED"
    assert seen().texts("prop_enum") == []


def test_no_message_moves_the_first_buttons(rig, monkeypatch):
    """Simulate and Throw a Ball are where they were, whatever is told."""
    from heft.engine.compile.compile_time import BuildProgress

    monkeypatch.setattr(compile_engine._compiler, "value", compile_engine._State())
    calm = drawing.draw(panels.HEFT_PT_result).drawn[:3]
    assert [words for _, words in calm] == ["heft.simulate: Simulate", "live", "heft.throw"]
    rig.heft.meters_per_unit = 0.001
    rig.heft.root, rig.heft.flaws, rig.heft.message = "FREE", "Frame 3 jumps.", "Something else."
    monkeypatch.setattr(compile_engine, "is_running", lambda: True)
    monkeypatch.setattr(compile_engine.engine, "build_progress", lambda: BuildProgress(0.5, 20.0))
    drawn = drawing.draw(panels.HEFT_PT_result)
    assert drawn.drawn[:3] == calm
    assert "4 Messages" in drawn.said() and "heft.set_size" in drawn.texts("operator")
    assert drawing.draw(panels.HEFT_PT_main).texts("progress") == [], "it is told below Simulate"


def test_the_compilers_progress_is_shown_and_goes(empty, monkeypatch):
    from heft.engine.compile.compile_time import BuildProgress

    def told(done: float, left: float | None) -> list[str]:
        monkeypatch.setattr(compile_engine.engine, "build_progress", lambda: BuildProgress(done, left))
        return seen().texts("progress")

    monkeypatch.setattr(compile_engine, "is_running", lambda: True)
    monkeypatch.setattr(compile_engine._compiler, "value", compile_engine._State())
    assert told(0.01, None) == ["a minute or two"]
    assert told(0.25, 57.0) == ["25 %, about 60 s left"]
    assert told(0.25, 597.0) == ["25 %, about 10 minutes left"]
    assert told(0.24, 60.0) == ["25 %, about 65 s left"], "it never goes back"
    monkeypatch.setattr(compile_engine.engine, "build_progress", lambda: None)
    assert seen().texts("progress") == ["almost done"], "what is compiled is still to be read"
    monkeypatch.setattr(compile_engine, "is_running", lambda: False)
    assert seen().texts("progress") == []


def test_what_the_panel_knows_follows_the_rig(rig):
    scene = bpy.context.scene
    tall = answers.height_in_meters(rig, scene)
    assert tall == pytest.approx(1.5, rel=1e-3)
    rig.heft.meters_per_unit = 2.0
    assert answers.height_in_meters(rig, scene) == pytest.approx(2.0 * tall)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, tail in [(bone, 2.0 * bone.tail) for bone in rig.data.edit_bones]:
        bone.tail = tail  # the next one's head goes along
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    assert answers.height_in_meters(rig, scene) == pytest.approx(4.0 * tall, rel=1e-3)
    assert answers.parts(rig)["bone.001"].role != "HEAD"
    rig.pose.bones["bone.001"].heft.role = "HEAD"
    assert answers.parts(rig)["bone.001"].role == "HEAD"
