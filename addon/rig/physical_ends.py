"""The physical ends of a Blender rig's bones, and the rig's size measured by them.

Owns reading heads, tails and skin as input of `bone_ends`. Must not decide where a bone ends, nor know physics.
"""

from __future__ import annotations

import bpy
import numpy as np

from ...engine.anatomy import bone_ends
from ...engine.anatomy.bone_ends import BoneEnds
from . import skin


def drawn(rig: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3) heads and (n, 3) tails of the armature's bones at rest, as drawn. No other function reads tails to derive
    a body's geometry from them."""
    bones = rig.data.bones
    heads, tails = (np.empty(len(bones) * 3, dtype=np.float32) for _ in range(2))
    bones.foreach_get("head_local", heads)
    bones.foreach_get("tail_local", tails)
    return heads.reshape(-1, 3).astype(np.float64), tails.reshape(-1, 3).astype(np.float64)


def drawn_posed(rig: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    """The same in the order of the pose's bones."""
    place = {bone.name: i for i, bone in enumerate(rig.data.bones)}
    order = [place[bone.name] for bone in rig.pose.bones]
    heads, tails = drawn(rig)
    return heads[order], tails[order]


def tree_of(rig: bpy.types.Object) -> tuple[list[str], list[int], np.ndarray, np.ndarray]:
    """Names, parents (-1 for none), heads (n, 3) and drawn tails (n, 3) of the armature's bones at rest."""
    bones = rig.data.bones
    names = [bone.name for bone in bones]
    place = {name: i for i, name in enumerate(names)}
    parents = [place[bone.parent.name] if bone.parent else -1 for bone in bones]
    return names, parents, *drawn(rig)


def find(rig: bpy.types.Object, scene: bpy.types.Scene | None = None) -> tuple[list[str], BoneEnds]:
    """The names of the armature's bones and their ends at rest [armature units]; without a scene the skin is
    ignored."""
    names, parents, heads, tails = tree_of(rig)
    skinned = skin.points(rig, scene) if scene is not None else {}
    skins = {i: skinned[name] for i, name in enumerate(names) if name in skinned}
    return names, bone_ends.find(parents, heads, tails, skins)


def vectors(rig: bpy.types.Object, scene: bpy.types.Scene) -> dict[str, np.ndarray]:
    """By bone, the vector (3,) from its head to its end in its own frame [armature units]."""
    names, ends = find(rig, scene)
    rests = np.array([bone.matrix_local for bone in rig.data.bones], dtype=np.float64).reshape(-1, 4, 4)
    return dict(zip(names, ends.vectors(rests), strict=True))


def height(rig: bpy.types.Object) -> float:
    """The longest side of the rest pose [armature units]."""
    return find(rig)[1].size
