"""On Time: physical keys that are hit on the frame, whatever happens on the way (METHODS §2)."""

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

ARRIVAL_SHAPES = (3.5, 9.5)  # below 2 + √2 the acceleration at a key has no bound (METHODS §2)
LAWS = ("CLOSED_FORM", "TORQUES")


@dataclass(frozen=True, eq=False, kw_only=True)
class OnTime(Controller):
    """The motion's `keys` are met with pose, velocity and time; between them the body moves by itself.

    Each setting is one number, one a body (n,), or (frames, n).

    shape           3.5 takes all the time there is … 9.5 is there early and eases in
    arrival         1 with the velocity of the key's curve … 0 at rest
    settle_time     [s] where a body has no key ahead of it, it follows the motion
    damping_ratio   there, too
    recovery_time   [s] and there a struck body is back after it, as in Follow; with a key ahead it keeps that key
    heaviness       0 effortless … 1 the joint feels its full load
    strength        [N m] the most a joint's drive can give; a key that takes more is missed
    tone            of limp joints and of those whose drive is spent, as in Limp
    even_weight     springs go with a joint's size, so that heaviness bends all joints alike; keys keep their time
    law             'CLOSED_FORM' hits every key; 'TORQUES' is the paper's own law, looser: gravity and speed
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
