"""Let Go: limp from a frame on with the speed there is, and back on the motion within the recovery time."""

from __future__ import annotations

import numpy as np
import pytest

import bvh
import engine
from engine.controllers.base import BEHAVIOURS, ROOTS
from engine.simulate import Shot
from engine.state import LINEAR
from test_reaction import off_source

GO, BACK, RECOVERY = 20, 60, 0.4


def let_go(model: engine.Model, frames: int, root: str, recovery: float) -> engine.Follow:
    """A walk that is let go on frame GO and taken back on frame BACK."""
    gone = (np.arange(frames) >= GO) & (np.arange(frames) < BACK)
    behaviour = np.where(gone[:, None], BEHAVIOURS.index("LIMP"), BEHAVIOURS.index("SIMULATED"))
    roots = np.where(gone, ROOTS.index("FREE"), ROOTS.index(root))
    behaviour = np.repeat(behaviour, len(model), axis=1)
    return engine.Follow(behaviour=behaviour, root=roots, recovery_time=recovery)


@pytest.fixture(scope="module")
def walk() -> tuple[engine.Model, engine.Motion]:
    return bvh.load("cmu_02_01", 100, 240)


@pytest.mark.parametrize("root", ["ANIMATED", "ASSISTED"])
def test_it_falls_from_the_frame_on_and_is_back_in_time(walk, root, figure):
    model, motion = walk
    control = let_go(model, len(motion), root, RECOVERY)
    result = engine.simulate(model, motion, control, engine.Scene(ground=engine.Ground(), touch_self=False))
    off = off_source(motion, result.motion)
    drop = motion.positions[:, 0, 2] - result.motion.positions[:, 0, 2]
    figure(f"let go, root {root.lower()}: off the source before [°]", off[: GO + 1].max(), 0.02)
    assert drop[BACK] > 0.1, "it falls"
    back = BACK + round(RECOVERY * motion.fps) + 1
    assert off[BACK + 5].max() > 5.0, "it comes back bit by bit"
    figure(f"let go, root {root.lower()}: off the source when it is back [°]", off[back:].max(), 1.0)
    way = np.linalg.norm(result.motion.positions - motion.positions, axis=2)[back:, 0].max()
    figure(f"let go, root {root.lower()}: root off its way when it is back [m]", way, 0.01)


def test_momentum_is_kept_over_the_switch(walk, figure):
    """Without weight and ground the body goes on with the momentum that the source has on that frame."""
    model, motion = walk
    control = engine.Follow(**(vars(let_go(model, len(motion), "ANIMATED", RECOVERY)) | {"tone": 0.0}))
    shot = Shot([engine.Actor(model, motion, control)], engine.Scene(gravity=(0.0, 0.0, 0.0), touch_self=False), 240)
    found = []
    for frame in (GO, GO + 1, GO + 5):
        shot.run(frame)
        found.append(shot.state.body[1:, LINEAR : LINEAR + 3].sum(axis=0))
    lost = max(np.linalg.norm(later - found[0]) for later in found[1:]) / np.linalg.norm(found[0])
    figure("let go: momentum lost over the switch [of all]", lost, 1e-9)


def test_without_a_recovery_time_it_is_back_at_once(walk):
    """As ever where behaviours are keyed: animated is exactly the keys."""
    model, motion = walk
    result = engine.simulate(model, motion, let_go(model, len(motion), "ANIMATED", 0.0), engine.Scene(touch_self=False))
    root = np.linalg.norm(result.motion.positions - motion.positions, axis=2)[:, 0]
    assert root[BACK] > 0.05 and root[BACK + 1] < 1e-6
