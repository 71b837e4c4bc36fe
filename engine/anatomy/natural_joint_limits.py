"""Default joint ranges of a rig: a person's, an animal's, or by structure.

Owns which family's table a rig takes, in which pose it is laid out, and that no joint is left without a range. Must not
know Blender.

A person's table is about someone who stands. Some recordings rest folded, or with all bones along one axis: there the
ranges are laid out on the frame of the source in which the person stands straightest, and taken back to the rest pose.
"""

from __future__ import annotations

import numpy as np

from ..math import rotations
from . import animal_joint_limits, person_joint_limits, structural_joint_limits
from .joint_limit import Range
from .person_masses import is_person, stands_upright
from .rest_body import RestBody, RestBones

NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])
# As many frames are looked at for one that stands.
MOST_LOOKED_AT = 60


def ranges(bones: RestBones, source: np.ndarray) -> dict[int, Range]:
    """By body, of all that hang on another; source (frames, n, 4): joint rotations, which are always allowed."""
    if not is_person(bones.parts, bones.heads):
        # An animal can stand as it rests; what a person's rest pose is, tables need not allow.
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
    """What was found, and by structure what was not."""
    held = (b for b in range(len(body.bones.parts)) if body.parent(b) >= 0)
    return {b: found[b] if b in found else structural_joint_limits.limit(body, b) for b in held}


def posed(bones: RestBones, pose: np.ndarray) -> RestBones:
    """The bones with their joints turned (n, 4) from rest, the roots left where they are."""
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
    """The frame in which hips are straightest; None where nobody stands in any."""
    best, found = 0.0, None
    for frame in range(0, len(source), -(-len(source) // MOST_LOOKED_AT)):
        heads = posed(bones, source[frame]).heads
        if stands_upright(bones.parts, heads):
            tall = float(np.ptp(heads, axis=0).max())
            if tall > best:
                best, found = tall, frame
    return found


def _seen_from_rest(limit: Range, turn: np.ndarray) -> Range:
    """A range that was laid out on a pose in which the joint is turned (4,), as from the rest pose."""
    frames = np.stack([rotations.multiply(turn, limit.frames[0]), limit.frames[1]])
    return Range(limit.limits, frames, relaxed=rotations.multiply(turn, limit.relaxed))
