"""A run of keys of one F-curve, and how it replaces the curve's keys in that span.

Owns keys with their handles as arrays. Must not know what the numbers mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from . import actions

# Blender's defaults for the other properties of a plain key.
DEFAULTS = {"easing": 0, "type": 0, "amplitude": 0.8, "back": 1.70158, "period": 4.1}
AUTO_CLAMPED = 4


@dataclass(frozen=True, eq=False)
class Span:
    """Keys as arrays: co, left and right (keys, 2) are the keys and their handles; interpolation (keys,) is that after
    each key, handles (keys,) the type of its handles."""

    co: np.ndarray
    left: np.ndarray
    right: np.ndarray
    interpolation: np.ndarray
    handles: np.ndarray

    def __len__(self) -> int:
        return len(self.co)

    @classmethod
    def plain(cls, frames: Sequence[float], values: Sequence[float], interpolation: int = actions.LINEAR) -> Span:
        """Keys with automatic handles, a third of a frame away."""
        co = np.stack([np.asarray(frames, dtype=np.float64), np.asarray(values, dtype=np.float64)], axis=1)
        aside = np.array([1.0 / 3.0, 0.0])
        kinds = [np.full(len(co), kind, dtype=np.int32) for kind in (interpolation, AUTO_CLAMPED)]
        return cls(co, co - aside, co + aside, *kinds)

    @classmethod
    def curved(cls, co: np.ndarray, left: np.ndarray, right: np.ndarray) -> Span:
        """Bezier keys with free handles; linear interpolation after the last."""
        kinds = np.full(len(co), actions.BEZIER, dtype=np.int32)
        kinds[-1] = actions.LINEAR
        return cls(co, left, right, kinds, np.full(len(co), actions.FREE_HANDLE, dtype=np.int32))

    @classmethod
    def joined(cls, *spans: Span) -> Span:
        """Several runs joined into one."""
        return cls(*(np.concatenate([getattr(span, part) for span in spans]) for part in cls.__dataclass_fields__))

    def without_repeats(self) -> Span:
        """Only the first and last key if all values are the same."""
        if len(self) < 3 or np.ptp(self.co[:, 1]) > actions.SAME:
            return self
        return Span(*(getattr(self, part)[[0, -1]] for part in self.__dataclass_fields__))

    def parts(self) -> dict[str, np.ndarray]:
        """The arrays under the names of `actions.read_keys`."""
        own = {
            "co": self.co,
            "handle_left": self.left,
            "handle_right": self.right,
            "interpolation": self.interpolation,
            "handle_left_type": self.handles,
            "handle_right_type": self.handles,
        }
        return {
            name: np.asarray(own.get(name, np.full(len(self), DEFAULTS.get(name, 0))))
            .reshape(len(self), width)
            .astype(kind)
            for name, width, kind in actions.KEY_PARTS
        }


def replace(curve: bpy.types.FCurve, span: Span) -> None:
    """Replace the keys from the first to the last of the span; keys outside stay as they are.

    Automatic handles next to the span would change with their new neighbours, so the nearest keys get free handles
    where theirs were.
    """
    old = actions.read_keys(curve)
    when = old["co"][:, 0]
    before, after = when < span.co[0, 0] - 1e-3, when > span.co[-1, 0] + 1e-3
    if not before.any() and not after.any() and np.ptp(span.co[:, 1]) <= actions.SAME:
        span = Span(*(getattr(span, part)[:1] for part in span.__dataclass_fields__))
    new = span.without_repeats().parts()
    beside = [*np.flatnonzero(before)[-1:], *np.flatnonzero(after)[:1]]
    for side in ("handle_left_type", "handle_right_type"):
        automatic = np.isin(old[side][beside], actions.AUTOMATIC_HANDLES)
        old[side][beside] = np.where(automatic, actions.FREE_HANDLE, old[side][beside])
    merged = {name: np.concatenate([old[name][before], new[name], old[name][after]]) for name in new}
    points = curve.keyframe_points
    points.clear()
    points.add(len(merged["co"]))
    for name in merged:
        points.foreach_set(name, merged[name].ravel())
    curve.update()
