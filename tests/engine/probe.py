"""Doors to the engine's inner kernels, which only compiled code can call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine import articulated, kinematics, pd, spatial, target
from engine.jit import entry, kernel
from engine.model import Model
from engine.tree import Factor, Pose, Tree, build_tree, new_factor, new_pose


@kernel
def _momentum(tree, pose, v, drift, motion, load, g):
    """g = M v (+ what moving anchors add)."""
    kinematics.velocities(tree, pose, v, drift, motion)
    for i in range(1, len(tree.parent)):
        x = motion[i]
        angular, linear = kinematics.apply_inertia(tree, pose, i, (x[0], x[1], x[2]), (x[3], x[4], x[5]))
        load[i, 0], load[i, 1], load[i, 2] = angular
        load[i, 3], load[i, 4], load[i, 5] = linear
    articulated.generalized(tree, pose, load, g)


@entry
def _place(tree, coords, anchors, v, drift, pose, motion, load, g):
    kinematics.forward(tree, coords, anchors, pose)
    _momentum(tree, pose, v, drift, motion, load, g)


@entry
def _solve(tree, pose, compliance, composite, factor, g, x):
    articulated.composite_inertia(tree, pose, composite)
    articulated.factorise(tree, pose, composite, compliance, factor)
    articulated.solve(tree, pose, factor, g, x)


@entry
def _momenta(tree, pose, motion, spin, linear, root):
    kinematics.momenta(tree, pose, motion, spin, linear)
    mass, center, total, angular = kinematics.tree_momentum(tree, pose, root, spin, linear)
    return mass, center, total, angular, kinematics.locked_inertia(tree, pose, root, mass, center)


@entry
def pd_response(omega, zeta, h):
    return pd.response(omega, zeta, h)


@entry
def evaluate(curves, kind, frame, s, dt, value, rate, anchor, anchor_rate):
    target.evaluate(curves, kind, frame, s, dt, value, rate, anchor, anchor_rate)


@entry
def small_rotations(phi, v):
    """Everything the kernels do with rotation vectors, at once."""
    q = spatial.quat_exp(phi)
    return (
        q,
        spatial.quat_log(q),
        spatial.right_jacobian(phi, v),
        spatial.right_jacobian_inverse(phi, v),
        spatial.rotate(q, v),
        spatial.unrotate(q, v),
    )


@entry
def symmetric(q, a, v):
    return spatial.rotate_symmetric(q, a), spatial.symmetric_apply(a, v), spatial.symmetric_solve(a, v)


class Frozen(NamedTuple):
    """A model stopped at one pose with rates v, as the kernels see it."""

    model: Model
    tree: Tree
    pose: Pose
    factor: Factor
    motion: np.ndarray  # (n, 6) about the root anchor
    momentum: np.ndarray  # (nv,) M v

    @classmethod
    def at(cls, model: Model, coords, anchors, v, drift=None) -> Frozen:
        """coords (n, 4), anchors and drift (n, 3) in the parents' frames, v (nv,)."""
        tree = build_tree(model)
        pose, factor = new_pose(tree), new_factor(tree)
        n1 = len(model) + 1
        motion, load, g = np.zeros((n1, 6)), np.zeros((n1, 6)), np.zeros(model.nv)
        _place(
            tree,
            _rows(coords),
            _rows(anchors),
            v,
            np.zeros((n1, 3)) if drift is None else _rows(drift),
            pose,
            motion,
            load,
            g,
        )
        return cls(model, tree, pose, factor, motion[1:], g)

    def times_mass(self, v: np.ndarray) -> np.ndarray:
        """M v at this pose."""
        n1 = len(self.model) + 1
        return _times(self, v, np.zeros((n1, 3)))

    def solve(self, active, compliance, g) -> np.ndarray:
        """x = (M + C)⁻¹ g on the active bodies' degrees of freedom."""
        n1 = len(self.model) + 1
        self.factor.active[1:] = active
        x = np.full(self.model.nv, np.nan)
        _solve(self.tree, self.pose, _rows(compliance), np.zeros((n1, 10)), self.factor, np.asarray(g, dtype=float), x)
        return x

    def tree_momentum(self, root: int):
        """Mass, centre (from the root anchor), momentum, angular momentum and locked inertia of a tree."""
        n1 = len(self.model) + 1
        return _momenta(self.tree, self.pose, _rows(self.motion), np.zeros((n1, 3)), np.zeros((n1, 3)), root + 1)


@entry
def _mass_times(tree, pose, v, drift, motion, load, g):
    _momentum(tree, pose, v, drift, motion, load, g)


def _times(frozen: Frozen, v, drift) -> np.ndarray:
    n1 = len(frozen.model) + 1
    g = np.zeros(frozen.model.nv)
    _mass_times(frozen.tree, frozen.pose, np.asarray(v, dtype=float), drift, np.zeros((n1, 6)), np.zeros((n1, 6)), g)
    return g


def _rows(values) -> np.ndarray:
    """Rows 1 … n for bodies, row 0 for the world."""
    values = np.asarray(values, dtype=float)
    out = np.zeros((len(values) + 1, *values.shape[1:]))
    out[1:] = values
    return out
