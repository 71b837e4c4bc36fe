"""Kernels of posing by dragging: one round of the solve that brings a pulled body to the mouse (S1-VII).

Owns the metric of a pose, the rows of pins, pull, limits and floor, and their solution.
Must not know who pulls, nor when to stop.

A pose has no speed here. A round finds the turns x of all joints with the least

    ½ (θ + x)ᵀ K (θ + x) + what the mouse's spring and the weights do in second order

such that pins stay closed and joints within their limits. θ leads from the pose at the
start to that of now, so the pose follows from where the mouse is and not from its way
there. K = M + D weighs turns by the masses they move: M as a free body would feel them,
D (the joints' own blocks of M) as joints that do not turn back when their end is pulled.
With weights nothing holds the start's pose: θ = 0, and a round sinks by a small way.

What forces do in second order (their geometric stiffness) makes the arm that cannot reach
come to rest on the line to the mouse instead of swinging about it. All pairs of joints that
count are a joint and one above it, so the factor is sparse as the tree is (Featherstone's
LᵀL): linear in bodies.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .aim import advance, difference, joint_rates, store_rates
from .articulated import composite_form, composite_inertia
from .holds import room_of_ball
from .jit import entry, kernel, part, table
from .kinematics import forward
from .model import BALL, FREE
from .spatial import (
    add,
    axpy,
    cross,
    dot,
    load3,
    load4,
    quat_conj,
    quat_log,
    quat_mul,
    right_jacobian_inverse,
    rotate,
    scale,
    store3,
    store4,
    sub,
)
from .touch import HIGH, LOW
from .tree import COM, MASS, PLACE, ROTATION, SHIFTS, TURNS

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

# D's share in the metric.
OWN_SHARE = 1.0
# How far the mouse's spring gives, in parts of how far the pulled body does.
SOFTNESS = 1e-4
# The largest turn in a round [rad].
FAR = 0.4
# WARY at first, what it grows and shrinks by, and where it is nothing or too much.
WARY_FIRST, WARIER, BOLDER, BOLD, TOO_WARY = 1e-2, 4.0, 0.4, 1e-4, 1e9
# Limits and floor within this are looked at [rad, m].
NEAR, NEAR_FLOOR = 0.2, 0.1
# Rows at most: pins, limits and spots on the floor beyond these do not count.
ROWS = 160
# Rounds of choosing which limits hold, and of those that bring nothing before rows change sides one by one.
CHOICES, BLOCKS = 200, 4
# A pivot below this share of the metric's own is none.
SOUND = 1e-6


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
    spot: np.ndarray  # (k, SPOT_COLUMNS) what may touch the floor
    number: np.ndarray  # (NUMBERS,)


def new_bench(tree, pins: int, spots: np.ndarray) -> Bench:
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
        spot=spots,
        number=np.zeros(NUMBERS),
    )


@kernel
def _weighted(bench):
    """Whether weights act instead of the hold on the start's pose."""
    return bench.number[FALL] != 0.0 or bench.number[FALL + 1] != 0.0 or bench.number[FALL + 2] != 0.0


@part
def measure(tree, pose, bench):
    """The metric K at the pose."""
    composite_inertia(tree, pose, bench.body, COMPOSITE)
    for d in range(len(bench.above)):
        i = bench.owner[d]
        still = bench.body[i, STILL] != 0.0
        e = d
        while e >= 0:
            j = bench.owner[e]
            value = composite_form(bench.body, COMPOSITE, i, pose.axes, d, e)
            if j == i:
                value *= 1.0 + OWN_SHARE
            if e != d and (still or bench.body[j, STILL] != 0.0):
                value = 0.0
            bench.metric[d, e] = bench.metric[e, d] = value
            e = bench.above[e]
    total, count = 0.0, 1e-12
    for i in range(1, len(tree.parent)):
        if bench.body[i, STILL] == 0.0:
            for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
                total, count = total + bench.metric[d, d], count + 1.0
    bench.number[EVEN] = total / count


