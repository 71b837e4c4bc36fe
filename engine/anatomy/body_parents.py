"""Parent body of each bone, also where the rig's own parents do not say so.

Owns that choice. Must not know Blender, roles or motion.

The deforming bones of a generated rig need not be one tree: Rigify's limbs hang on hidden bones that lie exactly on
the spine's, follow the same controls, and are no ancestors of it. To physics an arm hangs on the spine all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    near = SAME * max(float(np.ptp(heads, axis=0).max()), 1e-30)
    # Drawn ways are compared as long as bones are, however long they are drawn.
    ends = np.concatenate([heads, (tails - heads) / bone_ends.drawn_times(parents, heads, tails)], axis=1)
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
