"""Joint ranges of people, by role.

Owns the table of the large joints and the frames in which it is meant. Must not know Blender, nor how bones get their
roles. Wrists, fingers and toes have a table of their own (`hand_range`).

Tables are about someone standing upright with the arms down; rigs rest as they like. So limits are laid out
along the body's own directions (up, left, front), and along the limbs, never along how bones happen to be rolled.
"""

from __future__ import annotations

import numpy as np

from . import hand_joint_limits
from .joint_limit import Range
from .rest_body import RestBody, across, unit
from .role_list import LEFT, RIGHT, Part

# [degrees] American Academy of Orthopaedic Surgeons, in Norkin & White, Measurement of Joint Motion, app. A: elbow,
# forearm, shoulder, neck. Merck Manual, table of normal ranges: hip, knee, ankle. Kurz, Stretching
# Scientifically: lower back.
HIP_FLEXES, HIP_EXTENDS, HIP_SPREADS, HIP_TURNS = 125.0, 15.0, 45.0, 45.0
KNEE_FLEXES, ELBOW_FLEXES, FOREARM_TURNS = 130.0, 150.0, 80.0
ANKLE_UP, ANKLE_DOWN, FOOT_TURNS = 20.0, 50.0, 35.0
BACK_FLEXES, BACK_EXTENDS, BACK_LEANS = 75.0, 30.0, 35.0
# The whole neck with the head: flexion and extension between the Academy's 45° and the 65° of goniometers on the head
# (Youdas et al. 1992, Phys Ther 72:770).
NECK_FLEXES, NECK_EXTENDS, NECK_LEANS, NECK_TURNS = 55.0, 60.0, 45.0, 70.0
# A raised arm reaches all but what is behind the back: the table's 180° up, 60° back and 180° aside, as one cone about
# the way between front and side; its turn about itself 70° in and 90° out, taken from that way.
SHOULDER_REACHES, SHOULDER_TURNS = 128.0, 100.0
# No table: hinges give a little to the sides and about their length, backs turn as far as they lean; a collar bone
# goes up and down with the arm; bones that only lead to a limb, or are the second half of one, hardly move.
HINGE_SIDES, KNEE_TURNS, BACK_TURNS, COLLAR_GOES, STIFF = 8.0, 15.0, 35.0, 30.0, 10.0
# A jaw opens, eyes look aside, ears and flesh give.
JAW_OPENS, EYE_TURNS, EAR_BENDS, FLESH = 30.0, 35.0, 30.0, 15.0
# Spines and necks are of several bones: each goes so much farther than its even part. More, and the bones of a neck
# together would fold it.
UNEVEN = 1.25
# [degrees] Where a joint rests when nobody drives it. Neutral body posture in weightlessness, about half of it: lying
# people are straighter (NASA-STD-3000 §3.3.4: hip 52, knee 47, ankle 21 down; elbow 88, arm 36 ahead and 39 aside).
HIP_RELAXED, KNEE_RELAXED, ANKLE_RELAXED, ELBOW_RELAXED, ARM_RELAXED = 20.0, 25.0, -15.0, 35.0, 25.0


def ranges(body: RestBody) -> dict[int, Range]:
    """By body, how far it may turn, of a person's joints; others are left out."""
    person = _Person(body)
    found = {b: limit for b in range(len(body.bones.parts)) if body.parent(b) >= 0 and (limit := person.limit(b))}
    return found | hand_joint_limits.ranges(body, person.palms)