@part
def look_back(tree, bench):
    """THETA and BACK: what leads from the start's pose to this one; LOAD: what draws back to it."""
    theta, load = bench.rate[THETA], bench.rate[LOAD]
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        way = difference(kind, load4(bench.body, i, START), load4(bench.body, i, COORDS))
        store_rates(kind, bench.rate, THETA, d, way)
        if kind == FREE:
            for k in range(3):
                theta[d + 3 + k] = bench.body[i, ANCHOR + k] - bench.body[i, START_ANCHOR + k]
        if kind >= BALL:
            x = right_jacobian_inverse(way, (1.0, 0.0, 0.0))
            y = right_jacobian_inverse(way, (0.0, 1.0, 0.0))
            z = right_jacobian_inverse(way, (0.0, 0.0, 1.0))
            for k in range(3):
                bench.body[i, BACK + 3 * k] = x[k]
                bench.body[i, BACK + 3 * k + 1] = y[k]
                bench.body[i, BACK + 3 * k + 2] = z[k]
    for d in range(len(theta)):
        load[d] = 0.0
    for d in range(len(theta)):
        load[d] -= bench.metric[d, d] * theta[d]
        e = bench.above[d]
        while e >= 0:
            load[d] -= bench.metric[d, e] * theta[e]
            load[e] -= bench.metric[d, e] * theta[d]
            e = bench.above[e]
    for i in range(1, len(tree.parent)):
        if tree.kind[i] >= BALL:
            d = tree.dof[i]
            f = (load[d], load[d + 1], load[d + 2])
            for k in range(3):
                load[d + k] = (
                    bench.body[i, BACK + k] * f[0] + bench.body[i, BACK + 3 + k] * f[1]
                    + bench.body[i, BACK + 6 + k] * f[2]
                )  # fmt: skip


@kernel
def _back(bench, kind, i, a, d):
    """∂θ_a/∂q_d within joint i."""
    if kind >= BALL and a < 3 and d < 3:
        return bench.body[i, BACK + 3 * a + d]
    return 1.0 if a == d else 0.0


@kernel
def _add_force(bench, i, p, f):
    """A force f on body i at p from the tree's root anchor."""
    for k in range(3):
        bench.body[i, FORCES + k] += f[k]
        for m in range(3):
            bench.body[i, REACH + 3 * k + m] += p[k] * f[m]


@kernel
def _on_body(pose, i, point):
    """A point of body i from its tree's root anchor."""
    return add(load3(pose.body, i, PLACE), rotate(load4(pose.body, i, ROTATION), point))


@part
def gather_forces(tree, pose, bench, holding):
    """FORCES and REACH: what weights do, and where `holding` pull and pins; each body with all it carries."""
    n1 = len(tree.parent)
    for i in range(n1):
        for k in range(12):
            bench.body[i, FORCES + k] = 0.0
    i = int(bench.number[GRABBED])
    if holding and i > 0:
        grip = (bench.number[GRAB_POINT], bench.number[GRAB_POINT + 1], bench.number[GRAB_POINT + 2])
        point = _on_body(pose, i, grip)
        force = (bench.number[PULL_FORCE], bench.number[PULL_FORCE + 1], bench.number[PULL_FORCE + 2])
        _add_force(bench, i, point, force)
    for b in range(len(bench.pin) if holding else 0):
        i = int(bench.pin[b, PIN_BODY])
        _add_force(bench, i, _on_body(pose, i, load3(bench.pin, b, PIN_POINT)), load3(bench.pin, b, PIN_FORCE))
    if _weighted(bench):
        fall = (bench.number[FALL], bench.number[FALL + 1], bench.number[FALL + 2])
        for i in range(1, n1):
            _add_force(bench, i, load3(pose.body, i, COM), scale(tree.body[i, MASS], fall))
    for i in range(n1 - 1, 0, -1):
        for k in range(12):
            bench.body[tree.parent[i], FORCES + k] += bench.body[i, FORCES + k]
    for k in range(12):
        bench.body[0, FORCES + k] = 0.0


