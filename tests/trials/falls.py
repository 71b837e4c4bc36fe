"""Every rig thrown to the ground, limp: does it come to rest, within its ranges, above the ground, without gain?

    python3 dev.py trial falls [RIG…] [--strips] [--fps 30] [--steps 240] [--seconds-allowed 300] [--keep]

RIG: parts of the names that `menagerie` has (mocap/…, rigs/…, rigify/…), all without. One process a rig. --strips also
renders out/falls/RIG.png; --keep throws the bodies that the last run has read, where only the engine has changed.
Writes out/trial_falls.md; exits 1 where a limit is missed.
"""

from __future__ import annotations

import argparse
import os

from rig_rows import OUT, file_of, read_rig, rig_names, row_of, tell_row

from falling import FPS, LIMITS, STEPS, drop, measure  # isort: skip - `rig_rows` says where the engine is

COLUMNS = ("rig", "bodies", "height m", "kg", "turn °", "speed m/s", "outside °", "rate rad/s", "ground mm",
           "itself mm", "growth", "s")  # fmt: skip


def throw(name: str, asked: argparse.Namespace) -> dict:
    """One rig's row."""
    fall = read_rig(name, asked.keep)
    fallen = drop(fall, asked.fps, asked.steps)
    if asked.strips:
        from fall_strip import render_strip

        render_strip(fallen, file_of(name, "png"))
    found, where = measure(fallen)
    about = {"rig": name, "bodies": len(fall.model), "height": fall.height, "kg": fall.model.total_mass}
    return about | {"found": found, "where": where, "s": fallen.seconds}


def missed(row: dict) -> list[str]:
    """The measures beyond their limits."""
    if "error" in row:
        return ["error"]
    return [what for what, (limit, _) in LIMITS.items() if not row["found"][what] <= limit]


def line(row: dict) -> str:
    """A row of the table; what is beyond its limit is bold."""
    if "error" in row:
        return f"| {row['rig']} | {row['error']} |" + " |" * (len(COLUMNS) - 2)
    cells = [row["rig"], row["bodies"], f"{row['height']:.3g}", f"{row['kg']:.3g}"]
    bad = missed(row)
    for what in LIMITS:
        text = f"{row['found'][what]:.3g}"
        cells.append(f"**{text}**" if what in bad else text)
    return "| " + " | ".join(map(str, [*cells, f"{row['s']:.2f}"])) + " |"


def summary(rows: list[dict]) -> list[str]:
    """Each measure's worst value beside its limit, and what was missed where."""
    lines = ["", "| measure | limit | worst | rigs beyond it |", "|---|---|---|---|"]
    good = [row for row in rows if "error" not in row]
    for what, (limit, unit) in LIMITS.items():
        worst = max(good, key=lambda row: row["found"][what], default=None)
        text = f"{worst['found'][what]:.3g} ({worst['rig']}: {worst['where'][what]})" if worst else ""
        beyond = sum(what in missed(row) for row in good)
        lines.append(f"| {what} | {limit:g} {unit} | {text} | {beyond} of {len(good)} |")
    lines.append("")
    for row in rows:
        for what in missed(row):
            said = row["error"] if what == "error" else f"{row['found'][what]:.3g}, {row['where'][what]}"
            lines.append(f"- missed: {row['rig']} {what}: {said}")
    good_count = sum(not missed(row) for row in rows)
    return [*lines, "", f"{len(rows)} rigs, {good_count} within all limits", ""]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("chosen", nargs="*")
    options.add_argument("--one")
    options.add_argument("--strips", action="store_true")
    options.add_argument("--keep", action="store_true")
    options.add_argument("--fps", type=float, default=FPS)
    options.add_argument("--steps", type=float, default=STEPS)
    options.add_argument("--seconds-allowed", type=float, default=300.0)
    asked = options.parse_args()
    if asked.one:
        tell_row(throw(asked.one, asked))
    names = rig_names(asked.chosen)
    arguments = ["--fps", str(asked.fps), "--steps", str(asked.steps)]
    arguments += ["--strips"] * asked.strips + ["--keep"] * asked.keep
    lines = [f"## Falls, {asked.fps:g} fps, {asked.steps:g} steps a second", ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    print("\n".join(lines), flush=True)
    rows = []
    for name in names:
        rows.append(row_of(__file__, name, arguments, asked.seconds_allowed))
        lines.append(line(rows[-1]))
        print(lines[-1], flush=True)
    end = summary(rows)
    print("\n".join(end), flush=True)
    OUT.parent.mkdir(exist_ok=True)
    (OUT.parent / "trial_falls.md").write_text("\n".join(lines + end), encoding="utf-8")
    os._exit(int(not rows or any(missed(row) for row in rows)))


if __name__ == "__main__":
    main()
