"""Every setting of the contract does something: a small shot, simulated before and after it is changed.

The contract is the table of names in the manual's page on scripting; what has no trial here fails.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import bpy
import numpy as np
import pytest

import rigs
from conftest import ROOT

FRAMES = range(1, 31)
SEEN = 2e-3  # [m] how far something has to be elsewhere on some frame
DIFFERENT = 1e-7  # [m] for what shall be hardly seen
# Lists: that their entries work is tested where they are read.
LISTS = {"pushes", "ties", "script", "controls", "switches"}


@dataclass(frozen=True)
class Trial:
    """A setting and two values of it, in a shot where it matters.

    parts     what is in the shot besides the post: ball, push, ground, block
    rig, bone, thing    settings of the armature, of every bone and of the ball, before
    least     how large a difference there must be [m]
    """

    name: str
    before: object
    after: object
    parts: str = ""
    rig: dict = field(default_factory=dict)
    bone: dict = field(default_factory=dict)
    thing: dict = field(default_factory=dict)
    least: float = SEEN


ON_TIME = {"controller": "ON_TIME"}
WEAK = {"use_strength": True, "strength": 0.02}
FALLING = {"controller": "LIMP", "root": "FREE", "ground": True}
OWN_LIMITS = {"use_limits": True, "limits_from": "OWN"}

OF_RIG = (
    Trial("controller", "FOLLOW", "LIMP"),
    Trial("settle_time", 0.1, 0.6),
    Trial("damping_ratio", 1.0, 0.2),
    Trial("heaviness", 0.5, 0.0),
    Trial("recovery_time", 0.0, 1.5, "push"),
    Trial("use_strength", False, True, rig={"strength": 0.02}),
    Trial("strength", 1.0, 0.02, rig={"use_strength": True}),
    Trial("shape", 3.6, 9.0, rig=ON_TIME),
    Trial("arrival", "REST", "CURVE", rig=ON_TIME),
    Trial("key_type", "ALL", "EXTREME", rig=ON_TIME),
    Trial("root", "ANIMATED", "FREE", "push"),
    Trial("assist", 1.0, 0.01, "push", rig={"root": "ASSISTED"}),
    Trial("mix", 1.0, 0.3),
    Trial("steps_per_second", 240, 48, least=DIFFERENT),
    Trial("range", "SCENE", "PREVIEW"),
    Trial("frame_start", 1, 8, rig={"range": "CUSTOM", "frame_end": 30}),
    Trial("frame_end", 30, 12, rig={"range": "CUSTOM", "frame_start": 1}),
    Trial("pre_roll", 0, 20, rig={"heaviness": 1.0}),
    Trial("loop", "OFF", "RANGE"),
    Trial("bad_frames", "KEEP", "SKIP", "jump"),
    Trial("meters_per_unit", 1.0, 0.05, rig={"controller": "LIMP"}),
    Trial("total_mass", 3.0, 60.0, "ball"),
    Trial("natural_limits", True, False, "push limit"),
    Trial("gravity", (0.0, 0.0, -9.81), (0.0, 0.0, 0.0), rig={"controller": "LIMP"}),
    Trial("wind", (0.0, 0.0, 0.0), (0.0, 60.0, 0.0), rig={"controller": "LIMP"}),
    Trial("wind_strength", 1.0, 20.0, rig={"controller": "LIMP", "wind": (0.0, 20.0, 0.0)}),
    Trial("ground", True, False, rig={"controller": "LIMP", "root": "FREE"}),
    Trial("ground_height", -0.2, -1.0, rig=FALLING),
    Trial("ground_friction", 0.8, 0.0, "rolling"),
    Trial("ground_bounce", 0.0, 0.9, "rolling"),
    Trial("friction", 0.8, 0.0, rig=FALLING),
    Trial("bounce", 0.0, 0.9, "ball"),
    Trial("touch_self", False, True, "folded"),
    Trial("live", False, True),
    Trial("colliders", None, "Colliders", "ball"),
)
OF_BONE = (
    Trial("behaviour", "SIMULATED", "LIMP"),
    Trial("role", "AUTO", "SPINE", "push", rig=WEAK),
    Trial("settle_scale", 1.0, 4.0),
    Trial("heaviness_scale", 1.0, 0.0),
    Trial("strength_scale", 50.0, 1.0, rig=WEAK),
    Trial("mass", 0.0, 20.0, "ball"),
    Trial("mix", 1.0, 0.2),
    Trial("shape", "AUTO", "NONE", "ball"),
    Trial("overlap_group", 0, 1, "folded", rig={"touch_self": True}),
    Trial("use_limits", False, True, "push", bone={"limits_from": "OWN", "limit_swing": 0.1}),
    Trial("limits_from", "NONE", "OWN", "push", bone={"use_limits": True, "limit_swing": 0.1}),
    Trial("limit_swing", 2.0, 0.1, "push", bone=OWN_LIMITS),
    Trial("limit_low", -3.0, -0.01, "twist", bone=OWN_LIMITS | {"limit_high": 0.0, "limit_swing": 3.0}),
    Trial("limit_high", 3.0, 0.01, "twist back", bone=OWN_LIMITS | {"limit_low": 0.0, "limit_swing": 3.0}),
)
OF_THING = (
    Trial("shape", "SPHERE", "BOX", "ball"),
    Trial("friction", 0.8, 0.0, "rolling"),
    Trial("bounce", 0.0, 0.9, "ball"),
    Trial("mass", 0.5, 10.0, "ball"),
    Trial("response", "GIVES_WAY", "BRACES", "ball"),
    Trial("moves", "FREE", "ANIMATED", "ball"),
    Trial("free_from", 4, 12, "ball"),
)
# Which side a bone is on changes its name's reading, not a straight post's physics.
WITHOUT_TRIAL = {"HeftBone": {"side"}}


def build(trial: Trial) -> tuple[bpy.types.Object, bpy.types.Object | None]:
    """A post that leans over by its keys, light, with a little heaviness; and the ball, if there is one."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 1, 10
    rig = rigs.post(3)
    turn = math.pi if "folded" in trial.parts else 0.9
    for frame, share in ((1, 0.3), (9, 0.7), (14, 1.0), (30, 0.8)):
        rig.pose.bones[1].rotation_mode = rig.pose.bones[2].rotation_mode = "XYZ"
        rig.pose.bones[1].rotation_euler.x = share * (0.9 * turn if "folded" in trial.parts else turn)
        rig.pose.bones[2].rotation_euler.x = share * (0.95 * turn if "folded" in trial.parts else 0.2)
        for bone in (rig.pose.bones[1], rig.pose.bones[2]):
            bone.keyframe_insert("rotation_euler", frame=frame)
    for curve in rigs.actions_of(rig).fcurves:
        curve.keyframe_points[2].type = "EXTREME"
    if "jump" in trial.parts:
        for frame in range(1, 31):
            rig.pose.bones[0].location.x = 0.01 * frame + (1.5 if 12 <= frame < 14 else 0.0)
            rig.pose.bones[0].keyframe_insert("location", frame=frame)
    if "limit" in trial.parts:
        limit = rig.pose.bones[2].constraints.new("LIMIT_ROTATION")
        limit.owner_space = "LOCAL"
        limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
        limit.min_x, limit.max_x = -0.05, 0.25
    bpy.ops.heft.add()
    for bone in rig.pose.bones:
        bone.heft.behaviour = "SIMULATED"
    settings = {"total_mass": 3.0, "heaviness": 0.5, "natural_limits": "limit" in trial.parts, **trial.rig}
    if "push" in trial.parts or "twist" in trial.parts:
        push = rig.heft.pushes.add()
        push.bone, push.frame, push.impulse = "bone.002", 4, 4.0
        push.direction = (0.6, -1.0, 0.4) if "back" not in trial.parts else (-0.6, -1.0, 0.4)
    thing = None
    if "ball" in trial.parts or "rolling" in trial.parts:
        thing = rigs.ball(radius=0.12)
        if "rolling" in trial.parts:
            rigs.throw(thing, (2.0, 0.0, 0.4), (2.45, 0.0, 0.4), 1, 4)
            settings |= {"ground": True}
        else:
            rigs.throw(thing, (0.03, -1.3, 0.95), (0.03, -0.8, 0.95), 1, 4)
        rigs.collide(rig, thing)
        for name, value in {"moves": "FREE", "free_from": 4, "mass": 1.0, **trial.thing}.items():
            setattr(thing.heft_collider, name, value)
    for name, value in settings.items():
        setattr(rig.heft, name, value)
    for bone in rig.pose.bones:
        for name, value in trial.bone.items():
            setattr(bone.heft, name, value)
    return rig, thing


