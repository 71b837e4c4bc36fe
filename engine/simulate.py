"""The public way in: a model, a motion and a controller give a result.

Owns the set-up of a shot, its slicing for progress and cancelling, and variants on
threads. Must not know what happens inside a step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from . import rotations as rot
from .build import ensure_built
from .controllers import Controller, Follow
from .errors import MotionError, SettingError, SimulationError
from .jit import warn_if_plain
from .model import BALL, FREE, HINGE, UNIVERSAL, Model
from .motion import Motion
from .result import Progress, Result
from .scene import Scene
from .shot import new_record, run_frames
from .state import new_aim, new_state, new_work
from .target import AT
from .tree import Tree, build_tree

SLICES = 50  # progress reports of a shot


def simulate(
    model: Model,
    motion: Motion,
    controller: Controller,
    scene: Scene | None = None,
    steps_per_second: float = 240,
) -> Result:
    """Simulate the whole motion at once."""
    shot = Shot(model, motion, controller, scene, steps_per_second)
    shot.run(shot.frames - 1)
    return shot.result()


def simulate_iter(
    model: Model,
    motion: Motion,
    controller: Controller,
    scene: Scene | None = None,
    steps_per_second: float = 240,
) -> Iterator[Progress]:
    """The same in slices. Drop the iterator to cancel; the last report carries the result."""
    shot = Shot(model, motion, controller, scene, steps_per_second)
    yield Progress(0, shot.frames)
    stride = max(1, math.ceil(shot.frames / SLICES))
    while shot.done < shot.frames - 1:
        shot.run(min(shot.done + stride, shot.frames - 1))
        if shot.done < shot.frames - 1:
            yield Progress(shot.done, shot.frames)
    yield Progress(shot.frames, shot.frames, shot.result())


def simulate_variants(
    model: Model,
    motion: Motion,
    controllers: Sequence[Controller],
    scene: Scene | None = None,
    steps_per_second: float = 240,
    threads: int | None = None,
) -> list[Result]:
    """One result a controller, computed side by side: the kernels run without Python's lock."""
    with ThreadPoolExecutor(max_workers=threads) as pool:
        jobs = [pool.submit(simulate, model, motion, each, scene, steps_per_second) for each in controllers]
        return [job.result() for job in jobs]


class Shot:
    """One simulation on its way: resumable frame by frame."""

    def __init__(
        self, model: Model, motion: Motion, controller: Controller, scene: Scene | None, steps_per_second: float
    ) -> None:
        if motion.rotations.shape[1] != len(model):
            raise MotionError(
                f"The motion has {motion.rotations.shape[1]} bodies, the model {len(model)}: build it for this model."
            )
        if not (np.isfinite(steps_per_second) and steps_per_second > 0.0):
            raise SettingError(f"Steps per second is {steps_per_second}: give a number above zero.")
        warn_if_plain()
        self.model = model
        self.motion = motion
        self.frames = len(motion)
        self.done = 0
        self.dt = 1.0 / motion.fps
        # per second, not per frame: the frame rate must not change the motion (METHODS §1b)
        self.substeps = max(1, math.ceil(steps_per_second / motion.fps - 1e-9))
        self.gravity = tuple(float(x) for x in (scene or Scene()).gravity)
        self.tree = _tree_of(model)
        self.target = motion.target(model)
        self.plan = controller.plan(model, self.frames)
        self.state = new_state(self.tree)
        self.aim = new_aim(self.tree)
        self.work = new_work(self.tree)
        self.record = new_record(self.tree, self.frames)
        if self.frames == 1:
            self.record.body[0, 1:, :4] = self.target.curve[0, 1:, AT : AT + 4]
            self.record.body[0, 1:, 4:] = motion.positions[0]

    def run(self, last: int) -> None:
        """Simulate up to frame index `last`."""
        if last <= self.done:
            return
        ensure_built()
        bad = run_frames(
            self.tree, self.target, self.plan, self.state, self.aim, self.work, self.record,
            self.done, last, self.substeps, self.dt, self.gravity,
        )  # fmt: skip
        if bad >= 0:
            self._raise_bad(bad)
        self.done = last

    def _raise_bad(self, frame: int) -> None:
        rows = ~np.isfinite(self.record.body[frame]).all(axis=1)
        name = self.model.names[max(0, int(np.argmax(rows)) - 1)]
        raise SimulationError(
            f"Body '{name}' flew apart at frame {frame + self.motion.frame_start}: raise the steps per second, "
            "or look for a key that jumps there."
        )

    def result(self) -> Result:
        """What was simulated, as motion in the source's terms."""
        model, record = self.model, self.record
        # not built and checked again: the kernels have looked at every number
        motion = Motion(
            self.motion.fps,
            coords_to_rotations(model, record.body[:, 1:, :4]),
            np.ascontiguousarray(record.body[:, 1:, 4:]),
            np.zeros((self.frames, len(model)), dtype=bool),
            self.motion.frame_start,
        )
        for array in (motion.rotations, motion.positions, motion.stepped):
            array.setflags(write=False)
        torques, forces = _drive(model, record, motion)
        return Result(motion, torques, forces, record.rate[:, 0])


