"""Metric of a pull: what turning a joint costs, forces in second order, and the factor of both.

Owns the matrix of a round of `pull` and its solution. Must not know rows, pins or limits.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel, part
from ..dynamics.articulated import composite_form, composite_inertia
from ..dynamics.joints import difference, store_rates
from ..math.vectors import add, dot, load3, load4, right_jacobian_inverse, rotate, scale
from ..model.model import BALL, FREE
from ..tables import pose as P, pull as PU, tree as T

# D's share in the metric.
OWN_SHARE = 1.0
# A pivot below this share of the metric's own is none.
SOUND = 1e-6


@kernel
def weighted(bench):
    """Whether weights act instead of the hold on the start's pose."""
    return bench.number[PU.FALL] != 0.0 or bench.number[PU.FALL + 1] != 0.0 or bench.number[PU.FALL + 2] != 0.0


@part
def measure(tree, pose, bench):
    """The metric K at the pose."""
    composite_inertia(tree, pose, bench.body, PU.COMPOSITE)
    for d in range(len(bench.above)):
        i = bench.owner[d]
        still = bench.body[i, PU.STILL] != 0.0
        e = d
        while e >= 0:
            j = bench.owner[e]
            value = composite_form(bench.body, PU.COMPOSITE, i, pose.axes, d, e)
            if j == i:
                value *= 1.0 + OWN_SHARE
            if e != d and (still or bench.body[j, PU.STILL] != 0.0):
                value = 0.0
            bench.metric[d, e] = bench.metric[e, d] = value
            e = bench.above[e]
    total, count = 0.0, 1e-12
    for i in range(1, len(tree.parent)):
        if bench.body[i, PU.STILL] == 0.0:
            for d in range(tree.dof[i], min(tree.dof[i] + 3, tree.dof[i + 1])):
                total, count = total + bench.metric[d, d], count + 1.0
    bench.number[PU.EVEN] = total / count


@part
def look_back(tree, bench):
    """THETA and BACK: what leads from the start's pose to this one; LOAD: what draws back to it."""
    theta, load = bench.rate[PU.THETA], bench.rate[PU.LOAD]
    for i in range(1, len(tree.parent)):
        kind, d = tree.kind[i], tree.dof[i]
        way = difference(kind, load4(bench.body, i, PU.START), load4(bench.body, i, PU.COORDS))
        store_rates(kind, bench.rate, PU.THETA, d, way)
        if kind == FREE:
            for k in range(3):
                theta[d + 3 + k] = bench.body[i, PU.ANCHOR + k] - bench.body[i, PU.START_ANCHOR + k]
        if kind >= BALL:
            x = right_jacobian_inverse(way, (1.0, 0.0, 0.0))
            y = right_jacobian_inverse(way, (0.0, 1.0, 0.0))
            z = right_jacobian_inverse(way, (0.0, 0.0, 1.0))
            for k in range(3):
                bench.body[i, PU.BACK + 3 * k] = x[k]
                bench.body[i, PU.BACK + 3 * k + 1] = y[k]
                bench.body[i, PU.BACK + 3 * k + 2] = z[k]
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
                    bench.body[i, PU.BACK + k] * f[0] + bench.body[i, PU.BACK + 3 + k] * f[1]
                    + bench.body[i, PU.BACK + 6 + k] * f[2]
                )  # fmt: skip


@kernel
def _back(bench, kind, i, a, d):
    """∂θ_a/∂q_d within joint i."""
    if kind >= BALL and a < 3 and d < 3:
        return bench.body[i, PU.BACK + 3 * a + d]
    return 1.0 if a == d else 0.0


@kernel
def _add_force(bench, i, p, f):
    """A force f on body i at p from the tree's root anchor."""
    for k in range(3):
        bench.body[i, PU.FORCES + k] += f[k]
        for m in range(3):
            bench.body[i, PU.REACH + 3 * k + m] += p[k] * f[m]


