"""Keep, smooth or skip bad frames of a source.

Owns how flaws of bodies are mapped to poses of bones, and the sentences on them. Must not know controllers or how
results are shown. The source's keys stay as they are.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...engine import Model
from ...engine.analysis import recording_flaws
from ...engine.anatomy.skeleton import Skeleton
from ...engine.math import rotations
from ..blender.sample_poses import Samples

if TYPE_CHECKING:
    from .reading import Reading

# Within this time of a jump a root's keys are ignored [s].
ABOUT = 0.25
ADVICE = {
    "KEEP": "Smooth or skip these frames, or leave them out of the range.",
    "SMOOTH": "These frames are read smoothed.",
    "SKIP": "These frames are skipped: the pose before them is held.",
}


def mended(
    how: str, found: recording_flaws.Flaws, skeleton: Skeleton, order: list[int], model: Model, samples: Samples
) -> tuple[Samples, np.ndarray]:
    """The samples without their flaws, and (frames, n) True where a root is teleported. A remaining jump is a cut, not
    a speed of hundreds of metres a second."""
    frames = len(samples.frames)
    cuts = np.zeros((frames, len(order)), dtype=bool)
    if how == "KEEP":
        for jump in found.jumps:
            cuts[jump.arrival, jump.body] = model.parents[jump.body] < 0
        return samples, cuts
    whole = [span for span in ((0, found.head), (frames - found.tail, frames)) if span[0] < span[1]]
    spans: dict[int, list[tuple[int, int]]] = {b: list(whole) for b in range(len(order))}
    for body, first, stop in found.spans:
        spans[body].append((first, stop))
        cuts[stop, body] = how == "SKIP" and model.parents[body] < 0
    poses = samples.poses.astype(np.float64)
    out = poses.copy()
    place = {bone: b for b, bone in enumerate(order)}
    moved: set[int] = set()
    others = [bone for bone in range(len(skeleton.names)) if bone not in place]
    for bone in (*order, *others):  # parents first
        body = place.get(bone)
        above = (
            skeleton.parents[bone] if body is None else order[model.parents[body]] if model.parents[body] >= 0 else -1
        )
        own = spans.get(body, ())
        if not own and above not in moved:
            continue
        moved.add(bone)
        # A root is repaired in world space, because the jump may be its object's.
        space = poses[:, above] if above >= 0 else rotations.inverse_or_nearest(samples.placements)
        within = rotations.inverse_or_nearest(space) @ poses[:, bone]
        for first, stop in own:
            within = recording_flaws.mended(within, first, stop, how == "SKIP")
        out[:, bone] = (out[:, above] if above >= 0 else space) @ within
    return dataclasses.replace(samples, poses=out), cuts


def is_bad(reading: Reading, body: int, frame: float) -> bool:
    """True if the body's key at this scene frame must be ignored.

    That is so if its pose was replaced there or at a neighbouring frame that its speed is computed from, or if its root
    jumps near it.
    """
    k, count = frame - float(reading.frames[0]), len(reading.frames)
    if reading.bad_frames == "KEEP":
        own = [jump.arrival for jump in reading.flaws.jumps if jump.body == body and reading.model.parents[body] < 0]
        return any(abs(k - arrival) <= ABOUT * reading.motion.fps for arrival in own)
    spans = [(first, stop) for b, first, stop in reading.flaws.spans if b == body]
    spans += [(0, reading.flaws.head), (count - reading.flaws.tail, count)]
    return any(first - 1 <= k <= stop for first, stop in spans if first < stop)


def sentences(reading: Reading) -> list[str]:
    """Sentences on the flaws of the source."""
    return recording_flaws.sentences(reading.flaws, reading.names, reading.model.parents, reading.frames)


def told(rig: bpy.types.Object) -> str:
    """Sentences on the flaws found when the source was last read, and how they are handled now."""
    return f"{rig.heft.flaws}\n{ADVICE[rig.heft.bad_frames]}" if rig.heft.flaws else ""


def warnings(rig: bpy.types.Object) -> list[str]:
    """The sentences on flaws that are left as they are."""
    return told(rig).splitlines() if rig.heft.bad_frames == "KEEP" else []
