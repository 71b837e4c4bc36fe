"""Quaternions (wxyz) in bulk, with numpy.

Owns the vectorised counterparts of `vectors` for work done once a shot. Must not know about models or time steps. All
functions take and return (..., 4) or (..., 3).
"""

from __future__ import annotations

import numpy as np

SMALL = 1e-6


def multiply(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    p, q = np.broadcast_arrays(p, q)
    pw, px, py, pz = np.moveaxis(p, -1, 0)
    qw, qx, qy, qz = np.moveaxis(q, -1, 0)
    out = np.empty(p.shape)
    out[..., 0] = pw * qw - px * qx - py * qy - pz * qz
    out[..., 1] = pw * qx + px * qw + py * qz - pz * qy
    out[..., 2] = pw * qy - px * qz + py * qw + pz * qx
    out[..., 3] = pw * qz + px * qy - py * qx + pz * qw
    return out


def conjugate(q: np.ndarray) -> np.ndarray:
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    u = q[..., 1:]
    t = 2.0 * np.cross(u, v)
    return v + q[..., :1] * t + np.cross(u, t)


def to_matrix(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3)."""
    return np.stack([rotate(q, np.broadcast_to(axis, (*q.shape[:-1], 3))) for axis in np.eye(3)], axis=-1)


def log(q: np.ndarray) -> np.ndarray:
    """Rotation vectors of angle at most π [rad]."""
    q = np.where(q[..., :1] < 0.0, -q, q)
    s = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    k = np.where(s < SMALL, 2.0, 2.0 * np.arctan2(s, q[..., :1]) / np.maximum(s, SMALL))
    return k * q[..., 1:]


def exp(phi: np.ndarray) -> np.ndarray:
    angle = np.linalg.norm(phi, axis=-1, keepdims=True)
    k = np.where(angle < SMALL, 0.5, np.sin(0.5 * angle) / np.maximum(angle, SMALL))
    return np.concatenate([np.cos(0.5 * angle), k * phi], axis=-1)


def about(axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Rotations by angle (...) about unit axes (..., 3)."""
    half = 0.5 * np.asarray(angle)[..., None]
    return np.concatenate([np.cos(half), np.sin(half) * axis], axis=-1)


def right_jacobian(phi: np.ndarray, v: np.ndarray) -> np.ndarray:
    """J_r(phi)·v"""
    angle2 = np.sum(phi * phi, axis=-1, keepdims=True)
    angle = np.sqrt(np.maximum(angle2, 1e-8))
    a = np.where(angle2 < 1e-8, 0.5, (1.0 - np.cos(angle)) / (angle * angle))
    b = np.where(angle2 < 1e-8, 1.0 / 6.0, (angle - np.sin(angle)) / (angle * angle * angle))
    c = np.cross(phi, v)
    return v - a * c + b * np.cross(phi, c)


def right_jacobian_inverse(phi: np.ndarray, v: np.ndarray) -> np.ndarray:
    """J_r(phi)⁻¹·v"""
    angle2 = np.sum(phi * phi, axis=-1, keepdims=True)
    angle = np.sqrt(np.maximum(angle2, 1e-8))
    b = np.where(
        angle2 < 1e-8,
        1.0 / 12.0,
        1.0 / (angle * angle) - (1.0 + np.cos(angle)) / (2.0 * angle * np.sin(angle)),
    )
    c = np.cross(phi, v)
    return v + 0.5 * c + b * np.cross(phi, c)


def twist(q: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """The angle of q about a unit axis, in −π … π [rad]."""
    angle = 2.0 * np.arctan2(np.sum(q[..., 1:] * axis, axis=-1), q[..., 0])
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


def continuous(q: np.ndarray) -> np.ndarray:
    """Flip signs along the first axis so that neighbours lie in one half of the sphere."""
    side = np.ones(q.shape[:-1])
    side[1:] = np.where(np.sum(q[1:] * q[:-1], axis=-1) < 0.0, -1.0, 1.0)
    return q * np.cumprod(side, axis=0)[..., None]
