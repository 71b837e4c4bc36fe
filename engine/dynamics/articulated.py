"""The articulated-body algorithm as a factor and a solve.

Owns (M + C)⁻¹ on the active degrees of freedom, in O(bodies), without forming M. Must not know why a joint is active or
where a right-hand side comes from.

A joint is prescribed (not active), free (active, C = 0) or compliant (active, C = c·B with a block B of the joint's
own): METHODS §1b, §1c. For a spring B is D, the joint's block of M: Sᵀ I_composite S.

Joints are in rows, each depending on the one before it: values from a child to its parent stay in registers, and
hinges, the most common kind, have code of their own.
"""

from __future__ import annotations

from ..compile.decorators import inlined, kernel, separate
from ..compile.kernel_types import Column, Row, Table
from ..math.vectors import add, axpy6, cross, dot, dot6, load3, load6, put6, scale, store3, store6, sub, symmetric_apply
from ..model.model import BALL, HINGE
from ..tables import factor as F, pose as P, tree as T, work as W
from ..tables.classes import Factor, Pose, Tree
from .kinematics import apply_inertia, velocities

# A pivot this small relative to the joint's rigid inertia means that the joint carries nothing.
PIVOT_FLOOR = 1e-14


@separate
def composite_inertia(tree: Tree, pose: Pose, out: Table, column: Column):
    """Ten numbers for each body: inertia (6), mass × centre (3) and mass of the body with all its descendants."""
    n1 = len(tree.parent)
    inertia, moment, mass = load6(pose.body, 0, P.WORLD_INERTIA), load3(pose.body, 0, P.MOMENT), 0.0
    for i in range(n1 - 1, 0, -1):
        own, h = load6(pose.body, i, P.WORLD_INERTIA), load3(pose.body, i, P.MOMENT)
        if tree.last[i] > i:
            inertia, moment, mass = _sum6(own, inertia), add(h, moment), tree.body[i, T.MASS] + mass
            if tree.last[i + 1] < tree.last[i]:  # more than one child: the others' are in the table
                inertia = _sum6(inertia, load6(out, i, column))
                moment, mass = add(moment, load3(out, i, column + 6)), mass + out[i, column + 9]
        else:
            inertia, moment, mass = own, h, tree.body[i, T.MASS]
        put6(out, i, column, inertia)
        store3(out, i, column + 6, moment)
        out[i, column + 9] = mass
        p = tree.parent[i]
        if 0 < p < i - 1:
            if tree.last[i] == tree.last[p]:  # the last child first
                for k in range(10):
                    out[p, column + k] = out[i, column + k]
            else:
                for k in range(10):
                    out[p, column + k] += out[i, column + k]
    for k in range(10):
        out[0, column + k] = 0.0


@kernel
def composite_form(table, column, i, axes, d, e):
    """s_dᵀ I s_e with the composite inertia of row i and two rows of `axes`."""
    w, u = load3(axes, e, P.TURNS), load3(axes, e, P.SHIFTS)
    h = load3(table, i, column + 6)
    angular = add(symmetric_apply(load6(table, i, column), w), cross(h, u))
    linear = sub(scale(table[i, column + 9], u), cross(h, w))
    return dot(load3(axes, d, P.TURNS), angular) + dot(load3(axes, d, P.SHIFTS), linear)


@kernel
def mass_block(tree, pose, table, composite, i, block):
    """The joint's rows of `block`: D, from the composite inertias in column `composite` of `table`."""
    first, end = tree.dof[i], tree.dof[i + 1]
    inertia, h, mass = load6(table, i, composite), load3(table, i, composite + 6), table[i, composite + 9]
    if tree.kind[i] == HINGE:
        s = load6(pose.axes, first, P.TURNS)
        block[first, 0] = dot6(s, _times_rigid(inertia, h, mass, s))
        return
    if tree.kind[i] == BALL:
        s0, s1 = load6(pose.axes, first, P.TURNS), load6(pose.axes, first + 1, P.TURNS)
        s2 = load6(pose.axes, first + 2, P.TURNS)
        block[first, 0] = dot6(s0, _times_rigid(inertia, h, mass, s0))
        u1, u2 = _times_rigid(inertia, h, mass, s1), _times_rigid(inertia, h, mass, s2)
        block[first, 1] = block[first + 1, 0] = dot6(s0, u1)
        block[first + 1, 1] = dot6(s1, u1)
        block[first, 2] = block[first + 2, 0] = dot6(s0, u2)
        block[first + 1, 2] = block[first + 2, 1] = dot6(s1, u2)
        block[first + 2, 2] = dot6(s2, u2)
        return
    for d in range(first, end):
        u = _times_rigid(inertia, h, mass, load6(pose.axes, d, P.TURNS))
        for e in range(first, d + 1):
            block[d, e - first] = block[e, d - first] = dot6(load6(pose.axes, e, P.TURNS), u)


