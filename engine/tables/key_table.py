"""Physical keys of a motion as a table.

Owns the keys' rows: values that a key lacks are the motion's at that time. Must not know how a body reaches them.
"""

from __future__ import annotations

import numpy as np

from ..errors import MotionError
from ..math import quaternions as rot
from ..memo import derived
from ..model.keys import Keys
from ..model.model import BALL, FREE, HINGE, UNIVERSAL, Model
from ..model.motion import Motion
from . import motion as M
from .motion import Target, build_target, fit_angles


def target_of(model: Model, motion: Motion) -> Target:
    """The curves through the motion's samples, with its physical keys."""

    def make() -> Target:
        target = build_target(model, motion)
        key, first = key_table(model, motion, target)
        return target._replace(key=key, key_first=first)

    return derived(motion, "target", make, model)


def key_table(model: Model, motion: Motion, target: Target) -> tuple[np.ndarray, np.ndarray]:
    """The keys as (k, KEY_COLUMNS), by body and time, and (n+2,) the index at which each body's begin."""
    keys, n = motion.keys, len(model)
    if keys is None:
        return np.zeros((0, M.KEY_COLUMNS)), np.zeros(n + 2, dtype=np.int64)
    rows = np.array([_body(model, each) for each in keys.bodies], dtype=np.int64)
    frames = np.asarray(keys.frames, dtype=np.float64) - motion.frame_start
    if frames.shape != rows.shape:
        raise MotionError(f"There are {len(rows)} keyed bodies and {frames.size} key times: give one time a key.")
    _check_times(model, motion, rows, frames)
    table = np.zeros((len(rows), M.KEY_COLUMNS))
    table[:, M.WHEN] = frames
    for k, (body, when) in enumerate(zip(rows, frames, strict=True)):
        _sample_curve(table[k], target, int(model.kinds[body]), int(body), float(when), 1.0 / motion.fps)
    _take_given(model, motion, keys, rows, table)
    order = np.lexsort((table[:, M.WHEN], rows))
    first = np.searchsorted(rows[order], np.arange(-1, n + 1))
    return np.ascontiguousarray(table[order]), first.astype(np.int64)


def _body(model: Model, body: str | int) -> int:
    if isinstance(body, str):
        if body not in model.names:
            raise MotionError(f"A key is of body '{body}', which the model does not have.")
        return model.names.index(body)
    return int(body)


def _check_times(model: Model, motion: Motion, rows: np.ndarray, frames: np.ndarray) -> None:
    bad = ~((frames >= 0.0) & (frames <= len(motion) - 1))
    if bad.any():
        k = int(np.argmax(bad))
        raise MotionError(
            f"Body '{model.names[rows[k]]}' has a key at frame {frames[k] + motion.frame_start:g}, outside the motion: "
            "extend the frame range or leave the key out."
        )


def _sample_curve(row: np.ndarray, target: Target, kind: int, body: int, when: float, dt: float) -> None:
    """The motion's pose and rates at a time between its frames, as in `motion.evaluate`."""
    frame = min(int(when), len(target.curve) - 2) if len(target.curve) > 1 else 0
    s = when - frame
    curve = target.curve[frame, body + 1]
    after = target.curve[min(frame + 1, len(target.curve) - 1), body + 1]
    if target.hold[frame, body + 1] and s < 1.0:
        row[M.KEY_VALUE : M.KEY_VALUE + 4], row[M.KEY_PLACE : M.KEY_PLACE + 3] = (
            curve[M.AT : M.AT + 4],
            curve[M.ANCHOR_AT :][:3],
        )
        return
    phi, slope = _cubic(curve[M.REACH :][:3], curve[M.SLOPE :][:3], curve[M.ARRIVE :][:3], s, dt)
    if kind >= BALL:
        row[M.KEY_VALUE : M.KEY_VALUE + 4] = rot.multiply(curve[M.AT : M.AT + 4], rot.exp(phi))
        slope = rot.right_jacobian(phi, slope)
    else:
        row[M.KEY_VALUE : M.KEY_VALUE + 2] = curve[M.AT : M.AT + 2] + phi[:2]
    row[M.KEY_RATE : M.KEY_RATE + 3] = slope
    gap = after[M.ANCHOR_AT :][:3] - curve[M.ANCHOR_AT :][:3]
    shift, drift = _cubic(gap, curve[M.ANCHOR_SLOPE :][:3], after[M.ANCHOR_SLOPE :][:3], s, dt)
    row[M.KEY_PLACE : M.KEY_PLACE + 3], row[M.KEY_DRIFT : M.KEY_DRIFT + 3] = curve[M.ANCHOR_AT :][:3] + shift, drift


