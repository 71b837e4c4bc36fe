"""Default joint ranges of a rig: a person's, an animal's, or by structure.

Owns the choice of the table, the pose in which it is applied, and that every joint gets a range. Must not know Blender.

A person's table refers to standing. Some recordings have a folded rest pose, or all bones along one axis. For these the
ranges are applied in the frame of the source in which the person stands straightest, and converted to the rest pose.
"""

from __future__ import annotations

import numpy as np

from ..math import rotations
from . import animal_joint_limits, person_joint_limits, structural_joint_limits
from .joint_limit import Range
from .person_masses import is_person, stands_upright
from .rest_body import RestBody, RestBones

NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])
# The number of frames searched for one in which the person stands.
MOST_LOOKED_AT = 60


def ranges(bones: RestBones, source: np.ndarray) -> dict[int, Range]:
    """Ranges of all bodies with a parent; source (frames, n, 4): joint rotations, which are always inside."""
    if not is_person(bones.parts, bones.heads):
        # An animal can stand in its rest pose; a person's rest pose may be outside the table.
        at_rest = np.tile(NO_TURN, (1, len(bones.parts), 1))
        body = RestBody(bones, np.concatenate([source, at_rest]))
        return _all_of(body, animal_joint_limits.ranges(body))
    if stands_upright(bones.parts, bones.heads):
        body = RestBody(bones, source)
        return _all_of(body, person_joint_limits.ranges(body))
    frame = _standing_frame(bones, source)
    if frame is None:
        return _all_of(RestBody(bones, source), {})
    pose = source[frame]
    body = RestBody(posed(bones, pose), rotations.multiply(rotations.conjugate(pose)[None], source))
    found = _all_of(body, person_joint_limits.ranges(body))
    return {b: _seen_from_rest(limit, pose[b]) for b, limit in found.items()}


def _all_of(body: RestBody, found: dict[int, Range]) -> dict[int, Range]:
    """The ranges found, and by structure those that are missing."""
    held = (b for b in range(len(body.bones.parts)) if body.parent(b) >= 0)
    return {b: found[b] if b in found else structural_joint_limits.limit(body, b) for b in held}


def posed(bones: RestBones, pose: np.ndarray) -> RestBones:
    """The bones with their joints rotated (n, 4) from rest; the roots stay."""
    heads, turns, ways = bones.heads.copy(), bones.turns.copy(), bones.ways.copy()
    for b, parent in enumerate(bones.parents):
        if parent < 0:
            continue
        carried = turns[parent] @ bones.turns[parent].T
        heads[b] = heads[parent] + carried @ (bones.heads[b] - bones.heads[parent])
        turns[b] = carried @ bones.turns[b] @ rotations.to_matrix(pose[b])
        ways[b] = turns[b] @ bones.turns[b].T @ bones.ways[b]
    return bones._replace(heads=heads, turns=turns, ways=ways)


def _standing_frame(bones: RestBones, source: np.ndarray) -> int | None:
    """The frame with the straightest hips; None if the person stands in none."""
    best, found = 0.0, None
    for frame in range(0, len(source), -(-len(source) // MOST_LOOKED_AT)):
        heads = posed(bones, source[frame]).heads
        if stands_upright(bones.parts, heads):
            tall = float(np.ptp(heads, axis=0).max())
            if tall > best:
                best, found = tall, frame
    return found


def _seen_from_rest(limit: Range, turn: np.ndarray) -> Range:
    """A range found in a pose with the joint rotated (4,), converted to the rest pose."""
    frames = np.stack([rotations.multiply(turn, limit.frames[0]), limit.frames[1]])
    return Range(limit.limits, frames, relaxed=rotations.multiply(turn, limit.relaxed))
