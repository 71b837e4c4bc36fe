"""Mass and inertia of every body: by its skin, else by tables of people, else by bone capsules.

Owns the choice among the three. Must not know motion, shapes or Blender: plain data in, plain data out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from . import capsule_masses, mirror_pairs, person_masses
from .capsule_masses import Bodies, Filled
from .role_list import Part
from .skeleton import Skeleton
from .skin_volumes import Moments

# A skin with less volume than this part of the bones' capsules is only cloth, or no skin at all.
HOLLOW = 0.05


class Skin(Protocol):
    """names: of all bones; holds: the volume moments inside the skin, by bone."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def holds(self) -> Moments: ...


def weigh(
    guess: Bodies,
    skeleton: Skeleton,
    rests: np.ndarray,
    parts: Sequence[Part | None],
    skin: Skin,
    size: float,
    total_mass: float,
    overrides: Sequence[float],
) -> Bodies:
    """The masses of all bones. Riding bones have mass of their own only if masses are guessed from bone sizes.

    guess: capsules of all bones; rests (n, 4, 4) [m]; parts (n,); size: metres in an armature unit.
    """
    kept = skeleton.body_bones
    found = None
    filled = _filled(skeleton, skin, size)
    if sum(each.volume for each in filled.values()) > HOLLOW * capsule_masses.bulk(guess)[kept].sum():
        found = capsule_masses.by_skin(guess, kept, filled, total_mass, overrides)
    if found is None:
        found = person_masses.by_role(guess, skeleton.parents, rests, kept, parts, total_mass, overrides)
    if found is None:
        found = guess
    found = _whole(found, skeleton.carriers, total_mass, overrides)
    heads = rests[:, :3, 3]
    ends = heads + np.einsum("nij,nj->ni", rests[:, :3, :3], 2.0 * guess.centers)
    return mirror_pairs.even(found, mirror_pairs.pairs(heads, ends, parts, kept), overrides)


def _whole(found: Bodies, carriers: Sequence[int], total_mass: float, overrides: Sequence[float]) -> Bodies:
    """Rescale, so that bones that no body carries do not reduce the total."""
    given = np.asarray(overrides) > 0.0
    lost = float(found.masses[(np.asarray(carriers) < 0) & ~given].sum())
    if not 0.0 < lost < total_mass:
        return found
    more = np.where(given, 1.0, total_mass / (total_mass - lost))
    return replace(found, masses=found.masses * more, inertias=found.inertias * more[:, None, None])


def _filled(skeleton: Skeleton, skin: Skin, size: float) -> dict[int, Filled]:
    """By body, the volume moments of its skin and of the bones it carries, in its frame [m]."""
    sums: dict[int, list] = {}
    place = {name: i for i, name in enumerate(skeleton.names)}
    holds = skin.holds
    for k, name in enumerate(skin.names):
        carrier = skeleton.carriers[place[name]]
        if carrier >= 0 and holds.volumes[k] > 0.0:
            parts = sums.setdefault(carrier, [0.0, np.zeros(3), np.zeros((3, 3))])
            for i, more in enumerate((holds.volumes[k], holds.firsts[k], holds.seconds[k])):
                parts[i] = parts[i] + more
    out = {}
    for bone, (volume, first, second) in sums.items():
        middle = first / volume
        rest = skeleton.frames[bone]
        turn = np.linalg.qr(rest[:3, :3])[0]
        turn = turn * np.sign(np.einsum("ij,ij->j", turn, rest[:3, :3]))
        spread = turn.T @ (second / volume - np.outer(middle, middle)) @ turn * size**2
        center = turn.T @ (middle - rest[:3, 3]) * size
        out[bone] = Filled(volume * size**3, center, np.trace(spread) * np.eye(3) - spread)
    return out
