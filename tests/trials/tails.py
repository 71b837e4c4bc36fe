"""Bones with absurd tails: are masses, shapes, overlays and the result those of the same rig with sane tails?

    python3 dev.py trial tails [RIG…]

RIG: parts of names (mocap/…, rigs/…, rigify/…, mixamo), all without. One process a rig. Every rig is compared

- as it comes with all tails read 100 times as long and as short;
- with tails drawn 100 times as long in Blender, with the same armature whose tails are read where they were
  ("edited × 100"): heads and axes are the same, nothing may change;
- the same with tails drawn as they were ("edited × 100 beside × 1"). Blender rounds heads and axes of long bones, so
  this is another rig by as much as "rig itself" says, and a ball's hit makes small differences larger. The row
  "nudged" is the control: tails as they were, every bone moved at random by as much as Blender's rounding did.

The Mixamo-like person is also imported from glTF at object scale 0.01 and 100, beside scale 1. Where editing changes
the rig's own motion (constraints that look at lengths) there is nothing to compare, and the row says so. Prints a
table, writes out/trial_tails.md, exits 1 where a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "addon")]

import menagerie  # noqa: E402
import mixamo_like  # noqa: E402
import rigs  # noqa: E402
from long_tails import scale_tails  # noqa: E402

MARK = "heft row: "
# Limits: in parts of height and mass; as many times what Blender's rounding has changed of the rig itself.
LIMIT, ROUNDING = 1e-6, 50.0
# The result may differ by this many times what the largest of the control's seeds makes of the same rounding.
SENSITIVE, SEEDS = 3.0, (1, 2, 3)
# A rig that differs by more has another motion of its own: its constraints look at lengths.
OTHER_MOTION = 1e-3
TIMES = (100.0, 0.01)
FRAMES = 30  # simulated, with a ball
DISTANCES = (1.0, 1.5, 2.0, 3.0, 10.0, 30.0, 50.0, 70.0)  # of a ball when it is thrown [m]
BESIDE, NUDGED = " beside × 1", ", nudged"
MEASURES = ("masses", "shapes", "ends", "overlays", "result")


def open_rig(name: str, folder: Path) -> bpy.types.Object:
    if name == "mixamo":
        rigs.new_file()
        return mixamo_like.build()
    menagerie.open_rig(name, folder)
    return next(menagerie.shots())[0]


def throw_ball() -> None:
    """From 1 m away, or from the next distance where a ball would start within the rig (a shark)."""
    for distance in DISTANCES:
        try:
            bpy.ops.heft.throw("EXEC_DEFAULT", distance=distance)
            return
        except RuntimeError:
            if distance == DISTANCES[-1]:
                raise


def measured(rig: bpy.types.Object) -> dict[str, np.ndarray]:
    """What physics makes of the rig, in parts of its height and mass."""
    from heft.addon.read import inputs
    from heft.addon.simulate import session
    from heft.addon.ui.overlays import bone_capsules, motions, shapes

    scene = bpy.context.scene
    middle = (scene.frame_start + scene.frame_end) // 2
    scene.frame_start, scene.frame_end = middle, middle + FRAMES
    scene.frame_set(middle)
    bpy.ops.heft.add()
    throw_ball()
    shown = session.last_shown(rig)
    reading, model = shown.reading, shown.reading.model
    shapes.build(inputs.of(rig, scene).rigs[rig])
    built, unit = shapes.built(rig), reading.placement.sizes[0]
    seen = motions.current(rig, scene)
    tall = reading.height * unit
    motion = shown.result.motion
    turns = rotations_of(motion.rotations)
    masses = [model.masses, model.centers / tall * model.total_mass, model.inertias / tall**2]
    return {
        "masses": np.concatenate([each.ravel() for each in masses]) / model.total_mass,
        "shapes": np.array([v for each in model.shapes for shape in each for v in numbers_of(shape)]) / tall,
        "ends": np.array([spot for _, *ends in reading.spots.values() for spot in ends]).ravel() / tall,
        "overlays": np.concatenate(
            [spread(bone_capsules.capsules(seen).vertices), built.limits.segments.ravel() * unit]
        )
        / tall,
        "result": np.concatenate([turns.ravel(), motion.positions.ravel() / tall]),
        "rig itself": np.concatenate([rotations_of(reading.motion.rotations).ravel(), model.offsets.ravel() / tall]),
    }


def rotations_of(quats: np.ndarray) -> np.ndarray:
    """Rotation matrices: a quaternion and its opposite are the same."""
    from heft.engine.math import rotations

    return rotations.to_matrix(quats)


def numbers_of(shape) -> list[float]:
    """A shape as numbers that do not depend on how it is drawn [m]."""
    corners = getattr(shape, "points", None)
    if corners is not None:
        return [*corners.min(axis=0), *corners.max(axis=0), *corners.mean(axis=0)]
    if hasattr(shape, "start"):
        start, end = np.array(shape.start), np.array(shape.end)
        return [shape.radius, *(0.5 * (start + end)), float(np.linalg.norm(end - start))]
    return [*np.sort(np.ravel(getattr(shape, "half", getattr(shape, "radius", 0.0)))), *shape.center]


def spread(vertices: np.ndarray) -> np.ndarray:
    """Where a mesh is, whichever way its rings are turned: moments of its points [m]."""
    return np.concatenate([vertices.min(axis=0), vertices.max(axis=0), vertices.mean(axis=0), vertices.std(axis=0)])


def difference(sane: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> dict[str, float]:
    """The largest by measure; infinite where there are not as many numbers."""
    out = {}
    for name in sane:
        a, b = sane[name], other[name]
        out[name] = float(np.abs(a - b).max(initial=0.0)) if a.shape == b.shape else float("inf")
    return out


@contextmanager
def tails_read(times: float, leaves_only: bool):
    """Within this block drawn tails are read that many times as far away."""
    from heft.addon.rig import physical_ends

    kept = physical_ends.drawn

    def drawn(rig):
        heads, tails = kept(rig)
        chosen = np.array([not leaves_only or not bone.children for bone in rig.data.bones])
        return heads, heads + (tails - heads) * np.where(chosen, times, 1.0)[:, None]

    physical_ends.drawn = drawn
    try:
        yield
    finally:
        physical_ends.drawn = kept


def nudge_bones(rig: bpy.types.Object, share: float, seed: int) -> None:
    """Move every bone at random, without turning it, by up to that share of the rig's height."""
    heads = np.array([bone.head_local for bone in rig.data.bones])
    random = np.random.default_rng(seed)
    far = share * float(np.ptp(heads, axis=0).max())
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in rig.data.edit_bones:
        shift = Vector(random.uniform(-far, far, 3))
        bone.head, bone.tail = bone.head + shift, bone.tail + shift
    bpy.ops.object.mode_set(mode="OBJECT")


