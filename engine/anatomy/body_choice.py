"""Choose which bones become bodies, and which ride on one.

Owns that choice, made once when physics is added. Must not know Blender.

A body is a part that swings by itself. A thigh is one body, even if the rig splits it in two or adds twist bones. A
face is part of its head. A bone on the floor between the feet, or an IK target, is no body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import body_parents, bone_ends, bone_names
from .role_list import MIDDLE, Part

# These roles have one body even if the bone is split; for other roles each bone of a row is a body.
ONE_PIECE = ("UPPER_ARM", "LOWER_ARM", "HAND", "THIGH", "SHANK", "FOOT", "COLLAR", "HEAD", "PELVIS")
# Parts of a head that do not swing.
OF_THE_HEAD = ("JAW", "EYE", "EAR")
# The roles that ride, by detail.
RIDING = {"FULL": (), "HANDS_AND_FEET": ("FINGER", "TOE"), "LIMBS": ("FINGER", "TOE", "HAND", "FOOT")}
# A bone shorter than this part of the rig's size has no length.
NO_LENGTH = 1e-4


@dataclass(frozen=True, eq=False)
class Bones:
    """names, parents (n,) -1 for none; heads, tails (n, 3) at rest; deform, skinned, keyed, connected (n,): the bone
    may deform a skin, does deform one, has keys, cannot leave its parent's tail; parts (n,)."""

    names: Sequence[str]
    parents: Sequence[int]
    heads: np.ndarray
    tails: np.ndarray
    deform: Sequence[bool]
    skinned: Sequence[bool]
    keyed: Sequence[bool]
    connected: Sequence[bool]
    parts: Sequence[Part]


def behaviours(bones: Bones, detail: str = "FULL") -> list[str]:
    """SIMULATED or IGNORED for each bone; detail: a key of RIDING."""
    if not bones.names:
        return []
    chosen = _full(bones)
    for bone in riders(bones, chosen, detail):
        chosen[bone] = "IGNORED"
    return chosen


def riders(bones: Bones, chosen: Sequence[str], detail: str) -> list[int]:
    """The chosen bodies that ride at this detail: those with its roles that have a body above. A bone without a role
    below a finger or toe is part of it; below a hand it may be a sword."""
    is_body = [word == "SIMULATED" for word in chosen]
    above = body_parents.holders(bones.parents, bones.heads, bones.tails, is_body)
    found = []
    for bone, holder in enumerate(above):
        part = bone
        while bones.parts[part].role == "OTHER" and above[part] >= 0:
            part = above[part]
        role = bones.parts[part].role
        if part != bone and role not in RIDING["HANDS_AND_FEET"]:
            continue
        if is_body[bone] and holder >= 0 and role in RIDING[detail]:
            found.append(bone)
    return found


def _full(bones: Bones) -> list[str]:
    candidates = _candidates(bones)
    choice = _Choice(bones, candidates)
    bodies = {bone for bone, is_candidate in enumerate(candidates) if is_candidate and not choice.rides[bone]}
    if not bodies:
        bodies = {bone for bone, is_candidate in enumerate(candidates) if is_candidate}
    return ["SIMULATED" if bone in bodies else "IGNORED" for bone in range(len(candidates))]


def _candidates(bones: Bones) -> list[bool]:
    """Bones that deform; if there are none, those with keys; if there are none, all."""
    for wanted in (bones.deform, bones.keyed):
        if any(wanted):
            return [bool(each) for each in wanted]
    return [True] * len(bones.names)


class _Choice:
    """Decides for each bone what it rides on, parents first."""

    def __init__(self, bones: Bones, candidates: list[bool]) -> None:
        self.bones, self.candidates = bones, candidates
        self.said = bone_names.told_of_all(bones.names, candidates)
        above = body_parents.holders(bones.parents, bones.heads, bones.tails, candidates)
        self.below = _below(above, candidates)
        self.of_body = _of_body(bones, above)
        self.has_pelvis = Part("PELVIS", MIDDLE) in bones.parts
        self.ends = bone_ends.find(bones.parents, bones.heads, bones.tails)
        self.rides = [False] * len(above)
        order = [bone for bone, holder in enumerate(above) if holder < 0 and candidates[bone]]
        for bone in order:
            order.extend(self.below[bone])
            holder = above[bone]
            while holder >= 0 and self.rides[holder]:
                holder = above[holder]
            self.rides[bone] = self._has_to_ride(bone) if holder < 0 else self._may_ride(bone, holder)

    def _has_to_ride(self, bone: int) -> bool:
        """For a bone without a body above it, in a rig with a pelvis: a bone that carries the pelvis, or is a
        sibling of it, moves the rig and is no body."""
        return (
            self.has_pelvis
            and not self.of_body[bone]
            and not _leads(self.bones, bone, self.candidates)
            and (self.bones.parts[bone].role == "OTHER" or self.said[bone].kind == "TARGET")
        )

    def _may_ride(self, bone: int, holder: int) -> bool:
        """True if a bone below a body is part of that body."""
        one, part, above = self.said[bone], self.bones.parts[bone], self.bones.parts[holder]
        # A bone that deforms a skin is more than a marker, whatever its name.
        if one.kind in ("TARGET", "END") and not self.bones.skinned[bone] and not self.below[bone]:
            return True
        # Split halves are recognised by their names only: shape alone may find a body where there is none.
        is_half = above == part and part.role in ONE_PIECE and one.role not in (None, "SPINE?", "ROOT?")
        return (
            is_half
            or one.kind == "OFFSET"
            or (one.kind == "TARGET" and not self.of_body[bone])
            or (one.kind == "TWIST" and above.role == part.role)
            # A palm below a forearm is the hand itself.
            or (one.is_piece and (part.role != "FINGER" or above.role in ("HAND", "FINGER")))
            or part.role in OF_THE_HEAD
            or (part.role == "PELVIS" and part.side != MIDDLE and self.has_pelvis)
            or (self._has_no_length(bone) and self._is_one_of_many(bone))
        )

    def _has_no_length(self, bone: int) -> bool:
        """True if all its children start at its head, or it is a point itself."""
        heads, below = self.bones.heads, self.below[bone]
        ends = heads[below] if below else self.ends.ends[[bone]]
        return bool((np.linalg.norm(ends - heads[bone], axis=1) < NO_LENGTH * self.ends.size).all())

    def _is_one_of_many(self, bone: int) -> bool:
        """True if other bones have the same part."""
        alike = (i for i, part in enumerate(self.bones.parts) if part == self.bones.parts[bone] and self.candidates[i])
        return any(i != bone for i in alike)


def _below(above: Sequence[int], candidates: Sequence[bool]) -> list[list[int]]:
    """The candidates that are the nearest ones below each bone."""
    out: list[list[int]] = [[] for _ in above]
    for bone, holder in enumerate(above):
        if candidates[bone] and holder >= 0:
            out[holder].append(bone)
    return out


def _of_body(bones: Bones, above: Sequence[int]) -> list[bool]:
    """(n,) True for named parts of a body and bones below them."""
    out = []
    for bone in range(len(bones.names)):
        each = bone
        while each >= 0 and bones.parts[each].role == "OTHER":
            each = above[each]
        out.append(each >= 0)
    return out


def _leads(bones: Bones, bone: int, candidates: Sequence[bool]) -> bool:
    """True if another candidate is connected to its tail: that one cannot move without it."""
    return any(parent == bone and bones.connected[kid] and candidates[kid] for kid, parent in enumerate(bones.parents))
