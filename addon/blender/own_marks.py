"""What Heft leaves on a rig that other modules must recognise: the name of its constraint, and the IK that it muted.

Owns the name and the record of muted constraints. Must not change anything.
"""

from __future__ import annotations

import json

import bpy

CONSTRAINT = "Heft"


def muted_solvers(rig: bpy.types.Object) -> list[tuple[str, str]]:
    """Bone and constraint name of each constraint that Heft muted."""
    return [(bone, name) for bone, name in json.loads(rig.heft.muted or "[]")]


def muting_paths(rig: bpy.types.Object) -> set[str]:
    """Data paths of the mute properties of constraints that Heft muted."""
    found = ((rig.pose.bones.get(bone), name) for bone, name in muted_solvers(rig))
    solvers = (bone.constraints.get(name) for bone, name in found if bone is not None)
    return {f"{each.path_from_id()}.mute" for each in solvers if each is not None}
