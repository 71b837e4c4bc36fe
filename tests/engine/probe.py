"""Doors to the engine's inner kernels, which only compiled code can call.

The one file of the tests that knows how the kernels' tables are laid out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from engine.compile.decorators import entry_point, kernel
from engine.controllers.follow import spring
from engine.controllers.follow.reference import aim_step, begin_frame
from engine.controllers.shared.strength import DRIVE_ROUNDS, give_in
from engine.dynamics import articulated, kinematics, swing_oval
from engine.math import vectors
from engine.model.model import Model
from engine.step import run_frames
from engine.step.compliant_solve import first_half
from engine.step.step import middle_pose
from engine.tables import aim as A, motion as M, pose as P, sample as SA, work as W
from engine.tables.classes import Tree, Work
from engine.tables.tree import build_tree
from engine.tables.work import factor_of, new_work, pose_of


@entry_point
def _place(tree, work):
    kinematics.forward(tree, work.body, W.NEW, W.NEW_ANCHOR, pose_of(work, W.NOW))


@kernel
def _load_momenta(tree, pose, work):
    for i in range(1, len(tree.parent)):
        w, u = vectors.load3(work.body, i, W.MOTION), vectors.load3(work.body, i, W.MOTION + 3)
        angular, linear = kinematics.apply_inertia(tree, pose, i, w, u)
        vectors.store6(work.body, i, W.LOAD, angular, linear)


@entry_point
def _mass_times(tree, work, v, drift, g):
    pose = pose_of(work, W.NOW)
    kinematics.velocities(tree, pose, v, drift, 0, work.body, W.MOTION)
    _load_momenta(tree, pose, work)
    articulated.generalized(tree, pose, work.body, W.LOAD, g)


@entry_point
def _fill_blocks(tree, work):
    pose = pose_of(work, W.NOW)
    articulated.composite_inertia(tree, pose, work.body, W.COMPOSITE)
    for i in range(1, len(tree.parent)):
        articulated.mass_block(tree, pose, work.body, W.COMPOSITE, i, work.block)


@entry_point
def _solve(tree, work, g, x):
    pose, factor = pose_of(work, W.NOW), factor_of(work, W.MAIN)
    articulated.factorise(tree, pose, work.body, W.COMPLIANCE, work.block, factor)
    articulated.solve(tree, pose, factor, g, x)


@entry_point
def _tree_momentum(tree, work, root):
    pose = pose_of(work, W.NOW)
    kinematics.momenta(tree, pose, work.body, W.MOTION, work.body, W.MOMENTUM)
    mass, center, total, angular = kinematics.tree_momentum(tree, pose, root, work.body, W.MOMENTUM)
    return mass, center, total, angular, kinematics.locked_inertia(tree, pose, root, mass, center)


@entry_point
def pd_response(omega, zeta, h):
    return spring.response(omega, zeta, h)


@entry_point
def _evaluate(curves, kind, frame, s, dt, out):
    M.evaluate(curves, kind, frame, s, dt, out, 0)


@entry_point
def about_axis(axis, angle):
    return vectors.quat_axis(axis, angle)


@entry_point
def small_rotations(phi, v):
    """Everything the kernels do with rotation vectors, at once."""
    q = vectors.quat_exp(phi)
    return (
        q,
        vectors.quat_log(q),
        vectors.right_jacobian(phi, v),
        vectors.right_jacobian_inverse(phi, v),
        vectors.rotate(q, v),
        vectors.unrotate(q, v),
    )


@entry_point
def symmetric(a, v):
    return vectors.symmetric_apply(a, v), vectors.symmetric_solve(a, v)


@entry_point
def _strength_step(tree, curves, control, state, aim, work, touch, dt, gravity, middle):
    """The strength's part of a shot's first step: how often it was solved. `middle`: coordinates half way."""
    begin_frame(tree, curves, control, state, aim, 0, dt)
    run_frames._begin_shot(tree, state, work)
    aim_step(tree, curves, control, state, aim, work, 0, 1.0, dt, dt)
    middle_pose(tree, state, aim, work, dt)
    for i in range(1, len(tree.parent)):
        for k in range(4):
            middle[i - 1, k] = work.body[i, W.NEW + k]
    turn = 0
    again = True
    while again and turn < DRIVE_ROUNDS:
        first_half(tree, state, aim, work, touch, dt, gravity)
        again = give_in(tree, state, aim, control, work, touch, 0, dt, turn)
        turn += 1
    return turn


def strength_step(start) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Of a fresh `Shot` in which nothing touches, one step a frame: the rates its first step ends with, those asked
    for (nv,), the coordinates half way (n, 4) that both are solved at, and how often they were."""
    middle = np.zeros((len(start.tree.parent) - 1, 4))
    turns = _strength_step(
        start.tree, start.target, start.control, start.state, start.aim, start.work, start.touch, start.dt,
        start.gravity, middle,
    )  # fmt: skip
    return start.work.rate[W.ENDS].copy(), start.aim.rate[A.END].copy(), middle, turns


