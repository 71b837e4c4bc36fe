"""A pose being made by pulling.

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
FORCES = columns(3)  # sum of what acts on the body and all it carries
REACH = columns(9)  # sum of their places times them
BACK = columns(9)  # rate of θ for rates of the joint
STILL = columns()  # not 0 for a joint that does not move
SLACK = columns(4)  # how far beyond its limits the joint began; it may stay so
KEPT = columns(7)  # coordinates and anchor before a round
COLUMNS = columns.count

# Rows of Pull.rate
columns = Columns()
THETA, LOAD, STEP, CLOSE, LEAST = columns.ones(5)
RATES = columns.count

# Columns of Pull.row
columns = Columns()
WANTED = columns()  # what the row is to become
GIVES = columns()  # how much it gives way to a force
FORCE = columns()  # what holds it
ONE_SIDED = columns()  # not 0 where it may be more
ON = columns()  # not 0 where it counts
FIRST = columns()  # what it is to become before anything else moves
FROM, UP_TO = columns.ones(2)  # where in the row its numbers stand
ROW_COLUMNS = columns.count

# Columns of Pull.pin
columns = Columns()
PIN_BODY = columns()
PIN_TURNS = columns()  # not 0 where the body's turn is held too
PIN_POINT = columns(3)  # in the body's frame
PIN_PLACE = columns(3)  # where that is in the world
PIN_TURN = columns(4)
PIN_FORCE = columns(3)  # what held it in the last round
PIN_COLUMNS = columns.count

# Columns of Pull.lock
columns = Columns()
LOCK_BODY = columns()
LOCK_ABOVE = columns(3)  # a way that does not turn with the joint
LOCK_OWN = columns(3)  # one that does
LOCK_COSINE = columns()  # what their product stays
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
GRABBED = columns()  # the pulled body, 0 for none
GRAB_POINT = columns(3)  # in its frame
MOUSE = columns(3)
SOFT = columns()  # GIVES of the pull; below 0: not known yet
FALL = columns(3)  # what gravity does in a round; all 0: the start's pose is held
DAMP = columns()  # how much a round holds back besides, for all to come to rest
FLOOR = columns()  # height [m], minus infinite for none
PULL_FORCE = columns(3)  # what the pull did in the last round
SIZE = columns()  # how far a round may shift a root [m]
WARY = columns()  # how much rounds hold back because those before went too far
PENALTY = columns()  # what a metre or radian that pins and limits are open counts
EVEN = columns()  # the mean of the metric of turns
NUMBERS = columns.count

# Rows at most: pins, locks, limits and spots on the floor beyond these do not count.
ROWS = 160


@table
class Pull(NamedTuple):
    """A pose being made; n bodies in rows 1 … n, R rows at most."""

    body: np.ndarray  # (n+1, COLUMNS)
    rate: np.ndarray  # (RATES, nv)
    above: np.ndarray  # (nv,) the next degree of freedom toward the root, −1 for none
    owner: np.ndarray  # (nv,) whose it is
    metric: np.ndarray  # (nv, nv) K where the drag began, or of now where weights act; pairs along the tree only
    factor: np.ndarray  # (nv, nv)
    row: np.ndarray  # (R, ROW_COLUMNS)
    jacobian: np.ndarray  # (R, nv)
    answer: np.ndarray  # (R, nv) what a unit of force on each row does
    matrix: np.ndarray  # (R, R)
    small: np.ndarray  # (R, R) scratch
    solved: np.ndarray  # (R,) scratch
    chosen: np.ndarray  # (R,) the rows that hold
    pin: np.ndarray  # (p, PIN_COLUMNS)
    lock: np.ndarray  # (l, LOCK_COLUMNS)
    spot: np.ndarray  # (k, SPOT_COLUMNS) what may touch the floor
    number: np.ndarray  # (NUMBERS,)


def new_pull(tree, pins: int, spots: np.ndarray, locks: int = 0) -> Pull:
    """Room for a pose of this tree."""
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
