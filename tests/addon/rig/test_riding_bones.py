"""Bodies that hang together though the rig's parents do not say so, and what rides on them."""

from __future__ import annotations

import io
import math
from contextlib import redirect_stdout

import addon_utils
import bpy
import numpy as np
import pytest

import menagerie
import rigs
from heft.addon.blender import sample_poses
from heft.addon.read import inputs, read_rig
from heft.addon.result import result_armature
from heft.addon.simulate import session
from heft.addon.tools import pull_pose
from heft.addon.ui.overlays import shapes
from heft.engine.analysis.whole_body import world_poses
from heft.engine.math import rotations
from posed import graph, world

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
        pairs = [("DEF-badge", "DEF-high"), ("DEF-half", "DEF-link")]
        offset, angle = rigs.deviation(*(_rides(each, place, pairs) for each in (source, after)), rigs.height(rig))
        print(f"own parents {own}: {offset:.1e} of the height, {angle:.4f} deg from their rides")
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
    assert result_armature.body_names(rig) == {"bone.000", "bone.002", "bone.003"}
    offset, angle = rigs.deviation(source, rigs.poses(rig, FRAMES), rigs.height(rig))
    assert offset < 1e-5 and angle < 0.01
    there = rigs.deviation(source, rigs.poses(rig.heft_result, FRAMES), rigs.height(rig))
    assert there[0] < 1e-5, "on the result armature too"
    rig.pose.bones[1].heft.behaviour = "SIMULATED"
    bpy.ops.heft.simulate()
    assert len(result_armature.body_names(rig)) == 4, "a link that became a body is shown"


def test_masses_go_with_the_ride(empty):
    rig = pair(False)
    add(rig)
    skeleton = read_rig.skeleton_of(rig)
    place = {name: i for i, name in enumerate(skeleton.names)}
    assert skeleton.carriers[place["DEF-badge"]] == place["DEF-high"]
    assert skeleton.carriers[place["DEF-half"]] == place["DEF-link"]
    assert skeleton.riders == {place["DEF-half"]: False, place["DEF-badge"]: True}


def test_a_rigify_human_hangs_together(empty):
    """Arms and legs on the trunk, half a limb on the other half, with weight."""
    if addon_utils.enable("rigify", default_set=True) is None:
        pytest.skip("Rigify cannot be enabled in this Blender")
    bpy.ops.object.armature_basic_human_metarig_add()
    with redirect_stdout(io.StringIO()):
        bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    for frame in (1, 8, 16, 24):
        for name in ("upper_arm_fk.L", "chest"):
            bone = rig.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = (0.4 * math.sin(frame), 0.5 * math.cos(frame), 0.2)
            bone.keyframe_insert("rotation_euler", frame=frame)
    rig.pose.bones["upper_arm_parent.L"]["IK_FK"] = 1.0
    bpy.context.scene.frame_end = FRAMES[-1]
    source = rigs.poses(rig, FRAMES)
    bpy.ops.heft.add()
    rig.heft.heaviness, rig.heft.detail = 0.3, "FULL"
    bpy.ops.heft.simulate()
    model = session.last_shown(rig).reading.model
    assert (model.parents < 0).sum() == 1 and len(model) == 25

    def above(name):
        return model.names[model.parents[model.index(name)]]

    assert above("DEF-thigh.L") == "DEF-spine" and above("DEF-shin.L") == "DEF-thigh.L"
    assert above("DEF-upper_arm.R") == "DEF-shoulder.R" and above("DEF-shoulder.R") == "DEF-spine.003"
    after = rigs.poses(rig, FRAMES)
    place = {bone.name: i for i, bone in enumerate(rig.pose.bones)}
    swung = rigs.deviation(source[:, [place["DEF-forearm.L"]]], after[:, [place["DEF-forearm.L"]]], 1.0)[1]
    pairs = [(f"DEF-{name}.L.001", f"DEF-{name}.L") for name in ("thigh", "shin", "upper_arm", "forearm")]
    offset, angle = rigs.deviation(*(_rides(each, place, pairs) for each in (source, after)), 2.0)
    print(f"the arm swings by {swung:.1f} deg; halves leave their limbs by {offset:.1e} of the height, {angle:.4f} deg")
    assert swung > 2.0 and offset < 1e-4 and angle < 0.05
    addon_utils.disable("rigify", default_set=True)


