"""Range of a ball joint in the engine's terms, never narrower than the source moves.

Owns the frames of a limit and its widening. Must not know Blender, roles or constraints. Takes degrees, returns
radians.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..math import rotations

# Margin around what the source does [rad].
SPARE = np.radians(3.0)
# A range wider than this to one side is no limit [rad].
ENDLESS = np.radians(172.0)
# The value of a missing limit [rad]: finite, but larger than any swing or twist.
WHOLE = 2.0 * np.pi
# Marks a relaxed pose that is the rest pose.
LIMITS_AT_REST = "AT_REST"
# Beyond this swing the twist is undefined, and the engine does not limit it [rad].
NO_TWIST = 3.0
# The narrowest range [rad]: a narrower one would make the joint chatter.
NARROW = np.radians(2.0)
# Components of a direction that differ by less than this count as equal.
ALIKE = 0.1


class Range(NamedTuple):
    """A joint range as in `engine.Model`.

    limits (4,)    swing, low and high of the twist, swing about Z
    frames (2, 4)
    ends           for a hinge-like range: lowest and highest bend from straight, and the bend at rest, about `axis`
                   (3,) of the body; None if it is even to all sides
    relaxed (4,)   the joint's rotation from rest without load, within the range
    """

    limits: np.ndarray
    frames: np.ndarray
    ends: tuple[float, float, float] | None = None
    axis: np.ndarray | None = None
    relaxed: np.ndarray | None = None


def laid_out(
    turn, straight, bends, way, ends, sides: float, twist: float, source: np.ndarray, relaxed: float | str | None = None
) -> Range:
    """A range along one bend, narrower across it.

    turn      (3, 3) the body's axes at rest
    straight  (3,) the limb's direction unbent; bends (3,): the direction it bends to; way (3,): its direction at rest
    ends      lowest and highest bend; sides: to each side of it; twist: to each side
    source    (frames, 4) the joint's rotations
    relaxed   the bend without load, or AT_REST; the middle of the ends by default
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
    # the rim narrows towards both ends of the bend: what the source does there must be inside too
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
    """A range that is even around a direction: middle (3,), the limb's direction at its centre; relaxed (3,): its
    direction without load, by default the middle."""
    aside = _aside(middle)
    axes = _triad(middle, aside)
    own = _carried(axes, middle, way, aside)
    still = axes if relaxed is None else _carried(axes, middle, relaxed, aside)
    poses = rotations.to_matrix(source)
    lean, roll = _seen(turn.T @ axes, turn.T @ own, poses)
    half = max(np.radians(swing), float(np.linalg.norm(lean, axis=1).max()) + SPARE)
    if half > ENDLESS:
        # the source may stay on one side, but not on this one
        center = _cap_center(poses @ (turn.T @ way) @ turn.T)
        axes = still = _carried(axes, middle, center, aside)
        lean, roll = _seen(turn.T @ axes, turn.T @ own, poses)
        half = max(np.radians(swing), float(np.linalg.norm(lean, axis=1).max()) + SPARE)
        half = half if half < ENDLESS else WHOLE
    twists, spun = _twist(twist, lean, roll, own)
    return _made(turn, (half, *twists, np.inf), axes, own, spun, still)


def _made(turn, limits, middle, own, spun, still, ends: tuple[float, float, float] | None = None) -> Range:
    """The range between the axes of its middle and the body's own (3, 3), in armature space; spun: the latter, turned
    about Y if the source's twist is beyond half a turn; still: the own axes when relaxed."""
    if spun is not own:
        still = still @ own.T @ spun
    frames = rotations.from_matrix(np.stack([turn.T @ middle, turn.T @ spun, turn.T @ still @ spun.T @ turn]))
    axis = None if ends is None else turn.T @ own[:, 0]
    return Range(np.array(limits), frames[:2], ends, axis, frames[2])


