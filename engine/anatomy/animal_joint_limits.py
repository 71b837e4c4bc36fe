"""Joint ranges of animals, by role and by the shape of the limb.

Owns the table for legs that stand under a body, and for spines, necks, tails, ears and wings. Must not know Blender,
nor how roles are detected.

The rest pose shows which way a leg's joints bend: an animal stands on bent legs, with alternating bends. In a straight
leg, knees bend backward and elbows forward. Legs that extend sideways (insects, lizards) bend as in the rest pose or in
the source.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import hand_joint_limits
from .joint_limit import LIMITS_AT_REST, Range
from .rest_body import RestBody, across, unit
from .role_list import LEFT, RIGHT, Part

# [degrees] Jaegger, Marcellin-Little & Levine 2002 (Am J Vet Res 63:979), Labrador Retrievers, as bends from straight:
# elbow 15 to 144, carpus -16 to 148, stifle 18 to 138, tarsus 16 to 141; cats go 10 to 20 farther (Jaeger et al. 2007,
# Am J Vet Res 68:822). Lowest ends are lower here: rigs rest straighter than animals stand. Hip 50 to 162 and shoulder
# 57 to 165 between bones, which stand at about 110.
ELBOW, CARPUS, STIFLE, TARSUS = (5.0, 145.0), (-25.0, 145.0), (5.0, 140.0), (5.0, 140.0)
HIP, SHOULDER = (-50.0, 60.0), (-50.0, 55.0)
LEG_SPREADS, LEG_TURNS, HINGE_SIDES, HINGE_TURNS = 35.0, 30.0, 10.0, 15.0
# Toes: down from straight with the foot, and up from their standing angle. A horse's fetlock stands 30 up, extends to
# 70 and more in a gallop, and flexes to 90 (Clayton et al. 2000, Am J Vet Res 61:1158). The further joints of digits.
FRONT_TOES_DOWN, HIND_TOES_DOWN, TOES_UP, DIGITS, TOE_SIDES = 90.0, 60.0, 50.0, (-60.0, 30.0), 12.0
# Totals of a back, of a neck with its head, and of a tail, divided among their bones: towards the belly, away from it,
# sideways, about the length. Between a horse's and a cat's.
BACK, NECK, UNEVEN = (60.0, 35.0, 50.0, 35.0), (110.0, 80.0, 90.0, 60.0), 1.25
STACK_EACH = 50.0
TAIL_BENDS, TAIL_TURNS, TAIL_EACH = 140.0, 90.0, (12.0, 60.0)
EAR_BENDS, EAR_EACH = 70.0, (15.0, 45.0)
# A wing moves up and down, forward and backward, and folds in its plane.
WING_BEATS, WING_SWINGS, WING_TURNS, WING_FOLDS = 70.0, 45.0, 35.0, 100.0
FEATHER, FLESH, STIFF, SHOULDER_BLADE = 20.0, 15.0, 10.0, 25.0
JAW_OPENS, EYE_TURNS = 40.0, 35.0
# Limbs that extend sideways: the same to all sides at the root; arms that do not stand on the ground.
LIMB_SWINGS, ARM_SWINGS, LIMB_BENDS, ANKLE_SWINGS, LIMB_ENDS = 60.0, 100.0, 130.0, 60.0, 45.0
# A leg stands under the body if its direction points down by at least this [cosine]. Arms are front legs if their ends
# are as low as those of the hind legs, within this part of a leg.
UNDER_BODY, AS_LOW = 0.6, 0.4
# A leaf shorter than this part of the rig is a side branch, not part of a row.
SHORT = 0.01
# A joint bent at rest by more than this defines its bending direction [sine].
CLEARLY_BENT = 0.2
LEGS, ARMS = ("THIGH", "SHANK", "FOOT", "TOE"), ("UPPER_ARM", "LOWER_ARM", "HAND", "FINGER")
PAIRED = ("THIGH", "UPPER_ARM", "SHANK", "LOWER_ARM", "FOOT", "HAND", "COLLAR", "WING", "EAR", "EYE")


class Limb(NamedTuple):
    """axis (3,): a positive rotation flexes knee or elbow, a negative one ankle or wrist; None for a limb that does not
    stand under a body. is_front: an arm."""

    axis: np.ndarray | None
    is_front: bool


def ranges(body: RestBody) -> dict[int, Range]:
    """Joint ranges by body, for those with a role; others are left out."""
    animal = _Animal(body)
    found = {b: limit for b in range(len(body.bones.parts)) if body.parent(b) >= 0 and (limit := animal.limit(b))}
    hands = {b: palm for b, palm in animal.palms.items() if animal.limb(b).axis is None}
    fingers = hand_joint_limits.ranges(body, hands)
    return found | {b: limit for b, limit in fingers.items() if body.role(b) == "FINGER"}


class _Animal:
    """An animal at rest: the directions left, up and front if they can be found, and the range of each role."""

    def __init__(self, body: RestBody) -> None:
        self.body, self.heads = body, body.bones.heads
        self.left, self.up, self.front = _directions(body)
        self.on_fours = self._stands_on_arms()
        self.palms = hand_joint_limits.palms(body)
        self._limbs: dict[int, Limb] = {}
        self.line = _trunk(body)

    def limit(self, b: int) -> Range | None:
        """The range of the body's joint, or None if its role has none."""
        role = self.body.role(b)
        if role in LEGS or role in ARMS:
            return self._of_limb(b, role)
        if role in ("SPINE", "NECK", "HEAD"):
            return self._stack(b, role)
        if role == "TAIL":
            return self._shared(b, "TAIL", TAIL_BENDS, TAIL_TURNS, TAIL_EACH)
        if role == "EAR":
            return self._shared(b, "EAR", EAR_BENDS, EAR_BENDS, EAR_EACH)
        if role == "WING":
            return self._wing(b)
        if role == "JAW":
            return self._jaw(b)
        swing = {"COLLAR": SHOULDER_BLADE, "EYE": EYE_TURNS, "PELVIS": STIFF}.get(role)
        return self.body.even(b, swing, FLESH) if swing is not None else None

    # --- limbs ---------------------------------------------------------------------------

    def _stands_on_arms(self) -> bool:
        """True if the arms are front legs: their ends are as low as the hind legs'."""
        ends = [self._lowest(("UPPER_ARM", "LOWER_ARM"), ARMS), self._lowest(("THIGH", "SHANK"), LEGS)]
        if self.up is None or None in ends:
            return False
        tall = ends[1][1] - ends[1][0]
        return ends[0][0] < ends[1][0] + AS_LOW * tall

    def _lowest(self, starts: tuple[str, ...], roles: tuple[str, ...]) -> tuple[float, float] | None:
        """Heights of the lowest end and of the highest start of limbs."""
        if self.up is None:
            return None
        bones = self.body.bones
        found = [b for b in range(len(bones.parts)) if self.body.role(b) in roles]
        begins = [b for b in found if self.body.role(b) in starts]
        if not begins:
            return None
        ends = np.concatenate([bones.heads[found], bones.heads[found] + bones.ways[found]]) @ self.up
        return float(ends.min()), float((bones.heads[begins] @ self.up).max())

    def limb(self, b: int) -> Limb:
        """The limb that contains a body."""
        roles = ARMS if self.body.role(b) in ARMS else LEGS
        root = b
        while self.body.role(self.body.parent(root)) in roles:
            root = self.body.parent(root)
        if root not in self._limbs:
            self._limbs[root] = self._find_limb(root, roles)
        return self._limbs[root]

    def _find_limb(self, root: int, roles: tuple[str, ...]) -> Limb:
        is_front = roles is ARMS
        members = [root, *(b for b in self.body.below(root) if self.body.role(b) in roles)]
        lower = next((b for b in members if self.body.role(b) == roles[1]), None)
        if lower is None or self.up is None or self.left is None or (is_front and not self.on_fours):
            return Limb(None, is_front)
        end = next((b for b in members if self.body.role(b) == roles[2]), members[-1])
        reach = self.heads[end] - self.heads[root] if end != root else self.body.way(lower)
        if -unit(reach) @ self.up < UNDER_BODY:
            return Limb(None, is_front)
        above = self.body.above(lower, (roles[0],))
        straight = self.body.way(above) if above >= 0 else -self.up
        rest = across(self.body.way(lower), straight)
        if np.linalg.norm(rest) > CLEARLY_BENT:
            return Limb(unit(np.cross(straight, rest)), is_front)
        # a rotation about the left axis moves what points down to the back
        return Limb(-self.left if is_front else self.left, is_front)

    def _of_limb(self, b: int, role: str) -> Range:
        """The range of one joint of an arm or a leg."""
        place = (ARMS if role in ARMS else LEGS).index(role)
        limb = self.limb(b)
        if self.body.bones.parts[b] == self.body.bones.parts[self.body.parent(b)] and place < 3:
            return self.body.even(b, STIFF, STIFF)
        if limb.axis is None:
            return self._free_limb(b, place, limb)
        if place == 0:
            return self._root_of_leg(b, limb)
        if place == 3:
            return self._toe(b, limb)
        above = self.body.way(self.body.parent(b))
        axis = limb.axis if place == 1 else -limb.axis
        ends = ((STIFLE, TARSUS), (ELBOW, CARPUS))[limb.is_front][place - 1]
        return self._bent(b, above, axis, ends, HINGE_SIDES, HINGE_TURNS)

    def _root_of_leg(self, b: int, limb: Limb) -> Range:
        """Hip or shoulder: around the standing direction, more to the front and back than to the sides."""
        return self._bent(b, self.body.way(b), -self.left, SHOULDER if limb.is_front else HIP, LEG_SPREADS, LEG_TURNS)

    def _toe(self, b: int, limb: Limb) -> Range:
        """A pastern, a hoof, a paw's digit: down towards the ground, and up."""
        way = self.body.way(b)
        up = across(self.up, way)
        axis = np.cross(way, unit(up)) if np.linalg.norm(up) > 0.3 else limb.axis if limb.is_front else -limb.axis
        if self.body.role(self.body.parent(b)) == self.body.role(b):
            return self._bent(b, way, axis, DIGITS, TOE_SIDES, HINGE_TURNS)
        above = self.body.way(self.body.parent(b))
        stands = np.degrees(np.arctan2(np.cross(above, way) @ axis, above @ way))
        down = FRONT_TOES_DOWN if limb.is_front else HIND_TOES_DOWN
        return self._bent(b, above, axis, (-down, max(stands, 0.0) + TOES_UP), TOE_SIDES, HINGE_TURNS)

    def _free_limb(self, b: int, place: int, limb: Limb) -> Range:
        """A joint of an arm that is no leg, or of a leg that extends sideways."""
        if place == 0:
            return self.body.even(b, ARM_SWINGS if limb.is_front else LIMB_SWINGS, LEG_TURNS)
        if place == 1:
            above = self.body.way(self.body.parent(b))
            bends = self.body.bends(b, above)
            if bends is None:
                return self.body.even(b, LIMB_SWINGS, LEG_TURNS)
            return self.body.laid(b, above, bends, (0.0, LIMB_BENDS), HINGE_SIDES, LEG_TURNS, LIMITS_AT_REST)
        if place == 2 and limb.is_front:
            return hand_joint_limits.wrist(self.body, b, self.body.way(self.body.parent(b)), self.palms.get(b))
        return self.body.even(b, ANKLE_SWINGS if place == 2 else LIMB_ENDS, LEG_TURNS)

    def _bent(self, b: int, straight, axis, ends: tuple[float, float], sides: float, twist: float) -> Range:
        """A range about an axis, from straight; the relaxed pose is the rest pose."""
        bends = np.cross(axis, straight)
        if np.linalg.norm(bends) < 0.3:
            return self.body.even(b, 0.5 * (ends[1] - ends[0]), twist)
        return self.body.laid(b, straight, bends, ends, sides, twist, LIMITS_AT_REST)

    # --- trunk, tail, head, wings ----------------------------------------------------------

    def _stack(self, b: int, role: str) -> Range:
        """One of several bones of a back or a neck, relative to the rest pose."""
        if b not in self.line:
            return self._shared(b, role, TAIL_BENDS, TAIL_TURNS, TAIL_EACH)
        is_back = role == "SPINE"
        joints = [other for other in self.line if self.body.parent(other) >= 0]
        count = sum((self.body.role(other) == "SPINE") == is_back for other in joints)
        part = min(1.0, UNEVEN / count)
        flexes, extends, leans, turns = (min(part * angle, STACK_EACH) for angle in (BACK if is_back else NECK))
        way = self.body.way(b)
        belly = np.cross(self.left, way) if self.left is not None else np.zeros(3)
        if np.linalg.norm(belly) < 0.3:
            return self.body.even(b, max(leans, flexes), turns)
        return self.body.laid(b, way, belly, (-extends, flexes), leans, turns, LIMITS_AT_REST)

    def _shared(self, b: int, role: str, bends: float, turns: float, each: tuple[float, float]) -> Range:
        """One of several bones in a row that bend to all sides."""
        row = self._row(b, role)
        if b not in row:
            return self.body.even(b, FEATHER, FLESH)
        if role == "SPINE" and len(row) == 1:
            return self.body.even(b, FLESH, FLESH)
        part = UNEVEN / len(row)
        return self.body.even(b, float(np.clip(part * bends, *each)), float(np.clip(part * turns, 8.0, 30.0)))

    def _row(self, b: int, role: str) -> list[int]:
        """The bones of the row that contains or carries a bone, from the first on. Feathers and trunks are not rows."""
        first = self.body.run(b, (role,))[0]
        while first in self.line and first != b:
            first = next(kid for kid in self.body.children[first] if kid == b or b in self.body.below(kid))
        row = self.body.run(first, (role,))
        row = row[row.index(first) :]
        while len(row) > 1 and self._is_short_leaf(row[-1]):
            row.pop()
        return row

    def _is_short_leaf(self, b: int) -> bool:
        return not self.body.children[b] and np.linalg.norm(self.body.bones.ways[b]) < SHORT * self.body.size

    def _wing(self, b: int) -> Range:
        row = self._row(b, "WING")
        if b not in row:
            return self.body.even(b, FEATHER, FLESH)
        way = self.body.way(b)
        up = across(self.up, way) if self.up is not None else np.zeros(3)
        if np.linalg.norm(up) < 0.3:
            return self.body.even(b, LIMB_SWINGS, WING_TURNS)
        if b == row[0]:
            return self.body.laid(b, way, up, (-WING_BEATS, WING_BEATS), WING_SWINGS, WING_TURNS, LIMITS_AT_REST)
        return self.body.laid(b, way, np.cross(up, way), (-WING_FOLDS, WING_FOLDS), FEATHER, FEATHER, LIMITS_AT_REST)

    def _jaw(self, b: int) -> Range:
        way = self.body.way(b)
        down = across(-self.up, way) if self.up is not None else np.zeros(3)
        if np.linalg.norm(down) < 0.3:
            return self.body.even(b, 0.5 * JAW_OPENS, FLESH)
        return self.body.laid(b, way, down, (-5.0, JAW_OPENS), HINGE_SIDES, HINGE_SIDES, 5.0)


