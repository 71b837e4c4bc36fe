"""Parent body of each bone, also where the rig's own parents do not say so.

Owns that choice. Must not know Blender, roles or motion.

The deforming bones of a generated rig need not be one tree: Rigify's limbs hang on hidden bones that lie exactly on
the spine's, follow the same controls, and are no ancestors of it. To physics an arm hangs on the spine all the same.
Its tails are drawn from the tip to the trunk, each bone the child of the one outside it. To physics the base hangs on
the trunk, and the tip at the end: such a chain is turned round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from . import bone_ends

# Ends closer than this part of the rig's size are the same.
SAME = 1e-4


def holders(parents: Sequence[int], heads: np.ndarray, tails: np.ndarray, is_body: Sequence[bool]) -> list[int]:
    """For each bone the body it hangs on, -1 for none: the nearest ancestor that is one, else one that lies where an
    ancestor lies.

    parents (n,) -1 for none, in any order; heads, tails (n, 3) at rest as they are drawn: bones that lie on one
    another are drawn alike.
    """
    found = [_above(parents, is_body, bone) for bone in range(len(parents))]
    bodies = np.flatnonzero(np.asarray(is_body, dtype=bool))
    alone = [bone for bone, holder in enumerate(found) if holder < 0 and parents[bone] >= 0]
    # Bodies first: what only rides takes them as they hang then.
    alone.sort(key=lambda bone: not is_body[bone])
    if not alone or not len(bodies):
        return found
    near = _near(heads)
    ends = np.concatenate([heads, _ways(parents, heads, tails)], axis=1)
    # One that lies where an ancestor lies comes before one that only begins where a nearer ancestor begins.
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
    """A body of a chain that is turned round.

    holder: the body that it hangs on now; bone, point (3,): its joint, at rest as heads are, and the bone that takes
    this point along.
    """

    holder: int
    bone: int
    point: np.ndarray


def turned(
    parents: Sequence[int], heads: np.ndarray, tails: np.ndarray, is_body: Sequence[bool], held: Sequence[int]
) -> dict[int, Turned]:
    """By bone, the bodies of chains that begin away from the body they hang on and end where that begins or ends.

    held (n,): as `holders` gives them; the others as there. A chain of which the rig's own parents say what it hangs
    on is posed about its heads, and stays as it is.
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
    """The bones that end at a spot and are linked to the top, each beginning where its parent ends."""
    for last in np.flatnonzero(_far(stops, spot) < near):
        bone = int(last)
        while bone != top and parents[bone] >= 0 and _far(heads[bone], stops[parents[bone]]) < near:
            bone = parents[bone]
        if bone == top:
            yield int(last)


def _turn(parents: Sequence[int], heads, is_body, top: int, last: int, first: Turned) -> dict[int, Turned]:
    """The bodies from the last bone up to the top: the first hangs as told, each other on the one before it."""
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
    """How far spots (..., 3) are from one another, along the axis where they are farthest."""
    return np.abs(spots - spot).max(axis=-1)


def _ways(parents: Sequence[int], heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """(n, 3) from heads to tails as long as bones are, however long they are drawn."""
    return (tails - heads) / bone_ends.drawn_times(parents, heads, tails)


def _above(parents: Sequence[int], is_body: Sequence[bool], bone: int) -> int:
    bone = parents[bone]
    while bone >= 0 and not is_body[bone]:
        bone = parents[bone]
    return bone


def _hangs_on(found: Sequence[int], body: int, other: int) -> bool:
    """Is `other` the body, or one that it hangs on?"""
    while body >= 0:
        if body == other:
            return True
        body = found[body]
    return False
