"""Small algebra on tuples: vectors, quaternions (wxyz), rotation vectors.

Owns the helpers that kernels are written in. Must not know about bodies or time. Tuples compile to registers: a kernel
written with them reads like the formula and costs as much as hand-written scalars.
"""

from __future__ import annotations

import math

from ..compile.decorators import kernel

# Below this squared angle [rad²] series replace sines and cosines, exact to the last digits: joints turn little in a
# step, and kernels would spend much of their time in these functions.
SERIES = 1.0
SHORT = 0.04  # the same for the square of the sine of half an angle


@kernel
def load3(a, i, c):
    """Three numbers of row i from column c."""
    return a[i, c], a[i, c + 1], a[i, c + 2]


@kernel
def store3(a, i, c, v):
    a[i, c], a[i, c + 1], a[i, c + 2] = v


@kernel
def load4(a, i, c):
    return a[i, c], a[i, c + 1], a[i, c + 2], a[i, c + 3]


@kernel
def store4(a, i, c, q):
    a[i, c], a[i, c + 1], a[i, c + 2], a[i, c + 3] = q


@kernel
def load6(a, i, c):
    return a[i, c], a[i, c + 1], a[i, c + 2], a[i, c + 3], a[i, c + 4], a[i, c + 5]


@kernel
def store6(a, i, c, angular, linear):
    """A spatial vector: its angular and linear part."""
    a[i, c], a[i, c + 1], a[i, c + 2] = angular
    a[i, c + 3], a[i, c + 4], a[i, c + 5] = linear


@kernel
def put6(a, i, c, x):
    """Six numbers into row i from column c."""
    a[i, c], a[i, c + 1], a[i, c + 2], a[i, c + 3], a[i, c + 4], a[i, c + 5] = x


@kernel
def dot6(a, b):
    # in pairs: summed one by one it would take half as long again
    return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5])


@kernel
def axpy6(s, a, b):
    """s·a + b"""
    return (
        s * a[0] + b[0],
        s * a[1] + b[1],
        s * a[2] + b[2],
        s * a[3] + b[3],
        s * a[4] + b[4],
        s * a[5] + b[5],
    )


@kernel
def copy(source, out):
    """out = source for vectors (numba's own slice copy compiles a lot of error text)."""
    for i in range(len(source)):
        out[i] = source[i]


