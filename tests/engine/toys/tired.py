"""A toy on the level of the drives, as Muscles will be: a drive gives less the longer it has worked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..compile.decorators import kernel
from ..model.model import Model
from ..tables import control as C
from .base import Controller
from .settings import CONTROL, Setting
from .shared.following import FOLLOWING, spring_columns

TIRES = CONTROL.add(0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Tired(Controller):
    """tires: the share of its strength that a joint loses in a frame."""

    tires: object = 0.0
    settle_time: object = 0.2
    damping_ratio: object = 1.0
    heaviness: object = 0.0
    recovery_time: object = None
    strength: object = 100.0
    tone: object = 0.0
    settings: ClassVar = (*FOLLOWING, Setting("tires", 0.0, 1.0, TIRES))
    couples_limbs: ClassVar = True

    def columns(self, model: Model, values: Mapping[str, np.ndarray]) -> Mapping[np.int64, np.ndarray]:
        return spring_columns(model, values, even_weight=False)

    def control(self, model: Model, frames: int):
        """Strengths change frame by frame, so the table has a row for each."""
        control = super().control(model, frames)
        setting = np.repeat(control.setting, frames, axis=0) if len(control.setting) == 1 else control.setting
        behaviour = np.repeat(control.behaviour, frames, axis=0) if len(control.behaviour) == 1 else control.behaviour
        return control._replace(setting=setting, behaviour=behaviour)


@kernel
def tire(tree, state, control, frame):
    """Strength of the next frame, once in a step: repeated solves change nothing."""
    if frame + 1 < len(control.setting):
        for i in range(1, len(tree.parent)):
            rest = 1.0 - control.setting[frame, i, TIRES]
            if state.behaviour[i] == C.SIMULATED and rest < 1.0:
                control.setting[frame + 1, i, C.STRENGTH] = rest * control.setting[frame, i, C.STRENGTH]
