"""The articulated-body algorithm as a factor and a solve.

Owns (M + C)⁻¹ on the active degrees of freedom, in O(bodies), without forming M.
Must not know why a joint is active or where a right-hand side comes from.

A joint is prescribed (not active: it moves as told), free (active, C = 0) or
compliant (active, C = c·D with D the joint's block of M): METHODS §1b, §1c.
D of a joint is Sᵀ I_composite S, so the joint's pivot block is
Sᵀ (I_articulated + c·I_composite) S.
"""

from __future__ import annotations

from .jit import kernel

# A pivot this small against the joint's rigid inertia means nothing hangs on the joint.
PIVOT_FLOOR = 1e-14


@kernel
def composite_inertia(tree, pose, out):
    """out (n+1, 10): xx, yy, zz, xy, xz, yz, mass × centre, mass of each body with all it carries."""
    n1 = len(tree.parent)
    for i in range(n1):
        for k in range(6):
            out[i, k] = pose.inertia[i, k]
        for k in range(3):
            out[i, 6 + k] = pose.moment[i, k]
        out[i, 9] = tree.mass[i]
    for i in range(n1 - 1, 0, -1):
        p = tree.parent[i]
        if p > 0:
            for k in range(10):
                out[p, k] += out[i, k]


@kernel
def composite_form(comp, i, a, b):
    """aᵀ I b for spatial motions a, b and the composite inertia in row i."""
    t = comp[i]
    wx, wy, wz, ux, uy, uz = b[0], b[1], b[2], b[3], b[4], b[5]
    hx, hy, hz, m = t[6], t[7], t[8], t[9]
    ax = t[0] * wx + t[3] * wy + t[4] * wz + hy * uz - hz * uy
    ay = t[3] * wx + t[1] * wy + t[5] * wz + hz * ux - hx * uz
    az = t[4] * wx + t[5] * wy + t[2] * wz + hx * uy - hy * ux
    lx = m * ux - (hy * wz - hz * wy)
    ly = m * uy - (hz * wx - hx * wz)
    lz = m * uz - (hx * wy - hy * wx)
    return a[0] * ax + a[1] * ay + a[2] * az + a[3] * lx + a[4] * ly + a[5] * lz


@kernel
def factorise(tree, pose, comp, compliance, factor):
    """Factor M + C. compliance (n+1,) is c per body; comp is read only where c > 0."""
    n1 = len(tree.parent)
    big = factor.inertia
    for i in range(1, n1):
        _rigid(tree, pose, i, big)
    for i in range(n1 - 1, 0, -1):
        p = tree.parent[i]
        if factor.active[i]:
            _eliminate(tree, pose, comp, compliance[i], i, factor)
        if p > 0:
            for a in range(6):
                for b in range(6):
                    big[p, a, b] += big[i, a, b]


@kernel
def _rigid(tree, pose, i, big):
    """The body's own 6 × 6 inertia about the root anchor."""
    t = pose.inertia[i]
    hx, hy, hz = pose.moment[i, 0], pose.moment[i, 1], pose.moment[i, 2]
    m = tree.mass[i]
    g = big[i]
    g[0, 0], g[0, 1], g[0, 2] = t[0], t[3], t[4]
    g[1, 0], g[1, 1], g[1, 2] = t[3], t[1], t[5]
    g[2, 0], g[2, 1], g[2, 2] = t[4], t[5], t[2]
    g[0, 3], g[0, 4], g[0, 5] = 0.0, -hz, hy
    g[1, 3], g[1, 4], g[1, 5] = hz, 0.0, -hx
    g[2, 3], g[2, 4], g[2, 5] = -hy, hx, 0.0
    g[3, 0], g[3, 1], g[3, 2] = 0.0, hz, -hy
    g[4, 0], g[4, 1], g[4, 2] = -hz, 0.0, hx
    g[5, 0], g[5, 1], g[5, 2] = hy, -hx, 0.0
    g[3, 3], g[3, 4], g[3, 5] = m, 0.0, 0.0
    g[4, 3], g[4, 4], g[4, 5] = 0.0, m, 0.0
    g[5, 3], g[5, 4], g[5, 5] = 0.0, 0.0, m