@kernel
def add(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def sub(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def scale(s, a):
    return s * a[0], s * a[1], s * a[2]


@kernel
def axpy(s, a, b):
    """s·a + b"""
    return s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2]


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def quat_mul(p, q):
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@kernel
def quat_conj(q):
    return q[0], -q[1], -q[2], -q[3]


@kernel
def quat_unit(q):
    s = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return q[0] * s, q[1] * s, q[2] * s, q[3] * s


@kernel
def quat_tidy(q):
    """Normalize a product of unit quaternions: from so near to 1 one step of Newton's method is enough."""
    s = 1.5 - 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return q[0] * s, q[1] * s, q[2] * s, q[3] * s


@kernel
def rotate(q, v):
    """R(q)·v"""
    u = (q[1], q[2], q[3])
    t = scale(2.0, cross(u, v))
    return add(axpy(q[0], t, v), cross(u, t))


@kernel
def unrotate(q, v):
    """R(q)ᵀ·v"""
    return rotate(quat_conj(q), v)


@kernel
def quat_matrix(q):
    """R(q), its nine entries row by row."""
    x, y, z = 2.0 * q[1], 2.0 * q[2], 2.0 * q[3]
    wx, wy, wz = q[0] * x, q[0] * y, q[0] * z
    xx, xy, xz = q[1] * x, q[1] * y, q[1] * z
    yy, yz, zz = q[2] * y, q[2] * z, q[3] * z
    return (1.0 - yy - zz, xy - wz, xz + wy, xy + wz, 1.0 - xx - zz, yz - wx, xz - wy, yz + wx, 1.0 - xx - yy)


@kernel
def matrix_apply(m, v):
    return (
        m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
        m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
        m[6] * v[0] + m[7] * v[1] + m[8] * v[2],
    )


@kernel
def _cos(x):
    """cos √x for x < SERIES"""
    x2 = x * x
    low = 1.0 - x * (1.0 / 2.0) + x2 * (1.0 / 24.0 - x * (1.0 / 720.0))
    high = 1.0 / 40320.0 - x * (1.0 / 3628800.0) + x2 * (1.0 / 479001600.0 - x * (1.0 / 87178291200.0))
    return low + x2 * x2 * (high + x2 * x2 * (1.0 / 20922789888000.0))


@kernel
def _sin(x):
    """sin √x / √x for x < SERIES"""
    x2 = x * x
    low = 1.0 - x * (1.0 / 6.0) + x2 * (1.0 / 120.0 - x * (1.0 / 5040.0))
    high = 1.0 / 362880.0 - x * (1.0 / 39916800.0) + x2 * (1.0 / 6227020800.0 - x * (1.0 / 1307674368000.0))
    return low + x2 * x2 * (high + x2 * x2 * (1.0 / 355687428096000.0))


@kernel
def quat_exp(phi):
    """The rotation by the rotation vector phi [rad]."""
    angle2 = dot(phi, phi)
    if angle2 < SERIES:
        s = 0.5 * _sin(0.25 * angle2)
        c = _cos(0.25 * angle2)
    else:
        angle = math.sqrt(angle2)
        s = math.sin(0.5 * angle) / angle
        c = math.cos(0.5 * angle)
    return c, s * phi[0], s * phi[1], s * phi[2]


@kernel
def quat_log(q):
    """The rotation vector of q with angle at most π [rad]."""
    flip = -1.0 if q[0] < 0.0 else 1.0
    w = flip * q[0]
    u = (flip * q[1], flip * q[2], flip * q[3])
    s2 = dot(u, u)
    if s2 < SHORT:
        k = 2.0 * _arcsin(s2)
    else:
        s = math.sqrt(s2)
        k = 2.0 * math.atan2(s, w) / s
    return scale(k, u)


@kernel
def _arcsin(x):
    """arcsin √x / √x for x < SHORT"""
    x2 = x * x
    x4 = x2 * x2
    one = 1.0 + x * (1.0 / 6.0) + x2 * (3.0 / 40.0 + x * (15.0 / 336.0))
    two = 105.0 / 3456.0 + x * (945.0 / 42240.0) + x2 * (10395.0 / 599040.0 + x * (135135.0 / 9676800.0))
    three = 2027025.0 / 175472640.0 + x * (34459425.0 / 3530096640.0) + x2 * (654729075.0 / 78033715200.0)
    return one + x4 * (two + x4 * three)


@kernel
def quat_axis(axis, angle):
    """The rotation by angle [rad] about a unit axis."""
    square = 0.25 * angle * angle
    if square < SERIES:
        s = 0.5 * angle * _sin(square)
        c = _cos(square)
    else:
        s = math.sin(0.5 * angle)
        c = math.cos(0.5 * angle)
    return c, s * axis[0], s * axis[1], s * axis[2]


@kernel
def right_jacobian(phi, v):
    """J_r(phi)·v: body angular velocity of exp(phi) when phi changes at rate v."""
    angle2 = dot(phi, phi)
    if angle2 < SERIES:
        half = _sin(0.25 * angle2)
        a = 0.5 * half * half
        x2 = angle2 * angle2
        low = 1.0 / 6.0 - angle2 * (1.0 / 120.0) + x2 * (1.0 / 5040.0 - angle2 * (1.0 / 362880.0))
        high = 1.0 / 39916800.0 - angle2 * (1.0 / 6227020800.0) + x2 * (1.0 / 1307674368000.0)
        b = low + x2 * x2 * high
    else:
        angle = math.sqrt(angle2)
        a = (1.0 - math.cos(angle)) / angle2
        b = (angle - math.sin(angle)) / (angle2 * angle)
    c = cross(phi, v)
    return axpy(b, cross(phi, c), axpy(-a, c, v))


@kernel
def right_jacobian_inverse(phi, v):
    """J_r(phi)⁻¹·v: rate of phi for a body angular velocity v of exp(phi)."""
    angle2 = dot(phi, phi)
    if angle2 < SERIES:
        x2 = angle2 * angle2
        x4 = x2 * x2
        low = 1.0 / 12.0 + angle2 * (1.0 / 720.0) + x2 * (1.0 / 30240.0 + angle2 * (1.0 / 1209600.0))
        high = 1.0 / 47900160.0 + angle2 * (691.0 / 1307674368000.0)
        high += x2 * (1.0 / 74724249600.0 + angle2 * (3617.0 / 10670622842880000.0))
        b = low + x4 * (high + x4 * (43867.0 / 5109094217170944000.0))
    else:
        angle = math.sqrt(angle2)
        b = 1.0 / angle2 - (1.0 + math.cos(angle)) / (2.0 * angle * math.sin(angle))
    c = cross(phi, v)
    return axpy(b, cross(phi, c), axpy(0.5, c, v))


@kernel
def symmetric_apply(a, v):
    """A·v for a symmetric A given as (xx, yy, zz, xy, xz, yz)."""
    return (
        a[0] * v[0] + a[3] * v[1] + a[4] * v[2],
        a[3] * v[0] + a[1] * v[1] + a[5] * v[2],
        a[4] * v[0] + a[5] * v[1] + a[2] * v[2],
    )


@kernel
def symmetric_solve(a, v):
    """A⁻¹·v for a symmetric positive definite A (xx, yy, zz, xy, xz, yz)."""
    cxx = a[1] * a[2] - a[5] * a[5]
    cxy = a[4] * a[5] - a[3] * a[2]
    cxz = a[3] * a[5] - a[4] * a[1]
    det = a[0] * cxx + a[3] * cxy + a[4] * cxz
    cyy = a[0] * a[2] - a[4] * a[4]
    cyz = a[3] * a[4] - a[0] * a[5]
    czz = a[0] * a[1] - a[3] * a[3]
    return scale(1.0 / det, symmetric_apply((cxx, cyy, czz, cxy, cxz, cyz), v))


@kernel
def rotate_symmetric(m, a):
    """M·A·Mᵀ for a rotation matrix M (row by row) and a symmetric A (xx, yy, zz, xy, xz, yz)."""
    r0, r1, r2 = (m[0], m[1], m[2]), (m[3], m[4], m[5]), (m[6], m[7], m[8])
    c0, c1 = symmetric_apply(a, r0), symmetric_apply(a, r1)
    return dot(r0, c0), dot(r1, c1), dot(r2, symmetric_apply(a, r2)), dot(r1, c0), dot(r2, c0), dot(r2, c1)
