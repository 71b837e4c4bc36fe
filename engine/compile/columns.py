"""Columns of a table: offsets that are counted, not written down.

Owns the counting. A table's module names its columns in order, each by how many numbers it takes:

    columns = Columns()
    COORDS = columns(4)
    ANCHOR = columns(3)
    COLUMNS = columns.count

Offsets are numpy integers, because numba compiles a kernel anew for every plain integer it is called with.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


class Columns:
    """Hands out the columns of one table, or the rows of one array of vectors, from the first on."""

    def __init__(self) -> None:
        self._next = 0

    def __call__(self, width: int = 1) -> np.int64:
        """The first of the next `width` columns."""
        first = np.int64(self._next)
        self._next += int(width)
        return first

    def ones(self, count: int) -> Iterator[np.int64]:
        """So many columns of one number each."""
        return (self() for _ in range(count))

    @property
    def count(self) -> np.int64:
        """How many have been handed out."""
        return np.int64(self._next)
