"""How fast the engine is, in ratios measured side by side in one run (`dev.py bench engine`).

The paper's skeleton: 74 joints, 118 degrees of freedom and a free root; 250 frames at 24
frames and 240 steps a second. Rounds are interleaved and medians compared, so that
whatever else the machine does falls on all alike. Ends with 1 if a limit is missed.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "engine")]

import mujoco  # noqa: E402
import numpy as np  # noqa: E402

import engine  # noqa: E402
from engine.math import quaternions as rot  # noqa: E402
from engine.simulation.assemble import Actor  # noqa: E402
from engine.simulation.simulate import Shot, begin  # noqa: E402
from mujoco_model import Oracle  # noqa: E402
from shapes import ragdoll, smooth_motion  # noqa: E402

FRAMES, FPS, RATE = 250, 24.0, 240
STEPS = (FRAMES - 1) * round(RATE / FPS)
ROUNDS = 7
CONTROL_LIMIT = 0.8  # × mj_step
LIMP_LIMIT = 1.5  # × mj_step
ON_TIME_LIMIT = 1.3  # × Follow's step
JOINT_LIMIT = 1.5  # cost per joint, 1,024 joints against 16
THREADS_LIMIT = 1.8  # 16 variants, two threads against one
CONTACT_LIMIT = 0.9  # × mj_step with as many contacts
GIVES_WAY_LIMIT = 1.5  # the same, every joint giving way
CROWD_LIMIT = 1.5  # cost a character, 100 against 1: level
COLD_LIMIT, WARM_LIMIT = 15.0, 1.0  # [s]
CONTACTS = 16

BALL = 0.05  # [m]

missed = 0


def report(what: str, value: str, limit: str = "", good: bool | None = None) -> None:
    global missed
    verdict = "" if good is None else "PASS" if good else "FAIL"
    missed += good is False
    print(f"{what:<58} {value:>16} {limit:>12}  {verdict}", flush=True)


def step_time(model, motion, control, rate=RATE, scene=None) -> float:
    """Seconds a step of one shot, torques included."""
    shot = Shot([Actor(model, motion, control)], scene, rate)
    start = time.perf_counter()
    shot.run(len(motion) - 1)
    return (time.perf_counter() - start) / ((len(motion) - 1) * shot.substeps)


def mujoco_step_time(oracle: Oracle, v: np.ndarray) -> float:
    mujoco.mj_resetData(oracle.m, oracle.d)
    oracle.d.qvel[:] = v
    start = time.perf_counter()
    mujoco.mj_step(oracle.m, oracle.d, STEPS)
    return (time.perf_counter() - start) / STEPS


def interleaved(jobs: dict) -> dict[str, float]:
    """Median seconds of each job; every round runs all of them."""
    for job in jobs.values():
        job()
    times = {name: [] for name in jobs}
    for _ in range(ROUNDS):
        for name, job in jobs.items():
            times[name].append(job())
    return {name: statistics.median(values) for name, values in times.items()}


def control_step() -> None:
    model = ragdoll()
    rng = np.random.default_rng(1)
    motion = smooth_motion(model, rng, FRAMES, FPS)
    oracle = Oracle(model, timestep=1.0 / RATE)
    v = rng.normal(size=model.nv) * 0.01
    controls = {
        "control step, root free": engine.Follow(root="FREE"),
        "control step, root animated": engine.Follow(root="ANIMATED"),
        "heaviness 1, root animated": engine.Follow(heaviness=1.0),
        "heaviness 1, root free": engine.Follow(heaviness=1.0, root="FREE"),
        "limp": engine.Limp(),
    }
    jobs = {name: lambda c=control: step_time(model, motion, c) for name, control in controls.items()}
    jobs["MuJoCo mj_step"] = lambda: mujoco_step_time(oracle, v)
    found = interleaved(jobs)
    base = found["MuJoCo mj_step"]
    limits = {"limp": LIMP_LIMIT} | {name: CONTROL_LIMIT for name in found if name.startswith("control")}
    print(
        f"\n{len(model)} bodies, {model.nv - 6} degrees of freedom and a free root, {STEPS} steps, medians of {ROUNDS}"
    )
    for name, seconds in found.items():
        limit, good = "", None
        if name in limits:
            limit, good = f"≤ {limits[name]} ×", seconds / base <= limits[name]
        report(name, f"{seconds * 1e6:.1f} µs {seconds / base:.2f} ×", limit, good)


def on_time_step() -> None:
    """The same motion, followed and with a key every half second on every joint."""
    model = ragdoll()
    plain = smooth_motion(model, np.random.default_rng(1), FRAMES, FPS)
    bodies = [i for i in range(len(model)) if model.kinds[i] != engine.model.model.FREE]
    keys = engine.Keys.at(np.arange(6.5, FRAMES - 1, 12.0), bodies)
    keyed = engine.Motion.build(model, FPS, plain.rotations, plain.positions, keys=keys)
    print(f"\nOn Time beside Follow, {len(keys.bodies)} keys, medians of {ROUNDS}")
    for name, more, limit in (
        ("root free", {"root": "FREE"}, ON_TIME_LIMIT),
        ("root animated", {}, ON_TIME_LIMIT),
        # far from its keys a joint is soft, and whips under its full load: another motion, not the same step
        ("root animated, heaviness 1", {"heaviness": 1.0}, None),
    ):
        jobs = {
            "Follow": lambda m=more: step_time(model, plain, engine.Follow(**m)),
            "On Time": lambda m=more: step_time(model, keyed, engine.OnTime(**m)),
        }
        found = interleaved(jobs)
        ratio = found["On Time"] / found["Follow"]
        value = f"{found['On Time'] * 1e6:.1f} µs {ratio:.2f} ×"
        report(f"On Time, {name}", value, f"≤ {limit} ×" if limit else "", ratio <= limit if limit else None)


def cost_per_joint() -> None:
    print(f"\nCost per joint and step, medians of {ROUNDS}")
    for name, control in (("root free", engine.Follow(root="FREE")), ("heaviness 1", engine.Follow(heaviness=1.0))):
        jobs = {}
        for joints in (16, 64, 256, 1024):
            balls = round(joints * 22 / 74)
            model = ragdoll(joints, balls, joints - balls)
            motion = smooth_motion(model, np.random.default_rng(joints), max(5, 4000 // joints), FPS)
            jobs[joints] = lambda m=model, s=motion: step_time(m, s, control)  # noqa: B023
        found = {joints: seconds / joints for joints, seconds in interleaved(jobs).items()}
        for joints, seconds in found.items():
            report(f"{name}: {joints} joints", f"{seconds * 1e9:.0f} ns")
        growth = found[1024] / found[16]
        report(f"{name}: growth from 16 to 1,024 joints", f"{growth:.2f} ×", f"< {JOINT_LIMIT} ×", growth < JOINT_LIMIT)


def variants() -> None:
    print(f"\n16 variants of the shot, medians of {ROUNDS}")
    if (os.cpu_count() or 1) < 2:
        print("one processor only: not measured")
        return
    model = ragdoll()
    motion = smooth_motion(model, np.random.default_rng(1), FRAMES, FPS)
    controls = [engine.Follow(settle_time=s) for s in np.geomspace(0.05, 2.0, 16)]

    def run(threads: int) -> float:
        start = time.perf_counter()
        engine.simulate_variants(model, motion, controls, threads=threads)
        return time.perf_counter() - start

    # the same with MuJoCo, which needs no Python at all: what two threads are worth on this machine now
    oracles = [Oracle(model, timestep=1.0 / RATE) for _ in range(16)]

    def run_mujoco(threads: int) -> float:
        start = time.perf_counter()
        with ThreadPoolExecutor(max_workers=threads) as pool:
            list(pool.map(lambda oracle: mujoco_step_time(oracle, np.zeros(model.nv)), oracles))
        return time.perf_counter() - start

    jobs = {("Heft", t): lambda t=t: run(t) for t in (1, 2)} | {
        ("MuJoCo", t): lambda t=t: run_mujoco(t) for t in (1, 2)
    }
    found = interleaved(jobs)
    for (name, threads), seconds in found.items():
        report(f"{name}, {threads} thread{'s' * (threads > 1)}", f"{seconds:.3f} s")
    report("MuJoCo: two threads against one", f"{found['MuJoCo', 1] / found['MuJoCo', 2]:.2f} ×")
    gain = found["Heft", 1] / found["Heft", 2]
    report("Heft: two threads against one", f"{gain:.2f} ×", f"≥ {THREADS_LIMIT} ×", gain >= THREADS_LIMIT)


def with_balls(model: engine.Model) -> tuple[engine.Model, dict[int, tuple[float, ...]], float]:
    """The model with balls under some of its bodies, all resting on one floor; where they are, and the floor."""
    places, turns = np.zeros((len(model), 3)), np.zeros((len(model), 4))
    for i, parent in enumerate(model.parents):
        places[i], turns[i] = model.offsets[i], model.rest_rotations[i]
        if parent >= 0:
            places[i] = places[parent] + rot.rotate(turns[parent], model.offsets[i])
            turns[i] = rot.multiply(turns[parent], model.rest_rotations[i])
    floor = float(places[:, 2].min()) - 0.5
    balls = {}
    for i in np.random.default_rng(3).permutation(np.arange(1, len(model)))[:CONTACTS]:
        center = np.array([places[i, 0], places[i, 1], floor + BALL - 1e-5])
        balls[int(i)] = tuple(rot.rotate(rot.conjugate(turns[i]), center - places[i]))
    shapes = tuple((engine.Sphere(BALL, balls[i]),) if i in balls else () for i in range(len(model)))
    return replace(model, shapes=shapes), balls, floor


def contact_step() -> None:
    bare = ragdoll()
    model, balls, floor = with_balls(bare)
    motion = engine.Motion.build(model, FPS, np.tile([1.0, 0.0, 0.0, 0.0], (100, len(model), 1)))

    def add_floor(spec, bodies) -> None:
        kind = mujoco.mjtGeom
        spec.worldbody.add_geom(type=kind.mjGEOM_PLANE, size=[50, 50, 1], pos=[0, 0, floor], contype=1, conaffinity=2)
        for i, center in balls.items():
            bodies[i].add_geom(type=kind.mjGEOM_SPHERE, size=[BALL, 0, 0], pos=center, contype=2, conaffinity=1)

    oracle = Oracle(bare, timestep=1.0 / RATE, add=add_floor)
    mujoco.mj_forward(oracle.m, oracle.d)
    start_pose, steps = oracle.d.qpos.copy(), 1000
    assert oracle.d.ncon == CONTACTS

    def mujoco_time() -> float:
        """From the same pose at every step, so that all contacts are there."""
        start = time.perf_counter()
        for _ in range(steps):
            oracle.d.qpos[:] = start_pose
            oracle.d.qvel[:] = 0.0
            mujoco.mj_step(oracle.m, oracle.d)
        return (time.perf_counter() - start) / steps

    def time_of(control, response: str) -> float:
        scene = engine.Scene(ground=engine.Ground(floor, response=response), touch_self=False)
        return step_time(model, motion, control, scene=scene)

    jobs = {
        "control step with contacts, root free": lambda: time_of(engine.Follow(root="FREE"), "BRACES"),
        "joints give way, root animated": lambda: time_of(engine.Follow(), "GIVES_WAY"),
        "joints give way, root free": lambda: time_of(engine.Follow(root="FREE"), "GIVES_WAY"),
        "MuJoCo mj_step with contacts": mujoco_time,
    }
    found = interleaved(jobs)
    base = found["MuJoCo mj_step with contacts"]
    limits = {
        "control step with contacts, root free": CONTACT_LIMIT,
        "joints give way, root animated": GIVES_WAY_LIMIT,
        "joints give way, root free": GIVES_WAY_LIMIT,
    }
    print(f"\n{CONTACTS} contacts with the ground, medians of {ROUNDS}")
    for name, seconds in found.items():
        limit, good = "", None
        if name in limits:
            limit, good = f"≤ {limits[name]} ×", seconds / base <= limits[name]
        report(name, f"{seconds * 1e6:.1f} µs {seconds / base:.2f} ×", limit, good)


def crowd() -> None:
    """Characters on one ground, apart from one another; on one thread, which hides nothing of what each costs."""
    print(f"\nCharacters at once, a character and frame, medians of {ROUNDS}")
    model, _, floor = with_balls(ragdoll())
    motion = smooth_motion(model, np.random.default_rng(1), 25, FPS)
    scene = engine.Scene(ground=engine.Ground(floor), touch_self=False)
    actors = []
    for k in range(100):
        positions = np.array(motion.positions)
        positions[:, 0] += [4.0 * (k % 10), 4.0 * (k // 10), 0.0]
        moved = engine.Motion.build(model, FPS, motion.rotations, positions)
        actors.append(Actor(model, moved, engine.Follow(root="ASSISTED")))

    def run(count: int, threads: int) -> float:
        """As often as makes a hundred characters: short runs would escape what else the machine does."""
        total = 0.0
        for _ in range(100 // count):
            shot = begin(actors[:count], scene, RATE, threads)
            start = time.perf_counter()
            shot.run(shot.frames - 1)
            total += time.perf_counter() - start
        return total / 100 / (len(motion) - 1)

    jobs = {(count, 1): lambda c=count: run(c, 1) for count in (1, 10, 100)}
    found = interleaved(jobs | {(100, 2): lambda: run(100, 2)})
    for count, threads in found:
        name = f"{count} characters" if count > 1 else "one character"
        report(f"{name}{', two threads' * (threads > 1)}", f"{found[count, threads] * 1e6:.0f} µs")
    for count in (10, 100):
        ratio = found[count, 1] / found[1, 1]
        report(
            f"cost of one of {count} against one alone", f"{ratio:.2f} ×", f"≤ {CROWD_LIMIT} ×", ratio <= CROWD_LIMIT
        )
    report("100 characters: two threads against one", f"{found[100, 1] / found[100, 2]:.2f} ×")


START = """
import time
start, work = time.perf_counter(), time.process_time()
import engine
engine.warm_up(touching=bool({touching}))
print(time.perf_counter() - start, time.process_time() - work)
"""


def compile_times() -> None:
    """What a first start takes; contacts are compiled after the rest, in the background.

    The engine lies in a folder Python may write to, as an extension does: where it may not, or is told not to,
    it reads all sources anew at every start.
    """
    print("\nFrom import to ready, in a process of its own")
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "engine", Path(folder) / "engine", ignore=shutil.ignore_patterns("__pycache__"))
        jobs = (
            ("cold: everything compiled", False, COLD_LIMIT),
            ("cold: then contacts", True, None),
            ("warm: loaded from the cache", True, WARM_LIMIT),
        )
        for name, touching, limit in jobs:
            done = subprocess.run(
                [sys.executable, "-c", START.format(touching=touching)],
                capture_output=True,
                text=True,
                check=True,
                cwd=folder,
                env={**env, "HEFT_CACHE": str(Path(folder) / "cache")},
            )
            seconds, work = map(float, done.stdout.split())
            text, value = f"{name} ({work:.1f} s of processor)", f"{seconds:.2f} s"
            report(text, value, f"≤ {limit:g} s" if limit else "", seconds <= limit if limit else None)


def main() -> int:
    engine.warm_up()
    control_step()
    on_time_step()
    contact_step()
    crowd()
    cost_per_joint()
    variants()
    compile_times()
    print(f"\n{missed} limits missed" if missed else "\nall limits held")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
