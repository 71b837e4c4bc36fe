"""Axes of tables: join, cut, repeat and compare tables without naming their arrays.

Owns the marks and the functions on them. Must not know what is in a table. A field is marked by its annotation:

    behaviour: Annotated[np.ndarray, Axes("frame", "body")]

Row 0 of the axis "body" is the world. An axis "frame" of length 1 applies to all frames.
"""

from __future__ import annotations

import typing
from collections.abc import Sequence
from functools import cache
from typing import TypeVar

import numpy as np

Table = TypeVar("Table", bound=tuple)


class Axes(tuple):
    """The names of an array's axes, in order."""

    def __new__(cls, *names: str) -> Axes:
        return super().__new__(cls, names)


@cache
def axes_of(kind: type) -> dict[str, Axes]:
    """The axes of the marked fields of a table."""
    return {name: mark for name, marks in _marks(kind).items() for mark in marks if isinstance(mark, Axes)}


@cache
def _marks(kind: type) -> dict[str, tuple]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return {name: getattr(hints[name], "__metadata__", ()) for name in kind._fields}


def join(tables: Sequence[Table]) -> dict[str, np.ndarray]:
    """The marked fields of several tables, joined along the axis of bodies; the world's row is kept once."""
    fields = axes_of(type(tables[0])).items()
    return {name: _joined([getattr(each, name) for each in tables], axes) for name, axes in fields}


def _joined(arrays: Sequence[np.ndarray], axes: Axes) -> np.ndarray:
    if len(arrays) == 1:
        return arrays[0]
    if "frame" in axes:
        frame = axes.index("frame")
        rows = max(each.shape[frame] for each in arrays)
        arrays = [np.broadcast_to(a, (*a.shape[:frame], rows, *a.shape[frame + 1 :])) for a in arrays]
    body = axes.index("body")
    others = [np.delete(each, 0, axis=body) for each in arrays[1:]]
    return np.ascontiguousarray(np.concatenate([arrays[0], *others], axis=body))


def take_bodies(table: Table, rows: np.ndarray) -> dict[str, np.ndarray]:
    """The marked fields of some bodies; the world's row is the first among `rows`."""
    return {
        name: np.ascontiguousarray(np.take(getattr(table, name), rows, axis=axes.index("body")))
        for name, axes in axes_of(type(table)).items()
        if "body" in axes
    }


def equal_frames(old: Table, new: Table, frames: int) -> int:
    """The number of frames from the first on in which two tables agree, in every field with frames."""
    return min(
        (
            first_difference(_spread(getattr(old, name), frames), _spread(getattr(new, name), frames))
            for name, axes in axes_of(type(new)).items()
            if axes[:1] == ("frame",)
        ),
        default=frames,
    )


def _spread(rows: np.ndarray, frames: int) -> np.ndarray:
    """One row for all frames as one row for each frame."""
    return np.broadcast_to(rows, (frames, *rows.shape[1:])) if len(rows) == 1 else rows


def first_difference(a: np.ndarray, b: np.ndarray) -> int:
    """The first row in which two arrays differ; their length if none does."""
    if a is b:
        return len(a)
    if a.shape != b.shape:
        return 0
    differ = (a != b).any(axis=tuple(range(1, a.ndim)))
    return int(np.argmax(differ)) if differ.any() else len(a)
