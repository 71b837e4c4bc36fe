"""Pull Pose below the mouse: what is read, what is written to the channels, what stays, what is put back."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Euler, Vector

import figure as man
import rigs
from heft.addon import settings
from heft.addon.errors import RigError
from heft.addon.read import inputs
from heft.addon.settings import saved
from heft.addon.tools import pick_bone, pull_pose
from posed import channels, graph, region, world


def start(rig) -> pull_pose.Pull:
    return pull_pose.Pull(rig, bpy.context.scene, graph())


def pull_to(pull: pull_pose.Pull, target, steps: int = 60) -> None:
    for _ in range(steps):
        if pull.pull(target):
            break


def test_the_hand_goes_to_the_mouse_and_feet_stay(body):
    feet = {name: world(body, name) for name in ("foot.L", "foot.R")}
    pull = start(body)
    assert pull.auto_pins == {"foot.L", "foot.R"}
    tip = world(body, "hand.L", "tail")
    pull.grab("hand.L", tip)
    target = tip + np.array([0.1, -0.35, 0.3])
    pull_to(pull, target)
    np.testing.assert_allclose(world(body, "hand.L", "tail"), target, atol=1e-3)
    for name, before in feet.items():
        np.testing.assert_allclose(world(body, name), before, atol=1e-3)
    assert not settings.has_physics(body) and not body.is_property_set("heft"), "the rig is not marked"
    assert not any(bone.is_property_set("heft") for bone in body.pose.bones)


def test_the_pelvis_goes_down_and_knees_bend(body):
    """As far as the ankles of flat feet let it: a person's turn no farther."""
    pull = start(body)
    hips = world(body, "hips")
    pull.grab("hips", hips)
    pull_to(pull, hips + np.array([0.0, 0.0, -0.1]))
    np.testing.assert_allclose(world(body, "hips"), hips + np.array([0.0, 0.0, -0.1]), atol=1e-3)
    assert abs(world(body, "foot.L")[2] - man.ANKLE) < 1e-3
    thigh, shin = (world(body, name, "tail") - world(body, name) for name in ("thigh.L", "shin.L"))
    assert np.degrees(np.arccos(thigh @ shin / np.linalg.norm(thigh) / np.linalg.norm(shin))) > 40.0


def test_cancel_puts_every_channel_back(body):
    for k, bone in enumerate(body.pose.bones):
        bone.rotation_mode = rigs.MODES[k % len(rigs.MODES)]
    body.pose.bones["spine"].location = (0.01, 0.02, 0.03)
    before = channels(body)
    pull = start(body)
    pull.grab("hand.R", world(body, "hand.R"))
    pull_to(pull, (0.2, -0.6, 1.5))
    assert channels(body) != before
    pull.cancel()
    assert channels(body) == before


@pytest.mark.parametrize("mode", rigs.MODES)
@pytest.mark.parametrize("connected", [False, True])
def test_what_is_written_is_what_was_pulled(empty, mode, connected):
    """The engine's places against Blender's own evaluation, in every rotation mode, under an awkward object."""
    rig = rigs.chain(6, connected=connected)
    rig.location, rig.rotation_euler, rig.scale = (1.0, 2.0, 0.5), Euler((0.3, 0.5, -1.0)), (2.0, 2.0, 2.0)
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    rig.pose.bones[2].scale = (1.2, 1.2, 1.2)
    pull = start(rig)
    tip = world(rig, "bone.005", "tail")
    pull.grab("bone.005", tip)
    pull_to(pull, tip + np.array([0.3, -0.4, 0.5]))
    for name in pull.reading.names:
        np.testing.assert_allclose(world(rig, name), pull.place_of(name), atol=2e-4)
    np.testing.assert_allclose(world(rig, "bone.005", "tail"), pull.grabbed_at(), atol=2e-4)


def test_a_mirrored_rig_is_pulled_where_the_mouse_is(body):
    body.scale = (-1.0, 1.0, 1.0)
    pull = start(body)
    tip = world(body, "hand.L", "tail")
    pull.grab("hand.L", tip)
    pull_to(pull, tip + np.array([0.1, -0.2, 0.2]))
    np.testing.assert_allclose(world(body, "hand.L", "tail"), tip + np.array([0.1, -0.2, 0.2]), atol=1e-3)


