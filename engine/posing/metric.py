"""Metric of a pull: the cost of joint rotations, second-order forces, and the factor of both.

Owns the matrix of a round of `round` and its solution. Must not know rows, pins or limits.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel, separate
from ..compile.kernel_types import Flag, Real
from ..dynamics.articulated import composite_form, composite_inertia
from ..dynamics.joints import difference, store_rates
from ..math.vectors import add, dot, load3, load4, right_jacobian_inverse, rotate, scale
from ..model.model import BALL, FREE
from ..tables import pose as P, pull as PU, tree as T
from ..tables.classes import Pose, Pull, Tree

# D's share in the metric.
OWN_SHARE = 1.0
# A pivot below this share of the metric's own counts as 0.
SOUND = 1e-6


@kernel
def weighted(pull):
    """True if weights act instead of the hold on the start's pose."""
    return pull.number[PU.FALL] != 0.0 or pull.number[PU.FALL + 1] != 0.0 or pull.number[PU.FALL + 2] != 0.0


@separate
def measure(tree: Tree, pose: Pose, pull: Pull):
    """The metric K at the pose."""
    composite_inertia(tree, pose, pull.body, PU.COMPOSITE)
    for d in range(len(pull.above)):
        i = pull.owner[d]
        still = pull.body[i, PU.STILL] != 0.0
        e = d
        while e >= 0:
            j = pull.owner[e]
            value = composite_form(pull.body, PU.COMPOSITE, i, pose.axes, d, e)
            if j == i:
                value *= 1.0 + OWN_SHARE
            if e != d and (still or pull.body[j, PU.STILL] != 0.0):
                value = 0.0
            pull.metric[d, e] = pull.metric[e, d] = value
            e = pull.above[e]
    total, count = 0.0, 1e-12
    for i in range(1, len(tree.parent)):
        if pull.body[i, PU.STILL] == 0.0:
            for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
                total, count = total + pull.metric[d, d], count + 1.0
    pull.number[PU.EVEN] = total / count


@separate
def look_back(tree: Tree, pull: Pull):
    """THETA and BACK: the rotations from the start's pose to the present one; LOAD: the pull back to it."""
    theta, load = pull.rate[PU.THETA], pull.rate[PU.LOAD]
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        way = difference(kind, load4(pull.body, i, PU.START), load4(pull.body, i, PU.COORDS))
        store_rates(kind, pull.rate, PU.THETA, d, way)
        if kind == FREE:
            for k in range(3):
                theta[d + 3 + k] = pull.body[i, PU.ANCHOR + k] - pull.body[i, PU.START_ANCHOR + k]
        if kind >= BALL:
            x = right_jacobian_inverse(way, (1.0, 0.0, 0.0))
            y = right_jacobian_inverse(way, (0.0, 1.0, 0.0))
            z = right_jacobian_inverse(way, (0.0, 0.0, 1.0))
            for k in range(3):
                pull.body[i, PU.BACK + 3 * k] = x[k]
                pull.body[i, PU.BACK + 3 * k + 1] = y[k]
                pull.body[i, PU.BACK + 3 * k + 2] = z[k]
    for d in range(len(theta)):
        load[d] = 0.0
    for d in range(len(theta)):
        load[d] -= pull.metric[d, d] * theta[d]
        e = pull.above[d]
        while e >= 0:
            load[d] -= pull.metric[d, e] * theta[e]
            load[e] -= pull.metric[d, e] * theta[d]
            e = pull.above[e]
    for i in range(1, len(tree.parent)):
        if tree.kind[i] >= BALL:
            d = tree.dof[i]
            f = (load[d], load[d + 1], load[d + 2])
            for k in range(3):
                load[d + k] = (
                    pull.body[i, PU.BACK + k] * f[0] + pull.body[i, PU.BACK + 3 + k] * f[1]
                    + pull.body[i, PU.BACK + 6 + k] * f[2]
                )  # fmt: skip


@kernel
def _back(pull, kind, i, a, d):
    """∂θ_a/∂q_d within joint i."""
    if kind >= BALL and a < 3 and d < 3:
        return pull.body[i, PU.BACK + 3 * a + d]
    return 1.0 if a == d else 0.0


@kernel
def _add_force(pull, i, p, f):
    """Add a force f on body i at p, relative to the tree's root anchor."""
    for k in range(3):
        pull.body[i, PU.FORCES + k] += f[k]
        for m in range(3):
            pull.body[i, PU.REACH + 3 * k + m] += p[k] * f[m]


@kernel
def on_body(pose, i, point):
    """A point of body i relative to its tree's root anchor."""
    return add(load3(pose.body, i, P.PLACE), rotate(load4(pose.body, i, P.ROTATION), point))


