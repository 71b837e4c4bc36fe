"""A wooden performer with 39 degrees of freedom in its joints, and the poses it is asked for (no scene of its own).

The mannequin with collar bones and straight arms: eleven ball joints; elbows, knees and collar bones are hinges.
Its neck is no body: it rides on the chest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import bpy
from mathutils import Matrix, Vector

from . import mannequin, stage
from .mannequin import HIPS
from .skin import Skin

SHOULDER, UPPER, FORE, HAND = Vector((0.2, 0.0, HIPS + 0.46)), 0.28, 0.25, 0.16
HANGING = Vector((0.16, 0.0, -1.0)).normalized()
FRONT = Vector((0.0, -1.0, 0.0))
# bone: the axis it turns about, its own X that flexes, or Z that lifts; all others are ball joints
HINGES = {"forearm": 0, "shin": 0, "clavicle": 2}


def bones() -> list[tuple[str, str | None, Vector, Vector]]:
    """The mannequin's, with arms of our own."""
    rows = [row for row in mannequin.bones() if not row[0].startswith(("upper_arm", "forearm", "hand"))]
    for side, s in (("L", 1), ("R", -1)):
        mirror = Vector((s, 1, 1))
        joint, along = SHOULDER * mirror, HANGING * mirror
        rows.append((f"clavicle.{side}", "chest", Vector((s * 0.04, 0, joint.z)), joint))
        for name, parent, length in (("upper_arm", "clavicle", UPPER), ("forearm", "upper_arm", FORE),
                                     ("hand", "forearm", HAND)):  # fmt: skip
            rows.append((f"{name}.{side}", f"{parent}.{side}", joint, joint + along * length))
            joint = joint + along * length
    return rows


def add(name: str = "Performer", color: str = "clay") -> bpy.types.Object:
    """The performer with its body, standing with hanging arms."""
    rig = stage.rig(name, bones())
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in rig.data.edit_bones:
        bone.align_roll(-FRONT if bone.name.startswith("shin") else FRONT)  # so that X flexes
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        free = HINGES.get(bone.name.split(".")[0])
        if free is not None:
            bone.rotation_mode = "XYZ"
            bone.lock_rotation = [axis != free for axis in range(3)]
    mannequin.add_body(rig, color)
    skin = Skin(rig)
    for side in "LR":
        skin.capsule(f"clavicle.{side}", 0.04, 0.05, material="joint")
    skin.bind(f"{name} collar bones")
    return rig


def pose(rig: bpy.types.Object, arms: Mapping[str, tuple], turns: Mapping[str, tuple] = {}, knees: float = 0.0) -> None:
    """Put the rig into a pose, without keys.

    arms: by side, where the upper arm, the forearm and the hand point, and how far the shoulder is lifted [°]; turns
    [°] of other bones about the armature's axes; knees: how far they are bent [°], the feet staying where they are.
    """
    for bone in rig.pose.bones:
        bone.matrix_basis = Matrix()
    drop = 2 * mannequin.LEG * (1 - math.cos(math.radians(knees)))
    rig.pose.bones["hips"].location = _rest(rig, "hips").inverted() @ Vector((0, 0, -drop))
    legs = {f"{name}.{side}": (turn, 0, 0) for side in "LR" for name, turn in (("thigh", -knees), ("foot", -knees))}
    for side in "LR":
        rig.pose.bones[f"shin.{side}"].rotation_euler.x = math.radians(2 * knees)
    for name, degrees in {**legs, **turns}.items():
        stage.turn(rig.pose.bones[name], degrees)
    for side, (upper, fore, hand, lift) in arms.items():
        rig.pose.bones[f"clavicle.{side}"].rotation_euler.z = math.radians(lift if side == "L" else -lift)
        _point_arm(rig, side, Vector(upper).normalized(), Vector(fore).normalized(), Vector(hand).normalized())


def _rest(rig: bpy.types.Object, name: str) -> Matrix:
    return rig.data.bones[name].matrix_local.to_3x3()


def _point_arm(rig: bpy.types.Object, side: str, upper: Vector, fore: Vector, hand: Vector) -> None:
    """Turn the upper arm so that its elbow, a hinge, can bend the forearm the way it is asked to point."""
    bent = fore if upper.angle(fore) > 1e-3 else FRONT
    across = (bent - upper * bent.dot(upper)).normalized()
    frame = Matrix((upper.cross(across), upper, across)).transposed()
    arm, bend = rig.pose.bones[f"upper_arm.{side}"], upper.angle(fore)
    arm.rotation_quaternion = (_rest(rig, arm.name).inverted() @ frame).to_quaternion()
    rig.pose.bones[f"forearm.{side}"].rotation_euler.x = bend
    seen = (frame @ Matrix.Rotation(bend, 3, "X")).inverted() @ hand
    rig.pose.bones[f"hand.{side}"].rotation_quaternion = Vector((0, 1, 0)).rotation_difference(seen)


def both(upper: tuple, fore: tuple, hand: tuple | None = None, lift: float = 0.0) -> dict[str, tuple]:
    """Both arms alike; directions as the left arm has them."""
    hand = hand or fore
    mirrored = [(-x, y, z) for x, y, z in (upper, fore, hand)]
    return {"L": (upper, fore, hand, lift), "R": (*mirrored, lift)}


def key(rig: bpy.types.Object, frame: int) -> None:
    """Key the rig's pose of the moment."""
    for bone in rig.pose.bones:
        is_quaternion = bone.rotation_mode == "QUATERNION"
        bone.keyframe_insert("rotation_quaternion" if is_quaternion else "rotation_euler", frame=frame)
    rig.pose.bones["hips"].keyframe_insert("location", frame=frame)


def script(rig: bpy.types.Object, poses: Mapping[str, dict], steps: Iterable[tuple[str, float]], name: str) -> None:
    """Save the poses by name and turn the script of (pose, seconds) into the rig's keys, from the rig's pose on."""
    present = {bone.name: bone.matrix_basis.copy() for bone in rig.pose.bones}
    for pose_name, settings in poses.items():
        pose(rig, **settings)
        bpy.ops.heft.save_pose(name=pose_name)
    for bone in rig.pose.bones:
        bone.matrix_basis = present[bone.name]
    for pose_name, seconds in steps:
        entry = rig.heft.script.add()
        entry.pose, entry.seconds = pose_name, seconds
    bpy.ops.heft.script_to_keys()
    stage.name_action(rig, name)
