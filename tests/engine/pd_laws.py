"""Laws that move characters by gains and torques alone, run in MuJoCo: what S2 compares itself with.

Fig. 7: constant gains, tuned until the first key is met. Fig. 8: gains from the time left, as S2's own law has
them, but from the inertia of the joint's own link alone. All aim at the next key, of pose q̂ and velocity ŵ, and
give D (ω² (q̂ − q) + 2ω (ŵ − v)).
"""

from __future__ import annotations

import mujoco
import numpy as np
from scipy.linalg import block_diag

import engine
from engine.controllers.follow.spring import SETTLE
from engine.math import quaternions as rot
from engine.model.model import BALL
from engine.tables import motion as M
from engine.tables.key_table import target_of
from jumps import coordinates, product
from mujoco_model import Oracle
from naive import angle_between, rotation_vectors, turns_of

RATE = 2000  # steps a second, implicit in the law: no gain shakes itself apart
GONE = 0.9  # of the way: S2's f
LEAST_WAY = np.radians(5.0)  # a joint that hardly moves to its key has no timing
LEAST_LEFT = 0.02  # [s] gains are not taken from less: what comes late would be torn to its key


class Player:
    """A model whose root is fixed, under gravity, with keys that its joints have in common."""

    def __init__(self, model: engine.Model, motion: engine.Motion, arrival: float):
        self.model, self.motion = model, motion
        self.oracle = Oracle(model, timestep=1.0 / RATE)
        target, starts = target_of(model, motion), model.dof_starts
        self.times = np.unique(target.key[:, M.WHEN]) / motion.fps
        self.joints = [i for i in range(len(model)) if starts[i + 1] > starts[i]]
        self.values, self.rates = np.zeros((len(self.times), len(model), 4)), np.zeros((len(self.times), model.nv))
        for i in self.joints:
            rows = target.key[target.key_first[i + 1] : target.key_first[i + 2]]
            self.values[:, i] = rows[:, M.KEY_VALUE : M.KEY_VALUE + 4]
            self.rates[:, starts[i] : starts[i + 1]] = arrival * rows[:, M.KEY_RATE :][:, : starts[i + 1] - starts[i]]
        self.start = coordinates(model, motion)[0]

    def composite(self) -> np.ndarray:
        """(nv, nv) the joints' blocks of the mass matrix at the first key: all that hangs on each."""
        self.oracle.set_pose(self.values[0], self.motion.positions[0])
        mujoco.mj_forward(self.oracle.m, self.oracle.d)
        matrix, starts = self.oracle.mass_matrix(), self.model.dof_starts
        return block_diag(*(matrix[starts[i] : starts[i + 1], starts[i] : starts[i + 1]] for i in self.joints))

    def own_links(self) -> np.ndarray:
        """(nv, nv) the same of the joints' own links, as if nothing hung on them."""
        model, blocks = self.model, []
        for i in self.joints:
            c, count = model.centers[i], model.dof_starts[i + 1] - model.dof_starts[i]
            whole = model.inertias[i] + model.masses[i] * (c @ c * np.eye(3) - np.outer(c, c))
            axes = np.eye(3) if model.kinds[i] == BALL else model.axes[i, :count]
            blocks.append(axes @ whole @ axes.T)
        return block_diag(*blocks)

    def run(self, inertia: np.ndarray, pace, frames: int | None = None) -> np.ndarray:
        """(frames, n, 4) rotations of the joints under the law; pace(time left) → ω."""
        oracle, frames = self.oracle, frames or len(self.motion)
        mujoco.mj_resetData(oracle.m, oracle.d)
        oracle.set_pose(self.start, self.motion.positions[0])
        each = round(RATE / self.motion.fps)
        out = np.zeros((frames, len(self.model), 4))
        for step in range((frames - 1) * each + 1):
            coords = oracle.coords()
            if step % each == 0:
                out[step // each] = coords
            key = min(int(np.searchsorted(self.times, step / RATE, side="right")), len(self.times) - 1)
            omega = pace(max(self.times[key] - step / RATE, 0.0))
            self._step(omega * omega * inertia, 2.0 * omega * inertia, key, coords)
        return rot.continuous(np.stack([turns_of(self.model, each) for each in out]))

    def _step(self, stiff: np.ndarray, damp: np.ndarray, key: int, coords: np.ndarray) -> None:
        """The law's pose and rates are those that the step ends with: (M + h B + h² K) a = …"""
        oracle, h = self.oracle, 1.0 / RATE
        mujoco.mj_forward(oracle.m, oracle.d)
        v = oracle.ours(oracle.d.qvel)
        force = stiff @ (self._error(coords, key) - h * v) + damp @ (self.rates[key] - v)
        matrix = oracle.mass_matrix() + h * damp + h * h * stiff
        v += h * np.linalg.solve(matrix, force - oracle.ours(oracle.d.qfrc_bias))
        oracle.d.qvel[:] = oracle.theirs(v)
        mujoco.mj_integratePos(oracle.m, oracle.d.qpos, oracle.d.qvel, h)

    def _error(self, coords: np.ndarray, key: int) -> np.ndarray:
        """(nv,) what leads from the joints to their keys."""
        away = (self.values[key] - coords)[:, :3]
        balls = [i for i in self.joints if self.model.kinds[i] == BALL]
        away[balls] = rotation_vectors(product(coords[balls] * [1, -1, -1, -1], self.values[key, balls]))
        return np.concatenate([away[i, : self.model.dof_starts[i + 1] - self.model.dof_starts[i]] for i in self.joints])

    def tuned(self) -> float:
        """ω of constant gains, stiffened until nine tenths of every joint's way are gone when the first key is due."""
        inertia, frame, keys = self.composite(), round(self.times[0] * self.motion.fps), self.motion.keys
        first = np.isclose(keys.frames, frame)
        bodies, wanted = np.asarray(keys.bodies)[first], np.asarray(keys.rotations)[first]
        way = angle_between(wanted, self.motion.rotations[0, bodies])
        for settle in self.times[0] * 2.0 * 0.9 ** np.arange(40):
            found = self.run(inertia, lambda _: SETTLE / settle, frame + 1)[frame, bodies]  # noqa: B023
            if (angle_between(wanted, found) <= (1.0 - GONE) * way)[way > LEAST_WAY].all():
                return SETTLE / settle
        raise AssertionError("no gains meet the first key")


def hand_tuned(player: Player, on: Player | None = None) -> np.ndarray:
    """S2 Fig. 7; tuned on another motion's first key, if one is given."""
    on = on or player
    omega = on.tuned()
    return player.run(on.composite(), lambda _: omega)


def own_link_gains(player: Player) -> np.ndarray:
    """S2 Fig. 8."""
    return player.run(player.own_links(), lambda left: SETTLE / max(left, LEAST_LEFT))