@separate
def gather_forces(tree: Tree, pose: Pose, pull: Pull, holding: Flag):
    """FORCES and REACH: of weights, and with `holding` of pull and pins; each body with all its descendants."""
    n1 = len(tree.parent)
    for i in range(n1):
        for k in range(12):
            pull.body[i, PU.FORCES + k] = 0.0
    i = int(pull.number[PU.GRABBED])
    if holding and i > 0:
        grip = (pull.number[PU.GRAB_POINT], pull.number[PU.GRAB_POINT + 1], pull.number[PU.GRAB_POINT + 2])
        point = on_body(pose, i, grip)
        force = (pull.number[PU.PULL_FORCE], pull.number[PU.PULL_FORCE + 1], pull.number[PU.PULL_FORCE + 2])
        _add_force(pull, i, point, force)
    for b in range(len(pull.pin) if holding else 0):
        i = int(pull.pin[b, PU.PIN_BODY])
        _add_force(pull, i, on_body(pose, i, load3(pull.pin, b, PU.PIN_POINT)), load3(pull.pin, b, PU.PIN_FORCE))
    if weighted(pull):
        fall = (pull.number[PU.FALL], pull.number[PU.FALL + 1], pull.number[PU.FALL + 2])
        for i in range(1, n1):
            _add_force(pull, i, load3(pose.body, i, P.COM), scale(tree.body[i, T.MASS], fall))
    for i in range(n1 - 1, 0, -1):
        for k in range(12):
            pull.body[tree.parent[i], PU.FORCES + k] += pull.body[i, PU.FORCES + k]
    for k in range(12):
        pull.body[0, PU.FORCES + k] = 0.0


@separate
def feel_weights(tree: Tree, pose: Pose, pull: Pull):
    """LOAD: the weights' load on each joint, from FORCES and REACH while these contain nothing else."""
    load = pull.rate[PU.LOAD]
    for i in range(1, len(tree.parent)):
        couple = (
            pull.body[i, PU.REACH + 5] - pull.body[i, PU.REACH + 7],
            pull.body[i, PU.REACH + 6] - pull.body[i, PU.REACH + 2],
            pull.body[i, PU.REACH + 1] - pull.body[i, PU.REACH + 3],
        )
        force = load3(pull.body, i, PU.FORCES)
        for d in range(tree.dof[i], tree.dof[i + 1]):
            load[d] = dot(load3(pose.axes, d, P.TURNS), couple) + dot(load3(pose.axes, d, P.SHIFTS), force)


@kernel
def _tension(pose, pull, i, s, t):
    """−∂²(forces · places) for a unit rotation t of joint i and s of one above it."""
    a = load3(pose.body, i, P.PLACE)
    along = across = 0.0
    for k in range(3):
        for m in range(3):
            entry_ = pull.body[i, PU.REACH + 3 * k + m] - a[k] * pull.body[i, PU.FORCES + m]
            across += s[k] * entry_ * t[m]
            if k == m:
                along += entry_
    return along * dot(s, t) - across


@separate
def assemble(tree: Tree, pose: Pose, pull: Pull, held: Flag, share: Real):
    """The matrix of a round. held: keep the start's pose; share: of the second-order forces."""
    more = 1.0 + pull.number[PU.DAMP]
    wary = pull.number[PU.WARY]
    for i in range(1, len(tree.parent)):
        first, end = tree.dof[i], tree.dof[i + 1]
        j = i
        while j > 0:
            above, stop = tree.dof[j], tree.dof[j + 1]
            for d in range(first, end):
                for e in range(above, min(stop, d + 1)):
                    value = pull.metric[d, e]
                    if held:
                        value = _seen(tree, pull, i, j, d - first, e - above)
                    value *= more
                    if d == e:
                        pull.rate[PU.LEAST, d] = SOUND * value
                        # the same cost for all rotations: otherwise light bodies would make the whole way
                        value += wary * (pull.number[PU.EVEN] if d - first < 3 else pull.metric[d, d])
                    if share > 0.0 and pull.body[i, PU.STILL] == 0.0 and pull.body[j, PU.STILL] == 0.0:
                        s, t = load3(pose.axes, e, P.TURNS), load3(pose.axes, d, P.TURNS)
                        if i == j:
                            value += 0.5 * share * (_tension(pose, pull, i, s, t) + _tension(pose, pull, i, t, s))
                        else:
                            value += share * _tension(pose, pull, i, s, t)
                    pull.factor[d, e] = value
            j = tree.parent[j]


@kernel
def _seen(tree, pull, i, j, d, e):
    """BACKᵀ K BACK for the d-th and e-th degree of freedom of joints i and j."""
    total = 0.0
    first, above = tree.dof[i], tree.dof[j]
    for a in range(tree.dof[i + 1] - first):
        x = _back(pull, tree.kind[i], i, a, d)
        if x == 0.0:
            continue
        for b in range(tree.dof[j + 1] - above):
            total += x * pull.metric[first + a, above + b] * _back(pull, tree.kind[j], j, b, e)
    return total


@separate
def factor_along(pull: Pull):
    """LᵀL of the matrix, in place. Returns False if it is not positive definite."""
    factor, above = pull.factor, pull.above
    for k in range(len(above) - 1, -1, -1):
        if factor[k, k] < pull.rate[PU.LEAST, k]:
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
def solve_along(pull, x):
    """Solve with the factored matrix, in place."""
    factor, above = pull.factor, pull.above
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
