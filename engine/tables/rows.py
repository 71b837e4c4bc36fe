"""Contacts, ties and joint limits as rows of one solve.

Owns the layout of `Rows`. Must not know how rows are found or solved.

A *block* is up to three rows of one contact, tie or limit. A row is a unit force (or
couple) on one body and its reaction on another, each about its own tree's root anchor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import table

# Kinds of blocks.
CONTACT, LIMIT, TIE = (np.int64(k) for k in range(3))

# Columns of Rows.block
columns = Columns()
ON_A = columns(18)  # three wrenches on body a, angular then linear
ON_B = columns(18)  # their reactions on body b
OWN = columns(9)  # three rows of coefficients on the first three rates of body a's joint
ERROR_NOW = columns(3)  # gap or tie's error at the step's start [m, rad]
SPEED_NOW = columns(3)  # the rows' rates at the step's start
IMPULSE = columns(3)  # impulses of the rows over the step [N s, N m s]
SHIFT = columns(3)  # their displacements, times mass
GRIP = columns()  # friction
REBOUND = columns()  # bounce
TOTAL = columns(3)  # impulse of the whole step, all stages
ALLOWED = columns(3)  # the rows' rates in the reference motion, as far as they are allowed
BEARS = columns()  # weight that the contact bears in the reference motion, outside the solve [N]
TURNED = columns()  # for limp bodies: change of the initial rates by rotating to the middle pose
PARTING = columns()  # separating speed of limp bodies at the step's start
BEND = columns(3)  # contribution of the bodies' rotation to a tie's rates in half a step
CLOSING = columns(3)  # impulse that closes or stops a tie, outside the solve
GIVEN_UP = columns()  # share of a contact that is given up, because keys force it (see `unmet_contacts`)
STUCK = columns()  # not 0 if depth is not corrected, because one of its trees is forced into something
BLOCK_COLUMNS = columns.count

# Columns of Rows.link; TURNING: the block of a weld that keeps its rotation (1), a foothold BESIDE a contact, the pull
# on a foot in the air (LEADS), the support of a sole below its ankle (HEEL); SIDE: which end of which of a joint's
# ranges a limit is
columns = Columns()
BODY_A, BODY_B, WHAT, SOURCE, POOL_FROM, POOL_TO, BRACED, ROWS, TURNING, SIDE = columns.ones(10)
LINK_COLUMNS = columns.count

# Column of Rows.pool behind the three rows: the pivot of the entry's degree of freedom, as `factor` has it
PIVOT = np.int64(3)

BESIDE, LEADS, HEEL = (np.int64(k) for k in range(1, 4))

# Rows of Rows.row, vectors over the rows of an island
columns = Columns()
FREE_RATE, FORCE, STEP, RADIUS, MORE, MOST = columns.ones(6)
ALONG_X, ALONG_Y, ADDED, KEPT_FORCE, KEPT_RATE, KEPT_RADIUS = columns.ones(6)
ROW_VECTORS = columns.count

# Entries of Rows.count; TIED: rows of ties that were solved; FILLED: 1 + the start of the island that `matrix` belongs
# to; STAYS: not 0 if the next step may shift no positions; FACTORED: number of rows of `matrix` that are eliminated in
# `upper`
columns = Columns()
PAIRS, CONTACTS, BLOCKS, POOL, OLD, WINDY, TIED, FILLED, STAYS, FACTORED = columns.ones(10)
COUNTS = columns.count


@table
class Rows(NamedTuple):
    """Blocks of rows and their solve, island by island."""

    block: np.ndarray  # (blocks, BLOCK_COLUMNS)
    link: np.ndarray  # (blocks, LINK_COLUMNS)
    pool: np.ndarray  # (entries, 4) rows of L⁻¹Jᵀ, sparse, and PIVOT
    pool_dof: np.ndarray  # (entries,) their degrees of freedom; unsigned, so that no index is checked for its sign
    spread: np.ndarray  # (3, nv) scratch
    carry: np.ndarray  # (3, 12) scratch
    matrix: np.ndarray  # (rows, rows) of one island
    own: np.ndarray  # (3 · blocks, 3) each block's part of the matrix, for islands without a matrix (`ragdoll_sweeps`)
    upper: np.ndarray  # (rows, rows) scratch of the polish
    tied: np.ndarray  # (tie rows, tie rows) the ties' part of every island's matrix, eliminated
    pick: np.ndarray  # (rows,) rows of the polish
    picked: np.ndarray  # (rows,) those eliminated in `upper`
    row: np.ndarray  # (ROW_VECTORS, 3 · blocks)
    order: np.ndarray  # (blocks,) blocks island by island
    root: np.ndarray  # (n+1,) the root of each body's tree
    mass: np.ndarray  # (n+1,) of each body and its descendants [kg]; of all trees for the world
    ragdoll: np.ndarray  # (n+1,) of a tree's root: its role for ragdolls (see `ragdoll`)
    led: np.ndarray  # (n+1,) of a tree's root: not 0 if keys or the world prescribe the tree
    island: np.ndarray  # (n+1,) of a tree's root: another root of its island, itself for the head
    tally: np.ndarray  # (n+1,) of an island's head: the end of its blocks in `order`
    count: np.ndarray  # (COUNTS,)
