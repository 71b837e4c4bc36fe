"""Role, side and helper flag of a bone by its name.

Owns the known words: plain English, Rigify, Mixamo, MotionBuilder and other mocap, Daz, Unreal, VRM, Biped, and
MikuMikuDance in Japanese. Must not know positions or parents: a word with different meanings in different rigs ("leg",
"shoulder", "hip", "spine") is returned with a question mark.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from .role_list import LEFT, MIDDLE, RIGHT

# The first row with a word of the name in it, or with two neighbouring words written as one, gives the role.
WORDS: tuple[tuple[str, str], ...] = (
    ("OTHER", "hair ponytail bang braid mane skirt cloth cape coat scarf tie ribbon hat accessory necktie sleeve strap "
     "breast bust boob butt antenna"),
    ("OTHER", "lip lips lid eyelid eyebrow brow brows cheek nose forehead temple tongue teeth chin mouth skull"),
    ("OTHER", "weapon sword gun shield prop bag belt holster attach attachment socket camera"),
    ("PELVIS", "hipjoint buttock haunch glute lowerbody pelvis hips"),
    ("SPINE", "upperbody lowerback upperback"),
    ("EYE", "eye eyes eyeball"),
    ("EAR", "ear ears"),
    ("JAW", "jaw mandible beak"),
    ("OTHER", "face facial"),
    ("FRILL", "feather feathers fin fins"),
    ("WING", "wing wings"),
    ("TOE", "toe toes toebase ball toeend metatarsal metatarsals footfinger footthumb"),
    ("SPINE", "chest thorax abdomen belly stomach ribcage ribs waist lumbar"),
    ("SPINE?", "spine torso trunk body"),
    ("FINGER", "finger fingers thumb index middle mid ring pinky pinkie little palm metacarpal carpal phalanx "
     "fingerbase"),
    ("COLLAR", "clavicle collar collarbone scapula"),
    ("LOWER_ARM", "forearm lowerarm loarm lowarm elbow ulna"),
    ("UPPER_ARM", "upperarm uparm bicep humerus"),
    ("HAND", "hand wrist forefoot"),
    ("ARM?", "arm"),
    ("SHOULDER?", "shoulder shldr"),
    ("THIGH", "thigh upleg upperleg femur"),
    ("SHANK", "shin calf lowerleg loleg lowleg knee tibia shank crus"),
    ("FOOT", "foot ankle heel"),
    ("PAW?", "paw hoof"),
    ("LEG?", "leg foreleg frontleg hindleg"),
    ("NECK", "neck"),
    ("HEAD", "head"),
    ("TAIL", "tail"),
    ("HIP?", "hip"),
    ("SPINE?", "back"),
    ("ROOT?", "root reference cog center armature"),
)  # fmt: skip
ROLE_OF_WORD = {word: (rank, role) for rank, (role, words) in reversed([*enumerate(WORDS)]) for word in words.split()}
# The same in Japanese: the first that occurs anywhere in the name.
JAPANESE: tuple[tuple[str, str], ...] = (
    ("OTHER", "髪 スカート ネクタイ リボン 胸 眉 まぶた 舌 歯 袖"),
    ("TOE", "つま先 足先 足指 爪先"),
    ("FINGER", "指"),
    ("HAND", "手首"),
    ("FOOT", "足首"),
    ("SHANK", "ひざ 膝"),
    ("LOWER_ARM", "ひじ 肘 手捩"),
    ("UPPER_ARM", "腕"),
    ("COLLAR", "肩 鎖骨"),
    ("THIGH", "足 脚 太もも"),
    ("SPINE", "上半身"),
    ("PELVIS", "下半身"),
    ("EYE", "目"),
    ("EAR", "耳"),
    ("JAW", "あご 顎"),
    ("NECK", "首"),
    ("HEAD", "頭"),
    ("TAIL", "尻尾 しっぽ"),
    ("WING", "翼 羽"),
    ("HAND", "手"),
    ("ROOT?", "腰 センター グルーブ 全ての親"),
)
# The front legs of animals are arms.
FRONT = {"THIGH": "UPPER_ARM", "SHANK": "LOWER_ARM", "FOOT": "HAND", "TOE": "FINGER", "LEG?": "ARM?", "PAW?": "HAND"}
FRONT_WORDS = {"front", "fore", "foreleg", "frontleg"}
SIDES = dict.fromkeys(("l", "left", "lt", "lft"), LEFT) | dict.fromkeys(("r", "right", "rt", "rgt"), RIGHT)
SIDES |= dict.fromkeys(("c", "center", "centre", "mid"), MIDDLE)
# Pieces of something rigid, and held objects: no bodies of their own.
PIECES = frozenset(
    [*WORDS[1][1].split(), *WORDS[2][1].split(), "face", "palm", "metacarpal", "carpal", "眉", "舌", "歯"]
)
# Kinds of bones that are no parts of their own. A twist bone shares its limb's rotation, an end marks where a limb
# ends, a target is followed by others.
TWIST_WORDS = {"twist", "roll", "share", "bendy"}
END_WORDS = {"end", "nub", "site", "tip", "effector", "null", "dummy", "endsite"}
TARGET_WORDS = {"ik", "pole", "target", "ctrl", "control", "mch", "gizmo", "vis", "parent", "tweak", "master", "goal"}
VERTEBRA = re.compile(r"[CTL]\d{1,2}")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_a-zA-Z]+")


class Told(NamedTuple):
    """What a name says.

    role        of `role_list.ROLES`, with a question mark if the word has several meanings, or None
    side        None if the name has none
    kind        "TWIST", "END", "TARGET", "OFFSET", or "" for a part of its own
    is_ankle    a foot named by its joint, below which a "foot" is its front part
    is_piece    part of a face, of a palm, or a held object
    """

    role: str | None
    side: str | None
    kind: str
    is_ankle: bool = False
    is_piece: bool = False


def told_of_all(names: Sequence[str], among: Sequence[bool]) -> list[Told]:
    """Parse all names. A word that most of the candidate bones share ("ctrl") is ignored."""
    said = [told(name) for name in names]
    marked = [one.kind == "TARGET" for one, counts in zip(said, among, strict=True) if counts]
    if sum(marked) > 0.5 * len(marked):
        said = [one._replace(kind="") if one.kind == "TARGET" else one for one in said]
    return said


def told(name: str) -> Told:
    """Parse one name."""
    name = unicodedata.normalize("NFKC", name).rpartition(":")[2]
    words = [word.lower() for word in WORD.findall(name)]
    side = _side(words, name)
    if VERTEBRA.fullmatch(name):
        return Told("SPINE" if name[0] != "C" else "NECK", MIDDLE, "")
    role = _role(words)
    if role is None:
        words, side = _unglued(words, side)
        role = _role(words)
    if role is None:
        role = next((role for role, keys in JAPANESE for key in keys.split() if key in name), None)
    if role in FRONT and not FRONT_WORDS.isdisjoint(words):
        role = FRONT[role]
    return Told(role, side, _kind(name, words), "ankle" in words, not PIECES.isdisjoint((*words, *name)))


def _role(words: list[str]) -> str | None:
    """The role by the first row of the table with one of the words."""
    pairs = (one + other for one, other in itertools.pairwise(words))
    return min((ROLE_OF_WORD[word] for word in (*words, *pairs) if word in ROLE_OF_WORD), default=(0, None))[1]


def _side(words: list[str], name: str) -> str | None:
    if "左" in name or "右" in name:
        return LEFT if "左" in name else RIGHT
    found = [SIDES[word] for word in words if word in SIDES and SIDES[word] != MIDDLE]
    if not found:
        return MIDDLE if "c" in words or "center" in words else None
    # Both, as in "r_index.01.L": a separate side is at the end.
    return found[-1] if words[-1] in SIDES else found[0]


def _unglued(words: list[str], side: str | None) -> tuple[list[str], str | None]:
    """Split off the letter of a side that is part of a word: "lthigh"."""
    out = []
    for word in words:
        if side is None and word[0] in "lr" and word[1:] in ROLE_OF_WORD and len(word) > 3:
            side, word = SIDES[word[0]], word[1:]
        out.append(word)
    return out, side


def _kind(name: str, words: list[str]) -> str:
    if not TARGET_WORDS.isdisjoint(words):
        return "TARGET"
    if not TWIST_WORDS.isdisjoint(words) or "捩" in name:
        return "TWIST"
    if not END_WORDS.isdisjoint(words):
        return "END"
    return "OFFSET" if name.startswith("__") else ""
