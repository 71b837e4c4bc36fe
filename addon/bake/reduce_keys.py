"""Reduce keys: cubic segments with handles, such that every frame stays within a tolerance.

Owns the fit, and how rotations of each mode are compared. Must not know Blender's actions or bones.

A segment's handles are at thirds of its time. So it is a cubic in time, and the best one through its end points is a
small linear least-squares problem, the same for every segment of that length. All channels of a bone get keys on the
same frames.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...engine.math import rotations
from ..blender.key_spans import Span
from ..memory import remembered

# Part of the tolerance that is used; the rest is for rounding, since Blender's curves are float32.
MARGIN = 0.97
# The longest segment [frames]: longer ones are hard to edit.
LONGEST = 240


@dataclass(frozen=True, eq=False)
class Track:
    """A channel's values (frames, k), its rotation mode ("" for a plain vector), and its tolerance (radians, or the
    channel's own unit)."""

    name: str
    values: np.ndarray
    mode: str
    slack: float


@dataclass(frozen=True, eq=False)
class Keys:
    """The frames that keep keys, and for each track the values (keys, k) of the left and right handles there."""

    frames: np.ndarray
    kept: np.ndarray
    values: dict[str, np.ndarray]
    left: dict[str, np.ndarray]
    right: dict[str, np.ndarray]

    def span(self, name: str, index: int) -> Span:
        """The keys of one curve."""
        when = self.frames[self.kept].astype(np.float64)
        gaps = np.diff(when, prepend=when[0] - 1.0, append=when[-1] + 1.0) / 3.0
        co = np.stack([when, self.values[name][self.kept, index]], axis=1)
        left = np.stack([when - gaps[:-1], self.left[name][:, index]], axis=1)
        right = np.stack([when + gaps[1:], self.right[name][:, index]], axis=1)
        return Span.curved(co, left, right)


def fit(frames: np.ndarray, tracks: Sequence[Track]) -> Keys:
    """Keep as few keys as possible, greedily from the first frame to the last: each segment is as long as the tolerance
    allows."""
    count = len(frames)
    kept = [0]
    while kept[-1] < count - 1:
        kept.append(_reach(tracks, kept[-1], count - 1))
    left = {track.name: np.empty((len(kept), track.values.shape[1])) for track in tracks}
    right = {name: values.copy() for name, values in left.items()}
    for track in tracks:
        left[track.name][0], right[track.name][-1] = track.values[0], track.values[-1]
        for k, (a, b) in enumerate(itertools.pairwise(kept)):
            right[track.name][k], left[track.name][k + 1] = _handles(track.values[a : b + 1])
    return Keys(np.asarray(frames), np.array(kept), {t.name: t.values for t in tracks}, left, right)


def _reach(tracks: Sequence[Track], start: int, last: int) -> int:
    """The farthest frame at which a segment from `start` may end."""
    last = min(last, start + LONGEST)
    good, step = start + 1, 2
    while start + step <= last and _fits(tracks, start, start + step):
        good, step = start + step, 2 * step
    bad = min(start + step, last + 1)
    while bad - good > 1:
        middle = (good + bad) // 2
        if _fits(tracks, start, middle):
            good = middle
        else:
            bad = middle
    return good


def _fits(tracks: Sequence[Track], a: int, b: int) -> bool:
    return all(_error(track, a, b) <= MARGIN * track.slack for track in tracks)


def _error(track: Track, a: int, b: int) -> float:
    """The largest error on the whole frames of a segment."""
    values = track.values[a : b + 1]
    made = _bezier(len(values), values[0], *_handles(values), values[-1])[1:-1]
    return float(difference(track.mode, made, values[1:-1]).max(initial=0.0))


def difference(mode: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Differences between two runs (frames, k) of a channel: the angle between rotations [rad], or the largest
    difference of a plain vector."""
    if not mode:
        return np.abs(a - b).max(axis=1)
    return rotations.angle_between(_quats(mode, a), _quats(mode, b))


def _quats(mode: str, values: np.ndarray) -> np.ndarray:
    """Unit quaternions (frames, 4) of rotation channels."""
    if mode == "QUATERNION":
        return values / np.linalg.norm(values, axis=1, keepdims=True)
    if mode == "AXIS_ANGLE":
        axis = values[:, 1:] / np.maximum(np.linalg.norm(values[:, 1:], axis=1, keepdims=True), 1e-12)
        return rotations.from_vector(axis * values[:, :1])
    out = np.tile([1.0, 0.0, 0.0, 0.0], (len(values), 1))
    for letter in mode:  # the first letter of the order is applied first
        axis = "XYZ".index(letter)
        out = rotations.multiply(rotations.from_vector(np.eye(3)[axis] * values[:, axis, None]), out)
    return out


def _handles(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values (k,) of a segment's two handles: the least-squares cubic through both ends."""
    ends = values[0], values[-1]
    line = ends[0] + np.linspace(0.0, 1.0, len(values))[:, None] * (ends[1] - ends[0])
    lift = _solver(len(values)) @ (values - line)[1:-1] if len(values) > 2 else np.zeros((2, values.shape[1]))
    return ends[0] + (ends[1] - ends[0]) / 3.0 + lift[0], ends[1] - (ends[1] - ends[0]) / 3.0 + lift[1]


@remembered("content", most=512)
def _basis(count: int) -> np.ndarray:
    """(count, 4) weights of a segment's four control points on its frames."""
    t = np.linspace(0.0, 1.0, count)
    return np.stack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3], axis=1)


@remembered("content", most=512)
def _solver(count: int) -> np.ndarray:
    """(2, count - 2) matrix from the inner frames' offsets off the straight line to the lift of both handles."""
    return np.linalg.pinv(_basis(count)[1:-1, 1:3])


def _bezier(count: int, *points: np.ndarray) -> np.ndarray:
    return _basis(count) @ np.stack(points)