def _cubic(reach, start, arrive, s: float, dt: float):
    """`motion.hermite` on arrays."""
    one = 1.0 - s
    value = s * s * (3.0 - 2.0 * s) * reach + s * one * one * dt * start - s * s * one * dt * arrive
    slope = 6.0 * s * one / dt * reach + one * (1.0 - 3.0 * s) * start + s * (3.0 * s - 2.0) * arrive
    return value, slope


def _take_given(model: Model, motion: Motion, keys: Keys, rows: np.ndarray, table: np.ndarray) -> None:
    """Replace the motion's values by those that the keys have."""
    fields = (("rotations", 4), ("velocities", 3), ("positions", 3), ("drifts", 3))
    given = {}
    for field, width in fields:
        values = getattr(keys, field)
        if values is None:
            continue
        given[field] = values = np.array(values, dtype=np.float64)
        if values.shape != (len(rows), width):
            raise MotionError(f"The keys' {field} have shape {values.shape}, wanted ({len(rows)}, {width}).")
        bad = ~np.isfinite(values).all(axis=1)
        if bad.any():
            k = int(np.argmax(bad))
            frame = table[k, M.WHEN] + motion.frame_start
            raise MotionError(f"Body '{model.names[rows[k]]}' has a key that is not finite at frame {frame:g}.")
    for k, body in enumerate(rows):
        kind = int(model.kinds[body])
        if "rotations" in given:
            q = given["rotations"][k] / np.linalg.norm(given["rotations"][k])
            if kind >= BALL:
                table[k, M.KEY_VALUE : M.KEY_VALUE + 4] = q
            else:
                near = table[k, M.KEY_VALUE : M.KEY_VALUE + 2].copy()
                angles = fit_angles(model, np.array([body]), q[None, None], table[k, M.WHEN] + motion.frame_start)[0, 0]
                table[k, M.KEY_VALUE : M.KEY_VALUE + 2] = near + (angles - near + np.pi) % (2.0 * np.pi) - np.pi
        if "velocities" in given:
            table[k, M.KEY_RATE : M.KEY_RATE + 3] = _rates(model, int(body), table[k], given["velocities"][k])
        if kind == FREE and "positions" in given:
            table[k, M.KEY_PLACE : M.KEY_PLACE + 3] = given["positions"][k]
        if kind == FREE and "drifts" in given:
            table[k, M.KEY_DRIFT : M.KEY_DRIFT + 3] = given["drifts"][k]


def _rates(model: Model, body: int, row: np.ndarray, spin: np.ndarray) -> np.ndarray:
    """A joint's own rates that turn the body with angular velocity `spin` (body axes)."""
    kind = model.kinds[body]
    if kind >= BALL:
        return spin
    out = np.zeros(3)
    axis, axis2 = model.axes[body]
    if kind == HINGE:
        out[0] = axis @ spin
    elif kind == UNIVERSAL:
        seen = rot.rotate(rot.conjugate(rot.about(axis2, row[M.KEY_VALUE + 1])), axis)
        out[:2] = np.linalg.lstsq(np.stack([seen, axis2], axis=1), spin, rcond=None)[0]
    return out
