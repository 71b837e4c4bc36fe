"""Declarations of a controller: its settings, and the channels that it adds to a result.

Owns their description, the checks of given values, and the columns of the control table. Must not know which
controllers there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import SettingError
from ..model.model import Model
from ..tables import control as C
from .follow.spring import SETTLE


class ControlColumns:
    """The columns of the control table, with the neutral value of each for bodies without a controller."""

    def __init__(self, neutral: dict[np.int64, float]) -> None:
        self._neutral = dict(neutral)

    def add(self, neutral: float) -> np.int64:
        """A new column, for a controller's own setting; kernels read it as `control.setting[row, i, COLUMN]`."""
        column = np.int64(len(self._neutral))
        self._neutral[column] = neutral
        return column

    @property
    def neutral(self) -> np.ndarray:
        """(columns,)"""
        return np.array([self._neutral[np.int64(k)] for k in range(len(self._neutral))], dtype=np.float64)


CONTROL = ControlColumns(
    {
        C.OMEGA: SETTLE, C.ZETA: 1.0, C.HEAVINESS: 0.0, C.STRENGTH: np.inf, C.ARRIVAL: -1.0, C.SHAPE: SETTLE,
        C.LAW: 0.0, C.RECOVERY: 0.0, C.TONE_DAMPING: 0.0, C.TONE_PULL: 0.0, C.QUICKER: 1.0,
    }
)  # fmt: skip
assert len(CONTROL.neutral) == C.COLUMNS


@dataclass(frozen=True)
class Setting:
    """A setting with a value for every body: one number, one for each body (n,), or (frames, n).

    name       the controller's field
    low, high  its range
    column     the column of the control table that holds it as given; None if columns are computed from it
    what       its name in messages
    """

    name: str
    low: float = 0.0
    high: float = np.inf
    column: np.int64 | None = None
    what: str = ""

    def spread(self, given: object, model: Model, frames: int) -> np.ndarray:
        """(1 or frames, n) the checked values; None counts as 0."""
        values = np.asarray(0.0 if given is None else given, dtype=np.float64)
        return per_body(values, model, frames, self.what or self.name.replace("_", " "), self.low, self.high)


class ChannelColumns:
    """The columns of `Record.channel`, which kernels fill frame by frame."""

    def __init__(self) -> None:
        self.count = 0

    def add(self) -> np.int64:
        """A new column; kernels write it as `record.channel[frame, i, COLUMN]`."""
        self.count += 1
        return np.int64(self.count - 1)


CHANNELS = ChannelColumns()


@dataclass(frozen=True)
class Channel:
    """A channel: numbers that a controller adds to a result, frame by frame.

    name    its key in `Result.channels`
    unit    "" without one
    per     "body" for (frames, n), "character" for (frames,)
    column  of `Record.channel`, if kernels fill it (for a character in the row of its first body); None if the
            controller's `measure` does
    text    a description for the user
    """

    name: str
    unit: str = ""
    per: str = "body"
    column: np.int64 | None = None
    text: str = ""


def per_frame(values: object, frames: int, what: str) -> np.ndarray:
    """(1,) or (frames,) non-negative numbers."""
    given = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if given.shape not in ((1,), (frames,)):
        raise SettingError(f"The {what} has shape {given.shape}: give one number or {frames}.")
    bad = ~(np.isfinite(given) & (given >= 0.0))
    if bad.any():
        raise SettingError(f"The {what} is {given[bad][0]}: give a number of zero or above.")
    return given


def spread(values: np.ndarray, model: Model, frames: int, what: str) -> np.ndarray:
    """A number, (n,) or (frames, n) as (1, n) or (frames, n)."""
    n = len(model)
    if values.ndim <= 1 and values.shape in ((), (n,)):
        return np.broadcast_to(values, (1, n))
    if values.shape == (frames, n):
        return values
    raise SettingError(f"The {what} has shape {values.shape}, wanted one number, ({n},) or ({frames}, {n}).")


def per_body(values: np.ndarray, model: Model, frames: int, what: str, low: float, high: float) -> np.ndarray:
    """The same, checked: error messages name the body."""
    array = spread(values, model, frames, what)
    bad = ~((array >= low) & (array <= high))
    if bad.any():
        frame, body = np.argwhere(bad)[0]
        raise SettingError(
            f"Body '{model.names[body]}' has {what} {array[frame, body]:g}: give a number from {low:g} to {high:g}."
        )
    return array
