"""Physical start and end of each bone, independent of how long its tail is drawn.

Owns that answer for masses, shapes, roles, size, pushes, balls, picking and overlays. Must not know Blender. A bone
begins at its head. It ends where its children begin, else where its skin ends, else at its drawn length if that is
plausible.

In a rig most of whose bones deform a skin, a bone without children and skin is a marker and has no length.

Importers guess tails. Blender's glTF importer makes them a hundred times too long at object scale 0.01 and one
centimetre short at scale 100. So a drawn length is only used relative to the other bones of the rig: for bones with one
child the real length is known.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

# Lengths are drawn consistently if at least half of the bones with one child have the same ratio of drawn to real
# length, within this tolerance. Otherwise a ratio within these bounds is still used.
SAME_RATIO, BELIEVED = 0.05, (0.5, 2.0)
# A bone shorter than this part of the rig's size has no length: rounding of zero.
NO_LENGTH = 1e-4
# Fewer skin points than this are ignored. The farthest points of a skin may belong to hair or a cape: this quantile
# counts.
LEAST_POINTS, SKIN_PART = 8, 0.98
# A skin is along the bone's own Y axis if the direction to its middle deviates by less than this [cosine].
ALONG_AXIS = 0.5
# Digits kept of lengths derived from a drawn tail [parts of the rig's size]: further digits are rounding noise, which
# differs for a tail drawn a hundred times as long.
DIGITS = 9
# A root is far away if it is outside the box around the others by this part of the box's longest side, and by this many
# times the longest distance of one of the others to its parent. Fewer bones than these are no body.
FAR, FAR_STEPS, LEAST_BODY = 0.5, 1.5, 8


@dataclass(frozen=True, eq=False)
class BoneEnds:
    """heads, ends (n, 3) in one space; reach (n,) distance of the farthest child, for a leaf its length; helpers: roots
    far away from the body, which have no length and are not counted in its size."""

    heads: np.ndarray
    ends: np.ndarray
    reach: np.ndarray
    helpers: frozenset[int]

    @property
    def ways(self) -> np.ndarray:
        """(n, 3) vectors from head to end."""
        return self.ends - self.heads

    @property
    def size(self) -> float:
        """The longest side of the box around the body."""
        kept = [i for i in range(len(self.heads)) if i not in self.helpers]
        return box_size(np.concatenate([self.heads[kept], self.ends[kept]]))

    def scaled(self, times: float) -> BoneEnds:
        """The same, multiplied by a factor."""
        return BoneEnds(times * self.heads, times * self.ends, times * self.reach, self.helpers)

    def vectors(self, rests: np.ndarray) -> np.ndarray:
        """(n, 3) vectors from head to end in each bone's own frame; rests (n, 4, 4) in the same space."""
        return np.einsum("nji,nj->ni", rests[:, :3, :3], self.ways)


def box_size(points: np.ndarray) -> float:
    """The longest side of the box around points (k, 3), never zero."""
    return float(max(np.ptp(points, axis=0).max(), 1e-9)) if len(points) else 1e-9


def find(
    parents: Sequence[int], heads: np.ndarray, tails: np.ndarray, skins: Mapping[int, np.ndarray] | None = None
) -> BoneEnds:
    """Find the ends of all bones of a rig.

    parents (n,) -1 for none, in any order; heads, tails (n, 3) as drawn at rest; skins: by bone, the points (k, 3) of
    its skin, in the same space.
    """
    heads, tails = np.asarray(heads, dtype=np.float64), np.asarray(tails, dtype=np.float64)
    children, skins = children_of(parents), skins or {}
    helpers = far_helpers(parents, heads, skins)
    ends, reach = heads.copy(), np.zeros(len(heads))
    for i, kids in enumerate(children):
        if kids and i not in helpers:
            ends[i] = heads[kids].mean(axis=0)
            reach[i] = np.linalg.norm(heads[kids] - heads[i], axis=1).max()
    ratio = _drawn_ratio(children, heads, tails)
    is_skinned = 2 * len(skins) >= len(heads)
    for i, kids in enumerate(children):
        if not kids and i not in helpers and not (is_skinned and i not in skins):
            ends[i] = _leaf_end(i, parents, heads, tails, reach, ratio, skins.get(i))
            reach[i] = np.linalg.norm(ends[i] - heads[i])
    return BoneEnds(heads, ends, reach, helpers)


