"""What limp joints store between frames: in the pull of their tone, and in the soft ends of their ranges.

Owns the springs' side of a fall's balance of energy, worked out from poses alone. Must not know how a step goes.

Both springs are as stiff as the inertia D of what hangs on the joint, which changes with the pose. So they have no
potential of their own: what they store between two frames is worked out with the mean of both frames' D.
"""

from __future__ import annotations

import math

import numpy as np

from engine.compile.decorators import entry_point
from engine.contact.soft_limits import PART_OF_RANGE, STIFF, ZONE
from engine.contact.tie_rows import room_of_ball
from engine.dynamics.tone import DAMPING, FARTHEST, PULL
from engine.math import quaternions as rot
from engine.model.model import BALL, FREE, HINGE
from engine.model.relaxed_pose import relaxed_coordinates
from engine.tables import control as C, holds as H
from engine.tables.motion import fit_angles


def stored(fallen) -> np.ndarray:
    """(frames − 1,) the energy that joints of a `Fallen` take up from each frame to the next [J]; given off below 0."""
    model, q = fallen.fall.model, fallen.result.motion.rotations
    setting = fallen.fall.controller.control(model, 2).setting[0, 1:]
    pull, damping = setting[:, C.TONE_PULL], setting[:, C.TONE_DAMPING]
    relaxed = relaxed_coordinates(model)
    world = rot.to_matrix(fallen.turns)
    inertias = np.einsum("fnij,njk,fnlk->fnil", world, model.inertias, world)
    ends = end_depths(fallen)
    total = np.zeros(len(q) - 1)
    for i in np.flatnonzero((model.kinds != FREE) & (pull > 0.0)):
        if model.kinds[i] == HINGE:
            angle = fit_angles(model, np.array([i]), q[:, [i]], 0)[:, 0, 0] - relaxed[i, 0]
            size, axis = np.abs(angle), rot.rotate(fallen.turns[:, i], np.broadcast_to(model.axes[i, 0], (len(q), 3)))
        else:
            turn = rot.log(rot.multiply(rot.conjugate(relaxed[i])[None], q[:, i]))
            size, axis = np.linalg.norm(turn, axis=-1), None
        near = np.minimum(size, FARTHEST)
        pace = pull[i] / damping[i] * (2.0 * DAMPING / PULL)
        spring = pull[i] * near * (size - 0.5 * near) + STIFF * pace**2 * ends[:, i]
        moment = moments(fallen, inertias, i, axis)
        total += 0.5 * (moment[1:] + moment[:-1]) * np.diff(spring)
    return total


def moments(fallen, inertias: np.ndarray, i: int, axis: np.ndarray | None) -> np.ndarray:
    """(frames,) D: the inertia of all that hangs on joint i, about its anchor and this axis; alike about all without
    one."""
    model = fallen.fall.model
    out = np.zeros(len(fallen.places))
    for j in subtree(model, i):
        arm = fallen.centers[:, j] - fallen.places[:, i]
        if axis is None:
            out += 0.5 * np.einsum("fii->f", inertias[:, j]) + model.masses[j] * np.einsum("fi,fi->f", arm, arm)
        else:
            across = np.cross(axis, arm)
            out += np.einsum("fi,fij,fj->f", axis, inertias[:, j], axis)
            out += model.masses[j] * np.einsum("fi,fi->f", across, across)
    return out


def subtree(model, i: int) -> list[int]:
    """A body and all that hangs on it."""
    inside = [i]
    for j in range(i + 1, len(model)):
        if model.parents[j] in inside:
            inside.append(j)
    return inside


def end_depths(fallen) -> np.ndarray:
    """(frames, n) ∫ s ds of how deep s joints are in the zones before their ends [rad²]."""
    model, q = fallen.fall.model, fallen.result.motion.rotations
    out = np.zeros(q.shape[:2])
    _balls_in_zones(np.concatenate([[0], model.kinds]), fallen.shot.touch.holds.bound, np.ascontiguousarray(q), out)
    hinges = np.flatnonzero(model.kinds == HINGE)
    if len(hinges):
        angles = fit_angles(model, hinges, q[:, hinges], 0)[..., 0]
        low, high = model.limits[hinges, 0], model.limits[hinges, 1]
        zone = np.minimum(ZONE, PART_OF_RANGE * (high - low))
        for room in (angles - low, high - angles):
            depth = np.clip(zone - room, 0.0, None)
            near = np.minimum(depth, zone)
            out[:, hinges] += near * (depth - 0.5 * near)
    return out


@entry_point
def _balls_in_zones(kinds, bound, q, out):
    for f in range(len(q)):
        for i in range(1, len(kinds)):
            if kinds[i] != BALL:
                continue
            c = (q[f, i - 1, 0], q[f, i - 1, 1], q[f, i - 1, 2], q[f, i - 1, 3])
            gap, _, low, high, _ = room_of_ball(bound, i, c)
            widest = bound[i, H.SWING]
            if not math.isinf(bound[i, H.SWING_Z]):
                widest = min(widest, bound[i, H.SWING_Z])
            twist = bound[i, H.TWIST_HIGH] - bound[i, H.TWIST_LOW]
            for side in range(3):
                room, span = gap, 2.0 * widest
                if side > 0:
                    room, span = low if side == 1 else high, twist
                zone = min(ZONE, PART_OF_RANGE * span)
                depth = max(0.0, zone - room)
                near = min(depth, zone)
                out[f, i - 1] += near * (depth - 0.5 * near)
