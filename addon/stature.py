"""How tall a body stands, how many metres its units are likely to mean, and how heavy it is likely to be.

Owns the guess. Must not know Blender.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .parts import LEFT, MIDDLE, RIGHT, Part
from .weighing import HOLLOW

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
# least from there to the crown.
SOLE_OF_LEG, CROWN_OF_BODY = 0.09, 0.07
# A skin taller than the bones by up to this much is hair and soles; beyond, it is something else.
SKIN_MOST = 1.4


def of_person(parts: Sequence[Part], heads: np.ndarray, tails: np.ndarray, skin: np.ndarray | None = None) -> float:
    """From the soles to the crown of a rig that stands as people do, whichever way up it lies; 0 for any other.

    parts (n,); heads, tails (n, 3) at rest; skin (k, 3) points of what the bones move, in the same units.
    """
    spots = {}
    for name in ("THIGH", "SHANK", "FOOT", "UPPER_ARM"):
        for side in (LEFT, RIGHT):
            spots[name, side] = _first(parts, heads, Part(name, side))
    crown = [i for i, part in enumerate(parts) if part == Part("HEAD", MIDDLE)]
    if not crown or any(spot is None for (name, _), spot in spots.items() if name != "FOOT"):
        return 0.0
    hip = 0.5 * (spots["THIGH", LEFT] + spots["THIGH", RIGHT])
    legs, ankles = [], []
    for side in (LEFT, RIGHT):
        thigh, shank, foot = (spots[name, side] for name in ("THIGH", "SHANK", "FOOT"))
        # Without a foot the shank is taken to be as long as the thigh.
        foot = shank + (shank - thigh) if foot is None else foot
        legs.append(np.linalg.norm(shank - thigh) + np.linalg.norm(foot - shank))
        ankles.append(foot)
    leg = float(np.mean(legs))
    neck = heads[crown[0]]
    trunk = float(np.linalg.norm(neck - hip))
    up = hip - np.mean(ankles, axis=0)
    up /= max(float(np.linalg.norm(up)), 1e-30)
    if (neck - hip) @ up < 0.7 * trunk or not 0.3 < trunk / max(leg, 1e-30) < 3.0:
        return 0.0
    ends = np.concatenate([heads[crown], tails[crown[:1]]])
    above = min(float(((ends - neck) @ up).max()), 0.5 * trunk)
    bones = leg * (1.0 + SOLE_OF_LEG) + trunk + max(above, CROWN_OF_BODY * (leg + trunk))
    tall = float(np.ptp(skin @ up)) if skin is not None and len(skin) else 0.0
    return tall if bones < tall < SKIN_MOST * bones else bones


def _first(parts: Sequence[Part], heads: np.ndarray, wanted: Part) -> np.ndarray | None:
    """The head of the first bone that is this part."""
    return next((heads[i] for i, part in enumerate(parts) if part == wanted), None)


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


def mass_of_animal(filled: float, bulk: float) -> float:
    """[kg] of an animal as heavy as water: by what its skin holds, or without one what its bones fill [m³]."""
    return WATER * (filled if filled > HOLLOW * bulk else bulk)
