"""The way in: same bytes twice, slices, threads, frame rates, plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import engine
from naive import angle_between
from shapes import chain, launched, random_tree, smooth_motion, still_motion

ROOT = Path(engine.__file__).resolve().parents[1]
CONTROLS = {
    "effortless": engine.Follow(settle_time=0.3),
    "heavy": engine.Follow(settle_time=0.3, heaviness=0.8),
    "free": engine.Follow(settle_time=0.3, heaviness=0.3, root="FREE"),
    "limp": engine.Limp(tone=0.0),
}


def shot(frames=53):
    rng = np.random.default_rng(3)
    model = random_tree(rng, 9, light=0.0, root="FREE")
    return model, smooth_motion(model, rng, frames, 24.0)


def bytes_of(result) -> bytes:
    parts = (result.motion.rotations, result.motion.positions, result.torques, result.forces, result.velocities)
    return b"".join(part.tobytes() for part in parts)


@pytest.mark.parametrize("control", CONTROLS.values(), ids=CONTROLS.keys())
def test_same_input_same_bytes(control):
    model, source = shot()
    again, copy = shot()
    assert bytes_of(engine.simulate(model, source, control)) == bytes_of(engine.simulate(again, copy, control))


@pytest.mark.parametrize("control", CONTROLS.values(), ids=CONTROLS.keys())
@pytest.mark.parametrize("frames", [2, 53])
def test_in_slices_it_is_the_same(control, frames):
    model, source = shot(frames)
    reports = list(engine.simulate_iter(model, source, control))
    assert [r.done for r in reports] == sorted(r.done for r in reports)
    assert reports[0].done == 0 and reports[-1].done == reports[-1].total == frames
    assert all(r.result is None for r in reports[:-1])
    assert bytes_of(reports[-1].result) == bytes_of(engine.simulate(model, source, control))


def test_dropping_the_iterator_cancels_and_leaves_nothing_behind():
    model, source = shot()
    wanted = bytes_of(engine.simulate(model, source, CONTROLS["heavy"]))
    walk = engine.simulate_iter(model, source, CONTROLS["heavy"])
    for _ in range(5):
        next(walk)
    walk.close()
    assert bytes_of(engine.simulate(model, source, CONTROLS["heavy"])) == wanted


def test_two_shots_interleaved_do_not_mix():
    model, source = shot()
    walks = [engine.simulate_iter(model, source, CONTROLS[name]) for name in ("heavy", "limp")]
    last = [None, None]
    for reports in zip(*walks, strict=True):
        last = reports
    for name, report in zip(("heavy", "limp"), last, strict=True):
        assert bytes_of(report.result) == bytes_of(engine.simulate(model, source, CONTROLS[name]))


@pytest.mark.parametrize("threads", [1, 2, None])
def test_variants_are_the_simulations_themselves(threads):
    model, source = shot()
    controls = [engine.Follow(settle_time=s, heaviness=h) for s in (0.1, 0.3, 1.0) for h in (0.0, 1.0)]
    results = engine.simulate_variants(model, source, controls, threads=threads)
    for control, result in zip(controls, results, strict=True):
        assert bytes_of(result) == bytes_of(engine.simulate(model, source, control))


@pytest.mark.parametrize("name", ["heavy", "limp"])
def test_the_frame_rate_does_not_change_the_motion(name, figure):
    """24, 30, 60 and 120 frames a second at 240 steps a second: the same motion at the instants they share."""
    model = chain(6, "BALL")
    shared = {}
    for fps in (24, 30, 60, 120):
        result = engine.simulate(model, still_motion(model, 2.0, float(fps)), CONTROLS[name]).motion
        shared[fps] = result.rotations[:: fps // 6]
    worst = max(angle_between(shared[24], shared[fps]).max() for fps in (30, 60, 120))
    figure(f"24, 30, 60, 120 fps, {name}: differ by [rad]", worst, 1e-7)


def test_odd_frame_rates_are_near(figure):
    model = chain(4, "HINGE")
    ends = [
        engine.simulate(model, still_motion(model, 2.0, fps), CONTROLS["limp"]).motion.rotations[-1]
        for fps in (24.0, 25.0, 23.5)
    ]
    figure(
        "24, 25 and 23.5 fps, limp for 2 s: differ by [rad]",
        max(angle_between(ends[0], end).max() for end in ends[1:]),
        0.02,
    )


def test_one_frame_is_its_own_result():
    model, source = shot(1)
    result = engine.simulate(model, source, CONTROLS["heavy"])
    assert angle_between(result.motion.rotations, source.rotations).max() < 1e-12
    assert len(list(engine.simulate_iter(model, source, CONTROLS["heavy"]))) >= 1


def test_the_result_is_continuous_in_sign_and_keeps_the_sources_frames():
    model = chain(2, "BALL")
    rates = np.zeros((3, 3))
    rates[:, 1] = 9.0
    source = launched(model, 24.0, 60, rates)
    result = engine.simulate(model, source, engine.Limp(tone=0.0))
    q = result.motion.rotations
    assert ((q[1:] * q[:-1]).sum(axis=2) > 0.0).all()
    assert (
        result.motion.fps == source.fps and result.motion.frame_start == source.frame_start and len(result.motion) == 60
    )
    assert (
        result.torques.shape == (60, 2, 3) and result.forces.shape == (60, 2, 3) and result.velocities.shape == (60, 6)
    )


def test_limp_joints_take_no_torque():
    model = chain(3, "BALL")
    result = engine.simulate(model, still_motion(model, 1.0, 24.0), engine.Limp(tone=0.0), steps_per_second=960)
    weight = model.total_mass * 9.81 * 0.9
    assert np.abs(result.torques).max() < 0.02 * weight


def test_python_runs_while_a_shot_is_simulated():
    """The kernels let go of Python's lock: another thread gets its turns."""
    model, source = shot(200)
    engine.simulate(model, source, CONTROLS["heavy"])
    turns, done = [0], threading.Event()

    def count() -> None:
        while not done.is_set():
            turns[0] += 1

    other = threading.Thread(target=count)
    other.start()
    before = turns[0]
    for _ in range(3):
        engine.simulate(model, source, CONTROLS["heavy"])
    seen = turns[0] - before
    done.set()
    other.join()
    assert seen > 100


