"""Ranges of every joint: fingers close into the palm, an animal's legs fold as they do, nothing is without a range."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

import menagerie
import mixamo_like
import rigs
from heft.addon.blender import sample_poses
from heft.addon.blender.engine_space import Placement
from heft.addon.read import read_rig
from heft.addon.rig import bone_roles
from heft.engine.anatomy import joint_limit, natural_joint_limits
from heft.engine.anatomy.joint_limit import Range
from heft.engine.anatomy.rest_body import RestBody, RestBones
from heft.engine.anatomy.role_list import LEFT, RIGHT
from joint_room import BACK, DOWN, FRONT, REST, UP, room, still


def rest_of(rig: bpy.types.Object) -> RestBones:
    scene = bpy.context.scene
    skeleton = read_rig.skeleton_of(rig)
    placement = Placement.from_matrices(np.array(rig.matrix_world)[None], 1.0)
    model = read_rig.build_model(rig, skeleton, placement, scene, 1)
    return read_rig.rest_bones(rig, skeleton, [skeleton.names.index(name) for name in model.names], model.parents)


def generated(kind: str) -> tuple[RestBones, dict[int, Range]]:
    menagerie.generate(kind, frames=2)
    bpy.ops.heft.add()
    bpy.context.object.heft.detail = "FULL"
    bones = rest_of(bpy.context.object)
    found = still(bones)
    assert set(found) == {b for b, parent in enumerate(bones.parents) if parent >= 0}
    assert all(np.isfinite(each.limits[:3]).all() for each in found.values())
    return bones, found


@pytest.mark.in_one_blender
@pytest.mark.parametrize(
    ("kind", "front", "hind"),
    [
        ("cat", ("upper_arm", "forearm", "hand", "f_toe"), ("thigh", "shin", "foot", "r_toe")),
        ("horse", ("upper_arm", "forearm", "forefoot", "f_toe"), ("thigh", "lower_leg", "hind_foot", "r_toe")),
        ("wolf", ("front_thigh", "front_shin", "front_foot", "front_toe"), ("thigh", "shin", "foot", "toe")),
        ("basic_quadruped", ("front_thigh", "front_shin", "front_foot", "front_toe"), ("thigh", "shin", "foot", "toe")),
    ],
)
def test_animals_of_rigify_fold_their_legs_as_animals_do(empty, kind, front, hind):
    bones, found = generated(kind)
    aside = np.array([1.0, 0.0, 0.0])
    for side in ("L", "R"):
        shoulder, elbow, carpus, pastern = (f"DEF-{name}.{side}" for name in front)
        hip, stifle, hock, toes = (f"DEF-{name}.{side}" for name in hind)
        for name, folds, breaks in (
            (elbow, FRONT, BACK), (carpus, BACK, FRONT), (stifle, BACK, FRONT), (hock, FRONT, BACK)
        ):  # fmt: skip
            assert room(bones, found, name, folds, 60.0) > 0.0, f"{name} folds"
            assert room(bones, found, name, breaks, 80.0) < -8.0, f"{name} does not break"
            assert room(bones, found, name, aside, 25.0) < 0.0, f"{name} is a hinge"
        for name in (hip, shoulder):
            assert room(bones, found, name, FRONT, 40.0) > 0.0 and room(bones, found, name, BACK, 40.0) > 0.0
            assert room(bones, found, name, FRONT, 90.0) < 0.0
        for name in (pastern, toes):
            assert room(bones, found, name, DOWN, 40.0) > 0.0, f"{name} gives way downwards"


@pytest.mark.in_one_blender
def test_a_person_of_rigify_closes_hands_and_curls_toes(empty):
    bones, found = generated("human")
    for side, inward in (("L", -1.0), ("R", 1.0)):
        palm = np.array([inward * 0.8, 0.0, -0.5])  # arms hang out, palms towards the body
        for finger in ("f_index", "f_middle", "f_ring", "f_pinky"):
            for joint in (1, 2, 3):
                name = f"DEF-{finger}.{joint:02d}.{side}"
                assert room(bones, found, name, palm, 40.0) > 0.0 and room(bones, found, name, -palm, 90.0) < -10.0
        for joint in (2, 3):
            name = f"DEF-thumb.{joint:02d}.{side}"
            closes = BACK + 0.4 * palm  # across the palm, a little into it
            assert room(bones, found, name, closes, 20.0) > 0.0 > room(bones, found, name, -closes, 60.0)
        toe = f"DEF-toe.{side}"
        assert room(bones, found, toe, UP, 60.0) > 0.0 > room(bones, found, toe, DOWN, 60.0)
    necks = [b for b, part in enumerate(bones.parts) if part.role in ("NECK", "HEAD")]
    together = np.degrees(sum(found[b].ends[1] for b in necks))
    assert len(necks) == 3 and 45.0 < together < 80.0, "neck and head together bend as far as a neck does"


@pytest.mark.in_one_blender
@pytest.mark.parametrize("kind", ["bird", "shark", "basic_human"])
def test_other_rigs_of_rigify_have_no_joint_without_a_range(empty, kind):
    _, found = generated(kind)
    wide = [np.degrees(each.limits[0]) for each in found.values()]
    assert min(wide) >= 8.0 and max(wide) <= 130.0


@pytest.mark.in_one_blender
@pytest.mark.parametrize("name", ["mocap/20tab_freebvh", "mocap/makehuman_walk1", "mocap/threejs_pirouette"])
def test_recorded_fingers_close_within_their_ranges(empty, name, tmp_path):
    if name not in menagerie.names():
        pytest.skip(f"no {name} in {rigs.DATA}")
    menagerie.open_rig(name, tmp_path)
    rig, scene = bpy.context.object, bpy.context.scene
    bpy.ops.heft.add()
    rig.heft.detail = "FULL"
    scene.frame_end = min(scene.frame_end, scene.frame_start + 150)
    samples = sample_poses.finish(sample_poses.sample(rig, scene, [*range(scene.frame_start, scene.frame_end + 1)]))
    reading = read_rig.read(rig, scene, samples)
    model, parts = reading.model, bone_roles.roles_of(rig)
    held = np.flatnonzero(model.parents >= 0)
    assert np.isfinite(model.limits[held][:, :3]).all()
    outside = [
        joint_limit.outside(model.limits[b], model.limit_frames[b], reading.motion.rotations[:, b]).max() for b in held
    ]
    assert max(outside) < 0.0
    hinges = [b for b in held if parts[reading.names[b]].role == "FINGER" and np.isfinite(model.limits[b, 3])]
    assert {parts[reading.names[b]].side for b in hinges} == {LEFT, RIGHT} and len(hinges) >= 16
    # what the table allows is not stretched by much: the direction is right
    assert np.degrees(np.median(model.limits[hinges, 3])) < 21.0 and np.degrees(model.limits[hinges, 0]).max() < 75.0


@pytest.mark.in_one_blender
def test_relaxed_arms_hang_and_relaxed_legs_are_nearly_straight(empty):
    bones, found = generated("human")
    at_ease = natural_joint_limits.posed(
        bones, np.array([found[b].relaxed if b in found else REST[0] for b in range(len(bones.parts))])
    )
    for side in ("L", "R"):
        arm, shin = (bones.names.index(f"DEF-{name}.{side}") for name in ("upper_arm", "shin"))
        thigh = bones.names.index(f"DEF-thigh.{side}")
        ways = {
            b: RestBody(at_ease, np.tile(REST[:, None], (1, len(bones.parts), 1))).way(b) for b in (arm, thigh, shin)
        }
        assert ways[arm] @ DOWN > 0.8, "in a T-pose too it hangs"
        assert ways[thigh] @ DOWN > 0.9 and 0.8 < ways[thigh] @ ways[shin] < 0.95


@pytest.mark.in_one_blender
@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_fingers_of_an_imported_character_close_whatever_the_importer_made_of_its_bones(empty, scale, tmp_path):
    """Bones that come from glTF point anywhere, and at object scale 0.01 their tails are absurd. Palms are down."""
    rig = mixamo_like.open_imported(scale, tmp_path)
    bpy.ops.heft.add()
    rig.heft.detail = "FULL"
    bones = rest_of(rig)
    found = still(bones)
    world = np.array(rig.matrix_world)[:3, :3]
    down, up, front = (world.T @ way / np.linalg.norm(world.T @ way) for way in (DOWN, UP, FRONT))
    for side in ("Left", "Right"):
        for finger in ("Index", "Middle", "Ring", "Pinky"):
            for joint in (1, 2, 3):
                name = f"{mixamo_like.PREFIX}{side}Hand{finger}{joint}"
                assert room(bones, found, name, down, 60.0) > 0.0 > room(bones, found, name, up, 50.0)
        toe, shin = f"{mixamo_like.PREFIX}{side}ToeBase", f"{mixamo_like.PREFIX}{side}Leg"
        assert room(bones, found, toe, up, 50.0) > 0.0 > room(bones, found, toe, down, 60.0)
        assert room(bones, found, shin, -front, 90.0) > 0.0 > room(bones, found, shin, front, 20.0)