@kernel
def on_body(pose, i, point):
    """A point of body i from its tree's root anchor."""
    return add(load3(pose.body, i, P.PLACE), rotate(load4(pose.body, i, P.ROTATION), point))


@part
def gather_forces(tree, pose, bench, holding):
    """FORCES and REACH: what weights do, and where `holding` pull and pins; each body with all it carries."""
    n1 = len(tree.parent)
    for i in range(n1):
        for k in range(12):
            bench.body[i, PU.FORCES + k] = 0.0
    i = int(bench.number[PU.GRABBED])
    if holding and i > 0:
        grip = (bench.number[PU.GRAB_POINT], bench.number[PU.GRAB_POINT + 1], bench.number[PU.GRAB_POINT + 2])
        point = on_body(pose, i, grip)
        force = (bench.number[PU.PULL_FORCE], bench.number[PU.PULL_FORCE + 1], bench.number[PU.PULL_FORCE + 2])
        _add_force(bench, i, point, force)
    for b in range(len(bench.pin) if holding else 0):
        i = int(bench.pin[b, PU.PIN_BODY])
        _add_force(bench, i, on_body(pose, i, load3(bench.pin, b, PU.PIN_POINT)), load3(bench.pin, b, PU.PIN_FORCE))
    if weighted(bench):
        fall = (bench.number[PU.FALL], bench.number[PU.FALL + 1], bench.number[PU.FALL + 2])
        for i in range(1, n1):
            _add_force(bench, i, load3(pose.body, i, P.COM), scale(tree.body[i, T.MASS], fall))
    for i in range(n1 - 1, 0, -1):
        for k in range(12):
            bench.body[tree.parent[i], PU.FORCES + k] += bench.body[i, PU.FORCES + k]
    for k in range(12):
        bench.body[0, PU.FORCES + k] = 0.0


@part
def feel_weights(tree, pose, bench):
    """LOAD: what weights do on each joint, from FORCES and REACH while nothing else is in them."""
    load = bench.rate[PU.LOAD]
    for i in range(1, len(tree.parent)):
        couple = (
            bench.body[i, PU.REACH + 5] - bench.body[i, PU.REACH + 7],
            bench.body[i, PU.REACH + 6] - bench.body[i, PU.REACH + 2],
            bench.body[i, PU.REACH + 1] - bench.body[i, PU.REACH + 3],
        )
        force = load3(bench.body, i, PU.FORCES)
        for d in range(tree.dof[i], tree.dof[i + 1]):
            load[d] = dot(load3(pose.axes, d, P.TURNS), couple) + dot(load3(pose.axes, d, P.SHIFTS), force)


@kernel
def _tension(pose, bench, i, s, t):
    """−∂²(forces · places) for a unit turn t of joint i and s of one above it."""
    a = load3(pose.body, i, P.PLACE)
    along = across = 0.0
    for k in range(3):
        for m in range(3):
            entry_ = bench.body[i, PU.REACH + 3 * k + m] - a[k] * bench.body[i, PU.FORCES + m]
            across += s[k] * entry_ * t[m]
            if k == m:
                along += entry_
    return along * dot(s, t) - across


@part
def assemble(tree, pose, bench, held, share):
    """The matrix of a round; `held`: the start's pose is; with a share of what forces do in second order."""
    more = 1.0 + bench.number[PU.DAMP]
    wary = bench.number[PU.WARY]
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
                        bench.rate[PU.LEAST, d] = SOUND * value
                        # all turns alike: what is light does not take all of a far way
                        value += wary * (bench.number[PU.EVEN] if d - first < 3 else bench.metric[d, d])
                    if share > 0.0 and bench.body[i, PU.STILL] == 0.0 and bench.body[j, PU.STILL] == 0.0:
                        s, t = load3(pose.axes, e, P.TURNS), load3(pose.axes, d, P.TURNS)
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
        if factor[k, k] < bench.rate[PU.LEAST, k]:
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
def solve_along(bench, x):
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
