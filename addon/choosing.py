"""Which bones become bodies, and which ride on one.

Owns that choice, as it is made once when physics is added. Must not know Blender.

A body is a piece that swings by itself: a thigh is one, whether its rig cuts it in two or gives it twist bones; a
face is part of its head; what lies on the floor between the feet, and what IK is pulled by, is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import bone_names, joining
from .parts import MIDDLE, Part

# Cut in two, these are still one: each of the others in a row is a body of its own.
ONE_PIECE = ("UPPER_ARM", "LOWER_ARM", "HAND", "THIGH", "SHANK", "FOOT", "COLLAR", "HEAD", "PELVIS")
# Parts of a head that do not swing.
OF_THE_HEAD = ("JAW", "EYE", "EAR")
# Shorter than this part of the rig's size a bone has no length.
NO_LENGTH = 1e-4


@dataclass(frozen=True, eq=False)
class Bones:
    """names, parents (n,) -1 for none; heads, tails (n, 3) at rest; deform, keyed, connected (n,): moves a skin, has
    keys, cannot leave its parent's tail; parts (n,)."""

    names: Sequence[str]
    parents: Sequence[int]
    heads: np.ndarray
    tails: np.ndarray
    deform: Sequence[bool]
    keyed: Sequence[bool]
    connected: Sequence[bool]
    parts: Sequence[Part]


def behaviours(bones: Bones) -> list[str]:
    """SIMULATED or IGNORED, one a bone."""
    if not bones.names:
        return []
    candidates = _candidates(bones)
    above = joining.holders(bones.parents, bones.heads, bones.tails, candidates)
    rides = _riders(bones, candidates, above)
    if all(rides[i] or not candidates[i] for i in range(len(rides))):
        rides = [False] * len(rides)
    return [
        "SIMULATED" if is_candidate and not rides[bone] else "IGNORED" for bone, is_candidate in enumerate(candidates)
    ]


def _candidates(bones: Bones) -> list[bool]:
    """Those that deform; where none does, those with keys; where there are none, all."""
    for wanted in (bones.deform, bones.keyed):
        if any(wanted):
            return [bool(each) for each in wanted]
    return [True] * len(bones.names)


def _riders(bones: Bones, candidates: Sequence[bool], above: Sequence[int]) -> list[bool]:
    """(n,) which of the candidates are no bodies of their own."""
    said = [bone_names.told(name) for name in bones.names]
    below = _below(above, candidates)
    of_body = _of_body(bones, above)
    has_pelvis = any(part.role == "PELVIS" and part.side == MIDDLE for part in bones.parts)
    size = float(np.ptp(np.concatenate([bones.heads, bones.tails]), axis=0).max())
    parts = [(part, candidate) for part, candidate in zip(bones.parts, candidates, strict=True)]
    out = [False] * len(said)
    for bone, one in enumerate(said):
        if not candidates[bone]:
            continue
        part, holder = bones.parts[bone], above[bone]
        # By its name: a shape alone may be taken for a body that is none.
        same = holder >= 0 and bones.parts[holder] == part and part.role in ONE_PIECE and one.role is not None
        out[bone] = (
            one.kind in ("TARGET", "OFFSET")
            or (one.kind == "END" and not below[bone])
            or (one.kind == "TWIST" and holder >= 0 and bones.parts[holder].role == part.role)
            or one.is_piece
            or (part.role in OF_THE_HEAD and holder >= 0)
            or same
            or (part.role == "PELVIS" and part.side != MIDDLE and has_pelvis and holder >= 0)
            # In a body, what carries the pelvis or hangs beside it moves the rig and is no part of it.
            or (has_pelvis and part.role == "OTHER" and not of_body[bone] and not _leads(bones, bone, candidates))
            or (_has_no_length(bones, bone, below[bone], size) and parts.count((part, True)) > 1)
        )
    return out


def _below(above: Sequence[int], candidates: Sequence[bool]) -> list[list[int]]:
    """The candidates that hang on each bone."""
    out: list[list[int]] = [[] for _ in above]
    for bone, holder in enumerate(above):
        if candidates[bone] and holder >= 0:
            out[holder].append(bone)
    return out


def _of_body(bones: Bones, above: Sequence[int]) -> list[bool]:
    """(n,) is the bone a named part of a body, or does it hang on one?"""
    out = []
    for bone in range(len(bones.names)):
        each = bone
        while each >= 0 and bones.parts[each].role == "OTHER":
            each = above[each]
        out.append(each >= 0)
    return out


def _leads(bones: Bones, bone: int, candidates: Sequence[bool]) -> bool:
    """Is another connected to its tail? That one cannot be moved without it."""
    return any(parent == bone and bones.connected[kid] and candidates[kid] for kid, parent in enumerate(bones.parents))


def _has_no_length(bones: Bones, bone: int, below: list[int], size: float) -> bool:
    """Does all that hangs on it hang on its very head, or is it a point itself?"""
    ends = bones.heads[below] if below else bones.tails[[bone]]
    return bool((np.linalg.norm(ends - bones.heads[bone], axis=1) < NO_LENGTH * size).all())