def _tree_of(model: Model) -> Tree:
    """The model laid out for the kernels, made once: a model is constant and settings change often."""
    tree = model.__dict__.get("_tree")
    if tree is None:
        tree = build_tree(model)
        object.__setattr__(model, "_tree", tree)
    return tree


def coords_to_rotations(model: Model, coords: np.ndarray) -> np.ndarray:
    """Joint rotations (frames, n, 4) of coordinates (frames, n, 4), continuous in sign."""
    out = np.zeros_like(coords)
    out[..., 0] = 1.0
    turn = model.kinds >= BALL
    out[:, turn] = coords[:, turn]
    angles = (model.kinds == HINGE) | (model.kinds == UNIVERSAL)
    out[:, angles] = rot.about(model.axes[angles, 0], coords[:, angles, 0])
    second = model.kinds == UNIVERSAL
    out[:, second] = rot.multiply(out[:, second], rot.about(model.axes[second, 1], coords[:, second, 1]))
    return rot.continuous(out)


def _drive(model: Model, record, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Generalized torques as vectors: (frames, n, 3) in body axes, and roots' forces in world axes."""
    frames, n = motion.rotations.shape[:2]
    torques, forces = np.zeros((frames, n, 3)), np.zeros((frames, n, 3))
    tau, first = record.rate[:, 1], model.dof_starts[:-1]
    three = np.arange(3)
    turn, free = model.kinds >= BALL, model.kinds == FREE
    torques[:, turn] = tau[:, first[turn, None] + three]
    forces[:, free] = tau[:, first[free, None] + 3 + three]
    hinge, cross = model.kinds == HINGE, model.kinds == UNIVERSAL
    torques[:, hinge] = tau[:, first[hinge], None] * model.axes[hinge, 0]
    # a universal's torque is the vector whose components along its two axes, as they stand, are tau
    axis2 = model.axes[cross, 1]
    back = rot.conjugate(rot.about(axis2, record.body[:, 1:][:, cross, 1]))
    axis = rot.rotate(back, np.broadcast_to(model.axes[cross, 0], (*back.shape[:-1], 3)))
    one, two = tau[:, first[cross]], tau[:, first[cross] + 1]
    overlap = np.sum(axis * axis2, axis=-1)
    scale = 1.0 / np.maximum(1.0 - overlap**2, 1e-12)
    torques[:, cross] = ((one - overlap * two) * scale)[..., None] * axis
    torques[:, cross] += ((two - overlap * one) * scale)[..., None] * axis2
    return torques, forces


def sample_shot() -> Shot:
    """The smallest shot with everything in it that is compiled."""
    model = Model.from_tree(["root", "tip"], [None, "root"], np.zeros((2, 3)))
    motion = Motion.build(model, 24.0, np.tile([1.0, 0.0, 0.0, 0.0], (2, 2, 1)))
    return Shot(model, motion, Follow(heaviness=0.5, root="FREE"), None, 24.0)


def warm_up() -> None:
    """Compile everything, or load it from the cache. Safe in a thread."""
    sample_shot().run(1)
