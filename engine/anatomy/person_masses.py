"""Segment masses of a person (de Leva), by role.

Owns the table of body segments and how a rig's bodies share it. Must not know Blender, nor how roles are detected. SI
units; `parts` has the part of each bone, None if unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from . import bone_ends
from .capsule_masses import Bodies, shares
from .role_list import LEFT, MIDDLE, RIGHT, Part


class Segment(NamedTuple):
    """mass: part of the whole; center: part of the length, from the near joint; about and along: radii of gyration
    across the segment (mean of two) and along it, parts of the length."""

    mass: float
    center: float
    about: float
    along: float


# De Leva 1996 (J Biomech 29:1223), after Zatsiorsky: means of men and women. Rigs divide heads, hands and feet
# differently, so only their mass is used.
TABLE = {
    "HEAD": Segment(0.0681, 0.5, 0.296, 0.261),  # with the neck, vertex to the seventh vertebra
    "TRUNK": Segment(0.43015, 0.505, 0.308, 0.158),  # that vertebra to the middle of the hips
    "UPPER_ARM": Segment(0.0263, 0.5763, 0.273, 0.153),
    "LOWER_ARM": Segment(0.0150, 0.45665, 0.265, 0.1075),
    "HAND": Segment(0.00585, 0.76870, 0.532, 0.368),
    "THIGH": Segment(0.1447, 0.38535, 0.348, 0.1555),
    "SHANK": Segment(0.0457, 0.43735, 0.257, 0.097),
    "FOOT": Segment(0.0133, 0.42145, 0.270, 0.1315),
}
# The trunk from the hips up, as parts of its length and of its mass: lower, middle and upper third (same tables).
TRUNK_LENGTHS = np.array([0.2686, 0.3455, 0.3859])
TRUNK_MASSES = np.array([0.1182, 0.1549, 0.15705]) / 0.43015
# The segment of each role. Other bones below a hand, foot or head are part of that.
SEGMENT_OF_ROLE = {
    "PELVIS": "TRUNK", "SPINE": "TRUNK", "COLLAR": "TRUNK", "NECK": "HEAD", "HEAD": "HEAD", "UPPER_ARM": "UPPER_ARM",
    "LOWER_ARM": "LOWER_ARM", "HAND": "HAND", "FINGER": "HAND", "THIGH": "THIGH", "SHANK": "SHANK", "FOOT": "FOOT",
    "TOE": "FOOT",
}  # fmt: skip
PAIRED = ("UPPER_ARM", "LOWER_ARM", "HAND", "THIGH", "SHANK", "FOOT")
ENDS = ("HEAD", "HAND", "FOOT")
# A rig without bones for these has their mass on the bones that would carry them.
CARRIER = {"HAND": "LOWER_ARM", "FOOT": "SHANK"}
LIMBS = ("UPPER_ARM", "LOWER_ARM", "THIGH", "SHANK")
# The smallest part of the trunk's length that a pelvis, or any bone of the spine, stands for: importers give hips a
# length of 0.
PELVIS_LEAST, SPINE_LEAST = 0.15, 0.04
# The part of the trunk's mass of a collar bone, or of a bone between pelvis and thigh, and the most they have together.
BESIDE, BESIDE_MOST = 0.03, 0.15
# Necks have this part of head and neck; other bones on a head (jaw, eyes, hair) together at most this part.
NECK, ON_HEAD = 0.2, 0.1
# Bones that are not part of a person (a tail, a coat) together have at most this part of the whole.
STRANGE = 0.3
# A person's legs continue the trunk: the cosine between the two directions. A dog's is about 0.
UPRIGHT = -0.7
# The range of a person's arm from shoulder to wrist relative to the leg from hip to ankle, and the largest length from
# ankle to toes relative to the shank. Measured on rigs: people 0.54 to 0.79 and 0.26 to 0.45, four-legged animals 0.84
# to 1.12 and 0.71 to 1.07.
ARM_OF_LEG, FOOT_OF_SHANK = (0.4, 0.82), 0.58


def is_person(parts: Sequence[Part | None], heads: np.ndarray) -> bool:
    """True if the bones are those of a person: arms, legs, a trunk and a head; heads (n, 3) at rest.

    A person whose rest pose is not standing is recognised by lengths, which do not depend on the pose.
    """
    return _has_all_parts(parts) and (stands_upright(parts, heads) or _has_persons_lengths(parts, heads))


def _has_all_parts(parts: Sequence[Part | None]) -> bool:
    found = {(part.role, part.side) for part in parts if part is not None}
    limbs = {(role, side) for role in LIMBS for side in (LEFT, RIGHT)}
    roles = {role for role, _ in found}
    return bool(limbs <= found and "HEAD" in roles and roles & {"SPINE", "PELVIS"})


def stands_upright(parts: Sequence[Part | None], heads: np.ndarray) -> bool:
    """True if the bones are a person's and the legs continue the trunk at rest."""
    if not _has_all_parts(parts):
        return False
    hips, knees, shoulders = (_mean(parts, heads, role) for role in ("THIGH", "SHANK", "UPPER_ARM"))
    up, down = shoulders - hips, knees - hips
    return float(up @ down) < UPRIGHT * float(np.linalg.norm(up) * np.linalg.norm(down))


