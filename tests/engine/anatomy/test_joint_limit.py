"""Ranges of any joint, without Blender."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from engine.anatomy import joint_limit, natural_joint_limits, roles
from engine.anatomy.rest_body import RestBones
from joint_room import BACK, DOWN, FRONT, REST, UP, room, still


def drawn(rows: dict[str, tuple[str | None, tuple, tuple]], rolled: int = 0) -> RestBones:
    """Bones by name with their parent, head and tail, as ranges are laid out on them; axes drawn by lot."""
    names = [*rows]
    parents = [names.index(parent) if parent else -1 for parent, _, _ in rows.values()]
    heads, tails = (np.array([row[k] for row in rows.values()], dtype=float) for k in (1, 2))
    parts = roles.find(names, parents, heads, tails, [True] * len(names))
    turns = Rotation.random(len(names), random_state=rolled).as_matrix()
    return RestBones(parts, parents, heads, turns, tails - heads, names)


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


@pytest.mark.parametrize("way", [UP, FRONT, np.array([1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)])
def test_rounding_does_not_turn_the_frame_of_a_round_range(way):
    rng = np.random.default_rng(3)
    frames = []
    for _ in range(20):
        middle = way + 1e-7 * rng.normal(size=3)
        frames.append(joint_limit.round_about(np.eye(3), middle, middle, 40.0, 30.0, REST).frames)
    apart = np.abs(np.einsum("kfi,fi->kf", np.array(frames), frames[0]))
    assert (1.0 - apart).max() < 1e-9
