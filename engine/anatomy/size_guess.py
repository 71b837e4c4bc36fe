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

# People, children and drawn figures are this tall [m]: a rig that stands so is meant as it is.
PLAUSIBLE = (0.5, 2.6)
# Grown people [m]: a unit that makes one of the rig is likely the one meant.
GROWN = (1.4, 2.1)
USUAL = 1.75
# Animals [m], from a mouse to a giraffe.
ANIMAL = (0.03, 6.0)
# Metres in the units that rigs are drawn in: centimetres, decimetres, millimetres, inches, feet, and the recordings of
# Carnegie Mellon, whose unit is an inch over 0.45.
UNITS = (0.01, 0.1, 0.001, 0.0254, 0.3048, 0.0254 / 0.45, 10.0, 100.0, 1000.0)
# Kilograms over metres squared of a person of 1.75 m and 70 kg, and of a cubic metre of any animal.
BODY_MASS_INDEX, WATER = 70.0 / USUAL**2, 1000.0
# In parts of the leg from hip to ankle: from the ankle to the sole; in parts of the way up to the head's joint: the
# least and, of bones that do not stand, the most from there to the crown.
SOLE_OF_LEG, CROWN_OF_BODY = 0.09, (0.07, 0.16)
# A person stands at rest whose legs and trunk are straight up to this part of their lengths.
STRAIGHT = 0.9
# Outside these heights [m] a rig of no known kind is hardly meant in metres.
THING = (0.05, 12.0)
# How many times as heavy or as light as usual a person and an animal may be. An animal's usual mass [kg] is so many
# times the cube of its longest side [m]: 36 of a horse, 44 of a cat.
PERSONS_MASS, ANIMALS_MASS, ANIMALS_BULK = 3.5, 12.0, 40.0
# A skin taller than the bones by up to this much is hair and soles; beyond, it is something else.
SKIN_MOST = 1.4


class Bones(NamedTuple):
    """A rig's bones in one pose: parts (n,), parents (n,) -1 for none, heads and ends (n, 3)."""

    parts: Sequence[Part]
    parents: Sequence[int]
    heads: np.ndarray
    ends: np.ndarray


def of_person(rest: Bones, posed: Bones | None = None, skin: np.ndarray | None = None) -> float:
    """From the soles to the crown of a person, whichever way up they lie and however they are folded at rest; 0 for
    anybody else.

    Who stands at rest is measured there, who does not by the lengths of their bones; posed: in a pose of the motion,
    where the hips are as they really are; skin (k, 3): points at rest of what the bones move, in the same units.
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
    """A person in one pose: hip (3,) between the thighs, neck (3,) where the head begins, up (3,) from the feet to the
    hip; legs and straights (2,) of each leg the length of its bones and from hip to ankle; trunk: along the bones from
    hip to neck; crown (k, 3) what may be the top of the head."""

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
            # Without a foot the shank is taken to be as long as the thigh.
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
        """Are legs and trunk straight and in one line?"""
        trunk, leg = float(np.linalg.norm(self.neck - self.hip)), float(self.legs.mean())
        return bool(
            (self.straights >= STRAIGHT * self.legs).all()
            and trunk >= STRAIGHT * self.trunk
            and (self.neck - self.hip) @ self.up >= STRAIGHT * trunk
            and 0.3 < trunk / max(leg, 1e-30) < 3.0
        )

    def standing(self) -> float:
        """The height of who stands, without skin."""
        leg, trunk = float(self.legs.mean()), float(np.linalg.norm(self.neck - self.hip))
        above = min(float(((self.crown - self.neck) @ self.up).max()), 0.5 * trunk)
        return leg * (1.0 + SOLE_OF_LEG) + trunk + max(above, CROWN_OF_BODY[0] * (leg + trunk))

    def by_lengths(self) -> float:
        """The height of who would stand up."""
        leg = float(self.legs.mean())
        above = float(np.linalg.norm(self.crown - self.neck, axis=1).max())
        low, high = (part * (leg + self.trunk) for part in CROWN_OF_BODY)
        return leg * (1.0 + SOLE_OF_LEG) + self.trunk + min(max(above, low), high)


def _along_trunk(bones: Bones, head: int, thighs: Sequence[int], hip: np.ndarray) -> float:
    """From between the hips along the bones to where the head begins: the same in every pose."""
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
    """Metres in a unit for a person who is `tall` units: 1 where that may be meant so."""
    if PLAUSIBLE[0] <= tall <= PLAUSIBLE[1]:
        return 1.0
    return next((unit for unit in UNITS if GROWN[0] <= tall * unit <= GROWN[1]), USUAL / tall)


def meters_for_animal(tall: float) -> float:
    """Metres in a unit for an animal who is `tall` units: 1 where there are such."""
    if ANIMAL[0] <= tall <= ANIMAL[1]:
        return 1.0
    # Tens: nobody knows how big it is, but drawn in centimetres it is.
    return next((unit for unit in (0.01, 0.001, 0.1, 100.0, 10.0) if ANIMAL[0] <= tall * unit <= ANIMAL[1]), 1.0)


def mass_of_person(tall: float) -> float:
    """[kg] of a child or a giant of this height [m]; 0 for a grown person, whose mass is not told by height."""
    return 0.0 if GROWN[0] <= tall <= GROWN[1] else BODY_MASS_INDEX * tall**2


class Doubt(NamedTuple):
    """A sentence on an implausible size or mass; mass: what would be usual [kg], 0 where the size is to be mended."""

    text: str
    mass: float = 0.0


def doubt_of_person(tall: float, mass: float) -> Doubt | None:
    """What is implausible of a person of this height [m] and mass [kg]."""
    if not PLAUSIBLE[0] <= tall <= PLAUSIBLE[1]:
        return Doubt(f"A person of {tall:.3g} m is hardly meant.")
    return _doubt_of_mass(BODY_MASS_INDEX * tall**2, mass, PERSONS_MASS, f"a person of {tall:.3g} m")


def doubt_of_animal(tall: float, mass: float) -> Doubt | None:
    """The same of what has legs and is no person, by its longest side [m]."""
    if not ANIMAL[0] <= tall <= ANIMAL[1]:
        return Doubt(f"An animal of {tall:.3g} m is hardly meant.")
    return _doubt_of_mass(ANIMALS_BULK * tall**3, mass, ANIMALS_MASS, f"an animal of {tall:.3g} m")


def doubt_of_thing(tall: float) -> Doubt | None:
    """The same of anything else: nobody knows how heavy that is."""
    return None if THING[0] <= tall <= THING[1] else Doubt(f"The rig is {tall:.3g} m tall for physics.")


def _doubt_of_mass(usual: float, mass: float, times: float, whom: str) -> Doubt | None:
    if usual / times <= mass <= usual * times:
        return None
    usual = float(f"{usual:.2g}")
    return Doubt(f"{mass:.3g} kg are hardly meant for {whom}: about {usual:g} kg are usual.", usual)


def mass_of_animal(filled: float, bulk: float) -> float:
    """[kg] of an animal as heavy as water: by what its skin holds, or without one what its bones fill [m³]."""
    return WATER * (filled if filled > HOLLOW * bulk else bulk)
