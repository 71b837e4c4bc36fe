"""Limp: joints without drive; the body hangs, swings and falls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..model.model import Model
from ..tables import control as C
from ..tables.classes import Control
from .base import Controller
from .shared.following import TONE, tone_columns


@dataclass(frozen=True, eq=False, kw_only=True)
class Limp(Controller):
    """Joints without drive; 'SIMULATED' means limp here. The root is free by default.

    tone    factor of the damping of a relaxed person's joint and of its pull to the middle of its range; 0: none. One
            number, one for each body (n,), or (frames, n)
    """

    behaviour: object = "LIMP"
    root: str = "FREE"
    tone: object = 1.0

    settings: ClassVar = (TONE,)

    def columns(self, model: Model, values: Mapping[str, np.ndarray]) -> Mapping[np.int64, np.ndarray]:
        return tone_columns(model, values["tone"])

    def control(self, model: Model, frames: int) -> Control:
        control = super().control(model, frames)
        control.behaviour[control.behaviour == C.SIMULATED] = C.LIMP
        return control