TAIL = ("DEF-inner", "DEF-middle", "DEF-tip")


def inward_tail(keyed: bool) -> bpy.types.Object:
    """A trunk, and a tail of three that is drawn from its tip to the trunk, each the child of the one outside it; the
    tip rides on hidden bones that lead outwards, as Rigify has it."""
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")

    def bone(name, head, tail, parent, deform=True, connect=False):
        new = data.edit_bones.new(name)
        new.head, new.tail, new.use_deform = head, tail, deform
        new.parent = data.edit_bones[parent] if parent else None
        new.use_connect = connect

    bone("root", (0, 0, 0), (0, 0.3, 0), None, False)
    bone("ORG-trunk", (0, 0, 1), (0, -0.5, 1), "root", False)
    bone("out-1", (0, 0, 1), (0, 0.4, 1), "ORG-trunk", False)
    bone("out-2", (0, 0.4, 1), (0, 0.8, 1), "out-1", False)
    bone("out-3", (0, 0.8, 1), (0, 1.2, 1), "out-2", False)
    bone("DEF-trunk", (0, 0, 1), (0, -0.5, 1), "root")
    bone("DEF-tip", (0, 1.2, 1), (0, 0.8, 1), "out-3")
    bone("DEF-middle", (0, 0.8, 1), (0, 0.4, 1), "DEF-tip", connect=True)
    bone("DEF-inner", (0, 0.4, 1), (0, 0, 1), "DEF-middle", connect=True)
    bpy.ops.object.mode_set(mode="OBJECT")
    moving = ("root", "out-1", "out-2", "out-3", *TAIL) if keyed else ()
    for frame in range(1, 25, 4):
        for i, name in enumerate(moving):
            bone = rig.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = (0.3 * math.sin(0.4 * frame + i), 0.2 * math.cos(0.3 * frame), 0.1 * math.sin(i))
            bone.keyframe_insert("rotation_euler", frame=frame)
            bone.scale = (1.0 + 0.1 * math.sin(0.2 * frame + i),) * 3
            bone.keyframe_insert("scale", frame=frame)
    bpy.context.scene.frame_end = FRAMES[-1]
    return rig


def holders_of(rig) -> dict[str, str]:
    skeleton = read_rig.skeleton_of(rig)
    names = skeleton.names
    return {names[bone]: names[skeleton.holders[bone]] for bone in skeleton.body_bones if skeleton.holders[bone] >= 0}


@pytest.mark.parametrize("ignored", [(), ("DEF-tip",), ("DEF-middle",), ("DEF-inner",)])
def test_the_source_of_a_turned_tail_comes_back_whole(empty, ignored):
    """Shown and baked, whichever of its bones only rides."""
    rig = inward_tail(keyed=True)
    source = rigs.poses(rig, FRAMES)
    add(rig, ignored)
    rig.heft.heaviness = 0.0
    chain = ["DEF-trunk", *(name for name in TAIL if name not in ignored)]
    assert holders_of(rig) == dict(zip(chain[1:], chain, strict=False))
    bpy.ops.heft.simulate()
    chosen = deforming(rig)
    shown = rigs.deviation(source[:, chosen], rigs.poses(rig, FRAMES)[:, chosen], rigs.height(rig))
    bpy.ops.heft.bake(target="ACTION")
    baked = rigs.deviation(source[:, chosen], rigs.poses(rig, FRAMES)[:, chosen], rigs.height(rig))
    print(f"without {ignored}: shown {shown[0]:.1e}, {shown[1]:.4f} deg, baked {baked[0]:.1e}, {baked[1]:.4f} deg")
    assert max(shown[0], baked[0]) < 1e-5 and max(shown[1], baked[1]) < 0.05