def seen(rig: bpy.types.Object, thing: bpy.types.Object | None) -> np.ndarray:
    """(frames, things, 3) where the bones' ends and the ball are, simulated [m]."""
    assert bpy.ops.heft.simulate() == {"FINISHED"}
    poses = rigs.poses(rig, FRAMES)
    found = [poses[:, :, :3, 3], poses[:, :, :3, 3] + 0.5 * poses[:, :, :3, 0] + 0.5 * poses[:, :, :3, 1]]
    if thing is not None:
        found.append(rigs.places(thing, FRAMES)[:, None, :3, 3])
    return np.concatenate(found, axis=1)


def difference(trial: Trial, owner: str) -> float:
    """How far the shot is elsewhere once the setting is changed [m]."""
    rig, thing = build(trial)
    holders = {"HeftArmature": [rig.heft], "HeftBone": [bone.heft for bone in rig.pose.bones]}.get(owner)
    holders = holders or [thing.heft_collider]

    def put(value) -> None:
        if trial.name == "colliders":
            value = bpy.data.collections.get(value or "")
        for holder in holders:
            setattr(holder, trial.name, value)

    put(trial.before)
    before = seen(rig, thing)
    again = seen(rig, thing)
    assert np.array_equal(before, again)  # or a difference would prove nothing
    put(trial.after)
    if trial.name == "live":  # what it changes is that the next change shows at once
        rig.heft.heaviness = 1.0
        after = rigs.poses(rig, FRAMES)[:, :, :3, 3]
        return float(np.abs(after - before[:, : after.shape[1]]).max())
    return float(np.abs(seen(rig, thing) - before).max())


ALL = [(owner, trial) for owner, trials in (("HeftArmature", OF_RIG), ("HeftBone", OF_BONE), ("HeftCollider", OF_THING))
       for trial in trials]  # fmt: skip


@pytest.mark.parametrize(("owner", "trial"), ALL, ids=[f"{owner}.{trial.name}" for owner, trial in ALL])
def test_it_changes_the_result(empty, owner, trial):
    assert difference(trial, owner) > trial.least


def test_every_name_of_the_contract_is_tried():
    text = (ROOT / "addon" / "manual" / "scripting.md").read_text(encoding="utf-8")
    rows = {"HeftArmature": "ob.heft", "HeftBone": "pose_bone.heft", "HeftCollider": "ob.heft_collider"}
    for owner, where in rows.items():
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{where}` |")]
        names = set(re.findall(r"`(\w+)`", row.split("|")[2])) - LISTS - WITHOUT_TRIAL.get(owner, set())
        tried = {trial.name for each, trial in ALL if each == owner}
        assert names == tried