def of_axes(pairs, source: np.ndarray) -> Range:
    """A range from lowest and highest angles about the bone's X, Y and Z [rad], None for an axis without limits.

    source (frames, 4), or empty: then the limits are not widened.
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
    """(4,) the rotation at the centre of a ball joint's range; limits (4,), frames (2, 4)."""
    turn = rotations.from_vector(np.array([0.0, 0.5 * (limits[1] + limits[2]), 0.0]))
    return rotations.multiply(rotations.multiply(frames[0], turn), rotations.conjugate(frames[1]))


def outside(limits: np.ndarray, frames: np.ndarray, source: np.ndarray) -> np.ndarray:
    """(frames,) how far a ball joint's rotations (frames, 4) are outside its range [rad]; negative inside."""
    lean, roll = _seen(*rotations.to_matrix(frames), rotations.to_matrix(source))
    angle = np.linalg.norm(lean, axis=1)
    swing = angle - limits[0]
    if np.isfinite(limits[3]):
        share = ((lean / limits[[0, 3]]) ** 4).sum(axis=1) ** 0.25
        swing = np.where(share > 1e-9, angle * (1.0 - 1.0 / np.maximum(share, 1e-9)), -limits[[0, 3]].min())
    twist = np.where(angle < NO_TWIST, np.maximum(limits[1] - roll, roll - limits[2]), -np.inf)
    return np.maximum(swing, twist)


def _aside(way: np.ndarray) -> np.ndarray:
    """(3,) an axis not parallel to a direction (3,): the first of those with nearly the smallest component, because a
    direction along an axis has equal components on both others up to rounding."""
    along = np.abs(way) / np.linalg.norm(way)
    return np.eye(3)[int(np.argmax(along <= along.min() + ALIKE))]


def _triad(y: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """(3, 3) axes as columns: Y along y, Z as near as possible to `towards`, so that a rotation about X bends that
    way."""
    y = y / np.linalg.norm(y)
    z = towards - (towards @ y) * y
    z = z / np.linalg.norm(z)
    return np.stack([np.cross(y, z), y, z], axis=1)


def _carried(axes: np.ndarray, start: np.ndarray, end: np.ndarray, instead: np.ndarray) -> np.ndarray:
    """Axes (3, 3) rotated by the shortest rotation from one direction to another; opposite directions rotate about
    `instead`."""
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
    """A joint's rotations (frames, 3, 3) between a limit's axes: (frames, 2) the swing as a vector about X and Z, and
    (frames,) the twist [rad]."""
    seen = middle.T @ poses @ own
    x, y, z = seen[:, 0, 1], seen[:, 1, 1], seen[:, 2, 1]
    sine = np.sqrt(x * x + z * z)
    lean = np.stack([z, -x], axis=1) * (np.arctan2(sine, y) / np.maximum(sine, 1e-12))[:, None]
    lean[(sine < 1e-9) & (y < 0.0)] = (np.pi, 0.0)  # opposite direction: any axis will do
    return lean, np.arctan2(seen[:, 0, 2] - seen[:, 2, 0], seen[:, 0, 0] + seen[:, 2, 2])


def _twist(most: float, lean: np.ndarray, roll: np.ndarray, own: np.ndarray) -> tuple[tuple[float, float], np.ndarray]:
    """Lowest and highest twist [rad], and the body's axes (3, 3) that it is measured with, turned if the source's
    twists are beyond half a turn."""
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
    """Lowest and highest twist [rad], a full turn if the source turns all the way round."""
    low, high = min(low, float(roll.min()) - SPARE), max(high, float(roll.max()) + SPARE)
    return (-WHOLE, WHOLE) if max(-low, high) > ENDLESS else (low, high)


def _cap_center(ways: np.ndarray) -> np.ndarray:
    """(3,) approximate centre of the smallest cone around unit vectors (k, 3)."""
    center = ways.mean(axis=0)
    center = center if np.linalg.norm(center) > 1e-6 else ways[0]
    center = center / np.linalg.norm(center)
    for k in range(1, 40):
        center = center + (ways[np.argmin(ways @ center)] - center) / (k + 1)
        center = center / max(float(np.linalg.norm(center)), 1e-9)
    return center
