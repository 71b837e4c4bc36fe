"""Ranges of every joint: fingers close into the palm, an animal's legs fold as they do, nothing is without a range."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import menagerie
import mixamo_like
import rigs
from heft.addon.blender import sample_poses
from heft.addon.blender.engine_space import Placement
from heft.addon.read import read_rig
from heft.addon.rig import bone_roles
from heft.engine.anatomy import joint_limit, natural_joint_limits, roles
from heft.engine.anatomy.joint_limit import Range
from heft.engine.anatomy.rest_body import RestBody, RestBones
from heft.engine.anatomy.role_list import LEFT, RIGHT

DOWN, UP, FRONT, BACK = np.array([0, 0, -1.0]), np.array([0, 0, 1.0]), np.array([0, -1.0, 0]), np.array([0, 1.0, 0])
REST = np.array([[1.0, 0.0, 0.0, 0.0]])


def drawn(rows: dict[str, tuple[str | None, tuple, tuple]], rolled: int = 0) -> RestBones:
    """Bones by name with their parent, head and tail, as ranges are laid out on them; axes drawn by lot."""
    names = [*rows]
    parents = [names.index(parent) if parent else -1 for parent, _, _ in rows.values()]
    heads, tails = (np.array([row[k] for row in rows.values()], dtype=float) for k in (1, 2))
    parts = roles.find(names, parents, heads, tails, [True] * len(names))
    turns = Rotation.random(len(names), random_state=rolled).as_matrix()
    return RestBones(parts, parents, heads, turns, tails - heads, names)


def still(bones: RestBones) -> dict[int, Range]:
    return natural_joint_limits.ranges(bones, np.tile([1.0, 0.0, 0.0, 0.0], (1, len(bones.parts), 1)))


def room(bones: RestBones, found: dict[int, Range], name: str, towards: np.ndarray, angle: float) -> float:
    """How far a bone that is turned from rest towards a direction is within its range [degrees], below zero outside."""
    b = bones.names.index(name)
    way = RestBody(bones, REST[:, None]).way(b)
    axis = np.cross(way, towards)
    turn = Rotation.from_rotvec(np.radians(angle) * bones.turns[b].T @ axis / np.linalg.norm(axis))
    outside = joint_limit.outside(found[b].limits, found[b].frames, turn.as_quat(scalar_first=True)[None])
    return float(-np.degrees(outside[0]))


def mirrored(rows: dict) -> dict:
    """Rows of the left (".L") with those of the right."""
    flip = np.array([-1.0, 1.0, 1.0])
    out = {}
    for name, (parent, head, tail) in rows.items():
        out[name] = (parent, head, tail)
        if ".L" in name:
            above = parent.replace(".L", ".R") if parent else None
            out[name.replace(".L", ".R")] = (above, tuple(flip * head), tuple(flip * tail))
    return out


def fox() -> dict:
    """Named and proportioned as game animals are: front legs are arms, hind legs four bones called leg and foot."""
    rows = {
        "b_Hip": (None, (0, 0.25, 0.42), (0, 0.1, 0.44)),
        "b_Spine01": ("b_Hip", (0, 0.1, 0.44), (0, -0.05, 0.44)),
        "b_Spine02": ("b_Spine01", (0, -0.05, 0.44), (0, -0.2, 0.45)),
        "b_Neck": ("b_Spine02", (0, -0.2, 0.45), (0, -0.3, 0.53)),
        "b_Head": ("b_Neck", (0, -0.3, 0.53), (0, -0.45, 0.5)),
        "b_UpperArm.L": ("b_Spine02", (0.06, -0.2, 0.38), (0.06, -0.14, 0.27)),
        "b_ForeArm.L": ("b_UpperArm.L", (0.06, -0.14, 0.27), (0.06, -0.16, 0.1)),
        "b_Hand.L": ("b_ForeArm.L", (0.06, -0.16, 0.1), (0.06, -0.19, 0.02)),
        "b_Leg01.L": ("b_Hip", (0.06, 0.22, 0.4), (0.06, 0.17, 0.27)),
        "b_Leg02.L": ("b_Leg01.L", (0.06, 0.17, 0.27), (0.06, 0.28, 0.16)),
        "b_Foot01.L": ("b_Leg02.L", (0.06, 0.28, 0.16), (0.06, 0.25, 0.04)),
        "b_Foot02.L": ("b_Foot01.L", (0.06, 0.25, 0.04), (0.06, 0.18, 0.01)),
    }
    for k in range(6):
        above = f"b_Tail{k:02d}" if k else "b_Hip"
        rows[f"b_Tail{k + 1:02d}"] = (above, (0, 0.27 + 0.1 * k, 0.42), (0, 0.37 + 0.1 * k, 0.42))
    return mirrored(rows)


def test_a_foxs_legs_fold_and_do_not_break():
    bones = drawn(fox())
    found = still(bones)
    assert set(found) == {b for b, parent in enumerate(bones.parents) if parent >= 0}
    for side in ("L", "R"):
        for name, folds, breaks in (
            ("b_ForeArm", FRONT, BACK),
            ("b_Leg02", BACK, FRONT),
            ("b_Foot01", FRONT, BACK),
            ("b_Hand", BACK, FRONT),
        ):
            assert room(bones, found, f"{name}.{side}", folds, 60.0) > 0.0, f"{name} folds"
            assert room(bones, found, f"{name}.{side}", breaks, 85.0) < -10.0, f"{name} does not break"
            assert room(bones, found, f"{name}.{side}", np.array([1.0, 0.0, 0.0]), 25.0) < 0.0
        assert (
            room(bones, found, f"b_Leg01.{side}", FRONT, 50.0) > 0.0 > room(bones, found, f"b_Leg01.{side}", BACK, 70.0)
        )


def test_the_bones_of_a_tail_share_its_bend():
    bones = drawn(fox())
    found = still(bones)
    each = [np.degrees(found[b].limits[0]) for b, part in enumerate(bones.parts) if part.role == "TAIL"]
    assert len(each) == 6 and 15.0 < min(each) == max(each) < 45.0


def arm(thumb: tuple | None, names=("index", "middle", "ring", "pinky")) -> dict:
    """A left arm along X, palm down: fingers bent by nothing, a thumb with its way, or none."""
    rows = {
        "upper_arm.L": (None, (0.2, 0, 1.4), (0.5, 0, 1.4)),
        "forearm.L": ("upper_arm.L", (0.5, 0, 1.4), (0.75, 0, 1.4)),
        "hand.L": ("forearm.L", (0.75, 0, 1.4), (0.85, 0, 1.4)),
    }
    for k, name in enumerate(names):
        above, y = "hand.L", -0.03 + 0.02 * k
        for joint in range(3):
            x = 0.85 + 0.03 * joint
            rows[f"f_{name}.{joint + 1:02d}.L"] = (above, (x, y, 1.4), (x + 0.03, y, 1.4))
            above = f"f_{name}.{joint + 1:02d}.L"
    if thumb is not None:
        above, head = "hand.L", np.array([0.77, -0.03, 1.4])
        for joint in range(3):
            rows[f"thumb.{joint + 1:02d}.L"] = (above, tuple(head), tuple(head + 0.03 * np.array(thumb)))
            above, head = f"thumb.{joint + 1:02d}.L", head + 0.03 * np.array(thumb)
    return rows


@pytest.mark.parametrize("rolled", range(4))
@pytest.mark.parametrize("thumb", [(0.7, -0.7, 0.0), (0.7, -0.6, -0.3), None])
def test_straight_fingers_close_into_the_palm_that_thumb_and_side_tell(thumb, rolled):
    rows = arm(thumb)
    for bones, side in ((drawn(rows, rolled), "L"), (drawn(right(rows), rolled), "R")):
        found = still(bones)
        for name in ("index", "pinky"):
            for joint, closes in ((1, 80.0), (2, 90.0), (3, 70.0)):
                bone = f"f_{name}.{joint:02d}.{side}"
                assert room(bones, found, bone, DOWN, closes) > 0.0, f"{bone} closes"
                assert room(bones, found, bone, UP, 60.0) < -20.0, f"{bone} does not open backwards"
                assert room(bones, found, bone, FRONT, 30.0) < 0.0, f"{bone} hardly spreads"
        hand = f"hand.{side}"
        assert room(bones, found, hand, DOWN, 70.0) > 0.0 > room(bones, found, hand, FRONT, 50.0)


def right(rows: dict) -> dict:
    """A left arm as the right one."""
    return {name: row for name, row in mirrored(rows).items() if ".L" not in name}


def test_fingers_without_names_or_sides_close_as_the_source_closes_them():
    rows = {name.replace(".L", ""): (parent and parent.replace(".L", ""), head, tail) for name, (parent, head, tail)
            in arm(None, ("a", "b", "c")).items()}  # fmt: skip
    bones = drawn(rows)
    source = np.tile([1.0, 0.0, 0.0, 0.0], (2, len(bones.parts), 1))
    for b, name in enumerate(bones.names):
        if name.startswith("f_"):  # up: nothing but the source tells
            axis = bones.turns[b].T @ np.array([0.0, -1.0, 0.0])
            source[1, b] = Rotation.from_rotvec(np.radians(60.0) * axis).as_quat(scalar_first=True)
    found = natural_joint_limits.ranges(bones, source)
    assert room(bones, found, "f_a.02", UP, 90.0) > 0.0 > room(bones, found, "f_a.02", DOWN, 30.0)


def test_what_nobody_knows_has_a_finite_range_and_a_hinge_shows_in_its_source():
    rows = {"a0": (None, (0, 0, 0), (0, 0, 1))} | {
        f"a{k}": (f"a{k - 1}", (0, 0, k), (0, 0, k + 1)) for k in range(1, 12)
    }
    rows |= {"lid": ("a0", (0.5, 0, 1), (0.5, -0.5, 1)), "wheel": ("a0", (-0.5, 0, 1), (-0.5, 0.2, 1))}
    bones = drawn(rows)
    lid, wheel = bones.names.index("lid"), bones.names.index("wheel")
    source = np.tile([1.0, 0.0, 0.0, 0.0], (40, len(bones.parts), 1))
    for frame, angle in enumerate(np.linspace(0.0, 2.0 * np.pi, 40)):
        x, y = (bones.turns[b].T @ axis for b, axis in ((lid, [-1.0, 0, 0]), (wheel, [0, 1.0, 0])))
        source[frame, lid] = Rotation.from_rotvec(0.25 * angle * x).as_quat(scalar_first=True)
        source[frame, wheel] = Rotation.from_rotvec(angle * y).as_quat(scalar_first=True)
    found = natural_joint_limits.ranges(bones, source)
    for b, each in found.items():
        assert (
            np.isfinite(each.limits[:3]).all() and joint_limit.outside(each.limits, each.frames, source[:, b]).max() < 0
        )
    assert room(bones, found, "lid", UP, 85.0) > 0.0 > room(bones, found, "lid", np.array([1.0, 0, 0]), 30.0)
    assert room(bones, found, "lid", DOWN, 30.0) < 0.0
    assert room(bones, found, "a5", FRONT, 50.0) > 0.0 > room(bones, found, "a5", FRONT, 90.0)
    assert found[wheel].limits[2] == joint_limit.WHOLE


def test_the_relaxed_pose_is_within_every_range():
    for bones in (drawn(fox()), drawn(arm((0.7, -0.6, -0.3))), drawn(right(arm(None)))):
        for b, each in still(bones).items():
            for pose in (each.relaxed, joint_limit.middle_of(each.limits, each.frames)):
                outside = joint_limit.outside(each.limits, each.frames, pose[None])[0]
                assert outside < 0.0, f"{bones.names[b]} relaxes {np.degrees(outside):.1f} deg outside"


# --- real rigs -----------------------------------------------------------------------------------


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


@pytest.mark.parametrize("way", [UP, FRONT, np.array([1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)])
def test_rounding_does_not_turn_the_frame_of_a_round_range(way):
    rng = np.random.default_rng(3)
    frames = []
    for _ in range(20):
        middle = way + 1e-7 * rng.normal(size=3)
        frames.append(joint_limit.round_about(np.eye(3), middle, middle, 40.0, 30.0, REST).frames)
    apart = np.abs(np.einsum("kfi,fi->kf", np.array(frames), frames[0]))
    assert (1.0 - apart).max() < 1e-9
