"""Columns of a table: offsets are counted, not written by hand.

Owns the counting. A table's module names its columns in order, each by its width:

    columns = Columns()
    COORDS = columns(4)
    ANCHOR = columns(3)
    COLUMNS = columns.count

Offsets are numpy integers, because numba would compile a kernel again for every Python integer literal that it is
called with.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


class Columns:
    """Counter of the columns of one table, or of the rows of one array of vectors."""

    def __init__(self) -> None:
        self._next = 0

    def __call__(self, width: int = 1) -> np.int64:
        """The offset of the next column, which has this width."""
        first = np.int64(self._next)
        self._next += int(width)
        return first

    def ones(self, count: int) -> Iterator[np.int64]:
        """The offsets of several columns of width 1."""
        return (self() for _ in range(count))

    @property
    def count(self) -> np.int64:
        """The number of columns so far."""
        return np.int64(self._next)
