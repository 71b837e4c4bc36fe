"""Tables of a pull, shared by its kernels.

Owns their layout. Must not know how they are used. As in `tree`, names are first columns of a
body's row, or rows of rate vectors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.decorators import table

# Columns of Bench.body
COORDS = np.int64(0)  # 4
ANCHOR = np.int64(4)  # 3: in the parent's frame; of roots in the world [m]
START = np.int64(7)  # 4: the coordinates when the drag began
START_ANCHOR = np.int64(11)  # 3
COMPOSITE = np.int64(14)  # 10
FORCES = np.int64(24)  # 3: sum of what acts on the body and all it carries
REACH = np.int64(27)  # 9: sum of their places times them
BACK = np.int64(36)  # 9: rate of θ for rates of the joint
STILL = np.int64(45)  # 1: not 0 for a joint that does not move
SLACK = np.int64(46)  # 4: how far beyond its limits the joint began; it may stay so
KEPT = np.int64(50)  # 7: coordinates and anchor before a round
BENCH_COLUMNS = np.int64(57)
# Rows of Bench.rate
THETA, LOAD, STEP, CLOSE, LEAST = (np.int64(k) for k in range(5))
BENCH_ROWS = np.int64(5)
# Columns of Bench.row
WANTED = np.int64(0)  # 1: what the row is to become
GIVES = np.int64(1)  # 1: how much it gives way to a force
FORCE = np.int64(2)  # 1: what holds it
ONE_SIDED = np.int64(3)  # 1: not 0 where it may be more
ON = np.int64(4)  # 1: not 0 where it counts
FIRST = np.int64(5)  # 1: what it is to become before anything else moves
FROM, UP_TO = np.int64(6), np.int64(7)  # where in the row its numbers stand
ROW_COLUMNS = np.int64(8)
# Columns of Bench.pin
PIN_BODY = np.int64(0)  # 1
PIN_TURNS = np.int64(1)  # 1: not 0 where the body's turn is held too
PIN_POINT = np.int64(2)  # 3: in the body's frame
PIN_PLACE = np.int64(5)  # 3: where that is in the world
PIN_TURN = np.int64(8)  # 4
PIN_FORCE = np.int64(12)  # 3: what held it in the last round
PIN_COLUMNS = np.int64(15)
# Columns of Bench.lock
LOCK_BODY = np.int64(0)  # 1
LOCK_ABOVE = np.int64(1)  # 3: a way that does not turn with the joint
LOCK_OWN = np.int64(4)  # 3: one that does
LOCK_COSINE = np.int64(7)  # 1: what their product stays
LOCK_COLUMNS = np.int64(8)
# Columns of Bench.spot
SPOT_BODY, SPOT_POINT, SPOT_RADIUS, SPOT_SLACK = np.int64(0), np.int64(1), np.int64(4), np.int64(5)
SPOT_COLUMNS = np.int64(6)
# Bench.number
GRABBED = np.int64(0)  # 1: the pulled body, 0 for none
GRAB_POINT = np.int64(1)  # 3: in its frame
MOUSE = np.int64(4)  # 3
SOFT = np.int64(7)  # 1: GIVES of the pull; below 0: not known yet
FALL = np.int64(8)  # 3: what gravity does in a round; all 0: the start's pose is held
DAMP = np.int64(11)  # 1: how much a round holds back besides, for all to come to rest
FLOOR = np.int64(12)  # 1: height [m], minus infinite for none
PULL_FORCE = np.int64(13)  # 3: what the pull did in the last round
SIZE = np.int64(16)  # 1: how far a round may shift a root [m]
WARY = np.int64(17)  # 1: how much rounds hold back because those before went too far
PENALTY = np.int64(18)  # 1: what a metre or radian that pins and limits are open counts
EVEN = np.int64(19)  # 1: the mean of the metric of turns
NUMBERS = np.int64(20)
# Rows at most: pins, locks, limits and spots on the floor beyond these do not count.
ROWS = 160


@table
class Bench(NamedTuple):
    """A pose being made; n bodies in rows 1 … n, R rows at most."""

    body: np.ndarray  # (n+1, BENCH_COLUMNS)
    rate: np.ndarray  # (BENCH_ROWS, nv)
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


def new_bench(tree, pins: int, spots: np.ndarray, locks: int = 0) -> Bench:
    """Room for a pose of this tree."""
    n1, nv = len(tree.parent), int(tree.dof[-1])
    above, owner = np.full(nv, -1, dtype=np.int64), np.zeros(nv, dtype=np.int64)
    last = np.full(n1, -1, dtype=np.int64)  # the last degree of freedom from the root to a body
    for i in range(1, n1):
        at = last[tree.parent[i]]
        for d in range(tree.dof[i], tree.dof[i + 1]):
            above[d], owner[d], at = at, i, d
        last[i] = at
    return Bench(
        body=np.zeros((n1, BENCH_COLUMNS)),
        rate=np.zeros((BENCH_ROWS, nv)),
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
