"""From coordinates to world poses, velocities and momenta.

Owns forward kinematics and the passes that go with it. Must not know about
forces, control or time steps.

Coordinates of a body are four numbers: a quaternion (ball, free), one angle
(hinge) or two (universal). Its anchor in the parent's frame is kept apart.
"""

from __future__ import annotations

from .jit import kernel
from .model import BALL, FREE, HINGE, UNIVERSAL
from .spatial import (
    add,
    cross,
    dot,
    load3,
    load4,
    quat_axis,
    quat_mul,
    quat_unit,
    rotate,
    rotate_symmetric,
    scale,
    store3,
    store4,
    sub,
)


@kernel
def joint_rotation(kind, axis, axis2, c):
    """The rotation that four coordinates stand for."""
    if kind >= BALL:
        return c
    if kind == HINGE:
        return quat_axis(axis, c[0])
    if kind == UNIVERSAL:
        return quat_mul(quat_axis(axis, c[0]), quat_axis(axis2, c[1]))
    return 1.0, 0.0, 0.0, 0.0


@kernel
def forward(tree, coords, anchors, pose):
    """Fill `pose` from coords (n+1, 4) and anchors (n+1, 3) in the parents' frames."""
    for i in range(1, len(tree.parent)):
        p = tree.parent[i]
        kind = tree.kind[i]
        before = quat_mul(load4(pose.rotation, p), load4(tree.rest, i))
        turn = joint_rotation(kind, load3(tree.axis, i), load3(tree.axis2, i), load4(coords, i))
        q = quat_unit(quat_mul(before, turn))
        store4(pose.rotation, i, q)
        anchor = (0.0, 0.0, 0.0)
        if p > 0:
            anchor = add(load3(pose.anchor, p), rotate(load4(pose.rotation, p), load3(anchors, i)))
        store3(pose.anchor, i, anchor)
        _joint_axes(tree, pose, i, before, q, anchor)
        _world_inertia(tree, pose, i, q, anchor)


@kernel
def _joint_axes(tree, pose, i, before, q, anchor):
    kind = tree.kind[i]
    d = tree.dof[i]
    if kind == HINGE:
        _store_axis(pose.axes, d, rotate(q, load3(tree.axis, i)), anchor)
    elif kind == UNIVERSAL:
        _store_axis(pose.axes, d, rotate(before, load3(tree.axis, i)), anchor)
        _store_axis(pose.axes, d + 1, rotate(q, load3(tree.axis2, i)), anchor)
    elif kind >= BALL:
        _store_axis(pose.axes, d, rotate(q, (1.0, 0.0, 0.0)), anchor)
        _store_axis(pose.axes, d + 1, rotate(q, (0.0, 1.0, 0.0)), anchor)
        _store_axis(pose.axes, d + 2, rotate(q, (0.0, 0.0, 1.0)), anchor)
        if kind == FREE:
            for k in range(3):
                for j in range(6):
                    pose.axes[d + 3 + k, j] = 0.0
                pose.axes[d + 3 + k, 3 + k] = 1.0


@kernel
def _store_axis(axes, d, s, anchor):
    """A rotation about the axis s through the anchor, seen from the tree's root anchor."""
    v = cross(anchor, s)
    axes[d, 0], axes[d, 1], axes[d, 2] = s
    axes[d, 3], axes[d, 4], axes[d, 5] = v


@kernel
def _world_inertia(tree, pose, i, q, anchor):
    m = tree.mass[i]
    c = add(anchor, rotate(q, load3(tree.center, i)))
    store3(pose.center, i, c)
    store3(pose.moment, i, scale(m, c))
    t = tree.inertia[i]
    own = rotate_symmetric(q, (t[0], t[1], t[2], t[3], t[4], t[5]))
    c2 = dot(c, c)
    pose.inertia[i, 0] = own[0] + m * (c2 - c[0] * c[0])
    pose.inertia[i, 1] = own[1] + m * (c2 - c[1] * c[1])
    pose.inertia[i, 2] = own[2] + m * (c2 - c[2] * c[2])
    pose.inertia[i, 3] = own[3] - m * c[0] * c[1]
    pose.inertia[i, 4] = own[4] - m * c[0] * c[2]
    pose.inertia[i, 5] = own[5] - m * c[1] * c[2]


@kernel
def velocities(tree, pose, v, drift, out):
    """Body velocities out (n+1, 6) of rates v (nv,) and anchor rates drift (n+1, 3) in the parents' frames."""
    for i in range(1, len(tree.parent)):
        p = tree.parent[i]
        w = rotate(load4(pose.rotation, p), load3(drift, i))
        x0, x1, x2 = out[p, 0], out[p, 1], out[p, 2]
        x3, x4, x5 = out[p, 3] + w[0], out[p, 4] + w[1], out[p, 5] + w[2]
        for d in range(tree.dof[i], tree.dof[i + 1]):
            r = v[d]
            s = pose.axes[d]
            x0 += s[0] * r
            x1 += s[1] * r
            x2 += s[2] * r
            x3 += s[3] * r
            x4 += s[4] * r
            x5 += s[5] * r
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4], out[i, 5] = x0, x1, x2, x3, x4, x5


@kernel
def apply_inertia(tree, pose, i, w, u):
    """Spatial momentum (angular, linear) of body i about the root anchor for velocity (w, u)."""
    h = load3(pose.moment, i)
    t = pose.inertia[i]
    angular = (
        t[0] * w[0] + t[3] * w[1] + t[4] * w[2],
        t[3] * w[0] + t[1] * w[1] + t[5] * w[2],
        t[4] * w[0] + t[5] * w[1] + t[2] * w[2],
    )
    return add(angular, cross(h, u)), sub(scale(tree.mass[i], u), cross(h, w))


@kernel
def momenta(tree, pose, motion, spin, linear):
    """Each body's angular momentum about its own centre, and its linear momentum, (n+1, 3) each."""
    for i in range(1, len(tree.parent)):
        w = (motion[i, 0], motion[i, 1], motion[i, 2])
        u = (motion[i, 3], motion[i, 4], motion[i, 5])
        angular, p = apply_inertia(tree, pose, i, w, u)
        store3(linear, i, p)
        store3(spin, i, sub(angular, cross(load3(pose.center, i), p)))


@kernel
def tree_momentum(tree, pose, root, spin, linear):
    """Mass, centre of mass, linear momentum, and angular momentum about that centre, of one tree."""
    mass = 0.0
    moment = (0.0, 0.0, 0.0)
    total = (0.0, 0.0, 0.0)
    angular = (0.0, 0.0, 0.0)
    for i in range(root, tree.last[root] + 1):
        mass += tree.mass[i]
        moment = add(moment, load3(pose.moment, i))
        p = load3(linear, i)
        total = add(total, p)
        angular = add(angular, add(load3(spin, i), cross(load3(pose.center, i), p)))
    center = scale(1.0 / mass, moment)
    return mass, center, total, sub(angular, cross(center, total))


@kernel
def locked_inertia(tree, pose, root, mass, center):
    """Inertia of a tree frozen in its pose, about its centre of mass (xx, yy, zz, xy, xz, yz)."""
    a0 = a1 = a2 = a3 = a4 = a5 = 0.0
    for i in range(root, tree.last[root] + 1):
        t = pose.inertia[i]
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