def _has_persons_lengths(parts: Sequence[Part | None], heads: np.ndarray) -> bool:
    """True if arms and feet have a person's lengths; heads (n, 3)."""
    first: dict[Part, np.ndarray] = {}
    for part, head in zip(parts, heads, strict=True):
        if part is not None:
            first.setdefault(part, head)

    def length(*roles: str) -> float:
        """The length along a limb from joint to joint, the mean of both sides; 0 if one side has no such bones."""
        rows = [[first.get(Part(role, side)) for role in roles] for side in (LEFT, RIGHT)]
        if any(spot is None for row in rows for spot in row):
            return 0.0
        return float(np.mean([np.linalg.norm(np.diff(row, axis=0), axis=1).sum() for row in rows]))

    arm, leg = length("UPPER_ARM", "LOWER_ARM", "HAND"), length("THIGH", "SHANK", "FOOT")
    if arm == 0.0 or leg == 0.0:
        arm, leg = length("UPPER_ARM", "LOWER_ARM"), length("THIGH", "SHANK")
    foot, shank = length("FOOT", "TOE"), length("SHANK", "FOOT")
    return ARM_OF_LEG[0] * leg <= arm <= ARM_OF_LEG[1] * leg and foot <= FOOT_OF_SHANK * shank


def _mean(parts: Sequence[Part | None], heads: np.ndarray, role: str) -> np.ndarray:
    """The mean of the heads of a role's first bones on both sides."""
    first = {}
    for part, head in zip(parts, heads, strict=True):
        if part is not None and part.role == role:
            first.setdefault(part.side, head)
    return np.mean(list(first.values()), axis=0)


def by_role(
    guess: Bodies,
    parents: Sequence[int],
    rests: np.ndarray,
    kept: Sequence[int],
    parts: Sequence[Part | None],
    total_mass: float,
    overrides: Sequence[float],
) -> Bodies | None:
    """A person's bodies, or None if the bones are no person's.

    guess: capsules of all bones; parents (n,); rests (n, 4, 4) [m]; kept: the bones that are bodies; parts (n,);
    overrides (n,) as in `capsule_masses.measure`. A riding bone has no mass, unless it is given.
    """
    heads = rests[:, :3, 3]
    chosen = set(kept)
    known = [part if bone in chosen else None for bone, part in enumerate(parts)]
    if not is_person(known, heads):
        return None
    person = _Person(guess, parents, rests, list(kept), known)
    volumes = np.zeros(len(heads))
    for bone in kept:
        volumes[bone] = person.share[bone]
    bulk = guess.masses[kept] / guess.masses[kept].sum()
    strange = [bone for bone in kept if person.segment[bone] is None]
    if strange:
        part = dict(zip(kept, bulk, strict=True))
        whole = sum(part[bone] for bone in strange)
        for bone in strange:
            volumes[bone] = part[bone] * min(1.0, STRANGE / whole)
        others = [bone for bone in kept if person.segment[bone] is not None]
        volumes[others] *= 1.0 - volumes[strange].sum()
    masses = shares(volumes, total_mass, overrides)
    inertias = guess.inertias * (masses / guess.masses)[:, None, None]
    centers = guess.centers.copy()
    for bone, (center, turn) in person.forms.items():
        centers[bone], inertias[bone] = center, masses[bone] * turn
    return Bodies(masses, centers, inertias, guess.radii, guess.lengths)


