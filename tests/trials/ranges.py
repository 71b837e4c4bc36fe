"""Every joint of every rig: has it a finite range, how wide is it by role, and does the source stay within?

    python3 dev.py trial ranges [RIG…]

RIG: parts of the names that `menagerie` has (mocap/…, rigs/…, rigify/…), all without. One process a rig. Every action
of a rig is read, at Full detail. Writes out/trial_ranges.md; exits 1 where a joint has no finite range or a source
leaves its own. A joint that its source turns all the way round has a range of a whole turn: those are counted beside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "addon")]

import menagerie  # noqa: E402

MARK = "heft row: "
COLUMNS = ("rig", "shots", "joints", "not finite", "whole turn", "source outside °", "where")
# Degrees that the source may be outside, joints that may be without a finite range.
OUTSIDE_MOST, ENDLESS_MOST = 0.0, 0


def measure(name: str) -> dict:
    """One rig's row; roles: by role, (swing, swing aside, half the twist) of each joint [degrees]."""
    from sample_scenes import stage

    bpy.ops.wm.read_factory_settings(use_empty=True)
    stage.load_addon()
    row = {"rig": name, "shots": 0, "joints": 0, "endless": 0, "whole": 0, "outside": -360.0, "where": "", "roles": {}}
    with tempfile.TemporaryDirectory() as folder:
        menagerie.open_rig(name, Path(folder))
        for rig, action in menagerie.shots():
            bpy.ops.heft.add()
            rig.heft.detail = "FULL"
            add_shot(row, rig, action)
            bpy.ops.heft.remove()
    return row


def add_shot(row: dict, rig, action: str) -> None:
    """Count one action of a rig into its row."""
    from heft.addon.blender import sample_poses
    from heft.addon.read import read_rig
    from heft.addon.rig import bone_roles
    from heft.engine.anatomy import joint_limit
    from heft.engine.model.model import HINGE

    scene = bpy.context.scene
    samples = sample_poses.finish(sample_poses.sample(rig, scene, [*range(scene.frame_start, scene.frame_end + 1)]))
    reading = read_rig.read(rig, scene, samples)
    model, parts = reading.model, bone_roles.roles_of(rig)
    row["shots"] += 1
    for b, name in enumerate(reading.names):
        if model.parents[b] < 0:
            continue
        limits, joint = model.limits[b], reading.motion.rotations[:, b]
        row["joints"] += 1
        is_hinge = model.kinds[b] == HINGE
        row["endless"] += int(not np.isfinite(limits[: 2 if is_hinge else 3]).all())
        if is_hinge:
            angle = 2.0 * np.unwrap(np.arctan2(joint[:, 1:] @ model.axes[b, 0], joint[:, 0]), period=np.pi)
            beyond = float(max((limits[0] - angle).max(), (angle - limits[1]).max()))
            width = (0.5 * (limits[1] - limits[0]), 0.0, 0.0)
        else:
            beyond = float(joint_limit.outside(limits, model.limit_frames[b], joint).max())
            width = (limits[0], min(limits[3], limits[0]) if np.isinf(limits[3]) else limits[3], limits[2] - limits[1])
        row["whole"] += int(max(width) >= joint_limit.WHOLE)
        if np.degrees(beyond) > row["outside"]:
            row["outside"], row["where"] = float(np.degrees(beyond)), f"{action} '{name}'"
        wide = (width[0], width[1], 0.5 * width[2])
        row["roles"].setdefault(parts[name].role, []).append([float(np.degrees(angle)) for angle in wide])


def in_another_process(name: str) -> dict:
    """The row as a process of its own has it; one that died is a row with its last words."""
    done = subprocess.run([sys.executable, __file__, "--one", name], capture_output=True, text=True, errors="replace")
    rows = [line.removeprefix(MARK) for line in done.stdout.splitlines() if line.startswith(MARK)]
    if rows:
        return json.loads(rows[0])
    words = (done.stderr or done.stdout).strip().splitlines()
    return {"rig": name, "error": words[-1] if words else f"ended with {done.returncode}"}


def line(row: dict) -> str:
    if "error" in row:
        return f"| {row['rig']} | {row['error']} |"
    cells = (
        row["rig"],
        row["shots"],
        row["joints"],
        row["endless"],
        row["whole"],
        f"{row['outside']:.2f}",
        row["where"],
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def by_role(rows: list[dict]) -> list[str]:
    """Medians over all joints of a role."""
    found: dict[str, list] = {}
    for row in rows:
        for role, each in row.get("roles", {}).items():
            found.setdefault(role, []).extend(each)
    lines = ["| role | joints | swing ° | swing aside ° | twist ° |", "|---|---|---|---|---|"]
    for role, each in sorted(found.items()):
        swing, aside, twist = np.median(np.array(each), axis=0)
        lines.append(f"| {role} | {len(each)} | {swing:.0f} | {aside:.0f} | {twist:.0f} |")
    return lines


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--one"]:
        print(MARK + json.dumps(measure(arguments[1])), flush=True)
        sys.stdout.flush()
        os._exit(0)  # Blender's own end may crash after its importers
    names = [name for name in menagerie.names() if not arguments or any(word in name for word in arguments)]
    head = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    print("\n".join(head), flush=True)
    rows = []
    for name in names:
        rows.append(in_another_process(name))
        print(line(rows[-1]), flush=True)
    known = [row for row in rows if "error" not in row]
    endless = sum(row["endless"] for row in known)
    outside = max((row["outside"] for row in known), default=0.0)
    lines = [*by_role(rows), "", f"joints without a finite range: {endless} (at most {ENDLESS_MOST})"]
    lines.append(f"source outside its range: {outside:.2f} deg (at most {OUTSIDE_MOST:g}; below zero: to spare)")
    print("\n" + "\n".join(lines))
    path = ROOT / "out" / "trial_ranges.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([*head, *map(line, rows), "", *lines]) + "\n", encoding="utf-8")
    failed = len(known) < len(rows) or endless > ENDLESS_MOST or outside > OUTSIDE_MOST
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
