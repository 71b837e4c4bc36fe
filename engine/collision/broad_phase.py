"""Broad phase: pairs of shapes whose boxes overlap.

Owns the search for candidate pairs. Must not know how a pair touches, or what the pairs are used for.

Three levels: boxes around whole groups (the shapes of one tree), boxes around runs of a group's members, and the boxes
of shapes. So characters that are apart from one another cost no more than each alone. The same holds for the fingers of
two hands.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile.decorators import entry_point, kernel, separate
from ..compile.kernel_types import FlagRow, IndexTable, Row, Table
from ..geometry import shape_table as SH
from ..geometry.shape_table import Shapes, new_placed
from ..tables import contacts as CT
from .narrow_phase import gap_of
from .signed_distance import place_shapes

REST_SLACK = 1e-3  # [m] shapes nearer than this at rest count as overlapping


def overlapping_at_rest(shapes: Shapes, where: np.ndarray, slack: float = REST_SLACK) -> list[tuple[int, int]]:
    """Pairs of shapes on different bodies of one tree whose gap is below `slack` [m], with the bodies at `where`
    (n+1, 7)."""
    count = len(shapes.link)
    pairs = np.zeros((max(1, count * (count - 1) // 2), 2), dtype=np.int64)
    where = np.ascontiguousarray(where, dtype=float)
    found = _overlaps(shapes, where, new_placed(shapes), float(slack), pairs)
    return [(int(a), int(b)) for a, b in pairs[:found]]


@entry_point
def _overlaps(shapes, where, placed, slack, pairs):
    place_shapes(shapes, where, placed)
    found = 0
    for a in range(len(shapes.link)):
        for b in range(a + 1, len(shapes.link)):
            if shapes.link[a, SH.ROOT] != shapes.link[b, SH.ROOT] or shapes.link[a, SH.BODY] == shapes.link[b, SH.BODY]:
                continue
            if _overlap(placed, a, SH.SPOT, placed, b, SH.SPOT, SH.EXTENT, SH.EXTENT, slack):
                gap, _, _, _ = gap_of(shapes, placed, a, b)
                if gap < slack:
                    pairs[found, 0], pairs[found, 1] = a, b
                    found += 1
    return found


@separate
def find_pairs(shapes: Shapes, placed: Table, reach: Row, moves: FlagRow, box: Table, pairs: IndexTable):
    """Write the pairs (a < b) of shapes whose boxes, each enlarged by its `reach` (ns,), overlap. Returns their number.

    Excluded are pairs on one body, of two bodies that do not move (`moves`, (n+1,)), of one family, and of `skip`. At
    most the capacity of `pairs` (capacity, 2) is written.
    """
    groups = len(shapes.member_start) - 1
    for g in range(groups):
        _surround_group(shapes, placed, reach, moves, box, g)
    count = 0
    for g in range(groups):
        for h in range(g, groups):
            if box[g, CT.BOX_MOVES] + box[h, CT.BOX_MOVES] == 0.0 or _one_family(shapes, g, h):
                continue
            if not _overlap(box, g, CT.BOX_MIDDLE, box, h, CT.BOX_MIDDLE, CT.BOX_SIZE, CT.BOX_SIZE, 0.0):
                continue
            for at in range(shapes.member_start[g], shapes.member_start[g + 1]):
                s = shapes.member[at]
                if _overlap(placed, s, SH.SPOT, box, h, CT.BOX_MIDDLE, SH.EXTENT, CT.BOX_SIZE, reach[s]):
                    first = at + 1 if g == h else shapes.member_start[h]
                    count = _find_with(shapes, placed, reach, moves, box, pairs, count, s, h, first)
    return count


@kernel
def _find_with(shapes, placed, reach, moves, box, pairs, count, s, h, first):
    """Append the pairs of shape s with the members of group h, from member `first` on. Returns the new count."""
    start, end = shapes.member_start[h], shapes.member_start[h + 1]
    run = _first_run(len(shapes.member_start) - 1, h, start)
    for begin in range(start, end, CT.RUN):
        until = min(begin + CT.RUN, end)
        if until > first and _overlap(placed, s, SH.SPOT, box, run, CT.BOX_MIDDLE, SH.EXTENT, CT.BOX_SIZE, reach[s]):
            for other in range(max(first, begin), until):
                o = shapes.member[other]
                if _overlap(placed, s, SH.SPOT, placed, o, SH.SPOT, SH.EXTENT, SH.EXTENT, reach[s] + reach[o]):
                    a, b = min(s, o), max(s, o)
                    if count < len(pairs) and _may_touch(shapes, placed, reach, moves, a, b):
                        pairs[count, 0], pairs[count, 1] = a, b
                        count += 1
        run += 1
    return count


@kernel
def _first_run(groups, g, start):
    """The row of the box of group g's first run, whose members begin at `start`. The runs of earlier groups come
    before it."""
    return groups + g + start // CT.RUN


@kernel
def _surround_group(shapes, placed, reach, moves, box, g):
    """Boxes around a group and around runs of its members. Consecutive members are mostly neighbours along a limb."""
    start, end = shapes.member_start[g], shapes.member_start[g + 1]
    _surround(shapes, placed, reach, moves, box, g, start, end)
    run = _first_run(len(shapes.member_start) - 1, g, start)
    for begin in range(start, end, CT.RUN):
        _surround(shapes, placed, reach, moves, box, run, begin, min(begin + CT.RUN, end))
        run += 1


@kernel
def _surround(shapes, placed, reach, moves, box, g, start, end):
    """The box around the members [start:end], in row g; infinite around a plane."""
    box[g, CT.BOX_MOVES] = 0.0
    for k in range(3):
        low, high = np.inf, -np.inf
        for at in range(start, end):
            s = shapes.member[at]
            far = placed[s, SH.EXTENT + k] + reach[s]
            low = min(low, placed[s, SH.SPOT + k] - far)
            high = max(high, placed[s, SH.SPOT + k] + far)
            if moves[shapes.link[s, SH.BODY]]:
                box[g, CT.BOX_MOVES] = 1.0
        box[g, CT.BOX_MIDDLE + k] = 0.5 * (low + high) if high - low < np.inf else 0.0
        box[g, CT.BOX_SIZE + k] = 0.5 * (high - low)


@kernel
def _one_family(shapes, g, h):
    """True if the shapes of two groups, each of one tree, belong to the same family that does not touch itself."""
    family = shapes.link[shapes.member[shapes.member_start[g]], SH.FAMILY]
    return family >= 0 and family == shapes.link[shapes.member[shapes.member_start[h]], SH.FAMILY]


@kernel
def _overlap(table, i, middle, other, j, middle2, size, size2, grow):
    """True if two boxes overlap, given by the columns of their centres and half sizes; `grow`: added to the sizes."""
    for k in range(3):
        if abs(table[i, middle + k] - other[j, middle2 + k]) > table[i, size + k] + other[j, size2 + k] + grow:
            return False
    return True


@kernel
def _may_touch(shapes, placed, reach, moves, a, b):
    """True if two shapes whose boxes overlap are a pair. A plane's box is infinite, so shapes above it are rejected
    here."""
    body, other = shapes.link[a, SH.BODY], shapes.link[b, SH.BODY]
    if body == other or not (moves[body] or moves[other]):
        return False
    for at in range(shapes.skip_start[a], shapes.skip_start[a + 1]):
        if shapes.skip[at] == b:
            return False
    plane = shapes.shape[a, SH.THICK] == math.inf
    if plane or shapes.shape[b, SH.THICK] == math.inf:
        p, s = (a, b) if plane else (b, a)
        height = -reach[p] - reach[s]
        for k in range(3):
            n = placed[p, SH.AXES + 2 + 3 * k]
            height += n * (placed[s, SH.SPOT + k] - placed[p, SH.SPOT + k]) - abs(n) * min(
                placed[s, SH.EXTENT + k], 1e300
            )
        return height <= 0.0 and shapes.shape[s, SH.THICK] < math.inf
    return True
