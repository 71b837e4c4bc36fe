"""On Time: physical keys that are met on their time, whatever disturbs the body on the way (METHODS §2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import SettingError
from ...model.model import Model
from ...tables import control as C
from ..base import Controller
from ..follow.spring import SETTLE
from ..settings import Setting
from ..shared.following import FOLLOWING, spring_columns

ARRIVAL_SHAPES = (3.5, 9.5)  # below 2 + √2 the acceleration at a key is unbounded (METHODS §2)
LAWS = ("CLOSED_FORM", "TORQUES")


@dataclass(frozen=True, eq=False, kw_only=True)
class OnTime(Controller):
    """The motion's `keys` are met with pose, velocity and time; between them the body moves by itself.

    Each setting is one number, one for each body (n,), or (frames, n).

    shape           3.5 uses the whole time … 9.5 arrives early and eases in
    arrival         1 with the velocity of the key's curve … 0 at rest
    settle_time     [s] for bodies without a key ahead, which follow the motion
    damping_ratio   for these, too
    recovery_time   [s] for these: as in Follow; a body with a key ahead keeps that key
    heaviness       0 effortless … 1 the joint feels its full load
    strength        [N m] the largest torque of a joint's drive; a key that needs more is missed
    tone            of limp joints and of those with a saturated drive, as in Limp
    even_weight     springs scale with a joint's size, so that heaviness bends all joints alike; keys keep their time
    law             'CLOSED_FORM' meets every key; 'TORQUES' is the paper's own law, less exact: gravity and velocity
                    bend its way, and it misses the velocities of keys
    """

    shape: object = SETTLE
    arrival: object = 1.0
    settle_time: object = 0.2
    damping_ratio: object = 1.0
    recovery_time: object = None
    heaviness: object = 0.0
    strength: object = float("inf")
    tone: object = 0.0
    even_weight: bool = False
    law: str = "CLOSED_FORM"

    settings: ClassVar = (
        *FOLLOWING,
        Setting("arrival", -1.0, 1.0, C.ARRIVAL),
        Setting("shape", *ARRIVAL_SHAPES, C.SHAPE),
    )

    def columns(self, model: Model, values: Mapping[str, np.ndarray]) -> Mapping[np.int64, np.ndarray]:
        if self.law not in LAWS:
            raise SettingError(f"The law is '{self.law}': use one of {', '.join(LAWS)}.")
        law = np.full((1, len(model)), float(LAWS.index(self.law)))
        return {C.LAW: law} | spring_columns(model, values, self.even_weight)