@kernel
def _times_rigid(inertia, h, mass, s):
    """A rigid inertia times a spatial motion."""
    w, u = (s[0], s[1], s[2]), (s[3], s[4], s[5])
    a, b = add(symmetric_apply(inertia, w), cross(h, u)), sub(scale(mass, u), cross(h, w))
    return a[0], a[1], a[2], b[0], b[1], b[2]


@separate
def factorise(tree: Tree, pose: Pose, table: Table, compliance: Column, block: Table, factor: Factor):
    """Factor M + C: c of each body in column `compliance` of `table`, B of its joint (read where c > 0) in
    the joint's rows of `block`."""
    n1 = len(tree.parent)
    inertia = factor.inertia
    turning, mixed, moving = load6(inertia, 0, F.TURNING), _load9(inertia, 0, F.MIXED), load6(inertia, 0, F.MOVING)
    for i in range(n1 - 1, 0, -1):
        # from child to parent along a chain in registers: storing and loading takes twice as long
        own = _rigid(tree, pose, i)
        turning, mixed, moving = (
            (_sum6(own[0], turning), _sum9(own[1], mixed), _sum6(own[2], moving)) if tree.last[i] > i else own
        )
        if tree.last[i] > i and tree.last[i + 1] < tree.last[i]:  # more than one child: the others' are in the table
            turning = _sum6(turning, load6(inertia, i, F.TURNING))
            mixed = _sum9(mixed, _load9(inertia, i, F.MIXED))
            moving = _sum6(moving, load6(inertia, i, F.MOVING))
        if factor.active[i]:
            if tree.kind[i] == HINGE:
                _hinge_column(pose.axes, table[i, compliance], block, tree.dof[i], turning, mixed, moving, factor.joint)
            else:
                _columns(tree, pose, table[i, compliance], block, i, turning, mixed, moving, factor)
            for d in range(tree.dof[i], tree.dof[i + 1]):
                f = -factor.joint[d, F.PIVOT]
                a, b = load3(factor.joint, d, F.COLUMN), load3(factor.joint, d, F.COLUMN + 3)
                fa, fb = scale(f, a), scale(f, b)
                turning, mixed, moving = (
                    _add_squares(turning, fa, a),
                    _add_products(mixed, fa, b),
                    _add_squares(moving, fb, b),
                )
        p = tree.parent[i]
        if 0 < p < i - 1:
            first = tree.last[i] == tree.last[p]  # the last child of those stored
            for k in range(6):
                inertia[p, F.TURNING + k] = turning[k] + (0.0 if first else inertia[p, F.TURNING + k])
                inertia[p, F.MOVING + k] = moving[k] + (0.0 if first else inertia[p, F.MOVING + k])
            for k in range(9):
                inertia[p, F.MIXED + k] = mixed[k] + (0.0 if first else inertia[p, F.MIXED + k])


@kernel
def _rigid(tree, pose, i):
    """The body's own inertia about the root anchor."""
    m = tree.body[i, T.MASS]
    x, y, z = load3(pose.body, i, P.MOMENT)
    return load6(pose.body, i, P.WORLD_INERTIA), (0.0, -z, y, z, 0.0, -x, -y, x, 0.0), (m, m, m, 0.0, 0.0, 0.0)


@kernel
def _sum6(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@kernel
def _sum9(a, b):
    return (
        a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5],
        a[6] + b[6], a[7] + b[7], a[8] + b[8],
    )  # fmt: skip


@kernel
def _load9(a, i, c):
    return (
        a[i, c], a[i, c + 1], a[i, c + 2], a[i, c + 3], a[i, c + 4], a[i, c + 5], a[i, c + 6], a[i, c + 7], a[i, c + 8]
    )  # fmt: skip