@part
def feel_weights(tree, pose, bench):
    """LOAD: what weights do on each joint, from FORCES and REACH while nothing else is in them."""
    load = bench.rate[LOAD]
    for i in range(1, len(tree.parent)):
        couple = (
            bench.body[i, REACH + 5] - bench.body[i, REACH + 7],
            bench.body[i, REACH + 6] - bench.body[i, REACH + 2],
            bench.body[i, REACH + 1] - bench.body[i, REACH + 3],
        )
        force = load3(bench.body, i, FORCES)
        for d in range(tree.dof[i], tree.dof[i + 1]):
            load[d] = dot(load3(pose.axes, d, TURNS), couple) + dot(load3(pose.axes, d, SHIFTS), force)


@kernel
def _tension(pose, bench, i, s, t):
    """−∂²(forces · places) for a unit turn t of joint i and s of one above it."""
    a = load3(pose.body, i, PLACE)
    along = across = 0.0
    for k in range(3):
        for m in range(3):
            entry_ = bench.body[i, REACH + 3 * k + m] - a[k] * bench.body[i, FORCES + m]
            across += s[k] * entry_ * t[m]
            if k == m:
                along += entry_
    return along * dot(s, t) - across


@part
def assemble(tree, pose, bench, held, share):
    """The matrix of a round; `held`: the start's pose is; with a share of what forces do in second order."""
    more = 1.0 + bench.number[DAMP]
    wary = bench.number[WARY]
    for i in range(1, len(tree.parent)):
        first, end = tree.dof[i], tree.dof[i + 1]
        j = i
        while j > 0:
            above, stop = tree.dof[j], tree.dof[j + 1]
            for d in range(first, end):
                for e in range(above, min(stop, d + 1)):
                    value = bench.metric[d, e]
                    if held:
                        value = _seen(tree, bench, i, j, d - first, e - above)
                    value *= more
                    if d == e:
                        bench.rate[LEAST, d] = SOUND * value
                        # all turns alike: what is light does not take all of a far way
                        value += wary * (bench.number[EVEN] if d - first < 3 else bench.metric[d, d])
                    if share > 0.0 and bench.body[i, STILL] == 0.0 and bench.body[j, STILL] == 0.0:
                        s, t = load3(pose.axes, e, TURNS), load3(pose.axes, d, TURNS)
                        if i == j:
                            value += 0.5 * share * (_tension(pose, bench, i, s, t) + _tension(pose, bench, i, t, s))
                        else:
                            value += share * _tension(pose, bench, i, s, t)
                    bench.factor[d, e] = value
            j = tree.parent[j]


@kernel
def _seen(tree, bench, i, j, d, e):
    """BACKᵀ K BACK for the d-th and e-th degree of freedom of joints i and j."""
    total = 0.0
    first, above = tree.dof[i], tree.dof[j]
    for a in range(tree.dof[i + 1] - first):
        x = _back(bench, tree.kind[i], i, a, d)
        if x == 0.0:
            continue
        for b in range(tree.dof[j + 1] - above):
            total += x * bench.metric[first + a, above + b] * _back(bench, tree.kind[j], j, b, e)
    return total


@part
def factor_along(bench):
    """LᵀL of the matrix, in its place. Returns whether there is one that can be used."""
    factor, above = bench.factor, bench.above
    for k in range(len(above) - 1, -1, -1):
        if factor[k, k] < bench.rate[LEAST, k]:
            return False
        pivot = math.sqrt(factor[k, k])
        factor[k, k] = pivot
        i = above[k]
        while i >= 0:
            factor[k, i] /= pivot
            i = above[i]
        i = above[k]
        while i >= 0:
            j = i
            while j >= 0:
                factor[i, j] -= factor[k, i] * factor[k, j]
                j = above[j]
            i = above[i]
    return True


