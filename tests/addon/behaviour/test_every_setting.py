"""Every setting does something: each one, changed in a small scene, moves what is shown by a visible amount.

The settings are taken from their declarations: one without a case here fails. `pytest -s` prints the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import bpy
import numpy as np
import pytest

import figure
import rigs
from heft.addon import declare
from heft.addon.settings.bone import HeftBone
from heft.addon.settings.character import HeftArmature
from heft.addon.settings.collider import HeftCollider
from heft.addon.settings.push import HeftPush
from heft.addon.settings.tie import HeftTie

# What an animator sees: a bone turned by half a degree, or something moved by half a centimetre.
DEGREES, MILLIMETRES = 0.5, 5.0
END = 24
FRAMES = range(1, END + 1)
OWNERS = {
    "armature": HeftArmature, "bone": HeftBone, "collider": HeftCollider, "push": HeftPush, "tie": HeftTie
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A setting changed from one value to another, in a world made for it."""

    before: object
    after: object
    world: Callable[[], bpy.types.Object]
    settings: dict = field(default_factory=dict)


# --- worlds ------------------------------------------------------------------------------


def swing() -> bpy.types.Object:
    """A post of three bones that bends over and back, heavy, and is pushed."""
    bpy.context.scene.frame_end = END
    rig = rigs.post(3)
    for bone, angle in (("bone.001", 0.9), ("bone.002", 0.6)):
        pose = rig.pose.bones[bone]
        pose.rotation_mode = "XYZ"
        for frame, part in ((1, 0.0), (9, 1.0), (16, -0.4), (24, 0.3)):
            pose.rotation_euler = (part * angle, 0.0, 0.0)
            pose.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.heft.add()
    rig.heft.total_mass, rig.heft.heaviness = 3.0, 0.5
    push = rig.heft.pushes.add()
    push.bone, push.direction, push.impulse, push.frame = "bone.002", (1.0, 0.0, 0.0), 1.5, 6
    return rig


def hanging() -> bpy.types.Object:
    """A limp chain that stands out level and falls; nothing is keyed."""
    bpy.context.scene.frame_end = END
    rig = rigs.post(3)
    rig.rotation_euler = (math.radians(-70.0), 0.0, 0.0)
    rig.location.z = 2.0
    bpy.context.view_layer.update()
    bpy.ops.heft.add()
    rig.heft.total_mass, rig.heft.controller = 3.0, "LIMP"
    return rig


def dropped() -> bpy.types.Object:
    """A free post that is thrown sideways onto the ground, with a limit on none of its joints."""
    bpy.context.scene.frame_end = END
    rig = rigs.post(2)
    rig.rotation_euler = (math.radians(-80.0), 0.0, 0.0)
    for frame, x in ((1, 0.0), (2, 0.15), (24, 3.45)):
        rig.location = (x, 0.0, 0.35)
        rig.keyframe_insert("location", frame=frame)
    for curve in rigs.actions_of(rig).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    bpy.ops.heft.add()
    rig.heft.total_mass, rig.heft.root, rig.heft.ground = 3.0, "FREE", True
    return rig


def struck(moves: str = "FREE") -> bpy.types.Object:
    """A post that a ball is thrown at."""
    bpy.context.scene.frame_end = END
    rig = rigs.post(3)
    bpy.ops.heft.add()
    rig.heft.total_mass = 3.0
    ball = rigs.ball(radius=0.15)
    rigs.throw(ball, (0.0, -1.2, 1.2), (0.0, 0.9, 1.2), 1, 18)
    rigs.collide(rig, ball)
    look = ball.heft_collider
    look.moves, look.free_from, look.mass = moves, 6, 2.0
    return rig


def wiped() -> bpy.types.Object:
    """A post that a rough block slides along."""
    rig = struck("ANIMATED")
    block = bpy.data.objects["Ball"]
    rigs.actions_of(block).fcurves.clear()
    rigs.throw(block, (0.18, -0.05, 1.55), (0.18, -0.05, 0.8), 3, 18)
    block.heft_collider.shape = "BOX"
    return rig