class _Person:
    """A person at rest: which way is up, left and front, and how each role is limited."""

    def __init__(self, body: RestBody) -> None:
        self.body, self.bones, self.first = body, body.bones, body.first
        hips, shoulders = (self._ends(role) for role in ("THIGH", "UPPER_ARM"))
        self.up = unit(np.mean(shoulders, axis=0) - np.mean(hips, axis=0))
        self.left = unit(across(hips[0] - hips[1] + shoulders[0] - shoulders[1], self.up))
        self.front = np.cross(self.left, self.up)
        self.palms = hand_joint_limits.palms(body)
        self.trunk = _line_to_head(body)

    def _ends(self, role: str) -> tuple[np.ndarray, np.ndarray]:
        return tuple(self.bones.heads[self.first[Part(role, side)]] for side in (LEFT, RIGHT))

    def limit(self, b: int) -> Range | None:
        """How far the body's joint turns, None where nobody knows."""
        part, role = self.bones.parts[b], self.body.role(b)
        if role in ("UPPER_ARM", "LOWER_ARM", "THIGH", "SHANK"):
            if self.first[part] != b:
                return self.body.even(b, STIFF, FOREARM_TURNS if role == "LOWER_ARM" else STIFF)
            return {"UPPER_ARM": self._shoulder, "THIGH": self._hip}.get(role, self._hinge)(b, part)
        if role == "HAND":
            return self._wrist(b, part)
        if role == "FOOT":
            return self._ankle(b, part)
        if role in ("SPINE", "NECK", "HEAD"):
            return self._stack(b, role)
        if role in EVENLY:
            return self.body.even(b, *EVENLY[role])
        if role == "JAW":
            return self._jaw(b)
        if role == "PELVIS" or (role == "OTHER" and self._leads_to_limb(b)):
            return self.body.even(b, STIFF, STIFF)
        return None

    def _leads_to_limb(self, b: int) -> bool:
        return any(self.body.role(kid) in ("THIGH", "UPPER_ARM", "SPINE", "COLLAR") for kid in self.body.children[b])

    def _stack(self, b: int, role: str) -> Range:
        """One of several bones upon one another: straight as they are at rest, bent to the front."""
        if b not in self.trunk:
            return self.body.even(b, FLESH, FLESH)
        if role == "SPINE":
            flexes, extends, leans, turns = BACK_FLEXES, BACK_EXTENDS, BACK_LEANS, BACK_TURNS
        else:
            flexes, extends, leans, turns = NECK_FLEXES, NECK_EXTENDS, NECK_LEANS, NECK_TURNS
        count = sum((self.body.role(other) == "SPINE") == (role == "SPINE") for other in self.trunk)
        part = min(1.0, UNEVEN / count)
        way = self.body.way(b)
        if abs(way @ self.front) > 0.9:  # a head that looks along its bone
            return self.body.even(b, part * leans, part * turns)
        return self.body.laid(b, way, self.front, (-part * extends, part * flexes), part * leans, part * turns, 0.0)

    def _hip(self, b: int, part: Part) -> Range:
        ends = (-HIP_EXTENDS, HIP_FLEXES)
        return self.body.laid(b, -self.up, self.front, ends, HIP_SPREADS, HIP_TURNS, HIP_RELAXED)

    def _shoulder(self, b: int, part: Part) -> Range:
        aside = self.left if part.side == LEFT else -self.left
        lean = np.sin(np.radians(ARM_RELAXED))
        hangs = unit(-self.up + lean * aside + lean * self.front)
        return self.body.even(b, SHOULDER_REACHES, SHOULDER_TURNS, unit(aside + self.front), hangs)

    def _hinge(self, b: int, part: Part) -> Range:
        """A knee or an elbow: straight on from the limb above, bent to one side."""
        knee = part.role == "SHANK"
        above = self.body.way(self.first[Part("THIGH" if knee else "UPPER_ARM", part.side)])
        flexes, turns = (KNEE_FLEXES, KNEE_TURNS) if knee else (ELBOW_FLEXES, FOREARM_TURNS)
        bends = self._bends(b, above, part)
        if bends is None:
            return self.body.even(b, flexes, turns, above)
        relaxed = KNEE_RELAXED if knee else ELBOW_RELAXED
        return self.body.laid(b, above, bends, (0.0, flexes), HINGE_SIDES, turns, relaxed)

    def _bends(self, b: int, above: np.ndarray, part: Part) -> np.ndarray | None:
        """(3,) to which side a hinge bends: as the source does, else as at rest; a knee away from the toes."""
        bends = self.body.bends(b, above)
        foot = self.first.get(Part("FOOT", part.side)) if part.role == "SHANK" else None
        if bends is not None or foot is None:
            return bends
        toes = across(self.body.way(foot), above)
        return -unit(toes) if np.linalg.norm(toes) > 0.3 else None

    def _wrist(self, b: int, part: Part) -> Range:
        above = self.first.get(Part("LOWER_ARM", part.side))
        return hand_joint_limits.wrist(self.body, b, self.body.way(b if above is None else above), self.palms.get(b))

    def _ankle(self, b: int, part: Part) -> Range:
        """At rest the sole is flat; toes come up towards the shin."""
        shank = self.first.get(Part("SHANK", part.side))
        if self.first[part] != b or shank is None:
            return self.body.even(b, STIFF, STIFF)
        way = self.body.way(b)
        if abs(way @ self.body.way(shank)) > 0.9:  # a foot that hangs straight down says nothing
            return self.body.even(b, ANKLE_DOWN, FOOT_TURNS)
        ends = (-ANKLE_DOWN, ANKLE_UP)
        return self.body.laid(b, way, -self.body.way(shank), ends, FOOT_TURNS, FOOT_TURNS, ANKLE_RELAXED)

    def _jaw(self, b: int) -> Range:
        """Opens downwards."""
        way = self.body.way(b)
        down = across(-self.up, way)
        if np.linalg.norm(down) < 0.3:
            return self.body.even(b, 0.5 * JAW_OPENS, FLESH)
        return self.body.laid(b, way, down, (-5.0, JAW_OPENS), HINGE_SIDES, HINGE_SIDES, 5.0)


# By role, swing and twist to all sides.
EVENLY = {"COLLAR": (COLLAR_GOES, COLLAR_GOES), "EYE": (EYE_TURNS, EYE_TURNS), "EAR": (EAR_BENDS, EAR_BENDS)}


def _line_to_head(body: RestBody) -> set[int]:
    """The bodies between the root and the head: what has a spine's or a neck's role and is not among them is flesh."""
    last = [b for b in range(len(body.bones.parts)) if body.role(b) in ("HEAD", "NECK")]
    last += [b for b in range(len(body.bones.parts)) if body.role(b) in ("UPPER_ARM", "COLLAR")]
    found = set()
    for b in last:
        found |= {b} if body.role(b) in ("HEAD", "NECK") else set()
        while (b := body.parent(b)) >= 0:
            found.add(b)
    return {b for b in found if body.role(b) in ("SPINE", "NECK", "HEAD")}
