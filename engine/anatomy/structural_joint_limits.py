"""Joint ranges of unknown structures, by what a joint carries and by what the source does.

Owns the defaults for chains, hinges and accessories. Must not know Blender, names or roles' tables.
"""

from __future__ import annotations

import numpy as np

from ..math import rotations
from .joint_limit import LIMITS_AT_REST, Range
from .rest_body import SHORTEST_BONE, RestBody

# [degrees] Bones in a row (ropes, hair, coats) bend far and hardly twist; a single bone without children (an antenna, a
# sword, a plate) less; a bone without length is flesh; a bone that carries several others is a trunk.
CHAIN_SWINGS, CHAIN_TURNS = 70.0, 30.0
END_SWINGS, END_TURNS = 40.0, 25.0
FLESH_SWINGS, FLESH_TURNS = 15.0, 10.0
HUB_SWINGS, HUB_TURNS = 35.0, 25.0
# Margin around what the source does.
MARGIN = 10.0
# A joint is a hinge if the source turns it by more than this about one axis and by less than this part of it about
# others. It then moves by this much to the sides.
HINGE_TURNS, HINGE_REST, HINGE_SIDES = 20.0, 0.1, 12.0


def limit(body: RestBody, b: int) -> Range:
    """The range of a body's joint."""
    swing, twist = _default(body, b)
    turned = np.degrees(rotations.to_vector(body.source[:, b]))
    axis = _hinge_axis(turned)
    if axis is not None and not _in_row(body, b):
        straight, turn = body.way(b), body.bones.turns[b]
        bends = np.cross(turn @ axis, straight)
        angles = turned @ axis
        if np.linalg.norm(bends) > 0.7:
            ends = (min(float(angles.min()) - MARGIN, -MARGIN), max(float(angles.max()) + MARGIN, MARGIN))
            return body.laid(b, straight, bends, ends, HINGE_SIDES, HINGE_SIDES, LIMITS_AT_REST)
    lean = np.degrees(np.arccos(np.clip(body.went(b) @ body.way(b), -1.0, 1.0)))
    return body.even(b, max(swing, float(lean.max()) + MARGIN), twist)


def _default(body: RestBody, b: int) -> tuple[float, float]:
    """Swing and twist [degrees]."""
    kids = body.children[b]
    if len(kids) > 1:
        return HUB_SWINGS, HUB_TURNS
    if _in_row(body, b):
        return CHAIN_SWINGS, CHAIN_TURNS
    if not kids and np.linalg.norm(body.bones.ways[b]) < SHORTEST_BONE * body.size:
        return FLESH_SWINGS, FLESH_TURNS
    return END_SWINGS, END_TURNS


def _in_row(body: RestBody, b: int) -> bool:
    """True for one of several bones in a row, none of which carries another row."""
    above = body.parent(b)
    alone = [len(body.children[each]) == 1 for each in (b, above) if each >= 0]
    return len(body.children[b]) < 2 and any(alone)


def _hinge_axis(turned: np.ndarray) -> np.ndarray | None:
    """(3,) the single axis of rotation vectors (frames, 3) [degrees], or None."""
    axes = np.linalg.svd(turned, full_matrices=False)[2]
    most = float(np.abs(turned @ axes[0]).max())
    others = turned - np.outer(turned @ axes[0], axes[0])
    if most < HINGE_TURNS or float(np.linalg.norm(others, axis=1).max()) > HINGE_REST * most:
        return None
    return axes[0]
