"""The articulated-body algorithm as a factor and a solve.

Owns (M + C)⁻¹ on the active degrees of freedom, in O(bodies), without forming M.
Must not know why a joint is active or where a right-hand side comes from.

A joint is prescribed (not active: it moves as told), free (active, C = 0) or
compliant (active, C = c·B with a block B of the joint's own): METHODS §1b, §1c.
For a spring B is D, the joint's block of M: Sᵀ I_composite S.
"""

from __future__ import annotations

from .jit import kernel, part, stage
from .kinematics import apply_inertia, velocities
from .spatial import add, axpy6, cross, dot, dot6, load3, load6, put6, scale, store6, sub, symmetric_apply
from .state import LOAD, MOTION, STILL
from .tree import COLUMN, FORCE, LOWER, MASS, MOMENT, MOVES, PIVOT, ROW, SHIFTS, TURNS, WORLD_INERTIA

# A pivot this small against the joint's rigid inertia means nothing hangs on the joint.
PIVOT_FLOOR = 1e-14


@part
def composite_inertia(tree, pose, out, column):
    """Ten numbers a body: inertia (6), mass × centre (3) and mass of it with all it carries."""
    n1 = len(tree.parent)
    for i in range(1, n1):
        for k in range(6):
            out[i, column + k] = pose.body[i, WORLD_INERTIA + k]
        for k in range(3):
            out[i, column + 6 + k] = pose.body[i, MOMENT + k]
        out[i, column + 9] = tree.body[i, MASS]
    for i in range(n1 - 1, 0, -1):
        p = tree.parent[i]
        for k in range(10):
            out[p, column + k] += out[i, column + k]
    for k in range(10):
        out[0, column + k] = 0.0


@kernel
def composite_form(table, column, i, axes, d, e):
    """s_dᵀ I s_e with the composite inertia of row i and two rows of `axes`."""
    w, u = load3(axes, e, TURNS), load3(axes, e, SHIFTS)
    h = load3(table, i, column + 6)
    angular = add(symmetric_apply(load6(table, i, column), w), cross(h, u))
    linear = sub(scale(table[i, column + 9], u), cross(h, w))
    return dot(load3(axes, d, TURNS), angular) + dot(load3(axes, d, SHIFTS), linear)


@kernel
def mass_block(tree, pose, table, composite, i, block):
    """The joint's rows of `block`: D, from the composite inertias in column `composite` of `table`."""
    first, end = tree.dof[i], tree.dof[i + 1]
    for d in range(first, end):
        for e in range(first, end):
            block[d, e - first] = composite_form(table, composite, i, pose.axes, d, e)


@part
def factorise(tree, pose, table, compliance, block, factor):
    """Factor M + C: c of each body in column `compliance` of `table`, B of its joint (read where c > 0) in
    the joint's rows of `block`."""
    n1 = len(tree.parent)
    for i in range(1, n1):
        _rigid(tree, pose, i, factor.inertia)
    for i in range(n1 - 1, 0, -1):
        p = tree.parent[i]
        if factor.active[i]:
            _eliminate(tree, pose, table[i, compliance], block, i, factor)
        if p > 0:
            for a in range(36):
                factor.inertia[p, a] += factor.inertia[i, a]


@stage
def _rigid(tree, pose, i, inertia):
    """The body's own inertia about the root anchor, 6 × 6 row by row."""
    for a in range(36):
        inertia[i, a] = 0.0
    xx, yy, zz, xy, xz, yz = load6(pose.body, i, WORLD_INERTIA)
    x, y, z = load3(pose.body, i, MOMENT)
    inertia[i, 0], inertia[i, 7], inertia[i, 14] = xx, yy, zz
    inertia[i, 1] = inertia[i, 6] = xy
    inertia[i, 2] = inertia[i, 12] = xz
    inertia[i, 8] = inertia[i, 13] = yz
    inertia[i, 4] = inertia[i, 24] = -z
    inertia[i, 5] = inertia[i, 30] = y
    inertia[i, 9] = inertia[i, 19] = z
    inertia[i, 11] = inertia[i, 31] = -x
    inertia[i, 15] = inertia[i, 20] = -y
    inertia[i, 16] = inertia[i, 26] = x
    inertia[i, 21] = inertia[i, 28] = inertia[i, 35] = tree.body[i, MASS]


@kernel
def _times_inertia(inertia, i, s):
    """The articulated inertia of row i on a spatial motion."""
    return (
        dot6(load6(inertia, i, ROW), s),
        dot6(load6(inertia, i, ROW + 6), s),
        dot6(load6(inertia, i, ROW + 12), s),
        dot6(load6(inertia, i, ROW + 18), s),
        dot6(load6(inertia, i, ROW + 24), s),
        dot6(load6(inertia, i, ROW + 30), s),
    )


