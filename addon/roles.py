"""What a bone is in a body, guessed from its name: which joint turns at its head.

Owns the names in use (Rigify, Mixamo, CMU, Unreal, MakeHuman, Biped and plain English). Must
not know Blender or what a role is good for.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

# Words of a bone's name, or two of them together, and the joint at its head; the first that fits counts.
# None: a part of its own, whose name would mislead.
WORDS: tuple[tuple[tuple[str, ...], str | None], ...] = (
    (("finger", "thumb", "index", "middle", "ring", "pinky", "little", "palm", "metacarpal", "toe", "toes"), None),
    (("fingerbase", "toebase", "toeend", "heel", "ball"), None),
    (("hipjoint",), "haunch"),
    (("clavicle", "collar", "collarbone", "shoulder"), "collar"),
    (("forearm", "lowerarm", "lowarm", "elbow"), "elbow"),
    (("upperarm", "uparm", "arm"), "shoulder"),
    (("hand", "wrist"), "wrist"),
    (("thigh", "upleg", "upperleg", "femur"), "hip"),
    (("shin", "calf", "lowerleg", "lowleg", "knee", "leg", "tibia"), "knee"),
    (("foot", "ankle"), "ankle"),
    (("spine", "chest", "torso", "abdomen", "waist", "lowerback", "back", "ribcage"), "spine"),
    (("neck", "head"), "neck"),
)
# Made of several bones, each with a joint of that kind.
IN_A_ROW = ("spine", "neck")
# What carries a limb is as strong as the joint it carries.
CARRIES = {"collar": "shoulder", "haunch": "hip"}


def of_name(name: str) -> str | None:
    """The joint at the head of a bone of that name, if the name tells."""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name.rpartition(":")[2])]
    found = {*words, *(one + other for one, other in itertools.pairwise(words))}
    return next((role for known, role in WORDS if found.intersection(known)), None)


def of_bodies(names: Sequence[str], parents: Sequence[int]) -> list[str | None]:
    """One role a body, parents first (-1 for none); a root has no joint, and the second half of a limb is no limb."""
    told = [of_name(name) for name in names]
    roles: list[str | None] = []
    for role, parent in zip(told, parents, strict=True):
        again = parent >= 0 and role == told[parent] and role not in IN_A_ROW
        roles.append(None if parent < 0 or again else CARRIES.get(role, role))
    return roles
