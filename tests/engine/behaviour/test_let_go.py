"""Let Go: limp from a frame on with the speed there is, and back on the motion within the recovery time."""

from __future__ import annotations

import numpy as np
import pytest

import bvh
import engine
from deviations import off_source
from engine.controllers.base import BEHAVIOURS, ROOTS
from engine.math import quaternions as rot
from engine.simulation.shot import Shot
from engine.tables import state as S

GO, BACK, RECOVERY = 20, 60, 0.4


def let_go(model: engine.Model, frames: int, root: str, recovery: float) -> engine.Follow:
    """A walk that is let go on frame GO and taken back on frame BACK."""
    gone = (np.arange(frames) >= GO) & (np.arange(frames) < BACK)
    behaviour = np.where(gone[:, None], BEHAVIOURS.index("LIMP"), BEHAVIOURS.index("SIMULATED"))
    roots = np.where(gone, ROOTS.index("FREE"), ROOTS.index(root))
    behaviour = np.repeat(behaviour, len(model), axis=1)
    return engine.Follow(behaviour=behaviour, root=roots, recovery_time=recovery)


def away(model: engine.Model, motion: engine.Motion, result: engine.Result) -> np.ndarray:
    """(frames,) how far any body is from where the source has it [m]."""
    return np.linalg.norm(bvh.world(model, result.motion)[0] - bvh.world(model, motion)[0], axis=2).max(axis=1)


def lowest(model: engine.Model, motion: engine.Motion) -> np.ndarray:
    """(frames,) the lowest point of any capsule [m]."""
    places, turns = bvh.world(model, motion)
    found = np.full(len(motion), np.inf)
    for i, shapes in enumerate(model.shapes):
        for shape in shapes:
            for end in (shape.start, shape.end):
                point = places[:, i] + rot.rotate(turns[:, i], np.broadcast_to(np.asarray(end), places[:, i].shape))
                found = np.minimum(found, point[:, 2] - shape.radius)
    return found


def rates(motion: engine.Motion) -> np.ndarray:
    """(frames - 1, n) how fast joints turn from frame to frame [rad/s]."""
    between = rot.multiply(rot.conjugate(motion.rotations[:-1]), motion.rotations[1:])
    return 2.0 * np.arcsin(np.clip(np.linalg.norm(between[..., 1:], axis=-1), 0.0, 1.0)) * motion.fps


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
    figure(f"let go, root {root.lower()}: off the source when it is back [°]", off[back:].max(), 0.1)
    figure(
        f"let go, root {root.lower()}: farthest body when it is back [m]",
        away(model, motion, result)[back:].max(),
        1e-3,
    )
    deep = (np.minimum(lowest(model, motion), 0.0) - lowest(model, result.motion))[BACK:back].max()
    figure(f"let go, root {root.lower()}: deepest in the ground on the way back [m]", deep, 0.05)
    figure.note(f"let go, root {root.lower()}: fastest on the way back [rad/s]", rates(result.motion)[BACK:back].max())


def test_momentum_is_kept_over_the_switch(walk, figure):
    """Without weight and ground the body goes on with the momentum that the source has on that frame."""
    model, motion = walk
    control = engine.Follow(**(vars(let_go(model, len(motion), "ANIMATED", RECOVERY)) | {"tone": 0.0}))
    shot = Shot([engine.Actor(model, motion, control)], engine.Scene(gravity=(0.0, 0.0, 0.0), touch_self=False), 240)
    found = []
    for frame in (GO, GO + 1, GO + 5):
        shot.run(frame)
        found.append(shot.state.body[1:, S.LINEAR : S.LINEAR + 3].sum(axis=0))
    lost = max(np.linalg.norm(later - found[0]) for later in found[1:]) / np.linalg.norm(found[0])
    figure("let go: momentum lost over the switch [of all]", lost, 1e-9)


def test_without_a_recovery_time_it_is_back_at_once(walk):
    """As ever where behaviours are keyed: animated is exactly the keys."""
    model, motion = walk
    result = engine.simulate(model, motion, let_go(model, len(motion), "ANIMATED", 0.0), engine.Scene(touch_self=False))
    root = np.linalg.norm(result.motion.positions - motion.positions, axis=2)[:, 0]
    assert root[BACK] > 0.05 and root[BACK + 1] < 1e-6


def raised_arm(frames: int = 150, fps: float = 60.0) -> tuple[engine.Model, engine.Motion]:
    """An arm of 0.6 m, held up along X from a fixed shoulder."""
    arm = engine.Capsule(0.04, (0.04, 0.0, 0.0), (0.56, 0.0, 0.0))
    model = engine.Model.from_tree(
        ["stand", "arm"], [-1, 0], [(0.0, 0.0, 1.5), (0.0, 0.0, 0.0)], masses=[10.0, 3.0],
        centers=[(0.0, 0.0, 0.0), (0.3, 0.0, 0.0)], inertias=[np.eye(3), np.diag([0.003, 0.09, 0.09])],
        shapes=[None, arm],
    )  # fmt: skip
    rotations = np.zeros((frames, 2, 4))
    rotations[..., 0] = 1.0
    return model, engine.Motion.build(model, fps, rotations)


def let_arm_go(plate: float, recovery: float = 0.5) -> tuple[engine.Motion, engine.Result, int]:
    """The arm, let go and taken back, with a plate that comes under it meanwhile, `plate` m below its axis. Returns
    source, result and the frame on which it is due."""
    model, motion = raised_arm()
    gone = (np.arange(len(motion)) >= GO) & (np.arange(len(motion)) < 90)
    behaviour = np.full((len(motion), 2), BEHAVIOURS.index("ANIMATED"))
    behaviour[:, 1] = np.where(gone, BEHAVIOURS.index("LIMP"), BEHAVIOURS.index("SIMULATED"))
    places = np.tile([0.35, 0.0, 1.5 - plate - 0.02], (len(motion), 1))
    places[:, 1] = np.interp(np.arange(len(motion)), [60, 80], [3.0, 0.0])  # when the arm hangs
    table = engine.Collider("plate", [engine.Box((0.15, 0.3, 0.02))], places)
    control = engine.Follow(behaviour=behaviour, recovery_time=recovery)
    result = engine.simulate(model, motion, control, engine.Scene(colliders=[table]))
    return motion, result, 90 + round(recovery * motion.fps)


def test_what_is_in_the_way_makes_nobody_late(figure):
    """A plate between the fallen arm and its motion holds it up, and lets it through in time."""
    motion, result, due = let_arm_go(0.2)
    off = off_source(motion, result.motion)[:, 1]
    assert off[90] > 60.0, "it hangs"
    assert off[(90 + due) // 2] > 25.0, "the plate holds it up"
    figure("let go under a plate: off the source when it is back [°]", off[due + 1 :].max(), 0.1)
    figure("let go under a plate: fastest on the way back [rad/s]", rates(result.motion)[90:, 1].max(), 40.0)


def test_what_the_motion_itself_meets_holds(figure):
    """Where the source reaches into the plate by 2 cm the arm comes to lie on it, on the side it comes from."""
    motion, result, due = let_arm_go(0.02)
    off = off_source(motion, result.motion)[:, 1]
    assert off[due:].min() > 2.0
    figure("let go, back to a motion through a plate: fastest [rad/s]", rates(result.motion)[90:, 1].max(), 40.0)
    figure("let go, back to a motion through a plate: it stands [rad/s]", rates(result.motion)[-10:, 1].max(), 0.01)
