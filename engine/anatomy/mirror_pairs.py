"""Pairs of mirrored bones, left and right, and equal masses for both.

Owns the pairs. Must not know Blender, nor the use of roles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .capsule_masses import Bodies
from .role_list import LEFT, MIDDLE, RIGHT, Part

# Tolerance for mirrored positions, and for the middle [parts of the size].
NEAR, MIDDLE_WIDTH = 0.05, 0.01
# Paired bones whose masses are within this factor get equal masses, because weights are painted by hand. Beyond it one
# is a different limb, such as an arm that is a gun.
ALIKE = 4.0


def pairs(
    heads: np.ndarray, ends: np.ndarray, parts: Sequence[Part | None], kept: Sequence[int]
) -> list[tuple[int, int]]:
    """Left and right bones that are pairs, among those kept; heads and ends (n, 3) at rest, parts (n,).

    Found by position; those with the same role that are not mirrored at rest, by their order.
    """
    kept = list(kept)
    size = float(np.ptp(np.concatenate([heads[kept], ends[kept]]), axis=0).max())
    axis = _across(heads, parts, kept)
    middles = [bone for bone in kept if parts[bone] is not None and parts[bone].side == MIDDLE] or kept
    middle = np.median(heads[middles], axis=0)
    gap = _mirror_gaps(heads[kept], middle, axis)
    # Several bones may begin at one position. Ends count less, because importers guess them.
    gap += 0.01 * np.minimum(_mirror_gaps(ends[kept], middle, axis), size)
    off = (0.5 * (heads + ends)[kept] - middle) @ axis
    gap[~_fit([parts[bone] for bone in kept])] = np.inf
    best = gap.argmin(axis=1)
    found = [
        (kept[i], kept[j])
        for i, j in enumerate(best)
        if off[i] > MIDDLE_WIDTH * size and best[j] == i and max(gap[i, j], gap[j, i]) < NEAR * size
    ]
    taken = {bone for pair in found for bone in pair}
    for role in dict.fromkeys(part.role for part in parts if part is not None and part.role != "OTHER"):
        left, right = ([b for b in kept if b not in taken and parts[b] == Part(role, side)] for side in (LEFT, RIGHT))
        if len(left) == len(right):
            found += zip(left, right, strict=True)
    return found


def _mirror_gaps(spots: np.ndarray, middle: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """(k, k) distances of each point's mirror image from every other point."""
    mirrored = spots - 2.0 * ((spots - middle) @ axis)[:, None] * axis
    return np.linalg.norm(mirrored[:, None] - spots[None], axis=2)


def _across(heads: np.ndarray, parts: Sequence[Part | None], kept: Sequence[int]) -> np.ndarray:
    """(3,) direction from right to left; X if no part has a side."""
    ends = [[heads[b] for b in kept if parts[b] is not None and parts[b].side == side] for side in (LEFT, RIGHT)]
    way = np.mean(ends[0], axis=0) - np.mean(ends[1], axis=0) if all(ends) else np.array([1.0, 0.0, 0.0])
    long = np.linalg.norm(way)
    return way / long if long > 0.0 else np.array([1.0, 0.0, 0.0])


def _fit(parts: Sequence[Part | None]) -> np.ndarray:
    """(k, k) True if two parts can be mirror images: one role, not one side, not one bone."""
    roles = np.array([part.role if part is not None else "" for part in parts])
    turns = np.array([{LEFT: 1, RIGHT: -1}.get(part.side, 0) if part is not None else 0 for part in parts])
    return (roles[:, None] == roles) & (turns[:, None] * turns <= 0) & ~np.eye(len(roles), dtype=bool)


def even(bodies: Bodies, paired: Sequence[tuple[int, int]], overrides: Sequence[float]) -> Bodies:
    """The bodies with equal masses left and right, if both are about as heavy and no mass was given."""
    masses = bodies.masses.copy()
    for one, other in paired:
        low, high = sorted((masses[one], masses[other]))
        if overrides[one] > 0.0 or overrides[other] > 0.0 or high > ALIKE * low:
            continue
        masses[one] = masses[other] = 0.5 * (low + high)
    times = np.divide(masses, bodies.masses, out=np.ones_like(masses), where=bodies.masses > 0.0)
    return replace(bodies, masses=masses, inertias=bodies.inertias * times[:, None, None])