def _directions(body: RestBody) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """Left, up and front as unit vectors, each None if it cannot be found."""
    first, heads = body.first, body.bones.heads
    pairs = [(first.get(Part(role, LEFT)), first.get(Part(role, RIGHT))) for role in PAIRED]
    gaps = [heads[one] - heads[other] for one, other in pairs if one is not None and other is not None]
    aside = np.sum(gaps, axis=0) if gaps else np.zeros(3)
    if np.linalg.norm(aside) < 1e-3 * body.size:
        return None, None, None
    left = unit(aside)
    up = across(_up_from_legs(body), left)
    if np.linalg.norm(up) < 0.02 * body.size:
        ahead = across(_ahead(body), left)
        if np.linalg.norm(ahead) < 0.02 * body.size:
            return left, None, None
        up = np.cross(unit(ahead), left)
    up = unit(up)
    return left, up, np.cross(left, up)


def _up_from_legs(body: RestBody) -> np.ndarray:
    """(3,) from the ends of the legs to their starts."""
    bones = body.bones
    begins = [b for b in range(len(bones.parts)) if body.role(b) == "THIGH"]
    ends = [b for b in range(len(bones.parts)) if body.role(b) in LEGS and not body.children[b]]
    if not begins or not ends:
        return np.zeros(3)
    return bones.heads[begins].mean(axis=0) - (bones.heads[ends] + bones.ways[ends]).mean(axis=0)


