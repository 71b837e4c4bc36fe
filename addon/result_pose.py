"""The channels of the result armature: what physics leaves alone, and what a simulated motion makes of the rest.

Owns the way from bodies back to bones that inherit no scale. Must not know how results are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine import Model, Motion
from . import rotations

if TYPE_CHECKING:
    from .reader import Reading, Skeleton


def channels(
    model: Model, skeleton: Skeleton, order: list[int], anchors: np.ndarray, heads: np.ndarray, scales: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Location and scale on the result armature, which has the same bones, none of them
    inheriting scale; bones that are no bodies rest there relative to their parents."""
    locations = np.zeros_like(heads)
    signs = np.where(scales[:, :, :1] < 0.0, -1.0, 1.0)
    out = scales.copy()
    steps = np.linalg.inv(skeleton.rests[skeleton.parents]) @ skeleton.rests
    for b, bone in enumerate(order):
        parent = int(model.parents[b])
        if parent < 0:
            turn, head = skeleton.rests[bone, :3, :3], skeleton.rests[bone, :3, 3]
            locations[:, b] = (heads[:, b] - head) @ turn
            continue
        chain = _chain(skeleton, steps, bone, order[parent])
        # The first bone below the body feels its scale; the ones after it only its mirroring.
        spot = chain[0][:3, 3] * scales[:, parent]
        turn = chain[0][:3, :3]
        for local in chain[1:]:
            spot = spot + (turn @ local[:3, 3]) * signs[:, parent]
            turn = turn @ local[:3, :3]
        shift = anchors[:, b] - spot
        safe = np.where(np.abs(scales[:, parent]) > 1e-9, scales[:, parent], 1.0)
        shift = shift / (safe if len(chain) == 1 else signs[:, parent])
        locations[:, b] = shift @ turn
        out[:, b] = scales[:, b] * signs[:, parent]
    locations[:, skeleton.connected[order]] = 0.0
    return locations, out


def _chain(skeleton: Skeleton, steps: np.ndarray, bone: int, ancestor: int) -> list[np.ndarray]:
    """Rest matrices from the ancestor down to the bone, each relative to the one above."""
    chain = []
    while bone != ancestor:
        chain.append(steps[bone])
        bone = skeleton.parents[bone]
    return chain[::-1]


def of_motion(reading: Reading, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """(frames, n, 4) rotations and (frames, n, 3) locations of a simulated motion on the result armature."""
    quats = motion.rotations.copy()
    locations = reading.locations.copy()
    roots = np.flatnonzero(reading.model.parents < 0)
    world = rotations.multiply(reading.model.rest_rotations[None, roots], motion.rotations[:, roots])
    rest = rotations.from_matrix(rotations.split(reading.rests[roots, :3, :3])[0])
    quats[:, roots] = rotations.multiply(rotations.conjugate(rest)[None], reading.placement.rotations_to_rig(world))
    heads = reading.placement.points_to_rig(motion.positions[:, roots])
    shifts = heads - reading.rests[roots][None, :, :3, 3]
    locations[:, roots] = np.einsum("fni,nij->fnj", shifts, reading.rests[roots, :3, :3])
    locations[:, reading.connected] = 0.0
    return rotations.continuous(quats), locations
