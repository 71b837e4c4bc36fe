"""A pose that is pulled.

Owns the layout of `Pull`, which the kernels of `posing` share. Must not know how it is used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.columns import Columns
from ..compile.decorators import table

# Columns of Pull.body
columns = Columns()
COORDS = columns(4)
ANCHOR = columns(3)  # in the parent's frame; of roots in the world [m]
START = columns(4)  # the coordinates when the drag began
START_ANCHOR = columns(3)
COMPOSITE = columns(10)
FORCES = columns(3)  # sum of the forces on the body and its descendants
REACH = columns(9)  # sum of the products of points and forces
BACK = columns(9)  # rate of θ for rates of the joint
STILL = columns()  # not 0 for a fixed joint
SLACK = columns(4)  # how far the joint was beyond its limits at the start, which is allowed
KEPT = columns(7)  # coordinates and anchor before a round
COLUMNS = columns.count

# Rows of Pull.rate
columns = Columns()
THETA, LOAD, STEP, CLOSE, LEAST = columns.ones(5)
RATES = columns.count

# Columns of Pull.row
columns = Columns()
WANTED = columns()  # right-hand side of the row
GIVES = columns()  # its compliance
FORCE = columns()  # its multiplier
ONE_SIDED = columns()  # not 0 for an inequality
ON = columns()  # not 0 if active
FIRST = columns()  # right-hand side before anything else moves
FROM, UP_TO = columns.ones(2)  # range of its non-zero columns
ROW_COLUMNS = columns.count

# Columns of Pull.pin
columns = Columns()
PIN_BODY = columns()
PIN_TURNS = columns()  # not 0 if the body's rotation is held too
PIN_POINT = columns(3)  # in the body's frame
PIN_PLACE = columns(3)  # its position in the world
PIN_TURN = columns(4)
PIN_FORCE = columns(3)  # its force in the last round
PIN_COLUMNS = columns.count

# Columns of Pull.lock
columns = Columns()
LOCK_BODY = columns()
LOCK_ABOVE = columns(3)  # a direction fixed to the parent
LOCK_OWN = columns(3)  # one fixed to the body
LOCK_COSINE = columns()  # the constant dot product of the two
LOCK_COLUMNS = columns.count

# Columns of Pull.spot
columns = Columns()
SPOT_BODY = columns()
SPOT_POINT = columns(3)
SPOT_RADIUS = columns()
SPOT_SLACK = columns()
SPOT_COLUMNS = columns.count

# Entries of Pull.number
columns = Columns()
GRABBED = columns()  # index of the pulled body, 0 for none
GRAB_POINT = columns(3)  # in its frame
MOUSE = columns(3)
SOFT = columns()  # GIVES of the pull; below 0: not known yet
FALL = columns(3)  # gravity's displacement in a round; all 0: the start's pose is kept
DAMP = columns()  # additional resistance of a round, which makes everything come to rest
FLOOR = columns()  # height [m], minus infinity for none
PULL_FORCE = columns(3)  # force of the pull in the last round
SIZE = columns()  # scale of a root's translation in a round [m]
WARY = columns()  # resistance after rounds that went too far
PENALTY = columns()  # cost of a metre or radian of open pins and limits
EVEN = columns()  # the mean of the metric over rotations
NUMBERS = columns.count

# Maximum rows: further pins, locks, limits and points on the floor are ignored.
ROWS = 160


@table
class Pull(NamedTuple):
    """A pose that is pulled; n bodies in rows 1 … n, R rows at most."""

    body: np.ndarray  # (n+1, COLUMNS)
    rate: np.ndarray  # (RATES, nv)
    above: np.ndarray  # (nv,) the next degree of freedom toward the root, −1 for none
    owner: np.ndarray  # (nv,) its body's row
    metric: np.ndarray  # (nv, nv) K at the start of the drag, or now if weights act; pairs along the tree only
    factor: np.ndarray  # (nv, nv)
    row: np.ndarray  # (R, ROW_COLUMNS)
    jacobian: np.ndarray  # (R, nv)
    answer: np.ndarray  # (R, nv) response to a unit force on each row
    matrix: np.ndarray  # (R, R)
    small: np.ndarray  # (R, R) scratch
    solved: np.ndarray  # (R,) scratch
    chosen: np.ndarray  # (R,) the active rows
    pin: np.ndarray  # (p, PIN_COLUMNS)
    lock: np.ndarray  # (l, LOCK_COLUMNS)
    spot: np.ndarray  # (k, SPOT_COLUMNS) points that may touch the floor
    number: np.ndarray  # (NUMBERS,)


def new_pull(tree, pins: int, spots: np.ndarray, locks: int = 0) -> Pull:
    """Allocate the table for a pose of this tree."""
    n1, nv = len(tree.parent), int(tree.dof[-1])
    above, owner = np.full(nv, -1, dtype=np.int64), np.zeros(nv, dtype=np.int64)
    last = np.full(n1, -1, dtype=np.int64)  # the last degree of freedom from the root to a body
    for i in range(1, n1):
        at = last[tree.parent[i]]
        for d in range(tree.dof[i], tree.dof[i + 1]):
            above[d], owner[d], at = at, i, d
        last[i] = at
    return Pull(
        body=np.zeros((n1, COLUMNS)),
        rate=np.zeros((RATES, nv)),
        above=above,
        owner=owner,
        metric=np.zeros((nv, nv)),
        factor=np.zeros((nv, nv)),
        row=np.zeros((ROWS, ROW_COLUMNS)),
        jacobian=np.zeros((ROWS, nv)),
        answer=np.zeros((ROWS, nv)),
        matrix=np.zeros((ROWS, ROWS)),
        small=np.zeros((ROWS, ROWS)),
        solved=np.zeros(ROWS),
        chosen=np.zeros(ROWS, dtype=np.int64),
        pin=np.zeros((pins, PIN_COLUMNS)),
        lock=np.zeros((locks, LOCK_COLUMNS)),
        spot=spots,
        number=np.zeros(NUMBERS),
    )
