"""A person as Mixamo's auto-rigger makes them: 65 bones with its names, a skin, a standing and a walking action.

Owns the skeleton, the skin, the two actions and the way through a glTF file. An armature that is imported at object
scale 0.01 or 100 has leaf bones of absurd length: Blender's importer guesses them, because glTF has no bone ends.
Measures in metres, Z up; the person looks along −Y and stands in a T-pose at rest.
"""

from __future__ import annotations

import math
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

import rigs

PREFIX = "mixamorig:"
HEIGHT = 1.75
FPS = 24  # of a new file: Blender imports glTF at the rate of its scene
IDLE, WALK = "Idle", "Walk"
IDLE_FRAMES, WALK_FRAMES = 96, 72
# Object scales at which glTF files of such rigs come.
SCALES = (0.01, 1.0, 100.0)
HIP, KNEE, ANKLE, BALL = 0.93, 0.50, 0.085, 0.025
ARMS_DOWN = math.radians(72.0)
# Walking: seconds a cycle, metres a cycle, the part of a cycle in which a foot stands, how high it swings [m].
CYCLE, STRIDE, STANCE, LIFT = 1.1, 1.3, 0.62, 0.08
FINGERS = {"Thumb": (-0.030, 0.022), "Index": (-0.028, 0.0), "Middle": (-0.006, 0.0), "Ring": (0.015, 0.0),
           "Pinky": (0.034, 0.0)}  # fmt: skip
SIDES = 12


def skeleton() -> list[tuple[str, str | None, tuple, tuple, float]]:
    """Rows of name, parent, head, tail and the skin's radius, 0 for bones without skin. Names have no prefix."""
    rows = [
        ("Hips", None, (0, 0, HIP + 0.05), (0, 0, 1.07), 0.13),
        ("Spine", "Hips", (0, 0, 1.07), (0, 0, 1.18), 0.125),
        ("Spine1", "Spine", (0, 0, 1.18), (0, 0, 1.30), 0.135),
        ("Spine2", "Spine1", (0, 0, 1.30), (0, 0, 1.47), 0.14),
        ("Neck", "Spine2", (0, 0, 1.47), (0, -0.015, 1.55), 0.055),
        ("Head", "Neck", (0, -0.015, 1.55), (0, -0.015, HEIGHT), 0.095),
        ("HeadTop_End", "Head", (0, -0.015, HEIGHT), (0, -0.015, HEIGHT + 0.1), 0.0),
    ]
    for side, s in (("Left", 1.0), ("Right", -1.0)):
        arm = [
            (s * 0.05, 0, 1.43),
            (s * 0.17, 0, 1.43),
            (s * 0.45, 0.01, 1.43),
            (s * 0.71, 0, 1.43),
            (s * 0.80, 0, 1.43),
        ]
        radii = (0.06, 0.048, 0.037, 0.03)
        above = "Spine2"
        for k, name in enumerate(("Shoulder", "Arm", "ForeArm", "Hand")):
            rows.append((side + name, above, arm[k], arm[k + 1], radii[k]))
            above = side + name
        rows += _finger_rows(side, s)
        leg = [(s * 0.09, 0, HIP), (s * 0.09, -0.006, KNEE), (s * 0.09, 0.006, ANKLE), (s * 0.095, -0.13, BALL),
               (s * 0.095, -0.20, 0.02), (s * 0.095, -0.24, 0.02)]  # fmt: skip
        above = "Hips"
        for k, (name, radius) in enumerate(
            (("UpLeg", 0.078), ("Leg", 0.052), ("Foot", 0.035), ("ToeBase", 0.022), ("Toe_End", 0.0))
        ):
            rows.append((side + name, above, leg[k], leg[k + 1], radius))
            above = side + name
    return rows


