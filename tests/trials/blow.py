"""A ball on the chest: what Throw a Ball does to a person with the defaults, one click.

Balls of four masses from four sides, on a walk, a run, the sample character and someone who stands. Run with
`python3 dev.py trial blow [NAME…] [--aside] [--strips] [--set SETTING=VALUE…]`; exits with 1 where a limit is missed.
Recordings under ASIDE were not looked at when defaults were chosen; `--aside` measures those.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "addon"), str(ROOT / "tests" / "trials")]

from sample_scenes import stage  # noqa: E402

stage.load_addon()

import strips  # noqa: E402

import menagerie  # noqa: E402
import mixamo_like  # noqa: E402
import rigs  # noqa: E402
from heft.addon.rig import bone_roles  # noqa: E402
from heft.addon.simulate import session  # noqa: E402
from heft.engine.analysis.support_polygon import Soles  # noqa: E402
from heft.engine.analysis.whole_body import world_poses  # noqa: E402
from heft.engine.math import quaternions as rot  # noqa: E402
from heft.engine.model.model import BALL, HINGE  # noqa: E402

MASSES = (0.5, 2.0, 5.0, 10.0)
SIDES = {"front": 0.0, "left": 90.0, "back": 180.0, "right": -90.0}
SPEED = 10.0
LATER = 1.5  # [s] after the hit the body is back
TAKES = 0.15  # [s] in which the centre of mass has its speed
# Limits: see the table's columns.
HIPS, CHEST = (0.05, 0.30), (12.0, 45.0)
SHARE, RANGE, SLIDE, BACK_TURN, BACK_WAY, IDENTITY = 0.5, 0.5, 0.02, 5.0, 0.02, 0.02
# A source's foot stands where its lowest point is this near to the ground and slower than this [m, m/s].
STANDS_NEAR, STANDS_SLOW = 0.03, 0.3


def sample() -> bpy.types.Object:
    rigs.new_file()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 140
    bpy.ops.heft.add_sample()
    return bpy.context.object


def recording(name: str, end: int = 0) -> Callable[[], bpy.types.Object]:
    """A recording; `end`: the shot's last frame, its last pose held where it has fewer."""

    def open_it() -> bpy.types.Object:
        rig = menagerie.open_recording(rigs.DATA / "mocap" / f"{name}.bvh")
        scene = bpy.context.scene
        scene.frame_start = 2 if name.startswith("cmu") else 1  # frame 1 of those is a T-pose
        scene.frame_end = end or scene.frame_end
        return rig

    return open_it


def mixamo() -> bpy.types.Object:
    """A 65-bone human with Mixamo's names who stands."""
    rigs.new_file()
    return mixamo_like.build()


def rigify() -> bpy.types.Object:
    return menagerie.generate("human", 90)


# By name: how it is opened, and the frame of the hit.
CASES = {
    "sample": (sample, 40),
    "cmu_02_01": (recording("cmu_02_01"), 110),
    "cmu_09_01": (recording("cmu_09_01", 250), 60),
    "mixamo": (mixamo, 30),
}
ASIDE = {
    "cmu_16_03": (recording("cmu_16_03"), 100),
    "cmu_81_06": (recording("cmu_81_06", 400), 150),
    "20tab_freebvh": (recording("20tab_freebvh"), 15),
    "threejs_pirouette": (recording("threejs_pirouette", 400), 150),
    "rigify": (rigify, 30),
}


@dataclass(frozen=True, eq=False)
class Blow:
    """What was thrown and what came of it: as the engine has them."""

    reading: object
    result: object
    rig: bpy.types.Object
    hit: int
    ball: float


def throw(rig: bpy.types.Object, frame: int, angle: float, mass: float, given: dict) -> Blow:
    bpy.context.view_layer.objects.active = rig
    bpy.ops.heft.add()
    for name, value in given.items():
        setattr(rig.heft, name, value)
    bpy.ops.heft.throw(speed=SPEED, mass=mass, angle=math.radians(angle), frame=frame)
    shown = session.last_shown(rig)
    return Blow(shown.reading, shown.result, rig, touched(shown), mass)


def touched(shown) -> int:
    """The row of the frame before the ball first touches; the last one where it never does."""
    place, _ = next(iter(shown.result.objects.values()))
    speed = np.diff(place, axis=0) * shown.reading.motion.fps
    free = shown.tracks[0].ob.heft_collider.free_from - int(shown.reading.frames[0]) + 1
    fall = np.array([0.0, 0.0, -9.81 / shown.reading.motion.fps])
    bends = np.linalg.norm(np.diff(speed, axis=0) - fall, axis=1)[free:] > 0.03 * SPEED
    return int(np.argmax(bends) + free) if bends.any() else len(place) - 1