@kernel
def _solve_along(bench, x):
    """x becomes the factored matrix's answer to it."""
    factor, above = bench.factor, bench.above
    for i in range(len(above) - 1, -1, -1):
        if x[i] != 0.0:
            x[i] /= factor[i, i]
            j = above[i]
            while j >= 0:
                x[j] -= factor[i, j] * x[i]
                j = above[j]
    for i in range(len(above)):
        j = above[i]
        total = x[i]
        while j >= 0:
            total -= factor[i, j] * x[j]
            j = above[j]
        x[i] = total / factor[i, i]


# --- rows ------------------------------------------------------------------------------


@kernel
def _new_row(bench, count, wanted, gives, one_sided):
    for d in range(len(bench.above)):
        bench.jacobian[count, d] = 0.0
    bench.row[count, FROM], bench.row[count, UP_TO] = 0.0, float(len(bench.above))
    bench.row[count, WANTED] = bench.row[count, FIRST] = wanted
    bench.row[count, GIVES] = gives
    bench.row[count, ONE_SIDED], bench.row[count, FORCE] = one_sided, 0.0


@kernel
def _point_row(tree, pose, bench, count, i, p, way):
    """How fast the point p of body i goes along `way`."""
    while i > 0:
        if bench.body[i, STILL] == 0.0:
            for d in range(tree.dof[i], tree.dof[i + 1]):
                v = add(load3(pose.axes, d, SHIFTS), cross(load3(pose.axes, d, TURNS), p))
                bench.jacobian[count, d] = dot(v, way)
        i = tree.parent[i]


@kernel
def _unit(k):
    return (1.0 if k == 0 else 0.0), (1.0 if k == 1 else 0.0), (1.0 if k == 2 else 0.0)


@kernel
def _root_anchor(tree, bench, i):
    while tree.parent[i] > 0:
        i = tree.parent[i]
    return load3(bench.body, i, ANCHOR)


@kernel
def _add_point(tree, pose, bench, count, i, p, off, gives):
    for k in range(3):
        _new_row(bench, count, off[k], gives, 0.0)
        _point_row(tree, pose, bench, count, i, p, _unit(k))
        count += 1
    return count


@part
def add_pull(tree, pose, bench, count, still):
    """Three rows of the pull; `still`: it only holds the body where it is."""
    i = int(bench.number[GRABBED])
    if i == 0:
        return count
    point = (bench.number[GRAB_POINT], bench.number[GRAB_POINT + 1], bench.number[GRAB_POINT + 2])
    p = _on_body(pose, i, point)
    mouse = (bench.number[MOUSE], bench.number[MOUSE + 1], bench.number[MOUSE + 2])
    off = sub(mouse, add(_root_anchor(tree, bench, i), p))
    if still:
        off = (0.0, 0.0, 0.0)
    return _add_point(tree, pose, bench, count, i, p, off, max(bench.number[SOFT], 0.0))


@part
def add_pins(tree, pose, bench, count):
    """Three rows for each pin's place and three for its turn. Returns the count."""
    for b in range(len(bench.pin)):
        i = int(bench.pin[b, PIN_BODY])
        if count + 6 > len(bench.row):
            break
        p = _on_body(pose, i, load3(bench.pin, b, PIN_POINT))
        off = sub(load3(bench.pin, b, PIN_PLACE), add(_root_anchor(tree, bench, i), p))
        count = _add_point(tree, pose, bench, count, i, p, off, 0.0)
        if bench.pin[b, PIN_TURNS] != 0.0:
            turn = quat_log(quat_mul(load4(bench.pin, b, PIN_TURN), quat_conj(load4(pose.body, i, ROTATION))))
            for k in range(3):
                _new_row(bench, count, turn[k], 0.0, 0.0)
                j = i
                while j > 0:
                    if bench.body[j, STILL] == 0.0:
                        for d in range(tree.dof[j], tree.dof[j + 1]):
                            bench.jacobian[count, d] = pose.axes[d, TURNS + k]
                    j = tree.parent[j]
                count += 1
    return count


