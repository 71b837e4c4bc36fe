"""Rows of a pull: pins, mouse, limits and floor, and which of them are active.

Owns the rows of a round of `round` and their active set. Must not know the cost of rotations.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Flag, Index, Table
from ..contact.tie_rows import room_of_ball
from ..math.vectors import add, cross, dot, load3, load4, quat_conj, quat_log, quat_mul, scale, sub, unrotate
from ..model.model import BALL, FREE
from ..tables import holds as H, pose as P, pull as PU
from ..tables.classes import Pose, Pull, Tree
from .metric import on_body, solve_along

# Limits and floor within this distance get rows [rad, m].
NEAR, NEAR_FLOOR = 0.2, 0.1
# Rounds of choosing the active set; and rounds without progress before rows change one by one.
CHOICES, BLOCKS = 200, 4


@kernel
def _new_row(pull, count, wanted, gives, one_sided):
    for d in range(len(pull.above)):
        pull.jacobian[count, d] = 0.0
    pull.row[count, PU.FROM], pull.row[count, PU.UP_TO] = 0.0, float(len(pull.above))
    pull.row[count, PU.WANTED] = pull.row[count, PU.FIRST] = wanted
    pull.row[count, PU.GIVES] = gives
    pull.row[count, PU.ONE_SIDED], pull.row[count, PU.FORCE] = one_sided, 0.0


@kernel
def _point_row(tree, pose, pull, count, i, p, way):
    """The rate of point p of body i along `way`."""
    while i > 0:
        if pull.body[i, PU.STILL] == 0.0:
            for d in range(tree.dof[i], tree.dof[i + 1]):
                v = add(load3(pose.axes, d, P.SHIFTS), cross(load3(pose.axes, d, P.TURNS), p))
                pull.jacobian[count, d] = dot(v, way)
        i = tree.parent[i]


@kernel
def _unit(k):
    return (1.0 if k == 0 else 0.0), (1.0 if k == 1 else 0.0), (1.0 if k == 2 else 0.0)


@kernel
def root_anchor(tree, pull, i):
    while tree.parent[i] > 0:
        i = tree.parent[i]
    return load3(pull.body, i, PU.ANCHOR)


@kernel
def _add_point(tree, pose, pull, count, i, p, off, gives):
    for k in range(3):
        _new_row(pull, count, off[k], gives, 0.0)
        _point_row(tree, pose, pull, count, i, p, _unit(k))
        count += 1
    return count


@separate
def add_pull(tree: Tree, pose: Pose, pull: Pull, count: Index, still: Flag):
    """Three rows of the pull; still: only hold the body in place."""
    i = int(pull.number[PU.GRABBED])
    if i == 0:
        return count
    point = (pull.number[PU.GRAB_POINT], pull.number[PU.GRAB_POINT + 1], pull.number[PU.GRAB_POINT + 2])
    p = on_body(pose, i, point)
    mouse = (pull.number[PU.MOUSE], pull.number[PU.MOUSE + 1], pull.number[PU.MOUSE + 2])
    off = sub(mouse, add(root_anchor(tree, pull, i), p))
    if still:
        off = (0.0, 0.0, 0.0)
    return _add_point(tree, pose, pull, count, i, p, off, max(pull.number[PU.SOFT], 0.0))


@separate
def add_pins(tree: Tree, pose: Pose, pull: Pull, count: Index):
    """Three rows for each pin's position and three for its rotation. Returns the count."""
    for b in range(len(pull.pin)):
        i = int(pull.pin[b, PU.PIN_BODY])
        if count + 6 > len(pull.row):
            break
        p = on_body(pose, i, load3(pull.pin, b, PU.PIN_POINT))
        off = sub(load3(pull.pin, b, PU.PIN_PLACE), add(root_anchor(tree, pull, i), p))
        count = _add_point(tree, pose, pull, count, i, p, off, 0.0)
        if pull.pin[b, PU.PIN_TURNS] != 0.0:
            turn = quat_log(quat_mul(load4(pull.pin, b, PU.PIN_TURN), quat_conj(load4(pose.body, i, P.ROTATION))))
            for k in range(3):
                _new_row(pull, count, turn[k], 0.0, 0.0)
                j = i
                while j > 0:
                    if pull.body[j, PU.STILL] == 0.0:
                        for d in range(tree.dof[j], tree.dof[j + 1]):
                            pull.jacobian[count, d] = pose.axes[d, P.TURNS + k]
                    j = tree.parent[j]
                count += 1
    return count