def angle_of(q: np.ndarray) -> np.ndarray:
    return np.linalg.norm(rot.log(q), axis=-1)


def measure(blow: Blow) -> dict[str, float]:
    """The columns of the table."""
    reading, result, hit = blow.reading, blow.result, blow.hit
    model, fps = reading.model, reading.motion.fps
    places, turns = world_poses(model, result.motion)
    places0, turns0 = world_poses(model, reading.motion)
    parts = bone_roles.roles_of(blow.rig)
    roles = [parts[name].role for name in reading.names]
    hips = int(model.parents[roles.index("THIGH")])
    chest = max((i for i, role in enumerate(roles) if role == "SPINE"), key=lambda i: _depth(model, i))
    turned = np.degrees(angle_of(rot.multiply(rot.conjugate(turns0), turns)))
    joints = np.degrees(angle_of(rot.multiply(rot.conjugate(reading.motion.rotations), result.motion.rotations)))
    shift = np.linalg.norm(places - places0, axis=2)
    later = min(hit + math.ceil(LATER * fps), len(places) - 1)
    out = {
        "hips": shift[:, hips].max(),
        "chest": turned[:, chest].max(),
        "share": _share(blow, places, turns, places0, turns0),
        "range": out_of_range(model, result.motion.rotations[hit:]),
        "slide": slide(blow, roles, (places, turns), (places0, turns0)),
        "back °": turned[later:].max(),
        "back cm": shift[later:].max(),
        "before °": max(joints[:hit].max(initial=0.0), turned[:hit].max(initial=0.0)),
        "late": (len(places) - 1 - hit) / fps,
    }
    for role in ("HEAD", "HAND", "FINGER", "TOE"):
        which = [i for i, name in enumerate(roles) if name == role]
        if which:
            out[role.lower()] = joints[:, which].max()
    steps = np.degrees(angle_of(rot.multiply(rot.conjugate(result.motion.rotations[:-1]), result.motion.rotations[1:])))
    steps0 = np.degrees(
        angle_of(rot.multiply(rot.conjugate(reading.motion.rotations[:-1]), reading.motion.rotations[1:]))
    )
    out["jump"] = (steps - steps0)[max(hit - 1, 0) :].max() * fps / 24.0
    out["peak s"] = (int(turned[:, chest].argmax()) - hit) / fps
    heads = [i for i, name in enumerate(roles) if name == "HEAD"]
    if heads:
        out["head s"] = (int(joints[:, heads[0]].argmax()) - hit) / fps
    return out


def _steps(motion) -> np.ndarray:
    """(frames - 1, n) how far each joint turns from frame to frame [°]."""
    return np.degrees(angle_of(rot.multiply(rot.conjugate(motion.rotations[:-1]), motion.rotations[1:])))


def _depth(model, i: int) -> int:
    depth = 0
    while i >= 0:
        i, depth = int(model.parents[i]), depth + 1
    return depth


def _share(blow: Blow, places, turns, places0, turns0) -> float:
    """The most speed of the centre of mass along the blow within TAKES, in parts of J/m; J as the ball lost it."""
    model, fps = blow.reading.model, blow.reading.motion.fps
    weights = model.masses / model.masses.sum()

    def center(spots, turned):
        return np.einsum("n,fnk->fk", weights, spots + rot.rotate(turned, model.centers[None]))

    off = center(places, turns) - center(places0, turns0)
    ball, _ = next(iter(blow.result.objects.values()))
    speed = np.diff(ball, axis=0) * fps
    after = min(blow.hit + 3, len(speed) - 1)
    impulse = blow.ball * (speed[max(blow.hit - 2, 0)] - speed[after])
    impulse[2] = 0.0
    size = np.linalg.norm(impulse)
    if size < 1e-6:
        return 0.0
    frames = max(2, math.ceil(TAKES * fps))
    along = np.diff(off, axis=0)[blow.hit : blow.hit + frames] @ impulse / size * fps
    return float(along.max() / (size / model.masses.sum()))


def out_of_range(model, joints: np.ndarray) -> float:
    """How far any joint is beyond its limits [°]; joints (frames, n, 4)."""
    worst = 0.0
    for b in range(len(model)):
        if model.parents[b] < 0 or not np.isfinite(model.limits[b]).any():
            continue
        if model.kinds[b] == BALL:
            worst = max(worst, _out_of_ball(model.limits[b], model.limit_frames[b], joints[:, b]))
        elif model.kinds[b] == HINGE:
            angle = 2.0 * np.arctan2(joints[:, b, 1:] @ model.axes[b, 0], joints[:, b, 0])
            angle = (angle + math.pi) % (2.0 * math.pi) - math.pi
            worst = max(worst, model.limits[b, 0] - angle.min(), angle.max() - model.limits[b, 1])
    return math.degrees(worst)


