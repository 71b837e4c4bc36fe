"""Contacts: the tables of a shot in which bodies touch, are tied or pushed.

Owns the layout of `Found` and `Touch`. Must not know how contacts are found or solved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import table
from ..geometry.shape_table import Shapes, new_placed
from . import holds as H, rows as R, tree as T
from .holds import Holds
from .rows import Rows
from .tree import Tree

# Columns of Found.contact
columns = Columns()
POINT = columns(3)  # half way between the surfaces
NORMAL = columns(3)  # from b to a
GAP = columns()  # negative where they overlap
FRICTION = columns()  # geometric mean of the two
BOUNCE = columns()  # the larger of the two
CONTACT_COLUMNS = columns.count

# Columns of Found.meet, a contact's integers
columns = Columns()
SHAPE_A, SHAPE_B, BODY_A, BODY_B, FEATURE = columns.ones(5)
MEET_COLUMNS = columns.count

# Placements of bodies in Found.where: at the step's start, and predicted for its end.
START_PLACE, AHEAD = (np.int64(k) for k in range(2))

# Columns of Found.box, a box around each group of shapes
columns = Columns()
BOX_MIDDLE = columns(3)
BOX_SIZE = columns(3)  # half sizes, with the reach
BOX_MOVES = columns()  # not 0 if any of its bodies moves
BOX_COLUMNS = columns.count
# Members of a group that share a box.
RUN = np.int64(8)

# Entries of Touch.limit
columns = Columns()
SLOP = columns()  # [m] a smaller gap counts as touching; a larger depth is corrected
BOUNCE_SPEED = columns()  # [m/s] slower contacts do not bounce and are no impacts
LEAST = columns()  # [1/kg] a row with a smaller response moves nothing
PLANT = columns()  # [m] a foot within this distance of what it is braced against stands on it

PLANT_SHARE = 0.02  # of the character's size
FOOTHOLDS = 3  # for each contact of a foot that stands while its character is struck
MOST_FOOTHOLDS = 48
SPARE_CONTACTS = 128  # a pair's search uses up to 96 rows before it is reduced to four
MOST_CONTACTS = 4096
ISLAND_BLOCKS = 192  # besides ties, solved together; further ones are ignored, except those of ragdolls


@table
class Found(NamedTuple):
    """Poses of bodies, and contacts that are near."""

    where: np.ndarray  # (2, n+1, 7) world place and rotation of bodies
    placed: np.ndarray  # (shapes, PLACED_COLUMNS)
    moving: np.ndarray  # (shapes, PLACED_COLUMNS) a pair in motion
    reach: np.ndarray  # (shapes,) the largest displacement of a shape in the step [m]
    box: np.ndarray  # scratch of the broad phase
    pairs: np.ndarray  # (pairs, 2)
    contact: np.ndarray  # (contacts, CONTACT_COLUMNS)
    meet: np.ndarray  # (contacts, TOUCH_COLUMNS)
    old: np.ndarray  # (contacts, 3) forces of the step before
    old_meet: np.ndarray  # (contacts, 3) their shapes and feature
    moves: np.ndarray  # (n+1,) True if the body can move


@table
class Touch(NamedTuple):
    """The tables of a shot with contacts, ties, limits or pushes."""

    shapes: Shapes
    found: Found
    rows: Rows
    holds: Holds
    force: np.ndarray  # (n+1, 6) impulses on bodies in this step, about the root anchors
    drag: np.ndarray  # (n+1, 6) the wind's part of them
    limit: np.ndarray  # (LIMITS,)


def new_touch(tree: Tree, shapes: Shapes, holds: Holds, moves: np.ndarray, size: float) -> Touch:
    """Allocate the tables for the largest number of simultaneous contacts; `size` of the characters [m]."""
    n1, nv = len(tree.parent), int(tree.dof[-1])
    count = len(shapes.shape)
    contacts = min(SPARE_CONTACTS + 4 * count, MOST_CONTACTS)
    limits = np.isfinite(holds.bound[:, : H.LIMIT_FRAME]).sum() + np.isfinite(holds.bound[:, H.SWING_Z]).sum()
    blocks = contacts + MOST_FOOTHOLDS + 2 * len(holds.tie) + int(limits)
    most = 3 * min(blocks, ISLAND_BLOCKS + 2 * len(holds.tie))
    tied = 3 * (len(holds.tie) + int((holds.tie_link[:, H.TIE_KIND] == H.WELD).sum()))
    longest = _longest_path(tree)
    found = Found(
        _still(n1),
        new_placed(shapes),
        new_placed(shapes),
        np.zeros(count),
        new_box(shapes),
        np.zeros((max(64, min(count * (count + 1) // 2, 64 * count)), 2), dtype=np.int64),
        np.zeros((contacts, CONTACT_COLUMNS)),
        np.zeros((contacts, MEET_COLUMNS), dtype=np.int64),
        np.zeros((contacts, 3)),
        np.zeros((contacts, 3), dtype=np.int64),
        moves,
    )
    rows = Rows(
        np.zeros((blocks, R.BLOCK_COLUMNS)),
        np.zeros((blocks, R.LINK_COLUMNS), dtype=np.int64),
        np.zeros((blocks * 2 * longest, 4)),
        np.zeros(blocks * 2 * longest, dtype=np.uint64),
        np.zeros((3, nv)),
        np.zeros((3, 12)),
        np.zeros((most, most)),
        np.zeros((3 * blocks, 3)),
        np.zeros((most, most)),
        np.zeros((tied, tied)),
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros((R.ROW_VECTORS, 3 * blocks)),
        np.zeros(blocks, dtype=np.int64),
        _roots(tree),
        np.ascontiguousarray(tree.body[:, T.SUBTREE_MASS]),
        np.zeros(n1, dtype=np.int64),
        np.zeros(n1, dtype=np.int64),
        np.zeros(n1, dtype=np.int64),
        np.zeros(n1, dtype=np.int64),
        np.zeros(R.COUNTS, dtype=np.int64),
    )
    limit = np.array([1e-4, 0.05, 1e-9 / float(tree.body[1:, T.MASS].sum()), PLANT_SHARE * size])
    return Touch(shapes, found, rows, holds, np.zeros((n1, 6)), np.zeros((n1, 6)), limit)


def new_box(shapes: Shapes) -> np.ndarray:
    """Scratch of `find_pairs`: a box for each group, then a box for each run."""
    groups, members = len(shapes.member_start) - 1, len(shapes.member)
    return np.zeros((2 * groups + members // int(RUN) + 1, BOX_COLUMNS))


def _roots(tree: Tree) -> np.ndarray:
    root = np.zeros(len(tree.parent), dtype=np.int64)
    for row in range(1, len(root)):
        root[row] = root[tree.parent[row]] or row
    return root


def _still(n1: int) -> np.ndarray:
    where = np.zeros((2, n1, 7))
    where[:, :, 3] = 1.0
    return where


def _longest_path(tree: Tree) -> int:
    """Largest number of degrees of freedom between a body and the world."""
    total = np.zeros(len(tree.parent), dtype=np.int64)
    for row in range(1, len(tree.parent)):
        total[row] = total[tree.parent[row]] + tree.dof[row + 1] - tree.dof[row]
    return max(1, int(total.max()))
