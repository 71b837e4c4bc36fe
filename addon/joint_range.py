"""How far a ball joint may turn, in the engine's terms, and never less than the source does.

Owns the frames of a limit and its widening. Must not know Blender, roles or constraints. Angles in degrees come in,
radians go out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import rotations

# What the source does is allowed with this much to spare [rad].
SPARE = np.radians(3.0)
# Wider than this is no limit [rad].
ENDLESS = np.radians(172.0)
# The narrowest a joint is held in: less than what the engine watches would rattle [rad].
NARROW = np.radians(2.0)


class Range(NamedTuple):
    """As `engine.Model` has them: limits (4,): swing, low and high of the twist, swing about Z; frames (2, 4).
    ends: of a hinge-like range, lowest and highest bend from straight on, and the bend at rest, about `axis` (3,) of
    the body; None where it is even to all sides."""

    limits: np.ndarray
    frames: np.ndarray
    ends: tuple[float, float, float] | None = None
    axis: np.ndarray | None = None


def laid_out(turn, straight, bends, way, ends, sides: float, twist: float, source: np.ndarray) -> Range:
    """A range along one bend, narrower across it.

    turn (3, 3): the body's axes at rest; straight (3,): where the limb points unbent; bends (3,): which way it bends;
    way (3,): where it points at rest; ends: lowest and highest bend; sides: to each side of it; twist: to each side.
    source (frames, 4): the joint's rotations.
    """
    middle = _triad(straight, bends)
    own = _carried(middle, straight, way, bends)
    low, high = np.radians(ends)
    lean, _ = _seen(turn.T @ middle, turn.T @ own, source)
    low, high = min(low, float(lean[:, 0].min()) - SPARE), max(high, float(lean[:, 0].max()) + SPARE)
    half, bent = 0.5 * (high - low), 0.5 * (high + low)
    middle = middle @ _about_x(bent)
    frames = np.stack([rotations.from_matrix(turn.T @ axes) for axes in (middle, own)])
    lean, roll = _seen(turn.T @ middle, turn.T @ own, source)
    half = max(half, float(np.abs(lean[:, 0]).max()) + SPARE)
    # the rim comes in towards both ends of the bend: what the source does there must be within, too
    room = (1.0 - (lean[:, 0] / half) ** 4) ** 0.25
    side = max(np.radians(sides), float((np.abs(lean[:, 1]) / room).max()) + SPARE)
    limits = np.array([min(half, ENDLESS), *_twist(twist, roll), min(side, ENDLESS)])
    rest = float(_seen(turn.T @ _triad(straight, bends), turn.T @ own, np.array([[1.0, 0.0, 0.0, 0.0]]))[0][0, 0])
    return Range(limits, frames, (low, high, rest), turn.T @ own[:, 0])


def round_about(turn, middle, way, swing: float, twist: float, source: np.ndarray) -> Range:
    """A range as far to all sides of a way: middle (3,), where the limb points in the midst of it."""
    aside = np.eye(3)[np.argmin(np.abs(middle))]
    axes = _triad(middle, aside)
    own = _carried(axes, middle, way, aside)
    lean, roll = _seen(turn.T @ axes, turn.T @ own, source)
    half = max(np.radians(swing), float(np.linalg.norm(lean, axis=1).max()) + SPARE)
    frames = np.stack([rotations.from_matrix(turn.T @ each) for each in (axes, own)])
    return Range(np.array([half if half < ENDLESS else np.inf, *_twist(twist, roll), np.inf]), frames)


def of_axes(pairs, source: np.ndarray) -> Range:
    """A range from lowest and highest angles about the bone's X, Y and Z [rad], None for an axis without limits.

    source (frames, 4), or none: then the limits are what they are, whatever the source does.
    """
    (low, high), roll_ends, (left, right) = ((-np.pi, np.pi) if pair is None else pair for pair in pairs)
    middle = _about_x(0.5 * (low + high)) @ rotations.to_matrix(
        rotations.from_vector(np.array([0.0, 0.0, 0.5 * (left + right)]))
    )
    half, side = max(0.5 * (high - low), NARROW), max(0.5 * (right - left), NARROW)
    if len(source):
        lean, roll = _seen(middle, np.eye(3), source)
        half = max(half, float(np.abs(lean[:, 0]).max()) + SPARE)
        side = max(side, float((np.abs(lean[:, 1]) / (1.0 - (lean[:, 0] / half) ** 4) ** 0.25).max()) + SPARE)
        roll_ends = _wide(*roll_ends, roll)
    if max(half, side) >= ENDLESS and min(half, side) >= ENDLESS:
        half = side = np.inf
    limits = np.array([min(half, ENDLESS) if np.isfinite(side) else half, *roll_ends, min(side, ENDLESS)])
    if not np.isfinite(half):
        limits[3] = np.inf
    frames = np.stack([rotations.from_matrix(axes) for axes in (middle, np.eye(3))])
    return Range(limits, frames)


def _triad(y: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """(3, 3) axes as columns: Y along y, Z as near as can be to `towards`, so that a turn about X bends that way."""
    y = y / np.linalg.norm(y)
    z = towards - (towards @ y) * y
    z = z / np.linalg.norm(z)
    return np.stack([np.cross(y, z), y, z], axis=1)


def _carried(axes: np.ndarray, start: np.ndarray, end: np.ndarray, instead: np.ndarray) -> np.ndarray:
    """Axes (3, 3) turned the short way that takes one direction to another; the far way over `instead`."""
    start, end = start / np.linalg.norm(start), end / np.linalg.norm(end)
    axis = np.cross(start, end)
    sine, cosine = float(np.linalg.norm(axis)), float(start @ end)
    if sine < 1e-9:
        axis, sine = np.cross(start, instead), 0.0
        if cosine > 0.0:
            return axes.copy()
    vector = axis / np.linalg.norm(axis) * np.arctan2(sine, cosine)
    return rotations.to_matrix(rotations.from_vector(vector)) @ axes


def _about_x(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _seen(middle: np.ndarray, own: np.ndarray, source: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Between a limit's axes: (frames, 2) the swing as a vector about X and Z, and (frames,) the twist [rad]."""
    start, stop = rotations.from_matrix(middle), rotations.from_matrix(own)
    q = rotations.multiply(rotations.multiply(rotations.conjugate(start)[None], source), stop[None])
    y = rotations.rotate(q, np.array([0.0, 1.0, 0.0]))
    out = np.stack([y[:, 2], -y[:, 0]], axis=1)
    sine = np.linalg.norm(out, axis=1)
    lean = out * (np.arctan2(sine, y[:, 1]) / np.maximum(sine, 1e-12))[:, None]
    twist = 2.0 * np.arctan2(q[:, 2], q[:, 0])
    return lean, (twist + np.pi) % (2.0 * np.pi) - np.pi


def _twist(most: float, roll: np.ndarray) -> tuple[float, float]:
    return _wide(-np.radians(most), np.radians(most), roll)


def _wide(low: float, high: float, roll: np.ndarray) -> tuple[float, float]:
    """Lowest and highest twist [rad], none where the source turns all the way round."""
    low, high = min(low, float(roll.min()) - SPARE), max(high, float(roll.max()) + SPARE)
    return (-np.inf, np.inf) if max(-low, high) > ENDLESS else (low, high)
