"""Let Go on frame 60 of a walk: the source before it, momentum over the switch, a fall that rests, and the way back.

Run with `python3 dev.py trial let_go [NAME…] [--aside]`; exits with 1 where a limit is missed. The rigs under ASIDE
were not looked at while this was made.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import math
import os
import sys
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "addon"), str(ROOT / "tests" / "trials")]

from sample_scenes import stage  # noqa: E402

stage.load_addon()

import blow as blows  # noqa: E402
import strips  # noqa: E402

import menagerie  # noqa: E402
import mixamo_like  # noqa: E402
import rigs  # noqa: E402
from heft import engine  # noqa: E402
from heft.addon.simulate import session  # noqa: E402
from heft.engine.analysis.whole_body import world_poses  # noqa: E402
from heft.engine.math import quaternions as rot  # noqa: E402
from heft.engine.tables import state as S  # noqa: E402

simulating = importlib.import_module("heft.engine.simulation.simulate")

FRAME = 60
RESTS, FALLS = 3.0, 4.0  # [s] after the switch the body rests; until then it is limp
RECOVERY = 1.0
# Limits: ° before the switch; parts of the momentum; ° a frame of 24 a second and m/s at rest; ° and m when it is back.
IDENTITY, MOMENTUM, REST_TURN, REST_SPEED, BACK_TURN, BACK_WAY = 0.02, 1e-9, 1.0, 0.02, 0.1, 1e-3


def sample() -> bpy.types.Object:
    rigs.new_file()
    bpy.ops.heft.add_sample()
    return bpy.context.object


def recording(name: str):
    def open_it() -> bpy.types.Object:
        rig = menagerie.open_recording(rigs.DATA / "mocap" / f"{name}.bvh")
        bpy.context.scene.frame_start = 2
        return rig

    return open_it


def mixamo() -> bpy.types.Object:
    rigs.new_file()
    rig = mixamo_like.build()
    mixamo_like.choose_action(rig, mixamo_like.WALK)
    return rig


CASES = {"sample": sample, "cmu_02_01": recording("cmu_02_01"), "mixamo": mixamo}
ASIDE = {"cmu_09_01": recording("cmu_09_01"), "cmu_16_03": recording("cmu_16_03")}


def measure(name: str, open_it) -> dict:
    rig = open_it()
    scene = bpy.context.scene
    fps = scene.render.fps / scene.render.fps_base
    off = FRAME + round(FALLS * fps)
    scene.frame_end = off + round((RECOVERY + 1.0) * fps)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.add()
    rig.heft.recovery_time = RECOVERY
    scene.frame_set(FRAME)
    bpy.ops.heft.let_go()
    scene.frame_set(off)
    bpy.ops.heft.let_go(back=True)
    asked: list = []
    given = engine.simulate_together

    def noted(*arguments, **more):
        asked[:] = arguments
        return given(*arguments, **more)

    engine.simulate_together = noted
    try:
        bpy.ops.heft.simulate()
    finally:
        engine.simulate_together = given
    shown = session.last_shown(rig)
    row = FRAME - int(shown.reading.frames[0])
    found = {"rig": name, **of_result(shown, row, off - int(shown.reading.frames[0]), fps)}
    found["momentum"], found["spin"] = momenta_kept(asked[0], asked[1], asked[2], row)
    draw(shown, rig, name, row, off - int(shown.reading.frames[0]), fps)
    return found


def of_result(shown, row: int, off: int, fps: float) -> dict[str, float]:
    model, source, result = shown.reading.model, shown.reading.motion, shown.result.motion
    (places, turns), (places0, turns0) = world_poses(model, result), world_poses(model, source)
    between = np.degrees(blows.angle_of(rot.multiply(rot.conjugate(turns0), turns)))
    way = np.linalg.norm(places - places0, axis=2)
    rest = slice(row + math.ceil(RESTS * fps), off)
    steps = np.degrees(blows.angle_of(rot.multiply(rot.conjugate(result.rotations[:-1]), result.rotations[1:])))
    back = off + math.ceil(RECOVERY * fps) + 1
    return {
        "before": between[: row + 1].max(),
        "fell": float((places0 - places)[off - 1, 0, 2]),
        "turn": steps[rest].max() * fps / 24.0,
        "speed": np.linalg.norm(np.diff(places, axis=0), axis=2)[rest].max() * fps,
        "back turn": between[back:].max(),
        "back way": way[back:].max(),
        "range": blows.out_of_range(model, result.rotations[row + math.ceil(0.2 * fps) : off]),
    }


def momenta_kept(actors, scene, rate, row: int) -> tuple[float, float]:
    """How much of its momentum, and of its angular momentum about the centre of mass, the body loses in the frame after
    the switch, where nothing acts on it: no weight, no ground, no limits, no tone."""
    bare = [
        dataclasses.replace(
            actor,
            model=dataclasses.replace(actor.model, limits=np.where(actor.model.limits < 0, -np.inf, np.inf)),
            controller=dataclasses.replace(actor.controller, tone=0.0),
        )
        for actor in actors
    ]
    shot = simulating.Shot(bare, dataclasses.replace(engine.Scene(), gravity=(0.0, 0.0, 0.0)), rate)
    found = []
    for frame in (row, row + 1):
        shot.run(frame)
        found.append(_momenta(shot, frame))
    (p0, l0), (p1, l1) = found
    return float(np.linalg.norm(p1 - p0) / np.linalg.norm(p0)), float(np.linalg.norm(l1 - l0) / np.linalg.norm(l0))


def _momenta(shot, frame: int) -> tuple[np.ndarray, np.ndarray]:
    model, body = shot.cast.model, shot.state.body[1:]
    results = shot.results()[0].motion
    places, turns = world_poses(model, results)
    centers = places[frame] + rot.rotate(turns[frame], model.centers)
    linear, spin = body[:, S.LINEAR : S.LINEAR + 3], body[:, S.SPIN : S.SPIN + 3]
    middle = model.masses @ centers / model.masses.sum()
    return linear.sum(axis=0), (spin + np.cross(centers - middle, linear)).sum(axis=0)


def draw(shown, rig, name: str, row: int, off: int, fps: float) -> None:
    """A strip of the fall and the return: `out/let_go_NAME.png`."""
    model = shown.reading.model
    moments = [row - 1, *(row + round(t * fps) for t in (0.15, 0.3, 0.5, 0.8, 1.5, FALLS - 0.1))]
    moments += [off + round(t * fps) for t in (0.3, 0.6, 1.1)]
    captions = [f"{name} frame {shown.reading.frames[k]}" for k in moments]
    with_ends = [
        blows.with_ends(model, *world_poses(model, motion)) for motion in (shown.reading.motion, shown.result.motion)
    ]
    parents = np.concatenate([model.parents, np.arange(len(model))])
    across = np.array([0.6, 0.8, 0.0])
    ground = rig.heft.ground_height * blows.meters(rig)
    strips.draw(ROOT / "out" / f"let_go_{name}.png", parents, *with_ends, moments, captions, across, ground)


COLUMNS = {
    "before": ("before °", IDENTITY), "momentum": ("momentum lost", MOMENTUM), "spin": ("spin lost", MOMENTUM),
    "turn": ("rest °/frame", REST_TURN), "speed": ("rest m/s", REST_SPEED), "back turn": ("back °", BACK_TURN),
    "back way": ("back m", BACK_WAY), "range": ("range °", 3.0), "fell": ("fell m", None),
}  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*")
    options.add_argument("--aside", action="store_true")
    asked = options.parse_args()
    cases = {name: case for name, case in {**CASES, **ASIDE}.items() if name in asked.names}
    cases = cases or (ASIDE if asked.aside else CASES)
    lines = ["| rig | " + " | ".join(title for title, _ in COLUMNS.values()) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    limits = " | ".join("" if limit is None else f"≤ {limit:g}" for _, limit in COLUMNS.values())
    lines.append(f"| limit | {limits} |")
    print("\n".join(lines), flush=True)
    missed = []
    for name, open_it in cases.items():
        row = measure(name, open_it)
        lines.append(f"| {name} | " + " | ".join(f"{row[key]:.2g}" for key in COLUMNS) + " |")
        print(lines[-1], flush=True)
        missed += [
            f"{name}: {title} {row[key]:.3g}, at most {limit:g}"
            for key, (title, limit) in COLUMNS.items()
            if limit is not None and not row[key] <= limit
        ]
    lines += ["", *(missed or ["All limits hold."])]
    print("\n".join(lines[len(cases) + 3 :]), flush=True)
    (ROOT / "out").mkdir(exist_ok=True)
    (ROOT / "out" / f"trial_let_go{'_aside' if asked.aside else ''}.md").write_text("\n".join(lines) + "\n")
    sys.stdout.flush()
    os._exit(int(bool(missed)))


if __name__ == "__main__":
    main()
