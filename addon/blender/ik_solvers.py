"""The IK and Spline IK constraints of a rig, and the bones that each solves."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from .own_marks import muted_solvers

SOLVERS = ("IK", "SPLINE_IK")


def is_driven(rig: bpy.types.Object, path: str) -> bool:
    data = rig.animation_data
    return data is not None and len(data.drivers) > 0 and data.drivers.find(path) is not None


def solvers_of(rig: bpy.types.Object) -> Iterator[tuple[bpy.types.PoseBone, bpy.types.Constraint]]:
    """The rig's IK and Spline IK constraints that are not permanently muted, each with its bone."""
    ours = muted_solvers(rig)
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            if constraint.type not in SOLVERS:
                continue
            driven = is_driven(rig, f"{constraint.path_from_id()}.mute")
            if not constraint.mute or driven or (bone.name, constraint.name) in ours:
                yield bone, constraint


def solved_by(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> Iterator[bpy.types.PoseBone]:
    """The bones of the chain that an IK constraint on this bone solves, from its end upwards."""
    count = constraint.chain_count or 10**6
    if constraint.type == "IK" and not constraint.use_tail:
        bone = bone.parent
    while bone is not None and count > 0:
        yield bone
        bone, count = bone.parent, count - 1
