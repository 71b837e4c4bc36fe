"""Types of kernels' parameters: a small vocabulary for annotations, and its conversion to numba types.

Owns that vocabulary. Must not know the tables: a table's type is that of a sample.

Kernels that are compiled before their first call (see `precompile`) annotate their parameters:

    def even_part(tree: Tree, state: State, aim: Aim, work: Work, rest: Real, longest: Real, least: Real): ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..errors import LibraryError


class Kind(NamedTuple):
    """A number, or a contiguous array with this many dimensions; `items`: the length of a tuple."""

    dtype: str
    dimensions: int = 0
    items: int = 0


Real = Annotated[float, Kind("float64")]
Index = Annotated[int, Kind("int64")]  # also a count
Column = Annotated[int, Kind("int64")]  # the first of a group of columns of a table, or a row of an array of vectors
Flag = Annotated[bool, Kind("boolean")]
Vector = Annotated[tuple, Kind("float64", items=3)]
Row = Annotated[np.ndarray, Kind("float64", 1)]
Table = Annotated[np.ndarray, Kind("float64", 2)]
FlagRow = Annotated[np.ndarray, Kind("boolean", 1)]
IndexTable = Annotated[np.ndarray, Kind("int64", 2)]


def types_of(function: Callable, samples: Mapping[type, Any]) -> tuple:
    """numba's types of a kernel's parameters; samples: a table of each class."""
    hints = get_type_hints(function.py_func, include_extras=True)
    found = []
    for name in inspect.signature(function.py_func).parameters:
        if name not in hints:
            raise LibraryError(f"'{name}' of the kernel '{function.__name__}' has no annotation: see `kernel_types`.")
        found.append(_type(hints[name], samples))
    return tuple(found)


def _type(hint: Any, samples: Mapping[type, Any]) -> Any:
    from numba import typeof, types  # noqa: PLC0415 - numba may be missing

    if get_origin(hint) in (UnionType, Union):  # `Touch | None`: the sample says which
        hint = next(each for each in get_args(hint) if each is not type(None))
    if get_origin(hint) is not Annotated:
        return typeof(samples[hint])
    kind = hint.__metadata__[0]
    number = getattr(types, kind.dtype)
    if kind.items:
        return types.UniTuple(number, kind.items)
    return types.Array(number, kind.dimensions, "C") if kind.dimensions else number