def folded() -> bpy.types.Object:
    """A chain that closes like a pocket knife."""
    bpy.context.scene.frame_end = END
    rig = rigs.post(3)
    for bone in rig.pose.bones[1:]:
        bone.rotation_mode = "XYZ"
        for frame, angle in ((1, 0.0), (16, 2.3), (24, 2.3)):
            bone.rotation_euler = (angle, 0.0, 0.0)
            bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.heft.add()
    rig.heft.natural_limits = False
    return rig


def shut() -> bpy.types.Object:
    """The same with a free root, in the air, half closed and closing fast."""
    rig = folded()
    for bone in rig.pose.bones[1:]:
        for frame, angle in ((1, 1.7), (6, 3.4)):
            bone.rotation_euler = (angle, 0.0, 0.0)
            bone.keyframe_insert("rotation_euler", frame=frame)
    for curve in rigs.actions_of(rig).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    rig.heft.root, rig.heft.ground, rig.heft.ground_height = "FREE", True, -50.0
    return rig


def man() -> bpy.types.Object:
    """A limp man who falls."""
    bpy.context.scene.frame_end = END
    rig = figure.rig(0.6)
    rig.rotation_euler = (0.5, 0.4, 0.0)
    bpy.context.view_layer.update()
    bpy.ops.heft.add()
    rig.heft.controller = "LIMP"
    return rig


def limited() -> bpy.types.Object:
    """The limp chain, one joint of which the rig limits."""
    rig = hanging()
    limit = rig.pose.bones[1].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
    limit.min_x = limit.min_y = limit.min_z = -0.05
    limit.max_x = limit.max_y = limit.max_z = 0.05
    limit.owner_space = "LOCAL"
    return rig


def own_limits() -> bpy.types.Object:
    rig = hanging()
    rig.pose.bones["bone.001"].heft.use_limits = True
    rig.pose.bones["bone.001"].heft.limits_from = "OWN"
    return rig


def spun() -> bpy.types.Object:
    """A limp bone that is twisted about its length by what hangs on it aside."""
    rig = own_limits()
    rig.rotation_euler = (0.0, 0.0, 0.0)
    rig.pose.bones["bone.001"].heft.limit_swing = 0.01
    pose = rig.pose.bones["bone.002"]
    pose.rotation_mode = "XYZ"
    pose.rotation_euler = (1.4, 0.0, 0.0)
    pose.heft.behaviour = "SIMULATED"
    rig.heft.controller, rig.pose.bones["bone.001"].heft.behaviour = "FOLLOW", "LIMP"
    push = rig.heft.pushes.add()
    push.bone, push.direction, push.impulse, push.frame = "bone.002", (1.0, 0.0, 0.0), 1.0, 3
    return rig


def spun_back() -> bpy.types.Object:
    rig = spun()
    rig.heft.pushes[0].direction = (-1.0, 0.0, 0.0)
    return rig


def tied() -> bpy.types.Object:
    """The swinging post, its tip held."""
    rig = swing()
    tie = rig.heft.ties.add()
    tie.bone = "bone.002"
    return rig


def towed() -> bpy.types.Object:
    """The post held by a thing that moves away, and another beside it."""
    rig = tied()
    ball = rigs.ball(location=(0.0, 0.4, 1.5))
    rigs.throw(ball, (0.0, 0.3, 1.5), (0.5, 0.6, 1.4), 1, 20)
    rig.heft.ties[0].target = ball
    return rig


