"""The same model in MuJoCo, the independent oracle: body frames are ours, joints one for one.

MuJoCo puts a free joint's linear velocity first, we put the angular one first; a
universal joint is two hinges on one body. Everything else is in the same frames.
"""

from __future__ import annotations

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from engine.model.model import BALL, FREE, HINGE, UNIVERSAL, Model


class Oracle:
    """A MuJoCo model and its data, driven with the engine's coordinates."""

    def __init__(self, model: Model, gravity=(0.0, 0.0, -9.81), timestep: float = 1e-3, add=None):
        """`add(spec, bodies)` may put more into the model before it is compiled."""
        self.model = model
        spec = mujoco.MjSpec()
        spec.compiler.boundmass = 0.0
        spec.compiler.boundinertia = 0.0
        spec.compiler.balanceinertia = False
        spec.compiler.fusestatic = False
        spec.compiler.degree = False
        spec.option.gravity = np.asarray(gravity, dtype=float)
        spec.option.timestep = timestep
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
        bodies = []
        for i, p in enumerate(model.parents):
            parent = spec.worldbody if p < 0 else bodies[p]
            body = parent.add_body(
                name=model.names[i],
                pos=model.offsets[i],
                quat=model.rest_rotations[i],
                mass=model.masses[i],
                ipos=model.centers[i],
                fullinertia=model.inertias[i][(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)],
                explicitinertial=True,
            )
            bodies.append(body)
            kind = model.kinds[i]
            if kind == FREE:
                body.add_joint(name=f"{i}", type=mujoco.mjtJoint.mjJNT_FREE)
            elif kind == BALL:
                body.add_joint(name=f"{i}", type=mujoco.mjtJoint.mjJNT_BALL)
            elif kind in (HINGE, UNIVERSAL):
                for k in range(kind):
                    body.add_joint(name=f"{i}.{k}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=model.axes[i, k])
        if add is not None:
            add(spec, bodies)
        self.m = spec.compile()
        self.d = mujoco.MjData(self.m)
        self.body_ids = np.array([mujoco.mj_name2id(self.m, mujoco.mjtObj.mjOBJ_BODY, name) for name in model.names])
        self.place = np.zeros(model.nv, dtype=int)  # of each of our degrees of freedom in theirs
        self.qpos_start = np.zeros(len(model), dtype=int)
        for i, kind in enumerate(model.kinds):
            first = model.dof_starts[i]
            if kind in (HINGE, UNIVERSAL):
                for k in range(kind):
                    self.place[first + k] = self._joint(f"{i}.{k}").dofadr[0]
                self.qpos_start[i] = self._joint(f"{i}.0").qposadr[0]
            elif kind == BALL:
                self.place[first : first + 3] = self._joint(f"{i}").dofadr[0] + np.arange(3)
                self.qpos_start[i] = self._joint(f"{i}").qposadr[0]
            elif kind == FREE:
                self.place[first : first + 6] = self._joint(f"{i}").dofadr[0] + np.array([3, 4, 5, 0, 1, 2])
                self.qpos_start[i] = self._joint(f"{i}").qposadr[0]

    def _joint(self, name: str):
        return self.m.joint(name)

    def theirs(self, v: np.ndarray) -> np.ndarray:
        out = np.empty(self.model.nv)
        out[self.place] = v
        return out

    def ours(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(v)[self.place].copy()

    def set_pose(self, coords: np.ndarray, anchors: np.ndarray) -> None:
        """coords (n, 4) as the engine's kernels have them, anchors (n, 3) in the parents' frames."""
        for i, kind in enumerate(self.model.kinds):
            a = self.qpos_start[i]
            if kind == FREE:
                rest = Rotation.from_quat(self.model.rest_rotations[i], scalar_first=True)
                turn = rest * Rotation.from_quat(coords[i], scalar_first=True)
                self.d.qpos[a : a + 3] = anchors[i]
                self.d.qpos[a + 3 : a + 7] = turn.as_quat(scalar_first=True)
                continue
            self.m.body_pos[self.body_ids[i]] = anchors[i]
            if kind == BALL:
                self.d.qpos[a : a + 4] = coords[i]
            elif kind in (HINGE, UNIVERSAL):
                self.d.qpos[a : a + kind] = coords[i, :kind]

    def coords(self) -> np.ndarray:
        """(n, 4) of where MuJoCo's joints are."""
        out = np.zeros((len(self.model), 4))
        for i, kind in enumerate(self.model.kinds):
            a = self.qpos_start[i]
            if kind == FREE:
                rest = Rotation.from_quat(self.model.rest_rotations[i], scalar_first=True).inv()
                turn = rest * Rotation.from_quat(self.d.qpos[a + 3 : a + 7], scalar_first=True)
                out[i] = turn.as_quat(scalar_first=True)
            elif kind == BALL:
                out[i] = self.d.qpos[a : a + 4]
            elif kind in (HINGE, UNIVERSAL):
                out[i, :kind] = self.d.qpos[a : a + kind]
        return out

    def mass_matrix(self) -> np.ndarray:
        """(nv, nv) in our order, at the pose last evaluated."""
        full = np.zeros((self.m.nv, self.m.nv))
        mujoco.mj_fullM(self.m, self.d, full)
        return full[np.ix_(self.place, self.place)]

    def inverse(self, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Generalized forces that accelerations a take at rates v, ours in and out, at the pose set."""
        self.d.qvel[:] = self.theirs(v)
        self.d.qacc[:] = self.theirs(a)
        mujoco.mj_inverse(self.m, self.d)
        return self.ours(self.d.qfrc_inverse)