@stage
def _eliminate(tree, pose, c, block, i, factor):
    """Take the joint's degrees of freedom out of the articulated inertia: block LDLᵀ, the columns follow L."""
    joint, axes, inertia = factor.joint, pose.axes, factor.inertia
    first, end = tree.dof[i], tree.dof[i + 1]
    for d in range(first, end):
        s = load6(axes, d, TURNS)
        u = _times_inertia(inertia, i, s)
        pivot = dot6(s, u)
        if c > 0.0:
            pivot += c * block[d, d - first]
        floor = PIVOT_FLOOR * pivot
        column = u
        for e in range(first, d):
            entry = dot6(load6(axes, e, TURNS), u)
            if c > 0.0:
                entry += c * block[d, e - first]
            for k in range(e - first):
                entry -= joint[d, LOWER + k] * joint[e, LOWER + k] * joint[first + k, LOWER + k]
            entry *= joint[e, PIVOT]
            joint[d, LOWER + e - first] = entry
            pivot -= entry * entry * joint[e, LOWER + e - first]
            column = axpy6(-entry, load6(joint, e, COLUMN), column)
        joint[d, LOWER + d - first] = pivot
        joint[d, PIVOT] = 1.0 / pivot if pivot > floor else 0.0
        put6(joint, d, COLUMN, column)
    for d in range(first, end):
        u = load6(joint, d, COLUMN)
        f = -joint[d, PIVOT]
        for a in range(6):
            put6(inertia, i, 6 * a, axpy6(f * joint[d, COLUMN + a], u, load6(inertia, i, 6 * a)))


@part
def solve(tree, pose, factor, g, x):
    """x = (M + C)⁻¹ g on the active degrees of freedom, 0 on the others; g, x (nv,)."""
    n1 = len(tree.parent)
    joint, axes, scratch = factor.joint, pose.axes, factor.scratch
    for i in range(n1):
        for a in range(12):
            scratch[i, a] = 0.0
    for i in range(n1 - 1, 0, -1):
        p = tree.parent[i]
        first, end = tree.dof[i], tree.dof[i + 1]
        force = load6(scratch, i, FORCE)
        if factor.active[i]:
            for d in range(first, end):
                w = g[d] - dot6(load6(axes, d, TURNS), force)
                for e in range(first, d):
                    w -= joint[d, LOWER + e - first] * x[e]
                x[d] = w
            for d in range(first, end):
                x[d] *= joint[d, PIVOT]
                force = axpy6(x[d], load6(joint, d, COLUMN), force)
        put6(scratch, p, FORCE, axpy6(1.0, force, load6(scratch, p, FORCE)))
    for i in range(1, n1):
        first, end = tree.dof[i], tree.dof[i + 1]
        motion = load6(scratch, tree.parent[i], MOVES)
        if factor.active[i]:
            for d in range(end - 1, first - 1, -1):
                w = x[d] - joint[d, PIVOT] * dot6(load6(joint, d, COLUMN), motion)
                for e in range(d + 1, end):
                    w -= joint[e, LOWER + d - first] * x[e]
                x[d] = w
            for d in range(first, end):
                motion = axpy6(x[d], load6(axes, d, TURNS), motion)
        else:
            for d in range(first, end):
                x[d] = 0.0
        put6(scratch, i, MOVES, motion)


@part
def momentum_of(tree, pose, table, x, g):
    """g = M x, columns MOTION and LOAD of `table` used up; x, g (nv,)."""
    velocities(tree, pose, x, table, STILL, table, MOTION)
    for i in range(1, len(tree.parent)):
        angular, linear = apply_inertia(tree, pose, i, load3(table, i, MOTION), load3(table, i, MOTION + 3))
        store6(table, i, LOAD, angular, linear)
    generalized(tree, pose, table, LOAD, g)


@part
def generalized(tree, pose, table, load, g):
    """g = Σ Jᵀ load over bodies: loads about the root anchors in column `load`, used up; g (nv,)."""
    for i in range(len(tree.parent) - 1, 0, -1):
        p = tree.parent[i]
        for d in range(tree.dof[i], tree.dof[i + 1]):
            total = 0.0
            for a in range(6):
                total += pose.axes[d, a] * table[i, load + a]
            g[d] = total
        for a in range(6):
            table[p, load + a] += table[i, load + a]
    for a in range(6):
        table[0, load + a] = 0.0
