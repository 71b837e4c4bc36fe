"""How far a person's joints turn: by what each bone is in the body.

Owns the table and the frames in which it is meant. Must not know Blender, nor how bones get their roles.

Tables are about someone standing upright with the arms down; rigs rest as they like. So limits are laid out
along the body's own ways (up, left, front), and along the limbs, never along how bones happen to be rolled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from . import rotations
from .joint_range import Range, laid_out, round_about
from .parts import LEFT, RIGHT, Part
from .segments import stands_upright

# [degrees] American Academy of Orthopaedic Surgeons, in Norkin & White, Measurement of Joint Motion, app. A: elbow,
# wrist, forearm, shoulder. Merck Manual, table of normal ranges: hip, knee, ankle. Kurz, Stretching Scientifically:
# neck and lower back.
HIP_FLEXES, HIP_EXTENDS, HIP_SPREADS, HIP_TURNS = 125.0, 15.0, 45.0, 45.0
KNEE_FLEXES, ELBOW_FLEXES, FOREARM_TURNS = 130.0, 150.0, 80.0
ANKLE_UP, ANKLE_DOWN, FOOT_TURNS = 20.0, 50.0, 35.0
WRIST_FLEXES = 80.0
BACK_FLEXES, BACK_EXTENDS, BACK_LEANS = 75.0, 30.0, 35.0
NECK_FLEXES, NECK_EXTENDS, NECK_LEANS, NECK_TURNS = 80.0, 55.0, 35.0, 70.0
# A raised arm reaches all but what is behind the back: the table's 180° up, 60° back and 180° aside, as one cone about
# the way between front and side; its turn about itself 70° in and 90° out, taken from that way.
SHOULDER_REACHES, SHOULDER_TURNS = 128.0, 100.0
# No table: hinges give a little to the sides and about their length, backs turn as far as they lean; a collar bone
# goes up and down with the arm; bones that only lead to a limb, or are the second half of one, hardly move.
HINGE_SIDES, KNEE_TURNS, BACK_TURNS, COLLAR_GOES, STIFF = 8.0, 15.0, 35.0, 30.0, 10.0
# Spines and necks are of several bones: each goes so much farther than its even part.
UNEVEN = 1.5
# Which way a hinge bends: seen from a pose bent by more than this [sine], or from a motion that on average is and keeps
# to one side by this much.
BENT_AT_REST, BENT_IN_MOTION, ONE_SIDED = 0.07, 0.17, 0.8


class Bones(NamedTuple):
    """The bodies of a rig at rest, parents first: parts (n,), parents (n,), heads (n, 3), turns (n, 3, 3) their axes,
    ways (n, 3) from head to end, in armature space."""

    parts: Sequence[Part | None]
    parents: Sequence[int]
    heads: np.ndarray
    turns: np.ndarray
    ways: np.ndarray


def ranges(bones: Bones, joints: np.ndarray) -> dict[int, Range]:
    """By body, how far it may turn; nothing if the bones are no person's. joints (frames, n, 4): the source."""
    if not stands_upright(bones.parts, bones.heads):
        return {}
    body = _Body(bones, joints)
    found = {}
    for b, part in enumerate(bones.parts):
        if bones.parents[b] >= 0:
            limit = body.limit(b, part)
            if limit is not None:
                found[b] = limit
    return found