class Curve:
    """A motion's target, read at any time."""

    def __init__(self, model: Model, motion):
        self.kind = build_tree(model).kind
        self.curves, self.dt = M.build_target(model, motion), 1.0 / motion.fps
        self.out = np.zeros((len(model) + 1, SA.COLUMNS))

    def at(self, frame: int, s: float) -> tuple[np.ndarray, ...]:
        """Values (n, 4), rates, anchors and anchor rates (n, 3) at frame + s."""
        _evaluate(self.curves, self.kind, frame, s, self.dt, self.out)
        groups = ((SA.VALUE, 4), (SA.RATE, 3), (SA.ANCHOR, 3), (SA.ANCHOR_RATE, 3))
        return tuple(self.out[1:, first : first + width].copy() for first, width in groups)


@dataclass
class Frozen:
    """A model stopped at one pose with rates v, as the kernels see it."""

    model: Model
    tree: Tree
    work: Work
    momentum: np.ndarray  # (nv,) M v

    @classmethod
    def at(cls, model: Model, coords, anchors, v, drift=None) -> Frozen:
        """coords (n, 4), anchors and drift (n, 3) in the parents' frames, v (nv,)."""
        tree = build_tree(model)
        work = new_work(tree)
        work.body[1:, W.NEW : W.NEW + 4] = coords
        work.body[1:, W.NEW_ANCHOR : W.NEW_ANCHOR + 3] = anchors
        _place(tree, work)
        frozen = cls(model, tree, work, np.zeros(model.nv))
        frozen.momentum = frozen.times_mass(v, drift)
        return frozen

    @property
    def turns(self) -> np.ndarray:
        """(n, 4) body axes in the world."""
        return self.work.poses[W.NOW, 1:, P.ROTATION : P.ROTATION + 4]

    @property
    def places(self) -> np.ndarray:
        """(n, 3) anchors from the tree's root anchor."""
        return self.work.poses[W.NOW, 1:, P.PLACE : P.PLACE + 3]

    @property
    def motion(self) -> np.ndarray:
        """(n, 6) velocities about the root anchor, of the rates last used."""
        return self.work.body[1:, W.MOTION : W.MOTION + 6]

    def times_mass(self, v, drift=None) -> np.ndarray:
        """M v at this pose (and what moving anchors add)."""
        g = np.zeros(self.model.nv)
        rates = np.zeros((len(self.model) + 1, 3))
        if drift is not None:
            rates[1:] = drift
        _mass_times(self.tree, self.work, np.asarray(v, dtype=float), rates, g)
        return g

    def solve(self, active, compliance, g) -> np.ndarray:
        """x = (M + C)⁻¹ g on the active bodies' degrees of freedom."""
        self.work.active[W.MAIN, 1:] = active
        self.work.body[1:, W.COMPLIANCE] = compliance
        x = np.full(self.model.nv, np.nan)
        _fill_blocks(self.tree, self.work)
        _solve(self.tree, self.work, np.asarray(g, dtype=float), x)
        return x

    def joint_blocks(self) -> list[np.ndarray]:
        """Each joint's block of M, from the composite inertia of all that hangs on it."""
        _fill_blocks(self.tree, self.work)
        starts = self.model.dof_starts
        return [self.work.block[a:b, : b - a].copy() for a, b in pairwise(starts)]

    def tree_momentum(self, root: int):
        """Mass, centre (from the root anchor), momentum, angular momentum and locked inertia of a tree."""
        return _tree_momentum(self.tree, self.work, root + 1)


@entry_point
def _gap(q, inward, angle, sine, a, b, way, out):
    if way == 0.0:
        gap, along = swing_oval.oval_room(q, inward, angle, sine, a, b)
    else:
        gap, along = swing_oval.room_beside(q, inward, angle, sine, a, b, way)
    out[0] = gap
    vectors.store3(out.reshape(1, 4), 0, 1, along)


def oval_gap(turn: np.ndarray, a: float, b: float, way: float = 0.0) -> tuple[float, np.ndarray]:
    """How far a swing (4,) is within an oval of half widths a about X and b about Z, and its rate by the body's; `way`:
    within the tangent that is so far along the edge."""
    q = tuple(float(x) for x in turn)
    w, x, y, z = q
    rest = np.array([2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)])
    out = np.cross(rest, [0.0, 1.0, 0.0])
    sine = float(np.linalg.norm(out))
    inward, angle = tuple(float(c) for c in -out / sine), float(np.arctan2(sine, rest[1]))
    found = np.zeros(4)
    _gap(q, inward, angle, sine, float(a), float(b), float(way), found)
    return float(found[0]), found[1:]
