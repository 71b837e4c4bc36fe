"""Bones as capsules: what ghosts, onion skins and stress are drawn as.

Must not know Blender's bones: a reading in, a mesh out, made once a reading.
"""

from __future__ import annotations

import numpy as np

from . import meshes
from .footage import Film, Footage
from .pieces import Mesh, Places

THICK, THINNEST, THICKEST = 0.13, 0.006, 0.022  # of the bone's length; of the rig's height
TAPER = 0.65


def capsules(footage: Footage, grow: float = 1.0, grain: tuple[int, int] = meshes.FINE) -> Mesh:
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
    for name, (body, head, tail) in reading.spots.items():
        if name == body:
            long = float(np.linalg.norm(tail - head))
            radius = grow * float(np.clip(THICK * long, THINNEST * tall, THICKEST * tall))
            parts.append((place[body], meshes.capsule(head, tail, radius, TAPER * radius, grain)))
    return meshes.joined(parts)


def places(film: Film) -> Places:
    """Where the bodies are on all frames."""
    return Places(lambda: film.matrices, ("film", film.key))
