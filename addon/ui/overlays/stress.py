"""Overlay: bones coloured by their joint torque relative to its maximum.

Torques are known only for a simulation of this session.
"""

from __future__ import annotations

import numpy as np

from ....engine import derived
from ...read import read_controller
from . import bone_capsules
from .overlay_input import Sight
from .primitives import Note, Piece, Solid

# From low to red; brighter in the middle, so that it is readable without the hues too.
SCALE = np.array([[0.18, 0.34, 0.66, 0.75], [0.35, 0.72, 0.78, 0.8], [0.98, 0.86, 0.32, 0.9], [0.86, 0.08, 0.08, 1.0]])
NO_JOINT = (0.5, 0.5, 0.5, 0.25)


def pieces(sight: Sight) -> list[Piece]:
    """Capsules a little larger than a ghost's, and the scale."""
    row, found = sight.row, shares(sight)
    if row is None or found is None:
        return []
    tints = colors(found[row], sight.settings.stress_top)
    tints[sight.footage.reading.model.parents < 0] = NO_JOINT
    top = sight.settings.stress_top
    whose = "its strength" if sight.settings.use_strength else "a strong person's"
    return [
        Solid(
            bone_capsules.capsules(sight.footage, 1.3),
            bone_capsules.places(sight.film),
            row,
            (1.0, 1.0, 1.0, 1.0),
            tints,
            0.75,
            True,
        ),
        Note("Joint torque: 0", scale=tuple(map(tuple, SCALE)), end=f"{100.0 * top:.0f} % of {whose}"),
    ]


def shares(sight: Sight) -> np.ndarray | None:
    """(frames, n) each joint's torque relative to its maximum; None if the result was not simulated in this session."""
    if not sight.shows_result or sight.footage.forces is None:
        return None
    reading, result = sight.footage.reading, sight.footage.forces
    heft = sight.settings

    def work_out() -> np.ndarray:
        most = read_controller.limits_of(sight.rig, reading.model, reading.names, reading.frames)
        return np.linalg.norm(result.torques, axis=2) / np.maximum(most, 1e-9)

    found = derived(sight.film, "stress", work_out, (heft.use_strength, heft.strength, heft.controller, result))
    return found if found.shape[1] == len(reading.names) else None


def colors(share: np.ndarray, top: float) -> np.ndarray:
    """(n, 4) the colours of shares (n,); red from `top` on."""
    at = np.clip(share / max(top, 1e-9), 0.0, 1.0) * (len(SCALE) - 1)
    return np.stack([np.interp(at, np.arange(len(SCALE)), SCALE[:, k]) for k in range(4)], axis=1).astype(np.float32)
