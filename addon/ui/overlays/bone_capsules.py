"""Bones as capsules, for ghosts, onion skins and stress.

Must not know Blender's bones: it makes a mesh from a reading, once for each reading.
"""

from __future__ import annotations

import numpy as np

from ....engine.geometry.surfaces import FINE, capsule_surface
from ...read.read_rig import Reading
from . import shape_meshes
from .motions import Film, Footage
from .primitives import Mesh, Places

THICK, THINNEST, THICKEST = 0.13, 0.006, 0.022  # of the bone's length; of the rig's height
TAPER = 0.65


def capsules(footage: Footage, grow: float = 1.0, grain: tuple[int, int] = FINE) -> Mesh:
    """A tapered capsule a bone, in the frames of the bodies [m]. grow: times their thickness."""
    kept = footage.reading.__dict__.setdefault("_capsules", {})
    if (grow, grain) not in kept:
        kept[grow, grain] = _capsules(footage, grow, grain)
    return kept[grow, grain]


def _capsules(footage: Footage, grow: float, grain: tuple[int, int]) -> Mesh:
    reading = footage.reading
    place = {name: body for body, name in enumerate(reading.names)}
    tall = reading.height * reading.placement.sizes[0]
    parts = []
    for name, ends in joint_to_joint(reading).items():
        for end in ends:
            long = float(np.linalg.norm(end))
            radius = grow * float(np.clip(THICK * long, THINNEST * tall, THICKEST * tall))
            parts.append((place[name], capsule_surface(np.zeros(3), end, radius, TAPER * radius, grain)))
    return shape_meshes.joined(parts)


def joint_to_joint(reading: Reading) -> dict[str, list[np.ndarray]]:
    """By body, the ends (3,) of its parts in its frame [m]: the joint of each child body, else the bone's own end: its
    head if the bone is turned round. A far-away helper has no parts."""
    model, out = reading.model, {}
    size = reading.height * reading.placement.sizes[0]
    for body, name in enumerate(reading.names):
        below = [model.offsets[kid] for kid in np.flatnonzero(model.parents == body)]
        own = reading.spots[name][1 if body in reading.joints else 2]
        out[name] = [end for end in below or [own] if np.linalg.norm(end) < size]
    return out


def places(film: Film) -> Places:
    """The bodies' transforms on all frames."""
    return Places(lambda: film.matrices, ("film", film.key))
