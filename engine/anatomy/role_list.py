"""The list of roles that a bone can have.

Owns the roles and the joint of each. Must not know Blender, nor how roles are detected (`roles`) or used.
"""

from __future__ import annotations

from typing import NamedTuple

# In the panel's order: identifier, label. Front legs of animals are arms, hooves and paws hands and feet.
ROLES: tuple[tuple[str, str], ...] = (
    ("PELVIS", "Pelvis"),
    ("SPINE", "Spine"),
    ("NECK", "Neck"),
    ("HEAD", "Head"),
    ("JAW", "Jaw"),
    ("EYE", "Eye"),
    ("EAR", "Ear"),
    ("COLLAR", "Collar Bone"),
    ("UPPER_ARM", "Upper Arm"),
    ("LOWER_ARM", "Lower Arm"),
    ("HAND", "Hand"),
    ("FINGER", "Finger"),
    ("THIGH", "Thigh"),
    ("SHANK", "Shank"),
    ("FOOT", "Foot"),
    ("TOE", "Toe"),
    ("TAIL", "Tail"),
    ("WING", "Wing"),
    ("OTHER", "Other"),
)
# Roles made of several bones in a row; for other roles a second bone on the same side is the other half of the first.
IN_A_ROW = ("SPINE", "NECK", "FINGER", "TOE", "TAIL", "EAR", "WING")
# Sides of the character.
LEFT, RIGHT, MIDDLE = "LEFT", "RIGHT", "MIDDLE"
# The joint at the head of a bone, by its name in `engine.STRENGTH_OF_ROLE`; a collar bone is as strong as the shoulder
# it carries. Roles without known strength are left out.
JOINT_OF_ROLE = {
    "SPINE": "spine",
    "NECK": "neck",
    "HEAD": "neck",
    "COLLAR": "shoulder",
    "UPPER_ARM": "shoulder",
    "LOWER_ARM": "elbow",
    "HAND": "wrist",
    "THIGH": "hip",
    "SHANK": "knee",
    "FOOT": "ankle",
}


class Part(NamedTuple):
    """A bone's role in the body, and its side."""

    role: str
    side: str