@kernel
def _add_limit(bench, count, d, along, width, gap):
    if gap < NEAR and count < len(bench.row):
        _new_row(bench, count, -gap, 0.0, 1.0)
        for k in range(width):
            bench.jacobian[count, d + k] = along[k]
        bench.row[count, FROM], bench.row[count, UP_TO] = float(d), float(d + width)
        count += 1
    return count


@kernel
def room_of(tree, bench, bound, i):
    """How far joint i is from its limits, one by one; infinite where there is none."""
    kind = tree.kind[i]
    first = second = third = fourth = math.inf
    if kind == BALL:
        first, _, second, third, _ = room_of_ball(bound, i, load4(bench.body, i, COORDS))
    elif kind != FREE:
        width = tree.dof[i + 1] - tree.dof[i]
        if width > 0:
            first, second = bench.body[i, COORDS] - bound[i, LOW], bound[i, HIGH] - bench.body[i, COORDS]
        if width > 1:
            third = bench.body[i, COORDS + 1] - bound[i, LOW + 2]
            fourth = bound[i, HIGH + 2] - bench.body[i, COORDS + 1]
    return first, second, third, fourth


@part
def add_joint_limits(tree, bench, bound, count):
    """A row for each limit that is near."""
    for i in range(1, len(tree.parent)):
        if bench.body[i, STILL] != 0.0:
            continue
        kind, d = tree.kind[i], tree.dof[i]
        room = room_of(tree, bench, bound, i)
        slack = load4(bench.body, i, SLACK)
        if kind == BALL:
            _, along, _, _, turn = room_of_ball(bound, i, load4(bench.body, i, COORDS))
            count = _add_limit(bench, count, d, along, 3, room[0] - slack[0])
            count = _add_limit(bench, count, d, turn, 3, room[1] - slack[1])
            count = _add_limit(bench, count, d, scale(-1.0, turn), 3, room[2] - slack[2])
        elif kind != FREE:
            width = tree.dof[i + 1] - d
            if width > 0:
                count = _add_limit(bench, count, d, (1.0, 0.0, 0.0), 1, room[0] - slack[0])
                count = _add_limit(bench, count, d, (-1.0, 0.0, 0.0), 1, room[1] - slack[1])
            if width > 1:
                count = _add_limit(bench, count, d + 1, (1.0, 0.0, 0.0), 1, room[2] - slack[2])
                count = _add_limit(bench, count, d + 1, (-1.0, 0.0, 0.0), 1, room[3] - slack[3])
    return count


@part
def add_floor(tree, pose, bench, count):
    """A row for each spot near the floor."""
    floor = bench.number[FLOOR]
    if math.isinf(floor):
        return count
    for k in range(len(bench.spot)):
        i = int(bench.spot[k, SPOT_BODY])
        p = _on_body(pose, i, load3(bench.spot, k, SPOT_POINT))
        gap = _root_anchor(tree, bench, i)[2] + p[2] - bench.spot[k, SPOT_RADIUS] - floor - bench.spot[k, SPOT_SLACK]
        if gap < NEAR_FLOOR and count < len(bench.row):
            _new_row(bench, count, -gap, 0.0, 1.0)
            _point_row(tree, pose, bench, count, i, p, (0.0, 0.0, 1.0))
            count += 1
    return count


@part
def answer_rows(bench, count):
    """What a unit of force on each row does, and the rows' matrix; WANTED is then what forces are to do."""
    nv = len(bench.above)
    for r in range(count):
        for d in range(nv):
            bench.answer[r, d] = bench.jacobian[r, d]
        _solve_along(bench, bench.answer[r])
        done = 0.0
        for d in range(nv):
            done += bench.jacobian[r, d] * bench.rate[STEP, d]
        bench.row[r, WANTED] -= done
    for r in range(count):  # the last rows are short ones
        first, end = int(bench.row[r, FROM]), int(bench.row[r, UP_TO])
        for c in range(r + 1):
            total = 0.0
            for d in range(first, end):
                total += bench.jacobian[r, d] * bench.answer[c, d]
            bench.matrix[r, c] = bench.matrix[c, r] = total