@kernel
def _eliminate(tree, pose, comp, c, i, factor):
    """Take the joint's degrees of freedom out of the articulated inertia, one after the other."""
    big = factor.inertia[i]
    col, low, inv = factor.column, factor.lower, factor.inverse
    first = tree.dof[i]
    count = tree.dof[i + 1] - first
    for k in range(count):
        d = first + k
        s = pose.axes[d]
        for a in range(6):
            u = 0.0
            for b in range(6):
                u += big[a, b] * s[b]
            col[d, a] = u
    for k in range(count):
        d = first + k
        s = pose.axes[d]
        for j in range(k + 1):
            e = first + j
            pivot = 0.0
            for a in range(6):
                pivot += s[a] * col[e, a]
            if c > 0.0:
                pivot += c * composite_form(comp, i, s, pose.axes[e])
            low[d, j] = pivot
    # block LDLᵀ: low holds L below and the pivots on the diagonal, columns follow
    for k in range(count):
        d = first + k
        floor = PIVOT_FLOOR * low[d, k]
        for j in range(k):
            e = first + j
            entry = low[d, j]
            for m in range(j):
                entry -= low[d, m] * low[e, m] * low[first + m, m]
            low[d, j] = entry * inv[e]
        pivot = low[d, k]
        for j in range(k):
            pivot -= low[d, j] * low[d, j] * low[first + j, j]
            for a in range(6):
                col[d, a] -= low[d, j] * col[first + j, a]
        low[d, k] = pivot
        inv[d] = 1.0 / pivot if pivot > floor else 0.0
    for k in range(count):
        d = first + k
        for a in range(6):
            f = col[d, a] * inv[d]
            for b in range(6):
                big[a, b] -= f * col[d, b]


@kernel
def solve(tree, pose, factor, g, x):
    """x = (M + C)⁻¹ g on the active degrees of freedom, 0 on the others; g, x (nv,)."""
    n1 = len(tree.parent)
    force, motion = factor.force, factor.motion
    col, low, inv = factor.column, factor.lower, factor.inverse
    for i in range(n1):
        for a in range(6):
            force[i, a] = 0.0
    for i in range(n1 - 1, 0, -1):
        p = tree.parent[i]
        first = tree.dof[i]
        if factor.active[i]:
            for d in range(first, tree.dof[i + 1]):
                s = pose.axes[d]
                w = g[d]
                for a in range(6):
                    w -= s[a] * force[i, a]
                x[d] = w
            for d in range(first, tree.dof[i + 1]):
                w = x[d]
                for e in range(first, d):
                    w -= low[d, e - first] * x[e]
                x[d] = w
            for d in range(first, tree.dof[i + 1]):
                x[d] *= inv[d]
                for a in range(6):
                    force[i, a] += col[d, a] * x[d]
        if p > 0:
            for a in range(6):
                force[p, a] += force[i, a]
    for i in range(1, n1):
        p = tree.parent[i]
        first = tree.dof[i]
        end = tree.dof[i + 1]
        for a in range(6):
            motion[i, a] = motion[p, a]
        if not factor.active[i]:
            for d in range(first, end):
                x[d] = 0.0
            continue
        for d in range(first, end):
            z = 0.0
            for a in range(6):
                z += col[d, a] * motion[p, a]
            x[d] -= inv[d] * z
        for k in range(end - first):
            d = end - 1 - k
            for e in range(d + 1, end):
                x[d] -= low[e, d - first] * x[e]
        for d in range(first, end):
            s = pose.axes[d]
            for a in range(6):
                motion[i, a] += s[a] * x[d]


@kernel
def generalized(tree, pose, load, g):
    """g = Σ Jᵀ load over bodies: load (n+1, 6) about the root anchor, used up; g (nv,)."""
    for i in range(len(tree.parent) - 1, 0, -1):
        p = tree.parent[i]
        for d in range(tree.dof[i], tree.dof[i + 1]):
            s = pose.axes[d]
            total = 0.0
            for a in range(6):
                total += s[a] * load[i, a]
            g[d] = total
        if p > 0:
            for a in range(6):
                load[p, a] += load[i, a]