def nudged(sane: dict[str, np.ndarray], opened, share: float) -> dict[str, float]:
    """The largest differences of rigs that `opened` gives, each nudged by that share of the height, from the sane."""
    largest: dict[str, float] = {}
    for seed in SEEDS:
        rig = opened()
        nudge_bones(rig, share, seed)
        found = difference(sane, measured(rig))
        largest = {name: max(found[name], largest.get(name, 0.0)) for name in found}
    return largest


def row_of(name: str) -> dict:
    """The largest differences of a rig whose tails are absurd from the same with sane ones."""
    from sample_scenes import stage

    bpy.ops.wm.read_factory_settings(use_empty=True)
    stage.load_addon()
    rows = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)

        def opened(times: float) -> bpy.types.Object:
            rig = open_rig(name, folder)
            scale_tails(rig, times)
            return rig

        sane = measured(open_rig(name, folder))
        for times in TIMES:
            with tails_read(times, leaves_only=False):
                rows[f"read × {times:g}"] = difference(sane, measured(open_rig(name, folder)))
        edited = measured(opened(TIMES[0]))
        with tails_read(1.0 / TIMES[0], leaves_only=False):
            rows[f"edited × {TIMES[0]:g}"] = difference(measured(opened(TIMES[0])), edited)
        as_drawn = measured(opened(1.0))
        add_beside(rows, f"edited × {TIMES[0]:g}", as_drawn, edited, lambda: opened(1.0))
        if name == "mixamo":
            with tails_read(TIMES[0], leaves_only=True):
                rows[f"leaves read × {TIMES[0]:g}"] = difference(sane, measured(open_rig(name, folder)))
            sane = measured(mixamo_like.open_imported(1.0, folder))
            for scale in (0.01, 100.0):
                found = measured(mixamo_like.open_imported(scale, folder))
                add_beside(rows, f"glTF at {scale:g}", sane, found, lambda: mixamo_like.open_imported(1.0, folder))
    return {"rig": name, "rows": rows}


