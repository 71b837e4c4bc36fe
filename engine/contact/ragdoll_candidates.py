"""Active set of a ragdoll's rows: which blocks of an island are solved at all.

Owns the choice of those blocks and the check of all others. Must not know how rows are solved, nor what they mean.

A body with fingers that lands has about a hundred blocks, of which sixteen press. The others are joints near their
limits and fingers near one another. A block's path to its root and its part in every sweep cost far more than its
rate. So at first only blocks are solved that press already or would be violated. The others' rates are then computed
from the bodies' velocities. Violated blocks are added, and the solve continues from the impulses it had (warm start).
"""

from __future__ import annotations

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Index, Real
from ..dynamics.articulated import solve_outwards
from ..dynamics.kinematics import velocities
from ..tables import rows as R, work as W
from ..tables.classes import Factor, Pose, Rows, Tree, Work
from .joint_space import lay_paths, row_rate
from .ragdoll_sweeps import ANSWER, ROUGH, forget_answer, solve_ragdolls

# An island with at most this many blocks is solved with all of them.
FEW = 12
# Rounds in which violated blocks are added. After them all blocks are.
ROUNDS = 4


@separate
def solve_candidates(
    tree: Tree,
    pose: Pose,
    factor: Factor,
    rows: Rows,
    work: Work,
    first: Index,
    last: Index,
    least: Real,
    lasts: Real,
    close: Real,
    sweeps: Index,
):
    """FORCE from FREE_RATE of the island order[first:last], starting from FORCE. FREE_RATE becomes the residual rates;
    of blocks that are not solved only the first row's. Reorders the island's blocks: solved ones first.

    `least`, `lasts`, `close`, `sweeps` as in `solve_ragdolls`. Returns the largest number of sweeps of a round.

    Reads: F.COLUMN, F.LOWER, F.MOVES, F.PIVOT, F.active, P.ROTATION, P.TURNS, P.axes, R.BODY_A, R.BODY_B, R.FORCE,
        R.FREE_RATE, R.KEPT_RATE, R.ON_A, R.ON_B, R.OWN, R.order, R.row, R.spread, W.ANSWER, W.LOAD, W.STILL
    Writes: F.MOVES, R.FREE_RATE, R.KEPT_RATE, R.order, R.row, R.spread, W.ANSWER, W.LOAD
    """
    rate, asked = rows.row[R.FREE_RATE], rows.row[R.KEPT_RATE]
    scale, slack = 0.0, close
    for r in range(3 * (last - first)):
        asked[r] = rate[r]
        scale = max(scale, abs(rate[r]))
    end, taken = first, 0
    for turn in range(ROUNDS + 1):
        everyone = turn == ROUNDS or last - first <= FEW
        begin = end
        for x in range(begin, last):
            r = 3 * (x - first)
            if everyone or rate[r] < -slack or rows.row[R.FORCE, r] > 0.0:
                _swap(rows, first, x, end)
                end += 1
        if end == begin:
            break
        lay_paths(tree, pose, factor, rows, begin, end)
        for r in range(3 * (end - first)):
            rate[r] = asked[r]
        taken = max(taken, solve_ragdolls(rows, first, end, least, lasts, close, sweeps))
        if end == last:
            break
        _see_others(tree, pose, factor, rows, work, first, end, last)
        slack = max(close, ROUGH * scale)
    forget_answer(rows)
    return taken


@kernel
def _swap(rows, first, x, y):
    """Swap two blocks of an island, with their rates and forces."""
    if x == y:
        return
    rows.order[x], rows.order[y] = rows.order[y], rows.order[x]
    for k in range(3):
        i, j = 3 * (x - first) + k, 3 * (y - first) + k
        for row in (R.FREE_RATE, R.FORCE, R.KEPT_RATE):
            rows.row[row, i], rows.row[row, j] = rows.row[row, j], rows.row[row, i]


@kernel
def _see_others(tree, pose, factor, rows, work, first, end, last):
    """FREE_RATE of the first rows of the unsolved blocks order[end:last], with the FORCE of order[first:end], which was
    just solved."""
    x = work.rate[W.ANSWER]
    for d in range(len(x)):
        x[d] = rows.spread[ANSWER, d]
    solve_outwards(tree, pose, factor, x)
    velocities(tree, pose, x, work.body, W.STILL, work.body, W.LOAD)
    for k in range(end, last):
        b, r = rows.order[k], 3 * (k - first)
        rows.row[R.FREE_RATE, r] = rows.row[R.KEPT_RATE, r] + row_rate(
            tree.dof, rows.block, rows.link, b, 0, work.body, W.LOAD, x
        )
