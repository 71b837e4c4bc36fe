"""Compare two states of a shot column by column, by the names of the columns.

    python tools/diff_state.py A.npz B.npz [--most 40]

A state is written by `save_state(shot, path)`: run a shot to the same frame twice, with and without a change.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from engine.tables import aim, state, work  # noqa: E402

# By array: the module that names its columns. Rows of rates are degrees of freedom, so only bodies are named.
COLUMNS = {"state.body": state, "aim.body": aim, "work.body": work}


def save_state(shot, path: str | Path) -> None:
    """Write the tables of a shot's bodies."""
    arrays = {"state.body": shot.state.body, "aim.body": shot.aim.body, "work.body": shot.work.body}
    np.savez(path, **arrays, names=[shot.cast.name_of(row) for row in range(len(shot.state.body))])


def column_name(module, column: int) -> str:
    """The named column that a number of a row belongs to, with its place in the group."""
    starts = {
        int(value): name
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, np.int64) and name not in ("COLUMNS", "ROWS")
    }
    first = max((start for start in starts if start <= column), default=0)
    return f"{starts.get(first, '?')}+{column - first}" if column > first else starts.get(first, "?")


def differences(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> list[tuple[float, str]]:
    """Size and place of every number that differs, the largest first."""
    found = []
    for name, module in COLUMNS.items():
        one, other = a[name], b[name]
        if one.shape != other.shape:
            found.append((np.inf, f"{name}: {one.shape} and {other.shape}"))
            continue
        for row, column in np.argwhere(~((one == other) | (np.isnan(one) & np.isnan(other)))):
            off = abs(float(one[row, column]) - float(other[row, column]))
            place = f"{name} {a['names'][row]} {column_name(module, int(column))}"
            found.append((off, f"{place}: {one[row, column]:.9g} and {other[row, column]:.9g}"))
    return sorted(found, key=lambda each: -each[0])


def main(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(prog="diff_state")
    options.add_argument("files", nargs=2)
    options.add_argument("--most", type=int, default=40)
    asked = options.parse_args(arguments)
    a, b = (dict(np.load(path)) for path in asked.files)
    found = differences(a, b)
    for off, line in found[: asked.most]:
        print(f"{off:9.2e}  {line}")
    print(f"{len(found)} numbers differ")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
