"""Rotation arithmetic on whole arrays: quaternions (wxyz) and matrices, any leading shape.

Owns the numbers only. Must not know Blender, bones or units, so that it can be
tested without either.
"""

from __future__ import annotations

import numpy as np

# A shorter column has no direction (a bone scaled to 0).
TINY = 1e-12


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a ⊗ b: rotate by b, then by a. Shapes (..., 4), broadcast."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def conjugate(q: np.ndarray) -> np.ndarray:
    """The inverse of unit quaternions, shape (..., 4)."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b over the last axis, broadcast; several times faster than numpy's."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a · b over the last axis, broadcast: component by component, faster than a sum over a short axis."""
    return sum(a[..., k] * b[..., k] for k in range(1, a.shape[-1])) + a[..., 0] * b[..., 0]


def rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) rotated by unit quaternions (..., 4)."""
    u = q[..., 1:]
    t = 2.0 * cross(u, v)
    return v + q[..., :1] * t + cross(u, t)


def to_matrix(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrix(m: np.ndarray) -> np.ndarray:
    """Unit quaternions (..., 4) of rotation matrices (..., 3, 3), by the largest component."""
    m = np.asarray(m, dtype=np.float64)
    flat = m.reshape(-1, 9).T
    xx, xy, xz, yx, yy, yz, zx, zy, zz = flat
    # Four times the squares of w, x, y, z.
    squares = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz])
    best = np.argmax(squares, axis=0)
    # Row k holds 4 q_k · q, in terms of the sums and differences of mirrored entries.
    a, b, c = zy - yz, xz - zx, yx - xy
    d, e, f = xy + yx, xz + zx, yz + zy
    rows = (
        (squares[0], a, b, c),
        (a, squares[1], d, e),
        (b, d, squares[2], f),
        (c, e, f, squares[3]),
    )
    q = np.empty((flat.shape[1], 4))
    for k, row in enumerate(rows):
        chosen = best == k
        if chosen.all():
            q = np.stack(row, axis=-1)
        elif chosen.any():
            for i in range(4):
                q[chosen, i] = row[i][chosen]
    return (q / _length(q)).reshape(*m.shape[:-2], 4)


def split(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation matrices (..., 3, 3) and scales (..., 3) of bone matrices (..., 3, 3).

    The Y column keeps its direction, so that a bone's tail stays in place even if the matrix is sheared; X is made
    perpendicular to it. A mirrored matrix gives three negative scales. A column scaled to 0 gets a direction that fits.
    """
    m = np.asarray(m, dtype=np.float64)
    volume = dot(cross(m[..., 0], m[..., 1]), m[..., 2])
    sign = np.where(volume < 0.0, -1.0, 1.0)
    flipped = m * sign[..., None, None] if (volume < 0.0).any() else m
    scale = np.stack([np.sqrt(dot(flipped[..., k], flipped[..., k])) for k in range(3)], axis=-1)
    y = _direction(flipped[..., 1], np.broadcast_to([0.0, 1.0, 0.0], flipped.shape[:-1]))
    x = flipped[..., 0] - y * dot(y, flipped[..., 0])[..., None]
    spare = cross(y, np.where(np.abs(y[..., 2:]) < 0.9, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]))
    x = _direction(x, spare / _length(spare), scale[..., 0])
    rotation = np.stack([x, y, cross(x, y)], axis=-1)
    return rotation, scale * sign[..., None]