@part
def choose_rows(bench, count):
    """FORCE of every row: those that must hold do, those that may be more push only.

    Júdice and Pires' block pivoting: all rows of the wrong kind change sides at once as long as there are ever fewer of
    them; where there are not, only the last one does for a while (Murty), which always comes to an end.
    """
    row = bench.row
    for r in range(count):
        row[r, ON] = 1.0 if row[r, ONE_SIDED] == 0.0 or row[r, WANTED] > 0.0 else 0.0
    fewest, patience = count + 1, BLOCKS
    for _ in range(CHOICES):
        _hold_chosen(bench, count)
        wrong, last = 0, -1
        for r in range(count):
            if _is_wrong(bench, count, r):
                wrong, last = wrong + 1, r
        if wrong == 0:
            break
        if wrong < fewest:
            fewest, patience = wrong, BLOCKS
        else:
            patience -= 1
        for r in range(count if patience > 0 else 0):
            if bench.solved[r] != 0.0:
                row[r, ON] = 1.0 - row[r, ON]
        if patience <= 0:
            row[last, ON] = 1.0 - row[last, ON]
    for r in range(count):
        if row[r, ONE_SIDED] != 0.0:
            row[r, FORCE] = max(row[r, FORCE], 0.0)


@kernel
def _is_wrong(bench, count, r):
    """Whether a row pulls, or is less than it may be; noted in `solved`."""
    row = bench.row
    wrong = False
    if row[r, ONE_SIDED] != 0.0:
        if row[r, ON] != 0.0:
            wrong = row[r, FORCE] < 0.0
        else:
            done = 0.0
            for c in range(count):
                done += bench.matrix[r, c] * row[c, FORCE]
            wrong = row[r, WANTED] - done > 1e-9
    bench.solved[r] = 1.0 if wrong else 0.0
    return wrong


@kernel
def _hold_chosen(bench, count):
    """FORCE of the rows that are on, as if all of them held; 0 of the others."""
    row, small, chosen, x = bench.row, bench.small, bench.chosen, bench.solved
    m = 0
    for r in range(count):
        row[r, FORCE] = 0.0
        if row[r, ON] != 0.0:
            chosen[m] = r
            m += 1
    for a in range(m):
        r = chosen[a]
        x[a] = row[r, WANTED]
        for b in range(a + 1):
            small[a, b] = bench.matrix[r, chosen[b]]
        # rows that say the same (two pins on one body) share the force
        small[a, a] += row[r, GIVES] + 1e-9 * bench.matrix[r, r] + 1e-14
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
        row[chosen[a], FORCE] = x[a]


# --- a round -----------------------------------------------------------------------------


