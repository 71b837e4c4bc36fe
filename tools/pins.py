"""Pinned results: the bytes of forty engine scenes and of all sample scenes, before and after a change.

Owns the file of hashes of this machine. Processors contract floating point differently, so hashes are compared on the
machine that wrote them; `tests/engine/test_pinned.py` compares numbers on all machines. Standard library only.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from .environments import BLENDER, ENGINE, ROOT, cache_folder, run, say

# What writes the hashes, and in which environment.
SCRIPTS = {"tests/pin/engine_hashes.py": ENGINE, "tests/pin/scene_hashes.py": BLENDER["5.0"]}


def pin_file() -> Path:
    return cache_folder() / "pins.json"


def hash_results() -> dict[str, str]:
    """The hash of every scene's result with the code as it is."""
    found: dict[str, str] = {}
    for script, env in SCRIPTS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "hashes.json"
            if run(env, script, path) != 0:
                raise RuntimeError(f"{script} failed: see above.")
            found |= json.loads(path.read_text())
    return found


def commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def compare(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """A line for every scene whose result has changed, is gone or is new."""
    lines = []
    for name in sorted(before | after):
        if name not in after:
            lines.append(f"{name}: gone")
        elif name not in before:
            lines.append(f"{name}: new")
        elif before[name] != after[name]:
            lines.append(f"{name}: changed")
    return lines


def pin(arguments: list[str]) -> int:
    """`write`: keep the hashes of this state. Without: compare with those that are kept."""
    file = pin_file()
    found = hash_results()
    if arguments == ["write"]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"commit": commit(), "hashes": found}, indent=1))
        say(f"{len(found)} hashes of {commit()} written to {file}")
        return 0
    if not file.exists():
        say("no hashes are kept: check out the state to compare with and run `dev.py pin write` there")
        return 1
    kept = json.loads(file.read_text())
    lines = compare(kept["hashes"], found)
    for line in lines:
        say(line)
    say(f"{len(found) - len(lines)} of {len(found)} hashes are those of {kept['commit']}")
    return int(bool(lines))
