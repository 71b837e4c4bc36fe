"""Every real rig through Heft and back: a table, and whether the limits hold.

Identity is measured on what Blender evaluates: source against result, heaviness 0, every frame, every bone;
once with the bodies that Add Physics chooses and once with a third of them, drawn by lot, ignored.
Run with `python3 dev.py rigs [4.2|4.5|5.0]`; exits 1 if a limit is missed.
One process a rig: Blender 4.2's glTF importer bears no more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "addon")]

import menagerie  # noqa: E402
import rigs  # noqa: E402
from menagerie import ANGLE, OFFSET  # noqa: E402

COLUMNS = ("rig", "bones", "bodies", "roles", "height m", "mass kg", "shots", "frames", "offset", "angle °", "s")
MARK = "heft row: "


def measure(name: str, folder: Path) -> dict:
    """One rig's row."""
    from sample_scenes import stage

    bpy.ops.wm.read_factory_settings(use_empty=True)
    stage.load_addon()
    rigs.post()
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()  # whatever has to be compiled or loaded is now
    menagerie.open_rig(name, folder)
    started = time.perf_counter()
    row = {"rig": name, "shots": 0, "frames": 0, "offset": 0.0, "angle": 0.0, "where": ""}
    for rig, action in menagerie.shots():
        for ignoring in (False, True):
            offset, angle, where = menagerie.identity(rig, ignoring)
            worse = offset / OFFSET + angle / ANGLE > row["offset"] / OFFSET + row["angle"] / ANGLE
            if worse:
                row["where"] = f"{rig.name} {action} {where}{' (some ignored)' if ignoring else ''}"
            row["offset"], row["angle"] = max(row["offset"], offset), max(row["angle"], angle)
        row["shots"] += 1
        row["frames"] += bpy.context.scene.frame_end - bpy.context.scene.frame_start + 1
        if row["shots"] == 1:
            row |= about(rig)
        bpy.ops.heft.remove()
    return row | {"s": time.perf_counter() - started}


def about(rig) -> dict:
    """What Add Physics makes of a rig."""
    from heft.addon.simulate import session

    bpy.ops.heft.remove()
    bpy.ops.heft.add()
    bpy.ops.heft.simulate()
    reading = session.last_shown(rig).reading
    chosen = [bone for bone in rig.pose.bones if bone.heft.behaviour != "IGNORED"]
    return {
        "bones": len(rig.pose.bones),
        "bodies": len(chosen),
        "roles": roles_found(rig, [bone.name for bone in chosen]),
        "height": session.height_in_meters(rig, bpy.context.scene),
        "mass": float(reading.model.masses.sum()),
    }


def roles_found(rig, names: list[str]) -> int:
    """Bodies of which Heft knows what they are."""
    from heft.addon.rig import bone_roles

    parts = bone_roles.roles_of(rig)
    return sum(parts[name].role != "OTHER" for name in names)


def in_another_process(name: str) -> dict:
    """The row as a process of its own has it; one that died is a row with its last words."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--one", name, "--folder", folder]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    rows = [line.removeprefix(MARK) for line in done.stdout.splitlines() if line.startswith(MARK)]
    if rows:
        return json.loads(rows[0])
    words = (done.stderr or done.stdout).strip().splitlines()
    return {"rig": name, "error": words[-1] if words else f"ended with {done.returncode}"}


def holds(row: dict) -> bool:
    return "error" not in row and row["offset"] <= OFFSET and row["angle"] <= ANGLE


def line(row: dict) -> str:
    """A row of the table."""
    if "error" in row:
        return f"| {row['rig']} | {row['error']} |" + " |" * (len(COLUMNS) - 2)
    cells = [row["rig"], row["bones"], row["bodies"], row["roles"], f"{row['height']:.3g}", f"{row['mass']:.3g}"]
    cells += [row["shots"], row["frames"], f"{row['offset']:.1e}", f"{row['angle']:.4f}", f"{row['s']:.1f}"]
    return "| " + " | ".join(map(str, cells)) + " |" + ("" if holds(row) else f"  <- missed: {row['where']}")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("chosen", nargs="*", help="parts of the rigs' names; all without")
    options.add_argument("--one")
    options.add_argument("--folder", type=Path)
    options.add_argument("--output", type=Path)
    asked = options.parse_args()
    if asked.one:
        print(f"\n{MARK}{json.dumps(measure(asked.one, asked.folder))}", flush=True)
        os._exit(0)  # Blender as a module may crash or wait for ever on leaving Python
    names = [name for name in menagerie.names() if not asked.chosen or any(part in name for part in asked.chosen)]
    lines = [f"## Blender {bpy.app.version_string}", "", "| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    print("\n".join(lines), flush=True)
    missed = 0
    with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        for row in pool.map(in_another_process, names):
            lines.append(line(row))
            missed += not holds(row)
            print(lines[-1], flush=True)
    lines += ["", f"{len(names)} rigs, limits {OFFSET:g} of the height and {ANGLE:g}°: {missed} missed", ""]
    print("\n".join(lines[-3:]), flush=True)
    if asked.output:
        asked.output.parent.mkdir(exist_ok=True)
        with asked.output.open("a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    sys.stdout.flush()
    os._exit(int(missed > 0 or not names))


if __name__ == "__main__":
    main()
