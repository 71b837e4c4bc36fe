"""Ties and pushes."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

import rigs


def test_a_push_knocks_a_bone_over(rig):
    push = rig.heft.pushes.add()
    push.bone, push.direction, push.impulse, push.frame = "bone.002", (1.0, 0.0, 0.0), 3.0, 10
    bpy.ops.heft.simulate()
    lean = rigs.bend(rig)
    assert lean[:10].max() < 0.02 < 3.0 < lean.max()
    tip = rigs.poses(rig, rigs.FRAMES)[:, 2, 0, 1]
    assert tip.max() > 0.05 and tip.max() > -tip.min()
    push.frame = 400
    bpy.ops.heft.simulate()
    assert rigs.bend(rig).max() < 0.02, "outside the range it never comes"


def test_a_pin_holds_a_bone_while_it_is_keyed_on(rig):
    rig.pose.bones[0].rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (40, 0.6)):
        rig.pose.bones[0].rotation_euler.x = angle
        rig.pose.bones[0].keyframe_insert("rotation_euler", frame=frame)
    for bone, angle in zip(rig.pose.bones[1:], (0.8, -1.4), strict=True):  # bent, so that it can give
        bone.rotation_mode = "XYZ"
        bone.rotation_euler.x = angle
    source = rigs.poses(rig, rigs.FRAMES)
    tie = rig.heft.ties.add()
    tie.bone = "bone.002"
    for frame, on in ((1, True), (20, False)):
        tie.on = on
        rig.keyframe_insert("heft.ties[0].on", frame=frame)
    bpy.ops.heft.simulate()

    def tips(poses):
        return poses[:, 2, :3, 3] + 0.5 * poses[:, 2, :3, 1]

    now = rigs.poses(rig, rigs.FRAMES)
    held = np.linalg.norm(tips(now) - tips(source)[0], axis=1)
    assert held[:18].max() < 0.01
    assert np.linalg.norm(tips(source)[17] - tips(source)[0]) > 0.1, "the keys go elsewhere"
    assert np.linalg.norm(tips(now)[-1] - tips(source)[-1]) < 0.02, "let go, it comes back to its keys"


def hook_at(*keys) -> bpy.types.Object:
    """An empty keyed from place to place."""
    hook = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(hook)
    rigs.throw(hook, *keys)
    return hook


def tip_of(rig, bone: int) -> np.ndarray:
    now = rigs.poses(rig, rigs.FRAMES)
    return now[:, bone, :3, 3] + 0.5 * now[:, bone, :3, 1]


def test_a_pin_to_a_moving_object_takes_the_bone_along(rig):
    hook = hook_at((0.0, 0.0, 1.5), (0.5, 0.0, 1.3), 5, 30)
    tie = rig.heft.ties.add()
    tie.bone, tie.target = "bone.002", hook
    bpy.ops.heft.simulate()
    assert np.linalg.norm(tip_of(rig, 2) - rigs.places(hook, rigs.FRAMES)[:, :3, 3], axis=1).max() < 0.02


def test_a_weld_holds_the_rotation_too(empty):
    empty.frame_end = rigs.FRAMES[-1]
    rig = rigs.post(5, length=0.5)
    for bone, angle in zip(rig.pose.bones[1:4], (0.7, -1.4, 0.7), strict=True):
        bone.rotation_mode = "XYZ"
        bone.rotation_euler.x = angle
    bpy.ops.heft.add()
    hook = hook_at((0.0, 0.0, 2.0), (0.0, 0.1, 2.0), 5, 30)
    for frame, angle in ((5, 0.0), (30, 0.4)):
        hook.rotation_euler.x = angle
        hook.keyframe_insert("rotation_euler", frame=frame)
    tie = rig.heft.ties.add()
    tie.bone, tie.target = "bone.004", hook
    leans = {}
    for kind in ("PIN", "WELD"):
        tie.kind = kind
        bpy.ops.heft.simulate()
        leans[kind] = rigs.bend(rig)[-1]
    assert leans["WELD"] == pytest.approx(math.degrees(0.4), abs=2.0)
    assert abs(leans["PIN"] - math.degrees(0.4)) > 4.0


def test_a_distance_keeps_its_length(rig):
    hook = hook_at((1.0, 0.0, 1.5), (1.4, 0.0, 1.5), 5, 30)
    tie = rig.heft.ties.add()
    tie.bone, tie.target, tie.kind = "bone.002", hook, "DISTANCE"
    bpy.ops.heft.simulate()
    away = np.linalg.norm(tip_of(rig, 2) - rigs.places(hook, rigs.FRAMES)[:, :3, 3], axis=1)
    np.testing.assert_allclose(away, 1.0, atol=0.02)
    assert rigs.bend(rig)[-1] > 5.0


def test_a_hand_carries_a_ball_and_lets_go(rig):
    ball = rigs.ball(radius=0.1, location=(0.0, 0.3, 1.5))
    ball.heft_collider.moves, ball.heft_collider.mass = "FREE", 0.5
    rigs.collide(rig, ball)
    tie = rig.heft.ties.add()
    tie.bone, tie.target, tie.kind, tie.response = "bone.002", ball, "WELD", "BRACES"
    for frame, on in ((1, True), (20, False)):
        tie.on = on
        rig.keyframe_insert("heft.ties[0].on", frame=frame)
    bpy.ops.heft.simulate()
    height = rigs.places(ball, rigs.FRAMES)[:, 2, 3]
    assert height[:18].min() > 1.4 and height[-1] < 0.5


def test_a_tie_between_two_bones_closes_a_loop(rig):
    """The tip pinned to the first bone's head while the keys open the chain."""
    for bone in rig.pose.bones[1:]:
        bone.rotation_mode = "XYZ"
        for frame, angle in ((1, 2.0943951), (30, 1.5)):
            bone.rotation_euler.x = angle
            bone.keyframe_insert("rotation_euler", frame=frame)
    tie = rig.heft.ties.add()
    tie.bone, tie.target, tie.target_bone = "bone.002", rig, "bone.000"
    bpy.ops.heft.simulate()
    tip = tip_of(rig, 2)
    assert np.linalg.norm(tip - tip[0], axis=1).max() < 0.02


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (lambda rig: rig.heft.pushes.add(), "Push 1 names no bone"),
        (lambda rig: setattr(rig.heft.pushes.add(), "bone", "tail"), "names 'tail', which is no simulated bone"),
        (lambda rig: rig.heft.ties.add(), "Tie 1 names no bone"),
    ],
)
def test_unfinished_pushes_and_ties_are_named(rig, setting, message):
    setting(rig)
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.heft.simulate()