def _ahead(body: RestBody) -> np.ndarray:
    """(3,) along the trunk: from a tail or the root to the last of head, neck and spine."""
    bones = body.bones
    trunk = [b for b in range(len(bones.parts)) if body.role(b) in ("HEAD", "NECK", "SPINE")]
    if not trunk:
        return np.zeros(3)
    tails = [b for b in range(len(bones.parts)) if body.role(b) == "TAIL"]
    last = max(trunk, key=lambda b: ("SPINE", "NECK", "HEAD").index(body.role(b)))
    start = bones.heads[tails].mean(axis=0) if tails else bones.heads[trunk[0]]
    return bones.heads[last] + bones.ways[last] - start


def _trunk(body: RestBody) -> set[int]:
    """The bodies of back, neck and head that lead to one another or to a limb; others are soft parts."""
    roles = ("SPINE", "NECK", "HEAD")
    leads = ("NECK", "HEAD", "COLLAR", "UPPER_ARM", "WING", "THIGH")
    found: set[int] = set()
    for b in range(len(body.bones.parts)):
        if body.role(b) in leads:
            found |= {b} if body.role(b) in roles else set()
            while (b := body.parent(b)) >= 0:
                found |= {b} if body.role(b) in roles else set()
    longest = max(
        (body.run(b, roles) for b in range(len(body.bones.parts)) if body.role(b) in roles), key=len, default=[]
    )
    return found | set(longest)
