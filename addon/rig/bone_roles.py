"""Roles of a rig's bones: as detected, and as the animator corrected them.

Owns `roles_of`, which all users of roles call. Must not know how they are detected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...engine.anatomy import roles
from ...engine.anatomy.role_list import IN_A_ROW, JOINT_OF_ROLE, MIDDLE, Part
from .. import settings
from ..memory import LOAD, REMOVE, UNDO, Memo
from . import physical_ends

# Roles made of several bones, each with a joint of that kind.
JOINTS_IN_A_ROW = ("spine", "neck")


class Shape(NamedTuple):
    """A rig's bones as input of role detection; arrays as bytes, so that two inputs compare fast."""

    names: tuple[str, ...]
    parents: tuple[int, ...]
    heads: bytes
    tails: bytes
    deform: bytes


class _Kept(NamedTuple):
    shape: Shape
    found: dict[str, Part]
    corrections: tuple[tuple[str, str], ...]
    parts: dict[str, Part]


_kept: Memo[int, _Kept] = Memo("roles of bones", "rig", (LOAD, UNDO, REMOVE))


def roles_of(rig: bpy.types.Object) -> dict[str, Part]:
    """The part of each bone, by name. Cached while nothing has changed; callers must not modify it."""
    shape, corrections = _shape(rig), _corrections(rig)
    kept = _kept.get(rig.session_uid)
    if kept is not None and kept.shape == shape and kept.corrections == corrections:
        return kept.parts
    found = kept.found if kept is not None and kept.shape == shape else _find(shape)
    parts = {
        name: Part(part.role if role == "AUTO" else role, part.side if side == "AUTO" else side)
        for (name, part), (role, side) in zip(found.items(), corrections, strict=True)
    }
    _kept[rig.session_uid] = _Kept(shape, found, corrections, parts)
    return parts


def found_in(rig: bpy.types.Object) -> dict[str, Part]:
    """The parts as detected, without corrections."""
    roles_of(rig)
    return _kept[rig.session_uid].found


def parts_of(rig: bpy.types.Object, names: Sequence[str], parents: Sequence[int]) -> list[Part | None]:
    """The part of each bone in the body; None for bones without a part, such as the second half of a limb.

    names, parents (n,) of the rig's bones, -1 for none.
    """
    found = roles_of(rig)
    out: list[Part | None] = []
    for name, parent in zip(names, parents, strict=True):
        part = found[name]
        again = parent >= 0 and found[names[parent]] == part and part.role not in IN_A_ROW
        out.append(None if again or part.role == "OTHER" else part)
    return out


def joints_of(names: tuple[str, ...], parents: np.ndarray, parts: dict[str, Part]) -> list[str | None]:
    """The joint at the head of each body, by its name in `engine.STRENGTH_OF_ROLE`, or None.

    names, parents (n,) of the bodies, -1 for none. A root has no joint. The lower half of a split limb is no second
    joint of that kind. Half a pelvis carries a leg as a hip does.
    """
    out: list[str | None] = []
    for name, parent in zip(names, parents, strict=True):
        part = parts[name]
        joint = JOINT_OF_ROLE.get(part.role)
        if part.role == "PELVIS":
            joint = "spine" if part.side == MIDDLE else "hip"
        again = parent >= 0 and part == parts[names[parent]] and joint not in JOINTS_IN_A_ROW
        out.append(None if parent < 0 or again else joint)
    return out


def _find(shape: Shape) -> dict[str, Part]:
    heads, tails = (np.frombuffer(ends, dtype=np.float64).reshape(-1, 3) for ends in (shape.heads, shape.tails))
    deform = np.frombuffer(shape.deform, dtype=bool)
    found = roles.find(shape.names, shape.parents, heads, tails, deform.tolist())
    return dict(zip(shape.names, found, strict=True))


def _shape(rig: bpy.types.Object) -> Shape:
    bones = rig.data.bones
    count = len(bones)
    heads, tails = physical_ends.drawn(rig)
    deform = np.empty(count, dtype=bool)
    bones.foreach_get("use_deform", deform)
    names = tuple(bone.name for bone in bones)
    place = {name: i for i, name in enumerate(names)}
    parents = tuple(place[bone.parent.name] if bone.parent else -1 for bone in bones)
    return Shape(names, parents, heads.tobytes(), tails.tobytes(), deform.tobytes())


def _corrections(rig: bpy.types.Object) -> tuple[tuple[str, str], ...]:
    """Role and side that the animator set for each bone. Creates no settings on a rig without physics."""
    if not settings.has_physics(rig):
        return (("AUTO", "AUTO"),) * len(rig.data.bones)
    found = {bone.name: bone.heft for bone in rig.pose.bones}
    # A bone just created in Edit Mode has no pose bone yet.
    looks = (found.get(bone.name) for bone in rig.data.bones)
    return tuple((look.role, look.side) if look is not None else ("AUTO", "AUTO") for look in looks)
