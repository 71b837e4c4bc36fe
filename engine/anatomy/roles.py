"""Role and side of every bone: by name, and by the rig's shape where names are ambiguous.

Owns how the two are combined. Must not know Blender or the use of roles.

A name with a single meaning decides. One with several meanings ("leg", "shoulder", "hip", "spine") is resolved by its
neighbours in the chain, then by the shape. A bone without a known name gets the role by shape, unless another bone has
that role by name: then it is an extra.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import body_from_shape, body_parents, bone_ends, bone_names
from .bone_names import Told
from .role_list import LEFT, MIDDLE, RIGHT, Part

ARM = ("UPPER_ARM", "LOWER_ARM", "HAND", "FINGER")
LEG = ("THIGH", "SHANK", "FOOT", "TOE")
FAMILIES = {"ARM?": ARM, "LEG?": LEG}
IN_THE_MIDDLE = ("SPINE", "NECK", "HEAD", "TAIL", "JAW", "PELVIS")
LIMBS = (*ARM, *LEG)


def find(
    names: Sequence[str], parents: Sequence[int], heads: np.ndarray, tails: np.ndarray, deform: Sequence[bool]
) -> list[Part]:
    """The part of each bone.

    names, parents (n,) -1 for none, in any order; heads, tails (n, 3) at rest in one space with any orientation; deform
    (n,): if only some bones deform, the body is searched among those.
    """
    heads, tails = np.asarray(heads, dtype=np.float64), np.asarray(tails, dtype=np.float64)
    if not len(names):
        return []
    among = deform if any(deform) else [True] * len(names)
    said = bone_names.told_of_all(names, among)
    kept = [i for i, one in enumerate(said) if _counts(one) and among[i]]
    search = _Search(said, kept, parents, heads, tails, bone_ends.find(parents, heads, tails).ends)
    search.settle()
    roles: list[str | None] = [None] * len(names)
    sides: list[str | None] = [None] * len(names)
    for k, bone in enumerate(kept):
        roles[bone], sides[bone] = search.roles[k], search.side_of[k]
    for bone in _downwards(parents):
        if roles[bone] is None:
            above = parents[bone]
            around = (roles[above], sides[above]) if above >= 0 else (None, None)
            roles[bone], sides[bone] = _by_the_way(said[bone], *around)
    return [Part(role or "OTHER", side or MIDDLE) for role, side in zip(roles, sides, strict=True)]


def _counts(one: Told) -> bool:
    """True if it is a part of a body, rather than a helper or an accessory."""
    return not one.kind and one.role != "OTHER"


def _by_the_way(one: Told, above: str | None, side: str | None) -> tuple[str, str | None]:
    """Role and side of a bone that does not count: an end or a twist bone belongs to its parent."""
    side = one.side or side
    if (one.kind in ("END", "OFFSET") and above not in (None, "OTHER")) or (one.kind == "TWIST" and above in LIMBS):
        return above, side
    if one.kind == "TARGET" or one.role is None or one.role.endswith("?") or one.role in ("OTHER", "FRILL"):
        return (above or "OTHER") if one.kind == "TWIST" else "OTHER", side
    if one.role == "FINGER" and above in LEG:
        return "TOE", side
    return one.role, side


def _downwards(parents: Sequence[int]) -> list[int]:
    """All bones, parents before their children."""
    children: list[list[int]] = [[] for _ in parents]
    for i, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(i)
    order = [i for i, parent in enumerate(parents) if parent < 0]
    for i in order:
        order.extend(children[i])
    return order


class _Search:
    """The bones that count, as a tree of their own, and what is known of each so far."""

    def __init__(self, said: list[Told], kept: list[int], parents: Sequence[int], heads, tails, ends) -> None:
        """heads, tails, ends (n, 3) of all bones: as drawn, and the physical ends."""
        is_kept = np.zeros(len(said), dtype=bool)
        is_kept[kept] = True
        place = {bone: k for k, bone in enumerate(kept)}
        above = body_parents.holders(parents, heads, tails, is_kept.tolist())
        self.parents = [place.get(above[bone], -1) for bone in kept]
        self.said = [said[bone] for bone in kept]
        self.tree = body_from_shape.Tree.build(self.parents, heads[kept], ends[kept])
        self.plan = body_from_shape.find(self.tree, [one.side for one in self.said])
        self.roles: list[str | None] = [None] * len(kept)
        self.side_of: list[str | None] = [None] * len(kept)
        self.named = {one.role for one in self.said if one.role}
        # A body whose four limbs are all called legs is four-legged: those that are arms by shape are the front ones.
        if self.named.isdisjoint((*ARM, "ARM?", "COLLAR", "SHOULDER?")):
            for k, one in enumerate(self.said):
                if one.role in bone_names.FRONT and self.plan.roles[k] in ARM:
                    self.said[k] = one._replace(role=bone_names.FRONT[one.role])
            self.named = {one.role for one in self.said if one.role}

    def settle(self) -> None:
        """Assign every bone its role, parents first, then its side."""
        order = _downwards(self.parents)
        for bone in order:
            if self.roles[bone] is None:
                self.roles[bone] = self._role(bone)
        self._crown(order)
        left = self._left()
        for bone in order:
            self.side_of[bone] = self._side(bone, left)

    def _role(self, bone: int) -> str | None:
        told = self.said[bone].role
        if told is None:
            return self._unnamed(bone)
        if not told.endswith("?") and told != "FRILL":
            return self._certain(bone, told)
        if told in FAMILIES:
            self._fill_chain(bone, told)
            return self.roles[bone]
        limb = self._above(bone, LIMBS)
        below = {self.said[each].role for each in self.tree.below[bone][1:]}
        if told == "SHOULDER?":
            if below & {"UPPER_ARM", "ARM?", "WING"}:
                return "COLLAR"
            if self._above(bone, ("COLLAR",)) or below & {"LOWER_ARM", "HAND"}:
                return "UPPER_ARM"
            return self.plan.roles[bone] if self.plan.roles[bone] in ("COLLAR", "UPPER_ARM") else "COLLAR"
        if told == "HIP?":
            is_thigh = "THIGH" not in below and not {"LEG?", "SHANK"} <= below
            return "THIGH" if self.said[bone].side in (LEFT, RIGHT) and is_thigh else "PELVIS"
        if told == "PAW?":
            # Below a hand or a foot it is the part that touches the ground.
            family = ARM if limb in ARM else LEG
            return family[3] if limb in family[2:] else family[2]
        if told == "FRILL":
            return self._above(bone, ("WING", "TAIL")) or "OTHER"
        return self._trunk(bone, told)

    def _certain(self, bone: int, told: str) -> str:
        """A word with one meaning; hands and feet use the same words for their parts."""
        limb = self._above(bone, LIMBS)
        if told == "FINGER" and limb in LEG:
            return "TOE"
        if told == "TOE" and limb in ARM:
            return "FINGER"
        above = self.parents[bone]
        if told == "FOOT" and limb == "FOOT" and self.said[above].is_ankle and not self.said[bone].is_ankle:
            return "TOE"
        return told

    def _trunk(self, bone: int, told: str) -> str:
        """A "spine" may go from tail to head if no other bone has such a name; a "root" may be a pelvis."""
        shape = self.plan.roles[bone]
        if told == "ROOT?":
            is_pelvis = shape == "PELVIS" or self._carries_legs(bone) or self._parts_legs_from_trunk(bone)
            return "PELVIS" if is_pelvis else "OTHER"
        if shape in ("NECK", "HEAD", "TAIL") and shape not in self.named:
            return shape
        unnamed = not any(one.role in ("PELVIS", "HIP?") and one.side not in (LEFT, RIGHT) for one in self.said)
        return "PELVIS" if self._carries_legs(bone) or (unnamed and shape == "PELVIS") else "SPINE"

    def _carries_legs(self, bone: int) -> bool:
        """True if a left and a right leg are among its descendants, by their names."""
        starts = ("THIGH", "LEG?", "HIP?", "PELVIS")
        sides = {self.said[kid].side for kid in self.tree.children[bone] if self.said[kid].role in starts}
        return {LEFT, RIGHT} <= sides

    def _parts_legs_from_trunk(self, bone: int) -> bool:
        """True if both legs are below one of its children and the trunk below another, by their names."""
        starts, trunk = ("THIGH", "LEG?", "SHANK"), ("SPINE", "SPINE?", "NECK", "HEAD", "UPPER_ARM", "ARM?")
        legs, others = False, False
        for kid in self.tree.children[bone]:
            below = [self.said[each] for each in self.tree.below[kid]]
            sides = {one.side for one in below if one.role in starts}
            legs = legs or {LEFT, RIGHT} <= sides
            others = others or (not sides and any(one.role in trunk for one in below))
        return legs and others

    def _is_between_sides(self, bone: int) -> bool:
        """True if a left and a right bone are below it, by their names: then it is in the middle, wherever it is at
        rest."""
        return {LEFT, RIGHT} <= {self.said[each].side for each in self.tree.below[bone][1:]}

    def _unnamed(self, bone: int) -> str:
        shape = self.plan.roles[bone]
        if shape is not None and (shape not in self.named or shape == "FINGER"):
            return shape
        return "FINGER" if shape is None and self._above(bone, ("HAND", "FINGER")) else "OTHER"

    def _fill_chain(self, first: int, told: str) -> None:
        """Assign roles to bones that are all called "leg" or "arm", from the first on: those missing between their
        neighbours."""
        family = FAMILIES[told]
        chain = [first]
        while kids := [c for c in self.tree.children[chain[-1]] if self.said[c].role == told]:
            chain.append(max(kids, key=lambda c: self.tree.reach[c]))
        above = self._above(first, family)
        below = [self.said[each].role for each in self.tree.below[chain[-1]][1:]]
        begin = family.index(above) + 1 if above else 0
        end = min((family.index(role) for role in below if role in family), default=len(family))
        choice = family[begin:end] or (above or family[0],)
        for k, bone in enumerate(chain):
            shape = self.plan.roles[bone]
            if len(chain) <= len(choice):
                self.roles[bone] = choice[k]
            else:
                self.roles[bone] = shape if shape in choice else choice[k * len(choice) // len(chain)]

    def _crown(self, order: list[int]) -> None:
        """If no head is named, the last of several neck bones carries it."""
        if "HEAD" in self.roles:
            return
        for bone in reversed(order):
            if self.roles[bone] == "NECK" and self._above(bone, ("NECK",)):
                self.roles[bone] = "HEAD"
                return

    def _above(self, bone: int, wanted: Sequence[str]) -> str | None:
        """The role of the nearest ancestor with one of these roles."""
        bone = self.parents[bone]
        while bone >= 0:
            if self.roles[bone] in wanted:
                return self.roles[bone]
            bone = self.parents[bone]
        return None

    def _left(self) -> float:
        """The side of the mirror plane that is left, +1 or -1: by names, else by the facing direction; 0 if unknown."""
        plan = self.plan
        if plan.lateral is None:
            return 0.0
        told = body_from_shape.left_of(self.tree, plan, [one.side for one in self.said])
        if told:
            return told
        if plan.up is None:
            return 1.0
        # Blender's characters face -Y, which is the default for bodies whose facing is unknown.
        forward = plan.forward if plan.forward is not None else np.array([0.0, -1.0, 0.0])
        return 1.0 if np.cross(plan.up, forward) @ plan.lateral >= 0.0 else -1.0

    def _side(self, bone: int, left: float) -> str:
        said, role = self.said[bone].side, self.roles[bone]
        aside = body_from_shape.offsets(self.tree, self.plan)[bone] if left else 0.0
        central = abs(aside) < body_from_shape.IN_THE_MIDDLE * self.tree.size
        # A single letter is no side if the bone is in the middle: the L of a vertebra, for example.
        if said in (LEFT, RIGHT) and not (left and central and role in ("SPINE", "NECK", "HEAD")):
            return said
        above = self.side_of[self.parents[bone]] if self.parents[bone] >= 0 else None
        if above in (LEFT, RIGHT):
            return above
        if said is None and self._is_between_sides(bone):
            return MIDDLE
        if said == MIDDLE or not left or central or role in ("SPINE", "NECK", "HEAD", "TAIL"):
            return MIDDLE
        return LEFT if aside * left > 0.0 else RIGHT