def tied_to_bone() -> bpy.types.Object:
    """The post held by another rig, one bone of which moves."""
    rig = tied()
    other = rigs.post(2, name="Other", at=(0.6, 0.0, 0.0))
    bone = other.pose.bones[1]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (20, 1.2)):
        bone.rotation_euler = (angle, 0.0, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.heft.add()
    bpy.context.view_layer.objects.active = rig
    rigs.collide(rig, other)
    rig.heft.ties[0].target = other
    return rig


def hung() -> bpy.types.Object:
    """A level post with a free ball that hangs on its tip."""
    rig = hanging()
    rig.heft.controller = "FOLLOW"
    tip = rig.matrix_world @ rig.pose.bones[2].tail
    ball = rigs.ball(radius=0.1, location=(*tip[:2], tip[2] - 0.3))
    rigs.collide(rig, ball)
    ball.heft_collider.moves, ball.heft_collider.mass = "FREE", 2.0
    tie = rig.heft.ties.add()
    tie.bone, tie.target = "bone.002", ball
    return rig


def passing() -> bpy.types.Object:
    """A swing with two keys on its way, passed with speed."""
    rig = swing()
    for curve in rigs.actions_of(rig).fcurves:
        for point, value in zip(curve.keyframe_points, (0.0, 0.4, 0.9, 1.2), strict=True):
            point.co[1] = value if curve.array_index == 0 else 0.0
        curve.update()
    return rig


def flawed() -> bpy.types.Object:
    """A recording with one frame on which a joint flips."""
    rig = swing()
    pose = rig.pose.bones["bone.001"]
    for frame in FRAMES:
        flips = math.pi if frame == 12 else 0.0
        pose.rotation_euler = (0.02 * frame + flips, 0.0, 0.0)
        pose.keyframe_insert("rotation_euler", frame=frame)
    for curve in rigs.actions_of(rig).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    return rig


def marked() -> bpy.types.Object:
    """Some of the swing's keys are extremes."""
    rig = swing()
    for curve in rigs.actions_of(rig).fcurves:
        for point in curve.keyframe_points:
            point.type = "EXTREME" if point.co[0] in (1.0, 16.0) else "KEYFRAME"
    return rig


# --- cases -------------------------------------------------------------------------------

ON_TIME = {"heft.controller": "ON_TIME"}
STRONG = {"heft.use_strength": True, "heft.strength": 0.5}
CUSTOM = {"heft.range": "CUSTOM", "heft.frame_start": 1, "heft.frame_end": END}
FREE = {"heft.root": "FREE"}
KNIFE = {"heft.touch_self": True}

CASES: dict[str, dict[str, Case]] = {
    "armature": {
        "controller": Case("FOLLOW", "LIMP", swing),
        "settle_time": Case(0.1, 0.4, swing),
        "damping_ratio": Case(1.0, 0.3, swing),
        "heaviness": Case(0.0, 1.0, swing),
        "even_weight": Case(True, False, swing),
        "recovery_time": Case(0.0, 0.3, swing, {"heft.settle_time": 0.6}),
        "use_strength": Case(False, True, swing, {"heft.strength": 0.3}),
        "strength": Case(0.2, 2.0, swing, STRONG),
        "tone": Case(0.0, 2.0, hanging),
        "wind": Case((0.0, 0.0, 0.0), (20.0, 0.0, 0.0), hanging),
        "wind_strength": Case(1.0, 10.0, hanging, {"heft.wind": (10.0, 0.0, 0.0)}),
        "root": Case("ANIMATED", "FREE", swing),
        "let_go": Case(False, True, swing),
        "assist": Case(0.2, 3.0, swing, {"heft.root": "ASSISTED"}),
        "mix": Case(1.0, 0.4, swing),
        "steps_per_second": Case(240, 48, struck),
        "range": Case("SCENE", "CUSTOM", swing, {"heft.frame_start": 12, "heft.frame_end": 18}),
        "frame_start": Case(1, 10, swing, CUSTOM),
        "frame_end": Case(END, 12, swing, CUSTOM),
        "pre_roll": Case(0, 10, hanging, {"heft.controller": "FOLLOW", "heft.heaviness": 1.0}),
        "loop": Case("OFF", "RANGE", swing),
        "bad_frames": Case("KEEP", "SMOOTH", flawed),
        "meters_per_unit": Case(1.0, 0.1, hanging),
        "total_mass": Case(3.0, 12.0, swing),
        "detail": Case("FULL", "LIMBS", man),
        "natural_limits": Case(True, False, limited),
        "gravity": Case((0.0, 0.0, -9.81), (0.0, 0.0, -1.62), hanging),
        "ground": Case(False, True, dropped),
        "ground_height": Case(0.0, -0.5, dropped),
        "ground_friction": Case(0.0, 1.0, dropped),
        "ground_bounce": Case(0.0, 0.9, dropped),
        "colliders": Case(None, "Colliders", struck),
        "touch_self": Case(False, True, folded),
        "touch_self_limp": Case(False, True, shut, {"heft.controller": "LIMP", "heft.tone": 0.0}),
        "friction": Case(0.0, 1.5, dropped, {"heft.ground_friction": 1.0}),
        "bounce": Case(0.0, 0.9, dropped),
        "shape": Case(3.6, 8.0, swing, ON_TIME),
        "arrival": Case("CURVE", "REST", passing, ON_TIME),
        "key_type": Case("ALL", "EXTREME", marked, ON_TIME),
        "law": Case("CLOSED_FORM", "TORQUES", swing, ON_TIME),
        "pushes": Case("none", "push", swing),
        "ties": Case("none", "tie", tied),
    },
    "bone": {
        "behaviour": Case("SIMULATED", "LIMP", swing),
        "role": Case("NECK", "THIGH", swing, STRONG | {"heft.total_mass": 12.0}),
        "side": Case("AUTO", "MIDDLE", man),
        "settle_scale": Case(1.0, 4.0, swing),
        "heaviness_scale": Case(1.0, 0.0, swing),
        "strength_scale": Case(1.0, 0.2, swing, STRONG),
        "tone_scale": Case(1.0, 4.0, hanging, {"heft.tone": 1.0}),
        "mass": Case(0.5, 4.0, swing),
        "mix": Case(1.0, 0.2, swing),
        "shape": Case("CAPSULE", "NONE", struck),
        "overlap_group": Case(0, 1, folded, KNIFE),
        "use_limits": Case(False, True, hanging, {"bone.limits_from": "OWN", "bone.limit_swing": 0.1}),
        "limits_from": Case("RIG", "OWN", limited, {"bone.use_limits": True, "bone.limit_swing": 1.0}),
        "limit_swing": Case(0.1, 0.6, own_limits),
        "limit_low": Case(-0.1, -1.0, spun_back),
        "limit_high": Case(0.1, 1.0, spun),
    },
    "collider": {
        "shape": Case("SPHERE", "BOX", struck),
        "friction": Case(0.0, 1.5, wiped, {"heft.friction": 1.0}),
        "bounce": Case(0.0, 0.9, struck),
        "mass": Case(0.5, 5.0, struck),
        "response": Case("GIVES_WAY", "BRACES", struck),
        "moves": Case("ANIMATED", "FREE", struck),
        "free_from": Case(6, 18, struck),
    },
    "push": {
        "bone": Case("bone.002", "bone.001", swing),
        "direction": Case((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), swing),
        "impulse": Case(1.5, 3.0, swing),
        "frame": Case(6, 12, swing),
        "use_place": Case(False, True, swing, {"push.place": 1.0}),
        "place": Case(0.0, 1.0, swing, {"push.use_place": True}),
    },
    "tie": {
        "bone": Case("bone.002", "bone.001", tied),
        "end": Case("TAIL", "HEAD", tied),
        "kind": Case("PIN", "WELD", towed),
        "target": Case(None, "Ball", towed),
        "target_bone": Case("bone.000", "bone.001", tied_to_bone),
        "on": Case(True, False, tied),
        "response": Case("GIVES_WAY", "BRACES", hung),
    },
}  # fmt: skip
EVERY = [(owner, name) for owner, cases in CASES.items() for name in cases]
_table: list[tuple[str, str, float, float]] = []


def holder_of(rig: bpy.types.Object, owner: str):
    """Whose setting it is: of the rig, its chosen bone, the ball, the first push or tie."""
    if owner == "bone":
        return rig.pose.bones.get("upper_arm.L", rig.pose.bones[-2]).heft
    return {
        "armature": lambda: rig.heft,
        "heft": lambda: rig.heft,
        "collider": lambda: bpy.data.objects["Ball"].heft_collider,
        "push": lambda: rig.heft.pushes[0],
        "tie": lambda: rig.heft.ties[0],
    }[owner]()


def put(rig: bpy.types.Object, owner: str, name: str, value) -> None:
    """Change one setting."""
    if name in ("pushes", "ties"):
        if value == "none":
            getattr(rig.heft, name).clear()
    elif name == "overlap_group":
        for bone in rig.pose.bones:
            bone.heft.overlap_group = value
    elif name == "shape" and owner == "bone":
        for bone in rig.pose.bones:
            bone.heft.shape = value
    elif name == "colliders":
        rig.heft.colliders = bpy.data.collections[value] if value else None
    elif name == "target":
        rig.heft.ties[0].target = bpy.data.objects[value] if value else None
    else:
        setattr(holder_of(rig, owner), name, value)


def moved(case: Case, owner: str, name: str, value) -> tuple[np.ndarray, np.ndarray]:
    """(frames, bones, 4, 4) poses in the world [m], and (frames, objects, 3) where objects are, as they are shown."""
    rigs.new_file()
    rig = case.world()
    for path, given in case.settings.items():
        setattr(holder_of(rig, path.partition(".")[0]), path.partition(".")[2], given)
    put(rig, owner, name, value)
    bpy.ops.heft.simulate()
    things = [ob for ob in bpy.data.objects if ob.type == "MESH"]
    poses, places = [], []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        seen = rig.evaluated_get(graph)
        poses.append([np.array(seen.matrix_world @ bone.matrix) for bone in seen.pose.bones])
        places.append([np.array(ob.evaluated_get(graph).matrix_world.translation) for ob in things])
    return np.array(poses), np.array(places)


@pytest.mark.parametrize(("owner", "name"), EVERY, ids=[f"{owner}-{name}" for owner, name in EVERY])
def test_it_changes_what_is_shown(empty, owner, name):
    case = CASES[owner][name]
    before, things_before = moved(case, owner, name, case.before)
    after, things_after = moved(case, owner, name, case.after)
    turned = math.degrees(rigs.angles(before[..., :3, :3], after[..., :3, :3]).max())
    shifts = [np.linalg.norm(before[..., :3, 3] - after[..., :3, 3], axis=-1).max()]
    if things_before.size:
        shifts.append(np.linalg.norm(things_before - things_after, axis=-1).max())
    _table.append((owner, name, turned, 1000.0 * max(shifts)))
    assert turned > DEGREES or 1000.0 * max(shifts) > MILLIMETRES, f"{turned:.3f}°, {1000.0 * max(shifts):.3f} mm"


def test_the_same_settings_give_the_same_motion(empty):
    """Or all of the above would mean nothing."""
    case = CASES["armature"]["settle_time"]
    (before, _), (after, _) = (moved(case, "armature", "settle_time", 0.1) for _ in range(2))
    assert np.array_equal(before, after)


@pytest.mark.parametrize("owner", OWNERS)
def test_no_setting_is_left_out(owner):
    """What the motion depends on has a case, and so has what a take holds besides: the mix is seen."""
    kind = OWNERS[owner]
    visible = {prop.identifier for prop in kind.bl_rna.properties if not prop.is_hidden} - {"rna_type", "name"}
    assert visible <= set(kind.declared), "all are declared"
    wanted = {*declare.names(kind, is_simulated=True), *declare.names(kind, taken=True)}
    known = set(CASES[owner])
    assert wanted == known, f"{owner}: without a case {wanted - known}, without a setting {known - wanted}"


def test_live_simulates_by_itself(empty):
    rig = swing()
    bpy.ops.heft.simulate()
    before = rigs.poses(rig, FRAMES)
    rig.heft.settle_time = 0.5
    assert np.array_equal(rigs.poses(rig, FRAMES), before)
    rig.heft.live = True
    assert rigs.deviation(before, rigs.poses(rig, FRAMES), 1.0)[1] > DEGREES


def test_the_table():
    print(f"\n{'':10}{'setting':20}{'turned °':>10}{'moved mm':>10}")
    for owner, name, turned, shift in _table:
        print(f"{owner:10}{name:20}{turned:10.1f}{shift:10.0f}")
