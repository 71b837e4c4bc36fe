"""Range of a ball joint in the engine's terms, never narrower than the source moves.

Owns the frames of a limit and its widening. Must not know Blender, roles or constraints. Angles in degrees come in,
radians go out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..math import rotations

# What the source does is allowed with this much to spare [rad].
SPARE = np.radians(3.0)
# Wider than this to one side is no limit [rad].
ENDLESS = np.radians(172.0)
# What a joint without a limit gets [rad]: finite, but farther than any swing or twist goes.
WHOLE = 2.0 * np.pi
# Said of the relaxed pose where it is the rest pose.
LIMITS_AT_REST = "AT_REST"
# Swung as far as this the twist is not defined, and the engine does not limit it [rad].
NO_TWIST = 3.0
# The narrowest a joint is held in: less than what the engine watches would rattle [rad].
NARROW = np.radians(2.0)
# Parts of a direction that differ by less than this are taken as alike.
ALIKE = 0.1


class Range(NamedTuple):
    """As `engine.Model` has them: limits (4,): swing, low and high of the twist, swing about Z; frames (2, 4).
    ends: of a hinge-like range, lowest and highest bend from straight on, and the bend at rest, about `axis` (3,) of
    the body; None where it is even to all sides. relaxed (4,): the joint's rotation from rest when nothing pulls on
    it, within the range."""

    limits: np.ndarray
    frames: np.ndarray
    ends: tuple[float, float, float] | None = None
    axis: np.ndarray | None = None
    relaxed: np.ndarray | None = None


def laid_out(
    turn, straight, bends, way, ends, sides: float, twist: float, source: np.ndarray, relaxed: float | str | None = None
) -> Range:
    """A range along one bend, narrower across it.

    turn (3, 3): the body's axes at rest; straight (3,): where the limb points unbent; bends (3,): which way it bends;
    way (3,): where it points at rest; ends: lowest and highest bend; sides: to each side of it; twist: to each side.
    source (frames, 4): the joint's rotations. relaxed: the bend when nothing pulls, or AT_REST; the middle of
    the ends unless told.
    """
    zero = _triad(straight, bends)
    own = _carried(zero, straight, way, bends)
    low, high = np.radians(ends)
    poses = rotations.to_matrix(source)
    lean, _ = _seen(turn.T @ zero, turn.T @ own, poses)
    low, high = min(low, float(lean[:, 0].min()) - SPARE), max(high, float(lean[:, 0].max()) + SPARE)
    half, bent = 0.5 * (high - low), 0.5 * (high + low)
    middle = zero @ _about_x(bent)
    lean, roll = _seen(turn.T @ middle, turn.T @ own, poses)
    half = max(half, float(np.abs(lean[:, 0]).max()) + SPARE)
    # the rim comes in towards both ends of the bend: what the source does there must be within, too
    room = (1.0 - (lean[:, 0] / half) ** 4) ** 0.25
    side = max(np.radians(sides), float((np.abs(lean[:, 1]) / room).max()) + SPARE)
    if max(half, side) > ENDLESS:
        return round_about(turn, middle[:, 1], way, max(*np.abs(ends), sides), twist, source)
    still = own
    if relaxed != LIMITS_AT_REST:
        still = zero @ _about_x(np.radians(0.5 * (ends[0] + ends[1]) if relaxed is None else relaxed))
    twists, spun = _twist(twist, lean, roll, own)
    rest = float(_seen(turn.T @ zero, turn.T @ own, np.eye(3)[None])[0][0, 0])
    return _made(turn, (half, *twists, side), middle, own, spun, still, (low, high, rest))


def round_about(turn, middle, way, swing: float, twist: float, source: np.ndarray, relaxed=None) -> Range:
    """A range as far to all sides of a direction: middle (3,), where the limb points in the midst of it; relaxed (3,):
    where it points when nothing pulls, the middle unless told."""
    aside = _aside(middle)
    axes = _triad(middle, aside)
    own = _carried(axes, middle, way, aside)
    still = axes if relaxed is None else _carried(axes, middle, relaxed, aside)
    poses = rotations.to_matrix(source)
    lean, roll = _seen(turn.T @ axes, turn.T @ own, poses)
    half = max(np.radians(swing), float(np.linalg.norm(lean, axis=1).max()) + SPARE)
    if half > ENDLESS:
        # perhaps the source keeps to one side, only not to this one
        center = _cap_center(poses @ (turn.T @ way) @ turn.T)
        axes = still = _carried(axes, middle, center, aside)
        lean, roll = _seen(turn.T @ axes, turn.T @ own, poses)
        half = max(np.radians(swing), float(np.linalg.norm(lean, axis=1).max()) + SPARE)
        half = half if half < ENDLESS else WHOLE
    twists, spun = _twist(twist, lean, roll, own)
    return _made(turn, (half, *twists, np.inf), axes, own, spun, still)


def _made(turn, limits, middle, own, spun, still, ends: tuple[float, float, float] | None = None) -> Range:
    """The range between the axes of its middle and the body's own (3, 3), in armature space; spun: the latter, turned
    about Y where the source's twist lies round the back; still: the own axes when relaxed."""
    if spun is not own:
        still = still @ own.T @ spun
    frames = rotations.from_matrix(np.stack([turn.T @ middle, turn.T @ spun, turn.T @ still @ spun.T @ turn]))
    axis = None if ends is None else turn.T @ own[:, 0]
    return Range(np.array(limits), frames[:2], ends, axis, frames[2])


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
        lean, roll = _seen(middle, np.eye(3), rotations.to_matrix(source))
        half = max(half, float(np.abs(lean[:, 0]).max()) + SPARE)
        side = max(side, float((np.abs(lean[:, 1]) / (1.0 - (lean[:, 0] / half) ** 4) ** 0.25).max()) + SPARE)
        roll_ends = _wide(*roll_ends, roll)
    elif pairs[1] is None:
        roll_ends = (-WHOLE, WHOLE)
    half, side = (angle if angle < ENDLESS else WHOLE for angle in (half, side))
    frames = np.stack([rotations.from_matrix(axes) for axes in (middle, np.eye(3))])
    return Range(np.array([half, *roll_ends, side]), frames)


