"""The list of roles that a bone can have.

Owns the roles and which joint each turns in. Must not know Blender, nor how a rig's bones
get their roles (`roles`), nor what follows from one.
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
# Made of several bones in a row; a second bone of another role on the same side is the other half of the first.
IN_A_ROW = ("SPINE", "NECK", "FINGER", "TOE", "TAIL", "EAR", "WING")
# Sides: as the character has them.
LEFT, RIGHT, MIDDLE = "LEFT", "RIGHT", "MIDDLE"
# The joint at the head of a bone, as `engine.STRENGTH_OF_ROLE` names it; a collar bone is as strong as the
# shoulder it carries. Roles left out have no figures.
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
    """A bone's role in the body, and on which side it is."""

    role: str
    side: str
