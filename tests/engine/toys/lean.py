"""A toy on the level of the reference, as Balance will be: driven bodies turn about their first axis by a lean of their
own, and the lean that was asked for is noted by body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..compile.decorators import kernel
from ..math.vectors import load4, quat_exp, quat_mul, store4
from ..model.model import BALL, Model
from ..tables import aim as A, control as C
from .base import Controller
from .settings import CHANNELS, CONTROL, Channel, Setting
from .shared.following import FOLLOWING, spring_columns

LEAN = CONTROL.add(0.0)
NOTED = CHANNELS.add()


@dataclass(frozen=True, eq=False, kw_only=True)
class Lean(Controller):
    """lean [rad]; the others as in Follow."""

    lean: object = 0.0
    settle_time: object = 0.2
    damping_ratio: object = 1.0
    heaviness: object = 0.0
    recovery_time: object = None
    strength: object = float("inf")
    tone: object = 0.0
    settings: ClassVar = (*FOLLOWING, Setting("lean", -3.0, 3.0, LEAN))
    channels: ClassVar = (Channel("lean", "rad", column=NOTED), Channel("turned", "rad", "character"))

    def columns(self, model: Model, values: Mapping[str, np.ndarray]) -> Mapping[np.int64, np.ndarray]:
        return spring_columns(model, values, even_weight=False)

    def measure(self, model, motion, result) -> Mapping[str, np.ndarray]:
        cosine = np.abs(np.einsum("fbi,fbi->fb", motion.rotations, result.motion.rotations)).min(axis=1)
        return {"turned": 2.0 * np.arccos(np.clip(cosine, 0.0, 1.0))}


@kernel
def lean_over(tree, state, aim, control, frame):
    """The goal of every driven ball joint, turned by its lean."""
    row = min(frame, len(control.behaviour) - 1)
    for i in range(1, len(tree.parent)):
        lean = control.setting[row, i, LEAN]
        if lean != 0.0 and state.behaviour[i] == C.SIMULATED and tree.kind[i] == BALL:
            store4(aim.body, i, A.GOAL, quat_mul(load4(aim.body, i, A.GOAL), quat_exp((lean, 0.0, 0.0))))


@kernel
def note_lean(control, state, record, frame):
    row = min(frame, len(control.behaviour) - 1)
    for i in range(1, len(state.behaviour)):
        record.channel[frame, i, NOTED] = control.setting[row, i, LEAN]