def test_locks_are_kept(body):
    body.pose.bones["spine"].lock_rotation = (True, True, True)
    body.pose.bones["hips"].lock_location = (True, True, True)
    for name in ("foot.L", "foot.R"):
        body.pose.bones[name].heft.pin = "OFF"
    hips = world(body, "hips")
    pull = start(body)
    pull.grab("hand.L", world(body, "hand.L"))
    pull_to(pull, (1.5, -1.0, 1.5))
    assert tuple(body.pose.bones["spine"].rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)
    assert tuple(body.pose.bones["hips"].location) == (0.0, 0.0, 0.0)
    np.testing.assert_allclose(world(body, "hips"), hips, atol=1e-5)


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "YZX"])
@pytest.mark.parametrize("locks", [(True, False, False), (False, True, False), (False, True, True)])
def test_a_locked_angle_stays_and_the_hand_still_goes_to_the_mouse(body, mode, locks):
    """Also where it is locked at something else than nothing."""
    arm = [body.pose.bones[name] for name in ("upper_arm.L", "forearm.L")]
    order = mode if len(mode) == 3 else "XYZ"
    for bone in arm:
        bone.rotation_mode, bone.lock_rotation = mode, locks
        bone.rotation_quaternion = Euler((0.2, 0.3, -0.2)).to_quaternion()
        bone.rotation_euler, bone.rotation_axis_angle = (0.2, 0.3, -0.2), (0.4, 0.6, 0.0, 0.8)
    graph()
    before = [np.array(bone.matrix_basis.to_euler(order)) for bone in arm]
    pull = start(body)
    tip = world(body, "hand.L", "tail")
    pull.grab("hand.L", tip)
    pull_to(pull, tip + np.array([-0.15, -0.15, 0.1]))
    np.testing.assert_allclose(world(body, "hand.L", "tail"), tip + np.array([-0.15, -0.15, 0.1]), atol=2e-3)
    for bone, angles in zip(arm, before, strict=True):
        off = np.abs(np.array(bone.matrix_basis.to_euler(order)) - angles)
        assert off[list(locks)].max() < 1e-4 < 1e-3 < off[~np.array(locks)].max()


def test_a_stretched_object_is_pulled_where_the_mouse_is(body):
    body.scale, body.rotation_euler = (1.0, 1.2, 1.5), Euler((0.0, 0.0, 0.7))
    feet = {name: world(body, name) for name in ("foot.L", "foot.R")}
    pull = start(body)
    tip = world(body, "hand.L", "tail")
    pull.grab("hand.L", tip)
    pull_to(pull, tip + np.array([0.1, -0.3, 0.3]))
    np.testing.assert_allclose(world(body, "hand.L", "tail"), tip + np.array([0.1, -0.3, 0.3]), atol=1e-3)
    np.testing.assert_allclose(world(body, "hand.L", "tail"), pull.grabbed_at(), atol=2e-4)
    for name, before in feet.items():
        np.testing.assert_allclose(world(body, name), before, atol=1e-3)


def test_a_bone_whose_scale_mirrors_it_is_pulled(body):
    body.pose.bones["upper_arm.L"].scale = (-1.0, 1.0, 1.0)
    pull = start(body)
    tip = world(body, "hand.L", "tail")
    pull.grab("hand.L", tip)
    pull_to(pull, tip + np.array([0.1, -0.3, 0.3]))
    np.testing.assert_allclose(world(body, "hand.L", "tail"), tip + np.array([0.1, -0.3, 0.3]), atol=1e-3)


def test_hips_that_a_driver_places_stay(body):
    body.pose.bones["hips"].driver_add("location", 0).driver.expression = "0.0"
    feet, hips = world(body, "foot.L"), world(body, "hips")
    pull = start(body)
    pull.grab("hips", hips)
    pull_to(pull, hips + np.array([0.1, 0.0, -0.1]))
    np.testing.assert_allclose(world(body, "hips"), hips, atol=1e-5)
    np.testing.assert_allclose(world(body, "foot.L"), feet, atol=1e-3)


