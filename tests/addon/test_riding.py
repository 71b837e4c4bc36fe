"""Bodies that hang together though the rig's parents do not say so, and what rides on them."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

import rigs
from heft.addon import joining, reader, session, showing

FRAMES = range(1, 25)


def pair(own: bool) -> bpy.types.Object:
    """A trunk of two bones that copies hidden ones; an arm hangs on the hidden ones, a badge too, as Rigify has it.

    own: the arm is a child of the trunk itself, for comparison.
    """
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")

    def bone(name, head, tail, parent, deform=True):
        new = data.edit_bones.new(name)
        new.head, new.tail, new.use_deform = head, tail, deform
        new.parent = data.edit_bones[parent] if parent else None

    bone("root", (0, 0, 0), (0, 0.3, 0), None, False)
    for prefix in ("ORG", "DEF"):
        bone(f"{prefix}-low", (0, 0, 0.5), (0, 0, 1.0), "root", prefix == "DEF")
        bone(f"{prefix}-high", (0, 0, 1.0), (0, 0, 1.5), f"{prefix}-low", prefix == "DEF")
    hidden = "DEF-high" if own else "ORG-high"
    bone("DEF-link", (0.1, 0, 1.4), (0.5, 0, 1.4), hidden)
    bone("DEF-half", (0.5, 0, 1.4), (0.7, 0, 1.4), "DEF-link")
    bone("DEF-rod", (0.7, 0, 1.4), (1.1, 0, 1.4), "DEF-half")
    bone("DEF-badge", (0, -0.1, 1.2), (0, -0.2, 1.2), hidden)
    data.edit_bones["DEF-rod"].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")
    for name in ("low", "high"):
        copy = rig.pose.bones[f"DEF-{name}"].constraints.new("COPY_TRANSFORMS")
        copy.target, copy.subtarget = rig, f"ORG-{name}"
    for frame in range(1, 25, 4):
        for i, name in enumerate(("root", "ORG-low", "ORG-high", "DEF-link", "DEF-half", "DEF-badge")):
            bone = rig.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = (0.3 * math.sin(0.4 * frame + i), 0.2 * math.cos(0.3 * frame), 0.1 * i)
            bone.keyframe_insert("rotation_euler", frame=frame)
            bone.location = (0.0, 0.02 * math.sin(0.5 * frame + i), 0.03 * math.cos(0.4 * frame))
            bone.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = FRAMES[-1]
    return rig


def add(rig, ignored=("DEF-half", "DEF-badge")) -> None:
    bpy.ops.heft.add()
    for name in ignored:
        rig.pose.bones[name].heft.behaviour = "IGNORED"


def deforming(rig) -> list[int]:
    return [i for i, bone in enumerate(rig.pose.bones) if bone.bone.use_deform]


@pytest.mark.parametrize("own", [False, True])
def test_the_source_comes_back_whole(empty, own):
    rig = pair(own)
    source = rigs.poses(rig, FRAMES)
    add(rig)
    bpy.ops.heft.simulate()
    reading = session.last_shown(rig).reading
    assert sorted(reading.names) == ["DEF-high", "DEF-link", "DEF-low", "DEF-rod"]
    assert (reading.model.parents < 0).sum() == 1, "the arm hangs on the trunk"
    offset, angle = rigs.deviation(source, rigs.poses(rig, FRAMES), rigs.height(rig))
    print(f"shown: {offset:.1e} of the height, {angle:.4f} deg")
    assert offset < 1e-5 and angle < 0.01
    chosen = deforming(rig)
    bpy.ops.heft.bake(mute_constraints=True)
    offset, angle = rigs.deviation(source[:, chosen], rigs.poses(rig, FRAMES)[:, chosen], rigs.height(rig))
    assert offset < 1e-5 and angle < 0.01


def test_what_rides_goes_where_its_body_goes(empty):
    """To the engine the rig is the same, whether its arm is a child of the trunk or only lies as if it were."""
    readings = []
    for own in (False, True):
        rigs.new_file()
        rig = pair(own)
        source = rigs.poses(rig, FRAMES)
        add(rig)
        rig.heft.heaviness = 0.4
        bpy.ops.heft.simulate()
        rig.heft.settle_time = 0.3  # the second time only what moves is written
        session.simulate(rig, bpy.context.scene, fresh=False)
        after = rigs.poses(rig, FRAMES)
        place = {bone.name: i for i, bone in enumerate(rig.pose.bones)}
        for rider, body in (("DEF-badge", "DEF-high"), ("DEF-half", "DEF-link")):
            before, now = (np.linalg.inv(each[:, place[body]]) @ each[:, place[rider]] for each in (source, after))
            offset, angle = rigs.deviation(before, now, rigs.height(rig))
            print(f"{rider} on {body}, own parents {own}: {offset:.1e} of the height, {angle:.4f} deg from its ride")
            assert offset < 1e-5 and angle < 0.02
        assert rigs.deviation(source[:, [place["DEF-rod"]]], after[:, [place["DEF-rod"]]], 1.0)[1] > 1.0
        readings.append(session.last_shown(rig).reading)
    one, other = readings
    assert one.names == other.names and (one.model.parents == other.model.parents).all()
    for name in ("offsets", "rest_rotations"):
        np.testing.assert_allclose(*(getattr(reading.model, name) for reading in readings), atol=1e-5)
    for name in ("rotations", "positions"):
        np.testing.assert_allclose(*(getattr(reading.motion, name) for reading in readings), atol=1e-5)


def test_links_are_keyed_but_not_shown(empty):
    """A body connected to a bone that rides along: that bone needs keys on the result, and none on the rig."""
    rig = rigs.chain(4)
    rigs.wave(rig)
    bpy.context.scene.frame_end = FRAMES[-1]
    source = rigs.poses(rig, FRAMES)
    bpy.ops.heft.add()
    rig.pose.bones[1].heft.behaviour = "IGNORED"
    bpy.ops.heft.simulate()
    assert showing.body_names(rig) == {"bone.000", "bone.002", "bone.003"}
    offset, angle = rigs.deviation(source, rigs.poses(rig, FRAMES), rigs.height(rig))
    assert offset < 1e-5 and angle < 0.01
    there = rigs.deviation(source, rigs.poses(rig.heft_result, FRAMES), rigs.height(rig))
    assert there[0] < 1e-5, "on the result armature too"


def test_holders_form_no_ring():
    """Two bodies that each hang on a bone lying on the other: one of them stays a root."""
    heads = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0]])
    tails = heads + np.array([0.0, 0.0, 1.0])
    held = joining.holders([-1, -1, 0, 1], heads, tails, [False, False, True, True])
    assert held[2:] in ([3, -1], [-1, 2])
    assert joining.holders([-1, 0, 1], heads[:3], tails[:3], [True, False, True])[2] == 0


def test_masses_go_with_the_ride(empty):
    rig = pair(False)
    add(rig)
    skeleton = reader.skeleton_of(rig)
    place = {name: i for i, name in enumerate(skeleton.names)}
    assert skeleton.carriers[place["DEF-badge"]] == place["DEF-high"]
    assert skeleton.carriers[place["DEF-half"]] == place["DEF-link"]
    assert skeleton.riders == {place["DEF-half"]: False, place["DEF-badge"]: True}