def _out_of_ball(limits: np.ndarray, frames: np.ndarray, joint: np.ndarray) -> float:
    """As `engine.holds.room_of_ball`, for all frames at once [rad]."""
    swing, low, high, swing_z = limits
    q = rot.multiply(rot.multiply(rot.conjugate(frames[0])[None], joint), frames[1][None])
    y = rot.rotate(q, np.array([0.0, 1.0, 0.0]))
    out = np.stack([y[:, 2], -y[:, 0]], axis=1)
    sine = np.linalg.norm(out, axis=1)
    angle = np.arctan2(sine, y[:, 1])
    about = out / np.maximum(sine, 1e-12)[:, None]
    beyond = 0.0
    if np.isfinite(swing):
        wide = swing if not np.isfinite(swing_z) else swing_z
        k = ((about[:, 0] / swing) ** 4 + (about[:, 1] / wide) ** 4) ** 0.25
        beyond = max(beyond, float((angle - 1.0 / np.maximum(k, 1e-9)).max()))
    twist = 2.0 * np.arctan2(q[:, 2], q[:, 0])
    twist = ((twist + math.pi) % (2.0 * math.pi) - math.pi)[angle < 3.0]
    if len(twist):
        beyond = max(beyond, float(low - twist.min()), float(twist.max() - high))
    return beyond


def slide(blow: Blow, roles: list[str], result: tuple, source: tuple) -> float:
    """How far a foot that stands in the source slides while it does, besides what it slides there [m]: of its points
    that stand, the one that keeps its place best; a foot may roll from heel to toe."""
    model, fps = blow.reading.model, blow.reading.motion.fps
    height = blow.rig.heft.ground_height * meters(blow.rig)
    soles = Soles.of(model)
    feet = [i for i, role in enumerate(roles) if role == "FOOT"]
    worst = 0.0
    for foot in feet:
        mine = np.flatnonzero([b == foot or model.parents[b] == foot for b in soles.bodies])
        bodies, points = soles.bodies[mine], soles.points[mine]
        spots, spots0 = (
            places[:, bodies] + rot.rotate(turns[:, bodies], points[None]) for places, turns in (result, source)
        )
        low = spots0[..., 2] - soles.radii[mine] < max(height, (spots0[..., 2] - soles.radii[mine]).min()) + STANDS_NEAR
        slow = np.linalg.norm(np.gradient(spots0, axis=0), axis=2) * fps < STANDS_SLOW
        stands, off = low & slow, (spots - spots0)[..., :2]
        start = off[blow.hit].copy()
        for f in range(blow.hit, len(stands)):
            new = stands[f] & ~stands[f - 1]
            start[new] = off[f, new]
            if stands[f].any():
                worst = max(worst, float(np.linalg.norm(off[f] - start, axis=1)[stands[f]].min()))
    return worst


def meters(rig: bpy.types.Object) -> float:
    from heft.addon.blender import engine_space

    return engine_space.meters_in_unit(rig.heft.meters_per_unit, bpy.context.scene.unit_settings.scale_length)


MOMENTS = (-0.05, 0.05, 0.12, 0.2, 0.3, 0.45, 0.7, 1.0, 1.5)


def draw(blow: Blow, name: str, side: str) -> None:
    """A strip of the blow, seen across the way of the ball: `out/blow_NAME_SIDE_MASS.png`."""
    model, fps = blow.reading.model, blow.reading.motion.fps
    places, turns = world_poses(model, blow.result.motion)
    places0, turns0 = world_poses(model, blow.reading.motion)
    ball, _ = next(iter(blow.result.objects.values()))
    heading = (ball[blow.hit] - ball[max(blow.hit - 3, 0)]) * [1.0, 1.0, 0.0]
    across = heading / max(float(np.linalg.norm(heading)), 1e-9)
    rows = [min(max(blow.hit + round(moment * fps), 0), len(places) - 1) for moment in MOMENTS]
    both = [with_ends(model, *poses) for poses in ((places0, turns0), (places, turns))]
    parents = np.concatenate([model.parents, np.arange(len(model))])
    target = ROOT / "out" / f"blow_{name}_{side}_{blow.ball:g}.png"
    captions = [f"{name} {side} {blow.ball:g} kg  {moment:g} s" for moment in MOMENTS]
    ground = blow.rig.heft.ground_height * meters(blow.rig)
    strips.draw(target, parents, *both, rows, captions, across, ground, (ball, 0.12))


