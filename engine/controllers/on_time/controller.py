"""On Time: physical keys that are hit on the frame, whatever happens on the way (METHODS §2)."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import SettingError
from ...model.model import Model
from ...tables.state_table import Plan
from ..base import Controller
from ..follow.spring import SETTLE

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

    def plan(self, model: Model, frames: int) -> Plan:
        if self.law not in LAWS:
            raise SettingError(f"The law is '{self.law}': use one of {', '.join(LAWS)}.")
        settings = (self.settle_time, self.damping_ratio, self.heaviness, self.strength, self.arrival, self.shape)
        others = {"law": float(LAWS.index(self.law)), "recovery": self.recovery_time, "tone": self.tone}
        return self._plan(model, frames, *settings, **others, even_weight=self.even_weight)