@kernel
def _add_squares(s, x, y):
    """S + the symmetric product x yᵀ, for x parallel to y."""
    return (
        s[0] + x[0] * y[0], s[1] + x[1] * y[1], s[2] + x[2] * y[2],
        s[3] + x[0] * y[1], s[4] + x[0] * y[2], s[5] + x[1] * y[2],
    )  # fmt: skip


@kernel
def _add_products(m, x, y):
    """M + x yᵀ"""
    return (
        m[0] + x[0] * y[0], m[1] + x[0] * y[1], m[2] + x[0] * y[2],
        m[3] + x[1] * y[0], m[4] + x[1] * y[1], m[5] + x[1] * y[2],
        m[6] + x[2] * y[0], m[7] + x[2] * y[1], m[8] + x[2] * y[2],
    )  # fmt: skip


@kernel
def _times_inertia(turning, mixed, moving, s):
    """An articulated inertia times a spatial motion."""
    w, u = (s[0], s[1], s[2]), (s[3], s[4], s[5])
    a, b = symmetric_apply(turning, w), symmetric_apply(moving, u)
    return (
        a[0] + mixed[0] * u[0] + mixed[1] * u[1] + mixed[2] * u[2],
        a[1] + mixed[3] * u[0] + mixed[4] * u[1] + mixed[5] * u[2],
        a[2] + mixed[6] * u[0] + mixed[7] * u[1] + mixed[8] * u[2],
        b[0] + mixed[0] * w[0] + mixed[3] * w[1] + mixed[6] * w[2],
        b[1] + mixed[1] * w[0] + mixed[4] * w[1] + mixed[7] * w[2],
        b[2] + mixed[2] * w[0] + mixed[5] * w[1] + mixed[8] * w[2],
    )


@inlined
def _columns(tree, pose, c, block, i, turning, mixed, moving, factor):
    """Remove the joint's degrees of freedom from the articulated inertia: block LDLᵀ, the columns follow L."""
    joint, axes = factor.joint, pose.axes
    first, end = tree.dof[i], tree.dof[i + 1]
    for d in range(first, end):
        s = load6(axes, d, P.TURNS)
        u = _times_inertia(turning, mixed, moving, s)
        pivot = dot6(s, u)
        if c > 0.0:
            pivot += c * block[d, d - first]
        floor = PIVOT_FLOOR * pivot
        column = u
        for e in range(first, d):
            entry = dot6(load6(axes, e, P.TURNS), u)
            if c > 0.0:
                entry += c * block[d, e - first]
            for k in range(e - first):
                entry -= joint[d, F.LOWER + k] * joint[e, F.LOWER + k] * joint[first + k, F.LOWER + k]
            entry *= joint[e, F.PIVOT]
            joint[d, F.LOWER + e - first] = entry
            pivot -= entry * entry * joint[e, F.LOWER + e - first]
            column = axpy6(-entry, load6(joint, e, F.COLUMN), column)
        joint[d, F.LOWER + d - first] = pivot
        joint[d, F.PIVOT] = 1.0 / pivot if pivot > floor else 0.0
        put6(joint, d, F.COLUMN, column)


@inlined
def _hinge_column(axes, c, block, d, turning, mixed, moving, joint):
    """The same for a hinge."""
    s = load6(axes, d, P.TURNS)
    u = _times_inertia(turning, mixed, moving, s)
    pivot = dot6(s, u)
    if c > 0.0:
        pivot += c * block[d, 0]
    put6(joint, d, F.COLUMN, u)
    joint[d, F.LOWER] = pivot
    joint[d, F.PIVOT] = 1.0 / pivot if pivot > 0.0 else 0.0