def with_ends(model, places: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """(frames, 2n, 3) joints, then the far ends of the bodies: twice as far as their centres of mass."""
    return np.concatenate([places, places + rot.rotate(turns, 2.0 * model.centers[None])], axis=1)


def judge(rows: list[dict]) -> list[str]:
    """What misses its limit, a line each."""
    missed = []
    for row in rows:
        name = f"{row['rig']} {row['side']} {row['mass']:g} kg"
        checks = [
            (row["share"] >= SHARE, f"centre of mass takes {row['share']:.2f} of J/m, at least {SHARE}"),
            (row["range"] <= RANGE, f"a joint is {row['range']:.1f}° out of its range, at most {RANGE}"),
            (row["slide"] <= SLIDE, f"a planted foot slides {100 * row['slide']:.1f} cm, at most {100 * SLIDE:g}"),
            (row["back °"] <= BACK_TURN, f"{row['back °']:.1f}° off after {LATER} s, at most {BACK_TURN}"),
            (
                row["back cm"] <= BACK_WAY,
                f"{100 * row['back cm']:.1f} cm off after {LATER} s, at most {100 * BACK_WAY:g}",
            ),
            (row["before °"] <= IDENTITY, f"{row['before °']:.3f}° off before the hit, at most {IDENTITY}"),
        ]
        if row["mass"] == 5.0:
            checks += [
                (HIPS[0] <= row["hips"] <= HIPS[1], f"hips shift {100 * row['hips']:.1f} cm, 5 to 30"),
                (CHEST[0] <= row["chest"] <= CHEST[1], f"chest turns {row['chest']:.1f}°, 12 to 45"),
            ]
        missed += [f"{name}: {words}" for holds, words in checks if not holds]
    for key in dict.fromkeys((row["rig"], row["side"]) for row in rows):
        some = sorted((row for row in rows if (row["rig"], row["side"]) == key), key=lambda row: row["mass"])
        for what in ("hips", "chest"):
            if any(b[what] <= a[what] for a, b in itertools.pairwise(some)):
                missed.append(f"{key[0]} {key[1]}: {what} not monotone in the mass")
    return missed


COLUMNS = (
    ("hips", 100, "cm"), ("chest", 1, "°"), ("share", 1, ""), ("range", 1, "°"), ("slide", 100, "cm"),
    ("back °", 1, "°"), ("back cm", 100, "cm"), ("before °", 1, "°"), ("head", 1, "°"), ("hand", 1, "°"),
    ("finger", 1, "°"), ("toe", 1, "°"), ("jump", 1, "°/frame"), ("peak s", 1, "s"), ("head s", 1, "s"),
)  # fmt: skip


def table(rows: list[dict]) -> list[str]:
    names = [
        "rig",
        "side",
        "kg",
        *(f"{name} {unit}".strip() if unit not in name else name for name, _, unit in COLUMNS),
    ]
    lines = ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
    for row in rows:
        cells = [row["rig"], row["side"], f"{row['mass']:g}"]
        for name, times, _ in COLUMNS:
            value = row.get(name)
            cells.append(
                "" if value is None else f"{value * times:.2f}" if abs(value * times) < 10 else f"{value * times:.0f}"
            )
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*")
    options.add_argument("--aside", action="store_true")
    options.add_argument("--strips", action="store_true")
    options.add_argument("--masses", default="")
    options.add_argument("--sides", default="")
    options.add_argument("--set", nargs="*", default=[])
    asked = options.parse_args()
    cases = ASIDE if asked.aside else CASES
    chosen = {name: case for name, case in {**CASES, **ASIDE}.items() if name in asked.names} or cases
    given = dict(_setting(words) for words in asked.set)
    masses = [float(mass) for mass in asked.masses.split(",") if mass] or MASSES
    sides = [side for side in asked.sides.split(",") if side] or list(SIDES)
    rows = []
    for name, (open_it, frame) in chosen.items():
        for side in sides:
            for mass in masses:
                blow = throw(open_it(), frame, SIDES[side], mass, given)
                rows.append({"rig": name, "side": side, "mass": mass, **measure(blow)})
                if len(rows) == 1:
                    print("\n".join(table(rows)), flush=True)
                else:
                    print(table(rows[-1:])[-1], flush=True)
                if asked.strips and mass in (5.0, max(masses)):
                    draw(blow, name, side)
    missed = judge(rows)
    lines = [*table(rows), "", *(missed or ["All limits hold."]), f"{len(rows)} blows, {len(missed)} limits missed"]
    print("\n" + "\n".join(lines[len(rows) + 2 :]), flush=True)
    (ROOT / "out").mkdir(exist_ok=True)
    (ROOT / "out" / f"trial_blow{'_aside' if asked.aside else ''}.md").write_text("\n".join(lines) + "\n")
    sys.stdout.flush()
    os._exit(int(bool(missed)))


def _setting(words: str) -> tuple[str, object]:
    name, _, value = words.partition("=")
    try:
        return name, float(value)
    except ValueError:
        return name, value == "True" if value in ("True", "False") else value


if __name__ == "__main__":
    main()
