"""Random rigs by the hundreds: each is simulated or refused with a reason, and left as it was found.

Run with `python3 dev.py rigs wild [COUNT] [4.2|4.5|5.0]`; prints the seeds that fail and exits 1 if there are any.
`--seed N` tries one rig, with its traceback. Rigs run in processes of some hundred each: a crash is found, and costs
no more than its batch.
"""

from __future__ import annotations

import argparse
import collections
import os
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "addon")]

BATCH = 100
MARK = "heft wild: "


def run_some(seeds: range) -> None:
    """Try these rigs, a line each."""
    import wild
    from sample_scenes import stage

    bpy.ops.wm.read_factory_settings(use_empty=True)
    stage.load_addon()
    for seed in seeds:
        print(f"\n{MARK}{seed} begins", flush=True)
        try:
            ending = wild.trial(seed)
        except Exception as problem:  # any error at all is what this looks for
            if len(seeds) == 1:
                traceback.print_exc()
            ending = f"FAILED {type(problem).__name__}: {problem}".replace("\n", " | ")
        print(f"{MARK}{seed} {ending}", flush=True)
    os._exit(0)  # Blender as a module may crash or wait for ever on leaving Python


def batch(seeds: range) -> list[tuple[int, str]]:
    """The endings of these rigs in a process of their own; after a crash the rest is tried in another."""
    endings: list[tuple[int, str]] = []
    while len(seeds):
        command = [sys.executable, __file__, "--from", str(seeds[0]), "--to", str(seeds[-1] + 1)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        lines = [line.removeprefix(MARK).split(" ", 1) for line in done.stdout.splitlines() if line.startswith(MARK)]
        found = {int(seed): ending for seed, ending in lines}
        last = max(found, default=seeds[0])
        if found.get(last, "begins") == "begins":
            found[last] = f"FAILED: Blender ended with {done.returncode}: {done.stderr.strip()[-300:]}"
        endings += found.items()
        seeds = range(last + 1, seeds[-1] + 1)
    return endings


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("count", nargs="?", type=int, default=2000)
    options.add_argument("--seed", type=int)
    options.add_argument("--from", dest="first", type=int, default=0)
    options.add_argument("--to", dest="stop", type=int)
    asked = options.parse_args()
    if asked.seed is not None:
        run_some(range(asked.seed, asked.seed + 1))
    if asked.stop is not None:
        run_some(range(asked.first, asked.stop))
    started = time.monotonic()
    parts = [range(k, min(k + BATCH, asked.count)) for k in range(0, asked.count, BATCH)]
    endings: list[tuple[int, str]] = []
    with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        for some in pool.map(batch, (range(asked.first + p.start, asked.first + p.stop) for p in parts)):
            endings += some
            for seed, ending in some:
                if ending.startswith("FAILED"):
                    print(f"seed {seed}: {ending}", flush=True)
    kinds = collections.Counter(ending.partition(":")[0].partition(" ")[0] for _, ending in endings)
    words = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    print(f"Blender {bpy.app.version_string}: {len(endings)} wild rigs in {time.monotonic() - started:.0f} s: {words}")
    sys.stdout.flush()
    os._exit(int(kinds["FAILED"] > 0))


if __name__ == "__main__":
    main()