def test_hips_that_are_pulled_down_keep_the_trunk_upright(body):
    """The legs bend: to topple the trunk would take less turning."""
    pull = start(body)
    hips, chest = world(body, "hips"), world(body, "chest")
    pull.grab("hips", hips)
    pull_to(pull, hips + np.array([0.0, 0.0, -0.1]))
    np.testing.assert_allclose(world(body, "hips"), hips + np.array([0.0, 0.0, -0.1]), atol=1e-3)
    way = world(body, "chest") - world(body, "hips")
    lean = np.degrees(np.arccos(way @ (chest - hips) / np.linalg.norm(way) / np.linalg.norm(chest - hips)))
    assert lean < 5.0
    # whatever is taken next is free to turn again
    pull.grab("chest", world(body, "chest"))
    pull_to(pull, world(body, "chest") + np.array([0.0, -0.1, 0.0]))


def test_hips_over_legs_with_ik_go_down_upright(body):
    """Legs that IK poses bend by themselves: where the hips alone would carry them, the ground is in nobody's way."""
    for side in "LR":
        target = bpy.data.objects.new("Target", None)
        bpy.context.scene.collection.objects.link(target)
        target.location = world(body, f"shin.{side}", "tail")
        ik = body.pose.bones[f"shin.{side}"].constraints.new("IK")
        ik.target, ik.chain_count = target, 2
    bpy.ops.heft.add()
    body.heft.ground = True
    pull = start(body)
    hips = world(body, "hips")
    pull.grab("hips", hips)
    pull_to(pull, hips + np.array([0.0, 0.0, -0.1]))
    np.testing.assert_allclose(world(body, "hips"), hips + np.array([0.0, 0.0, -0.1]), atol=1e-3)
    way = world(body, "hips", "tail") - world(body, "hips")
    assert way[2] / np.linalg.norm(way) > np.cos(np.radians(2.0))


def test_a_limb_that_hangs_on_a_body_beside_its_parent_goes_along(empty):
    """As in rigs whose arms hang on hidden bones that lie where the spine's do."""
    rig = rigs.chain(2, connected=False)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for name, like, parent in (("hidden", "bone.001", "bone.000"), ("limb", None, "hidden")):
        bone = bones.new(name)
        bone.head = bones[like].head if like else bones["bone.001"].tail
        bone.tail = bones[like].tail if like else bones["bone.001"].tail + Vector((0.0, 0.3, 0.0))
        bone.parent = bones[parent]
    bones["bone.000"].tail += Vector((0.0, 0.0, 0.01))
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.heft.add()
    for bone in rig.pose.bones:
        bone.heft.behaviour = "SIMULATED" if bone.name in ("bone.001", "limb") else "IGNORED"
    pull = start(rig)
    assert pull.reading.model.parents[pull.reading.model.index("limb")] == pull.reading.model.index("bone.001")
    tip = world(rig, "limb", "tail")
    pull.grab("limb", tip)
    pull_to(pull, tip + np.array([0.2, -0.1, 0.2]))
    assert np.abs(world(rig, "limb") - world(rig, "bone.001", "tail")).max() < 1e-3, "it did not come off"
    np.testing.assert_allclose(world(rig, "limb", "tail"), pull.grabbed_at(), atol=1e-3)


def test_pins_are_kept_with_the_bone(body):
    pull = start(body)
    assert pull.switch_pin("hand.R") is True and body.pose.bones["hand.R"].heft.pin == "ON"
    assert pull.switch_pin("foot.L") is False and body.pose.bones["foot.L"].heft.pin == "OFF"
    assert pull.switch_pin("foot.L") is True and body.pose.bones["foot.L"].heft.pin == "AUTO"
    held = world(body, "hand.R")
    pull = start(body)
    pull.grab("hand.L", world(body, "hand.L"))
    pull_to(pull, world(body, "hand.L") + np.array([0.0, -0.4, 0.2]))
    np.testing.assert_allclose(world(body, "hand.R"), held, atol=1e-3)
    store_it(body)


