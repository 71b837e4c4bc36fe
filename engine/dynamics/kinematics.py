"""Forward kinematics: world poses, velocities and momenta from joint coordinates.

Owns forward kinematics and the related passes. Must not know about forces, control or time steps.

Coordinates of a body are four numbers: a quaternion (ball, free), one angle (hinge) or two (universal). Its anchor in
the parent's frame is stored separately. Tables are passed with the first column of the group that is read.
"""

from __future__ import annotations

from ..compile.decorators import inlined, kernel, separate
from ..compile.kernel_types import Column, Row, Table
from ..math.vectors import (
    add,
    cross,
    dot,
    load3,
    load4,
    load6,
    matrix_apply,
    quat_axis,
    quat_matrix,
    quat_mul,
    quat_tidy,
    rotate,
    rotate_symmetric,
    scale,
    store3,
    store4,
    store6,
    sub,
    symmetric_apply,
    unrotate,
)
from ..model.model import BALL, FREE, HINGE, UNIVERSAL
from ..tables import pose as P, tree as T
from ..tables.classes import Pose, Tree


@kernel
def joint_rotation(kind, axis, axis2, c):
    """The rotation of a joint's four coordinates."""
    if kind >= BALL:
        return c
    if kind == HINGE:
        return quat_axis(axis, c[0])
    if kind == UNIVERSAL:
        return quat_mul(quat_axis(axis, c[0]), quat_axis(axis2, c[1]))
    return 1.0, 0.0, 0.0, 0.0


@separate
def forward(tree: Tree, table: Table, coords: Column, anchors: Column, pose: Pose):
    """Fill `pose` from the coordinates and anchors in `table`."""
    for i in range(1, len(tree.parent)):
        p = tree.parent[i]
        kind = tree.kind[i]
        parent, rest = load4(pose.body, p, P.ROTATION), load4(tree.body, i, T.REST)
        turn = joint_rotation(kind, load3(tree.body, i, T.AXIS), load3(tree.body, i, T.AXIS2), load4(table, i, coords))
        # a body waits for its parent through one product only
        q = quat_tidy(quat_mul(parent, quat_mul(rest, turn)))
        store4(pose.body, i, P.ROTATION, q)
        m = quat_matrix(q)
        anchor = (0.0, 0.0, 0.0)
        if p > 0:
            anchor = add(load3(pose.body, p, P.PLACE), rotate(parent, load3(table, i, anchors)))
        store3(pose.body, i, P.PLACE, anchor)
        _joint_axes(tree, pose, i, parent, m, anchor)
        _world_inertia(tree, pose, i, m, anchor)


@inlined
def _joint_axes(tree, pose, i, parent, m, anchor):
    kind = tree.kind[i]
    d = tree.dof[i]
    if kind == HINGE:
        _store_axis(pose.axes, d, matrix_apply(m, load3(tree.body, i, T.AXIS)), anchor)
    elif kind == UNIVERSAL:
        before = quat_mul(parent, load4(tree.body, i, T.REST))
        _store_axis(pose.axes, d, rotate(before, load3(tree.body, i, T.AXIS)), anchor)
        _store_axis(pose.axes, d + 1, matrix_apply(m, load3(tree.body, i, T.AXIS2)), anchor)
    elif kind >= BALL:
        _store_axis(pose.axes, d, (m[0], m[3], m[6]), anchor)
        _store_axis(pose.axes, d + 1, (m[1], m[4], m[7]), anchor)
        _store_axis(pose.axes, d + 2, (m[2], m[5], m[8]), anchor)
        if kind == FREE:
            store6(pose.axes, d + 3, P.TURNS, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
            store6(pose.axes, d + 4, P.TURNS, (0.0, 0.0, 0.0), (0.0, 1.0, 0.0))
            store6(pose.axes, d + 5, P.TURNS, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))


@kernel
def _store_axis(axes, d, s, anchor):
    """Spatial axis of a rotation about s through the anchor, relative to the tree's root anchor."""
    store6(axes, d, P.TURNS, s, cross(anchor, s))


@inlined
def _world_inertia(tree, pose, i, turn, anchor):
    m = tree.body[i, T.MASS]
    c = add(anchor, matrix_apply(turn, load3(tree.body, i, T.CENTER)))
    store3(pose.body, i, P.COM, c)
    store3(pose.body, i, P.MOMENT, scale(m, c))
    own = rotate_symmetric(turn, load6(tree.body, i, T.INERTIA))
    c2 = m * dot(c, c)
    x, y, z = m * c[0], m * c[1], m * c[2]
    diagonal = (own[0] + c2 - x * c[0], own[1] + c2 - y * c[1], own[2] + c2 - z * c[2])
    store6(pose.body, i, P.WORLD_INERTIA, diagonal, (own[3] - x * c[1], own[4] - x * c[2], own[5] - y * c[2]))


