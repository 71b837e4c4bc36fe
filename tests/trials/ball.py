"""Throw a Ball with its defaults at every rig: does it hit what it says, on the frame it says, and does the bone give?

    python3 dev.py trial ball [RIG…]

RIG: parts of names (mocap/…, rigs/…, mixamo/SCALE), all without. Mixamo-like persons are imported from glTF at object
scale 0.01, 1 and 100, standing and walking. One process a rig. Prints a table, writes out/trial_ball.md, exits 1 where
a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "addon")]

import menagerie  # noqa: E402
import mixamo_like  # noqa: E402
import rigs  # noqa: E402

MARK = "heft row: "
SAID = re.compile(r"'Ball' hits '(?P<bone>.*)' on frame (?P<frame>-?\d+): play the shot")
# Limits: degrees by which the hit bone deflects within half a second, and how far off the frame said may be.
DEFLECTION, FRAMES_OFF = 1.0, 0
# From this angle [degrees] on a bone is off its source. Before it nothing may change.
SEEN = 0.02
# Of a long recording this much is simulated, from its middle on [s].
SECONDS = 2.5
COLUMNS = ("rig", "bodies", "bone said", "frame said", "first frame off", "° on it", "largest °", "others first")


def names() -> list[str]:
    found = [name for name in menagerie.names() if not name.startswith("rigify")]
    return found + [f"mixamo/{scale:g} {action}" for scale in mixamo_like.SCALES for action in ("Idle", "Walk")]


def open_rig(name: str, folder: Path) -> bpy.types.Object:
    """The file with the rig, which is active and moves."""
    kind, _, rest = name.partition("/")
    if kind == "mixamo":
        scale, action = rest.split()
        return mixamo_like.open_imported(float(scale), folder, action)
    menagerie.open_rig(name, folder)
    return next(menagerie.shots())[0]


def throw(name: str) -> dict:
    """What is measured of one rig; what the command says is read from what it prints."""
    from sample_scenes import stage

    bpy.ops.wm.read_factory_settings(use_empty=True)
    stage.load_addon()
    with tempfile.TemporaryDirectory() as folder:
        rig = open_rig(name, Path(folder))
    scene = bpy.context.scene
    fps = scene.render.fps / scene.render.fps_base
    middle = (scene.frame_start + scene.frame_end) // 2
    long = round(SECONDS * fps)
    if scene.frame_end - scene.frame_start > long:
        scene.frame_start, scene.frame_end = middle, middle + long
    elif scene.frame_end - scene.frame_start < 0.8 * fps:  # too short for a flight of 4 m
        scene.frame_end = scene.frame_start + round(0.8 * fps)
    frames = rigs.scene_frames()
    scene.frame_set(frames[len(frames) // 3])
    source = rigs.poses(rig, frames)
    bpy.ops.heft.add()
    scene.frame_set(frames[len(frames) // 3])
    bpy.ops.heft.throw("EXEC_DEFAULT")
    turned = np.degrees(rigs.angles(source[..., :3, :3], rigs.poses(rig, frames)[..., :3, :3]))
    bodies = [bone.heft.behaviour != "IGNORED" for bone in rig.pose.bones]
    return {
        "rig": name,
        "names": [bone.name for bone in rig.pose.bones],
        "bodies": sum(bodies),
        "first": frames[0],
        "fps": fps,
        "turned": np.round(turned, 4).tolist(),
    }


def in_another_process(name: str) -> dict:
    """The row as a process of its own has it; one that died is a row with its last words."""
    done = subprocess.run([sys.executable, __file__, "--one", name], capture_output=True, text=True, errors="replace")
    rows = [line.removeprefix(MARK) for line in done.stdout.splitlines() if line.startswith(MARK)]
    said = SAID.search(done.stdout)
    if not rows or said is None:
        words = [line for line in (done.stderr + done.stdout).splitlines() if "Error" in line or "Warning" in line]
        return {"rig": name, "error": words[-1] if words else f"said nothing, ended with {done.returncode}"}
    row = json.loads(rows[0])
    turned = np.array(row["turned"])
    bone, frame = row["names"].index(said["bone"]), int(said["frame"])
    at, half = frame - row["first"], round(0.5 * row["fps"])
    off = np.flatnonzero(turned[:, bone] > SEEN)
    whole = np.flatnonzero(turned.max(axis=1) > SEEN)
    return {
        "rig": name,
        "bodies": row["bodies"],
        "bone": said["bone"],
        "frame": frame,
        "seen": int(off[0]) + row["first"] if len(off) else None,
        "on": float(turned[at, bone]),
        "most": float(turned[at : at + half, bone].max()),
        "others": int(whole[0]) + row["first"] if len(whole) else None,
    }


def missed(row: dict) -> list[str]:
    """What is beyond its limit."""
    if "error" in row:
        return [row["error"]]
    out = []
    if row["most"] < DEFLECTION:
        out.append(f"deflects by {row['most']:.3g}° only")
    if row["seen"] is None or abs(row["seen"] - row["frame"]) > FRAMES_OFF:
        out.append(f"says frame {row['frame']}, gives on {row['seen']}")
    if row["others"] is not None and row["others"] < row["frame"]:
        out.append(f"something moves on frame {row['others']}, before the hit")
    return out


def line(row: dict) -> str:
    if "error" in row:
        return f"| {row['rig']} | {row['error']} |" + " |" * (len(COLUMNS) - 2)
    cells = (row["rig"], row["bodies"], row["bone"], row["frame"], row["seen"], f"{row['on']:.2f}",
             f"{row['most']:.1f}", row["others"])  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("chosen", nargs="*")
    options.add_argument("--one")
    asked = options.parse_args()
    if asked.one:
        print(f"\n{MARK}{json.dumps(throw(asked.one))}", flush=True)
        os._exit(0)  # Blender as a module may crash or wait for ever on leaving Python
    lines = ["## A ball of 5 kg at 10 m/s, defaults", ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    print("\n".join(lines), flush=True)
    rows = []
    for name in names():
        if not asked.chosen or any(part in name for part in asked.chosen):
            rows.append(in_another_process(name))
            lines.append(line(rows[-1]))
            print(lines[-1], flush=True)
    good = [row for row in rows if "error" not in row]
    end = [""]
    if good:
        least = min(good, key=lambda row: row["most"])
        end.append(f"least deflection {least['most']:.2f}° ({least['rig']}), limit {DEFLECTION:g}°")
        end.append(f"on the frame said {sum(row['seen'] == row['frame'] for row in good)} of {len(rows)}")
    end += [f"- missed: {row['rig']}: {what}" for row in rows for what in missed(row)]
    end += ["", f"{len(rows)} throws, {sum(not missed(row) for row in rows)} within all limits", ""]
    print("\n".join(end), flush=True)
    out = ROOT / "out" / "trial_ball.md"
    out.parent.mkdir(exist_ok=True)
    out.write_text("\n".join(lines + end), encoding="utf-8")
    os._exit(int(not rows or any(missed(row) for row in rows)))


if __name__ == "__main__":
    main()
