"""Where a limp body comes to rest at several frame rates and numbers of steps: it must be the same place.

    python3 dev.py trial resting [RIG…] [--seconds-allowed 600] [--keep]

The throw of `falls`, at 24, 30 and 120 frames and 120, 240 and 480 steps a second. Told is how far the centre of mass
rests apart in any two of these falls, as a part of the body's height. Writes out/trial_resting.md; exits 1 where the
limit is missed.
"""

from __future__ import annotations

import argparse
import os

import numpy as np
from rig_rows import OUT, read_rig, rig_names, row_of, tell_row

from falling import drop  # isort: skip - `rig_rows` says where the engine is

RATES = (24.0, 30.0, 120.0)  # frames a second
STEPS = (120.0, 240.0, 480.0)  # a second
LIMIT = 0.05  # of the height
COLUMNS = ("rig", "apart", "by steps", "by fps", "longest s")


def rest(name: str, keep: bool) -> dict:
    """One rig's row."""
    fall = read_rig(name, keep)
    places, longest = {}, 0.0
    for fps in RATES:
        for steps in STEPS:
            fallen = drop(fall, fps, steps)
            places[fps, steps] = fallen.center[-1] / fall.height
            longest = max(longest, fallen.seconds)
    by_steps = max(_apart([places[fps, steps] for steps in STEPS]) for fps in RATES)
    by_fps = max(_apart([places[fps, steps] for fps in RATES]) for steps in STEPS)
    return {"rig": name, "apart": _apart(list(places.values())), "steps": by_steps, "fps": by_fps, "s": longest}


def _apart(places: list[np.ndarray]) -> float:
    return max(float(np.linalg.norm(a - b)) for a in places for b in places)


def line(row: dict) -> str:
    if "error" in row:
        return f"| {row['rig']} | {row['error']} |" + " |" * (len(COLUMNS) - 2)
    apart = f"{100 * row['apart']:.2f} %"
    cells = [row["rig"], apart if row["apart"] <= LIMIT else f"**{apart}**"]
    return (
        "| "
        + " | ".join([*cells, f"{100 * row['steps']:.2f} %", f"{100 * row['fps']:.2f} %", f"{row['s']:.2f}"])
        + " |"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("chosen", nargs="*")
    options.add_argument("--one")
    options.add_argument("--keep", action="store_true")
    options.add_argument("--seconds-allowed", type=float, default=600.0)
    asked = options.parse_args()
    if asked.one:
        tell_row(rest(asked.one, asked.keep))
    lines = ["## Where falls come to rest", "", "| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    print("\n".join(lines), flush=True)
    rows = []
    for name in rig_names(asked.chosen):
        rows.append(row_of(__file__, name, ["--keep"] * asked.keep, asked.seconds_allowed))
        lines.append(line(rows[-1]))
        print(lines[-1], flush=True)
    bad = [row for row in rows if "error" in row or row["apart"] > LIMIT]
    worst = max((row for row in rows if "error" not in row), key=lambda row: row["apart"], default=None)
    said = f"worst {100 * worst['apart']:.2f} % ({worst['rig']})" if worst else ""
    lines += ["", f"{len(rows)} rigs, limit {100 * LIMIT:g} % of the height: {said}, {len(bad)} missed", ""]
    print("\n".join(lines[-3:]), flush=True)
    OUT.parent.mkdir(exist_ok=True)
    (OUT.parent / "trial_resting.md").write_text("\n".join(lines), encoding="utf-8")
    os._exit(int(not rows or bool(bad)))


if __name__ == "__main__":
    main()