@entry
def pull_round(tree, pose, bench, bound, closing):
    """One round; `closing`: pins and limits alone, whatever is pulled stays. Returns the largest turn [rad]
    (shifts of roots count as turns, by SIZE)."""
    forward(tree, bench.body, COORDS, ANCHOR, pose)
    held = not _weighted(bench)
    if held:
        look_back(tree, bench)
    else:
        measure(tree, pose, bench)
        gather_forces(tree, pose, bench, False)
        feel_weights(tree, pose, bench)
    gather_forces(tree, pose, bench, True)
    # where forces push inward the pose could fall to either side: without them it cannot
    assemble(tree, pose, bench, held, 0.0 if closing else 1.0)
    if not factor_along(bench):
        assemble(tree, pose, bench, held, 0.0)
        if not factor_along(bench):
            return math.nan
    load, step = bench.rate[LOAD], bench.rate[STEP]
    for d in range(len(load)):
        step[d] = 0.0 if closing or bench.body[bench.owner[d], STILL] != 0.0 else load[d]
    _solve_along(bench, step)
    pulled = add_pull(tree, pose, bench, 0, closing)
    count = add_pins(tree, pose, bench, pulled)
    count = add_floor(tree, pose, bench, count)
    count = add_joint_limits(tree, bench, bound, count)
    answer_rows(bench, count)
    if pulled > 0 and bench.number[SOFT] < 0.0:
        gives = SOFTNESS * max((bench.matrix[0, 0] + bench.matrix[1, 1] + bench.matrix[2, 2]) / 3.0, 1e-6)
        bench.number[SOFT] = gives
        for r in range(3):
            bench.row[r, GIVES] = gives
    solve_rows(bench, count, STEP)
    largest = largest_turn(tree, bench, STEP)
    if closing:
        take_step(tree, bench)
        return largest
    note_holding(bench, pulled)
    raise_penalty(bench, pulled, count)
    if largest > FAR:
        part_way(tree, bench, pulled, count)
    before = worth(tree, pose, bench, bound)
    keep(tree, bench)
    take_step(tree, bench)
    forward(tree, bench.body, COORDS, ANCHOR, pose)
    if held:
        look_back(tree, bench)
    after = worth(tree, pose, bench, bound)
    if after <= before + 1e-12 * abs(before):
        bench.number[WARY] *= BOLDER
        if bench.number[WARY] < BOLD:
            bench.number[WARY] = 0.0
        return largest
    go_back(tree, bench)
    bench.number[WARY] = max(WARIER * bench.number[WARY], WARY_FIRST)
    return 0.0 if bench.number[WARY] > TOO_WARY else largest


@kernel
def raise_penalty(bench, pulled, count):
    """More than any pin or limit holds: opening one must not pay."""
    for r in range(pulled, count):
        bench.number[PENALTY] = max(bench.number[PENALTY], 1.5 * abs(bench.row[r, FORCE]))


@part
def worth(tree, pose, bench, bound):
    """What rounds make small: the way from the start, or height; the mouse's spring; what is open."""
    total = 0.0
    if _weighted(bench):
        fall = (bench.number[FALL], bench.number[FALL + 1], bench.number[FALL + 2])
        for i in range(1, len(tree.parent)):
            place_ = add(_root_anchor(tree, bench, i), load3(pose.body, i, COM))
            total -= tree.body[i, MASS] * dot(fall, place_)
    else:
        theta = bench.rate[THETA]
        for d in range(len(theta)):
            total += 0.5 * bench.metric[d, d] * theta[d] * theta[d]
            e = bench.above[d]
            while e >= 0:
                total += bench.metric[d, e] * theta[d] * theta[e]
                e = bench.above[e]
    count = add_pull(tree, pose, bench, 0, False)
    for r in range(count):
        total += 0.5 * bench.row[r, WANTED] * bench.row[r, WANTED] / max(bench.row[r, GIVES], 1e-12)
    count = add_pins(tree, pose, bench, 0)
    for r in range(count):
        total += bench.number[PENALTY] * abs(bench.row[r, WANTED])
    count = add_joint_limits(tree, bench, bound, add_floor(tree, pose, bench, 0))
    for r in range(count):
        total += bench.number[PENALTY] * max(bench.row[r, WANTED], 0.0)
    return total


@kernel
def keep(tree, bench):
    for i in range(1, len(tree.parent)):
        store4(bench.body, i, KEPT, load4(bench.body, i, COORDS))
        store3(bench.body, i, KEPT + 4, load3(bench.body, i, ANCHOR))


@kernel
def go_back(tree, bench):
    for i in range(1, len(tree.parent)):
        store4(bench.body, i, COORDS, load4(bench.body, i, KEPT))
        store3(bench.body, i, ANCHOR, load3(bench.body, i, KEPT + 4))


@kernel
def solve_rows(bench, count, into):
    """Add to a row of rates what the rows' forces do."""
    choose_rows(bench, count)
    for r in range(count):
        if bench.row[r, FORCE] != 0.0:
            for d in range(len(bench.above)):
                bench.rate[into, d] += bench.answer[r, d] * bench.row[r, FORCE]


