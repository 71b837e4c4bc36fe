"""Joint ranges of people, by role.

Owns the table of the large joints and the frames that it refers to. Must not know Blender, nor how roles are detected.
Wrists, fingers and toes have a table of their own (`hand_joint_limits`).

Tables refer to standing upright with the arms down, while rigs have any rest pose. So limits refer to the body's own
directions (up, left, front) and to the limbs, never to the roll of bones.
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
# A raised arm reaches everything except behind the back: the table's 180° up, 60° back and 180° sideways, as one cone
# about the direction between front and side. Its twist of 70° in and 90° out is measured from that direction.
SHOULDER_REACHES, SHOULDER_TURNS = 128.0, 100.0
# Without a table: hinges move a little sideways and in twist, backs twist as far as they bend. A collar bone moves up
# and down with the arm. Bones that only lead to a limb, or are the second half of one, hardly move.
HINGE_SIDES, KNEE_TURNS, BACK_TURNS, COLLAR_GOES, STIFF = 8.0, 15.0, 35.0, 30.0, 10.0
# A jaw opens, eyes look around, ears and flesh move a little.
JAW_OPENS, EYE_TURNS, EAR_BENDS, FLESH = 30.0, 35.0, 30.0, 15.0
# Spines and necks have several bones: each may bend this many times its even part. More, and the bones of a neck
# together would fold it.
UNEVEN = 1.25
# [degrees] Relaxed angles of joints without drive. About half of the neutral body posture in weightlessness, because
# lying people are straighter (NASA-STD-3000 §3.3.4: hip 52, knee 47, ankle 21 down; elbow 88, arm 36 forward and 39
# sideways).
HIP_RELAXED, KNEE_RELAXED, ANKLE_RELAXED, ELBOW_RELAXED, ARM_RELAXED = 20.0, 25.0, -15.0, 35.0, 25.0


def ranges(body: RestBody) -> dict[int, Range]:
    """Joint ranges of a person, by body; others are left out."""
    person = _Person(body)
    found = {b: limit for b in range(len(body.bones.parts)) if body.parent(b) >= 0 and (limit := person.limit(b))}
    return found | hand_joint_limits.ranges(body, person.palms)


class _Person:
    """A person at rest: the directions up, left and front, and the range of each role."""

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
        """The range of the body's joint, or None if its role has none."""
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
        """One of several vertebral bones: straight as at rest, bending to the front."""
        if b not in self.trunk:
            return self.body.even(b, FLESH, FLESH)
        if role == "SPINE":
            flexes, extends, leans, turns = BACK_FLEXES, BACK_EXTENDS, BACK_LEANS, BACK_TURNS
        else:
            flexes, extends, leans, turns = NECK_FLEXES, NECK_EXTENDS, NECK_LEANS, NECK_TURNS
        count = sum((self.body.role(other) == "SPINE") == (role == "SPINE") for other in self.trunk)
        part = min(1.0, UNEVEN / count)
        way = self.body.way(b)
        if abs(way @ self.front) > 0.9:  # a head whose bone points along its view
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
        """A knee or an elbow: straight along the limb above, bending to one side."""
        knee = part.role == "SHANK"
        above = self.body.way(self.first[Part("THIGH" if knee else "UPPER_ARM", part.side)])
        flexes, turns = (KNEE_FLEXES, KNEE_TURNS) if knee else (ELBOW_FLEXES, FOREARM_TURNS)
        bends = self._bends(b, above, part)
        if bends is None:
            return self.body.even(b, flexes, turns, above)
        relaxed = KNEE_RELAXED if knee else ELBOW_RELAXED
        return self.body.laid(b, above, bends, (0.0, flexes), HINGE_SIDES, turns, relaxed)

    def _bends(self, b: int, above: np.ndarray, part: Part) -> np.ndarray | None:
        """(3,) the side to which a hinge bends: as in the source, else as at rest; a knee away from the toes."""
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
        """At rest the sole is flat; toes move up towards the shin."""
        shank = self.first.get(Part("SHANK", part.side))
        if self.first[part] != b or shank is None:
            return self.body.even(b, STIFF, STIFF)
        way = self.body.way(b)
        if abs(way @ self.body.way(shank)) > 0.9:  # a foot that points straight down does not show its front
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


# Swing and twist to all sides, by role.
EVENLY = {"COLLAR": (COLLAR_GOES, COLLAR_GOES), "EYE": (EYE_TURNS, EYE_TURNS), "EAR": (EAR_BENDS, EAR_BENDS)}


def _line_to_head(body: RestBody) -> set[int]:
    """The bodies between the root and the head. Other bodies with the role of a spine or neck are flesh."""
    last = [b for b in range(len(body.bones.parts)) if body.role(b) in ("HEAD", "NECK")]
    last += [b for b in range(len(body.bones.parts)) if body.role(b) in ("UPPER_ARM", "COLLAR")]
    found = set()
    for b in last:
        found |= {b} if body.role(b) in ("HEAD", "NECK") else set()
        while (b := body.parent(b)) >= 0:
            found.add(b)
    return {b for b in found if body.role(b) in ("SPINE", "NECK", "HEAD")}