def store_it(rig) -> None:
    """A pin is no part of the simulation, but of the settings that are kept."""
    bpy.ops.heft.add()
    mark = inputs.of(rig, bpy.context.scene).total
    rig.pose.bones["head"].heft.pin = "ON"
    assert inputs.of(rig, bpy.context.scene).total == mark
    saved.pack(rig)
    assert '"pin": "ON"' in rig.heft_store


def test_who_grabs_a_standing_foot_takes_it_along(body):
    pull = start(body)
    foot = world(body, "foot.L")
    pull.grab("foot.L", foot)
    pull_to(pull, foot + np.array([0.0, -0.3, 0.2]))
    np.testing.assert_allclose(world(body, "foot.L"), foot + np.array([0.0, -0.3, 0.2]), atol=2e-3)
    assert abs(world(body, "foot.R")[2] - man.ANKLE) < 1e-3


def test_a_bone_under_ik_is_refused_by_name_and_others_are_pulled(body):
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = world(body, "hand.L")
    ik = body.pose.bones["forearm.L"].constraints.new("IK")
    ik.target, ik.chain_count = target, 2
    pull = start(body)
    for bone in ("upper_arm.L", "forearm.L", "hand.L"):
        with pytest.raises(RigError, match=r"'IK' on 'forearm\.L'"):
            pull.grab(bone, world(body, bone))
    arm = list(body.pose.bones["upper_arm.L"].rotation_quaternion)
    pull.grab("hand.R", world(body, "hand.R"))
    pull_to(pull, world(body, "hand.R") + np.array([0.0, -0.3, 0.3]))
    assert list(body.pose.bones["upper_arm.L"].rotation_quaternion) == arm
    ik.mute = True
    start(body).grab("hand.L", world(body, "hand.L"))


def test_gravity_lets_the_arms_hang(empty):
    body = man.rig(arms_down=0.0)
    pull = start(body)
    pull.grab("chest", world(body, "chest"))
    pull.set_gravity(True)
    pull_to(pull, world(body, "chest"), 150)
    assert world(body, "hand.R", "tail")[2] < world(body, "upper_arm.R")[2] - 0.4


def test_keys_come_with_auto_keying_alone(body):
    scene = bpy.context.scene
    scene.frame_set(7)
    for auto in (False, True):
        scene.tool_settings.use_keyframe_insert_auto = auto
        pull = start(body)
        pull.grab("hand.L", world(body, "hand.L"))
        pull_to(pull, world(body, "hand.L") + np.array([0.0, -0.2, 0.1]))
        pull.key()
        assert (body.animation_data is not None) == auto
    scene.tool_settings.use_keyframe_insert_auto = False
    curves = rigs.actions_of(body).fcurves
    paths = {curve.data_path for curve in curves}
    assert 'pose.bones["upper_arm.L"].rotation_quaternion' in paths
    assert {point.co.x for curve in curves for point in curve.keyframe_points} == {7.0}


def test_keys_are_as_auto_keying_is_set(body):
    """Replace touches keys that are there alone; new ones are of the chosen type."""
    scene, tools = bpy.context.scene, bpy.context.scene.tool_settings
    tools.use_keyframe_insert_auto, tools.auto_keying_mode, tools.keyframe_type = True, "REPLACE_KEYS", "EXTREME"

    def pulled(frame: int) -> None:
        scene.frame_set(frame)
        pull = start(body)
        pull.grab("hand.L", world(body, "hand.L"))
        pull_to(pull, world(body, "hand.L") + np.array([0.0, -0.2, 0.1]))
        pull.key()

    try:
        pulled(7)
        assert body.animation_data is None
        body.pose.bones["forearm.L"].keyframe_insert("rotation_quaternion", frame=7)
        pulled(7)
        curves = list(rigs.actions_of(body).fcurves)
        assert {curve.data_path for curve in curves} == {'pose.bones["forearm.L"].rotation_quaternion'}
        values = [curve.keyframe_points[0].co.y for curve in curves]
        np.testing.assert_allclose(values, body.pose.bones["forearm.L"].rotation_quaternion, atol=1e-6)
        tools.auto_keying_mode = "ADD_REPLACE_KEYS"
        pulled(9)
        assert {point.type for curve in curves for point in curve.keyframe_points if point.co.x == 9.0} == {"EXTREME"}
    finally:
        tools.use_keyframe_insert_auto, tools.auto_keying_mode = False, "ADD_REPLACE_KEYS"
        tools.keyframe_type = "KEYFRAME"


