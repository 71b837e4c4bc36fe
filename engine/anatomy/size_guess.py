"""Guess a body's height, the metres in its unit, and its mass.

Owns the guess. Must not know Blender.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from . import person_masses
from .masses import HOLLOW
from .role_list import LEFT, MIDDLE, RIGHT, Part

# Heights of people, children and drawn figures [m]: a rig of such a height is taken as it is.
PLAUSIBLE = (0.5, 2.6)
# Heights of grown people [m]: a unit that gives the rig such a height is the likely one.
GROWN = (1.4, 2.1)
USUAL = 1.75
# Animals [m], from a mouse to a giraffe.
ANIMAL = (0.03, 6.0)
# Metres in common units: centimetres, decimetres, millimetres, inches, feet, and the recordings of Carnegie Mellon,
# whose unit is an inch over 0.45.
UNITS = (0.01, 0.1, 0.001, 0.0254, 0.3048, 0.0254 / 0.45, 10.0, 100.0, 1000.0)
# Kilograms per metre squared of a person of 1.75 m and 70 kg, and per cubic metre of any animal.
BODY_MASS_INDEX, WATER = 70.0 / USUAL**2, 1000.0
# In parts of the leg from hip to ankle: from the ankle to the sole. In parts of the distance up to the head's joint:
# the least and, for bones that do not stand, the most from there to the crown.
SOLE_OF_LEG, CROWN_OF_BODY = 0.09, (0.07, 0.16)
# A person stands at rest if legs and trunk are vertical within this part of their lengths.
STRAIGHT = 0.9
# A rig of unknown kind outside these heights [m] is hardly in metres.
THING = (0.05, 12.0)
# The factors by which a person's or an animal's mass may differ from the usual. An animal's usual mass [kg] is this
# times the cube of its longest side [m]: 36 for a horse, 44 for a cat.
PERSONS_MASS, ANIMALS_MASS, ANIMALS_BULK = 3.5, 12.0, 40.0
# A skin taller than the bones by up to this much is hair and soles; beyond that it is something else.
SKIN_MOST = 1.4


class Bones(NamedTuple):
    """A rig's bones in one pose: parts (n,), parents (n,) -1 for none, heads and ends (n, 3)."""

    parts: Sequence[Part]
    parents: Sequence[int]
    heads: np.ndarray
    ends: np.ndarray


def of_person(rest: Bones, posed: Bones | None = None, skin: np.ndarray | None = None) -> float:
    """Height of a person from the soles to the crown, in any orientation and even if folded at rest; 0 for other rigs.

    A standing rest pose is measured directly, others by the lengths of their bones. posed: a pose of the motion, in
    which the hips are where they should be; skin (k, 3): points at rest, in the same units.
    """
    if not person_masses.is_person(rest.parts, rest.heads):
        return 0.0
    body = _Body.of(rest)
    if body is None:
        return 0.0
    if not body.stands():
        return body.by_lengths() if posed is None else _Body.of(posed).by_lengths()
    bones = body.standing()
    tall = float(np.ptp(skin @ body.up)) if skin is not None and len(skin) else 0.0
    return tall if bones < tall < SKIN_MOST * bones else bones


@dataclass(frozen=True, eq=False)
class _Body:
    """A person in one pose.

    hip        (3,) between the thighs; neck (3,) the head's joint; up (3,) from the feet to the hip
    legs       (2,) length of each leg's bones; straights (2,) from hip to ankle
    trunk      length along the bones from hip to neck
    crown      (k, 3) points that may be the top of the head
    """

    hip: np.ndarray
    neck: np.ndarray
    up: np.ndarray
    legs: np.ndarray
    straights: np.ndarray
    trunk: float
    crown: np.ndarray

    @classmethod
    def of(cls, bones: Bones) -> _Body | None:
        """None without a head, thighs and shanks."""
        first: dict[Part, int] = {}
        for i, part in enumerate(bones.parts):
            first.setdefault(part, i)
        spot = {part: bones.heads[i] for part, i in first.items()}
        head = first.get(Part("HEAD", MIDDLE))
        thighs = [first.get(Part("THIGH", side)) for side in (LEFT, RIGHT)]
        if head is None or None in thighs or any(Part("SHANK", side) not in spot for side in (LEFT, RIGHT)):
            return None
        legs, straights, ankles = [], [], []
        for side in (LEFT, RIGHT):
            thigh, shank, foot = (spot.get(Part(role, side)) for role in ("THIGH", "SHANK", "FOOT"))
            # Without a foot the shank counts as long as the thigh.
            foot = shank + (shank - thigh) if foot is None else foot
            legs.append(np.linalg.norm(shank - thigh) + np.linalg.norm(foot - shank))
            straights.append(np.linalg.norm(foot - thigh))
            ankles.append(foot)
        hip = bones.heads[thighs].mean(axis=0)
        up = hip - np.mean(ankles, axis=0)
        up = up / max(float(np.linalg.norm(up)), 1e-30)
        crown = [i for i, part in enumerate(bones.parts) if part == Part("HEAD", MIDDLE)]
        top = np.concatenate([bones.heads[crown], bones.ends[crown[:1]]])
        trunk = _along_trunk(bones, head, thighs, hip)
        return cls(hip, bones.heads[head], up, np.array(legs), np.array(straights), trunk, top)

    def stands(self) -> bool:
        """True if legs and trunk are straight and in one line."""
        trunk, leg = float(np.linalg.norm(self.neck - self.hip)), float(self.legs.mean())
        return bool(
            (self.straights >= STRAIGHT * self.legs).all()
            and trunk >= STRAIGHT * self.trunk
            and (self.neck - self.hip) @ self.up >= STRAIGHT * trunk
            and 0.3 < trunk / max(leg, 1e-30) < 3.0
        )

    def standing(self) -> float:
        """The height of a standing pose, without skin."""
        leg, trunk = float(self.legs.mean()), float(np.linalg.norm(self.neck - self.hip))
        above = min(float(((self.crown - self.neck) @ self.up).max()), 0.5 * trunk)
        return leg * (1.0 + SOLE_OF_LEG) + trunk + max(above, CROWN_OF_BODY[0] * (leg + trunk))

    def by_lengths(self) -> float:
        """The height after straightening all bones."""
        leg = float(self.legs.mean())
        above = float(np.linalg.norm(self.crown - self.neck, axis=1).max())
        low, high = (part * (leg + self.trunk) for part in CROWN_OF_BODY)
        return leg * (1.0 + SOLE_OF_LEG) + self.trunk + min(max(above, low), high)


