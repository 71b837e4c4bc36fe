"""The same fall in MuJoCo: bodies, shapes, limits, damping, ground and step as ours.

Owns the translation of a `Fall`. Must not know what is timed.

MuJoCo's ball joints have one limit, the angle from rest: it gets the largest that our range allows.
"""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import numpy as np
from falling import DROP, SPIN, Fall, lowest, motion_of

from engine.dynamics.tone import tone_gains
from engine.geometry.shapes import Box, Capsule, Sphere
from engine.model.model import BALL, FREE, HINGE
from engine.simulation.self_touch import left_out
from engine.tables.motion import fit_angles
from mujoco_model import Oracle


class MujocoFall:
    """A fall that MuJoCo can run again and again."""

    def __init__(self, fall: Fall, steps: float) -> None:
        def furnish(spec, bodies) -> None:
            _furnish(fall, spec, bodies)

        self.oracle = Oracle(fall.model, fall.scene.gravity, 1.0 / steps, furnish)
        model, data = self.oracle.m, self.oracle.d
        coords = fall.rotations.copy()
        hinges = np.flatnonzero(fall.model.kinds == HINGE)
        coords[hinges] = 0.0
        coords[hinges, :1] = fit_angles(fall.model, hinges, fall.rotations[None, hinges], 0)[0, :, :1]
        self.oracle.set_pose(coords, fall.positions)
        _damp(fall, self.oracle)
        # the speed of the first frame, of the roots alone
        motion = motion_of(fall)
        for i in np.flatnonzero(fall.model.kinds == FREE):
            at = model.joint(f"{i}").dofadr[0]
            data.qvel[at : at + 3] = (motion.positions[1, i] - motion.positions[0, i]) * motion.fps
            turn = np.zeros(9)
            mujoco.mju_quat2Mat(turn, data.qpos[model.joint(f"{i}").qposadr[0] + 3 :][:4])
            data.qvel[at + 3 : at + 6] = turn.reshape(3, 3).T @ np.array(SPIN)
        self.start = data.qpos.copy(), data.qvel.copy()

    def run(self, steps: int) -> None:
        """From the start."""
        data = self.oracle.d
        mujoco.mj_resetData(self.oracle.m, data)
        data.qpos[:], data.qvel[:] = self.start
        mujoco.mj_step(self.oracle.m, data, steps)

    @property
    def highest(self) -> float:
        """How far the highest body's frame is above the ground now [m]."""
        return float(self.oracle.d.xpos[1:, 2].max())


def _furnish(fall: Fall, spec, bodies) -> None:
    """Ground, shapes, pairs that do not touch, and limits."""
    kind = mujoco.mjtGeom
    floor = lowest(fall) - DROP
    spec.worldbody.add_geom(type=kind.mjGEOM_PLANE, size=[50, 50, 1], pos=[0, 0, floor], friction=[0.6, 0.005, 0.0001])
    for i, shapes in enumerate(fall.model.shapes):
        for k, shape in enumerate(shapes):
            rough = {"friction": [fall.model.frictions[i], 0.005, 0.0001]}
            if isinstance(shape, Sphere):
                bodies[i].add_geom(type=kind.mjGEOM_SPHERE, size=[shape.radius, 0, 0], pos=shape.center, **rough)
            elif isinstance(shape, Capsule):
                ends = [*shape.start, *shape.end]
                bodies[i].add_geom(type=kind.mjGEOM_CAPSULE, size=[shape.radius, 0, 0], fromto=ends, **rough)
            elif isinstance(shape, Box):
                bodies[i].add_geom(
                    type=kind.mjGEOM_BOX, size=shape.half, pos=shape.center, quat=shape.rotation, **rough
                )
            else:
                mesh = spec.add_mesh(name=f"{i}.{k}")
                mesh.uservert = np.asarray(shape.points, dtype=float).ravel()
                bodies[i].add_geom(type=kind.mjGEOM_MESH, meshname=mesh.name, **rough)
    behaviour = fall.controller.control(fall.model, 2).behaviour
    for a, b in left_out(fall.model, motion_of(fall), behaviour):
        spec.add_exclude(bodyname1=fall.model.names[a], bodyname2=fall.model.names[b])
    for body, i in zip(bodies, range(len(bodies)), strict=True):
        for joint in body.joints:
            limit = _limit(fall, i)
            if limit is not None:
                joint.limited, joint.range = mujoco.mjtLimited.mjLIMITED_TRUE, limit


def _limit(fall: Fall, i: int) -> tuple[float, float] | None:
    """MuJoCo's limit of a joint [rad]."""
    limits = fall.model.limits[i]
    if fall.model.kinds[i] == HINGE and np.isfinite(limits[:2]).all():
        return float(limits[0]), float(limits[1])
    if fall.model.kinds[i] != BALL or not np.isfinite(limits[0]):
        return None
    wide = max(limits[0], limits[3]) if np.isfinite(limits[3]) else limits[0]
    aside = 2.0 * np.arccos(min(1.0, abs(fall.model.limit_frames[i, 0] @ fall.model.limit_frames[i, 1])))
    return 0.0, float(min(wide + aside, 0.99 * np.pi))


def _damp(fall: Fall, oracle: Oracle) -> None:
    """Joint damping: our tone's, times what the joint turns at rest."""
    model, data = oracle.m, oracle.d
    mujoco.mj_forward(model, data)
    inertia = np.diag(oracle.mass_matrix())
    rate = tone_gains(fall.model)[0]
    for i in range(len(fall.model)):
        if fall.model.kinds[i] != FREE:
            first, end = fall.model.dof_starts[i], fall.model.dof_starts[i + 1]
            places = oracle.place[first:end]
            model.dof_damping[places] = rate[i] * inertia[first:end].mean()


class Humanoid:
    """dm_control's humanoid_CMU, limp, from its rest pose above the ground."""

    def __init__(self, path: Path, steps: float) -> None:
        text = re.sub(r"<include[^>]*/>", "", path.read_text(encoding="utf-8"))
        text = re.sub(r'\smaterial="[^"]*"', "", text)
        self.model = mujoco.MjModel.from_xml_string(text)
        self.model.opt.timestep = 1.0 / steps
        self.data = mujoco.MjData(self.model)

    def run(self, steps: int) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[2] = 1.2
        self.data.qvel[3:6] = SPIN
        mujoco.mj_step(self.model, self.data, steps)
