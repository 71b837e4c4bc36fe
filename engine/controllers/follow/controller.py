"""Follow: analytic PD control, stiffness apart from where the motion ends up (METHODS §1a, §1c)."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.model import Model
from ...tables.state_table import Plan
from ..base import Controller


@dataclass(frozen=True, eq=False, kw_only=True)
class Follow(Controller):
    """Each setting is one number, one a body (n,), or (frames, n).

    settle_time     [s] until an error has fallen to 10 % at damping ratio 1
    damping_ratio   1 critical, below 1 swings through
    heaviness       0 effortless … 1 the joint feels its full load
    recovery_time   [s] in which a struck body is back on its motion, and bodies that do not lie between the blow
                    and the root keep to theirs; None or 0: all yield, and come back by their settle time
    strength        [N m] the most a joint's drive can give; a load beyond it makes the joint give way
    tone            of limp joints and of those whose drive is spent, as in Limp
    even_weight     settle times go with the root of a joint's size, so that heaviness bends all joints alike
    """

    settle_time: object = 0.2
    damping_ratio: object = 1.0
    heaviness: object = 0.0
    recovery_time: object = None
    strength: object = float("inf")
    tone: object = 0.0
    even_weight: bool = False

    def plan(self, model: Model, frames: int) -> Plan:
        settings = (self.settle_time, self.damping_ratio, self.heaviness, self.strength)
        others = {"recovery": self.recovery_time, "tone": self.tone, "even_weight": self.even_weight}
        return self._plan(model, frames, *settings, **others)