class _Person:
    """How the bodies of a person share the table.

    segment: by bone, its segment or None; share: by bone, its part of the whole; forms: by bone that the table
    describes better than a capsule, the centre in its frame [m] and the inertia of one kilogram [m²].
    """

    def __init__(self, guess: Bodies, parents, rests: np.ndarray, kept: list[int], parts) -> None:
        self.guess, self.rests, self.kept, self.parts = guess, rests, kept, parts
        self.heads = rests[:, :3, 3]
        self.helpers = bone_ends.far_helpers(parents, self.heads)
        self.above = _above(parents, kept)
        self.segment = {bone: self._segment(bone) for bone in kept}
        self.side = {bone: self._side(bone) for bone in kept}
        self.share: dict[int, float] = dict.fromkeys(kept, 0.0)
        self.forms: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for name in PAIRED:
            for side in (LEFT, RIGHT):
                self._limb(name, side)
        self._head()
        self._trunk()

    def _segment(self, bone: int) -> str | None:
        """The bone's own segment, that of the end of a limb it belongs to, or the trunk for bones that lead to a
        limb."""
        part = self.parts[bone]
        if bone in self.helpers:
            return None
        if part is not None and part.role in SEGMENT_OF_ROLE:
            return SEGMENT_OF_ROLE[part.role]
        up = self._first_known(bone)
        if up in ENDS:
            return up
        below = {self.parts[other].role for other in self._below(bone) if self.parts[other] is not None}
        return "TRUNK" if up in ("TRUNK", None) and below & set(SEGMENT_OF_ROLE) else None

    def _first_known(self, bone: int) -> str | None:
        while (bone := self.above[bone]) >= 0:
            part = self.parts[bone]
            if part is not None and part.role in SEGMENT_OF_ROLE:
                return SEGMENT_OF_ROLE[part.role]
        return None

    def _below(self, bone: int) -> list[int]:
        found = {bone}
        for other in self.kept:  # parents first
            if self.above[other] in found:
                found.add(other)
        return sorted(found - {bone})

    def _side(self, bone: int) -> str:
        while bone >= 0:
            part = self.parts[bone]
            if part is not None and part.side != MIDDLE:
                return part.side
            bone = self.above[bone]
        return MIDDLE

    def _of(self, segment: str, side: str | None = None) -> list[int]:
        return [b for b in self.kept if self.segment[b] == segment and side in (None, self.side[b])]

    def _limb(self, name: str, side: str) -> None:
        bones = self._of(name, side)
        mass = TABLE[name].mass
        if not bones:
            return
        mass += sum(TABLE[end].mass for end, on in CARRIER.items() if on == name and not self._of(end, side))
        ways = {bone: self._way(bone) for bone in bones}
        if name in ENDS:
            sizes = self.guess.masses[bones]
        else:
            sizes = np.array([max(float(np.linalg.norm(ways[bone])), 1e-9) for bone in bones])
        for bone, size in zip(bones, sizes / sizes.sum(), strict=True):
            self.share[bone] = mass * size
        if name in ENDS:
            return
        whole = float(sizes.sum())
        for bone in bones:
            if len(bones) == 1:
                form = TABLE[name]
                self._shape(bone, form.center * ways[bone], ways[bone], form.about * whole, form.along * whole)
            else:
                self._slice(bone, 0.5 * ways[bone], ways[bone], TABLE[name].along * whole)

    def _way(self, bone: int) -> np.ndarray:
        """(3,) vector from the bone's head to the next along the limb, in its frame; its own if there is none."""
        after = ("UPPER_ARM", "LOWER_ARM", "HAND"), ("THIGH", "SHANK", "FOOT")
        row = next((row for row in after if self.segment[bone] in row), (self.segment[bone],))
        later = row[row.index(self.segment[bone]) :]
        for other in self._below(bone):
            if self.segment[other] in later and self.above[other] == bone:
                return self.rests[bone, :3, :3].T @ (self.heads[other] - self.heads[bone])
        return 2.0 * self.guess.centers[bone]

    def _head(self) -> None:
        bones = self._of("HEAD")
        role = {bone: self.parts[bone].role if self.parts[bone] is not None else "" for bone in bones}
        necks, heads, rest = (
            [bone for bone in bones if role[bone] == "NECK"],
            [bone for bone in bones if role[bone] == "HEAD"],
            [bone for bone in bones if role[bone] not in ("NECK", "HEAD")],
        )
        on = self.guess.masses[rest] / max(self.guess.masses[bones].sum(), 1e-30)
        on *= min(1.0, ON_HEAD / max(on.sum(), 1e-30))
        left = 1.0 - on.sum()
        self.share.update(zip(rest, TABLE["HEAD"].mass * on, strict=True))
        for group, part in ((necks, NECK if heads else 1.0), (heads, 1.0 - NECK if necks else 1.0)):
            size = self.guess.lengths[group] + 1e-9
            for bone, each in zip(group, size / size.sum() if group else (), strict=True):
                self.share[bone] = TABLE["HEAD"].mass * left * part * each

    def _trunk(self) -> None:
        """The bodies along the line from the hips to the neck; then collar bones and other bones of the trunk."""
        base = _mean(self.parts, self.heads, "THIGH")
        neck = next(bone for bone in self.kept if self.segment[bone] == "HEAD")
        line = self.heads[neck] - base
        spine = [bone for bone in self._up(neck) if self.segment[bone] == "TRUNK"][::-1]
        if not spine:
            spine = [bone for bone in self._of("TRUNK") if self.side[bone] == MIDDLE][:1]
        hips = {bone for leg in self._of("THIGH") for bone in self._up(leg)}
        spine += [b for b in self._of("TRUNK") if b not in spine and b in hips and self._role(b) == "PELVIS"]
        spine.sort(key=lambda bone: self._role(bone) != "PELVIS")  # a stable sort: the rest keep their order
        beside = [bone for bone in self._of("TRUNK") if bone not in spine]
        least = [PELVIS_LEAST if self._role(bone) == "PELVIS" else SPINE_LEAST for bone in spine]
        joints = self._joints(spine, base, neck)
        if stands_upright(self.parts, self.heads):
            starts = [float((self.heads[bone] - base) @ line / (line @ line)) for bone in spine]
        else:
            steps = np.linalg.norm(np.diff(joints, axis=0), axis=1)
            starts = list((np.cumsum(steps) - steps) / max(float(steps.sum()), 1e-30))
            line = None
        ends = _intervals(starts, least)
        knots, sums = (np.concatenate([[0.0], np.cumsum(x)]) for x in (TRUNK_LENGTHS, TRUNK_MASSES))
        aside = min(BESIDE * len(beside), BESIDE_MOST)
        masses = np.diff(np.interp(ends, knots, sums)) * (1.0 - aside) * TABLE["TRUNK"].mass
        whole = float(np.linalg.norm(line) if line is not None else steps.sum())
        for k, bone in enumerate(spine):
            self.share[bone] = float(masses[k])
            turn = self.rests[bone, :3, :3].T
            # In a standing person the slices are on one line, in a folded one each along its own bone.
            middle = 0.5 * (joints[k] + joints[k + 1]) if line is None else base + 0.5 * (ends[k] + ends[k + 1]) * line
            way = joints[k + 1] - joints[k] if line is None else line * (ends[k + 1] - ends[k])
            self._slice(bone, turn @ (middle - self.heads[bone]), turn @ way, TABLE["TRUNK"].along * whole)
        for bone in beside:
            self.share[bone] = aside * TABLE["TRUNK"].mass / len(beside)

    def _joints(self, spine: list[int], base: np.ndarray, neck: int) -> np.ndarray:
        """(k + 1, 3) joints of the trunk's bones, from between the hips to the neck."""
        return np.array([base, *(self.heads[bone] for bone in spine[1:]), self.heads[neck]])

    def _role(self, bone: int) -> str:
        part = self.parts[bone]
        return part.role if part is not None else ""

    def _up(self, bone: int) -> list[int]:
        found = []
        while (bone := self.above[bone]) >= 0:
            found.append(bone)
        return found

    def _slice(self, bone: int, center: np.ndarray, way: np.ndarray, width: float) -> None:
        """A slice of a round segment whose radius of gyration along it is `width`."""
        long = float(np.linalg.norm(way))
        self._shape(bone, center, way, float(np.sqrt(0.5 * width**2 + long**2 / 12.0)), width)

    def _shape(self, bone: int, center: np.ndarray, way: np.ndarray, about: float, along: float) -> None:
        long = float(np.linalg.norm(way))
        axis = way / long if long > 0.0 else np.array([0.0, 1.0, 0.0])
        outer = np.outer(axis, axis)
        self.forms[bone] = (center, about**2 * (np.eye(3) - outer) + along**2 * outer)


def _above(parents: Sequence[int], kept: Sequence[int]) -> dict[int, int]:
    """The nearest body above each body; -1 for none."""
    chosen, out = set(kept), {}
    for bone in kept:
        up = parents[bone]
        while up >= 0 and up not in chosen:
            up = parents[up]
        out[bone] = up
    return out


def _intervals(starts: Sequence[float], least: Sequence[float]) -> np.ndarray:
    """(k + 1,) the borders of k bones on a line from 0 to 1, from their heads and the least length of each."""
    edges = np.zeros(len(starts) + 1)
    for k in range(1, len(starts)):
        edges[k] = max(starts[k], edges[k - 1] + least[k - 1])
    edges[-1] = max(1.0, edges[-2] + least[-1])
    return edges / edges[-1]
