"""Tables of contact: shapes, pairs found, rows, and what holds bodies besides contacts.

Owns the layout of `Touch`. Must not know how contacts are found or solved.

A *block* is up to three rows of one contact, tie or limit. A row is a unit force (or
couple) on one body and its reaction on another, each about its own tree's root anchor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..collision.broad_phase import new_box
from ..collision.contact_table import CONTACT_COLUMNS, TOUCH_COLUMNS
from ..compile.decorators import table
from ..geometry.shape_table import Shapes, new_placed
from ..tables.model_table import MASS, Tree

# Placements of bodies: as the step starts, and as it is foreseen to end.
START_PLACE, AHEAD = (np.int64(k) for k in range(2))

# What a block is.
CONTACT, LIMIT, TIE = (np.int64(k) for k in range(3))

# Columns of Rows.block
ON_A = np.int64(0)  # 18: three wrenches on body a, angular then linear
ON_B = np.int64(18)  # 18: their reactions on body b
OWN = np.int64(36)  # 9: three rows of coefficients on the first three rates of body a's joint
ERROR_NOW = np.int64(45)  # 3: gap or tie's error as the step starts [m, rad]
SPEED_NOW = np.int64(48)  # 3: the rows' rates as the step starts
IMPULSE = np.int64(51)  # 3: what the rows give over the step [N s, N m s]
SHIFT = np.int64(54)  # 3: what they shift, times mass
GRIP = np.int64(57)  # 1: friction
REBOUND = np.int64(58)  # 1: bounce
TOTAL = np.int64(59)  # 3: impulse of the whole step, all stages
ALLOWED = np.int64(62)  # 3: the rows' rates in the reference motion, as far as it is allowed to press on
BEARS = np.int64(65)  # 1: weight the contact bears in the reference motion, besides what is solved [N]
TURNED = np.int64(66)  # 1: what the turn to the middle pose makes of the speed a step starts with, of limp bodies
PARTING = np.int64(67)  # 1: how fast limp bodies part as the step starts
BEND = np.int64(68)  # 3: what the bodies' turning adds to a tie's rates in half a step
CLOSING = np.int64(71)  # 3: impulse that closes a tie, or stills it, besides what is solved
GIVEN_UP = np.int64(74)  # 1: share of a contact that is given up, since keys force its bodies through it (see `forced`)
STUCK = np.int64(75)  # 1: not 0 where depth is left as it is, since one of its trees is forced into something
BLOCK_COLUMNS = np.int64(76)

# Columns of Rows.link; TURNING: the block of a weld that keeps its rotation (1), a foothold BESIDE a contact, the pull
# on a foot in the air (LEADS), what a sole stands on below its ankle (HEEL); SIDE: which end of which of a joint's
# ranges a limit is
BODY_A, BODY_B, WHAT, SOURCE, POOL_FROM, POOL_TO, BRACED, ROWS, TURNING, SIDE = (np.int64(k) for k in range(10))
LINK_COLUMNS = np.int64(10)
BESIDE, LEADS, HEEL = (np.int64(k) for k in range(1, 4))

# Columns of Holds.tie
TIE_POINT_A = np.int64(0)  # 3: on a, in its frame [m]
TIE_POINT_B = np.int64(3)  # 3: on b
TIE_TURN = np.int64(6)  # 4: rotation of a as b sees it
TIE_LENGTH = np.int64(10)  # 1
TIE_COLUMNS = np.int64(11)
# Columns of Holds.tie_link; HOLDS: whether the tie has taken hold; FINDS_*: takes it from where bodies are then;
# ACTS_AT: where a pin's force acts
TIE_A, TIE_B, TIE_KIND, TIE_BRACED, HOLDS, FINDS_POINT, FINDS_LENGTH, ACTS_AT = (np.int64(k) for k in range(8))
BOTH_POINTS, POINT_OF_A, POINT_OF_B = (np.int64(k) for k in range(3))
TIE_LINK_COLUMNS = np.int64(8)
PIN, WELD, DISTANCE = (np.int64(k) for k in range(3))

# Columns of Holds.bound, infinite where there is none: hinge and universal: low and high of each angle;
# ball: largest swing of the Y axis, low and high of the twist about it, largest swing about Z where it differs
LOW, HIGH = np.int64(0), np.int64(1)
SWING, TWIST_LOW, TWIST_HIGH, SWING_Z = (np.int64(k) for k in range(4))
LIMIT_FRAME = np.int64(4)  # 8: what a ball's limits are measured from at rest, and in the body
NATURAL = np.int64(12)  # 1: not 0 where only what is off its motion is held
BOUND_COLUMNS = np.int64(13)

# Columns of Holds.push
PUSH_FRAME, PUSH_ROW = np.int64(0), np.int64(1)
PUSH_IMPULSE = np.int64(2)  # 3
PUSH_POINT = np.int64(5)  # 3
PUSH_COLUMNS = np.int64(8)

# Rows of Rows.row, vectors over the rows of an island
FREE_RATE, FORCE, STEP, RADIUS, MORE, MOST, ALONG_X, ALONG_Y, ADDED, KEPT_FORCE, KEPT_RATE, KEPT_RADIUS = (
    np.int64(k) for k in range(12)
)
ROW_VECTORS = np.int64(12)

# Columns of Record.touch
MARK_A, MARK_B = np.int64(0), np.int64(1)  # rows of the bodies; a is −1 where there is no contact
MARK_POINT = np.int64(2)  # 3
MARK_NORMAL = np.int64(5)  # 3: from b to a
MARK_FORCE = np.int64(8)  # 3: on a [N], the mean over the step before the frame
MARK_COLUMNS = np.int64(11)
MARKS = 48  # contacts written down a frame

# Entries of Rows.count; TIED: rows of ties that were solved; FILLED: 1 + where the island begins that `matrix` is of;
# STAYS: not 0 where the next step may shift no places; FACTORED: how many rows of `matrix` are eliminated in `upper`
PAIRS, CONTACTS, BLOCKS, POOL, OLD, WINDY, TIED, FILLED, STAYS, FACTORED = (np.int64(k) for k in range(10))
COUNTS = np.int64(10)

# Entries of Touch.limit
SLOP = np.int64(0)  # [m] nearer than this is touching; deeper than this is pushed out
BOUNCE_SPEED = np.int64(1)  # [m/s] slower meetings do not bounce and are no impacts
LEAST = np.int64(2)  # [1/kg] a row that moves less than this moves nothing
PLANT = np.int64(3)  # [m] a foot that rests this near to what it is braced against stands on it

PLANT_SHARE = 0.02  # of the character's size
FOOTHOLDS = 3  # beside a contact of a foot that stands while its character is struck
MOST_FOOTHOLDS = 48
SPARE_CONTACTS = 128  # a pair's search uses up to 96 rows before it is cut to four
MOST_CONTACTS = 4096
ISLAND_BLOCKS = 192  # besides ties, that are solved together; more do not count, but for ragdolls


@table
class Rows(NamedTuple):
    """Blocks of rows and their solve, island by island."""

    block: np.ndarray  # (blocks, BLOCK_COLUMNS)
    link: np.ndarray  # (blocks, LINK_COLUMNS)
    pool: np.ndarray  # (entries, 3) rows of L⁻¹Jᵀ, sparse
    pool_dof: np.ndarray  # (entries,) their degrees of freedom
    spread: np.ndarray  # (nv, 3) scratch
    carry: np.ndarray  # (3, 12) scratch
    matrix: np.ndarray  # (rows, rows) of one island
    own: np.ndarray  # (3 · blocks, 3) each block's part of the matrix, of an island that has none (`ragdoll_sweeps`)
    upper: np.ndarray  # (rows, rows) scratch of the polish
    tied: np.ndarray  # (tie rows, tie rows) the ties' part of every island's matrix, eliminated
    pick: np.ndarray  # (rows,) rows that are polished
    picked: np.ndarray  # (rows,) those that are eliminated in `upper`
    row: np.ndarray  # (ROW_VECTORS, 3 · blocks)
    order: np.ndarray  # (blocks,) blocks island by island
    root: np.ndarray  # (n+1,) the root of each body's tree
    mass: np.ndarray  # (n+1,) of each body and all that hangs on it [kg]; of all trees for the world
    ragdoll: np.ndarray  # (n+1,) of a tree's root: what it is to ragdolls (see `ragdoll`)
    led: np.ndarray  # (n+1,) of a tree's root: not 0 where keys or the world say where the tree is
    island: np.ndarray  # (n+1,) of a tree's root: another of its island, itself if it is the head
    tally: np.ndarray  # (n+1,) of an island's head: where its blocks end in `order`
    count: np.ndarray  # (COUNTS,)


@table
class Found(NamedTuple):
    """Where bodies are and what nearly touches."""

    where: np.ndarray  # (2, n+1, 7) world place and rotation of bodies
    placed: np.ndarray  # (shapes, PLACED_COLUMNS)
    moving: np.ndarray  # (shapes, PLACED_COLUMNS) a pair on its way
    reach: np.ndarray  # (shapes,) how far a shape can get in the step [m]
    box: np.ndarray  # scratch of the broad phase
    pairs: np.ndarray  # (pairs, 2)
    contact: np.ndarray  # (contacts, CONTACT_COLUMNS)
    meet: np.ndarray  # (contacts, TOUCH_COLUMNS)
    old: np.ndarray  # (contacts, 3) forces of the step before
    old_meet: np.ndarray  # (contacts, 3) whose they were: shapes and feature
    moves: np.ndarray  # (n+1,) whether the body can move at all


@table
class Holds(NamedTuple):
    """What holds and strikes besides contacts: ties, joint limits, pushes, wind."""

    tie: np.ndarray  # (ties, TIE_COLUMNS)
    tie_link: np.ndarray  # (ties, TIE_LINK_COLUMNS)
    tie_on: np.ndarray  # (frames, ties)
    bound: np.ndarray  # (n+1, BOUND_COLUMNS) joint limits [rad]
    push: np.ndarray  # (pushes, PUSH_COLUMNS)
    wind: np.ndarray  # (winds, 3) [m/s]
    wind_on: np.ndarray  # (frames, winds) times the drag of air
    area: np.ndarray  # (n+1,) that a body offers the wind [m²]


@table
class Touch(NamedTuple):
    """Everything a shot needs in which something touches, is tied, limited or pushed."""

    shapes: Shapes
    found: Found
    rows: Rows
    holds: Holds
    force: np.ndarray  # (n+1, 6) impulses on bodies in this step, about the root anchors
    drag: np.ndarray  # (n+1, 6) the wind's part of them
    limit: np.ndarray  # (LIMITS,)


def new_touch(tree: Tree, shapes: Shapes, holds: Holds, moves: np.ndarray, size: float) -> Touch:
    """Room for the contacts a shot may have at once; `size` of the characters [m]."""
    n1, nv = len(tree.parent), int(tree.dof[-1])
    count = len(shapes.shape)
    contacts = min(SPARE_CONTACTS + 4 * count, MOST_CONTACTS)
    limits = np.isfinite(holds.bound[:, :LIMIT_FRAME]).sum() + np.isfinite(holds.bound[:, SWING_Z]).sum()
    blocks = contacts + MOST_FOOTHOLDS + 2 * len(holds.tie) + int(limits)
    most = 3 * min(blocks, ISLAND_BLOCKS + 2 * len(holds.tie))
    tied = 3 * (len(holds.tie) + int((holds.tie_link[:, TIE_KIND] == WELD).sum()))
    longest = _longest_path(tree)
    found = Found(
        _still(n1),
        new_placed(shapes),
        new_placed(shapes),
        np.zeros(count),
        new_box(shapes),
        np.zeros((max(64, min(count * (count + 1) // 2, 64 * count)), 2), dtype=np.int64),
        np.zeros((contacts, CONTACT_COLUMNS)),
        np.zeros((contacts, TOUCH_COLUMNS), dtype=np.int64),
        np.zeros((contacts, 3)),
        np.zeros((contacts, 3), dtype=np.int64),
        moves,
    )
    rows = Rows(
        np.zeros((blocks, BLOCK_COLUMNS)),
        np.zeros((blocks, LINK_COLUMNS), dtype=np.int64),
        np.zeros((blocks * 2 * longest, 3)),
        np.zeros(blocks * 2 * longest, dtype=np.int64),
        np.zeros((nv, 3)),
        np.zeros((3, 12)),
        np.zeros((most, most)),
        np.zeros((3 * blocks, 3)),
        np.zeros((most, most)),
        np.zeros((tied, tied)),
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros((ROW_VECTORS, 3 * blocks)),
        np.zeros(blocks, dtype=np.int64),
        _roots(tree),
        _masses(tree),
        np.zeros(n1, dtype=np.int64),
        np.zeros(n1, dtype=np.int64),
        np.zeros(n1, dtype=np.int64),
        np.zeros(n1, dtype=np.int64),
        np.zeros(COUNTS, dtype=np.int64),
    )
    limit = np.array([1e-4, 0.05, 1e-9 / float(tree.body[1:, MASS].sum()), PLANT_SHARE * size])
    return Touch(shapes, found, rows, holds, np.zeros((n1, 6)), np.zeros((n1, 6)), limit)


def _roots(tree: Tree) -> np.ndarray:
    root = np.zeros(len(tree.parent), dtype=np.int64)
    for row in range(1, len(root)):
        root[row] = root[tree.parent[row]] or row
    return root


def _masses(tree: Tree) -> np.ndarray:
    mass = tree.body[:, MASS].copy()
    mass[0] = 0.0
    for row in range(len(mass) - 1, 0, -1):
        mass[tree.parent[row]] += mass[row]
    return mass


def _still(n1: int) -> np.ndarray:
    where = np.zeros((2, n1, 7))
    where[:, :, 3] = 1.0
    return where


def _longest_path(tree: Tree) -> int:
    """Most degrees of freedom between a body and the world."""
    total = np.zeros(len(tree.parent), dtype=np.int64)
    for row in range(1, len(tree.parent)):
        total[row] = total[tree.parent[row]] + tree.dof[row + 1] - tree.dof[row]
    return max(1, int(total.max()))
