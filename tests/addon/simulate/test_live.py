"""Live, the cache and the fingerprint."""

from __future__ import annotations

import bpy
import pytest

import rigs
from heft.addon import events
from heft.addon.blender import actions, sample_poses
from heft.addon.simulate import live, session


@pytest.fixture
def rig(empty):
    rig = rigs.chain(5)
    rigs.wave(rig)
    bpy.ops.heft.add()
    rig.heft.total_mass = 2.0
    rig.heft.heaviness = 0.2
    return rig


def value(rig) -> float:
    curve = actions.active_bag(rig.heft_result).fcurves.find('pose.bones["bone.003"].rotation_quaternion', index=1)
    return curve.keyframe_points[20].co[1]


def test_a_changed_setting_writes_keys_inside_the_callback(rig):
    rig.heft.live = True
    first = value(rig)
    rig.heft.settle_time = 0.4
    second = value(rig)
    assert first != second
    rig.pose.bones[3].heft.settle_scale = 3.0
    assert value(rig) != second
    rig.pose.bones[3].heft.settle_scale = 1.0
    rig.heft.settle_time = 0.2
    assert value(rig) == pytest.approx(first, abs=1e-6)
    assert session.is_current(rig, bpy.context.scene)


def test_dragging_does_not_sample_again_but_edited_keys_do(rig, monkeypatch):
    count = []
    original = sample_poses.sample
    monkeypatch.setattr(sample_poses, "sample", lambda *args: count.append(1) or original(*args))
    rig.heft.live = True
    assert len(count) == 1
    for i in range(5):
        rig.heft.settle_time = 0.1 + 0.05 * i
        rig.heft.total_mass = 3.0 + i
    assert len(count) == 1
    curve = next(iter(actions.active_curves(rig)))
    curve.keyframe_points[2].co[1] += 0.1
    rig.heft.settle_time = 0.6
    assert len(count) == 2


def test_out_of_date_after_any_change_that_matters(rig):
    scene = bpy.context.scene
    bpy.ops.heft.simulate()
    assert session.is_current(rig, scene)
    scene.frame_set(13)
    assert session.is_current(rig, scene), "the frame alone changes nothing"
    rig.heft.mix = 0.5
    assert session.is_current(rig, scene), "mix is shown, not simulated"
    for change in (
        lambda: setattr(rig.heft, "damping_ratio", 0.7),
        lambda: setattr(rig.pose.bones[2].heft, "behaviour", "LIMP"),
        lambda: setattr(scene.render, "fps", 60),
        lambda: setattr(scene, "frame_end", 30),
        lambda: setattr(rig, "scale", (2.0, 2.0, 2.0)),
        lambda: setattr(actions.active_bag(rig).fcurves[1].keyframe_points[0], "handle_right", (2.0, 0.5)),
    ):
        bpy.ops.heft.simulate()
        assert session.is_current(rig, scene)
        change()
        assert not session.is_current(rig, scene)


def test_edited_keys_are_followed_while_live(rig):
    """What the timer of a window calls after an edit."""
    rig.heft.live = True
    before = value(rig)
    curve = actions.active_bag(rig).fcurves.find('pose.bones["bone.003"].rotation_quaternion', index=1)
    curve.keyframe_points[5].co[1] += 0.3
    with events.paused():
        live.follow_source()
    assert value(rig) == before
    live.follow_source()
    assert abs(value(rig) - before) > 0.01
    assert session.is_current(rig, bpy.context.scene)


def test_errors_in_live_are_shown_not_raised(rig):
    rig.heft.live = True
    for bone in rig.pose.bones:
        bone.heft.behaviour = "IGNORED"
    assert "Ignored" in rig.heft.message
    rig.pose.bones[0].heft.behaviour = "SIMULATED"
    assert not rig.heft.message


def test_keyed_settings_change_over_time(rig):
    bpy.ops.heft.simulate()
    steady = rigs.poses(rig, range(1, 41))
    for frame, weight in ((1, 0.0), (20, 0.0), (21, 0.2)):
        rig.heft.heaviness = weight
        rig.keyframe_insert("heft.heaviness", frame=frame)
    bpy.ops.heft.simulate()
    bpy.ops.heft.show(which="SOURCE")
    source = rigs.poses(rig, range(1, 41))
    bpy.ops.heft.show(which="RESULT")
    keyed = rigs.poses(rig, range(1, 41))
    tall = rigs.height(rig)
    assert rigs.deviation(source[:19], keyed[:19], tall)[1] < 0.02
    assert rigs.deviation(source[19:], keyed[19:], tall)[1] > 0.5
    assert rigs.deviation(steady[:19], keyed[:19], tall)[1] > 0.5


