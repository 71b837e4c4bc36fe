"""Follow: analytic PD control with stiffness independent of the final pose (METHODS §1a, §1c)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...model.model import Model
from ..base import Controller
from ..shared.following import FOLLOWING, spring_columns


@dataclass(frozen=True, eq=False, kw_only=True)
class Follow(Controller):
    """Each setting is one number, one for each body (n,), or (frames, n).

    settle_time     [s] until an error has fallen to 10 % at damping ratio 1
    damping_ratio   1 critical, below 1 overshoots
    heaviness       0 effortless … 1 the joint feels its full load
    recovery_time   [s] in which a struck body is back on its motion, while bodies not between the blow and the root
                    keep to theirs; None or 0: all yield, and come back by their settle time
    strength        [N m] the largest torque of a joint's drive; a larger load makes the joint yield
    tone            of limp joints and of those with a saturated drive, as in Limp
    even_weight     settle times scale with the root of a joint's size, so that heaviness bends all joints alike
    """

    settle_time: object = 0.2
    damping_ratio: object = 1.0
    heaviness: object = 0.0
    recovery_time: object = None
    strength: object = float("inf")
    tone: object = 0.0
    even_weight: bool = False

    settings: ClassVar = FOLLOWING

    def columns(self, model: Model, values: Mapping[str, np.ndarray]) -> Mapping[np.int64, np.ndarray]:
        return spring_columns(model, values, self.even_weight)
