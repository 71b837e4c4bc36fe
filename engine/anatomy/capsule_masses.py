"""Masses and inertias from the bones' rest geometry, each bone a capsule, or from the skin around them.

Owns the guess of a bone's thickness and mass. Must not know Blender, motion or controllers: plain arrays in, plain
arrays out, SI units.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .bone_ends import BoneEnds

# A limb's radius relative to its length, and its bounds relative to the rig's size: an upper arm gets 6 cm, a spine
# segment more, a finger at least a pencil's.
RADIUS_OF_LENGTH = 0.2
THICK_OF_SPREAD = 0.4
RADIUS_MOST = 0.06
RADIUS_LEAST = 0.004
# A bone shorter than this part of the rig's size is a ball at its head.
NO_LENGTH = 1e-4
# The part of a body's mass that its bones keep if it is made of objects parented to them.
BONES_KEEP = 0.1
# Fewer objects than this are carried: a sword, a shield and a helmet.
MADE_OF = 4
# No body is lighter than this part of the whole: a very light body on a heavy arm is of no use.
MASS_LEAST = 1e-6

# A body without skin on a rig with skin weighs at most this part of the whole.
BARE = 0.01

# Radii relative to the rig's size, by words in a bone's name: a person's trunk has 11 cm, a head 10 cm.
THICK = (
    ("head", 0.055), ("neck", 0.032), ("spine", 0.065), ("chest", 0.065), ("torso", 0.065), ("abdomen", 0.065),
    ("back", 0.065), ("pelvis", 0.065), ("hip", 0.06), ("hand", 0.022),
)  # fmt: skip
SMALL = ("finger", "thumb", "index", "middle", "ring", "pinky", "little", "palm", "top", "end", "nub", "site")


@dataclass(frozen=True, eq=False)
class Bodies:
    """Masses and capsules of bones.

    masses           (n,) [kg]
    centers          (n, 3) in the bone's frame [m]
    inertias         (n, 3, 3) about the centre, bone axes [kg m²]
    radii, lengths   (n,) of the capsules [m]
    """

    masses: np.ndarray
    centers: np.ndarray
    inertias: np.ndarray
    radii: np.ndarray
    lengths: np.ndarray


@dataclass(frozen=True, eq=False)
class Filled:
    """The inside of a skin: volume [m³]; center (3,) in the bone's frame [m]; inertia (3, 3) of one kilogram about it,
    bone axes [m²]."""

    volume: float
    center: np.ndarray
    inertia: np.ndarray


def measure(rests: np.ndarray, ends: BoneEnds, total_mass: float, overrides) -> Bodies:
    """Capsules for all bones.

    rests (n, 4, 4) rest matrices in a common space [m]; ends: the bones' ends there [m]; overrides (n,) masses [kg], 0
    for the guess: `total_mass` is divided by volume, and an override changes only its own bone.
    """
    vectors, reach, size = ends.vectors(rests), ends.reach, ends.size
    long = np.linalg.norm(vectors, axis=1)
    long = np.where(long < NO_LENGTH * size, 0.0, long)
    axes = np.where(long[:, None] > 0.0, vectors / np.maximum(long, 1e-30)[:, None], [0.0, 1.0, 0.0])
    # Children in all directions (hips, hands) make a body thick rather than long.
    thick = np.maximum(RADIUS_OF_LENGTH * long, THICK_OF_SPREAD * (reach - long))
    radii = np.clip(thick, RADIUS_LEAST * size, RADIUS_MOST * size)
    # The capsule's round ends are inside the bone, so that neighbours do not count twice.
    radii = np.minimum(radii, np.maximum(0.5 * reach, RADIUS_LEAST * size))
    straight = np.maximum(long - 2.0 * radii, 0.0)
    masses = shares(_volumes(radii, straight), total_mass, overrides)
    return Bodies(masses, 0.5 * vectors, capsule_inertias(masses, radii, straight, axes), radii, long)


def by_skin(
    guess: Bodies, kept: Sequence[int], filled: Mapping[int, Filled], total_mass: float, overrides: Sequence[float]
) -> Bodies:
    """The bodies of a rig with a skin: `total_mass` divided by the volume of the skin around each.

    guess: capsules of all bones; kept: the bones that are bodies; filled: by body, for those with a skin, with that of
    the bones that ride on them. A body without skin counts by its capsule, but with a small share if most bodies have a
    skin, because it is a root or a handle. A riding bone does not count, unless its mass is given.
    """
    volumes = np.zeros(len(guess.masses))
    volumes[kept] = bulk(guess)[kept]
    if 2 * len(filled) >= len(kept):
        volumes = np.minimum(volumes, BARE * sum(each.volume for each in filled.values()))
    for bone, each in filled.items():
        volumes[bone] = each.volume
    masses = shares(volumes, total_mass, overrides)
    centers, inertias = guess.centers.copy(), guess.inertias * (masses / guess.masses)[:, None, None]
    for bone, each in filled.items():
        centers[bone], inertias[bone] = each.center, masses[bone] * each.inertia
    return Bodies(masses, centers, inertias, guess.radii, guess.lengths)


def bulk(guess: Bodies) -> np.ndarray:
    """(n,) volumes of the capsules [m³]."""
    return _volumes(guess.radii, np.maximum(guess.lengths - 2.0 * guess.radii, 0.0))


def _volumes(radii: np.ndarray, straight: np.ndarray) -> np.ndarray:
    return np.pi * radii**2 * straight + 4.0 / 3.0 * np.pi * radii**3


def shares(volumes: np.ndarray, total_mass: float, overrides: Sequence[float]) -> np.ndarray:
    """(n,) masses by volume; 0 for a volume of 0. An override changes only its own bone."""
    masses = total_mass * np.maximum(volumes / volumes.sum(), np.where(volumes > 0.0, MASS_LEAST, 0.0))
    overrides = np.asarray(overrides, dtype=np.float64)
    return np.where(overrides > 0.0, overrides, masses)


def touching_radii(names: Sequence[str], tails: Collection[int], radii: np.ndarray, size: float) -> np.ndarray:
    """(n,) collision radii of bones without a skin [m]: trunks and heads are thicker than their bones are long.

    names (n,); tails: bones of tails, which may be called spines; radii (n,) of the capsules [m]; size of the rig [m].
    The kind of any other bone is read from its name.
    """
    least = []
    for bone, name in enumerate(names):
        word = name.lower()
        is_thin = bone in tails or any(small in word for small in SMALL)
        known = 0.0 if is_thin else next((r for key, r in THICK if key in word), 0.0)
        least.append(known * size)
    return np.maximum(radii, least)


def capsule_inertias(masses: np.ndarray, radii: np.ndarray, straight: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """(n, 3, 3) about the centre: a cylinder of length `straight` between two half balls."""
    cylinder = np.pi * radii**2 * straight
    ball = 4.0 / 3.0 * np.pi * radii**3
    density = masses / (cylinder + ball)
    mc, mb = density * cylinder, density * ball
    along = 0.5 * mc * radii**2 + 0.4 * mb * radii**2
    across = mc * (straight**2 / 12.0 + radii**2 / 4.0) + mb * (
        0.4 * radii**2 + straight**2 / 4.0 + 3.0 / 8.0 * straight * radii
    )
    outer = np.einsum("ni,nj->nij", axes, axes)
    return across[:, None, None] * (np.eye(3) - outer) + along[:, None, None] * outer


def merge(bodies: Bodies, rests: np.ndarray, carriers: Sequence[int], kept: Sequence[int]) -> Bodies:
    """Add the mass of riding bones to the body that carries them, at rest.

    carriers (n,) the index of the body each bone belongs to (itself for bodies, -1 for none: its mass is dropped);
    kept: the indices of the bodies, in order.
    """
    if len(kept) == len(carriers):
        return bodies
    place = {bone: k for k, bone in enumerate(kept)}
    masses = np.zeros(len(kept))
    firsts = np.zeros((len(kept), 3))
    seconds = np.zeros((len(kept), 3, 3))
    for i, carrier in enumerate(carriers):
        if carrier < 0:
            continue
        k = place[carrier]
        turn = rests[carrier, :3, :3].T @ rests[i, :3, :3]
        center = turn @ bodies.centers[i] + rests[carrier, :3, :3].T @ (rests[i, :3, 3] - rests[carrier, :3, 3])
        mass = bodies.masses[i]
        masses[k] += mass
        firsts[k] += mass * center
        seconds[k] += turn @ bodies.inertias[i] @ turn.T + mass * _spread(center)
    centers = firsts / masses[:, None]
    inertias = seconds - np.stack([m * _spread(c) for m, c in zip(masses, centers, strict=True)])
    # A body that carries nothing keeps its values exactly: the inertia of a thin bone is at the limit of validity.
    for k, bone in enumerate(kept):
        if list(carriers).count(bone) == 1:
            centers[k], inertias[k] = bodies.centers[bone], bodies.inertias[bone]
    kept = list(kept)
    return Bodies(masses, centers, inertias, bodies.radii[kept], bodies.lengths[kept])


def made_of(bodies: Bodies, loads: Sequence[tuple[float, bool]], total_mass: float) -> tuple[Bodies, Sequence[float]]:
    """The bodies, and the masses of the loads on them: as separate loads, or as parts of the body.

    loads: mass [kg] of each, and True if the user set it. A robot whose parts are objects on its bones would weigh tons
    at the density of water. So if several loads without a set mass outweigh the body, they are the body, and share its
    mass except for the part that its bones keep.
    """
    guessed = sum(mass for mass, given in loads if not given)
    if guessed <= total_mass or sum(not given for _, given in loads) < MADE_OF:
        return bodies, [mass for mass, _ in loads]
    own = replace(bodies, masses=BONES_KEEP * bodies.masses, inertias=BONES_KEEP * bodies.inertias)
    part = (1.0 - BONES_KEEP) * total_mass / guessed
    return own, [mass if given else part * mass for mass, given in loads]


def with_load(bodies: Bodies, k: int, mass: float, center: np.ndarray, inertia: np.ndarray) -> Bodies:
    """The bodies with a load added to the k-th: mass [kg], centre (3,) in its frame [m], inertia (3, 3) about that
    centre [kg m²]."""
    masses, centers, inertias = bodies.masses.copy(), bodies.centers.copy(), bodies.inertias.copy()
    masses[k] += mass
    centers[k] = (bodies.masses[k] * bodies.centers[k] + mass * center) / masses[k]
    inertias[k] += bodies.masses[k] * _spread(bodies.centers[k] - centers[k])
    inertias[k] += inertia + mass * _spread(center - centers[k])
    return Bodies(masses, centers, inertias, bodies.radii, bodies.lengths)


def _spread(v: np.ndarray) -> np.ndarray:
    return (v @ v) * np.eye(3) - np.outer(v, v)
