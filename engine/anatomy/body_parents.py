"""Parent body of each bone, also where it differs from the rig's hierarchy.

Owns that choice. Must not know Blender, roles or motion.

The deforming bones of a generated rig need not form one tree. Rigify's limbs are children of hidden bones that coincide
with the spine's bones and follow the same controls. The spine's own bones are not among the limbs' ancestors, but
physically an arm is attached to the spine.

Rigify draws tails from the tip to the trunk: each bone is the child of the next one outwards. Physically the base is
attached to the trunk and the tip is the free end. So the parents within such a chain are reversed: it is a turned
chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from . import bone_ends

# Tolerance: ends closer than this part of the rig's size coincide.
SAME = 1e-4


def holders(parents: Sequence[int], heads: np.ndarray, tails: np.ndarray, is_body: Sequence[bool]) -> list[int]:
    """For each bone the body that it is attached to, -1 for none: the nearest ancestor that is a body, else a body that
    coincides with an ancestor.

    parents (n,) -1 for none, in any order; heads, tails (n, 3) at rest as drawn: bones that coincide are drawn alike.
    """
    found = [_above(parents, is_body, bone) for bone in range(len(parents))]
    bodies = np.flatnonzero(np.asarray(is_body, dtype=bool))
    alone = [bone for bone, holder in enumerate(found) if holder < 0 and parents[bone] >= 0]
    # Bodies first: the search for other bones uses the bodies' holders.
    alone.sort(key=lambda bone: not is_body[bone])
    if not alone or not len(bodies):
        return found
    near = _near(heads)
    ends = np.concatenate([heads, _ways(parents, heads, tails)], axis=1)
    # A body that coincides with an ancestor precedes one that only has the same head as a nearer ancestor.
    for width in (6, 3):
        alike: dict[int, np.ndarray] = {}
        for bone in alone:
            above = parents[bone]
            while above >= 0 and found[bone] < 0:
                if above not in alike:
                    alike[above] = bodies[np.abs(ends[bodies, :width] - ends[above, :width]).max(axis=1) < near]
                found[bone] = next((int(body) for body in alike[above] if not _hangs_on(found, int(body), bone)), -1)
                above = parents[above]
    return found


class Turned(NamedTuple):
    """A body of a turned chain.

    holder: the body that it is attached to in the turned chain; point (3,): its joint at rest, in the space of the
    heads; bone: the bone that the point moves with.
    """

    holder: int
    bone: int
    point: np.ndarray


def turned(
    parents: Sequence[int], heads: np.ndarray, tails: np.ndarray, is_body: Sequence[bool], held: Sequence[int]
) -> dict[int, Turned]:
    """The bodies of turned chains, by bone: chains whose first bone is away from the body that they are attached to,
    and whose last bone ends at that body's start or end.

    held (n,): the result of `holders`; the other arguments as there. A chain whose body is an ancestor in the rig is
    posed about its heads, and is not turned.
    """
    near, stops = _near(heads), heads + _ways(parents, heads, tails)
    out: dict[int, Turned] = {}
    for top, body in enumerate(held):
        if not is_body[top] or body < 0 or _above(parents, is_body, top) >= 0:
            continue
        spots = np.stack([heads[body], stops[body]])
        if (_far(heads[top], spots) < near).any():
            continue
        for spot in spots:
            last = next(_ending_at(parents, heads, stops, top, spot, near), None)
            if last is not None:
                out |= _turn(parents, heads, is_body, top, last, Turned(body, last, spot))
                break
    return out


def _ending_at(parents: Sequence[int], heads, stops, top: int, spot: np.ndarray, near: float) -> Iterator[int]:
    """The bones that end at a spot and are connected to the top: on the way up, each begins where its parent ends."""
    for last in np.flatnonzero(_far(stops, spot) < near):
        bone = int(last)
        while bone != top and parents[bone] >= 0 and _far(heads[bone], stops[parents[bone]]) < near:
            bone = parents[bone]
        if bone == top:
            yield int(last)


def _turn(parents: Sequence[int], heads, is_body, top: int, last: int, first: Turned) -> dict[int, Turned]:
    """The bodies from the last bone up to the top. The first one is attached as given by `first`, each further one to
    the one before it."""
    out: dict[int, Turned] = {}
    bone, after = last, first
    while True:
        if is_body[bone]:
            out[bone], after = after, Turned(bone, bone, heads[bone])
        if bone == top:
            return out
        bone = parents[bone]


def _near(heads: np.ndarray) -> float:
    return SAME * max(float(np.ptp(heads, axis=0).max()), 1e-30)


def _far(spots: np.ndarray, spot: np.ndarray) -> np.ndarray:
    """Largest difference of coordinates between spots (..., 3) and a spot (3,)."""
    return np.abs(spots - spot).max(axis=-1)


def _ways(parents: Sequence[int], heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """(n, 3) vectors from heads to tails with the bones' real lengths, however long they are drawn."""
    return (tails - heads) / bone_ends.drawn_times(parents, heads, tails)


def _above(parents: Sequence[int], is_body: Sequence[bool], bone: int) -> int:
    bone = parents[bone]
    while bone >= 0 and not is_body[bone]:
        bone = parents[bone]
    return bone


def _hangs_on(found: Sequence[int], body: int, other: int) -> bool:
    """True if `other` is the body or one of its ancestors among the holders."""
    while body >= 0:
        if body == other:
            return True
        body = found[body]
    return False