def test_who_does_not_lead_stands_on_the_shots_ground(body):
    bpy.ops.heft.add()
    leader = rigs.post(3, "Leader", at=(3.0, 0.0, 0.0))
    bpy.ops.heft.add()
    rigs.collide(leader, body)
    leader.heft.ground, leader.heft.ground_height = True, -0.5
    assert start(body).auto_pins == frozenset(), "half a metre above it"


def test_a_rig_at_rest_and_an_unposed_one_are_refused_with_the_fix(body):
    body.data.pose_position = "REST"
    with pytest.raises(RigError, match="Pose Position"):
        start(body)


def test_the_pulled_pose_does_not_depend_on_physics_being_added(body):
    poses = []
    for added in (False, True):
        if added:
            bpy.ops.heft.add()
        pull = start(body)
        pull.grab("hand.L", world(body, "hand.L", "tail"))
        pull_to(pull, (0.5, -0.4, 1.2))
        poses.append(world(body, "forearm.L"))
        pull.cancel()
    np.testing.assert_allclose(poses[0], poses[1], atol=1e-6)


# --- the bone under the mouse --------------------------------------------------------------


class Straight:
    """A view along +Y that shows a unit as 100 pixels."""

    def on_screen(self, point):
        return 100.0 * point[0], 100.0 * point[2]

    def ahead(self, _point):
        return np.array([0.0, 1.0, 0.0])


def test_the_nearest_bone_is_picked_and_of_two_the_one_in_front(body):
    view = Straight()
    head = pick_bone.pick(body, graph(), view, (0.0, 170.0))
    assert head.bone == "head" and abs(head.point[2] - 1.7) < 0.01
    assert pick_bone.pick(body, graph(), view, (150.0, 30.0)) is None
    body.pose.bones["shin.R"].location = (0.18, 0.0, 0.0)  # behind or before the other shin
    for shift in (-0.3, 0.3):
        body.pose.bones["shin.R"].matrix = moved(body, "shin.L", shift)
        found = pick_bone.pick(body, graph(), view, (9.0, 30.0))
        assert found.bone == ("shin.R" if shift < 0.0 else "shin.L")
    assert pick_bone.pick(body, graph(), view, (0.0, 170.0), {"chest"}) is None


def moved(rig, bone: str, along: float):
    graph()
    matrix = rig.pose.bones[bone].matrix.copy()
    matrix.translation += Vector((0.0, along, 0.0))
    return matrix


def test_the_view_is_the_region_under_the_mouse():
    """A quarter of a quad view; none where the sidebar lies over it, or in another editor."""
    quarters = [region("WINDOW", x, y, 100, 100) for x in (0, 100) for y in (0, 100)]
    over = [region("UI", 160, 0, 40, 200), region("TOOLS", 0, 50, 1, 100), region("HEADER", 0, 190, 200, 10)]
    view = SimpleNamespace(type="VIEW_3D", regions=[*over, *quarters])
    other = SimpleNamespace(type="DOPESHEET_EDITOR", regions=[region("WINDOW", 200, 0, 100, 200)])
    screen = SimpleNamespace(areas=[other, view])
    found = pick_bone.View.under(screen, SimpleNamespace(mouse_x=120, mouse_y=30))
    assert (found.area, found.region, found.data) == (view, quarters[2], "WINDOW 100 0")
    assert found.mouse(SimpleNamespace(mouse_x=120, mouse_y=30)) == (20, 30)
    assert pick_bone.View.under(screen, SimpleNamespace(mouse_x=0, mouse_y=120)).region is quarters[1]
    for x, y in ((170, 30), (50, 195), (250, 30)):
        assert pick_bone.View.under(screen, SimpleNamespace(mouse_x=x, mouse_y=y)) is None