@kernel
def add_locks(tree, pull, count):
    """A row for each lock: the angle between two directions, one on either side of the joint, is constant. Returns the
    count."""
    for b in range(len(pull.lock)):
        i = int(pull.lock[b, PU.LOCK_BODY])
        if pull.body[i, PU.STILL] != 0.0 or tree.kind[i] < BALL or count >= len(pull.row):
            continue
        own = load3(pull.lock, b, PU.LOCK_OWN)
        above = unrotate(load4(pull.body, i, PU.COORDS), load3(pull.lock, b, PU.LOCK_ABOVE))
        along, d = cross(own, above), tree.dof[i]
        _new_row(pull, count, pull.lock[b, PU.LOCK_COSINE] - dot(own, above), 0.0, 0.0)
        for k in range(3):
            pull.jacobian[count, d + k] = along[k]
        pull.row[count, PU.FROM], pull.row[count, PU.UP_TO] = float(d), float(d + 3)
        count += 1
    return count


@kernel
def _add_limit(pull, count, d, along, width, gap):
    if gap < NEAR and count < len(pull.row):
        _new_row(pull, count, -gap, 0.0, 1.0)
        for k in range(width):
            pull.jacobian[count, d + k] = along[k]
        pull.row[count, PU.FROM], pull.row[count, PU.UP_TO] = float(d), float(d + width)
        count += 1
    return count


@kernel
def room_of(tree, pull, bound, i):
    """The distances of joint i from its limits; infinite without limits."""
    kind = tree.kind[i]
    first = second = third = fourth = math.inf
    if kind == BALL:
        first, _, second, third, _ = room_of_ball(bound, i, load4(pull.body, i, PU.COORDS))
    elif kind != FREE:
        width = tree.dof[i + 1] - tree.dof[i]
        if width > 0:
            first, second = pull.body[i, PU.COORDS] - bound[i, H.LOW], bound[i, H.HIGH] - pull.body[i, PU.COORDS]
        if width > 1:
            third = pull.body[i, PU.COORDS + 1] - bound[i, H.LOW + 2]
            fourth = bound[i, H.HIGH + 2] - pull.body[i, PU.COORDS + 1]
    return first, second, third, fourth


@separate
def add_joint_limits(tree: Tree, pull: Pull, bound: Table, count: Index):
    """A row for each limit within reach."""
    for i in range(1, len(tree.parent)):
        if pull.body[i, PU.STILL] != 0.0:
            continue
        kind, d = tree.kind[i], tree.dof[i]
        room = room_of(tree, pull, bound, i)
        slack = load4(pull.body, i, PU.SLACK)
        if kind == BALL:
            _, along, _, _, turn = room_of_ball(bound, i, load4(pull.body, i, PU.COORDS))
            count = _add_limit(pull, count, d, along, 3, room[0] - slack[0])
            count = _add_limit(pull, count, d, turn, 3, room[1] - slack[1])
            count = _add_limit(pull, count, d, scale(-1.0, turn), 3, room[2] - slack[2])
        elif kind != FREE:
            width = tree.dof[i + 1] - d
            if width > 0:
                count = _add_limit(pull, count, d, (1.0, 0.0, 0.0), 1, room[0] - slack[0])
                count = _add_limit(pull, count, d, (-1.0, 0.0, 0.0), 1, room[1] - slack[1])
            if width > 1:
                count = _add_limit(pull, count, d + 1, (1.0, 0.0, 0.0), 1, room[2] - slack[2])
                count = _add_limit(pull, count, d + 1, (-1.0, 0.0, 0.0), 1, room[3] - slack[3])
    return count


@separate
def add_floor(tree: Tree, pose: Pose, pull: Pull, count: Index):
    """A row for each point near the floor."""
    floor = pull.number[PU.FLOOR]
    if math.isinf(floor):
        return count
    for k in range(len(pull.spot)):
        i = int(pull.spot[k, PU.SPOT_BODY])
        p = on_body(pose, i, load3(pull.spot, k, PU.SPOT_POINT))
        gap = root_anchor(tree, pull, i)[2] + p[2] - pull.spot[k, PU.SPOT_RADIUS] - floor - pull.spot[k, PU.SPOT_SLACK]
        if gap < NEAR_FLOOR and count < len(pull.row):
            _new_row(pull, count, -gap, 0.0, 1.0)
            _point_row(tree, pose, pull, count, i, p, (0.0, 0.0, 1.0))
            count += 1
    return count