def placed(poses: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotations (..., 4), scales (..., 3) and heads (..., 3) of bone matrices (..., 4, 4)."""
    poses = np.asarray(poses, dtype=np.float64)
    turns, scales = split(poses[..., :3, :3])
    return from_matrix(turns), scales, poses[..., :3, 3]


def _length(v: np.ndarray) -> np.ndarray:
    return np.sqrt(dot(v, v))[..., None]


def _direction(v: np.ndarray, fallback: np.ndarray, size: np.ndarray | None = None) -> np.ndarray:
    length = _length(v)
    floor = TINY if size is None else np.maximum(1e-6 * size[..., None], TINY)
    return np.where(length > floor, v / np.maximum(length, TINY), fallback)


def polar(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest rotation (..., 3, 3) and the uniform size (...) of matrices with positive determinant."""
    u, s, vt = np.linalg.svd(np.asarray(m, dtype=np.float64))
    flip = np.where(np.linalg.det(u @ vt) < 0.0, -1.0, 1.0)
    u = u.copy()
    u[..., :, 2] *= flip[..., None]
    return u @ vt, np.cbrt(s.prod(axis=-1))


def stretch(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (..., 3, 3) and remaining stretches of matrices (..., 3, 3), rotation times stretch, mirrored ones
    too."""
    sign = np.where(np.linalg.det(m) < 0.0, -1.0, 1.0)[..., None, None]
    turn = polar(m * sign)[0]
    return turn, np.swapaxes(turn, -1, -2) @ m


def to_vector(q: np.ndarray) -> np.ndarray:
    """Unit quaternions (..., 4) as axis times angle (..., 3) [rad], the short way round."""
    q = q * np.where(q[..., :1] < 0.0, -1.0, 1.0)
    length = _length(q[..., 1:])
    angle = 2.0 * np.arctan2(length, q[..., :1])
    return q[..., 1:] * np.where(length > TINY, angle / np.maximum(length, TINY), 2.0)


def from_vector(v: np.ndarray) -> np.ndarray:
    """Unit quaternions (..., 4) of axes times angles (..., 3) [rad]."""
    angle = _length(v)
    return np.concatenate([np.cos(0.5 * angle), 0.5 * v * np.sinc(angle / (2.0 * np.pi))], axis=-1)


def continuous(q: np.ndarray) -> np.ndarray:
    """Quaternions (frames, ..., 4) with continuous signs."""
    if len(q) < 2:
        return q.copy()
    out, turns_over = q.copy(), dot(q[1:], q[:-1]) < 0.0
    if turns_over.any():
        out[1:] *= np.cumprod(np.where(turns_over, -1.0, 1.0), axis=0)[..., None]
    return out


def angle_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angle [rad] between unit quaternions (..., 4), accurate near zero."""
    d = multiply(conjugate(a), b)
    return 2.0 * np.arctan2(np.linalg.norm(d[..., 1:], axis=-1), np.abs(d[..., 0]))


def inverse(matrices: np.ndarray) -> np.ndarray:
    """Inverses of matrices (..., 3, 3), or of affine ones (..., 4, 4), by cross products: for matrices this small the
    overhead of LAPACK's threads is a hundred times the work."""
    x, y, z = (matrices[..., :3, k] for k in range(3))
    rows = np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)], axis=-2)
    rows = rows / np.einsum("...i,...i->...", rows[..., 0, :], x)[..., None, None]
    if matrices.shape[-1] == 3:
        return rows
    out = np.zeros_like(matrices)
    out[..., :3, :3] = rows
    out[..., :3, 3] = -np.einsum("...ij,...j->...i", rows, matrices[..., :3, 3])
    out[..., 3, 3] = 1.0
    return out


def inverse_or_nearest(matrices: np.ndarray) -> np.ndarray:
    """Inverses of matrices (..., n, n); pseudo-inverses for all of them if one is singular."""
    try:
        return np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(matrices)


def axes_with_z(direction: np.ndarray) -> np.ndarray:
    """Rotation matrix whose third column is the direction; the identity for none."""
    length = np.linalg.norm(direction)
    if length < 1e-12:
        return np.eye(3)
    z = np.asarray(direction, dtype=float) / length
    # of axes that are nearly as far from it the first: rounding must not choose
    x = np.cross(np.eye(3)[int(np.argmax(np.abs(z) <= np.abs(z).min() + 0.1))], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def turn_z_to(vector: np.ndarray) -> tuple[float, float, float, float]:
    """The shortest rotation (wxyz) that takes Z to the vector; none for a vector without length."""
    length = np.linalg.norm(vector)
    if length < 1e-12:
        return (1.0, 0.0, 0.0, 0.0)
    x, y, z = vector / length
    if z < -0.999999:
        return (0.0, 1.0, 0.0, 0.0)
    q = np.array([1.0 + z, -y, x, 0.0])
    return tuple(q / np.linalg.norm(q))
