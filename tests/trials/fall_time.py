"""How long limp falls of people with fingers take, beside the same without fingers and toes, and beside MuJoCo.

    python3 dev.py trial fall_time [NAME…] [--keep] [--rounds 5]

240 frames at 30 fps and 240 steps a second, ground and self touch as Limp has them. Runs alternate, medians count.
The bodies are read in Blender's environment first; --keep takes those of the last run. Writes out/trial_fall_time.md;
exits 1 where a limit is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "engine"), str(ROOT / "tests")]

from falling import STEPS, Fall, load, new_shot  # noqa: E402
from mujoco_fall import Humanoid, MujocoFall  # noqa: E402

from tools.environments import BLENDER, run  # noqa: E402

PEOPLE = ("mocap/20tab_freebvh", "rigify/human", "mixamo_like")
FRAMES, FPS = 240, 30.0
PLAIN_LIMIT, MUJOCO_LIMIT, REST_LIMIT = 3.0, 2.0, 0.2
FALLING, RESTING = (0, 45), (180, 239)  # frames
OUT = ROOT / "out" / "falls"
HUMANOID = ROOT.parent / "shared" / "data" / "reference" / "dm_control" / "humanoid_CMU.xml"


def read(name: str, plain: bool, keep: bool) -> Fall:
    """A person; `plain`: without fingers and toes."""
    path = OUT / f"{name.replace('/', '_')}{'_plain' if plain else ''}.fall"
    if not (keep and path.exists()):
        code = run(BLENDER["5.0"], "tests/trials/fall_rigs.py", name, path, *["--plain"] * plain)
        if code:
            sys.exit(f"'{name}' could not be read in Blender's environment (exit {code}).")
    return load(path)


def fall_seconds(fall: Fall) -> tuple[float, float, float]:
    """Seconds of a fall, and per frame while it falls and while it rests."""
    shot = new_shot(fall, FPS, STEPS, FRAMES / FPS)
    start = time.perf_counter()
    part = {}
    for first, last in (FALLING, (FALLING[1], RESTING[0]), RESTING):
        begun = time.perf_counter()
        shot.run(last)
        part[first] = (time.perf_counter() - begun) / (last - first)
    shot.run(FRAMES)
    return time.perf_counter() - start, part[FALLING[0]], part[RESTING[0]]


def seconds(job, steps: int) -> float:
    start = time.perf_counter()
    job.run(steps)
    return time.perf_counter() - start


def time_person(name: str, rounds: int, keep: bool) -> dict:
    """One person's row: medians [s] and ratios."""
    full, plain = read(name, False, keep), read(name, True, keep)
    oracle, humanoid = MujocoFall(full, STEPS), Humanoid(HUMANOID, STEPS)
    steps = round(FRAMES * STEPS / FPS)
    for fall in (full, plain):
        new_shot(fall, FPS, STEPS, 1.0).run(1)
    ours, without, theirs, cmu, ratio = [], [], [], [], []
    for _ in range(rounds):
        ours.append(fall_seconds(full))
        without.append(fall_seconds(plain)[0])
        theirs.append(seconds(oracle, steps))
        cmu.append(seconds(humanoid, steps))
        ratio.append(ours[-1][2] / ours[-1][1])
    total = statistics.median(each[0] for each in ours)
    middle = {"plain": without, "mujoco": theirs, "cmu": cmu}
    row = {what: statistics.median(values) for what, values in middle.items()}
    row |= {"rig": name, "bodies": len(full.model), "few": len(plain.model), "s": total}
    return row | {"rest": statistics.median(ratio), "high": oracle.highest}


def line(row: dict) -> str:
    cells = [row["rig"], f"{row['bodies']} ({row['few']})", f"{row['s']:.3f}"]
    for value, limit in ((row["s"] / row["plain"], PLAIN_LIMIT), (row["s"] / row["mujoco"], MUJOCO_LIMIT)):
        cells.append(f"{value:.2f} ×" if value <= limit else f"**{value:.2f} ×**")
    cells.append(f"{row['rest']:.2f} ×" if row["rest"] <= REST_LIMIT else f"**{row['rest']:.2f} ×**")
    cells += [f"{row['plain']:.3f}", f"{row['mujoco']:.3f}", f"{row['cmu']:.3f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("chosen", nargs="*")
    options.add_argument("--keep", action="store_true")
    options.add_argument("--rounds", type=int, default=5)
    asked = options.parse_args()
    columns = ("person", "bodies (without fingers, toes)", "s", f"of it plain (≤ {PLAIN_LIMIT:g} ×)",
               f"of MuJoCo (≤ {MUJOCO_LIMIT:g} ×)", f"at rest of falling (≤ {REST_LIMIT:g} ×)", "plain s", "MuJoCo s",
               "humanoid_CMU s")  # fmt: skip
    lines = [f"## Time of {FRAMES} limp frames, {STEPS:g} steps a second, medians of {asked.rounds}", ""]
    lines += ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    print("\n".join(lines), flush=True)
    missed, names = 0, [name for name in PEOPLE if not asked.chosen or any(part in name for part in asked.chosen)]
    for name in names:
        row = time_person(name, asked.rounds, asked.keep)
        lines.append(line(row))
        missed += lines[-1].count("**") // 2
        print(lines[-1], flush=True)
    lines += ["", f"{len(names)} people, {missed} limits missed", ""]
    print("\n".join(lines[-3:]), flush=True)
    OUT.parent.mkdir(exist_ok=True)
    (OUT.parent / "trial_fall_time.md").write_text("\n".join(lines), encoding="utf-8")
    return int(missed > 0 or not names)


if __name__ == "__main__":
    sys.exit(main())
