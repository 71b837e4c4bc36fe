"""What holds the root, and how much it is guided, frame by frame."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from naive import mechanics
from shapes import chain, ragdoll, smooth_motion, still_motion

ANIMATED, ASSISTED, FREE = range(3)
FRAMES, SWITCH = 60, 24


def roots(before: int, after: int) -> np.ndarray:
    """(frames,) one root until the switch, the other from then on."""
    return np.where(np.arange(FRAMES) < SWITCH, before, after)


def test_a_root_let_go_of_has_the_motion_and_keeps_its_momentum():
    """Animated until the switch, then free without gravity: linear and angular momentum stay what they were there."""
    model = ragdoll(3, balls=8, hinges=4)
    source = smooth_motion(model, np.random.default_rng(1), FRAMES, 24.0, reach=0.2)
    scene = engine.Scene(gravity=(0.0, 0.0, 0.0))
    result = engine.simulate(model, source, engine.Follow(root=roots(ANIMATED, FREE)), scene=scene)
    off = np.abs(result.motion.positions[:, 0] - source.positions[:, 0]).max(axis=1)
    assert off[: SWITCH + 1].max() < 1e-12
    assert off[-1] > 0.01
    found = mechanics(model, result.motion, result.velocities)
    # while the joints go on with their motion the tree as a whole flies freely
    scale = np.abs(found.linear).max()
    assert np.abs(found.linear[SWITCH + 1 :] - found.linear[SWITCH + 1]).max() < 1e-9 * max(scale, 1.0)
    assert np.abs(found.angular[SWITCH + 1 :] - found.angular[SWITCH + 1]).max() < 1e-9 * max(scale, 1.0)


def test_a_root_that_is_assisted_again_comes_back():
    model = chain(3, "BALL", base="FREE")
    source = still_motion(model, (FRAMES - 1) / 24.0, 24.0)
    rows = np.full(FRAMES, FREE)
    rows[:4], rows[12:] = ANIMATED, ASSISTED
    result = engine.simulate(model, source, engine.Follow(root=rows, settle_time=0.2, assist=5.0))
    off = np.linalg.norm(result.motion.positions[:, 0], axis=1)
    assert off.max() > 0.1 and off[-1] < 0.02 * off.max()


def test_assist_by_frames():
    """A loose limb pulls a guided root down from the frame on which the guidance ends."""
    model = chain(4, "BALL", base="FREE")
    source = still_motion(model, (FRAMES - 1) / 24.0, 24.0)
    words = ["SIMULATED"] * 3 + ["LIMP"] * 2
    common = {"root": "ASSISTED", "behaviour": words}
    held = engine.simulate(model, source, engine.Follow(**common, assist=1.0)).motion.positions[:, 0]
    assist = np.where(np.arange(FRAMES) < SWITCH, 1.0, 0.0)
    switched = engine.simulate(model, source, engine.Follow(**common, assist=assist)).motion.positions[:, 0]
    assert np.array_equal(held[: SWITCH + 1], switched[: SWITCH + 1])
    assert np.linalg.norm(held[-1] - switched[-1]) > 0.1


def test_a_changed_frame_of_the_assist_is_simulated_from_there():
    """From a checkpoint or from the start, the result is the same."""
    model = chain(4, "BALL", base="FREE")
    source = still_motion(model, (FRAMES - 1) / 24.0, 24.0)
    words = ["SIMULATED"] * 3 + ["LIMP"] * 2

    def run(at: int, memory) -> np.ndarray:
        assist = np.where(np.arange(FRAMES) < at, 1.0, 0.0)
        control = engine.Follow(root="ASSISTED", behaviour=words, assist=assist)
        for report in engine.simulate_together_iter(
            [engine.Actor(model, source, control)], engine.Scene(), 240, memory
        ):
            results = report.results
        return results[0].motion.positions

    memory = engine.Memory()
    late = run(SWITCH + 12, memory)
    assert np.array_equal(run(SWITCH, memory), run(SWITCH, None))
    assert not np.array_equal(run(SWITCH, memory), late)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"root": np.array([0, 1])}, "shape (2,)"),
        ({"root": np.full(FRAMES, 3)}, "from 0 to 2"),
        ({"root": "HELD"}, "HELD"),
        ({"assist": np.ones(2)}, "shape (2,)"),
        ({"assist": np.full(FRAMES, -1.0)}, "zero or above"),
    ],
)
def test_what_is_no_root_or_assist_is_refused(settings, word):
    model = chain(2, "BALL", base="FREE")
    source = still_motion(model, (FRAMES - 1) / 24.0, 24.0)
    with pytest.raises(engine.HeftError, match=word.replace("(", r"\(").replace(")", r"\)")):
        engine.simulate(model, source, engine.Follow(**settings))
