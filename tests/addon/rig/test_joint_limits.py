"""Limits that come by themselves: a person's or the rig's, never narrower than the source."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import figure
import rigs
from heft.addon.simulate import session
from heft.engine.anatomy import joint_limit
from rigs import DATA

MOCAP = sorted((DATA / "mocap").glob("cmu_*.bvh"))
LIMBS = (("UpLeg", "Leg"), ("Arm", "ForeArm"))
HINGES = [(f"{side}{upper}", f"{side}{lower}") for side in ("Left", "Right") for upper, lower in LIMBS]
STRAIGHT, KNEE, ELBOW = 0.0, 130.0, 150.0  # [degrees] the tables'
HEIGHT, ANGLE = 1e-4, 0.02


def record(path) -> bpy.types.Object:
    bpy.ops.import_anim.bvh(filepath=str(path), update_scene_fps=True)
    rig, scene = bpy.context.object, bpy.context.scene
    # the first frame is no motion but a pose
    scene.frame_start, scene.frame_end = 2, int(rig.animation_data.action.frame_range[1])
    bpy.ops.heft.add()
    rig.heft.meters_per_unit = 0.0564
    return rig


def flexion(poses: np.ndarray, names: list[str], upper: str, lower: str, bends=None) -> tuple[np.ndarray, np.ndarray]:
    """(frames,) the bend between two bones towards a side of the upper one [degrees], and that side (3,): by default
    the one to which these poses bend. Knows nothing of limits."""
    turns, ways = poses[:, names.index(upper), :3, :3], poses[:, names.index(lower), :3, 1]
    turns = turns / np.linalg.norm(turns, axis=1, keepdims=True)
    seen = np.einsum("fij,fi->fj", turns, ways / np.linalg.norm(ways, axis=1, keepdims=True))
    aside = seen * (1.0, 0.0, 1.0)
    if bends is None:
        bends = aside.sum(axis=0) / np.linalg.norm(aside.sum(axis=0))
    return np.degrees(np.arctan2(aside @ bends, seen[:, 1])), bends


@pytest.mark.in_one_blender
@pytest.mark.skipif(not MOCAP, reason=f"no motion capture in {DATA / 'mocap'}")
@pytest.mark.parametrize("path", MOCAP, ids=lambda path: path.stem)
def test_recorded_people_have_limits_wider_than_what_they_do(empty, path):
    """That the result then is the source, to rounding, `test_identity` shows on the same recordings."""
    rig = record(path)
    scene = bpy.context.scene
    scene.frame_end = min(scene.frame_end, 250)
    session.simulate(rig, scene)
    reading = session.last_shown(rig).reading
    model, turns = reading.model, reading.motion.rotations
    limited = np.flatnonzero(np.isfinite(model.limits).any(axis=1) & (model.parents >= 0))
    spare = np.inf
    for b in limited:
        before, own = (Rotation.from_quat(q, scalar_first=True) for q in model.limit_frames[b])
        seen = before.inv() * Rotation.from_quat(turns[:, b], scalar_first=True) * own
        to = seen.apply([0.0, 1.0, 0.0])
        angle = np.arccos(np.clip(to[:, 1], -1.0, 1.0))
        lean = np.stack([to[:, 2], -to[:, 0]], axis=1)
        lean *= (angle / np.maximum(np.linalg.norm(lean, axis=1), 1e-12))[:, None]
        swing, low, high, across = model.limits[b]
        if np.isfinite(across):
            assert (((lean / (swing, across)) ** 4).sum(axis=1) < 1.0).all()
            spare = min(spare, swing - np.abs(lean[:, 0]).max(), across - np.abs(lean[:, 1]).max())
        else:
            spare = min(spare, swing - angle.max())
        twist = seen.as_quat(scalar_first=True, canonical=True)
        twist = 2.0 * np.arctan2(twist[:, 2], twist[:, 0])
        spare = min(spare, high - twist.max(), twist.min() - low)
    left = math.degrees(spare)
    print(f"{path.stem}: {len(limited)} of {len(model)} joints limited, at least {left:.2f} deg to spare")
    assert len(limited) >= 17 and spare > 0.99 * joint_limit.SPARE
    assert rig.heft.undisturbed


@pytest.mark.in_one_blender
@pytest.mark.skipif(not MOCAP, reason=f"no motion capture in {DATA / 'mocap'}")
@pytest.mark.parametrize("name", ["cmu_02_01", "cmu_09_01"])
def test_a_limp_person_falls_without_bending_knees_or_elbows_backward(empty, name):
    rig = record(DATA / "mocap" / f"{name}.bvh")
    scene = bpy.context.scene
    frames = range(2, scene.frame_end + 1)
    names = [bone.name for bone in rig.pose.bones]
    source = rigs.poses(rig, frames)
    scene.frame_start, scene.frame_end = 40, 40 + 360  # three seconds
    rig.heft.controller, rig.heft.root, rig.heft.ground = "LIMP", "FREE", True
    rig.heft.ground_height = session.lowest_point(rig, scene)
    found = {}
    for natural in (True, False):
        rig.heft.natural_limits = natural
        rig.heft.tone = 1.0 if natural else 0.0  # tone alone would hold the joints for most of a fall
        bpy.ops.heft.simulate()
        fallen = rigs.poses(rig, range(40, 401))
        worst = 0.0
        for upper, lower in HINGES:
            own, bends = flexion(source, names, upper, lower)
            bent, _ = flexion(fallen, names, upper, lower, bends)
            most = KNEE if "Leg" in lower else ELBOW
            worst = max(worst, min(STRAIGHT, own.min()) - bent.min(), bent.max() - max(most, own.max()))
        found[natural] = worst
    print(f"{name}: limp knees and elbows {found[True]:.1f} deg beyond their range, {found[False]:.1f} without limits")
    assert found[True] < 5.0 < 30.0 < found[False]


def walk(scale: float, inside: float) -> np.ndarray:
    """A man `inside` times as large in an object of the rest of the scale, with weight, natural limits, and a limit of
    his own that his keys go beyond: his poses."""
    rigs.new_file()
    man = figure.rig(0.6, inside)
    figure.skin(man, 0.6, inside)
    man.scale = (scale / inside,) * 3
    scene = bpy.context.scene
    scene.frame_end = 36
    for name, axis, angle in (("thigh.L", 0, -0.7), ("shin.L", 0, 0.9), ("spine", 0, 0.4), ("upper_arm.R", 2, 0.8)):
        bone = man.pose.bones[name]
        bone.rotation_mode = "XYZ"
        for frame, part in ((1, 0.0), (12, 1.0), (24, -0.3), (36, 0.6)):
            bone.rotation_euler[axis] = part * angle
            bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.heft.add()
    man.heft.meters_per_unit = 1.0 / scale
    man.heft.heaviness = 0.3
    held = man.pose.bones["upper_arm.R"].heft
    held.use_limits, held.limits_from, held.limit_swing = True, "OWN", math.radians(15.0)
    source = rigs.poses(man, range(1, 37))
    bpy.ops.heft.simulate()
    shown = rigs.poses(man, range(1, 37))
    assert rigs.deviation(source, shown, rigs.height(man))[1] > 20.0
    shown[..., :3, 3] /= inside
    return shown


@pytest.mark.parametrize(("scale", "inside"), [(0.01, 0.01), (0.01, 1.0), (100.0, 100.0), (100.0, 1.0)])
def test_the_same_man_at_any_scale_moves_the_same(empty, scale, inside):
    a, b = walk(1.0, 1.0), walk(scale, inside)
    offset, angle = rigs.deviation(a, b, 1.75)
    print(f"scale {scale}, bones {inside}: {offset:.1e} of the height, {angle:.5f} deg")
    assert offset < HEIGHT and angle < ANGLE


def test_a_rigs_own_limits_hold_what_is_limp_but_no_key(empty):
    """A bone that its keys take beyond its Limit Rotation constraint: the result is the source. Limp, it stays
    within what the keys and the constraint allow."""
    rig = rigs.post(3)
    bone = rig.pose.bones[1]
    bone.rotation_mode = "XYZ"
    limit = bone.constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.influence = "LOCAL", 0.0
    limit.use_limit_x, limit.min_x, limit.max_x = True, math.radians(-10.0), math.radians(15.0)
    limit.use_limit_y = limit.use_limit_z = True
    for frame, angle in ((1, 0.0), (20, 40.0), (40, 40.0)):
        bone.rotation_euler.x = math.radians(angle)
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_end = 40
    bpy.ops.heft.add()
    source = rigs.poses(rig, rigs.FRAMES)
    bpy.ops.heft.simulate()
    offset, angle = rigs.deviation(source, rigs.poses(rig, rigs.FRAMES), rigs.height(rig))
    assert offset < HEIGHT and angle < ANGLE
    lean = {}
    for natural in (True, False):
        rig.heft.natural_limits = natural
        bone.heft.behaviour = "LIMP"
        bpy.ops.heft.simulate()
        poses = rigs.poses(rig, rigs.FRAMES)[:, 1, :3, 1]
        lean[natural] = np.degrees(np.arccos(np.clip(poses[:, 2], -1.0, 1.0))).max()
    assert lean[True] < 46.0 and lean[False] > 60.0
    bone.heft.use_limits, bone.heft.limits_from, rig.heft.natural_limits = True, "NONE", True
    assert not session.is_current(rig, bpy.context.scene)
    bpy.ops.heft.simulate()
    assert np.isinf(session.last_shown(rig).reading.model.limits[1]).all()
