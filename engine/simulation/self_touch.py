"""Pairs of bodies of one character that may touch while it is limp.

Owns the pairs that are excluded: neighbours are always excluded, here those that overlap at rest or when the body
becomes limp. Must not know how contacts are found or solved.
"""

from __future__ import annotations

import numpy as np

from ..collision.broad_phase import overlapping_at_rest
from ..geometry.build_shapes import build_shapes
from ..math import quaternions as rot
from ..memo import derived
from ..model.model import FREE, Model
from ..model.motion import Motion
from ..tables import control as C


def may_fall(model: Model, behaviour: np.ndarray) -> bool:
    """True if a root is free and limp at some time. behaviour (frames or 1, n+1), as in `Control`."""
    return bool((behaviour[:, 1:][:, model.kinds == FREE] == C.LIMP).any())


def left_out(model: Model, motion: Motion, behaviour: np.ndarray) -> set[tuple[int, int]]:
    """Pairs (a < b) of bodies that do not touch while they are limp."""
    key = release_frames(behaviour)

    def find() -> set[tuple[int, int]]:
        found = _overlapping(model, np.tile([1.0, 0.0, 0.0, 0.0], (len(model), 1)), model.offsets)
        for frame in key:
            found |= _overlapping(model, motion.rotations[frame], motion.positions[frame])
        return found

    return derived(motion, "untouching pairs", find, (model, key))


def release_frames(behaviour: np.ndarray) -> tuple[int, ...]:
    """The frames on which a body becomes limp."""
    limp = behaviour == C.LIMP
    begins = limp.copy()
    begins[1:] &= ~limp[:-1]
    return tuple(int(frame) for frame in np.flatnonzero(begins.any(axis=1)))


def _overlapping(model: Model, rotations: np.ndarray, positions: np.ndarray) -> set[tuple[int, int]]:
    """Pairs of bodies whose shapes overlap in a pose: joint rotations (n, 4), anchors (n, 3)."""
    where = np.zeros((len(model) + 1, 7))
    where[0, 3] = 1.0
    for i, parent in enumerate(model.parents):
        own = rot.multiply(model.rest_rotations[i], rotations[i])
        where[i + 1, :3], where[i + 1, 3:] = positions[i], own
        if parent >= 0:
            above = where[parent + 1]
            where[i + 1, :3] = above[:3] + rot.rotate(above[3:], positions[i])
            where[i + 1, 3:] = rot.multiply(above[3:], own)
    rows = [(body + 1, shape) for body, shapes in enumerate(model.shapes) for shape in shapes]
    if len(rows) < 2:
        return set()
    bodies = [row for row, _ in rows]
    none = [0.0] * len(rows)
    # one root for all, because bodies of another tree of the character may overlap too
    table = build_shapes(bodies, [shape for _, shape in rows], none, none, [0] * len(rows), [1] * len(rows))
    pairs = {tuple(sorted((bodies[a] - 1, bodies[b] - 1))) for a, b in overlapping_at_rest(table, where)}
    return {(int(a), int(b)) for a, b in pairs}