class _Body:
    """A person at rest: which way is up, left and front, and how each role is limited."""

    def __init__(self, bones: Bones, joints: np.ndarray) -> None:
        self.bones, self.joints = bones, joints
        self.first = {}
        for b, part in enumerate(bones.parts):
            if part is not None:
                self.first.setdefault(part, b)
        hips, shoulders = (self._ends(role) for role in ("THIGH", "UPPER_ARM"))
        self.up = _unit(np.mean(shoulders, axis=0) - np.mean(hips, axis=0))
        self.left = _across(hips[0] - hips[1] + shoulders[0] - shoulders[1], self.up)
        self.front = np.cross(self.left, self.up)
        self.spines = sum(part is not None and part.role == "SPINE" for part in bones.parts)
        self.necks = sum(part is not None and part.role in ("NECK", "HEAD") for part in bones.parts)

    def _ends(self, role: str) -> tuple[np.ndarray, np.ndarray]:
        return tuple(self.bones.heads[self.first[Part(role, side)]] for side in (LEFT, RIGHT))

    def limit(self, b: int, part: Part | None) -> Range | None:
        """How far the body's joint turns, None where nobody knows."""
        role = part.role if part is not None else "OTHER"
        if role in ("UPPER_ARM", "LOWER_ARM", "THIGH", "SHANK"):
            if self.first[part] != b:
                return self._even(b, STIFF, FOREARM_TURNS if role == "LOWER_ARM" else STIFF)
            return {"UPPER_ARM": self._shoulder, "THIGH": self._hip}.get(role, self._hinge)(b, part)
        if role == "HAND":
            return self._wrist(b, part)
        if role == "FOOT":
            return self._ankle(b, part)
        if role == "SPINE":
            return self._stack(b, self.spines, BACK_FLEXES, BACK_EXTENDS, BACK_LEANS, BACK_TURNS)
        if role in ("NECK", "HEAD"):
            return self._stack(b, self.necks, NECK_FLEXES, NECK_EXTENDS, NECK_LEANS, NECK_TURNS)
        if role == "COLLAR":
            return self._even(b, COLLAR_GOES, COLLAR_GOES)
        if role in ("OTHER", "PELVIS") and self._leads_to_limb(b):
            return self._even(b, STIFF, STIFF)
        return None

    def _leads_to_limb(self, b: int) -> bool:
        below = [other for other, parent in enumerate(self.bones.parents) if parent == b]
        roles = {self.bones.parts[other].role for other in below if self.bones.parts[other] is not None}
        return bool(roles & {"THIGH", "UPPER_ARM", "SPINE", "COLLAR"})

    def _way(self, b: int) -> np.ndarray:
        """(3,) along the limb: to the joint where its next part begins, else to the bone's end."""
        part = self.bones.parts[b]
        after = {"UPPER_ARM": "LOWER_ARM", "LOWER_ARM": "HAND", "THIGH": "SHANK", "SHANK": "FOOT", "FOOT": "TOE"}
        end = self.first.get(Part(after.get(part.role, ""), part.side)) if part is not None else None
        way = self.bones.ways[b] if end is None else self.bones.heads[end] - self.bones.heads[b]
        return _unit(way, self.bones.turns[b][:, 1])

    def _even(self, b: int, swing: float, twist: float) -> Range:
        """The same to all sides of where it is at rest."""
        return round_about(self.bones.turns[b], self._way(b), self._way(b), swing, twist, self.joints[:, b])

    def _stack(self, b: int, count: int, flexes: float, extends: float, leans: float, turns: float) -> Range:
        """One of several bones upon one another: straight as they are at rest, bent to the front."""
        part = min(1.0, UNEVEN / count)
        way = self._way(b)
        ends = (-part * extends, part * flexes)
        if abs(way @ self.front) > 0.9:  # a head that looks along its bone
            return self._even(b, part * leans, part * turns)
        return self._laid(b, way, self.front, way, ends, part * leans, part * turns)

    def _hip(self, b: int, part: Part) -> Range:
        return self._laid(b, -self.up, self.front, self._way(b), (-HIP_EXTENDS, HIP_FLEXES), HIP_SPREADS, HIP_TURNS)

    def _shoulder(self, b: int, part: Part) -> Range:
        aside = self.left if part.side == LEFT else -self.left
        middle = _unit(aside + self.front)
        return round_about(
            self.bones.turns[b], middle, self._way(b), SHOULDER_REACHES, SHOULDER_TURNS, self.joints[:, b]
        )

    def _hinge(self, b: int, part: Part) -> Range:
        """A knee or an elbow: straight on from the limb above, bent to one side."""
        knee = part.role == "SHANK"
        above = self._way(self.first[Part("THIGH" if knee else "UPPER_ARM", part.side)])
        flexes, turns = (KNEE_FLEXES, KNEE_TURNS) if knee else (ELBOW_FLEXES, FOREARM_TURNS)
        way = self._way(b)
        bends = self._bends(b, above, way, part)
        if bends is None:
            return round_about(self.bones.turns[b], above, way, flexes, turns, self.joints[:, b])
        return self._laid(b, above, bends, way, (0.0, flexes), HINGE_SIDES, turns)

    def _bends(self, b: int, above: np.ndarray, way: np.ndarray, part: Part) -> np.ndarray | None:
        """(3,) to which side a hinge bends: as the source does, else as at rest; a knee away from the toes."""
        turn = self.bones.turns[b]
        went = rotations.rotate(self.joints[:, b], turn.T @ way) @ turn.T
        aside = went - np.outer(went @ above, above)
        total = np.linalg.norm(aside, axis=1)
        if total.mean() > BENT_IN_MOTION and np.linalg.norm(aside.sum(axis=0)) > ONE_SIDED * total.sum():
            return _unit(aside.sum(axis=0))
        rest = way - (way @ above) * above
        if np.linalg.norm(rest) > BENT_AT_REST:
            return _unit(rest)
        foot = self.first.get(Part("FOOT", part.side)) if part.role == "SHANK" else None
        if foot is None:
            return None
        toes = self._way(foot)
        toes = toes - (toes @ above) * above
        return -_unit(toes) if np.linalg.norm(toes) > 0.3 else None

    def _wrist(self, b: int, part: Part) -> Range:
        """Where the palm is, bones do not tell: as far to all sides."""
        above = self.first.get(Part("LOWER_ARM", part.side))
        straight = self._way(b) if above is None else self._way(above)
        turn = self.bones.turns[b]
        return round_about(turn, straight, self._way(b), WRIST_FLEXES, FOREARM_TURNS, self.joints[:, b])

    def _ankle(self, b: int, part: Part) -> Range:
        """At rest the sole is flat; toes come up towards the shin."""
        shank = self.first.get(Part("SHANK", part.side))
        if self.first[part] != b or shank is None:
            return self._even(b, STIFF, STIFF)
        way = self._way(b)
        if abs(way @ self._way(shank)) > 0.9:  # a foot that hangs straight down says nothing
            return self._even(b, ANKLE_DOWN, FOOT_TURNS)
        return self._laid(b, way, -self._way(shank), way, (-ANKLE_DOWN, ANKLE_UP), FOOT_TURNS, FOOT_TURNS)

    def _laid(self, b: int, straight, bends, way, ends: tuple[float, float], sides: float, twist: float) -> Range:
        return laid_out(self.bones.turns[b], straight, bends, way, ends, sides, twist, self.joints[:, b])


def _unit(v: np.ndarray, instead: np.ndarray | None = None) -> np.ndarray:
    long = float(np.linalg.norm(v))
    if long < 1e-9:
        return np.array([0.0, 1.0, 0.0]) if instead is None else instead / np.linalg.norm(instead)
    return v / long


def _across(v: np.ndarray, axis: np.ndarray) -> np.ndarray:
    return _unit(v - (v @ axis) * axis)