def test_keyed_behaviour(rig):
    bone = rig.pose.bones[2]
    path = f"{bone.path_from_id()}.heft.behaviour"
    for frame, what in ((1, "ANIMATED"), (15, "LIMP")):
        bone.heft.behaviour = what
        rig.keyframe_insert(path, frame=frame)
    rig.heft.heaviness = 0.0
    bpy.ops.heft.simulate()
    bpy.ops.heft.show(which="SOURCE")
    source = rigs.poses(rig, range(1, 41))
    bpy.ops.heft.show(which="RESULT")
    keyed = rigs.poses(rig, range(1, 41))
    assert rigs.deviation(source[:14], keyed[:14], rigs.height(rig))[1] < 0.02
    assert rigs.deviation(source[25:], keyed[25:], rigs.height(rig))[1] > 1.0


def test_hand_edits_are_kept_as_a_take_while_live(rig):
    rig.heft.live = True
    names = {action.name for action in bpy.data.actions}
    rig.heft.settle_time = 0.25
    rig.heft.settle_time = 0.3
    assert {action.name for action in bpy.data.actions} == names, "a drag alone makes no takes"
    curve = next(iter(actions.active_curves(rig.heft_result)))
    curve.keyframe_points[3].co[1] += 0.25
    rig.heft.settle_time = 0.35
    assert [action.name for action in bpy.data.actions if action.name not in names] == [rig.heft.takes[0].action.name]


@pytest.mark.parametrize("what", ["actions", "objects"])
def test_a_result_that_was_deleted_is_written_whole_again(empty, what):
    """Live writes only what moves; of an action that is gone nothing is there."""
    rig = rigs.chain(4, connected=False)
    rigs.wave(rig)
    for k, bone in enumerate(rig.pose.bones):
        bone.location, bone.scale = (0.0, 0.1 * k, 0.0), (1.0, 1.2, 1.0)
    bpy.ops.heft.add()
    rig.heft.heaviness = 0.2
    bpy.ops.heft.simulate()
    rig.heft.live = True
    rig.heft.settle_time = 0.4
    gone = {"actions": lambda: rig.heft_result.animation_data.action, "objects": lambda: rig.heft_result}[what]()
    getattr(bpy.data, what).remove(gone)
    assert rig.heft_result is None or not session.is_current(rig, bpy.context.scene)
    rig.heft.settle_time = 0.5
    found = rigs.poses(rig, (5, 25))
    bpy.ops.heft.simulate()
    assert rigs.deviation(found, rigs.poses(rig, (5, 25)), 1.0) == (0.0, 0.0)


def test_a_warning_does_not_stop_following(rig):
    rig.heft.live = True
    rig.heft.message = "a warning of the engine's"
    actions.active_bag(rig).fcurves[1].keyframe_points[0].co[1] += 0.3
    live.follow_source()
    assert session.is_current(rig, bpy.context.scene)


def test_a_source_that_cannot_be_simulated_is_tried_once(rig, monkeypatch):
    rig.heft.live = True
    actions.active_bag(rig).fcurves.find('pose.bones["bone.003"].rotation_quaternion', index=1).keyframe_points[5].co[
        1
    ] = float("nan")
    tries = []
    refresh = live.refresh
    monkeypatch.setattr(live, "refresh", lambda rig: tries.append(1) or refresh(rig))
    live.follow_source()
    live.follow_source()
    assert len(tries) == 1 and "bone.00" in rig.heft.message


def test_an_undisturbed_motion_is_called_so(rig):
    bpy.ops.heft.simulate()
    assert not rig.heft.undisturbed
    rig.heft.heaviness = 0.0
    bpy.ops.heft.simulate()
    assert rig.heft.undisturbed
    rig.pose.bones[4].heft.behaviour = "LIMP"
    bpy.ops.heft.simulate()
    assert not rig.heft.undisturbed


