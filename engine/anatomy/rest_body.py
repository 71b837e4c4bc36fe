"""Bodies at rest with the rotations of their source: the input of joint ranges.

Owns geometric queries for all tables of ranges: a bone's direction, its children, the side to which a joint bends. Must
not know Blender, nor any table of ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..math import rotations
from .joint_limit import Range, laid_out, round_about
from .role_list import Part

# The bending side of a hinge is known if a pose is bent by more than this [sine], or if the mean of a motion is, and
# stays on one side by this much.
BENT_AT_REST, BENT_IN_MOTION, ONE_SIDED = 0.07, 0.17, 0.8
# A bone shorter than this part of the rig's size has no direction of its own.
SHORTEST_BONE = 1e-4

# The role that continues a limb.
NEXT = {"UPPER_ARM": "LOWER_ARM", "LOWER_ARM": "HAND", "THIGH": "SHANK", "SHANK": "FOOT", "FOOT": "TOE"}

# A bone that carries several others points to their ends, because their heads may be anywhere.
DIGITS = ("FINGER", "TOE")


class RestBones(NamedTuple):
    """The bodies of a rig at rest, parents first: parts (n,), parents (n,) -1 for none, heads (n, 3), turns (n, 3, 3)
    their axes as columns, ways (n, 3) from head to end, in armature space; names (n,), or empty."""

    parts: Sequence[Part | None]
    parents: Sequence[int]
    heads: np.ndarray
    turns: np.ndarray
    ways: np.ndarray
    names: Sequence[str] = ()


class RestBody:
    """The bodies with their source (frames, n, 4), and ranges built on them."""

    def __init__(self, bones: RestBones, source: np.ndarray) -> None:
        self.bones, self.source = bones, source
        self.children: list[list[int]] = [[] for _ in bones.parents]
        for b, parent in enumerate(bones.parents):
            if parent >= 0:
                self.children[parent].append(b)
        self.size = max(float(np.ptp(np.concatenate([bones.heads, bones.heads + bones.ways]), axis=0).max()), 1e-30)
        self._ways: dict[int, np.ndarray] = {}
        self.first: dict[Part, int] = {}
        for b, part in enumerate(bones.parts):
            if part is not None:
                self.first.setdefault(part, b)

    def role(self, b: int) -> str:
        """A body's role; "" for none, and for no body."""
        if b < 0:
            return ""
        part = self.bones.parts[b]
        return part.role if part is not None else "OTHER"

    def side(self, b: int) -> str:
        """A body's side; "" if unknown."""
        part = self.bones.parts[b]
        return part.side if part is not None else ""

    def parent(self, b: int) -> int:
        return int(self.bones.parents[b])

    def above(self, b: int, roles: Sequence[str]) -> int:
        """The nearest body above with one of these roles; -1 for none."""
        b = self.parent(b)
        while b >= 0 and self.role(b) not in roles:
            b = self.parent(b)
        return b

    def below(self, b: int) -> list[int]:
        """All direct children of a body."""
        out = [*self.children[b]]
        for each in out:
            out.extend(self.children[each])
        return out

    def run(self, b: int, roles: Sequence[str]) -> list[int]:
        """The row of bodies with these roles that contains b, from first to last. If a body has several children, the
        row continues with the first that leads on."""
        row = [b]
        while self.role(self.parent(row[0])) in roles:
            row.insert(0, self.parent(row[0]))
        while kids := [kid for kid in self.children[row[-1]] if self.role(kid) in roles]:
            row.append(max(kids, key=lambda kid: len(self.below(kid))))
        return row

    def way(self, b: int) -> np.ndarray:
        """(3,) unit direction of a bone at rest: along a limb to its next joint, else to its own end, else to its
        children, else along its own axis."""
        if b not in self._ways:
            self._ways[b] = unit(self._find_way(b))
        return self._ways[b]

    def _find_way(self, b: int) -> np.ndarray:
        heads, least = self.bones.heads, SHORTEST_BONE * self.size
        role, own = self.role(b), self.bones.ways[b]
        if role in NEXT:
            end = next((heads[kid] - heads[b] for kid in self.below(b) if self.role(kid) == NEXT[role]), own)
            if np.linalg.norm(end) > least:
                return end
        if role in DIGITS and len(self.children[b]) > 1:
            leaves = [kid for kid in self.below(b) if not self.children[kid]]
            return (heads[leaves] + self.bones.ways[leaves]).mean(axis=0) - heads[b]
        if np.linalg.norm(own) > least:
            return own
        kids = self.below(b)
        away = heads[kids].mean(axis=0) - heads[b] if kids else own
        return away if np.linalg.norm(away) > least else self.bones.turns[b][:, 1]

    def even(self, b: int, swing: float, twist: float, middle: np.ndarray | None = None, relaxed=None) -> Range:
        """A range that is even around a direction: by default the bone's direction at rest."""
        way = self.way(b)
        middle = way if middle is None else middle
        return round_about(self.bones.turns[b], middle, way, swing, twist, self.source[:, b], relaxed)

    def laid(
        self, b: int, straight, bends, ends: tuple[float, float], sides: float, twist: float, relaxed=None
    ) -> Range:
        """A range along one bend, narrower across it: see `joint_limit.laid_out`."""
        turn, source = self.bones.turns[b], self.source[:, b]
        return laid_out(turn, straight, bends, self.way(b), ends, sides, twist, source, relaxed)

    def bends(self, b: int, straight: np.ndarray) -> np.ndarray | None:
        """(3,) the side of straight to which the joint bends: as in the source, else as at rest; None if neither shows
        it."""
        way = self.way(b)
        aside = across(self.went(b), straight)
        total = np.linalg.norm(aside, axis=1)
        if total.mean() > BENT_IN_MOTION and np.linalg.norm(aside.sum(axis=0)) > ONE_SIDED * total.sum():
            return unit(aside.sum(axis=0))
        rest = across(way, straight)
        return unit(rest) if np.linalg.norm(rest) > BENT_AT_REST else None

    def went(self, b: int) -> np.ndarray:
        """(frames, 3) the bone's direction in the source, with its parent at rest."""
        turn = self.bones.turns[b]
        return rotations.rotate(self.source[:, b], turn.T @ self.way(b)) @ turn.T


def unit(v: np.ndarray) -> np.ndarray:
    """The normalized vector; the Y axis for a vector of length 0."""
    long = float(np.linalg.norm(v))
    return v / long if long > 1e-12 else np.array([0.0, 1.0, 0.0])


def across(v: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """The components of vectors (..., 3) perpendicular to a unit axis."""
    return v - (v @ axis)[..., None] * axis