@part
def part_way(tree, bench, pulled, count):
    """STEP becomes what closes pins and limits and so much of the rest as is not too far at once.

    Both satisfy the rows, so all between them do: a far pull does not open what must stay closed.
    """
    close, step = bench.rate[CLOSE], bench.rate[STEP]
    for d in range(len(close)):
        close[d] = 0.0
    for r in range(count):
        bench.row[r, WANTED] = 0.0 if r < pulled else bench.row[r, FIRST]
    solve_rows(bench, count, CLOSE)
    for d in range(len(close)):
        step[d] -= close[d]
    rest = largest_turn(tree, bench, STEP)
    share = min(1.0, FAR / max(rest, 1e-12))
    for d in range(len(close)):
        step[d] = close[d] + share * step[d]


@kernel
def note_holding(bench, pulled):
    """What pull and pins did: the next round's second order."""
    for k in range(pulled):
        bench.number[PULL_FORCE + k] = bench.row[k, FORCE]
    at = pulled
    for b in range(len(bench.pin)):
        if at + 6 > len(bench.row):
            break
        for k in range(3):
            bench.pin[b, PIN_FORCE + k] = bench.row[at + k, FORCE]
        at += 6 if bench.pin[b, PIN_TURNS] != 0.0 else 3


@kernel
def largest_turn(tree, bench, which):
    """Of a row of rates; shifts of roots by SIZE."""
    largest = 0.0
    for i in range(1, len(tree.parent)):
        for d in range(tree.dof[i], tree.dof[i + 1]):
            size = abs(bench.rate[which, d])
            if d - tree.dof[i] >= 3:
                size *= FAR / bench.number[SIZE]
            largest = max(largest, size)
    return largest


@part
def take_step(tree, bench):
    """Move by STEP, or by what of it is not too far at once."""
    share = min(1.0, FAR / max(largest_turn(tree, bench, STEP), 1e-12))
    for i in range(1, len(tree.parent)):
        if bench.body[i, STILL] != 0.0:
            continue
        kind, d = tree.kind[i], tree.dof[i]
        w = joint_rates(kind, bench.rate, STEP, d)
        store4(bench.body, i, COORDS, advance(kind, load4(bench.body, i, COORDS), w, share))
        if kind == FREE:
            store3(bench.body, i, ANCHOR, axpy(share, load3(bench.rate, STEP, d + 3), load3(bench.body, i, ANCHOR)))


@entry
def openness(tree, pose, bench, bound):
    """How far pins are off [m, rad] and joints beyond their limits [rad], the largest."""
    forward(tree, bench.body, COORDS, ANCHOR, pose)
    largest = 0.0
    count = add_pins(tree, pose, bench, 0)
    for r in range(count):
        largest = max(largest, abs(bench.row[r, WANTED]))
    count = add_floor(tree, pose, bench, add_joint_limits(tree, bench, bound, 0))
    for r in range(count):
        largest = max(largest, bench.row[r, WANTED])
    return largest


@entry
def place(tree, pose, bench):
    """The pose of the coordinates as they are."""
    forward(tree, bench.body, COORDS, ANCHOR, pose)


@entry
def begin(tree, pose, bench):
    """The pose as it is becomes the start of a drag."""
    forward(tree, bench.body, COORDS, ANCHOR, pose)
    for i in range(1, len(tree.parent)):
        store4(bench.body, i, START, load4(bench.body, i, COORDS))
        store3(bench.body, i, START_ANCHOR, load3(bench.body, i, ANCHOR))
    measure(tree, pose, bench)


@entry
def note_slack(tree, bench, bound):
    """SLACK: how far the joints are beyond their limits as they are."""
    for i in range(1, len(tree.parent)):
        room = room_of(tree, bench, bound, i)
        for k in range(4):
            bench.body[i, SLACK + k] = min(room[k], 0.0)