def test_out_of_date_after_changes_of_drivers_constraints_and_strips(rig):
    scene = bpy.context.scene
    copy = rig.pose.bones[2].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget, copy.influence = rig, "bone.000", 0.5
    driver = rig.driver_add('pose.bones["bone.004"].scale', 0).driver
    driver.expression = "1 + 0.001 * frame"
    noise = actions.active_bag(rig).fcurves[0].modifiers.new("NOISE")
    track = rig.animation_data.nla_tracks.new()
    strip = track.strips.new("below", 1, rig.animation_data.action)
    for change in (
        lambda: setattr(copy, "subtarget", "bone.001"),
        lambda: setattr(copy, "invert_x", True),
        lambda: setattr(copy, "mute", True),
        lambda: setattr(driver, "expression", "1 + 0.002 * frame"),
        lambda: setattr(noise, "strength", 0.3),
        lambda: setattr(actions.active_bag(rig).fcurves[0], "extrapolation", "LINEAR"),
        lambda: setattr(strip, "blend_in", 5.0),
        lambda: setattr(rig.data.bones[3], "use_inherit_rotation", False),
    ):
        check_old_after(change, rig, scene)


def check_old_after(change, rig, scene) -> None:
    """A new result stays current on every frame, until this is changed."""
    bpy.ops.heft.simulate()
    assert session.is_current(rig, scene)
    for frame in (33, 8):
        scene.frame_set(frame)
        assert session.is_current(rig, scene), "the frame alone changes nothing"
    change()
    assert not session.is_current(rig, scene)


def nla_editor() -> bpy.types.Area:
    area = bpy.context.window.screen.areas[0]
    area.type = "NLA_EDITOR"
    return area


def test_out_of_date_after_changes_of_switches_groups_easing_and_nested_strips(rig):
    scene = bpy.context.scene
    rig["switch"], rig.data["reach"] = 0.5, 1
    driver = rig.driver_add('pose.bones["bone.004"].scale', 0).driver
    driver.expression = "1 + 0.01 * a + 0.01 * b"
    for name, block, path in (("a", rig, '["switch"]'), ("b", rig.data, '["reach"]')):
        variable = driver.variables.new()
        variable.name = name
        variable.targets[0].id_type = block.id_type
        variable.targets[0].id, variable.targets[0].data_path = block, path
    copy = rig.pose.bones[2].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = rig, "bone.000"
    copy.keyframe_insert("influence", frame=1)
    copy.influence = 0.2
    copy.keyframe_insert("influence", frame=30)
    held = rig.pose.bones[3].constraints.new("ARMATURE")
    held.influence, weighted = 0.1, held.targets.new()
    weighted.target, weighted.subtarget, weighted.weight = rig, "bone.000", 0.5
    bag = actions.active_bag(rig)
    curve, group = bag.fcurves[0], bag.groups.new("some")
    curve.group = group
    curve.keyframe_points[2].interpolation = "ELASTIC"
    noise = curve.modifiers.new("NOISE")
    track = rig.animation_data.nla_tracks.new()
    other = rig.animation_data.action.copy()
    track.strips.new("inner", 1, other).select = True
    with bpy.context.temp_override(area=nla_editor()):
        bpy.ops.nla.meta_add()
    assert [strip.type for strip in track.strips] == ["META"]
    for change in (
        lambda: rig.__setitem__("switch", 0.9),
        lambda: rig.data.__setitem__("reach", 2),
        lambda: setattr(copy, "subtarget", "bone.001"),
        lambda: setattr(weighted, "weight", 0.7),
        lambda: setattr(curve.keyframe_points[2], "easing", "EASE_IN"),
        lambda: setattr(noise, "mute", True),
        lambda: setattr(group, "mute", True),
        lambda: setattr(actions.bags(other)[0].fcurves[0].keyframe_points[0], "co", (1.0, 0.4)),
    ):
        check_old_after(change, rig, scene)


@pytest.mark.parametrize("kind", ["POLY", "BEZIER"])
def test_out_of_date_after_changes_of_the_curve_that_a_chain_follows(rig, kind):
    scene, data = bpy.context.scene, bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new(kind)
    points = spline.bezier_points if kind == "BEZIER" else spline.points
    points.add(3)
    for k, point in enumerate(points):
        point.co = (0.0, 0.3 * k, 0.05 * k * k, 1.0)[: len(point.co)]
    way, handle = bpy.data.objects.new("Way", data), bpy.data.objects.new("Handle", None)
    for ob in (way, handle):
        scene.collection.objects.link(ob)
    hook = way.modifiers.new("Hook", "HOOK")
    hook.object = handle
    hook.vertex_indices_set([3])
    follows = rig.pose.bones[4].constraints.new("SPLINE_IK")
    follows.target, follows.chain_count = way, 3
    for change in (lambda: setattr(points[2], "tilt", 0.5), lambda: setattr(handle, "location", (0.0, 0.1, 0.3))):
        bpy.ops.heft.simulate()
        scene.frame_set(17)
        assert session.is_current(rig, scene)
        change()
        assert not session.is_current(rig, scene)