@separate
def solve(tree: Tree, pose: Pose, factor: Factor, g: Row, x: Row):
    """x = (M + C)⁻¹ g on the active degrees of freedom, 0 on the others; g, x (nv,)."""
    n1 = len(tree.parent)
    joint, axes, scratch = factor.joint, pose.axes, factor.scratch
    still = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    force = still
    for i in range(n1 - 1, 0, -1):
        kind, d, end = tree.kind[i], tree.dof[i], tree.dof[i + 1]
        if tree.last[i] == i:
            force = still
        elif tree.last[i + 1] < tree.last[i]:
            force = _sum6(force, load6(scratch, i, F.FORCE))
        if factor.active[i]:
            if kind == HINGE:
                x[d] = (g[d] - dot6(load6(axes, d, P.TURNS), force)) * joint[d, F.PIVOT]
                force = axpy6(x[d], load6(joint, d, F.COLUMN), force)
            else:
                force = _push(axes, joint, d, end, g, x, force)
        p = tree.parent[i]
        if 0 < p < i - 1:  # the last child first
            put6(
                scratch,
                p,
                F.FORCE,
                force if tree.last[i] == tree.last[p] else axpy6(1.0, force, load6(scratch, p, F.FORCE)),
            )
    solve_outwards(tree, pose, factor, x)


@kernel
def solve_to_root(tree, pose, factor, i, g, x):
    """The first half of `solve` for an impulse g on joint i alone: x = D⁻¹ L⁻¹ g on the degrees of freedom from the
    joint to its root, where alone it is not 0. Other entries of x are left as they are."""
    force = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    while i > 0:
        if factor.active[i]:
            force = _push(pose.axes, factor.joint, tree.dof[i], tree.dof[i + 1], g, x, force)
        i = tree.parent[i]


@kernel
def solve_outwards(tree, pose, factor, x):
    """The second half of `solve`, from the roots to the leaves, for callers that have done the first: x = L⁻ᵀ x on the
    active degrees of freedom, 0 on the others."""
    joint, axes, scratch = factor.joint, pose.axes, factor.scratch
    still = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    put6(scratch, 0, F.MOVES, still)
    motion = still
    for i in range(1, len(tree.parent)):
        kind, d, end = tree.kind[i], tree.dof[i], tree.dof[i + 1]
        if tree.parent[i] < i - 1 or i == 1:
            motion = load6(scratch, tree.parent[i], F.MOVES)
        if not factor.active[i]:
            for k in range(d, end):
                x[k] = 0.0
        elif kind == HINGE:
            x[d] -= joint[d, F.PIVOT] * dot6(load6(joint, d, F.COLUMN), motion)
            motion = axpy6(x[d], load6(axes, d, P.TURNS), motion)
        else:
            motion = _move(axes, joint, d, end, x, motion)
        if tree.last[i] > i and tree.last[i + 1] < tree.last[i]:
            put6(scratch, i, F.MOVES, motion)


@kernel
def _push(axes, joint, first, end, g, x, force):
    """Pass towards the root: x becomes D⁻¹ L⁻¹ of the impulse on the joint itself. Returns the force on its parent."""
    for d in range(first, end):
        w = g[d] - dot6(load6(axes, d, P.TURNS), force)
        for e in range(first, d):
            w -= joint[d, F.LOWER + e - first] * x[e]
        x[d] = w
    for d in range(first, end):
        x[d] *= joint[d, F.PIVOT]
        force = axpy6(x[d], load6(joint, d, F.COLUMN), force)
    return force


@kernel
def _move(axes, joint, first, end, x, motion):
    """Pass outwards: x with the parent's motion. Returns the body's motion."""
    for d in range(end - 1, first - 1, -1):
        w = x[d] - joint[d, F.PIVOT] * dot6(load6(joint, d, F.COLUMN), motion)
        for e in range(d + 1, end):
            w -= joint[e, F.LOWER + d - first] * x[e]
        x[d] = w
    for d in range(first, end):
        motion = axpy6(x[d], load6(axes, d, P.TURNS), motion)
    return motion


@separate
def momentum_of(tree: Tree, pose: Pose, table: Table, x: Row, g: Row):
    """g = M x, overwrites columns MOTION and LOAD of `table`; x, g (nv,)."""
    velocities(tree, pose, x, table, W.STILL, table, W.MOTION)
    for i in range(1, len(tree.parent)):
        angular, linear = apply_inertia(tree, pose, i, load3(table, i, W.MOTION), load3(table, i, W.MOTION + 3))
        store6(table, i, W.LOAD, angular, linear)
    generalized(tree, pose, table, W.LOAD, g)


@separate
def generalized(tree: Tree, pose: Pose, table: Table, load: Column, g: Row):
    """g = Σ Jᵀ load over bodies: loads about the root anchors in column `load`, overwritten; g (nv,)."""
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
