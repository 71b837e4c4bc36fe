"""Bones without a body whose motion must be keyed, because Blender's parenting would leave them behind.

Owns which those are. Must not know poses or results.

An Ignored bone below a body moves with it by Blender's parenting. A deforming bone that is parented elsewhere, or that
constraints pull (half a limb of Rigify, its face), would stay with the source while the body moves: it gets keys. So
does a bone in an IK chain with a body (the IK is muted while the result shows), and one that a body is connected to: on
the result armature that body could not leave its tail. If no body carries such a bone, it stays with the source in
armature space.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import bpy

from ..blender import ik_solvers, own_marks

# Constraints that only limit a bone's own motion.
BOUNDS = {"LIMIT_ROTATION", "LIMIT_LOCATION", "LIMIT_SCALE", "LIMIT_DISTANCE", "MAINTAIN_VOLUME"}


def riders(
    rig: bpy.types.Object,
    parents: Sequence[int],
    connected: Sequence[bool],
    is_body: Sequence[bool],
    holders: Sequence[int],
) -> dict[int, bool]:
    """Bones that ride by keys of the result, parents first; True if the rig shows them.

    parents, connected, is_body, holders (the body that carries each, -1 for none): of each bone in the pose's order.
    """
    bones = list(rig.pose.bones)
    found = dict.fromkeys(_solved_with_bodies(rig, is_body), True)
    for bone in range(len(bones)):
        if is_body[bone] or holders[bone] < 0:
            continue
        if bones[bone].bone.use_deform and not _follows(bones, parents, bone, holders[bone]):
            found[bone] = True
    for bone in reversed(range(len(bones))):
        above = parents[bone]
        if connected[bone] and (is_body[bone] or bone in found) and not is_body[above]:
            found.setdefault(above, False)
    return dict(sorted(found.items()))


def _solved_with_bodies(rig: bpy.types.Object, is_body: Sequence[bool]) -> Iterator[int]:
    """The other bones of IK chains that contain a body."""
    for bone, constraint in ik_solvers.solvers_of(rig):
        chain = [rig.pose.bones.find(each.name) for each in ik_solvers.solved_by(bone, constraint)]
        if any(is_body[each] for each in chain):
            yield from (each for each in chain if not is_body[each])


def _follows(bones: Sequence[bpy.types.PoseBone], parents: Sequence[int], bone: int, holder: int) -> bool:
    """True if the bone follows that body by the rig's own parenting, and nothing else moves it."""
    while bone >= 0 and bone != holder:
        if any(is_pulling(each) for each in bones[bone].constraints):
            return False
        bone = parents[bone]
    return bone == holder


def is_pulling(constraint: bpy.types.Constraint) -> bool:
    """True if the constraint moves its bone towards something else."""
    return not constraint.mute and constraint.type not in BOUNDS and constraint.name != own_marks.CONSTRAINT