@pytest.mark.parametrize("ignored", [(), ("DEF-tip",), ("DEF-middle",), ("DEF-inner",)])
def test_a_limp_tail_hangs_on_the_trunk_by_its_base(empty, ignored):
    rig = inward_tail(keyed=False)
    add(rig, ignored)
    rig.heft.controller = "LIMP"
    bpy.ops.heft.simulate()
    shown = rigs.poses(rig, FRAMES)
    place = {bone.name: i for i, bone in enumerate(rig.pose.bones)}
    stops = {name: (shown[:, place[name]] @ [0.0, 0.4, 0.0, 1.0])[:, :3] for name in TAIL}
    heads = {name: shown[:, place[name], :3, 3] for name in (*TAIL, "DEF-trunk")}
    assert heads["DEF-tip"][0, 2] - heads["DEF-tip"][-1, 2] > 0.5, "it falls"
    assert np.ptp(heads["DEF-trunk"], axis=0).max() < 1e-6, "the trunk does not"
    for name, above in zip(TAIL, ("DEF-trunk", *TAIL), strict=False):
        gap = np.linalg.norm(stops[name] - heads[above], axis=1).max()
        assert gap < 1e-4, f"{name} leaves {above} by {gap} m"


def test_turned_bodies_stand_at_their_joints(empty):
    """As read from samples, as the engine has them, and as overlays draw them."""
    rig = inward_tail(keyed=True)
    add(rig, ())
    samples = sample_poses.finish(sample_poses.sample(rig, bpy.context.scene, np.arange(1, 25)))
    reading = read_rig.read(rig, bpy.context.scene, samples, solid=True)
    places, turns = world_poses(reading.model, reading.motion)
    inner, middle = (reading.model.index(name) for name in TAIL[:2])
    stops = (samples.poses[:, samples.names.index("DEF-inner")] @ [0.0, 0.4, 0.0, 1.0])[:, :3]
    np.testing.assert_allclose(places[:, inner], stops, atol=1e-5)
    np.testing.assert_allclose(places[:, middle], samples.poses[:, samples.names.index("DEF-inner"), :3, 3], atol=1e-5)
    for body in range(len(reading.model)):
        read, axes = reading.placed(samples, body)
        np.testing.assert_allclose(read, places[:, body], atol=1e-6)
        np.testing.assert_allclose(axes, rotations.to_matrix(turns[:, body]), atol=1e-6)
    bpy.context.scene.frame_set(9)
    shapes.build(inputs.of(rig, bpy.context.scene).rigs[rig])
    order = [samples.names.index(name) for name in shapes.built(rig).names]
    drawn = shapes.frames_of(shapes.built(rig), np.array([bone.matrix for bone in rig.pose.bones]), order)
    np.testing.assert_allclose(drawn[:, :3, 3], places[8], atol=1e-5)


def test_a_turned_tail_is_pulled_by_its_tip(empty):
    rig = inward_tail(keyed=False)
    pull = pull_pose.Pull(rig, bpy.context.scene, graph())
    tip = world(rig, "DEF-tip")
    pull.grab("DEF-tip", tip)
    target = tip + np.array([0.3, -0.2, 0.3])
    for _ in range(60):
        if pull.pull(target):
            break
    np.testing.assert_allclose(world(rig, "DEF-tip"), target, atol=2e-3)
    np.testing.assert_allclose(world(rig, "DEF-inner", "tail"), world(rig, "DEF-trunk"), atol=1e-4)


def test_a_rigify_wolf_carries_its_tail_by_the_base(empty):
    menagerie.generate("wolf", 8)
    rig = bpy.context.object
    bpy.ops.heft.add()
    found = holders_of(rig)
    names = ("DEF-spine.004", "DEF-spine.003", "DEF-spine.002", "DEF-spine.001", "DEF-spine")
    assert [found[name] for name in names[1:]] == [*names[:-1]]
    bpy.ops.heft.simulate()
    model = session.last_shown(rig).reading.model
    levers = [float(np.linalg.norm(model.offsets[model.index(name)])) for name in names[1:]]
    lengths = [rig.data.bones[name].length for name in names[1:-1]]
    # each turns at the outer end of the one that it hangs on
    assert levers == pytest.approx([0.0, *lengths], abs=1e-5)
    addon_utils.disable("rigify", default_set=True)


def _rides(poses: np.ndarray, place: dict[str, int], pairs: list[tuple[str, str]]) -> np.ndarray:
    return np.stack([np.linalg.inv(poses[:, place[body]]) @ poses[:, place[rider]] for rider, body in pairs], axis=1)