@kernel
def place_bodies(tree, pose, table, anchors, where):
    """World positions and rotations of all bodies; root anchors in column `anchors` of `table`."""
    for root in tree.roots:
        origin = load3(table, root, anchors)
        for i in range(root, tree.last[root] + 1):
            store3(where, i, 0, add(origin, load3(pose.body, i, P.PLACE)))
            store4(where, i, 3, load4(pose.body, i, P.ROTATION))


@separate
def velocities(tree: Tree, pose: Pose, v: Row, table: Table, drift: Column, out: Table, motion: Column):
    """Body velocities in column `motion` of `out`: of rates v (nv,) and of anchor rates in the parents' frames."""
    for i in range(1, len(tree.parent)):
        p = tree.parent[i]
        x0, x1, x2, x3, x4, x5 = load6(out, p, motion)
        w = rotate(load4(pose.body, p, P.ROTATION), load3(table, i, drift))
        x3 += w[0]
        x4 += w[1]
        x5 += w[2]
        for d in range(tree.dof[i], tree.dof[i + 1]):
            r = v[d]
            x0 += pose.axes[d, 0] * r
            x1 += pose.axes[d, 1] * r
            x2 += pose.axes[d, 2] * r
            x3 += pose.axes[d, 3] * r
            x4 += pose.axes[d, 4] * r
            x5 += pose.axes[d, 5] * r
        store6(out, i, motion, (x0, x1, x2), (x3, x4, x5))


@kernel
def apply_inertia(tree, pose, i, w, u):
    """Spatial momentum (angular, linear) of body i about the root anchor for velocity (w, u)."""
    h = load3(pose.body, i, P.MOMENT)
    angular = symmetric_apply(load6(pose.body, i, P.WORLD_INERTIA), w)
    return add(angular, cross(h, u)), sub(scale(tree.body[i, T.MASS], u), cross(h, w))


@separate
def momenta(tree: Tree, pose: Pose, table: Table, motion: Column, out: Table, spin: Column):
    """Each body's angular momentum about its own centre (column `spin` of `out`), followed by its linear momentum."""
    for i in range(1, len(tree.parent)):
        angular, p = apply_inertia(tree, pose, i, load3(table, i, motion), load3(table, i, motion + 3))
        store6(out, i, spin, sub(angular, cross(load3(pose.body, i, P.COM), p)), p)


@kernel
def tree_momentum(tree, pose, root, table, spin):
    """Mass, centre of mass, linear momentum, and angular momentum about that centre, of one tree."""
    mass = 0.0
    moment = (0.0, 0.0, 0.0)
    total = (0.0, 0.0, 0.0)
    angular = (0.0, 0.0, 0.0)
    for i in range(root, tree.last[root] + 1):
        mass += tree.body[i, T.MASS]
        moment = add(moment, load3(pose.body, i, P.MOMENT))
        p = load3(table, i, spin + 3)
        total = add(total, p)
        angular = add(angular, add(load3(table, i, spin), cross(load3(pose.body, i, P.COM), p)))
    center = scale(1.0 / mass, moment)
    return mass, center, total, sub(angular, cross(center, total))


@kernel
def tree_energy(tree, pose, root, table, spin):
    """Kinetic energy of one tree from its bodies' momenta [J]."""
    twice = 0.0
    for i in range(root, tree.last[root] + 1):
        p = load3(table, i, spin + 3)
        s = unrotate(load4(pose.body, i, P.ROTATION), load3(table, i, spin))
        twice += dot(p, p) / tree.body[i, T.MASS] + dot(s, symmetric_apply(load6(tree.body, i, T.INVERSE), s))
    return 0.5 * twice


@kernel
def locked_inertia(tree, pose, root, mass, center):
    """Inertia of a tree frozen in its pose, about its centre of mass (xx, yy, zz, xy, xz, yz)."""
    a0 = a1 = a2 = a3 = a4 = a5 = 0.0
    for i in range(root, tree.last[root] + 1):
        t = load6(pose.body, i, P.WORLD_INERTIA)
        a0 += t[0]
        a1 += t[1]
        a2 += t[2]
        a3 += t[3]
        a4 += t[4]
        a5 += t[5]
    c = center
    c2 = dot(c, c)
    return (
        a0 - mass * (c2 - c[0] * c[0]),
        a1 - mass * (c2 - c[1] * c[1]),
        a2 - mass * (c2 - c[2] * c[2]),
        a3 + mass * c[0] * c[1],
        a4 + mass * c[0] * c[2],
        a5 + mass * c[1] * c[2],
    )