def _finger_rows(side: str, s: float) -> list[tuple[str, str | None, tuple, tuple, float]]:
    rows = []
    for finger, (y, drop) in FINGERS.items():
        long = (0.035, 0.03, 0.024, 0.015) if finger == "Thumb" else (0.042, 0.026, 0.02, 0.015)
        start = 0.735 if finger == "Thumb" else 0.80
        way = np.array([s * 0.8, -0.6, 0.0]) if finger == "Thumb" else np.array([s, 0.0, 0.0])
        at = np.array([s * start, y, 1.43 - drop])
        above = f"{side}Hand"
        for joint, length in enumerate(long, 1):
            name = f"{side}Hand{finger}{joint}"
            radius = 0.0 if joint == 4 else 0.0085
            rows.append((name, above, tuple(at), tuple(at + length * way), radius))
            at, above = at + length * way, name
    return rows


def build(scale: float = 1.0) -> bpy.types.Object:
    """The person in the open file, active, with skin and both actions, Idle assigned. The object has this scale and
    the bones are as much larger, so that the person is of the same height at every scale."""
    bpy.context.scene.render.fps = FPS
    rig = _armature(1.0 / scale)
    rig.scale = (scale,) * 3
    _skin(rig, 1.0 / scale)
    bpy.context.view_layer.update()
    rig.animation_data_create()
    for name, poses in ((WALK, _walk()), (IDLE, _idle())):
        action = bpy.data.actions.new(name)
        action.use_fake_user = True
        rig.animation_data.action = action
        _key(rig, poses, 1.0 / scale)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, IDLE_FRAMES
    bpy.context.scene.frame_set(1)
    return rig