def _along_trunk(bones: Bones, head: int, thighs: Sequence[int], hip: np.ndarray) -> float:
    """The length from between the hips along the bones to the head's joint, which does not depend on the pose."""
    above = [_ancestors(bones.parents, thigh) for thigh in thighs]
    way = [head]
    while way[-1] >= 0 and not all(way[-1] in line for line in above):
        way.append(bones.parents[way[-1]])
    if way[-1] < 0 or len(way) < 2:
        return float(np.linalg.norm(bones.heads[head] - hip))
    points = np.array([*(bones.heads[bone] for bone in way[:-1]), hip])
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def _ancestors(parents: Sequence[int], bone: int) -> list[int]:
    out = []
    while bone >= 0:
        out.append(bone)
        bone = parents[bone]
    return out


def meters_for_person(tall: float) -> float:
    """Metres in a unit for a person who is `tall` units: 1 if that is plausible."""
    if PLAUSIBLE[0] <= tall <= PLAUSIBLE[1]:
        return 1.0
    return next((unit for unit in UNITS if GROWN[0] <= tall * unit <= GROWN[1]), USUAL / tall)


def meters_for_animal(tall: float) -> float:
    """Metres in a unit for an animal that is `tall` units: 1 if that is plausible."""
    if ANIMAL[0] <= tall <= ANIMAL[1]:
        return 1.0
    # Tens of units: its size is unknown, but it is drawn in centimetres.
    return next((unit for unit in (0.01, 0.001, 0.1, 100.0, 10.0) if ANIMAL[0] <= tall * unit <= ANIMAL[1]), 1.0)


def mass_of_person(tall: float) -> float:
    """[kg] of a child or a giant of this height [m]; 0 for a grown person, whose mass does not follow from height."""
    return 0.0 if GROWN[0] <= tall <= GROWN[1] else BODY_MASS_INDEX * tall**2


class Doubt(NamedTuple):
    """A sentence on an implausible size or mass; mass: the usual one [kg], 0 if the size should be corrected."""

    text: str
    mass: float = 0.0


def doubt_of_person(tall: float, mass: float) -> Doubt | None:
    """What is implausible about a person of this height [m] and mass [kg], or None."""
    if not PLAUSIBLE[0] <= tall <= PLAUSIBLE[1]:
        return Doubt(f"A person of {tall:.3g} m is hardly meant.")
    return _doubt_of_mass(BODY_MASS_INDEX * tall**2, mass, PERSONS_MASS, f"a person of {tall:.3g} m")


def doubt_of_animal(tall: float, mass: float) -> Doubt | None:
    """The same for an animal, by its longest side [m]."""
    if not ANIMAL[0] <= tall <= ANIMAL[1]:
        return Doubt(f"An animal of {tall:.3g} m is hardly meant.")
    return _doubt_of_mass(ANIMALS_BULK * tall**3, mass, ANIMALS_MASS, f"an animal of {tall:.3g} m")


def doubt_of_thing(tall: float) -> Doubt | None:
    """The same for anything else, whose mass is unknown."""
    return None if THING[0] <= tall <= THING[1] else Doubt(f"The rig is {tall:.3g} m tall for physics.")


def _doubt_of_mass(usual: float, mass: float, times: float, whom: str) -> Doubt | None:
    if usual / times <= mass <= usual * times:
        return None
    usual = float(f"{usual:.2g}")
    return Doubt(f"{mass:.3g} kg are hardly meant for {whom}: about {usual:g} kg are usual.", usual)


def mass_of_animal(filled: float, bulk: float) -> float:
    """[kg] of an animal at the density of water: by its skin's volume, or without one by its bones' [m³]."""
    return WATER * (filled if filled > HOLLOW * bulk else bulk)