def test_a_shot_that_flies_apart_says_so():
    """No number that is not finite reaches a key."""
    model = chain(2, "BALL", base="FREE")
    rates = np.full((4, 3), 1.0)
    rates[3] = 1e308
    with np.errstate(all="ignore"), pytest.raises(engine.HeftError) as caught:
        engine.simulate(model, launched(model, 24.0, 10, rates), engine.Limp(tone=0.0))
    assert "base" in str(caught.value)


PLAIN = """
import sys, warnings
sys.modules["numba"] = None
sys.path[:0] = {path!r}
import numpy as np
import engine
from test_simulate import CONTROLS, bytes_of
from shapes import chain, smooth_motion
assert not engine.is_compiled()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("default")
    model = chain(2, "BALL", base="FREE")
    source = smooth_motion(model, np.random.default_rng(0), 4, 24.0)
    out = [engine.simulate(model, source, control, steps_per_second=48) for control in CONTROLS.values()]
said = [str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)]
assert len(said) == 1 and "numba" in said[0], said
np.savez({out!r}, **{{f"{{k}}{{i}}": getattr(r, k) for i, r in enumerate(out) for k in ("torques", "velocities")}},
         **{{f"rotations{{i}}": r.motion.rotations for i, r in enumerate(out)}})
"""


def test_plain_python_gives_the_same_numbers_and_one_warning(tmp_path, figure):
    out = str(tmp_path / "plain.npz")
    code = PLAIN.format(path=[str(ROOT), *map(str, Path(__file__).parents[:2])], out=out)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "HEFT_CACHE": str(tmp_path)}
    )
    assert done.returncode == 0, done.stderr
    model = chain(2, "BALL", base="FREE")
    source = smooth_motion(model, np.random.default_rng(0), 4, 24.0)
    worst = 0.0
    with np.load(out) as plain:
        for i, control in enumerate(CONTROLS.values()):
            result = engine.simulate(model, source, control, steps_per_second=48)
            for name, value in (
                ("rotations", result.motion.rotations),
                ("velocities", result.velocities),
                ("torques", result.torques),
            ):
                scale = max(1.0, np.abs(value).max())
                worst = max(worst, np.abs(plain[f"{name}{i}"] - value).max() / scale)
    figure("plain Python against compiled", worst, 1e-10)


def test_held_keys_put_an_animated_root_on_their_very_frame():
    """And its child, which follows, is not thrown by it."""
    model = engine.Model.from_tree(["root", "tip"], [None, "root"], [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]])
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (12, 2, 1))
    places = np.broadcast_to(model.offsets, (12, 2, 3)).copy()
    places[6:, 0] = (2.0, 0.0, 0.0)
    stepped = np.zeros((12, 2), dtype=bool)
    stepped[6, 0] = True
    motion = engine.Motion.build(model, 24.0, turns, places, stepped)
    result = engine.simulate(model, motion, engine.Follow(heaviness=1.0), engine.Scene(gravity=(0.0, 0.0, 0.0)), 240)
    assert np.array_equal(result.motion.positions[:, 0], places[:, 0])
    assert np.abs(result.motion.rotations[:, 1] - turns[:, 1]).max() < 1e-9