def add_beside(rows: dict, how: str, sane: dict[str, np.ndarray], other: dict[str, np.ndarray], opened) -> None:
    """Two rows: the difference from the sane rig, and what a nudge of the same size makes of that."""
    values = difference(sane, other)
    if values["rig itself"] <= OTHER_MOTION:
        rows[f"{how}{NUDGED}"] = nudged(sane, opened, values["rig itself"])
    rows[f"{how}{BESIDE}"] = values


def beyond_limit(how: str, values: dict[str, float], control: dict[str, float] | None) -> list[str]:
    """The measures beyond their limits. A rig that Blender has rounded cannot be nearer than its rounding brings it."""
    if not how.endswith(BESIDE):
        return [name for name in MEASURES if values[name] > LIMIT]
    if control is None:
        return []
    limit = {name: max(LIMIT, ROUNDING * values["rig itself"]) for name in MEASURES}
    limit["result"] = max(limit["result"], SENSITIVE * control["result"])
    return [name for name in MEASURES if values[name] > limit[name]]


def in_another_process(name: str) -> dict:
    done = subprocess.run([sys.executable, __file__, "--one", name], capture_output=True, text=True, errors="replace")
    rows = [line.removeprefix(MARK) for line in done.stdout.splitlines() if line.startswith(MARK)]
    if rows:
        return json.loads(rows[0])
    words = (done.stderr or done.stdout).strip().splitlines()
    return {"rig": name, "rows": {}, "error": words[-1] if words else f"ended with {done.returncode}"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("chosen", nargs="*")
    options.add_argument("--one")
    asked = options.parse_args()
    if asked.one:
        print(f"\n{MARK}{json.dumps(row_of(asked.one))}", flush=True)
        os._exit(0)  # Blender as a module may crash or wait for ever on leaving Python
    lines = ["## Largest differences by absurd tails, in parts of the height, the mass and a turn", ""]
    lines += ["| rig | tails | rig itself | " + " | ".join(MEASURES) + " |", "|---" * (3 + len(MEASURES)) + "|"]
    print("\n".join(lines), flush=True)
    worst, beyond, count = dict.fromkeys(MEASURES, (0.0, "")), 0, 0
    for name in ("mixamo", *menagerie.names()):
        if asked.chosen and not any(part in name for part in asked.chosen):
            continue
        found = in_another_process(name)
        if "error" in found:
            lines.append(f"| {name} | {found['error']} |" + " |" * (1 + len(MEASURES)))
            print(lines[-1], flush=True)
            beyond, count = beyond + 1, count + 1
        for how, values in found["rows"].items():
            control = found["rows"].get(how.replace(BESIDE, NUDGED)) if how.endswith(BESIDE) else None
            judged = not how.endswith(NUDGED) and (control is not None or not how.endswith(BESIDE))
            bad = beyond_limit(how, values, control) if judged else []
            cells = [f"**{values[m]:.1e}**" if m in bad else f"{values[m]:.1e}" for m in MEASURES]
            note = "" if judged or how.endswith(NUDGED) else " (another motion: not compared)"
            lines.append(f"| {name} | {how}{note} | {values['rig itself']:.1e} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
            if not judged:
                continue
            beyond, count = beyond + bool(bad), count + 1
            for m in MEASURES:
                worst[m] = max(worst[m], (values[m], f"{name}, {how}"))
    end = ["", *(f"worst {m}: {value:.2e} ({where})" for m, (value, where) in worst.items())]
    end += ["", f"limits: {LIMIT:g}; beside × 1 {ROUNDING:g} × the rig's own, the result {SENSITIVE:g} × nudged"]
    end += ["", f"{count} comparisons, {count - beyond} within the limit", ""]
    print("\n".join(end), flush=True)
    out = ROOT / "out" / "trial_tails.md"
    out.parent.mkdir(exist_ok=True)
    out.write_text("\n".join(lines + end), encoding="utf-8")
    os._exit(int(not count or beyond > 0))


if __name__ == "__main__":
    main()