def _armature(times: float) -> bpy.types.Object:
    data = bpy.data.armatures.new("Armature")
    rig = bpy.data.objects.new("Armature", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail, _ in skeleton():
        bone = data.edit_bones.new(PREFIX + name)
        bone.head, bone.tail = np.multiply(head, times), np.multiply(tail, times)
        bone.parent = data.edit_bones[PREFIX + parent] if parent else None
        bone.align_roll(Vector((0.0, -1.0, 0.0)))
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def _skin(rig: bpy.types.Object, times: float) -> None:
    """A closed tube round each bone that has a radius, moved by that bone alone."""
    points, faces, owners = [], [], []
    for name, _, head, tail, radius in skeleton():
        if radius == 0.0:
            continue
        head, tail = np.array(head, dtype=float), np.array(tail, dtype=float)
        along = (tail - head) / np.linalg.norm(tail - head)
        u = np.cross(along, (0.0, 1.0, 0.0) if abs(along[1]) < 0.7 else (1.0, 0.0, 0.0))
        u /= np.linalg.norm(u)
        v, turn, start = np.cross(along, u), 2.0 * math.pi * np.arange(SIDES) / SIDES, len(points)
        for part, wide in ((-0.05, 0.6), (0.1, 1.0), (0.5, 1.0), (0.9, 0.95), (1.05, 0.6)):
            ring = np.cos(turn)[:, None] * u + np.sin(turn)[:, None] * v
            points += list(head + part * (tail - head) + wide * radius * ring)
        for k in range(4 * SIDES):
            a, b = start + k, start + k // SIDES * SIDES + (k + 1) % SIDES
            faces.append((a, b, b + SIDES, a + SIDES))
        faces += [tuple(range(start + SIDES - 1, start - 1, -1)), tuple(range(len(points) - SIDES, len(points)))]
        owners += [PREFIX + name] * (len(points) - start)
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([tuple(times * p) for p in points], [], faces)
    body = bpy.data.objects.new("Skin", mesh)
    bpy.context.scene.collection.objects.link(body)
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
    for name in dict.fromkeys(owners):
        group = body.vertex_groups.new(name=name)
        group.add([i for i, owner in enumerate(owners) if owner == name], 1.0, "REPLACE")


# One frame of a motion: by bone a turn about the armature's axes (a 3×3 matrix, on top of the parent's), and where
# the hips have moved to [m].
Pose = tuple[dict[str, Matrix], Vector]


def _about(axis: str, angle: float) -> Matrix:
    return Matrix.Rotation(angle, 3, axis)


def _arms(swing: float, bend: float) -> dict[str, Matrix]:
    """Arms that hang and swing forward by `swing`, left, and backward, right, elbows and fingers bent."""
    out = {}
    for side, s in (("Left", 1.0), ("Right", -1.0)):
        out[f"{side}Arm"] = _about("X", -s * swing) @ _about("Y", s * ARMS_DOWN)
        out[f"{side}ForeArm"] = _about("Z", -s * (bend + 0.3 * max(s * swing, 0.0)))
        for finger in FINGERS:
            for joint in (1, 2, 3):
                axis, turn = ("Z", -0.15) if finger == "Thumb" else ("Y", 0.22)
                out[f"{side}Hand{finger}{joint}"] = _about(axis, s * turn)
    return out


def _idle() -> list[Pose]:
    """Standing: breathing and a slow shift of weight, the feet stay where they are."""
    poses = []
    for frame in range(IDLE_FRAMES):
        t = 2.0 * math.pi * frame / IDLE_FRAMES
        shift = Vector((0.012 * math.sin(t), 0.004 * math.sin(2.0 * t), -0.012 + 0.002 * math.cos(2.0 * t)))
        turns = _arms(0.02 * math.sin(t), 0.12)
        for k, name in enumerate(("Spine", "Spine1", "Spine2")):
            turns[name] = _about("X", 0.012 * math.sin(2.0 * t + 0.3 * k)) @ _about("Y", -0.01 * math.sin(t))
        turns["Head"] = _about("Z", 0.06 * math.sin(t + 0.5)) @ _about("X", 0.02 * math.sin(2.0 * t))
        for side, s in (("Left", 1.0), ("Right", -1.0)):
            turns |= _leg(side, shift, Vector((s * 0.09, 0.006, ANKLE)), 0.0)
        poses.append((turns, shift))
    return poses


def _walk() -> list[Pose]:
    """Walking along −Y: each foot stands still where it is put down."""
    poses = []
    for frame in range(WALK_FRAMES):
        cycles = frame / FPS / CYCLE
        t = 2.0 * math.pi * cycles
        shift = Vector((0.015 * math.sin(t), -STRIDE * cycles, -0.035 - 0.015 * math.cos(2.0 * t)))
        turns = _arms(-0.45 * math.cos(t), 0.25)
        turns["Hips"] = _about("Z", 0.08 * math.cos(t))
        turns["Spine"], turns["Spine1"] = _about("Z", -0.08 * math.cos(t)), _about("Z", -0.06 * math.cos(t))
        turns["Spine2"] = _about("X", 0.03 * math.sin(2.0 * t))
        for side, s, lead in (("Left", 1.0, 0.0), ("Right", -1.0, 0.5)):
            foot, pitch = _step(cycles + lead)
            foot.y += STRIDE * lead
            turns |= _leg(side, shift, Vector((s * 0.09, 0.006, ANKLE)) + foot, pitch, turns["Hips"])
        poses.append((turns, shift))
    return poses


def _step(cycles: float) -> tuple[Vector, float]:
    """Where a foot is, as an offset from where it stands at rest [m], and how far its toes point up [rad]."""
    whole, part = divmod(cycles, 1.0)
    middle = 0.5 * STANCE
    if part < STANCE:
        rise = max(part / STANCE - 0.8, 0.0) / 0.2
        return Vector((0.0, -STRIDE * (whole + middle), 0.05 * rise)), -0.35 * rise
    swing = (part - STANCE) / (1.0 - STANCE)
    ahead = swing * swing * (3.0 - 2.0 * swing)
    high = LIFT * math.sin(math.pi * swing) + 0.05 * (1.0 - swing) ** 2
    return Vector((0.0, -STRIDE * (whole + middle + ahead), high)), -0.35 * (1.0 - swing) ** 2


def _leg(side: str, shift: Vector, ankle: Vector, pitch: float, hips: Matrix | None = None) -> dict[str, Matrix]:
    """Turns of a leg whose ankle is there and whose sole is pitched by so much, with the knee to the front."""
    hips = hips or Matrix.Identity(3)
    rest = {row[0]: Vector(row[2]) for row in skeleton()}
    pivot = rest["Hips"]
    hip = shift + pivot + hips @ (rest[f"{side}UpLeg"] - pivot)
    upper, lower = rest[f"{side}Leg"] - rest[f"{side}UpLeg"], rest[f"{side}Foot"] - rest[f"{side}Leg"]
    way = ankle - hip
    far = min(way.length, 0.9995 * (upper.length + lower.length))
    cosine = (upper.length_squared + far * far - lower.length_squared) / (2.0 * upper.length * far)
    bent = math.acos(max(-1.0, min(1.0, cosine)))
    # The knee is in the plane of the leg and the way ahead.
    ahead = Vector((0.0, -1.0, 0.0))
    ahead = (ahead - ahead.project(way)).normalized()
    along = way.normalized()
    knee = hip + upper.length * (math.cos(bent) * along + math.sin(bent) * ahead)
    thigh = upper.rotation_difference(knee - hip).to_matrix()
    shank = (thigh @ lower).rotation_difference(hip + far * along - knee).to_matrix() @ thigh
    foot = _about("X", -pitch)
    return {
        f"{side}UpLeg": hips.inverted() @ thigh,
        f"{side}Leg": thigh.inverted() @ shank,
        f"{side}Foot": shank.inverted() @ foot,
        f"{side}ToeBase": _about("X", 0.8 * pitch),
    }


def _key(rig: bpy.types.Object, poses: list[Pose], times: float) -> None:
    """Write the motion as keys on every frame of all bones that have a joint to turn."""
    named = {bone.name.removeprefix(PREFIX): bone for bone in rig.pose.bones}
    last: dict[str, object] = {}
    for frame, (turns, shift) in enumerate(poses, 1):
        for name, bone in named.items():
            rest = bone.bone.matrix_local.to_3x3()
            turn = (rest.inverted() @ turns.get(name, Matrix.Identity(3)) @ rest).to_quaternion()
            if name in last:
                turn.make_compatible(last[name])
            last[name] = turn
            bone.rotation_quaternion = turn
            if not name.endswith(("_End", "4")):
                bone.keyframe_insert("rotation_quaternion", frame=frame)
            if name == "Hips":
                bone.location = rest.inverted() @ (times * shift)
                bone.keyframe_insert("location", frame=frame)


def export(path: Path, scale: float = 1.0) -> Path:
    """Write a glTF file of the person, whose armature has this scale. Leaves its own scene open."""
    rigs.new_file()
    rig = build(scale)
    data = rig.animation_data
    data.action = None
    for name in (IDLE, WALK):
        track = data.nla_tracks.new()
        track.name = name
        track.strips.new(name, 1, bpy.data.actions[name])
    bpy.ops.export_scene.gltf(filepath=str(path), export_format="GLB", export_optimize_animation_size=False)
    return path


def open_imported(scale: float, folder: Path, action: str = IDLE) -> bpy.types.Object:
    """A file with the person as Blender's glTF importer brings them in at this object scale, active, with one of the
    two actions; `folder` is for files on the way."""
    path = folder / f"mixamo_like_{scale:g}.glb"
    if not path.exists():
        export(path, scale)
    rigs.open_skin(path, folder)
    rig = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.context.scene.render.fps = FPS
    choose_action(rig, action)
    return rig


def choose_action(rig: bpy.types.Object, name: str) -> None:
    """Let the person stand or walk, and make the scene as long as the action."""
    from heft.addon.blender import actions

    data = rig.animation_data
    for track in list(data.nla_tracks):
        data.nla_tracks.remove(track)
    action = next(each for each in bpy.data.actions if each.name.startswith(name))
    actions.assign(rig, action, action.slots[0] if hasattr(action, "slots") else None)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = (round(frame) for frame in action.frame_range)
    scene.frame_set(scene.frame_start)
