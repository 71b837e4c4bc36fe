"""One process a rig: rows of a trial's table, and the files that its rigs are read into.

Owns how a trial runs itself for one rig in a process of its own, with a time-out, and gets its row back. Must not know
what is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "addon"), str(ROOT / "tests")]
OUT = ROOT / "out" / "falls"
MARK = "heft row: "


def rig_names(chosen: list[str]) -> list[str]:
    """Names of `menagerie` that have one of these parts; all without."""
    import bpy  # noqa: F401 - before what `menagerie` takes from Blender

    import menagerie

    return [name for name in menagerie.names() if not chosen or any(part in name for part in chosen)]


def file_of(name: str, kind: str) -> Path:
    return OUT / f"{name.replace('/', '_')}.{kind}"


def read_rig(name: str, keep: bool):
    """The rig as a `Fall`; `keep`: as the last run has read it, if it has."""
    from falling import load

    from sample_scenes import stage

    stage.load_addon()  # what its engine has compiled is used here too
    path = file_of(name, "fall")
    if not (keep and path.exists()):
        from fall_rigs import read_fall

        with tempfile.TemporaryDirectory() as folder:
            read_fall(name, Path(folder)).save(path)
    return load(path)


def tell_row(row: dict) -> None:
    """In the process of one rig: hand its row over and end."""
    print(f"\n{MARK}{json.dumps(row)}", flush=True)
    os._exit(0)  # Blender as a module may crash or wait for ever on leaving Python


def row_of(script: str, name: str, arguments: list[str], seconds: float) -> dict:
    """The row as a process of its own has it; one that died or took too long is a row with its last words."""
    command = [sys.executable, script, "--one", name, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"rig": name, "error": f"not done after {seconds:g} s"}
    rows = [line.removeprefix(MARK) for line in done.stdout.splitlines() if line.startswith(MARK)]
    if rows:
        return json.loads(rows[0])
    words = (done.stderr or done.stdout).strip().splitlines()
    return {"rig": name, "error": words[-1] if words else f"ended with {done.returncode}"}
