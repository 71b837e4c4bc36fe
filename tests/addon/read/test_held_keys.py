"""Stepped keys are found where the evaluated pose really jumps: in actions and in NLA strips."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import rigs
from heft.addon.blender import actions
from heft.addon.read import held_keys
from keying import push_down


@pytest.fixture
def rig(empty):
    """Three bones; the second stands in a new pose every five frames or so."""
    rig = rigs.chain(3)
    key_poses(rig, (1, 6, 10, 17, 21))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 90
    return rig


def key_poses(rig, frames) -> bpy.types.Action:
    bone = rig.pose.bones[1]
    bone.rotation_mode = "XYZ"
    for i, frame in enumerate(frames):
        bone.rotation_euler = (0.3 * i, 0.1 * (-1) ** i, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    for curve in actions.active_curves(rig):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    return rig.animation_data.action


def jumps_seen(rig) -> list[int]:
    """The frames on which the evaluated pose is not the one before."""
    frames = rigs.scene_frames()
    poses = rigs.poses(rig, frames)[:, 1]
    moved = np.abs(np.diff(poses, axis=0)).max(axis=(1, 2)) > 1e-5
    return [frame for frame, jumped in zip(frames[1:], moved, strict=True) if jumped]


def jumps_found(rig) -> list[int]:
    found = held_keys.jumps_of(rig)
    assert set(found) <= {"bone.001"}
    return sorted(found.get("bone.001", set()))


def test_in_the_active_action(rig):
    assert jumps_found(rig) == jumps_seen(rig) == [6, 10, 17, 21]


@pytest.mark.parametrize(
    "settings",
    [{}, {"scale": 2.5}, {"use_reverse": True}, {"scale": 0.7}],
    ids=str,
)
def test_in_a_strip(rig, settings):
    push_down(rig, 12, **settings)
    found = jumps_found(rig)
    # The pose also jumps where the strip itself begins, which is a cut and no key.
    assert len(found) >= 3 and set(found) == set(jumps_seen(rig)) - {12}


def test_in_a_strip_that_repeats(rig):
    strip = push_down(rig, 5)
    strip.repeat = 3.0
    wraps = {25, 45}
    assert set(jumps_found(rig)) - wraps == set(jumps_seen(rig)) - wraps - {5}
    assert len(jumps_found(rig)) >= 10


def test_muted_tracks_strips_and_a_switched_off_nla_do_not_count(rig):
    strip = push_down(rig, 12)
    track = rig.animation_data.nla_tracks[0]
    for holder, name in ((strip, "mute"), (track, "mute")):
        setattr(holder, name, True)
        assert jumps_found(rig) == jumps_seen(rig) == []
        setattr(holder, name, False)
    rig.animation_data.use_nla = False
    assert jumps_found(rig) == []


def test_what_a_strip_above_replaces_does_not_count(rig):
    push_down(rig, 1)
    key_poses(rig, (1, 4, 8))
    upper = push_down(rig, 9, extrapolation="NOTHING")
    assert jumps_found(rig) == [6, 12, 16, 17, 21]
    assert set(jumps_found(rig)) == set(jumps_seen(rig)) - {9}
    upper.extrapolation = "HOLD_FORWARD"
    assert jumps_found(rig) == [6, 12, 16]
    assert set(jumps_found(rig)) == set(jumps_seen(rig)) - {9}


def test_in_tweak_mode_keys_go_through_the_strips_time(rig):
    strip = push_down(rig, 12, scale=2.0)
    data = rig.animation_data
    data.nla_tracks[0].select = strip.select = True
    data.use_tweak_mode = True
    assert data.use_tweak_mode
    found = jumps_found(rig)
    assert set(found) == set(jumps_seen(rig)) - {12}