def test_a_keyed_switch_counts_by_its_keys(rig):
    """Its value is another on every frame."""
    for frame, value in ((1, 0.0), (30, 1.0)):
        rig["switch"] = value
        rig.keyframe_insert('["switch"]', frame=frame)
    driver = rig.driver_add('pose.bones["bone.004"].scale', 0).driver
    driver.expression = "1 + 0.1 * a"
    variable = driver.variables.new()
    variable.name, variable.targets[0].id, variable.targets[0].data_path = "a", rig, '["switch"]'
    bpy.ops.heft.simulate()
    for frame in (3, 25):
        bpy.context.scene.frame_set(frame)
        assert session.is_current(rig, bpy.context.scene)


def test_ik_muted_on_some_frames_leaves_the_result_current(rig):
    """Heft's own drivers, that mute IK within a range shorter than the scene's, are no part of the source."""
    target = rigs.block("Target", 0.1, (0.3, 0.5, 0.5))
    ik = rig.pose.bones[3].constraints.new("IK")
    ik.target, ik.chain_count = target, 2
    rig.heft.range, rig.heft.frame_start, rig.heft.frame_end = "CUSTOM", 5, 30
    bpy.ops.heft.simulate()
    assert rig.animation_data.drivers.find(f"{ik.path_from_id()}.mute") is not None
    assert session.is_current(rig, bpy.context.scene)
    for which in ("SOURCE", "RESULT"):
        bpy.ops.heft.show(which=which)
        assert session.is_current(rig, bpy.context.scene)
    ik.chain_count = 3
    assert not session.is_current(rig, bpy.context.scene)


@pytest.mark.parametrize("target", ["ACTION", "NLA"])
def test_baking_ends_live_so_that_weight_is_given_once(rig, target):
    rig.heft.live = True
    bpy.ops.heft.bake(target=target)
    baked = rigs.poses(rig, (10, 30))
    assert not rig.heft.live and rig.heft.shown == "SOURCE"
    live.follow_source()
    assert rigs.deviation(baked, rigs.poses(rig, (10, 30)), 1.0) == (0.0, 0.0)


def test_live_keeps_to_the_scene_of_the_rig(rig):
    """Another scene, with another range, is worked in: nothing of it concerns the rig."""
    bpy.ops.heft.simulate()
    rig.heft.live = True
    known = rig.heft.fingerprint, rig.heft.result_end
    other = bpy.data.scenes.new("Other")
    other.frame_end = 90
    # Not by the window: Blender 4.2 without a screen may crash as its window changes scenes.
    with bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]):
        live.follow_source()
        assert (rig.heft.fingerprint, rig.heft.result_end) == known
        rig.heft.settle_time = 0.5
        assert rig.heft.fingerprint != known[0] and rig.heft.result_end == known[1]
        other.collection.objects.link(rig)
        live.follow_source()
        assert rig.heft.result_end == 90, "worked in there, it is played there"


def test_live_stands_back_from_another_action(rig):
    rig.heft.live = True
    actions.assign(rig, actions.new_action("other", rig))
    written = rig.heft.fingerprint
    live.follow_source()
    assert rig.heft.fingerprint == written


def test_a_change_waits_for_the_compiler(rig, monkeypatch):
    from heft.addon.simulate import compile_engine

    rig.heft.heaviness = 0.5
    monkeypatch.setattr(compile_engine, "is_running", lambda: True)
    rig.heft.live = True
    assert rig.heft_result is None, "nothing is simulated, and nothing waits"
    assert live._after_compiling() == live.COMPILER_EVERY
    monkeypatch.setattr(compile_engine, "is_running", lambda: False)
    assert live._after_compiling() is None
    assert rig.heft_result is not None
    bpy.app.timers.unregister(live._after_compiling)


def test_nothing_waits_once_the_add_on_is_off(rig):
    live.wait_for_compiler(rig)
    assert bpy.app.timers.is_registered(live._after_compiling)
    live.stop()
    assert not bpy.app.timers.is_registered(live._after_compiling) and not live._waiting