@separate
def answer_rows(pull: Pull, count: Index):
    """The response to a unit force on each row, and the rows' matrix; WANTED becomes the right-hand side of the
    forces."""
    nv = len(pull.above)
    for r in range(count):
        for d in range(nv):
            pull.answer[r, d] = pull.jacobian[r, d]
        solve_along(pull, pull.answer[r])
        done = 0.0
        for d in range(nv):
            done += pull.jacobian[r, d] * pull.rate[PU.STEP, d]
        pull.row[r, PU.WANTED] -= done
    for r in range(count):  # the last rows are short ones
        first, end = int(pull.row[r, PU.FROM]), int(pull.row[r, PU.UP_TO])
        for c in range(r + 1):
            total = 0.0
            for d in range(first, end):
                total += pull.jacobian[r, d] * pull.answer[c, d]
            pull.matrix[r, c] = pull.matrix[c, r] = total


@separate
def choose_rows(pull: Pull, count: Index):
    """FORCE of every row: equality rows are active, inequality rows only push.

    Block pivoting of Júdice and Pires: all wrong rows change sides at once as long as their number falls; otherwise
    only the last one does for a while (Murty), which always terminates.
    """
    row = pull.row
    for r in range(count):
        row[r, PU.ON] = 1.0 if row[r, PU.ONE_SIDED] == 0.0 or row[r, PU.WANTED] > 0.0 else 0.0
    fewest, patience = count + 1, BLOCKS
    for _ in range(CHOICES):
        _hold_chosen(pull, count)
        wrong, last = 0, -1
        for r in range(count):
            if _is_wrong(pull, count, r):
                wrong, last = wrong + 1, r
        if wrong == 0:
            break
        if wrong < fewest:
            fewest, patience = wrong, BLOCKS
        else:
            patience -= 1
        for r in range(count if patience > 0 else 0):
            if pull.solved[r] != 0.0:
                row[r, PU.ON] = 1.0 - row[r, PU.ON]
        if patience <= 0:
            row[last, PU.ON] = 1.0 - row[last, PU.ON]
    for r in range(count):
        if row[r, PU.ONE_SIDED] != 0.0:
            row[r, PU.FORCE] = max(row[r, PU.FORCE], 0.0)


@kernel
def _is_wrong(pull, count, r):
    """True if a row pulls, or is below its limit, by `solved`."""
    row = pull.row
    wrong = False
    if row[r, PU.ONE_SIDED] != 0.0:
        if row[r, PU.ON] != 0.0:
            wrong = row[r, PU.FORCE] < 0.0
        else:
            done = 0.0
            for c in range(count):
                done += pull.matrix[r, c] * row[c, PU.FORCE]
            wrong = row[r, PU.WANTED] - done > 1e-9
    pull.solved[r] = 1.0 if wrong else 0.0
    return wrong


@kernel
def _hold_chosen(pull, count):
    """FORCE of the active rows, as equalities; 0 for the others."""
    row, small, chosen, x = pull.row, pull.small, pull.chosen, pull.solved
    m = 0
    for r in range(count):
        row[r, PU.FORCE] = 0.0
        if row[r, PU.ON] != 0.0:
            chosen[m] = r
            m += 1
    for a in range(m):
        r = chosen[a]
        x[a] = row[r, PU.WANTED]
        for b in range(a + 1):
            small[a, b] = pull.matrix[r, chosen[b]]
        # redundant rows (two pins on one body) share the force
        small[a, a] += row[r, PU.GIVES] + 1e-9 * pull.matrix[r, r] + 1e-14
    for a in range(m):
        least = 1e-12 * small[a, a]
        for b in range(a + 1):
            total = small[a, b]
            for c in range(b):
                total -= small[a, c] * small[b, c]
            if a == b:
                small[a, a] = math.sqrt(max(total, least))
            else:
                small[a, b] = total / small[b, b]
    for a in range(m):
        for b in range(a):
            x[a] -= small[a, b] * x[b]
        x[a] /= small[a, a]
    for a in range(m - 1, -1, -1):
        for b in range(a + 1, m):
            x[a] -= small[b, a] * x[b]
        x[a] /= small[a, a]
    for a in range(m):
        row[chosen[a], PU.FORCE] = x[a]
