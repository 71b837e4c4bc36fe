"""The compiled entry point: frames from a state, as one call.

Owns the loop over frames and steps and what is written down at each frame. Must not
know what a stage does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .aim import aim_step, begin_frame
from .jit import entry, kernel
from .kinematics import forward, momenta, velocities
from .step import step
from .tree import Tree


class Record(NamedTuple):
    """What is written down at every frame."""

    coords: np.ndarray  # (frames, n+1, 4)
    anchors: np.ndarray  # (frames, n+1, 3)
    v: np.ndarray  # (frames, nv)
    torque: np.ndarray  # (frames, nv) mean of the steps before and after the frame


def new_record(tree: Tree, frames: int) -> Record:
    n1, nv = len(tree.parent), int(tree.dof[-1])
    return Record(*(np.zeros(shape) for shape in ((frames, n1, 4), (frames, n1, 3), (frames, nv), (frames, nv))))


@entry
def run_frames(tree, target, plan, state, aim, work, record, first, last, substeps, dt, gravity):
    """Simulate from frame `first` to frame `last`. Returns the first frame with a bad number, or −1.

    `state` is that of frame `first` (filled here where first is 0); dt is one frame [s].
    """
    h = dt / substeps
    total = len(record.v)
    for frame in range(first, last):
        begin_frame(tree, target, plan, state, aim, frame, dt, h)
        if frame == 0:
            _begin_shot(tree, state, work)
            _write(state, record, 0)
        for k in range(substeps):
            aim_step(tree, target, plan, state, aim, frame, (k + 1.0) / substeps, dt, h)
            step(tree, state, aim, plan, work, h, gravity)
            if k == 0:
                _write_torque(work, record, frame, 1.0 if frame == 0 else 0.5)
            if k == substeps - 1:
                _write_torque(work, record, frame + 1, 1.0 if frame + 2 == total else 0.5)
        _write(state, record, frame + 1)
        if not _finite(state):
            return frame + 1
    return -1


@kernel
def _begin_shot(tree, state, work):
    forward(tree, state.coords, state.anchors, work.now)
    velocities(tree, work.now, state.v, state.drift, work.motion)
    momenta(tree, work.now, work.motion, state.spin, state.linear)


@kernel
def _write(state, record, frame):
    record.coords[frame] = state.coords
    record.anchors[frame] = state.anchors
    record.v[frame] = state.v


@kernel
def _write_torque(work, record, frame, weight):
    for d in range(len(work.torque)):
        record.torque[frame, d] += weight * work.torque[d]


@kernel
def _finite(state):
    total = 0.0
    for d in range(len(state.v)):
        total += state.v[d]
    for i in range(1, len(state.coords)):
        for k in range(4):
            total += state.coords[i, k]
        for k in range(3):
            total += state.anchors[i, k]
    return np.isfinite(total)
