"""Default ranges of people, without Blender."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from engine.anatomy import joint_limit, natural_joint_limits, person_masses
from engine.anatomy.rest_body import RestBones
from engine.anatomy.role_list import LEFT, MIDDLE, RIGHT, Part


def person(**moved) -> RestBones:
    """A stick man at rest along the world's axes, facing −Y; `moved`: heads by role and side, as role_side."""
    rows = [("PELVIS", MIDDLE, -1, (0, 0, 1.0)), ("SPINE", MIDDLE, 0, (0, 0, 1.1)), ("HEAD", MIDDLE, 1, (0, 0, 1.5))]
    for side, s in ((LEFT, 1), (RIGHT, -1)):
        first = len(rows)
        rows += [
            ("UPPER_ARM", side, 1, (s * 0.2, 0, 1.4)), ("LOWER_ARM", side, first, (s * 0.5, 0, 1.4)),
            ("HAND", side, first + 1, (s * 0.8, 0, 1.4)), ("THIGH", side, 0, (s * 0.1, 0, 0.9)),
            ("SHANK", side, first + 3, (s * 0.1, 0, 0.5)), ("FOOT", side, first + 4, (s * 0.1, 0, 0.1)),
        ]  # fmt: skip
    parts = [Part(role, side) for role, side, _, _ in rows]
    heads = np.array([moved.get(f"{role}_{side}", head) for role, side, _, head in rows], dtype=float)
    ways = np.tile([0.0, -0.15, -0.05], (len(rows), 1))
    ways[[1, 2]] = (0.0, 0.0, 0.2)
    return RestBones(parts, [row[2] for row in rows], heads, np.tile(np.eye(3), (len(rows), 1, 1)), ways)


def still(bones: RestBones) -> np.ndarray:
    return np.tile([1.0, 0.0, 0.0, 0.0], (2, len(bones.parts), 1))


def allowed(found: joint_limit.Range, turn: Rotation) -> bool:
    """Whether a joint may be turned so."""
    before, own = (Rotation.from_quat(q, scalar_first=True) for q in found.frames)
    to = (before.inv() * turn * own).apply([0.0, 1.0, 0.0])
    angle = math.acos(np.clip(to[1], -1.0, 1.0))
    lean = np.array([to[2], -to[0]]) * (angle / max(np.hypot(to[2], to[0]), 1e-12))
    swing, _, _, across = found.limits
    return bool((lean**4 / np.array([swing, across]) ** 4).sum() <= 1.0) if np.isfinite(across) else angle <= swing


def about(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Rotation:
    return Rotation.from_rotvec(np.radians([x, y, z]))


def test_straight_knees_bend_away_from_the_toes_and_straight_elbows_to_any_side():
    bones = person()
    found = natural_joint_limits.ranges(bones, still(bones))
    knee, elbow = (found[bones.parts.index(Part(role, LEFT))] for role in ("SHANK", "LOWER_ARM"))
    # looking along −Y a turn about +X takes a hanging shin to the back
    assert allowed(knee, about(x=-120.0)) != allowed(knee, about(x=120.0))
    back = 1.0 if (about(x=90.0).apply([0.0, 0.0, -1.0])[1]) > 0.0 else -1.0
    assert allowed(knee, about(x=back * 120.0)) and not allowed(knee, about(x=-back * 10.0))
    assert not allowed(knee, about(y=20.0)), "hardly to the sides"
    for angle in (-140.0, 140.0):
        assert allowed(elbow, about(z=angle)) and allowed(elbow, about(y=angle)), "nobody knows which way"


def test_elbows_bend_as_at_rest_or_as_the_source_does():
    bent = person(LOWER_ARM_LEFT=(0.5, 0.03, 1.4))
    left = bent.parts.index(Part("LOWER_ARM", LEFT))
    found = natural_joint_limits.ranges(bent, still(bent))[left]
    # the hand is in front of the line through shoulder and elbow: forward, a turn about Z to −Y
    assert allowed(found, about(z=-130.0)) and not allowed(found, about(z=30.0)) and not allowed(found, about(y=30.0))
    bones = person()
    source = still(bones)
    source[1, left] = about(y=-80.0).as_quat(scalar_first=True)  # up
    found = natural_joint_limits.ranges(bones, source)[left]
    assert allowed(found, about(y=-140.0)) and not allowed(found, about(y=20.0)) and not allowed(found, about(z=40.0))
    # and never less than the source: a knee that it bends forward by 20° may
    shank = bones.parts.index(Part("SHANK", LEFT))
    source = still(bones)
    source[1, shank] = about(x=20.0).as_quat(scalar_first=True)
    source[0, shank] = about(x=-90.0).as_quat(scalar_first=True)
    found = natural_joint_limits.ranges(bones, source)[shank]
    assert allowed(found, about(x=20.0)) and allowed(found, about(x=-90.0))


def test_hips_and_shoulders_are_measured_from_the_body_not_from_the_rest_pose():
    """In a T-pose the arm may hang down, point up and forward, but not straight back."""
    bones = person()
    found = natural_joint_limits.ranges(bones, still(bones))
    arm, hip = (found[bones.parts.index(Part(role, LEFT))] for role in ("UPPER_ARM", "THIGH"))
    assert allowed(arm, about(y=90.0)) and allowed(arm, about(y=-90.0)) and allowed(arm, about(z=-100.0))
    assert not allowed(arm, about(z=90.0))
    assert allowed(hip, about(x=-110.0)) and not allowed(hip, about(x=40.0))
    assert allowed(hip, about(y=-35.0)) and not allowed(hip, about(y=-80.0))


@pytest.mark.parametrize("seed", range(3))
def test_a_person_who_rests_folded_has_the_same_ranges_as_one_who_rests_standing(seed):
    """The source stands; the rest pose is any."""
    bones = person()
    fold = Rotation.random(len(bones.parts), random_state=seed).as_quat(scalar_first=True)
    fold[0] = (1.0, 0.0, 0.0, 0.0)
    folded = natural_joint_limits.posed(bones, fold)
    assert not person_masses.stands_upright(folded.parts, folded.heads)
    upright, back = natural_joint_limits.ranges(bones, still(bones)), fold * (1.0, -1.0, -1.0, -1.0)
    found = natural_joint_limits.ranges(folded, np.tile(back, (2, 1, 1)))
    tried = Rotation.random(20, random_state=9)
    for b, each in upright.items():
        wanted = joint_limit.outside(each.limits, each.frames, tried.as_quat(scalar_first=True))
        folds = (Rotation.from_quat(back[b], scalar_first=True) * tried).as_quat(scalar_first=True)
        np.testing.assert_allclose(joint_limit.outside(found[b].limits, found[b].frames, folds), wanted, atol=1e-6)