def middle_of(limits: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """(4,) the rotation of a ball joint in the middle of its range; limits (4,), frames (2, 4)."""
    turn = rotations.from_vector(np.array([0.0, 0.5 * (limits[1] + limits[2]), 0.0]))
    return rotations.multiply(rotations.multiply(frames[0], turn), rotations.conjugate(frames[1]))


def outside(limits: np.ndarray, frames: np.ndarray, source: np.ndarray) -> np.ndarray:
    """(frames,) how far a ball joint's rotations (frames, 4) are beyond its range [rad], below zero within it."""
    lean, roll = _seen(*rotations.to_matrix(frames), rotations.to_matrix(source))
    angle = np.linalg.norm(lean, axis=1)
    swing = angle - limits[0]
    if np.isfinite(limits[3]):
        share = ((lean / limits[[0, 3]]) ** 4).sum(axis=1) ** 0.25
        swing = np.where(share > 1e-9, angle * (1.0 - 1.0 / np.maximum(share, 1e-9)), -limits[[0, 3]].min())
    twist = np.where(angle < NO_TWIST, np.maximum(limits[1] - roll, roll - limits[2]), -np.inf)
    return np.maximum(swing, twist)


def _aside(way: np.ndarray) -> np.ndarray:
    """(3,) an axis that a direction (3,) does not point along: the first of those it is nearly as far from as from
    any, since directions along an axis are as far from both others, but for rounding."""
    along = np.abs(way) / np.linalg.norm(way)
    return np.eye(3)[int(np.argmax(along <= along.min() + ALIKE))]


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


def _seen(middle: np.ndarray, own: np.ndarray, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Between a limit's axes: (frames, 2) the swing as a vector about X and Z, and (frames,) the twist [rad] of a
    joint's rotations (frames, 3, 3)."""
    seen = middle.T @ poses @ own
    x, y, z = seen[:, 0, 1], seen[:, 1, 1], seen[:, 2, 1]
    sine = np.sqrt(x * x + z * z)
    lean = np.stack([z, -x], axis=1) * (np.arctan2(sine, y) / np.maximum(sine, 1e-12))[:, None]
    lean[(sine < 1e-9) & (y < 0.0)] = (np.pi, 0.0)  # straight back: any side will do
    return lean, np.arctan2(seen[:, 0, 2] - seen[:, 2, 0], seen[:, 0, 0] + seen[:, 2, 2])


def _twist(most: float, lean: np.ndarray, roll: np.ndarray, own: np.ndarray) -> tuple[tuple[float, float], np.ndarray]:
    """Lowest and highest twist [rad], and the body's axes (3, 3) that it is measured with: turned where the source's
    twists lie round the back."""
    defined = np.linalg.norm(lean, axis=1) < NO_TWIST + SPARE
    if not defined.any():
        return (-np.radians(most), np.radians(most)), own
    roll = roll[defined]
    low, high = _wide(-np.radians(most), np.radians(most), roll)
    if high < ENDLESS:
        return (low, high), own
    angles = np.sort(roll)
    gaps = np.diff(np.concatenate([angles, angles[:1] + 2.0 * np.pi]))
    widest = int(np.argmax(gaps))
    half = 0.5 * (2.0 * np.pi - float(gaps[widest])) + SPARE
    if half > ENDLESS:
        return (-WHOLE, WHOLE), own
    center = float(angles[widest] + gaps[widest]) + half - SPARE
    half = max(half, np.radians(most))
    return (-half, half), own @ rotations.to_matrix(rotations.from_vector(np.array([0.0, -center, 0.0])))


def _wide(low: float, high: float, roll: np.ndarray) -> tuple[float, float]:
    """Lowest and highest twist [rad], a whole turn where the source goes all the way round."""
    low, high = min(low, float(roll.min()) - SPARE), max(high, float(roll.max()) + SPARE)
    return (-WHOLE, WHOLE) if max(-low, high) > ENDLESS else (low, high)


def _cap_center(ways: np.ndarray) -> np.ndarray:
    """(3,) about the middle of the smallest cone round unit vectors (k, 3)."""
    center = ways.mean(axis=0)
    center = center if np.linalg.norm(center) > 1e-6 else ways[0]
    center = center / np.linalg.norm(center)
    for k in range(1, 40):
        center = center + (ways[np.argmin(ways @ center)] - center) / (k + 1)
        center = center / max(float(np.linalg.norm(center)), 1e-9)
    return center
