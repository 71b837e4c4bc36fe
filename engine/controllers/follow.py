"""Follow: analytic PD control, stiffness apart from where the motion ends up (METHODS §1a, §1c)."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import Model
from ..state import Plan
from .base import Controller


@dataclass(frozen=True, eq=False, kw_only=True)
class Follow(Controller):
    """Each setting is one number, one a body (n,), or (frames, n).

    settle_time     [s] until an error has fallen to 10 % at damping ratio 1
    damping_ratio   1 critical, below 1 swings through
    heaviness       0 effortless … 1 the joint feels its full load
    strength        [N m] the most a joint's drive can give; a load beyond it makes the joint give way
    """

    settle_time: object = 0.2
    damping_ratio: object = 1.0
    heaviness: object = 0.0
    strength: object = float("inf")

    def plan(self, model: Model, frames: int) -> Plan:
        return self._plan(model, frames, self.settle_time, self.damping_ratio, self.heaviness, self.strength)