def children_of(parents: Sequence[int]) -> list[list[int]]:
    """The children of each bone."""
    lists: list[list[int]] = [[] for _ in parents]
    for i, parent in enumerate(parents):
        if parent >= 0:
            lists[parent].append(i)
    return lists


def drawn_times(parents: Sequence[int], heads: np.ndarray, tails: np.ndarray) -> float:
    """The median ratio of drawn to real length over the bones with one child."""
    ratios = _ratios(children_of(parents), heads, tails)
    return float(np.median(ratios)) if len(ratios) else 1.0


def _ratios(children: list[list[int]], heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """(k,) ratios of drawn to real length of the bones with one child."""
    long = np.linalg.norm(tails - heads, axis=1)
    size = box_size(heads)
    found = []
    for i, kids in enumerate(children):
        step = float(np.linalg.norm(heads[kids[0]] - heads[i])) if len(kids) == 1 else 0.0
        if step > NO_LENGTH * size and long[i] > 0.0:
            found.append(long[i] / step)
    return np.array(found)


def _drawn_ratio(children: list[list[int]], heads: np.ndarray, tails: np.ndarray) -> float | None:
    """The rig's ratio of drawn to real length; None if drawn lengths are unreliable."""
    ratios = _ratios(children, heads, tails)
    if not len(ratios):
        return 1.0
    middle = float(np.median(ratios))
    alike = float(np.mean(np.abs(ratios - middle) <= SAME_RATIO * middle))
    return middle if alike >= 0.5 or BELIEVED[0] <= middle <= BELIEVED[1] else None


def _leaf_end(
    bone: int,
    parents: Sequence[int],
    heads: np.ndarray,
    tails: np.ndarray,
    reach: np.ndarray,
    ratio: float | None,
    skin: np.ndarray | None,
) -> np.ndarray:
    """(3,) the end of a bone without children: of its skin, else by its drawn length, which is at most that of the
    nearest ancestor with a length."""
    drawn = tails[bone] - heads[bone]
    long = float(np.linalg.norm(drawn))
    axis = np.round(drawn / long, DIGITS) if long > 0.0 else np.array([0.0, 1.0, 0.0])
    if skin is not None and len(skin) >= LEAST_POINTS:
        return heads[bone] + _skin_way(skin - heads[bone], axis)
    size = box_size(heads)
    above, least = parents[bone], NO_LENGTH * size
    while above >= 0 and reach[above] <= least:
        above = parents[above]
    if above < 0:
        return heads[bone] + size * round(long / (ratio or 1.0) / size, DIGITS) * axis
    most = float(reach[above])
    return heads[bone] + (most if ratio is None else min(size * round(long / ratio / size, DIGITS), most)) * axis


def _skin_way(points: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """(3,) vector from the head to the end of the skin, points (k, 3) relative to the head: along the bone's axis (3,),
    or along the direction to the skin's middle if the bone points elsewhere."""
    middle = points.mean(axis=0)
    far = float(np.linalg.norm(middle))
    if far > 0.0 and middle @ axis < ALONG_AXIS * far:
        axis = middle / far
    return max(float(np.quantile(points @ axis, SKIN_PART)), 0.0) * axis


def far_helpers(parents: Sequence[int], heads: np.ndarray, skinned: Collection[int] = ()) -> frozenset[int]:
    """Bones that are far away from a body and not part of it: a root, or a bone without parent and children. Recordings
    have such bones at the origin of their stage. A bone that deforms a skin is none."""
    if len(parents) <= LEAST_BODY:
        return frozenset()
    children = children_of(parents)
    steps = np.array([np.linalg.norm(heads[i] - heads[p]) if p >= 0 else 0.0 for i, p in enumerate(parents)])
    found: set[int] = set()
    waiting = [i for i, parent in enumerate(parents) if parent < 0]
    while waiting and len(parents) - len(found) > LEAST_BODY:
        bone = waiting.pop()
        if bone in skinned:
            continue
        others = np.array([i != bone and i not in found for i in range(len(parents))])
        low, high = heads[others].min(axis=0), heads[others].max(axis=0)
        outside = float(np.linalg.norm(np.maximum(np.maximum(low - heads[bone], heads[bone] - high), 0.0)))
        # In a chain no bone is farther away than the others are from one another.
        others[children[bone]] = False
        if not others.any():
            continue
        if outside > FAR * box_size(heads[others]) and outside > FAR_STEPS * steps[others].max():
            found.add(bone)
            if len(children[bone]) == 1:
                waiting.append(children[bone][0])
    return frozenset(found)
